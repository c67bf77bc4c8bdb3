// SPDX-License-Identifier: MIT
/// `shoal-client --replay`: plays a log in a window, as one picture, or without both.
#pragma once

#include "config/config.h"
#include "net/socket.h"

/// Play the log that `config` names until its end or until the user stops it.
/// @return the exit code of the program.
int client_playback_play(const client_config* config, const base_reporter* reporter,
                         net_loop* loop);
