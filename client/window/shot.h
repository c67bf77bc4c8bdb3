// SPDX-License-Identifier: MIT
/// Writes the renderer's pixels as a PNG file. Equal pixels give equal bytes.
#pragma once

#include "base/report.h"

struct SDL_Renderer;

/// Write the current picture of the renderer. The file appears complete or not at all.
/// @return false when the pixels cannot be read or the file cannot be written: reported.
BASE_MUST_USE bool client_shot_write(struct SDL_Renderer* renderer, const char* path,
                                     const base_reporter* reporter);
