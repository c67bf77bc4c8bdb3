// SPDX-License-Identifier: MIT
// The replication state of one client. Each entity in its scope has a slot; each packet stores the
// slots that it carried. Rules:
//
// 1. Wait: a slot waits to be sent after a change, or when the packet that carried it last is
// declared lost. When a newer packet carried it too, a lost packet changes nothing (newest wins),
// so loss never multiplies traffic.
// 2. Base: a row is coded against rows at ticks that this client acknowledged for this entity.
// Without one it is coded against the template's defaults. So a client can decode any packet that
// arrives, and it holds the server's state at one tick.
// 3. Lifecycle: until the client acknowledged a create, every record of the entity is a create;
// until it acknowledged a destroy, every record of its slot is a destroy. A new generation replaces
// the old one in its slot.
//
// Sends of a slot are numbered (ordinals, never reset). An acknowledgement counts when its ordinal
// belongs to the present epoch of the slot: the sends since the last creation, recreation or
// destruction. Its tick and the order of arrival do not matter. That is the whole protection
// against late and repeated acknowledgements.
//
// A client sees a mask of classes of an entity. A sent row is stored with its mask. As a base it is
// masked by that mask again, since this is what the client holds.
//
// The parts: repl_state_slots.c which entities are in scope, repl_state_select.c which go first,
// repl_state_write.c what a packet contains, snapshot_writer.c its bits. Here: creating and
// destroying, acknowledged and lost packets, probes. Start with net_repl_state_acked.
#include "replicate/repl_state.h"

#include "core/fault.h"
#include "base/assert.h"
#include "replicate/repl_state_internal.h"
#include "replicate/replicator_internal.h"

#include <string.h>

enum {
    TYPICAL_CREATE_BITS = 160 * 16, // before anything was measured; 1/16 bits
    TYPICAL_UPDATE_BITS = 64 * 16,
    TYPICAL_OVERHEAD_BITS = 8 * 16,
    SAMPLE_SLOTS_MAX = 256, // slots looked at for one probe
    AHEAD = 12,             // slots that are prefetched
};

net_result net_repl_state_create(net_replicator* replicator, uint32_t client,
                                 net_repl_state** repl) {
    BASE_ASSERT(replicator && repl);
    *repl = NULL;
    net_repl_state* made = base_allocate_zero(replicator->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->replicator = replicator;
    made->client = client;
    made->create_bits = TYPICAL_CREATE_BITS;
    made->update_bits = TYPICAL_UPDATE_BITS;
    made->overhead_bits = TYPICAL_OVERHEAD_BITS;
    if (!net_observers_add_client(replicator, made)) {
        base_release(replicator->allocator, made, sizeof *made);
        return NET_ERR_MEMORY;
    }
    if ((replicator->bandwidth && !net_bandwidth_open(replicator->bandwidth, &made->account)) ||
        !net_replicator_update_scope(replicator, made)) {
        net_repl_state_destroy(made);
        return NET_ERR_MEMORY;
    }
    *repl = made;
    return NET_OK;
}

void net_repl_state_abandon(net_repl_state* repl) {
    repl->is_broken = true;
    repl->watch = (net_repl_state_watch){.context = NULL};
    if (repl->account.bits) net_bandwidth_close(repl->replicator->bandwidth, &repl->account);
}

bool net_repl_state_unwind(net_repl_state* repl, uint32_t* entities_max) {
    BASE_ASSERT(repl->is_broken);
    while (repl->member_count > 0 && *entities_max > 0) {
        uint32_t last = --repl->member_count;
        net_observers_remove(repl->replicator, repl->members[last].index, repl,
                             repl->member_slots[last]);
        --*entities_max;
    }
    return repl->member_count == 0;
}

void net_repl_state_destroy(net_repl_state* repl) {
    if (!repl) return;
    net_replicator* replicator = repl->replicator;
    net_repl_state_abandon(repl);
    uint32_t all = UINT32_MAX;
    (void)net_repl_state_unwind(repl, &all);
    for (uint32_t i = 0; i < NET_REPL_STATE_PACKETS; i++)
        BASE_ARRAY_RELEASE(&replicator->pool.allocator, repl->packets[i].items,
                           repl->packets[i].capacity);
    net_observers_remove_client(replicator, repl);
    net_repl_state_deinit_slots(repl);
    base_release(replicator->allocator, repl, sizeof *repl);
}

bool net_repl_state_is_broken(const net_repl_state* repl) {
    return repl->is_broken;
}

static bool has_fresh(const net_repl_state* repl) {
    return base_bitset_has(&repl->replicator->fresh_repls, repl->id);
}

bool net_repl_state_has_pending(const net_repl_state* repl) {
    return repl->pending_count > 0 || has_fresh(repl);
}

// ---- what became of packets ----

static net_repl_state_packet* find_packet(net_repl_state* repl, uint16_t seq) {
    net_repl_state_packet* found = &repl->packets[seq & (NET_REPL_STATE_PACKETS - 1)];
    return found->state != NET_PACKET_FREE && found->seq == seq ? found : NULL;
}

static uint32_t position_of(const net_repl_slot* s, uint32_t tick) {
    uint32_t position = 0;
    while (position < s->acked_count && (int32_t)(s->acked_ticks[position] - tick) > 0)
        position++;
    return position;
}

// The client has the row of this tick: store it among the newest.
static void take_ack(net_repl_slot* s, const net_repl_state_packet* from,
                     const net_packet_item* item, uint32_t sends_after) {
    uint32_t tick = (uint32_t)from->tick;
    uint32_t position = position_of(s, tick);
    if (position == NET_REPL_STATE_ACKED) return;
    if (position < s->acked_count && s->acked_ticks[position] == tick) return;
    if (s->acked_count < NET_REPL_STATE_ACKED) s->acked_count++;
    for (uint32_t i = s->acked_count - 1u; i > position; i--) {
        s->acked_ticks[i] = s->acked_ticks[i - 1];
        s->acked_classes[i] = s->acked_classes[i - 1];
        s->behind[i] = s->behind[i - 1];
    }
    s->acked_ticks[position] = tick;
    s->acked_classes[position] = item->classes;
    s->behind[position] = (uint8_t)(sends_after < UINT8_MAX ? sends_after : UINT8_MAX);
    if (position > 0) return;
    s->acked_seq = from->seq;
    // Of the sends after this one only the newest tick is known.
    if (sends_after > 0) s->first_after_tick = sends_after == 1 ? s->sent_tick : tick + 1;
}

// The client acknowledged the row that was sent last, in any packet: while the world stands still
// many packets carry the same row.
static bool has_newest(const net_repl_slot* s) {
    return s->state == NET_REPL_SLOT_LIVE && s->acked_count > 0 &&
           s->acked_ticks[0] == s->sent_tick && s->acked_classes[0] == s->classes;
}

static void item_acked(net_repl_state* repl, const net_repl_state_packet* from,
                       const net_packet_item* item) {
    uint32_t slot = item->slot & ~NET_PACKET_ITEM_ROW;
    net_repl_slot* s = &repl->slots[slot];
    uint32_t sends_after = (uint16_t)(s->ordinal - item->ordinal);
    if (sends_after >= s->epoch_sends) return; // of an earlier epoch
    if (s->state == NET_REPL_SLOT_LEAVING) {
        net_repl_state_free_slot(repl, slot);
        return;
    }
    if (s->state != NET_REPL_SLOT_LIVE) {
        s->state = NET_REPL_SLOT_LIVE;
        net_set_remove(repl, NET_SET_LIFECYCLE, slot);
    }
    net_repl_state_packet newest;
    if (net_fault_is_planted(NET_FAULT_STALE_ACK)) {
        newest = *from;
        newest.tick += (ecs_tick)(s->sent_tick - (uint32_t)from->tick);
        from = &newest;
        sends_after = 0;
    }
    take_ack(s, from, item, sends_after);
    if (sends_after > 0 && !has_newest(s)) return;
    if (net_set_has(repl, NET_SET_REPEAT, slot)) { // it was declared lost
        net_set_remove(repl, NET_SET_REPEAT, slot);
        net_set_remove(repl, NET_SET_PENDING, slot);
        repl->pending_count--;
    }
    if (!net_set_has(repl, NET_SET_PENDING, slot)) net_set_remove(repl, NET_SET_UNSETTLED, slot);
}

bool net_repl_state_acked(net_repl_state* repl, uint16_t seq) {
    net_repl_state_packet* from = find_packet(repl, seq);
    if (!from) return false;
    if (from->state == NET_PACKET_ACKED) return true;
    bool was_flying = from->state == NET_PACKET_FLYING;
    if (!was_flying) repl->counters.packets_lost--;
    from->state = NET_PACKET_ACKED;
    repl->counters.packets_acked++;
    for (uint32_t i = 0; i < AHEAD && i < from->count; i++)
        __builtin_prefetch(&repl->slots[from->items[i].slot & ~NET_PACKET_ITEM_ROW], 1);
    for (uint32_t i = 0; i < from->count; i++) {
        if (i + AHEAD < from->count)
            __builtin_prefetch(&repl->slots[from->items[i + AHEAD].slot & ~NET_PACKET_ITEM_ROW], 1);
        repl->slots[from->items[i].slot & ~NET_PACKET_ITEM_ROW].flying -= was_flying;
        item_acked(repl, from, &from->items[i]);
    }
    return true;
}

bool net_repl_state_lost(net_repl_state* repl, uint16_t seq) {
    net_repl_state_packet* from = find_packet(repl, seq);
    if (!from) return false;
    if (from->state != NET_PACKET_FLYING) return true;
    from->state = NET_PACKET_LOST;
    repl->counters.packets_lost++;
    for (uint32_t i = 0; i < from->count; i++) {
        uint32_t slot = from->items[i].slot & ~NET_PACKET_ITEM_ROW;
        net_repl_slot* s = &repl->slots[slot];
        s->flying--;
        if (net_fault_is_planted(NET_FAULT_NO_REPEAT)) continue;
        bool is_newest = s->epoch_sends > 0 && s->ordinal == from->items[i].ordinal;
        if (net_fault_is_planted(NET_FAULT_STALE_RESEND))
            is_newest = s->state != NET_REPL_SLOT_FREE;
        if (net_fault_is_planted(NET_FAULT_GHOST) && is_newest &&
            s->state == NET_REPL_SLOT_LEAVING) {
            net_repl_state_free_slot(repl, slot);
            continue;
        }
        if (!is_newest || has_newest(s) || net_set_has(repl, NET_SET_PENDING, slot)) continue;
        net_repl_state_wait(repl, slot);
        net_set_add(repl, NET_SET_REPEAT, slot);
    }
    return true;
}

// ---- questions ----

bool net_repl_state_resync(net_repl_state* repl, ecs_entity entity) {
    if (net_fault_is_planted(NET_FAULT_NO_RESYNC)) return true;
    uint32_t slot = net_repl_state_find_slot(repl, ecs_entity_index(entity));
    if (slot == UINT32_MAX) return false;
    net_repl_slot* s = &repl->slots[slot];
    if (s->handle != entity || s->state == NET_REPL_SLOT_LEAVING) return false;
    s->wants_resync = s->state == NET_REPL_SLOT_LIVE;
    net_set_remove(repl, NET_SET_REPEAT, slot);
    net_repl_state_wait(repl, slot);
    return true;
}

bool net_repl_state_is_settled(const net_repl_state* repl) {
    if (repl->replicator->published != net_history_step_count(repl->replicator->history))
        return false;
    if (repl->is_broken || has_fresh(repl)) return false;
    uint64_t unsettled = 0;
    for (uint32_t w = 0; w < net_repl_state_words(repl); w++)
        unsettled |= repl->sets[NET_SET_UNSETTLED][w];
    return unsettled == 0;
}

bool net_repl_state_sees(const net_repl_state* repl, ecs_entity entity, uint32_t* classes) {
    uint32_t slot = net_repl_state_find_slot(repl, ecs_entity_index(entity));
    if (slot == UINT32_MAX) return false;
    const net_repl_slot* s = &repl->slots[slot];
    if (s->handle != entity || s->state == NET_REPL_SLOT_LEAVING) return false;
    if (classes) *classes = repl->members[s->member].classes;
    return true;
}

bool net_repl_state_has(const net_repl_state* repl, ecs_entity entity) {
    uint32_t slot = net_repl_state_find_slot(repl, ecs_entity_index(entity));
    if (slot == UINT32_MAX) return false;
    return repl->slots[slot].handle == entity && repl->slots[slot].state == NET_REPL_SLOT_LIVE;
}

void net_repl_state_set_watch(net_repl_state* repl, const net_repl_state_watch* watch) {
    BASE_ASSERT(watch);
    repl->watch = *watch;
    for (uint32_t i = 0; i < repl->member_count && watch->enter; i++) {
        ecs_entity entity = repl->slots[repl->member_slots[i]].handle;
        watch->enter(watch->context, entity, repl->members[i].classes, repl->members[i].entered);
    }
}

static bool probe_slot(const net_repl_state* repl, uint32_t slot, uint32_t* age, uint64_t* hash) {
    const net_repl_slot* s = &repl->slots[slot];
    if (s->state != NET_REPL_SLOT_LIVE || s->acked_count == 0 || s->behind[0] > 0) return false;
    // Whether a row with hidden classes is still stored would reveal how often they changed.
    if (s->acked_classes[0] & ~s->classes) return false;
    const net_history_entity* entity =
        net_history_find(repl->replicator->history, ecs_entity_index(s->handle));
    if (!entity || entity->handle != s->handle) return false;
    ecs_tick now = net_replicator_tick(repl->replicator);
    *age = (uint32_t)now - s->acked_ticks[0];
    uint64_t scratch[PROTO_ROW_FIELDS_MAX];
    const uint64_t* row = net_history_at(entity, now - *age, s->acked_classes[0], scratch);
    if (!row) return false;
    *hash = net_row_hash(entity->row_template, row);
    if (net_fault_is_planted(NET_FAULT_WRONG_PROBE) && slot % 8 == 5) ++*hash;
    return true;
}

bool net_repl_state_probe(net_repl_state* repl, uint32_t* slot, uint32_t* age, uint64_t* hash) {
    BASE_ASSERT(slot && age && hash);
    uint32_t tries = repl->slot_end < SAMPLE_SLOTS_MAX ? repl->slot_end : SAMPLE_SLOTS_MAX;
    for (uint32_t i = 0; i < tries; i++) {
        if (repl->probe_slot >= repl->slot_end) repl->probe_slot = 0;
        *slot = repl->probe_slot++;
        if (probe_slot(repl, *slot, age, hash)) return true;
    }
    return false;
}

const net_repl_state_counters* net_repl_state_get_counters(const net_repl_state* repl) {
    return &repl->counters;
}

net_bandwidth_account* net_repl_state_account(net_repl_state* repl) {
    return repl->account.bits ? &repl->account : NULL;
}

uint32_t net_repl_state_entities(const net_repl_state* repl) {
    return repl->member_count;
}
