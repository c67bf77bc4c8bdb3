// SPDX-License-Identifier: MIT
/// The replication state of one client: what it has, what is in flight, what waits. It schedules,
/// selects, encodes, and learns from acknowledgements.
///
/// Schedule optimistically, encode pessimistically: an entity waits to be sent only after a new
/// change or after the loss of the newest packet with it. When it is written, its bases are rows
/// that this client acknowledged for this entity. A waiting entity is due once in an interval of 1
/// to 64 ticks, which its weight and the budget set; due and late ones go first, by level.
/// Creations and destructions have a reserved share, and the wait is bounded (repl_state_write.c).
///
/// Memory:  grows with the client's scope and the largest packet, then stays.
/// Threads: one at a time for all replication states of a lane (replicator.h).
#pragma once

#include "replicate/encoded_rows.h"
#include "replicate/replicator.h"
#include "replicate/snapshot_writer.h"
#include "replicate/encoded_rows.h"
#include "state/coder.h"

#include "net/limits.h"

#include "proto/bits.h"

#include "base/bitset.h"
#include "base/table.h"

typedef struct net_repl_state_counters {
    uint64_t packets, bits; ///< snapshots written
    uint64_t packets_lost;
    uint64_t rows_made,
        rows_shared; ///< rows encoded here, rows that another client had encoded
    uint64_t records_create;
    uint64_t records_update; ///< against an acknowledged row
    uint64_t records_destroy;
    uint64_t records_repeated; ///< of all records: again, because the packet with them was lost
    uint64_t records_settled;  ///< of the updates: the base is coded as settled
    uint64_t records_absolute; ///< the client has the entity, but there is no usable base
    uint64_t packets_solo;     ///< of those written: in solo code
    uint64_t solo_stopped;     ///< 1: it may lack statistics, so it gets shared code from then on
    uint64_t resyncs;          ///< rows sent absolutely because the client requested it
    uint64_t held_back;    ///< entity-ticks in which 63 unacknowledged packets carried it already
    uint64_t groups_split; ///< packets with a part of a group that no packet holds
    uint32_t group_split;  ///< the newest such group
} net_repl_state_counters;

/// Room for one packet, in bits.
typedef struct net_repl_state_room {
    uint32_t hard; ///< no snapshot is longer
    uint32_t
        soft; ///< the budget: no record is added beyond it, but the longest waiting one always goes
    uint32_t group; ///< a group that is not longer waits for a packet that holds it
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
/// manager.
net_repl_state* net_repl_state_create(net_replicator* replicator, uint32_t client);
void net_repl_state_destroy(net_repl_state* repl);
/// The client has left: nothing is written for it any more, and its callbacks are not called. It
/// still has to be destroyed, which releases memory and walks nothing.
void net_repl_state_abandon(net_repl_state* repl);
/// Code its snapshots solo where that is shorter, before the first one. The client
/// must know it: its snapshots begin with another head.
void net_repl_state_use_solo(net_repl_state* repl);
/// Put it into a lane of its replicator (below their number, asserted), while no lane works. It
/// begins in the first one.
void net_repl_state_set_lane(net_repl_state* repl, uint32_t lane);
/// Take over the published step, before a packet is written: what changed, and the scope when it is
/// the client's turn. Only between net_replicator_publish_lane_begin and _end of its lane; nothing
/// happens when it was done.
void net_repl_state_publish(net_repl_state* repl);
/// List them in any order; `entities` has room for member_count.
void net_repl_state_list(const net_repl_state* repl, ecs_entity* entities);
/// List those of a word of slots (net_repl_state_words) at whose index `marks` has 1 and not 0. It
/// has an element for every index of the history; `entities` has room for 64. @return how many.
uint32_t net_repl_state_list_marked(const net_repl_state* repl, uint32_t word, const uint8_t* marks,
                                    ecs_entity* entities);
/// Does anything wait to be written? A create that is in flight is not written again within a round
/// trip, unless it is lost.
bool net_repl_state_has_pending(const net_repl_state* repl);
/// Append one snapshot to `output` for packet `seq` (from net_ack_sender_add). Sequence numbers
/// rise by one from call to call (asserted): every state packet is registered. @return its records;
/// 0 when nothing was written: nothing waits or nothing fits.
uint32_t net_repl_state_write(net_repl_state* repl, uint16_t seq, net_repl_state_room room,
                              proto_bit_writer* output);
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
/// Await all that is in scope now.
void net_repl_state_await(net_repl_state* repl);
/// Is something of that in its scope still, and not acknowledged?
bool net_repl_state_is_awaiting(net_repl_state* repl);
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

/// Private to replicate: the replication state of one client, shared by the repl_state files.
///
/// What is known of slots are sets: one bit per slot, so that 64 slots are handled by one
/// operation. README.md says how the sets are used.

enum {
    NET_REPL_STATE_PACKETS = NET_PACKETS_IN_FLIGHT_MAX,
    NET_REPL_STATE_WINDOW_MIN = 16,     ///< packets whose slots are known, at first
    NET_REPL_STATE_NARROW_PACKETS = 8,  ///< so many in a row would be shorter with a wider window
    NET_REPL_STATE_BACK_MAX = 63,       ///< packets back that a base is looked for
    NET_REPL_STATE_FLYING_MAX = 63,     ///< unacknowledged packets that may carry a slot
    NET_REPL_STATE_OVERDUE_TICKS = 64,  ///< an entity that waits this long goes first, oldest first
    NET_REPL_STATE_WEIGHT_PLANES = 4,   ///< bits of a weight's logarithm
    NET_REPL_STATE_PHASE_PLANES = 6,    ///< bits of an entity's index
    NET_REPL_STATE_LEAVING_WEIGHT = 64, ///< of destroys
    NET_REPL_STATE_DESTROY_BITS = 10,   ///< typical
    NET_REPL_STATE_CREATE_TICKS = 6,    ///< a create that is in flight is not sent again before
    NET_REPL_STATE_YOUNG_CREATE_TICKS = 2, ///< the same, of a young entity
    NET_REPL_STATE_PREFETCH_MAX = 64, ///< bytes of a set: what is larger is read in order anyway
    NET_REPL_STATE_YOUNG_TICKS = 6, ///< an entity that enters a scope later than this is not young
};

// The client keeps NET_ROW_HISTORY_MAX rows of an entity, and a packet has at most one.
_Static_assert(NET_REPL_STATE_BACK_MAX < NET_ROW_HISTORY_MAX, "it still has every base");

typedef enum net_packet_state {
    NET_PACKET_FREE,
    NET_PACKET_FLYING,
    NET_PACKET_LOST,
    NET_PACKET_ACKED
} net_packet_state;

/// Sets of slots. An epoch of a slot is the time since its last creation, recreation or
/// destruction; what was sent before an epoch is forgotten when it begins.
typedef enum net_repl_set {
    NET_SET_USED,      ///< has an entity
    NET_SET_KNOWN,     ///< the client may hold an entity there
    NET_SET_LIVE,      ///< a create of this epoch was acknowledged
    NET_SET_GOING,     ///< out of scope or destroyed; a destroy waits or is in flight
    NET_SET_PENDING,   ///< waits to be sent
    NET_SET_REPEAT,    ///< waits only because a packet was lost
    NET_SET_UNSETTLED, ///< the client may not have the newest row
    NET_SET_RESYNC,    ///< send absolutely
    NET_SET_RECENT,    ///< an acknowledged packet of the window carried it in this epoch
    NET_SET_BASED,     ///< `bases` has an acknowledged tick, from before the window
    NET_SET_STALE,     ///< something was sent after that tick and before the window
    NET_SET_SINGLE,    ///< the newest update had no second base
    NET_SET_PREVIOUS,  ///< the client may hold rows of an earlier epoch
    NET_SET_MIXED,     ///< `reclasses` has an entry: bases may have other classes
    NET_SET_YOUNG,     ///< its incarnation was new in the world when it entered the scope
    NET_SET_ENTERED,   ///< its epoch began in the publish that goes on
    NET_SET_AGAIN,     ///< changed again while it waited
    NET_SET_WEIGHT,    ///< and the following ones: bits of the logarithm of its weight
    NET_SET_PHASE = NET_SET_WEIGHT + NET_REPL_STATE_WEIGHT_PLANES,     ///< lowest bits of its index
    NET_SET_BLOCK_PHASE = NET_SET_PHASE + NET_REPL_STATE_PHASE_PLANES, ///< above these
    NET_SET_BLOCK_PHASE_END = NET_SET_BLOCK_PHASE + NET_REPL_STATE_PHASE_PLANES - 1,
    NET_SET_COUNT
} net_repl_set;

/// The classes that a client saw of a slot before this tick.
typedef struct net_repl_reclass {
    uint32_t slot, tick;
    uint16_t before;
} net_repl_reclass;

// What a packet and an acknowledgement read lies together: it is not in the cache, since there are
// many clients.
struct net_repl_state {
    base_owner owner;
    net_replicator* replicator;
    uint32_t id, client;
    uint32_t lane;  ///< of the replicator
    uint32_t place; ///< that of the newest answer about its scope
    bool is_abandoned;
    uint16_t seq_next;
    uint32_t pending_count;
    uint32_t flying;       ///< packets in flight
    uint64_t published;    ///< the replicator's, of the step that was taken over last
    uint64_t* sets;        ///< NET_SET_COUNT times word_count words; the block begins here
    uint64_t* carried;     ///< [seq % window] a set: sent in the slot's present epoch
    uint64_t* listed;      ///< [seq % window] a set: rows, as the client lists them
    uint32_t word_count;   ///< it has room for 64 times this many slots
    uint32_t slot_end;     ///< above the highest ever used
    uint32_t window;       ///< room for the sets of so many packets; a power of two
    uint32_t backs;        ///< newest packets with sets: fewer after the window was widened
    uint64_t recent_acked; ///< bit i: packet seq_next - 1 - i
    uint64_t packet_count;
    uint32_t round_ticks;              ///< from sending to acknowledgement, the newest time
    uint32_t create_bits, update_bits; ///< typical sizes in 1/16 bits, for selecting
    uint32_t rested;                   ///< records of a packet whose base has just left the window
    uint32_t narrow;                   ///< newest packets in a row in which most of them are that
    uint32_t group_count, reclass_count;
    ecs_tick held_tick;    ///< newest in which held_back was counted
    net_solo_sender* solo; ///< NULL: shared code
    // ---- by slot
    uint32_t* indices; ///< of the handles; 0: the slot is free
    uint16_t* classes; ///< visible now, of those that the template uses
    uint16_t* since;   ///< waits since this tick; low 16 bits
    uint32_t* bases;   ///< with NET_SET_BASED; low 32 bits
    uint32_t* floors;  ///< with NET_SET_SINGLE: its base; low 32 bits
    ecs_entity* handles;
    net_interest_entity* members; ///< index 0: not in scope
    uint8_t* unheard; ///< with NET_SET_STALE: how often; up to NET_REPL_STATE_BACK_MAX + 1
    net_repl_state_counters counters;
    uint32_t ticks[NET_REPL_STATE_PACKETS]; ///< [seq % PACKETS] low 32 bits
    uint8_t states[NET_REPL_STATE_PACKETS]; ///< net_packet_state
    // ---- the scope
    net_repl_state_watch watch;
    uint32_t member_count;
    uint32_t slot_cursor; ///< where the search for a free slot begins
    uint32_t* table;      ///< open addressing: slot + 1 by entity index
    uint32_t table_bits, table_count;
    uint64_t* groups;            ///< group << 32 | slot, sorted
    net_repl_reclass* reclasses; ///< in the order of their ticks
    uint32_t group_capacity, reclass_capacity;
    uint64_t* awaited; ///< a set of slots; NULL: nothing is awaited
    uint32_t awaited_words;
    uint32_t probe_slot;
};

static inline void net_set_bit(uint64_t* set, uint32_t slot) {
    set[slot >> 6] |= UINT64_C(1) << (slot & 63);
}

static inline bool net_has_bit(const uint64_t* set, uint32_t slot) {
    return set[slot >> 6] >> (slot & 63) & 1;
}

static inline uint64_t* net_set(const net_repl_state* repl, net_repl_set set) {
    return repl->sets + (size_t)set * repl->word_count;
}

static inline bool net_set_has(const net_repl_state* repl, net_repl_set set, uint32_t slot) {
    return net_has_bit(net_set(repl, set), slot);
}

static inline void net_set_add(net_repl_state* repl, net_repl_set set, uint32_t slot) {
    net_set_bit(net_set(repl, set), slot);
}

static inline void net_set_remove(net_repl_state* repl, net_repl_set set, uint32_t slot) {
    net_set(repl, set)[slot >> 6] &= ~(UINT64_C(1) << (slot & 63));
}

/// Words of the sets that are in use.
static inline uint32_t net_repl_state_words(const net_repl_state* repl) {
    return (repl->slot_end + 63) >> 6;
}

/// Members of a word. Most processors count them at once, but not all that we run on.
static inline uint32_t net_word_count(uint64_t word) {
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (uint32_t)(word * UINT64_C(0x0101010101010101) >> 56);
}

static inline uint32_t net_words_count(const uint64_t* words, uint32_t word_count) {
    uint32_t count = 0;
    for (uint32_t w = 0; w < word_count; w++)
        count += net_word_count(words[w]);
    return count;
}

/// Packets with sets while the next packet is written, for which the oldest sets were emptied.
static inline uint32_t net_repl_state_backs_whole(const net_repl_state* repl) {
    return repl->backs == repl->window ? repl->backs - 1 : repl->backs;
}

/// The packet that is `back` before the next one. back is 1..repl->backs.
static inline uint64_t* net_repl_carried(const net_repl_state* repl, uint32_t back) {
    return repl->carried +
           (size_t)((uint16_t)(repl->seq_next - back) & (repl->window - 1)) * repl->word_count;
}

static inline uint64_t* net_repl_listed(const net_repl_state* repl, uint32_t back) {
    return repl->listed +
           (size_t)((uint16_t)(repl->seq_next - back) & (repl->window - 1)) * repl->word_count;
}

static inline uint32_t net_repl_packet_tick(const net_repl_state* repl, uint32_t back) {
    return repl->ticks[(uint16_t)(repl->seq_next - back) & (NET_REPL_STATE_PACKETS - 1)];
}

static inline net_packet_state net_repl_packet_state(const net_repl_state* repl, uint32_t back) {
    return (net_packet_state)
        repl->states[(uint16_t)(repl->seq_next - back) & (NET_REPL_STATE_PACKETS - 1)];
}

static inline void net_repl_prefetch(const void* from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += BASE_CACHE_LINE_BYTES)
        __builtin_prefetch((const uint8_t*)from + at);
}

/// Prefetch what a packet of this client reads first: there are more clients than cache. The state
/// itself is prefetched one packet before (net_repl_state_prefetch_self).
static inline void net_repl_state_prefetch_self(const net_repl_state* repl) {
    net_repl_prefetch(repl, offsetof(net_repl_state, ticks));
}
static inline void net_repl_state_prefetch(const net_repl_state* repl) {
    const size_t bytes = net_repl_state_words(repl) * sizeof(uint64_t);
    if (bytes == 0 || bytes > NET_REPL_STATE_PREFETCH_MAX) return;
    net_repl_prefetch(repl->sets, NET_SET_WEIGHT * repl->word_count * sizeof(uint64_t));
    net_repl_prefetch(repl->carried, repl->window * bytes);
    net_repl_prefetch(repl->indices, bytes * 8 * sizeof *repl->indices);
    net_repl_prefetch(repl->classes, bytes * 8 * sizeof *repl->classes);
}

// ---- slots (repl_state_scope.c) ----

/// The slot of an entity index; UINT32_MAX when the client has none.
uint32_t net_repl_state_find_slot(const net_repl_state* repl, uint32_t index);
/// The client acknowledged the destroy, or never had the entity.
void net_repl_state_free_slot(net_repl_state* repl, uint32_t slot);
/// Make room for the sets of more packets.
void net_repl_state_widen(net_repl_state* repl);
/// The slots of a group: positions [first, end) of repl->groups.
void net_repl_state_find_group(const net_repl_state* repl, uint32_t group, uint32_t* first,
                               uint32_t* end);

// ---- the scope (repl_state_scope.c) ----

/// An entity enters the scope, begins a new incarnation there, or is seen in another way.
void net_repl_state_enter(net_repl_state* repl, const net_interest_entity* scoped);
/// An entity in scope is seen in another way.
void net_repl_state_change(net_repl_state* repl, uint32_t slot, const net_interest_entity* scoped);
void net_repl_state_leave(net_repl_state* repl, uint32_t slot);
/// The slot waits from now on, unless it waits already.
void net_repl_state_wait(net_repl_state* repl, uint32_t slot);
/// Take over what happened in the published step.
void net_repl_state_pull(net_repl_state* repl);
/// The classes of a slot's row in a packet of this tick.
uint16_t net_repl_state_classes_at(const net_repl_state* repl, uint32_t slot, uint32_t tick);

// ---- packets (repl_state.c) ----

/// Make the sets of the next packet free: what its place knew is folded into `bases`.
void net_repl_state_begin_packet(net_repl_state* repl);
/// The next packet is in flight with these slots; NULL: none. It is the one 1 back afterwards.
void net_repl_state_end_packet(net_repl_state* repl, const uint64_t* sent);
/// Of a word of waiting slots: those whose create is in flight and need not be sent again. The
/// client gets no changes meanwhile. Of a young entity, which begins in plain view and often moves,
/// that shows as a stop and a jump: its creates follow each other sooner. What came into range is
/// at the edge of the view.
uint64_t net_repl_state_created(const net_repl_state* repl, uint32_t w, uint64_t waiting);
/// Slots that 63 packets in flight carry: into `held`.
void net_repl_state_mark_full(const net_repl_state* repl, uint64_t* held);
/// The newest acknowledged packet in the window that carried a slot, as packets back; 0: none.
uint32_t net_repl_state_find_base(const net_repl_state* repl, uint32_t slot);

// ---- writing (repl_state_write.c) ----

/// Add the slots whose create is in flight to `held`.
void net_repl_state_find_held(const net_repl_state* repl, uint64_t* held);
/// Put the waiting slots that are not held into lane.ranked, most urgent first: enough for `bits`,
/// or all.
void net_repl_state_order(net_repl_state* repl, const uint64_t* held, uint64_t bits);

// ---- bases (repl_state_bases.c) ----

/// The age of the base of a slot, when it is looked for alone; 0: it has none that may be used.
uint32_t net_repl_state_base_age(const net_repl_state* repl, uint32_t slot);
/// Compose the snapshot of these slots in the lane's writer: bases, runs, encoded rows.
void net_repl_state_compose(net_repl_state* repl, const uint64_t* chosen);
/// The key of the row of a composed record.
net_encoded_row_key net_repl_state_key(const net_repl_state* repl,
                                       const net_snapshot_writer* writer,
                                       const net_record_group* run, bool is_create, uint32_t slot);

/// Private to replicate: the replicator, which all replication states share.

/// What one thread needs to publish and write for its clients, beside what all threads only read.
typedef struct net_replicator_lane {
    net_encoded_rows encoded_rows;
    net_snapshot_writer writer;
    net_solo_tapes* solo_tapes; ///< NULL: no client has solo code
    bool is_idle;               ///< the published step has nothing for any client
} net_replicator_lane;

struct net_replicator {
    base_owner owner;
    net_rows* rows;
    net_interest* interest;
    const net_send_tap* tap;
    void* tap_context;
    const net_solo* solo; ///< NULL: shared code alone
    uint32_t index_max;
    net_history* history;
    bool has_own_history;
    uint64_t published; ///< steps of the history that were published
    // ---- the published step, only read by lanes
    const net_history_event* events;
    uint32_t event_count;
    uint8_t* touched; ///< [index] 1: it changed, spawned or despawned
    uint32_t touched_capacity;
    bool has_touched;         ///< one of them is 1
    bool has_lives;           ///< something spawned or despawned
    bool has_hidden;          ///< something changed in hidden classes only
    base_bitset lives;        ///< indices where something spawned or despawned
    base_bitset hidden;       ///< indices that changed in hidden classes only
    uint16_t* hidden_classes; ///< [index] the classes, with a bit in `hidden`
    uint32_t hidden_capacity;
    // ---- clients
    net_repl_state** repls; ///< [repl id]; NULL: unused
    uint32_t repl_capacity, repl_count;
    base_table clients; ///< client number to repl id: numbers rise for as long as the match runs
    net_replicator_lane* lanes;
    uint32_t lane_count;
};

/// Register a replication state. It gets its id.
void net_replicator_add_client(net_replicator* replicator, net_repl_state* repl);
void net_replicator_remove_client(net_replicator* replicator, net_repl_state* repl);
/// Query the interest manager and apply the answer.
void net_replicator_update_scope(net_replicator* replicator, net_repl_state* repl);

static inline ecs_tick net_replicator_now(const net_replicator* replicator) {
    return replicator->history->tick;
}

/// The low bits of the tick of the replicator.
static inline uint32_t net_repl_state_now(const net_repl_state* repl) {
    return (uint32_t)net_replicator_now(repl->replicator);
}
