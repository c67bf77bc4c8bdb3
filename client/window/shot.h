// SPDX-License-Identifier: MIT
/// The renderer's pixels as a PNG file. Equal pixels give equal bytes.
#pragma once

#include "base/report.h"

struct SDL_Renderer;

/// Write what was drawn so far. The file appears whole or not at all.
/// @return false when pixels or file could not be had (reported).
BASE_MUST_USE bool client_shot_write(struct SDL_Renderer* renderer, const char* path,
                                     const base_reporter* reporter);
