// SPDX-License-Identifier: MIT
/// A relay: the match is another server's. It is run again here, some time later, and spectators
/// watch it. A program without a source has none of it.
#pragma once

#include "stream/follow.h"

typedef struct server_program server_program; ///< program.h

/// Zeroed at the start.
typedef struct server_follow {
    net_follow* source;       ///< NULL: the match runs here
    char name[512];           ///< of the source, as people may read it
    struct server_nats* nats; ///< of a stream
    net_broker broker;
    net_follow_report report;
    net_follow_state end;      ///< how the match ended here; WAITS: it goes on
    uint64_t tick_us;          ///< when a tick ran, or sessions were kept, last
    bool is_behind, is_silent; ///< reported
} server_follow;

/// Open the source of the options, and take game and tick rate from it. Nothing without one.
/// @return NET_EXIT_CLEAN, or the exit code: reported.
BASE_MUST_USE int server_follow_open(server_program* program);
/// Make its match, as far as this program begins to show it. @return as server_follow_open.
BASE_MUST_USE int server_follow_match(server_program* program);
/// What hides something from players is shown later only. @return as server_follow_open.
BASE_MUST_USE int server_follow_check(const server_program* program, bool is_hiding);
/// When the loop must come round.
uint64_t server_follow_wake_us(const server_program* program);
/// Run a tick that is due, else keep the sessions. @return whether the match ran a tick.
bool server_follow_tick(server_program* program, uint64_t now_us);
/// In each pass of the loop: what there is to say about the source.
void server_follow_pass(server_program* program, uint64_t now_us);
/// The exit code of the way in which the match ended.
int server_follow_exit(const server_program* program);
void server_follow_close(server_program* program);
