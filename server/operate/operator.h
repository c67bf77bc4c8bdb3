// SPDX-License-Identifier: MIT
/// What an operator asks of a running match, and reads about it: the page of --http, the socket of
/// --control, the lines of --console, figures, the file of --debug ledger.
///
/// --console: verbs (inspect/verbs.h) as lines on stdin. The answer is a line of JSON on stdout, an
/// error is reported; "status" prints the state as SIGUSR1 does. The end of stdin ends nothing.
#pragma once

#include "inspect/control.h"
#include "inspect/inspect.h"
#include "program.h"

typedef struct server_console {
    bool is_open;
    bool is_too_long; ///< the line: it is passed
    char line[SERVER_CONTROL_LINE_BYTES];
    uint32_t count;
    base_bytes json; ///< the answer; its memory stays
} server_console;

typedef struct server_operator {
    server_subject subject;  ///< what verbs look at
    server_inspect* inspect; ///< NULL: no --http
    server_control* control; ///< NULL: no --control
    server_meter* meter;
    server_metrics* metrics;
    server_console console;
} server_operator;

extern const server_part server_part_operator;

/// For parts that say something of the match. This program has such a part (asserted).
server_subject* server_subject_of(const server_program* program);

// ---- the server as a service (service.c) ----
//
// Drain: new players are refused, and players who are away may come back. The match runs until it
// ends, the last player has left, or the time is over. Then it ends as after SIGTERM without
// --tune drain-s.

extern const server_part server_part_service;

/// Begin to drain, or change its time. Nothing happens when the match ends already.
/// @return false: the match ends already.
bool server_drain_begin(server_program* program, uint64_t seconds, uint64_t now_us);
/// Are new players refused, since the server drains or ends?
bool server_program_is_draining(const server_program* program);
