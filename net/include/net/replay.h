// SPDX-License-Identifier: MIT
/// Running the match of an event log again: step by step, to verify it, or to prove a client's
/// trace.
///
/// A replay makes the calls that the server made, in the same order, so it reaches the same worlds
/// bit for bit.
/// Threads: one thread at a time.
#pragma once

#include "net/log_reader.h"
#include "net/match.h"

BASE_C_BEGIN

typedef struct net_log_replay net_log_replay;

/// What the log holds about the tick that was replayed.
typedef struct net_log_tick {
    ecs_tick tick;
    bool has_end; ///< false: the server died in this tick, the fields below are zero
    bool has_world_hash;
    uint64_t state_hash, world_hash;
    const uint8_t* changes; ///< proto/LOG.md, "Sums"; borrowed until the next step
    size_t changes_bytes;
    /// Ticks before this one that cannot be read: the replay went on at the keyframe of lost_last.
    ecs_tick lost_first, lost_last; ///< 0: none
} net_log_tick;

/// Create the match that the log's header describes. The caller owns the replay; it uses the
/// reader, and reader and module must outlive it. A content hash that differs is reported and the
/// replay goes on.
/// @return NET_OK; NET_ERR_SCHEMA (reported: a log of another game, or what differs in the schema);
///         NET_ERR_MODULE (reported); NET_ERR_DAMAGED (reported: bad settings); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_replay_create(net_log_reader* reader, const net_module* module,
                                               const base_reporter* reporter,
                                               net_log_replay** replay);
/// As net_log_replay_create, then net_log_replay_seek.
/// @return NET_OK; NET_ERR_SCHEMA; NET_ERR_MODULE; NET_ERR_DAMAGED (reported: bad settings, or
///         nothing at or before `tick` can be used); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_replay_create_at(net_log_reader* reader, const net_module* module,
                                                  ecs_tick tick, const base_reporter* reporter,
                                                  net_log_replay** replay);
/// Go to the newest keyframe at or before `tick`, or to the start of the log, whichever is nearer;
/// not when the replay already stands between it and `tick`. net_match_tick says where it stands;
/// net_log_replay_step leads on from there. A keyframe that cannot be used is reported, and an
/// earlier one is taken. The change list is empty then.
/// @return NET_OK; NET_ERR_DAMAGED (reported: nothing at or before `tick` can be used; every later
///         call but a seek returns it too); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_replay_seek(net_log_replay* replay, ecs_tick tick);
/// NULL does nothing.
void net_log_replay_destroy(net_log_replay* replay);
/// Borrowed; lives as long as the replay.
net_match* net_log_replay_match(net_log_replay* replay);
/// Apply the records of the next tick and step. The match is then as the server's was before it
/// cleared its change list; the next call clears that list. Behind damage it goes on at the next
/// keyframe (tick->lost_first).
/// @return NET_OK; NET_ERR_CLOSED (the log has no further tick); NET_ERR_DAMAGED (reported: a
///         record that the match cannot take, or the file changed; every later call returns it
///         too).
BASE_MUST_USE net_result net_log_replay_step(net_log_replay* replay, net_log_tick* tick);

/// What verification found.
typedef struct net_verify_result {
    bool is_diverged;
    ecs_tick ticks;                     ///< that were verified
    ecs_tick diverged_tick;             ///< the first that differs
    char component[ECS_NAME_BYTES_MAX]; ///< that differs first; "-" when only the tick is known
    ecs_entity entity;                  ///< NONE: not known
    char field[ECS_NAME_BYTES_MAX + 8]; ///< "x", "slots[3]"; empty: not known
    char log_value[64], value[64];      ///< of the field in the log and here; empty: not known
    char note[256];                     ///< what differs, or how it was found; may be empty
    bool is_other_schema;               ///< the game here has another one: `note` says what differs
    uint64_t state_hash, world_hash;    ///< of this run after the last tick
} net_verify_result;
/// Called after each replayed tick, before the change list is cleared. @return false to stop.
typedef bool (*net_verify_tick_fn)(void* context, net_match* match);
/// Replay the log and compare every hash in it. `until` 0: up to its last whole tick; last_tick + 1
/// also replays the tick in which the server died, if its inputs are there. `each` may be NULL.
/// @return NET_OK; NET_ERR_DIVERGED (*result has where); NET_ERR_SCHEMA, NET_ERR_MODULE (reported:
///         another game, or another version of it); NET_ERR_DAMAGED (reported); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_verify(net_log_reader* reader, const net_module* module,
                                        ecs_tick until, net_verify_tick_fn each, void* context,
                                        const base_reporter* reporter, net_verify_result* result);
/// Prove a client's trace, a text of lines "client=U entity=I:G tick=T row=<hex>": each row equals
/// the server's row at that tick, and per client and entity the ticks do not fall. *rows_checked
/// counts rows up to the first fault.
/// @return NET_OK; NET_ERR_DIVERGED (the first wrong line is reported); NET_ERR_MALFORMED
///         (reported: a line has another form); NET_ERR_IO (reported);
///         NET_ERR_SCHEMA, NET_ERR_MODULE, NET_ERR_DAMAGED (reported); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_check_trace(net_log_reader* reader, const net_module* module,
                                             const char* trace_file, const base_reporter* reporter,
                                             uint64_t* rows_checked);

BASE_C_END
