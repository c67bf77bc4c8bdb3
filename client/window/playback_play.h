// SPDX-License-Identifier: MIT
/// `shoal-client --replay`: plays a log in a window, as one picture, or without both.
#pragma once

#include "config/config.h"
#include "net/playback.h"
#include "net/socket.h"

/// Play the log that `config` names until its end or until the user stops it.
/// @return the exit code of the program.
int client_playback_play(const client_config* config, const base_reporter* reporter,
                         net_loop* loop);

/// What the files of a playback share: the log, its game, and its result so far.
typedef struct client_playback {
    const client_config* config;
    const base_reporter* reporter;
    net_loop* loop;
    net_log_reader* reader;
    net_module* module;
    net_playback* playback;
    uint64_t refreshed_us; ///< when --replay follow looked for more of the log
    bool is_diverged;      ///< the replay gave other bits than the log
    bool is_damaged;       ///< the log is damaged or cannot be followed to its end
    bool has_result;       ///< the line of the result was printed
} client_playback;

/// With --replay follow: has more been written since the log was opened? Then continue with that,
/// at the same moment. Looks at most once a second.
/// @return NET_OK, also when there is nothing new; NET_ERR_DIVERGED; NET_ERR_DAMAGED;
///         NET_ERR_FULL; NET_ERR_SCHEMA, NET_ERR_MODULE (reported).
BASE_MUST_USE net_result client_playback_refresh(client_playback* playback, uint64_t now_us);
/// Does --replay follow wait for more of the log?
bool client_playback_is_open(const client_playback* playback);
/// Record the result of showing a moment.
/// @return true when the playback can continue; false: reported.
BASE_MUST_USE bool client_playback_record(client_playback* playback, net_result result);
/// Play in a window, or write the picture of --shot.
/// @return NET_EXIT_CLEAN or NET_EXIT_RUNTIME. `playback` records differences and damage.
BASE_MUST_USE int client_playback_show(client_playback* playback);
