// SPDX-License-Identifier: MIT
/// The client's side of state bodies: decodes against rows it acknowledged, applies to its world.
///
/// A body is decoded as a whole before anything is touched; then every record moves its entity to
/// exactly the server's state at the packet's tick. A record older than what the entity has is kept as
/// a possible base and not applied: ticks of an entity never fall.
/// Bytes are hostile: any body gives a result code, bounded memory and a world that is whole.
/// Memory: a place per slot and per index up to the highest, up to NET_ROW_HISTORY_MAX rows per entity that
///         lives, which slots the last NET_SNAPSHOT_PACKETS packets told of; for a second or so, and an eighth of
///         the limit at most, the rows of who is gone, for late packets. Memory of the dead is used again.
/// Threads: the thread that owns the world; outside of stages.
#pragma once

#include "ecs/ecs.h"
#include "net/limits.h"
#include "proto/bits.h"
#include "state/rows.h"

/// What a mirror takes from its allocator at most, unless told otherwise; enough for 10,000 entities of 80
/// bytes that all change with every tick, or for 65,535 that rest.
#define NET_MIRROR_BYTES_MAX ((size_t)96 << 20)

/// An update (or creation) was applied: the entity is now at `tick`.
typedef void (*net_mirror_trace_fn)(void* context, ecs_entity entity, ecs_tick tick,
                                    uint64_t row_hash);

/// Whoever wants to see all that is decoded, also what is too old to be applied: a row of an entity at a
/// tick, or that an entity is gone at a tick (not when another generation of its index took its place: the
/// row tells). `row` is borrowed for the call. NULL functions are skipped.
typedef struct net_mirror_sink {
    void* context;
    void (*row)(void* context, ecs_entity entity, const net_row_template* row_template,
                ecs_tick tick, const uint64_t* row);
    void (*gone)(void* context, ecs_entity entity, ecs_tick tick);
} net_mirror_sink;

typedef struct net_mirror_config {
    const base_allocator* allocator;
    ecs_world* world; ///< is_mirror; borrowed
    net_rows* rows;   ///< of that world; borrowed
    uint32_t
        index_max; ///< Welcome.replicated_index_max as it was told: the width of an index follows
                   ///< from it; an index above it or above the world's range is malformed
    size_t memory_bytes_max;   ///< 0: NET_MIRROR_BYTES_MAX
    net_mirror_trace_fn trace; ///< may be NULL
    void* trace_context;
    net_mirror_sink sink;
} net_mirror_config;

typedef struct net_mirror_counters {
    uint64_t packets; ///< decoded
    uint64_t updates; ///< records applied: creates, updates, recreates
    uint64_t creates, destroys, recreates;
    uint64_t stale_records; ///< older than the entity, or of its previous life: bases at most
    uint64_t stale;         ///< packets refused as too late
    uint64_t malformed;     ///< packets refused as impossible
    uint64_t missing_bases; ///< of both, those that wanted a row or a packet that is not here
    uint64_t evicted;   ///< lives that ended without a destroy: another entity took slot or index
    uint64_t moved;     ///< entities that went on in another slot
    uint64_t body_bits; ///< of decoded bodies, without padding
    uint64_t head_bits; ///< of these, what is no component's: slots, lists, bases, rows' heads
} net_mirror_counters;

/// What one body did.
typedef struct net_mirror_result {
    uint32_t applied; ///< creates, updates and recreates
    uint32_t destroyed;
    uint32_t stale; ///< records kept as bases at most
} net_mirror_result;

/// What comparing a sample with the world gave.
typedef enum net_mirror_probe_result {
    NET_MIRROR_UNKNOWN, ///< the slot's entity is at another tick, is loading, or there is none
    NET_MIRROR_EQUAL,
    NET_MIRROR_DIFFERS ///< ask for it to be sent absolutely
} net_mirror_probe_result;

typedef struct net_mirror net_mirror;

BASE_MUST_USE net_result net_mirror_create(const net_mirror_config* config, net_mirror** mirror);
/// The world's entities stay as they are; references are released.
void net_mirror_destroy(net_mirror* mirror);
/// Take the state body of packet `seq` of tick `tick`. `body` stands after the header and is read to its end,
/// padding included; NULL: the packet has none. Read every packet, also those without a body: later ones may
/// refer to it. `result` may be NULL.
/// @return NET_OK: acknowledge the packet.
///         NET_ERR_STALE: too late to be decoded, nothing happened, do not acknowledge.
///         NET_ERR_MALFORMED: no server of ours writes this here; nothing happened, do not acknowledge.
///         NET_ERR_MEMORY (also beyond memory_bytes_max), NET_ERR_FULL (the world refused a creation): end
///         the session.
BASE_MUST_USE net_result net_mirror_read(net_mirror* mirror, uint16_t seq, ecs_tick tick,
                                         proto_bit_reader* snapshot, net_mirror_result* result);
/// Compare the entity in `slot`, as it stands in the world now, with the row that the server says it has at
/// `tick`: `hash` is the low 16 bits of its net_row_hash. `entity` (may be NULL) is who differs, else NONE.
net_mirror_probe_result net_mirror_check_probe(const net_mirror* mirror, uint32_t slot,
                                               ecs_tick tick, uint16_t hash, ecs_entity* entity);
ecs_tick net_mirror_tick(const net_mirror* mirror); ///< newest tick of any decoded packet; 0 before
/// The tick that an entity is at. false when the mirror does not have it.
bool net_mirror_entity_tick(const net_mirror* mirror, ecs_entity entity, ecs_tick* tick);
/// What was told last of an index: who lives there (NONE: nobody) and the tick of that record. false: never
/// anything.
bool net_mirror_known_incarnation(const net_mirror* mirror, uint32_t index, ecs_entity* handle,
                                  ecs_tick* tick);
/// Bits of this component in all bodies that were decoded.
uint64_t net_mirror_component_bits(const net_mirror* mirror, ecs_component_id component);
const net_mirror_counters* net_mirror_get_counters(const net_mirror* mirror);
