// SPDX-License-Identifier: MIT
/// What a tick did to the rows of a match, copied for the log's thread: form 4 of "Changes"
/// (proto/LOG.md, "Raw rows").
///
/// The rows come from the history of the server's replication, which also says what changed in
/// them: nothing is quantised and nothing compared a second time.
/// Memory:  a place in the queue, which the sink has; beside it, in proportion to the templates.
/// Threads: the thread that owns the world.
#pragma once

#include "net/match.h"
#include "state/history.h"

typedef struct net_log_capture net_log_capture;

/// Where the parts of a tick go, one after the other.
typedef struct net_log_capture_sink {
    void* context;
    /// @return where the next part goes, with room for *capacity bytes; NULL: no more is taken.
    uint8_t* (*begin)(void* context, size_t* capacity);
    /// The part that was begun has `size` bytes.
    void (*end)(void* context, size_t size, bool is_last);
} net_log_capture_sink;

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
/// When memory or room runs out the part has no rows, and the next tick gives all entities.
void net_log_capture_write(net_log_capture* capture, const net_history* history,
                           const net_log_capture_sink* sink);
