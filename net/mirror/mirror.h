// SPDX-License-Identifier: MIT
/// The mirror: the client's side of snapshots. It decodes them against acknowledged rows and
/// applies them to its world.
///
/// A snapshot is decoded as a whole before anything changes (the rows of a log are read where they
/// stay: there a refused snapshot ends the mirror). Then every record moves its entity to
/// exactly the server's state at the packet's tick. A record that is older than its entity is kept
/// as a possible base and not applied: the tick of an entity never falls.
/// Bytes are untrusted: any snapshot gives a result code, bounded memory and a whole world.
/// Without a world a mirror keeps the rows alone, and the variable-size values it is given: it is
/// what a client needs to acknowledge, and to prove what it has (net_mirror_digest).
/// Memory:  an entry per slot and per index up to the highest; up to NET_ROW_HISTORY_MAX rows per
/// entity; the slots of the last NET_SNAPSHOT_PACKETS packets. Rows of destroyed entities are kept
/// for about a second for late packets, in at most an eighth of the limit. Memory of destroyed
/// entities is used again.
/// Threads: the thread that owns the world; outside of stages.
#pragma once

#include "ecs/ecs.h"
#include "net/limits.h"
#include "net/match.h"
#include "proto/bits.h"
#include "state/coder.h"
#include "state/rows.h"

/// Limit of a mirror's memory, unless the config sets another. Enough for 10,000 entities of 80
/// bytes that all change with every tick, or for 65,535 idle ones.
#define NET_MIRROR_BYTES_MAX ((size_t)96 << 20)
#define NET_MIRROR_SWEEP_CALLS 256u

/// An update (or creation) was applied: the entity is now at `tick`.
typedef void (*net_mirror_trace_fn)(void* context, ecs_entity entity, ecs_tick tick,
                                    uint64_t row_hash);

/// Callbacks for all that is decoded, also for records that are too old to be applied: the row of
/// an entity at a tick, and that an entity is gone at a tick (not when another generation of its
/// index replaced it: then its row shows that). `row` is borrowed for the call. NULL functions are
/// skipped.
typedef struct net_mirror_sink {
    void* context;
    void (*row)(void* context, ecs_entity entity, const net_row_template* row_template,
                ecs_tick tick, const uint64_t* row);
    void (*gone)(void* context, ecs_entity entity, ecs_tick tick);
    /// Without a world, for records that are applied: is it of a new incarnation?
    void (*changed)(void* context, ecs_entity entity, bool is_new);
} net_mirror_sink;

typedef struct net_mirror_config {
    const base_allocator* allocator;
    ecs_world* world;   ///< is_mirror; borrowed; NULL: rows alone
    net_rows* rows;     ///< of that world; borrowed
    uint32_t index_max; ///< Welcome.replicated_index_max as received: it sets the width of an index
    size_t memory_bytes_max;   ///< 0: NET_MIRROR_BYTES_MAX
    net_mirror_trace_fn trace; ///< may be NULL
    void* trace_context;
    net_mirror_sink sink;
    const net_solo* solo; ///< snapshots may be in its code, as Welcome said; NULL: they are not
} net_mirror_config;

typedef struct net_mirror_counters {
    uint64_t packets; ///< decoded
    uint64_t updates; ///< records applied: creates, updates, recreates
    uint64_t creates, destroys, recreates;
    uint64_t
        stale_records;  ///< older than the entity, or of its previous incarnation: bases at most
    uint64_t stale;     ///< packets refused as too late
    uint64_t malformed; ///< packets refused as impossible
    uint64_t solo;      ///< packets decoded in solo code
    uint64_t missing_bases; ///< of both: packets that named a missing row or packet
    uint64_t evicted;       ///< incarnations that ended because another took their slot or index
    uint64_t moved;         ///< entities that moved to another slot
    uint64_t body_bits;     ///< of decoded snapshots, without padding
    uint64_t head_bits;     ///< of body_bits: in no component (slots, lists, bases, heads of rows)
} net_mirror_counters;

/// Result of comparing a probe with the mirror.
typedef enum net_mirror_probe_result {
    NET_MIRROR_UNKNOWN, ///< no row of that tick is kept, the entity is loading, or there is none
    NET_MIRROR_EQUAL,
    NET_MIRROR_DIFFERS ///< request a resync
} net_mirror_probe_result;

/// What differs.
typedef struct net_mirror_difference {
    ecs_entity entity;          ///< NONE: nothing
    ecs_component_id component; ///< the first that differs; NONE: the row, or it is not known
} net_mirror_difference;

typedef struct net_mirror net_mirror;

net_mirror* net_mirror_create(const net_mirror_config* config);
/// The world's entities stay; references are released.
void net_mirror_destroy(net_mirror* mirror);
/// Read the snapshot of packet `seq` of tick `tick`. `snapshot` is after the header and is read
/// to its end, padding included; NULL: the packet has none. Read every packet, also those without a
/// snapshot: later ones may refer to it.
/// @return NET_OK: acknowledge the packet.
///         NET_ERR_STALE: too late to be decoded; nothing happened; do not acknowledge.
///         NET_ERR_MALFORMED: our server does not write this; nothing happened; do not acknowledge.
///         NET_ERR_MEMORY (more than memory_bytes_max), NET_ERR_FULL (the world refused): end
///         the session.
BASE_MUST_USE net_result net_mirror_read(net_mirror* mirror, uint16_t seq, ecs_tick tick,
                                         proto_bit_reader* snapshot);
/// Another server has the match, and its packets begin again, in solo code or not. What the mirror
/// has stays. An entity that is created again stays the same entity, also in another slot.
void net_mirror_rebase(net_mirror* mirror, const net_solo* solo);
/// That server has sent everything up to `tick`: end the entities that were not created again.
/// @return how many.
uint32_t net_mirror_end_rebase(net_mirror* mirror, ecs_tick tick);
/// Compare the entity in `slot` with the row that the server has at `tick`: `hash` is the low 16
/// bits of its net_row_hash. The mirror's row of that tick is compared, newest or not, and then the
/// world with the newest row. `difference` may be NULL.
/// @return the result.
net_mirror_probe_result net_mirror_check_probe(const net_mirror* mirror, uint32_t slot,
                                               ecs_tick tick, uint16_t hash,
                                               net_mirror_difference* difference);
/// Compare the world with the newest rows, a part of the slots in each call: all of them within
/// NET_MIRROR_SWEEP_CALLS calls. @return whether one differs: the first one of this part.
bool net_mirror_sweep(net_mirror* mirror, net_mirror_difference* difference);
/// @return The tick of the newest record that wrote the whole entity, which repairs whatever other
///         code did to it; 0 when the mirror does not have it.
ecs_tick net_mirror_whole_tick(const net_mirror* mirror, ecs_entity entity);
ecs_tick net_mirror_tick(const net_mirror* mirror); ///< newest tick of any decoded packet; 0 before
/// Get the tick of an entity. @return false when the mirror does not have it.
bool net_mirror_entity_tick(const net_mirror* mirror, ecs_entity entity, ecs_tick* tick);
/// Get the entity of the newest record for an index (NONE: destroyed) and the tick of that record.
/// @return false: no record ever named the index.
bool net_mirror_known_incarnation(const net_mirror* mirror, uint32_t index, ecs_entity* handle,
                                  ecs_tick* tick);
/// Bits of this component in all decoded snapshots.
uint64_t net_mirror_component_bits(const net_mirror* mirror, ecs_component_id component);
/// Of a mirror without a world: keep a variable-size value of an entity that it has, instead of the
/// one before. NULL: the default again.
void net_mirror_keep_value(net_mirror* mirror, ecs_entity entity, ecs_component_id component,
                           const void* bytes, uint32_t size);
/// Of a mirror without a world: the value that is kept, borrowed until the next packet or value.
/// NULL: the entity is not there, lacks the component, or has its default.
const uint8_t* net_mirror_value_bytes(const net_mirror* mirror, ecs_entity entity,
                                      ecs_component_id component, uint32_t* size);
/// The entity with the next higher index; ECS_ENTITY_NONE begins and ends.
ecs_entity net_mirror_next(const net_mirror* mirror, ecs_entity before);
/// The template of an entity, and its newest row (PROTO_ROW_FIELDS_MAX words; NULL: not wanted).
/// NULL when the mirror does not have it.
const net_row_template* net_mirror_row(const net_mirror* mirror, ecs_entity entity, uint64_t* row);
/// The words of its newest row, in place or in `row`. NULL: as above.
const uint64_t* net_mirror_words(const net_mirror* mirror, ecs_entity entity, uint32_t* field_count,
                                 uint64_t* row);
/// A bit for each component in which the newest row of an entity differs from the one before it,
/// all when there is none. The mirror has the entity (asserted).
uint64_t net_mirror_row_changes(const net_mirror* mirror, ecs_entity entity);
/// Of a mirror without a world: the digest of what it has; equal to that of a world with the same
/// content. `world` knows the names of the rows' components and templates.
net_world_digest net_mirror_digest(const net_mirror* mirror, ecs_world* world);
const net_mirror_counters* net_mirror_get_counters(const net_mirror* mirror);
/// Check the whole structure (asserts). net_mirror_read does so in BASE_VALIDATE builds.
void net_mirror_validate(const net_mirror* mirror);
