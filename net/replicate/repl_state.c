// SPDX-License-Identifier: MIT
// A client's view. Each entity in its scope has a slot; each packet remembers which slots it carried. Rules:
//
// 1. Wait: a slot waits to be sent after a change, or when the packet that carried it *last* is taken as
//    lost. A lost packet that something newer followed is nobody's business (newest wins), so loss never
//    multiplies traffic.
// 2. Base: a row is coded against rows at ticks that this client acknowledged for this entity.
//    Without one it is coded against the template's defaults. So whatever was lost, what arrives can be
//    decoded and is the server's state at one tick.
// 3. Life: until the client acknowledged a create, every record of the entity is a create, and until it
//    acknowledged a destroy, every record of its slot is a destroy. A new generation just replaces the
//    old one in its slot.
//
// Sends of a slot are numbered (ordinals, never reset). An acknowledgement counts when its ordinal belongs
// to the present chapter of the slot (since the last creation, recreation or death), whatever tick or
// order it comes in; that is the whole protection against late and doubled acknowledgements.
//
// What a client may see of an entity is a mask of classes; a row that was sent is remembered with its mask, and
// as a base it is masked by that one again, since this is what the client holds.
//
// The parts: view_slots.c who is in scope, view_select.c who goes first, view_write.c what a packet gets,
// view_body.c its bits; here, a view's beginning and end, and what became of its packets.
#include "replicate/repl_state.h"

#include "core/fault.h"
#include "base/assert.h"
#include "replicate/repl_state_internal.h"

#include <string.h>

enum {
    TYPICAL_CREATE_BITS = 160 * 16, // before anything was measured; 1/16 bits
    TYPICAL_UPDATE_BITS = 64 * 16,
    TYPICAL_OVERHEAD_BITS = 8 * 16,
    SAMPLE_SLOTS_MAX = 256, // looked at for one sample
    AHEAD = 12,             // slots fetched before they are needed
};

net_result net_view_create(net_replica* replica, uint32_t client, net_view** view) {
    BASE_ASSERT(replica && view);
    *view = NULL;
    net_view* made = base_allocate_zero(replica->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->replica = replica;
    made->client = client;
    made->create_bits = TYPICAL_CREATE_BITS;
    made->update_bits = TYPICAL_UPDATE_BITS;
    made->overhead_bits = TYPICAL_OVERHEAD_BITS;
    if (!net_replica_add_view(replica, made)) {
        base_release(replica->allocator, made, sizeof *made);
        return NET_ERR_MEMORY;
    }
    if ((replica->ledger && !net_ledger_open(replica->ledger, &made->account)) ||
        !net_replica_ask(replica, made)) {
        net_view_destroy(made);
        return NET_ERR_MEMORY;
    }
    *view = made;
    return NET_OK;
}

void net_view_destroy(net_view* view) {
    if (!view) return;
    net_replica* replica = view->replica;
    for (uint32_t i = 0; i < view->member_count; i++)
        net_replica_remove_viewer(replica, view->members[i].index, view, view->member_slots[i]);
    for (uint32_t i = 0; i < NET_VIEW_PACKETS; i++)
        base_release(&replica->pool.allocator, view->packets[i].items,
                     view->packets[i].capacity * sizeof(net_item));
    if (view->account.bits) net_ledger_close(replica->ledger, &view->account);
    net_replica_remove_view(replica, view);
    net_view_deinit_slots(view);
    base_release(replica->allocator, view, sizeof *view);
}

bool net_view_is_broken(const net_view* view) {
    return view->is_broken;
}

static bool has_fresh(const net_view* view) {
    return base_bitset_has(&view->replica->fresh_views, view->id);
}

bool net_view_has_pending(const net_view* view) {
    return view->pending_count > 0 || has_fresh(view);
}

// ---- what became of packets ----

static net_view_packet* find_packet(net_view* view, uint16_t seq) {
    net_view_packet* found = &view->packets[seq & (NET_VIEW_PACKETS - 1)];
    if (found->state != NET_PACKET_FREE && found->seq == seq) return found;
    uint16_t behind = (uint16_t)(view->seq_next - 1 - seq);
    if (behind >= 0x8000 || behind >= view->packet_count) view->counters.acks_forged++;
    return NULL;
}

static uint32_t position_of(const net_slot* s, uint32_t tick) {
    uint32_t position = 0;
    while (position < s->acked_count && (int32_t)(s->acked_ticks[position] - tick) > 0)
        position++;
    return position;
}

// The client has the row of this tick: remember it among the newest.
static void take_ack(net_slot* s, const net_view_packet* from, const net_item* item,
                     uint32_t sends_after) {
    uint32_t tick = (uint32_t)from->tick;
    uint32_t position = position_of(s, tick);
    if (position == NET_VIEW_ACKED) return;
    if (position < s->acked_count && s->acked_ticks[position] == tick) return;
    if (s->acked_count < NET_VIEW_ACKED) s->acked_count++;
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

// The client acknowledged the row that was sent last, in whatever packet: while the world stands still many carry
// the same one.
static bool has_newest(const net_slot* s) {
    return s->state == NET_SLOT_LIVE && s->acked_count > 0 && s->acked_ticks[0] == s->sent_tick &&
           s->acked_classes[0] == s->classes;
}

static void item_acked(net_view* view, const net_view_packet* from, const net_item* item) {
    uint32_t slot = item->slot & ~NET_ITEM_ROW;
    net_slot* s = &view->slots[slot];
    uint32_t sends_after = (uint16_t)(s->ordinal - item->ordinal);
    if (sends_after >= s->in_chapter) return; // of a former life
    if (s->state == NET_SLOT_GOING) {
        net_view_free_slot(view, slot);
        return;
    }
    if (s->state != NET_SLOT_LIVE) {
        s->state = NET_SLOT_LIVE;
        net_set_remove(view, NET_SET_LIFE, slot);
    }
    net_view_packet newest;
    if (net_fault_is_planted(NET_FAULT_STALE_ACK)) {
        newest = *from;
        newest.tick += (ecs_tick)(s->sent_tick - (uint32_t)from->tick);
        from = &newest;
        sends_after = 0;
    }
    take_ack(s, from, item, sends_after);
    if (sends_after > 0 && !has_newest(s)) return;
    if (net_set_has(view, NET_SET_REPEAT, slot)) { // it had been taken as lost
        net_set_remove(view, NET_SET_REPEAT, slot);
        net_set_remove(view, NET_SET_PENDING, slot);
        view->pending_count--;
    }
    if (!net_set_has(view, NET_SET_PENDING, slot)) net_set_remove(view, NET_SET_UNSETTLED, slot);
}

bool net_view_acked(net_view* view, uint16_t seq) {
    net_view_packet* from = find_packet(view, seq);
    if (!from) return false;
    if (from->state == NET_PACKET_ACKED) return true;
    bool was_flying = from->state == NET_PACKET_FLYING;
    if (!was_flying) view->counters.packets_lost--;
    from->state = NET_PACKET_ACKED;
    view->counters.packets_acked++;
    for (uint32_t i = 0; i < AHEAD && i < from->count; i++)
        __builtin_prefetch(&view->slots[from->items[i].slot & ~NET_ITEM_ROW], 1);
    for (uint32_t i = 0; i < from->count; i++) {
        if (i + AHEAD < from->count)
            __builtin_prefetch(&view->slots[from->items[i + AHEAD].slot & ~NET_ITEM_ROW], 1);
        view->slots[from->items[i].slot & ~NET_ITEM_ROW].flying -= was_flying;
        item_acked(view, from, &from->items[i]);
    }
    return true;
}

bool net_view_lost(net_view* view, uint16_t seq) {
    net_view_packet* from = find_packet(view, seq);
    if (!from) return false;
    if (from->state != NET_PACKET_FLYING) return true;
    from->state = NET_PACKET_LOST;
    view->counters.packets_lost++;
    for (uint32_t i = 0; i < from->count; i++) {
        uint32_t slot = from->items[i].slot & ~NET_ITEM_ROW;
        net_slot* s = &view->slots[slot];
        s->flying--;
        if (net_fault_is_planted(NET_FAULT_NO_REPEAT)) continue;
        bool is_newest = s->in_chapter > 0 && s->ordinal == from->items[i].ordinal;
        if (net_fault_is_planted(NET_FAULT_STALE_RESEND)) is_newest = true;
        if (net_fault_is_planted(NET_FAULT_GHOST) && is_newest && s->state == NET_SLOT_GOING) {
            net_view_free_slot(view, slot);
            continue;
        }
        if (!is_newest || has_newest(s) || net_set_has(view, NET_SET_PENDING, slot)) continue;
        net_view_wait(view, slot);
        net_set_add(view, NET_SET_REPEAT, slot);
    }
    return true;
}

// ---- questions ----

bool net_view_heal(net_view* view, ecs_entity entity) {
    if (net_fault_is_planted(NET_FAULT_NO_HEAL)) return true;
    uint32_t slot = net_view_find_slot(view, ecs_entity_index(entity));
    if (slot == UINT32_MAX) return false;
    net_slot* s = &view->slots[slot];
    if (s->handle != entity || s->state == NET_SLOT_GOING) return false;
    s->wants_heal = s->state == NET_SLOT_LIVE;
    net_set_remove(view, NET_SET_REPEAT, slot);
    net_view_wait(view, slot);
    return true;
}

bool net_view_is_settled(const net_view* view) {
    if (view->replica->published != net_history_step_count(view->replica->history)) return false;
    if (view->is_broken || has_fresh(view)) return false;
    uint64_t unsettled = 0;
    for (uint32_t w = 0; w < net_view_words(view); w++)
        unsettled |= view->sets[NET_SET_UNSETTLED][w];
    return unsettled == 0;
}

bool net_view_sees(const net_view* view, ecs_entity entity, uint32_t* classes) {
    uint32_t slot = net_view_find_slot(view, ecs_entity_index(entity));
    if (slot == UINT32_MAX) return false;
    const net_slot* s = &view->slots[slot];
    if (s->handle != entity || s->state == NET_SLOT_GOING) return false;
    if (classes) *classes = view->members[s->member].classes;
    return true;
}

bool net_view_has(const net_view* view, ecs_entity entity) {
    uint32_t slot = net_view_find_slot(view, ecs_entity_index(entity));
    if (slot == UINT32_MAX) return false;
    return view->slots[slot].handle == entity && view->slots[slot].state == NET_SLOT_LIVE;
}

void net_view_set_watch(net_view* view, const net_view_watch* watch) {
    view->watch = *watch;
    for (uint32_t i = 0; i < view->member_count && watch->enter; i++) {
        ecs_entity entity = view->slots[view->member_slots[i]].handle;
        watch->enter(watch->context, entity, view->members[i].classes, view->members[i].entered);
    }
}

static bool sample_slot(const net_view* view, uint32_t slot, uint32_t* age, uint64_t* hash) {
    const net_slot* s = &view->slots[slot];
    if (s->state != NET_SLOT_LIVE || s->acked_count == 0 || s->behind[0] > 0) return false;
    // Whether a row with more than is seen now is still kept would tell how often the rest changed.
    if (s->acked_classes[0] & ~s->classes) return false;
    const net_history_entity* entity =
        net_history_find(view->replica->history, ecs_entity_index(s->handle));
    if (!entity || entity->handle != s->handle) return false;
    ecs_tick now = net_replica_tick(view->replica);
    *age = (uint32_t)now - s->acked_ticks[0];
    uint64_t scratch[PROTO_ROW_FIELDS_MAX];
    const uint64_t* row = net_history_at(entity, now - *age, s->acked_classes[0], scratch);
    if (!row) return false;
    *hash = net_row_hash(entity->entry, row);
    if (net_fault_is_planted(NET_FAULT_WRONG_SAMPLE) && slot % 8 == 5) ++*hash;
    return true;
}

bool net_view_sample(net_view* view, uint32_t* slot, uint32_t* age, uint64_t* hash) {
    uint32_t tries = view->slot_end < SAMPLE_SLOTS_MAX ? view->slot_end : SAMPLE_SLOTS_MAX;
    for (uint32_t i = 0; i < tries; i++) {
        if (view->sample_slot >= view->slot_end) view->sample_slot = 0;
        *slot = view->sample_slot++;
        if (sample_slot(view, *slot, age, hash)) return true;
    }
    return false;
}

const net_view_counters* net_view_get_counters(const net_view* view) {
    return &view->counters;
}

net_ledger_account* net_view_account(net_view* view) {
    return view->account.bits ? &view->account : NULL;
}
