// SPDX-License-Identifier: MIT
/// The recorder: the client of a match whose line never loses. A replication state of its own sees
/// everything; what it writes in a tick is acknowledged at once, so each row is coded against the
/// one of the tick before. Its bodies are the state of a tick in a log ("State" in proto/LOG.md),
/// or what any other mirror reads.
///
/// A tick has two halves: net_log_recorder_begin on the thread that owns the world copies what is
/// not in the history of rows; the bodies are written from the history, on a thread of the
/// recorder, until net_log_recorder_end.
///
/// Memory:  what a client of the match takes, from the heap; the longest tick.
/// Threads: one, that of the world.
#pragma once

#include "ecs/ecs.h"
#include "net/log.h"
#include "net/match.h"
#include "proto/pb_wire.h"
#include "state/history.h"

/// A part of a tick's state is ended when it is as long as this.
#define NET_LOG_PART_SPLIT_BYTES 131072u
/// No part is longer; a value of variable size is not longer than the split.
#define NET_LOG_STATE_BYTES_MAX (3 * NET_LOG_PART_SPLIT_BYTES)
#define NET_LOG_STATE_VALUE_BYTES_MAX NET_LOG_PART_SPLIT_BYTES
/// The form of TickState.changes that holds state, and its flags.
#define NET_LOG_FORM_STATE 5u
#define NET_LOG_STATE_FULL 1u ///< all that was before is forgotten; everything comes again
#define NET_LOG_STATE_LAST 2u ///< no further part of the tick follows
/// After form and flags a part is a row of items: varint kind, varint size, bytes.
typedef enum net_log_state_item {
    NET_LOG_STATE_TEMPLATE = 1, ///< varint parts, their wire numbers (varints), SchemaTemplate
    NET_LOG_STATE_BODY = 2,     ///< the next body of WIRE.md, "State body"
    NET_LOG_STATE_VALUE = 3,    ///< varint handle, varint component, ecs_type_write
    NET_LOG_STATE_PLAYER = 4,   ///< varint client; unless it left: varint handle, name
} net_log_state_item;

typedef struct net_log_recorder net_log_recorder;

/// For a match before its first tick, or a client's. Without `has_thread`, or when no thread can be
/// made, everything is done in net_log_recorder_begin, with the same bytes.
net_log_recorder* net_log_recorder_create(const base_allocator* allocator, const net_match* match,
                                          bool has_thread);
/// See as this client from the first tick on: what the rules of the game let it have while it
/// plays, and nothing else. For a recorder without a thread that was not begun yet, of a server's
/// match.
/// @return NET_OK; NET_ERR_SCHEMA (reported).
BASE_MUST_USE net_result net_log_recorder_see_as(net_log_recorder* recorder, uint32_t client,
                                                 const base_reporter* reporter);
/// Waits for its thread. NULL does nothing.
void net_log_recorder_destroy(net_log_recorder* recorder);
/// The next tick has a full state: a part was lost, or readers begin there.
void net_log_recorder_restart(net_log_recorder* recorder);
/// Bytes of the newest full state; 0 before the first.
uint64_t net_log_recorder_full_bytes(const net_log_recorder* recorder);
/// Who plays in a client's match, by rising client, for the ticks that follow: the match does not
/// know it. Copied.
void net_log_recorder_players(net_log_recorder* recorder, const net_log_player* players,
                              uint32_t count);
/// Begin to record the tick of the history's last step. The history, always the same one, must not
/// be stepped before net_log_recorder_end. After a tick that was left out, restart.
void net_log_recorder_begin(net_log_recorder* recorder, const net_history* history);
/// Wait for the tick that was begun and give its parts to `part`, in order; nothing when none was.
void net_log_recorder_end(net_log_recorder* recorder,
                          void (*part)(void* context, const uint8_t* data, size_t size),
                          void* context);

// ---- sums of components ----

// Sums of components (proto/LOG.md, "Sums"): of a world, and those that a log has of each tick.
//
// Memory:  some kilobytes.
// Threads: one thread at a time; a world's is that of the world.

/// A tick's sums are about this many untracked values (Header.untracked_values).
#define NET_LOG_UNTRACKED_VALUES 256u
#define NET_LOG_SUM_MASK 0xffu

/// Header.untracked_values of a log of this world: 0 when all components are tracked.
uint32_t net_log_sums_untracked(const ecs_world* world);

/// The sums of the newest tick, as they are written or read.
typedef struct net_log_sums {
    uint64_t values[ECS_COMPONENTS_MAX + 1]; ///< by id; of a log the low bits
    uint32_t untracked_values;
    ecs_tick tick;
    bool is_known; ///< all of them came
} net_log_sums;

/// Append those of a world that changed since the last call, all when they are not known.
void net_log_sums_write(net_log_sums* sums, const ecs_world* world, proto_pb_writer* to);
/// Read the sums of a tick's end. After missing ticks they are unknown until all come.
/// @return false: no writer writes this.
bool net_log_sums_read(net_log_sums* sums, ecs_tick tick, const uint8_t* data, size_t size);
/// The first component whose sum in this world is another one than the log's after the tick;
/// ECS_COMPONENT_NONE: none, or they are unknown.
ecs_component_id net_log_sums_differ(const net_log_sums* sums, const ecs_world* world);
