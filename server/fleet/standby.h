// SPDX-License-Identifier: MIT
/// --standby: the match is another server's. It is run here too, out of its stream, and goes on
/// here when that server dies. Until then the program follows (follow.h); from then on it is a
/// server like any other.
#pragma once

#include "program.h"

#include "stream/standby.h"

typedef struct server_nats server_nats; ///< stream_nats.h

/// Zeroed at the start, then `wake` is -1 while it is closed.
typedef struct server_standby {
    net_standby* standby; ///< NULL: no --standby
    server_nats* nats;    ///< the user that reads
    int wake;             ///< an eventfd: something came from the broker
    net_standby_state state;
    net_standby_report report;
    uint64_t tick_us; ///< when a tick ran, or sessions were kept, last
    bool is_woken;    ///< by the broker, since then
    bool has_caught_up;
    bool is_small; ///< --max-clients is less than the match's players: said
    bool is_late;  ///< the broker's answers do not count: said
} server_standby;

/// NULL: this program has no such part.
server_standby* server_standby_of(const server_program* program);
