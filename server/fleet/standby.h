// SPDX-License-Identifier: MIT
/// --standby: the match is another server's. It is run here too, out of its stream, and goes on
/// here when that server dies. Until then the program follows (follow.h); from then on it is a
/// server like any other.
#pragma once

#include "stream/standby.h"

typedef struct server_program server_program; ///< program.h
typedef struct server_nats server_nats;       ///< stream_nats.h

/// Zeroed at the start, then `wake` is -1, -1 while it is closed.
typedef struct server_standby {
    net_standby* standby; ///< NULL: no --standby
    server_nats* nats;    ///< the user that reads
    int wake[2];          ///< a pipe: something came from the broker
    net_standby_state state;
    net_standby_report report;
    uint64_t tick_us; ///< when a tick ran, or sessions were kept, last
    bool is_woken;    ///< by the broker, since then
    bool has_caught_up;
    bool is_small;    ///< --max-clients is less than the match's players: said
    bool is_late;     ///< the broker's answers do not count: said
    bool was_stopped; ///< by a signal, before its match was known
} server_standby;

/// Wait for the stream's match, and take game and tick rate from it. Nothing without the option.
/// @return NET_EXIT_CLEAN, or the exit code: reported.
BASE_MUST_USE int server_standby_open(server_program* program);
/// Clients read "not now", and the loop hears the broker. Once the socket is open.
void server_standby_listen(server_program* program);
/// When the loop must come round.
uint64_t server_standby_wake_us(const server_program* program);
/// Run a tick that is due, claim the match, or take it over. @return whether the match ran a tick.
bool server_standby_tick(server_program* program, uint64_t now_us);
/// In each pass of the loop.
void server_standby_pass(server_program* program);
/// Does the match run elsewhere?
bool server_standby_is_waiting(const server_program* program);
/// The exit code of the way in which it ended.
int server_standby_exit(const server_program* program);
void server_standby_close(server_program* program);
