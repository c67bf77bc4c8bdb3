// SPDX-License-Identifier: MIT
/// A relay: the match is another server's. It is run again here, some time later, and spectators
/// watch it. A program without a source has none of it.
#pragma once

#include "program.h"

#include "stream/follow.h"

/// Zeroed at the start.
typedef struct server_follow {
    net_follow* source;       ///< NULL: the match runs here
    char name[512];           ///< of the source, as people may read it
    struct server_nats* nats; ///< of a stream
    net_broker broker;
    net_follow_report report;
    net_follow_state end;               ///< how the match ended here; WAITS: it goes on
    char game[NET_GAME_NAME_BYTES_MAX]; ///< that of the source
    uint64_t tick_us;                   ///< when a tick ran, or sessions were kept, last
    bool is_behind, is_silent;          ///< reported
} server_follow;

/// NULL: this program follows no match.
server_follow* server_follow_of(const server_program* program);
/// Run the match of this source: take game, tick rate and identity from it.
void server_follow_begin(server_program* program, net_follow* source);
extern const server_ticks server_follow_ticks;
