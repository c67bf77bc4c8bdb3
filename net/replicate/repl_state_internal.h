// SPDX-License-Identifier: MIT
/// Private to replicate: the replication state of one client, shared by the repl_state files.
///
/// What is known of slots are sets: one bit per slot, so that 64 slots are handled by one
/// operation. README.md says how the sets are used.
#pragma once

#include "net/limits.h"
#include "base/bitset.h"
#include "replicate/repl_state.h"

enum {
    NET_REPL_STATE_PACKETS = NET_PACKETS_IN_FLIGHT_MAX,
    NET_REPL_STATE_WINDOW_MIN = 16,     ///< packets whose slots are known, at first
    NET_REPL_STATE_BACK_MAX = 63,       ///< packets back that a base is looked for
    NET_REPL_STATE_FLYING_MAX = 63,     ///< unacknowledged packets that may carry a slot
    NET_REPL_STATE_OVERDUE_TICKS = 64,  ///< an entity that waits this long goes first, oldest first
    NET_REPL_STATE_WEIGHT_PLANES = 4,   ///< bits of a weight's logarithm
    NET_REPL_STATE_PHASE_PLANES = 6,    ///< low bits of an entity's index
    NET_REPL_STATE_LEAVING_WEIGHT = 64, ///< of destroys
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
    NET_SET_PHASE = NET_SET_WEIGHT + NET_REPL_STATE_WEIGHT_PLANES, ///< of its index
    NET_SET_PHASE_END = NET_SET_PHASE + NET_REPL_STATE_PHASE_PLANES - 1,
    NET_SET_COUNT
} net_repl_set;

/// The classes that a client saw of a slot before this tick.
typedef struct net_repl_reclass {
    uint32_t slot, tick;
    uint16_t before;
} net_repl_reclass;

struct net_repl_state {
    net_replicator* replicator;
    uint32_t id, client;
    uint32_t lane; ///< of the replicator
    bool is_broken;
    uint64_t published;           ///< the replicator's, of the step that was taken over last
    struct net_solo_sender* solo; ///< NULL: shared code
    net_repl_state_watch watch;
    // ---- by slot: room for word_count times 64
    uint64_t* sets; ///< NET_SET_COUNT times word_count words
    uint32_t word_count;
    ecs_entity* handles;
    uint32_t* bases;              ///< with NET_SET_BASED; low 32 bits
    uint32_t* floors;             ///< with NET_SET_SINGLE: its base; low 32 bits
    uint32_t* since;              ///< waits since this tick; low 32 bits
    uint16_t* classes;            ///< visible now, of those that the template uses
    net_interest_entity* members; ///< [slot]; index 0: not in scope
    uint32_t slot_end;            ///< above the highest ever used
    uint32_t slot_cursor;         ///< where the search for a free slot begins
    uint32_t member_count, pending_count;
    uint32_t* table; ///< open addressing: slot + 1 by entity index
    uint32_t table_bits, table_count;
    uint64_t* groups; ///< group << 32 | slot, sorted
    uint32_t group_count, group_capacity;
    net_repl_reclass* reclasses; ///< in the order of their ticks
    uint32_t reclass_count, reclass_capacity;
    // ---- by packet
    uint64_t* carried;     ///< [seq % window] a set: sent in the slot's present epoch
    uint64_t* listed;      ///< [seq % window] a set: rows, as the client lists them
    uint32_t window;       ///< newest packets with sets; a power of two
    uint64_t recent_acked; ///< bit i: packet seq_next - 1 - i
    uint32_t flying;       ///< packets in flight
    uint16_t seq_next;
    uint64_t packet_count;
    uint32_t ticks[NET_REPL_STATE_PACKETS]; ///< [seq % PACKETS] low 32 bits
    uint8_t states[NET_REPL_STATE_PACKETS]; ///< net_packet_state
    uint32_t round_ticks;                   ///< from sending to acknowledgement, the newest time
    uint32_t create_bits, update_bits;      ///< typical sizes in 1/16 bits, for selecting
    uint32_t overhead_bits;                 ///< of a record beside the encoded row; in 1/16 bits
    uint32_t probe_slot;
    ecs_tick held_tick; ///< newest in which held_back was counted
    net_repl_state_counters counters;
    net_bandwidth_account account;
};

static inline uint64_t* net_set(const net_repl_state* repl, net_repl_set set) {
    return repl->sets + (size_t)set * repl->word_count;
}

static inline bool net_set_has(const net_repl_state* repl, net_repl_set set, uint32_t slot) {
    return net_set(repl, set)[slot >> 6] >> (slot & 63) & 1;
}

static inline void net_set_add(net_repl_state* repl, net_repl_set set, uint32_t slot) {
    net_set(repl, set)[slot >> 6] |= UINT64_C(1) << (slot & 63);
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

/// Packets with sets: the newest ones, 1..this back.
static inline uint32_t net_repl_state_backs(const net_repl_state* repl) {
    return repl->packet_count < repl->window ? (uint32_t)repl->packet_count : repl->window;
}

/// The packet that is `back` before the next one. back is 1..net_repl_state_backs.
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

/// Prefetch what a packet of this client reads first: there are more clients than cache.
static inline void net_repl_state_prefetch(const net_repl_state* repl) {
    const size_t bytes = net_repl_state_words(repl) * sizeof(uint64_t);
    if (bytes == 0 || bytes > NET_REPL_STATE_PREFETCH_MAX) return;
    net_repl_prefetch(repl->sets, NET_SET_WEIGHT * repl->word_count * sizeof(uint64_t));
    net_repl_prefetch(repl->carried, repl->window * bytes);
    net_repl_prefetch(repl->handles, bytes * 8 * sizeof *repl->handles);
    net_repl_prefetch(repl->classes, bytes * 8 * sizeof *repl->classes);
}

// ---- slots (repl_state_slots.c) ----

/// The slot of an entity index; UINT32_MAX when the client has none.
uint32_t net_repl_state_find_slot(const net_repl_state* repl, uint32_t index);
/// Take a free slot for an index. @return UINT32_MAX when memory ran out.
uint32_t net_repl_state_take_slot(net_repl_state* repl, uint32_t index);
/// The client acknowledged the destroy, or never had the entity.
void net_repl_state_free_slot(net_repl_state* repl, uint32_t slot);
/// Make room for the sets of more packets. @return false when memory ran out.
BASE_MUST_USE bool net_repl_state_widen(net_repl_state* repl);
void net_repl_state_deinit_slots(net_repl_state* repl);
/// The slots of a group: positions [first, end) of repl->groups.
void net_repl_state_find_group(const net_repl_state* repl, uint32_t group, uint32_t* first,
                               uint32_t* end);
BASE_MUST_USE bool net_repl_state_add_to_group(net_repl_state* repl, uint32_t group, uint32_t slot);
void net_repl_state_remove_from_group(net_repl_state* repl, uint32_t group, uint32_t slot);

// ---- the scope (repl_state_scope.c) ----

/// An entity enters the scope, begins a new incarnation there, or is seen in another way.
/// @return false when memory ran out.
BASE_MUST_USE bool net_repl_state_enter(net_repl_state* repl, const net_interest_entity* scoped);
/// An entity in scope is seen in another way. @return false when memory ran out.
BASE_MUST_USE bool net_repl_state_change(net_repl_state* repl, uint32_t slot,
                                         const net_interest_entity* scoped);
void net_repl_state_leave(net_repl_state* repl, uint32_t slot);
/// The slot waits from now on, unless it waits already.
void net_repl_state_wait(net_repl_state* repl, uint32_t slot);
/// Take over what happened in the published step. @return false when memory ran out.
BASE_MUST_USE bool net_repl_state_pull(net_repl_state* repl);
/// The classes of a slot's row in a packet of this tick.
uint16_t net_repl_state_classes_at(const net_repl_state* repl, uint32_t slot, uint32_t tick);

// ---- packets (repl_state_packets.c) ----

/// Make the sets of the next packet free: what its place knew is folded into `bases`.
/// @return false when memory ran out.
BASE_MUST_USE bool net_repl_state_begin_packet(net_repl_state* repl);
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

// ---- selecting (repl_state_select.c) ----

/// Put the waiting slots that are not held into lane.order, most urgent first: enough for `bits`,
/// or all. @return false when memory ran out.
BASE_MUST_USE bool net_repl_state_order(net_repl_state* repl, const uint64_t* held, uint64_t bits);
/// The weight of a slot's entity is this from now on.
void net_repl_state_set_weight(net_repl_state* repl, uint32_t slot, uint32_t weight);
/// The slot is of the entity at this index.
void net_repl_state_set_phase(net_repl_state* repl, uint32_t slot, uint32_t index);

// ---- bases (repl_state_bases.c) ----

/// Compose the snapshot of these slots in the lane's writer: bases, runs, encoded rows.
/// @return false when memory ran out.
BASE_MUST_USE bool net_repl_state_compose(net_repl_state* repl, const uint64_t* chosen);
