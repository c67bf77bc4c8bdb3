// SPDX-License-Identifier: MIT
/// What the parts of a playback share: the log, its game, and its result so far.
#pragma once

#include "config/config.h"

#include "net/loop.h"
#include "net/playback.h"

typedef struct client_playback {
    const client_config* config;
    const base_reporter* reporter;
    net_loop* loop;
    net_log_reader* reader;
    net_module* module;
    net_playback* playback;
    bool is_diverged; ///< the replay gave other bits than the log
    bool is_damaged;  ///< the log is damaged or cannot be followed to its end
} client_playback;

/// Record the result of showing a moment.
/// @return true when the playback can continue; false: reported.
BASE_MUST_USE bool client_playback_note(client_playback* playback, net_result result);
