// SPDX-License-Identifier: MIT
/// `shoal-client ADDR --render`: one player's eyes, in a window or without a display.
#pragma once

#include "program.h"

/// @return the exit code of the program.
BASE_MUST_USE int client_window_play(client_program* program);
