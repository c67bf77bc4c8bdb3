// SPDX-License-Identifier: MIT
/// The client's side of state bodies: decodes against rows it acknowledged, applies to its world.
///
/// A body is decoded as a whole before anything is touched; then every record moves its entity to
/// exactly the server's state at the packet's tick. A record older than what the entity has is kept as
/// a possible base and not applied: ticks of an entity never fall.
/// Bytes are hostile: any body gives a result code, bounded memory and a world that is whole.
/// Memory: a place per index up to the highest, and up to NET_ROW_HISTORY_MAX rows per entity that lives;
///         rows of the dead are used again.
/// Threads: the thread that owns the world; outside of stages.
#pragma once

#include "ecs/ecs.h"
#include "net/limits.h"
#include "rows.h"

/// An update (or creation) was applied: the entity is now at `tick`.
typedef void (*net_mirror_trace_fn)(void* context, ecs_entity entity, ecs_tick tick,
                                    uint64_t row_hash);

/// Whoever wants to see all that is decoded, also what is too old to be applied: a row of an entity at a
/// tick, or that an index was empty at a tick. `row` is borrowed for the call. NULL functions are skipped.
typedef struct net_mirror_sink {
    void* context;
    void (*row)(void* context, ecs_entity entity, const net_row_template* entry, ecs_tick tick,
                const uint64_t* row);
    void (*gone)(void* context, ecs_entity entity, ecs_tick tick);
} net_mirror_sink;

typedef struct net_mirror_config {
    const base_allocator* allocator;
    ecs_world* world;   ///< is_mirror; borrowed
    net_rows* rows;     ///< of that world; borrowed
    uint32_t index_max; ///< from Welcome; an index above it or the world's range is malformed
    net_mirror_trace_fn trace; ///< may be NULL
    void* trace_context;
    net_mirror_sink sink;
} net_mirror_config;

typedef struct net_mirror_counters {
    uint64_t packets; ///< decoded
    uint64_t updates; ///< records applied: creates, updates, recreates
    uint64_t creates, destroys, recreates;
    uint64_t stale_records; ///< older than the entity: kept as base only
    uint64_t stale;         ///< packets refused as too late
    uint64_t malformed;     ///< packets refused as impossible
    uint64_t missing_bases; ///< of both, those that wanted a row that is not here
    uint64_t evicted;       ///< entities destroyed by a newer generation in their index
} net_mirror_counters;

/// What one body did.
typedef struct net_mirror_result {
    uint32_t applied; ///< creates, updates and recreates
    uint32_t destroyed;
    uint32_t stale; ///< records kept as bases only
} net_mirror_result;

typedef struct net_mirror net_mirror;

BASE_MUST_USE net_result net_mirror_create(const net_mirror_config* config, net_mirror** mirror);
/// The world's entities stay as they are; references are released.
void net_mirror_destroy(net_mirror* mirror);
/// Take a state body of a packet of tick `tick`. `result` may be NULL.
/// @return NET_OK: acknowledge the packet.
///         NET_ERR_STALE: too late to be decoded, nothing happened, do not acknowledge.
///         NET_ERR_MALFORMED: no server of ours writes this here; nothing happened, do not acknowledge.
///         NET_ERR_MEMORY, NET_ERR_FULL (the world refused a creation): end the session.
BASE_MUST_USE net_result net_mirror_read(net_mirror* mirror, ecs_tick tick, const uint8_t* body,
                                         size_t size, net_mirror_result* result);
ecs_tick net_mirror_tick(const net_mirror* mirror); ///< newest tick of any decoded packet; 0 before
/// The tick that an entity is at. false when the mirror does not have it.
bool net_mirror_entity_tick(const net_mirror* mirror, ecs_entity entity, ecs_tick* tick);
/// Bits of all rows read so far that carried this component.
uint64_t net_mirror_component_bits(const net_mirror* mirror, ecs_component_id component);
const net_mirror_counters* net_mirror_get_counters(const net_mirror* mirror);
