// SPDX-License-Identifier: MIT
/// The state of a running match as one line for the operator: on SIGUSR1, and every
/// --status-every seconds.
#pragma once

#include "timing.h"

typedef struct server_program server_program;

/// What the last line counted. Zeroed at the start.
typedef struct server_status {
    server_timing timing; ///< of the ticks since the last line
    uint64_t shown_us;    ///< when it was printed; 0: never
    uint64_t sent_bytes, recv_bytes;
} server_status;

/// Count one tick that took `us`.
void server_status_tick(server_status* status, uint64_t us);
/// Print the line when it is asked for or due. Call it where the server's threads have sent the
/// last tick: it waits for them. Rates are since the last line, or since the start.
void server_status_report(server_program* program, uint64_t now_us);
