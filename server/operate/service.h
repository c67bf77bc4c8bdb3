// SPDX-License-Identifier: MIT
/// The server as a service: what its manager gets to know, and an end that lets the match play on.
///
/// Drain: no new player comes in, those who are away may come back, and the match goes on until it
/// ends, the last player has left, or the time is over. Then it ends as after SIGTERM without
/// --drain-s.
#pragma once

#include "inspect/subject.h"
#include "notify.h"

typedef struct server_program server_program; ///< program.h

typedef struct server_service {
    server_notify notify;
    bool is_draining;
    uint64_t drain_until_us;
    uint64_t empty_us; ///< since when there is no player; 0: there is one
} server_service;

/// Find the service manager, before anything else is opened.
void server_service_open(server_program* program);
/// Players can come in: say so to the manager.
void server_service_ready(server_program* program);
/// In each pass of the loop, in any phase of the match. It costs nothing when nothing is due.
void server_service_pass(server_program* program, uint64_t now_us);
/// SIGTERM, SIGINT: drain for --drain-s seconds. While it drains, or without that option: end.
void server_service_end(server_program* program, uint64_t now_us);
/// End the match; a second call ends it at once (net_server_stop).
void server_service_end_now(server_program* program, uint64_t now_us);
/// Begin to drain, or change its time. Nothing happens when the match ends already.
/// @return false: the match ends already.
bool server_drain_begin(server_program* program, uint64_t seconds, uint64_t now_us);
/// Are new players refused, since the server drains or ends?
bool server_program_is_draining(const server_program* program);
