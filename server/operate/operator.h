// SPDX-License-Identifier: MIT
/// What an operator asks of a running match, and reads about it.
///
/// --console: verbs (inspect/verbs.h) as lines on stdin. The answer is a line of JSON on stdout, an
/// error is reported; "status" prints the state as SIGUSR1 does. The end of stdin ends nothing.
/// The state as one line: on SIGUSR1, and every --status-every seconds.
#pragma once

#include "inspect/control.h"
#include "operate/timing.h"

#include "net/socket.h"

typedef struct server_program server_program; ///< program.h

typedef struct server_console {
    bool is_open;
    bool is_too_long; ///< the line: it is passed
    char line[SERVER_CONTROL_LINE_BYTES];
    uint32_t count;
    base_bytes json; ///< the answer; its memory stays
} server_console;

/// Hear stdin in the loop's wait, as the last of its sockets.
void server_console_open(server_console* console, net_loop* loop);
/// Do what stands on stdin, without waiting.
void server_console_read(server_program* program);
/// Say what became of the last save.
void server_console_report_saved(server_program* program);

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
