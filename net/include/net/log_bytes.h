// SPDX-License-Identifier: MIT
/// The bytes of a log's files, for a reader elsewhere while they are still written; and what of
/// them a spectator may have.
///
/// Files are untrusted: what is damaged is passed on as it is, or ends a spectator's record.
#pragma once

#include "base/bytes.h"
#include "net/result.h"

BASE_C_BEGIN

// ---- files ----

/// The parts of a log by number: closed ones FILE.seg0001, FILE.seg0002..., then FILE.
typedef struct net_log_parts {
    uint32_t first;  ///< the oldest that is there
    uint32_t newest; ///< FILE
} net_log_parts;

/// Look which parts are there now. @return false: FILE is no file.
BASE_MUST_USE bool net_log_parts_find(const char* file, net_log_parts* parts);
/// Does a process write this log now? It holds the lock of FILE for as long as it lives.
BASE_MUST_USE bool net_log_is_written(const char* file);
/// Open a part to read, also while it is written or gets its number.
/// @return its descriptor, which the caller closes; -1: it is gone. *is_closed: nothing is added.
BASE_MUST_USE int net_log_part_open(const char* file, uint32_t part, bool* is_closed);
/// How many bytes from `from` on are whole blocks, at most `bytes_max` unless one block is longer.
/// Behind damage, all that is there.
uint64_t net_log_part_whole(int descriptor, uint64_t from, uint64_t bytes_max);

// ---- what a spectator may have ----

/// A spectator's record of one part of a log, block by block: a log as a client records it, with
/// states and the server's events. It has no inputs, joins, controls, ids of players, seed, sums,
/// hashes or saves of the match, and another identity. States are those of all entities, whatever
/// the game hides from players.
///
/// Memory:  3 MB.
/// Threads: one at a time.
typedef struct net_log_watch net_log_watch;

/// @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_watch_create(const base_allocator* allocator,
                                              net_log_watch** watch);
/// NULL does nothing.
void net_log_watch_destroy(net_log_watch* watch);
/// Read the next block of a part, of which `descriptor` is any descriptor, and append the record's
/// block for it to `out`. Blocks with ticks later than `tick_max` wait.
/// @return NET_OK; NET_ERR_CLOSED (no further block is whole, or it waits: ask again);
///         NET_ERR_DAMAGED (the record ends here: every later call returns it too);
///         NET_ERR_MEMORY (nothing was appended).
BASE_MUST_USE net_result net_log_watch_step(net_log_watch* watch, int descriptor, uint64_t tick_max,
                                            base_bytes* out);
/// Bytes of the part that were read.
uint64_t net_log_watch_read(const net_log_watch* watch);

BASE_C_END
