// SPDX-License-Identifier: MIT
/// What a tick did to the rows of a match, copied for the log's thread: form 4 of "Changes"
/// (proto/LOG.md, "Raw rows").
///
/// The rows come from the history of the server's replication, so nothing is quantised twice.
/// Memory:  grows to the longest tick.
/// Threads: the thread that owns the world.
#pragma once

#include "net/match.h"
#include "state/history.h"

typedef struct net_log_capture net_log_capture;

/// Gets each part of a tick, in order: `is_last` with the last one.
typedef void (*net_log_piece_fn)(void* context, const uint8_t* bytes, size_t size, bool is_last);

/// For a match before its first tick. Without `has_rows` only sums are written.
/// @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_capture_create(const base_allocator* allocator,
                                                const net_match* match, bool has_rows,
                                                net_log_capture** capture);
/// NULL does nothing.
void net_log_capture_destroy(net_log_capture* capture);
/// The next tick gives all entities: the reader of the parts may have lost some.
void net_log_capture_restart(net_log_capture* capture);
/// Write the tick of the history's last step. Call it after each step of the match, from its first
/// on; after a tick without a call, restart. `history` NULL: without rows, until the next restart.
/// When memory runs out the part has no rows, and the next tick gives all entities.
void net_log_capture_write(net_log_capture* capture, const net_history* history,
                           net_log_piece_fn part, void* context);
