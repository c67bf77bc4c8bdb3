// SPDX-License-Identifier: MIT
/// The server as a service: what its manager gets to know, and an end that lets the match play on.
///
/// Drain: no new player comes in, those who are away may come back, and the match goes on until it
/// ends, the last player has left, or the time is over. Then it ends as after SIGTERM without
/// --tune drain-s.
#pragma once

#include "program.h"

extern const server_part server_part_service;

/// Begin to drain, or change its time. Nothing happens when the match ends already.
/// @return false: the match ends already.
bool server_drain_begin(server_program* program, uint64_t seconds, uint64_t now_us);
/// Are new players refused, since the server drains or ends?
bool server_program_is_draining(const server_program* program);
