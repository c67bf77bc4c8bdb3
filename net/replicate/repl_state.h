// SPDX-License-Identifier: MIT
/// What one client has and lacks: schedules, selects, encodes, and learns from acknowledgements.
///
/// Schedule optimistically, encode pessimistically: an entity waits to be sent only after a new change
/// or the detected loss of the newest packet with it; when it is written, its bases are rows that this
/// client acknowledged for this entity. Waiting entities gather priority with every tick; those with most go
/// first, creations and destructions have a reserved share, so nothing starves.
///
/// Memory: grows with what the client sees and the largest packet, then stays.
/// Threads: one at a time for all repls of a replicator.
#pragma once

#include "proto/bits.h"
#include "replicate/replicator.h"

typedef struct net_repl_state_counters {
    uint64_t packets, bits; ///< bodies written
    uint64_t records_create;
    uint64_t records_update;   ///< against an acknowledged row
    uint64_t records_settled;  ///< of those, base coded as settled
    uint64_t records_absolute; ///< living on the client, but no usable base
    uint64_t records_destroy;
    uint64_t records_repeated;       ///< of all: again, because the packet with them was lost
    uint64_t rows_made, rows_shared; ///< rows coded here, rows another repl had coded
    uint64_t packets_acked, packets_lost;
    uint64_t acks_forged;  ///< for packets that were never written
    uint64_t resyncs;      ///< rows sent absolutely because the client asked
    uint64_t held_back;    ///< entity-ticks in which 63 unacknowledged packets carried it already
    uint64_t groups_split; ///< groups that no packet holds: torn
} net_repl_state_counters;

/// Room for one packet. Bits.
typedef struct net_repl_state_room {
    uint32_t hard; ///< no body is longer
    uint32_t
        soft; ///< the budget: beyond it nothing is added, but what waits longest is always taken
} net_repl_state_room;

typedef struct net_repl_state net_repl_state;

/// Who follows what is in the client's scope. NULL functions are skipped.
typedef struct net_repl_state_watch {
    void* context;
    /// It came into scope with this tick, or changed its template: records of it have this tick or later ones.
    /// `classes`: all that the client may see.
    void (*enter)(void* context, ecs_entity entity, uint32_t classes, ecs_tick tick);
    void (*reclass)(void* context, ecs_entity entity, uint32_t classes);
    void (*leave)(void* context, ecs_entity entity); ///< it may be dead
} net_repl_state_watch;

/// A client joins: what it is interested in waits to be created. `client` as the interest know it.
BASE_MUST_USE net_result net_repl_state_create(net_replicator* replicator, uint32_t client,
                                               net_repl_state** repl);
void net_repl_state_destroy(net_repl_state* repl);
bool net_repl_state_is_broken(const net_repl_state* repl);
/// Is anything waiting to be written?
bool net_repl_state_has_pending(const net_repl_state* repl);
/// Append one body to `writer` for packet `seq` (from net_ack_sender_add). *records may be 0: nothing was
/// written, nothing was waiting or fits. Sequence numbers must rise by one from call to call (asserted):
/// every state packet is registered. @return NET_OK; NET_ERR_MEMORY (drop the client).
BASE_MUST_USE net_result net_repl_state_write(net_repl_state* repl, uint16_t seq,
                                              net_repl_state_room room, proto_bit_writer* output,
                                              uint32_t* records);
/// The client decoded packet `seq`. Give newest first (net_ack does). Idempotent; counts after a
/// declared loss too. @return false (counted) when no such packet was written.
bool net_repl_state_acked(net_repl_state* repl, uint16_t seq);
/// Packet `seq` is taken as lost: what was sent last in it waits again. Idempotent.
bool net_repl_state_lost(net_repl_state* repl, uint16_t seq);
/// The client's world is not what it should be there: send it absolutely. false when it has no such entity.
bool net_repl_state_resync(net_repl_state* repl, ecs_entity entity);
/// The client has acknowledged everything there is, at the replicator's tick.
bool net_repl_state_is_settled(const net_repl_state* repl);
/// Does this client see the entity (its creation may still be on its way)? `classes` may be NULL.
bool net_repl_state_sees(const net_repl_state* repl, ecs_entity entity, uint32_t* classes);
/// Has the client acknowledged that the entity is there, with the template that it has now?
bool net_repl_state_has(const net_repl_state* repl, ecs_entity entity);
/// From now on; `enter` is called at once for all that is in scope. One at a time.
void net_repl_state_set_watch(net_repl_state* repl, const net_repl_state_watch* watch);
/// A row that the client should have, another one with each call: for the checksum in a packet's header.
/// false: none is certain now. `hash` as net_row_hash of the masked row, `age` of its tick.
bool net_repl_state_probe(net_repl_state* repl, uint32_t* slot, uint32_t* age, uint64_t* hash);
const net_repl_state_counters* net_repl_state_get_counters(const net_repl_state* repl);
/// What this client's bodies were made of; NULL without a bandwidth.
net_bandwidth_account* net_repl_state_account(net_repl_state* repl);
