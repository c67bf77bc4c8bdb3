// SPDX-License-Identifier: MIT
/// The bytes of a log's files, for a reader elsewhere while they are still written; and what of
/// them a spectator may have.
///
/// Files are untrusted: what is damaged is passed on as it is, or ends a spectator's record.
#pragma once

#include "base/bytes.h"
#include "ecs/world.h"
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
/// After damage, all that is there.
uint64_t net_log_part_whole(int descriptor, uint64_t from, uint64_t bytes_max);
/// The name of the report of a crash beside a log: arena.crash for arena.slog. A new log of this
/// name moves both away, to the same number. @return false: it gets too long.
BASE_MUST_USE bool net_log_crash_name(char* name, size_t name_bytes, const char* log_file);

/// What was seen of a part's blocks by their headers: all 0 before the first call.
typedef struct net_log_places {
    uint64_t end;      ///< of the whole blocks that were looked at
    uint64_t keyframe; ///< the newest one that is whole: where its first block begins; 0: none
    ecs_tick tick;     ///< of this keyframe
    uint64_t begun;    ///< a keyframe whose end was not seen yet; 0: none
    ecs_tick begun_tick;
} net_log_places;

/// Look on from `places->end` over at most `blocks_max` blocks, none with ticks later than
/// `tick_max`. @return true: no further one is there now (or damage is); false: call again.
bool net_log_places_find(net_log_places* places, int descriptor, ecs_tick tick_max,
                         uint32_t blocks_max);

// ---- what a spectator may have ----

/// A spectator's record of one part of a log, block by block: a log as a client records it, with
/// states and the server's events. It has no inputs, joins, controls, ids of players, seed, sums,
/// hashes or saves of the match, and another identity. States are those of all entities, whatever
/// the game hides from players. A place in it is the offset of the log's block.
///
/// Memory:  4 MB.
/// Threads: one at a time.
typedef struct net_log_watch net_log_watch;

/// The caller owns it.
BASE_MUST_USE net_log_watch* net_log_watch_create(const base_allocator* allocator);
/// NULL does nothing.
void net_log_watch_destroy(net_log_watch* watch);
/// Append prologue and header for blocks from a keyframe on, which make a log with them: it is a
/// later part of one. `is_record`: of the spectator's record; else of the log itself, as it is.
/// Steps may follow, also those after a place: then `out` may be NULL.
/// @return NET_OK; NET_ERR_CLOSED (no header is there yet); NET_ERR_DAMAGED.
BASE_MUST_USE net_result net_log_watch_head(net_log_watch* watch, int descriptor, bool is_record,
                                            base_bytes* out);
/// Read the block at *offset (0: the prologue) of a part, of which `descriptor` is any descriptor,
/// append the record's block for it to `out`, and go to the next; *offset stays when there is none.
/// Blocks with ticks later than `tick_max` wait.
/// @return NET_OK; NET_ERR_CLOSED (no whole block is there, or it waits: ask again);
///         NET_ERR_DAMAGED (the record ends here).
BASE_MUST_USE net_result net_log_watch_step(net_log_watch* watch, int descriptor, ecs_tick tick_max,
                                            uint64_t* offset, base_bytes* out);

BASE_C_END
