// SPDX-License-Identifier: MIT
/// `shoal-client --replay`: a log as a playback, in a window, as a picture, or without both.
#pragma once

#include "config.h"
#include "net/loop.h"

/// @return the exit code of the program.
int client_playback_play(const client_config* config, const base_reporter* reporter,
                         net_loop* loop);
