// SPDX-License-Identifier: MIT
/// The replication state of one client: what it has, what is in flight, what waits. It schedules,
/// selects, encodes, and learns from acknowledgements.
///
/// Schedule optimistically, encode pessimistically: an entity waits to be sent only after a new
/// change or after the loss of the newest packet with it. When it is written, its bases are rows
/// that this client acknowledged for this entity. Waiting entities gain priority with every tick;
/// the highest go first. Creations and destructions have a reserved share, so nothing starves.
///
/// Memory:  grows with the client's scope and the largest packet, then stays.
/// Threads: one at a time for all replication states of a lane (replicator.h).
#pragma once

#include "proto/bits.h"
#include "replicate/replicator.h"

typedef struct net_repl_state_counters {
    uint64_t packets, bits; ///< snapshots written
    uint64_t packets_solo;  ///< of those: in solo code
    uint64_t records_create;
    uint64_t records_update;   ///< against an acknowledged row
    uint64_t records_settled;  ///< of those: the base is coded as settled
    uint64_t records_absolute; ///< the client has the entity, but there is no usable base
    uint64_t records_destroy;
    uint64_t records_repeated; ///< of all records: again, because the packet with them was lost
    uint64_t rows_made,
        rows_shared; ///< rows encoded here, rows that another client had encoded
    uint64_t packets_acked, packets_lost;
    uint64_t resyncs;      ///< rows sent absolutely because the client requested it
    uint64_t held_back;    ///< entity-ticks in which 63 unacknowledged packets carried it already
    uint64_t groups_split; ///< groups that no packet holds: sent in parts
} net_repl_state_counters;

/// Room for one packet, in bits.
typedef struct net_repl_state_room {
    uint32_t hard; ///< no snapshot is longer
    uint32_t
        soft; ///< the budget: no record is added beyond it, but the longest waiting one always goes
} net_repl_state_room;

typedef struct net_repl_state net_repl_state;

/// Callbacks that follow the client's scope. NULL functions are skipped.
typedef struct net_repl_state_watch {
    void* context;
    /// The entity entered the scope at this tick, or changed its template. Records of it have this
    /// tick or a later one. `classes`: all that the client may see.
    void (*enter)(void* context, ecs_entity entity, uint32_t classes, ecs_tick tick);
    void (*reclass)(void* context, ecs_entity entity, uint32_t classes);
    void (*leave)(void* context, ecs_entity entity); ///< it may be destroyed
} net_repl_state_watch;

/// A client joins: what is in its scope waits to be created. `client`: its number in the interest
/// manager. @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_repl_state_create(net_replicator* replicator, uint32_t client,
                                               net_repl_state** repl);
void net_repl_state_destroy(net_repl_state* repl);
/// The client has left: nothing is written for it any more, its account is closed and its callbacks
/// are not called. It still has to be destroyed, which releases memory and walks nothing.
void net_repl_state_abandon(net_repl_state* repl);
/// Code its snapshots solo where that is shorter, before the first one (solo_sender.h). The client
/// must know it: its snapshots begin with another head. @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_repl_state_use_solo(net_repl_state* repl);
/// Put it into a lane of its replicator (below their number, asserted), while no lane works. It
/// begins in the first one.
void net_repl_state_set_lane(net_repl_state* repl, uint32_t lane);
/// Take over the published step, before a packet is written: what changed, and the scope when it is
/// the client's turn. Only between net_replicator_publish_lane_begin and _end of its lane; nothing
/// happens when it was done. Without memory the state is broken afterwards.
void net_repl_state_publish(net_repl_state* repl);
/// Entities in its scope.
uint32_t net_repl_state_entities(const net_repl_state* repl);
/// List them in any order; `entities` has room for net_repl_state_entities.
void net_repl_state_list(const net_repl_state* repl, ecs_entity* entities);
bool net_repl_state_is_broken(const net_repl_state* repl);
/// Does anything wait to be written? A create that is in flight is not written again within a round
/// trip, unless it is lost.
bool net_repl_state_has_pending(const net_repl_state* repl);
/// Append one snapshot to `output` for packet `seq` (from net_ack_sender_add). *records is 0 when
/// nothing was written: nothing waits or nothing fits. Sequence numbers rise by one from call to
/// call (asserted): every state packet is registered. @return NET_OK; NET_ERR_MEMORY (drop the
/// client).
BASE_MUST_USE net_result net_repl_state_write(net_repl_state* repl, uint16_t seq,
                                              net_repl_state_room room, proto_bit_writer* output,
                                              uint32_t* records);
/// The client acknowledged packet `seq`. Call it newest first (net_ack_result is in that order).
/// Idempotent; counts after a declared loss too. @return false when no such packet is known (forged
/// numbers are the ack sender's).
bool net_repl_state_acked(net_repl_state* repl, uint16_t seq);
/// Packet `seq` is declared lost: an entity whose newest record was in it waits again. Idempotent.
/// @return false when no such packet is known.
bool net_repl_state_lost(net_repl_state* repl, uint16_t seq);
/// The client's row is wrong: send it absolutely. @return false when the client has no such entity.
bool net_repl_state_resync(net_repl_state* repl, ecs_entity entity);
/// Has the client acknowledged all that it should have, at the replicator's tick?
bool net_repl_state_is_settled(const net_repl_state* repl);
/// Is the entity in the client's scope (its creation may be in flight)? `classes` may be NULL.
bool net_repl_state_sees(const net_repl_state* repl, ecs_entity entity, uint32_t* classes);
/// Has the client acknowledged the entity, with its present template?
bool net_repl_state_has(const net_repl_state* repl, ecs_entity entity);
/// Set the callbacks; `enter` is called at once for all that is in scope.
void net_repl_state_set_watch(net_repl_state* repl, const net_repl_state_watch* watch);
/// Get a row that the client should have, another one with each call, for the checksum in a packet
/// header. `hash` is net_row_hash of the masked row, `age` the age of its tick. @return false: no
/// row is certain now.
bool net_repl_state_probe(net_repl_state* repl, uint32_t* slot, uint32_t* age, uint64_t* hash);
const net_repl_state_counters* net_repl_state_get_counters(const net_repl_state* repl);
/// The bits of this client's snapshots; NULL without bandwidth accounting.
net_bandwidth_account* net_repl_state_account(net_repl_state* repl);
