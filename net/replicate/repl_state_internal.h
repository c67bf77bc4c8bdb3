// SPDX-License-Identifier: MIT
/// Private to replicate: the replication state of one client, shared by the repl_state files.
#pragma once

#include "net/limits.h"
#include "replicate/packet_items.h"
#include "replicate/repl_state.h"

enum {
    NET_REPL_STATE_PACKETS = NET_PACKETS_IN_FLIGHT_MAX,
    NET_REPL_STATE_ACKED = 4,       ///< acknowledged rows remembered per slot
    NET_REPL_STATE_FLYING_MAX = 63, ///< unacknowledged packets that may carry a slot
    NET_REPL_STATE_SENDS_MAX =
        NET_ROW_HISTORY_MAX - 1, ///< sends after a base: the client keeps this many rows beside it
    NET_REPL_STATE_BACK_MAX =
        48, ///< packets whose items are kept for listed runs after their acknowledgement
    NET_REPL_STATE_OVERDUE_TICKS = 64,  ///< an entity that waits this long goes first, oldest first
    NET_REPL_STATE_BUCKETS = 65,        ///< of priority; the last is for overdue slots
    NET_REPL_STATE_LEAVING_WEIGHT = 64, ///< of destroys
};

typedef enum net_repl_slot_state {
    NET_REPL_SLOT_FREE,
    NET_REPL_SLOT_UNKNOWN, ///< nothing of the present incarnation was sent
    NET_REPL_SLOT_CREATE_SENT,
    NET_REPL_SLOT_LIVE,    ///< a create was acknowledged
    NET_REPL_SLOT_LEAVING, ///< out of scope or destroyed; a destroy waits or is in flight
} net_repl_slot_state;

/// One cache line: what acknowledging and writing a record touches.
typedef struct net_repl_slot {
    ecs_entity handle;
    uint32_t acked_ticks[NET_REPL_STATE_ACKED];   ///< low 32 bits, newest first
    uint16_t acked_classes[NET_REPL_STATE_ACKED]; ///< the mask when the row was sent
    uint8_t behind[NET_REPL_STATE_ACKED];         ///< sends after it, saturating at 255
    uint32_t sent_tick;                           ///< newest send, low 32 bits
    uint32_t first_after_tick; ///< a lower bound of the first send after acked_ticks[0]
    uint32_t floor_tick;       ///< no base is older: the client may have forgotten it
    uint32_t member;           ///< position among the members
    uint16_t acked_seq;        ///< of the packet with acked_ticks[0]
    uint16_t ordinal;          ///< of the newest send; never reset
    uint16_t epoch_sends;      ///< sends in the present epoch, saturating
    uint16_t classes;          ///< visible now, of those that the template uses
    uint8_t state;             ///< net_repl_slot_state
    uint8_t acked_count;
    uint8_t flying;    ///< unacknowledged packets that carry the slot
    bool is_known;     ///< the client may hold an entity in this slot
    bool wants_resync; ///< send absolutely
    bool has_floor;
    bool has_previous; ///< the client may hold rows of an earlier epoch
} net_repl_slot;

_Static_assert(sizeof(net_repl_slot) <= BASE_CACHE_LINE_BYTES, "one line");

/// What selecting touches.
typedef struct net_repl_urgency {
    uint32_t since_tick; ///< waits since this tick; low 32 bits
    uint16_t bonus;      ///< added by changes
    uint16_t weight;
} net_repl_urgency;

typedef enum net_packet_state {
    NET_PACKET_FREE,
    NET_PACKET_FLYING,
    NET_PACKET_LOST,
    NET_PACKET_ACKED
} net_packet_state;

typedef struct net_repl_state_packet {
    net_packet_item* items; ///< rising by slot
    uint32_t count, capacity;
    uint32_t row_count; ///< of those with a row
    ecs_tick tick;
    uint16_t seq;
    uint8_t state;
} net_repl_state_packet;

/// Sets of slots, one bit each.
typedef enum net_repl_set {
    NET_SET_USED,
    NET_SET_PENDING,
    NET_SET_FRESH,     ///< changed since the last merge
    NET_SET_LIFECYCLE, ///< its next record is a create or a destroy
    NET_SET_REPEAT,    ///< waits only because a packet was lost
    NET_SET_UNSETTLED, ///< the client may not have the newest row
    NET_SET_COUNT
} net_repl_set;

struct net_repl_state {
    net_replicator* replicator;
    uint32_t id, client;
    bool is_broken;
    net_repl_state_watch watch;
    net_repl_slot* slots;
    net_repl_urgency* urgencies;
    uint32_t* observer_positions;  ///< [slot] in the entity's list of observers
    uint64_t* sets[NET_SET_COUNT]; ///< word_count words each, one block
    uint32_t slot_capacity, urgency_capacity, position_capacity, word_count;
    uint32_t slot_end;    ///< above the highest ever used
    uint32_t slot_cursor; ///< where the search for a free slot begins
    uint32_t pending_count;
    net_interest_entity* members;
    uint32_t* member_slots;
    uint32_t member_count, member_capacity, member_slot_capacity;
    uint32_t* table; ///< open addressing: slot + 1 by entity index
    uint32_t table_bits, table_count;
    uint64_t* groups; ///< group << 32 | slot, sorted
    uint32_t group_count, group_capacity;
    net_repl_state_packet packets[NET_REPL_STATE_PACKETS];
    uint64_t packet_count;
    uint16_t seq_next;
    uint32_t create_bits, update_bits; ///< typical sizes in 1/16 bits, for selecting
    uint32_t overhead_bits;            ///< of a record beside the encoded row; in 1/16 bits
    uint32_t probe_slot;
    ecs_tick held_tick; ///< newest in which held_back was counted
    net_repl_state_counters counters;
    net_bandwidth_account account;
};

static inline bool net_set_has(const net_repl_state* repl, net_repl_set set, uint32_t slot) {
    return repl->sets[set][slot >> 6] >> (slot & 63) & 1;
}

static inline void net_set_add(net_repl_state* repl, net_repl_set set, uint32_t slot) {
    repl->sets[set][slot >> 6] |= UINT64_C(1) << (slot & 63);
}

static inline void net_set_remove(net_repl_state* repl, net_repl_set set, uint32_t slot) {
    repl->sets[set][slot >> 6] &= ~(UINT64_C(1) << (slot & 63));
}

/// Words of the sets that are in use.
static inline uint32_t net_repl_state_words(const net_repl_state* repl) {
    return (repl->slot_end + 63) >> 6;
}

// ---- slots (repl_state_slots.c) ----

/// The slot of an entity index; UINT32_MAX when the client has none.
uint32_t net_repl_state_find_slot(const net_repl_state* repl, uint32_t index);
/// An entity enters the scope, begins a new incarnation there, or is seen in another way.
/// @return false when memory ran out.
BASE_MUST_USE bool net_repl_state_enter(net_repl_state* repl, const net_interest_entity* scoped);
/// An entity in scope is seen in another way. @return false when memory ran out.
BASE_MUST_USE bool net_repl_state_change(net_repl_state* repl, uint32_t slot,
                                         const net_interest_entity* scoped);
void net_repl_state_leave(net_repl_state* repl, uint32_t slot);
/// The client acknowledged the destroy, or never had the entity.
void net_repl_state_free_slot(net_repl_state* repl, uint32_t slot);
/// The slot waits from now on, unless it waits already.
void net_repl_state_wait(net_repl_state* repl, uint32_t slot);
/// Let the changed slots (NET_SET_FRESH) wait, as of this tick.
void net_repl_state_merge(net_repl_state* repl, ecs_tick tick);
void net_repl_state_deinit_slots(net_repl_state* repl);
/// The slots of a group: positions [first, end) of repl->groups.
void net_repl_state_find_group(const net_repl_state* repl, uint32_t group, uint32_t* first,
                               uint32_t* end);

// ---- selecting (repl_state_select.c) ----

/// Put waiting slots into writer.order: all of them by slot when they should fit `bits` and
/// `must_select` is false; otherwise the most urgent ones, most urgent first. @return false when
/// memory ran out.
BASE_MUST_USE bool net_repl_state_order(net_repl_state* repl, uint32_t bits, bool must_select);
/// All waiting slots, most urgent first.
BASE_MUST_USE bool net_repl_state_order_all(net_repl_state* repl);
/// The slot that waits longest; UINT32_MAX when none waits.
uint32_t net_repl_state_oldest(const net_repl_state* repl);

// ---- sent packets (repl_state_sent.c) ----

/// The place of packet `seq`: an older packet there counts as lost; items that no list can name any
/// more are released.
net_repl_state_packet* net_repl_state_begin_packet(net_repl_state* repl, uint16_t seq);
/// Room for the items of a packet. @return false when memory ran out.
BASE_MUST_USE bool net_repl_state_reserve_items(net_repl_state* repl, net_repl_state_packet* packet,
                                                uint32_t count);
/// The records of the written snapshot are in flight: store them in the packet and in their slots.
void net_repl_state_note_sent(net_repl_state* repl, net_repl_state_packet* packet);
/// Learn typical sizes from the written snapshot of `bits`.
void net_repl_state_learn(net_repl_state* repl, uint64_t bits);
