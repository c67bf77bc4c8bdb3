// SPDX-License-Identifier: MIT
/// `shoal-client ADDR --render`: what one player sees, in a window or drawn without a display.
#pragma once

#include "program.h"

/// @return the exit code of the program.
BASE_MUST_USE int client_window_play(client_program* program);
