// SPDX-License-Identifier: MIT
/// What the parts of the playback player share.
#pragma once

#include "playback/playback_play.h"

#include "net/log_reader.h"
#include "net/playback.h"

typedef struct client_playback {
    const client_config* config;
    const base_reporter* reporter;
    net_loop* loop;
    net_log_reader* reader;
    net_module* module;
    net_playback* playback;
    bool is_diverged; ///< a call returned NET_ERR_DIVERGED
    bool is_damaged;  ///< the log is damaged or cannot be followed to its end
} client_playback;

/// Record the result of showing a moment. @return false when the playback cannot continue.
BASE_MUST_USE bool client_playback_note(client_playback* playback, net_result result);
/// Play in a window, or write one picture. @return the exit code as far as the window is concerned.
BASE_MUST_USE int client_playback_show(client_playback* playback);
