// SPDX-License-Identifier: MIT
// A client's view. Each index has a slot; each packet remembers which slots it carried. Three rules:
//
// 1. Wait: a slot waits to be sent after a change, or when the packet that carried it *last* is taken as
//    lost. A lost packet that something newer followed is nobody's business (newest wins), so loss never
//    multiplies traffic.
// 2. Base: a row is coded against the row at the tick that this client acknowledged for this entity.
//    Without one it is coded against the template's defaults. So whatever was lost, what arrives can be
//    decoded and is the server's state at one tick.
// 3. Life: until the client acknowledged a create, every record of the entity is a create, and until it
//    acknowledged a destroy, every record of the index is a destroy. A new generation just replaces the
//    old one.
//
// Sends of a slot are numbered (ordinals, never reset). An acknowledgement counts when its ordinal belongs
// to the present chapter of the slot (since the last creation, recreation or death), whatever tick or
// order it comes in; that is the whole protection against late and doubled acknowledgements.
//
// Waiting slots stand in a queue in the order in which they began to wait. A packet takes from the front;
// what does not fit keeps its place. So nothing starves, and equal runs give equal packets.
//
// Which base the client surely still has: it keeps NET_ROW_HISTORY_MAX rows, so after more sends than
// that since the acknowledged one the row is absolute. An age beyond 8 bits is coded as settled, "the
// newest you hold from tick - 255 or before", which names the acknowledged row only if nothing was sent
// between it and then.
#include "view.h"

#include "base/assert.h"
#include "pool.h"
#include "view_body.h"

#include <string.h>

enum {
    RING_MASK = NET_PACKETS_IN_FLIGHT_MAX - 1,
    SENDS_PER_BASE_MAX = NET_ROW_HISTORY_MAX - 1,
    MISSES_MAX = 8, // records that do not fit are looked past so often, to fill a packet
};

typedef enum slot_state {
    SLOT_UNKNOWN, // the client was told nothing of the present life
    SLOT_CREATE_SENT,
    SLOT_LIVE,         // a create was acknowledged
    SLOT_DESTROY_SENT, // nothing lives here; a destroy waits or flies
} slot_state;

typedef struct slot {
    ecs_entity told;        // what the client may hold; NONE after an acknowledged destroy
    uint32_t send_count;    // ordinal of the newest send
    uint32_t chapter_first; // ordinals below belong to former lives
    uint32_t acked_ordinal;
    ecs_tick acked; // base, with has_base
    ecs_tick
        sent_after; // a bound from below on the first send after acked, with send_count > acked_ordinal
    ecs_tick sent; // newest send
    uint8_t state;
    bool has_base;
    bool is_pending;
    bool is_queued; // stands in the queue, waiting or not any more
} slot;

typedef struct item {
    uint32_t index;
    uint32_t ordinal;
} item;

typedef enum packet_state { PACKET_FREE, PACKET_FLYING, PACKET_LOST, PACKET_ACKED } packet_state;

typedef struct packet {
    item* items;
    uint32_t count, capacity;
    ecs_tick tick;
    uint16_t seq;
    uint8_t state;
} packet;

struct net_view {
    const base_allocator* allocator;
    net_pool pool; // of packets' items
    const net_history* history;
    uint64_t step_count; // of the history, taken over
    slot* slots;         // [index]
    uint32_t slot_capacity;
    uint32_t* queue; // ring of slot_capacity indices
    uint32_t queue_capacity, queue_first, queue_count;
    uint32_t pending_count;
    packet packets[NET_PACKETS_IN_FLIGHT_MAX];
    uint64_t packet_count; // ever written
    uint16_t seq_next;
    uint32_t kept[MISSES_MAX];
    net_view_counters counters;
    net_body_writer body;
};

// The seam for interest management: which living entities this client should have.
static bool is_visible(const net_view* view, const net_history_entity* entity) {
    (void)view;
    return entity->handle != ECS_ENTITY_NONE;
}

// ---- the queue ----

static bool reserve_slots(net_view* view, uint32_t count) {
    if (!base_array_reserve(view->allocator, (void**)&view->slots, &view->slot_capacity, count,
                            sizeof *view->slots))
        return false;
    if (view->queue_capacity >= view->slot_capacity) return true;
    uint32_t* queue = base_allocate(view->allocator, view->slot_capacity * sizeof *queue);
    if (!queue) return false;
    for (uint32_t i = 0; i < view->queue_count; i++)
        queue[i] = view->queue[(view->queue_first + i) % view->queue_capacity];
    base_release(view->allocator, view->queue, view->queue_capacity * sizeof *queue);
    view->queue = queue;
    view->queue_capacity = view->slot_capacity;
    view->queue_first = 0;
    return true;
}

static void begin_waiting(net_view* view, uint32_t index) {
    slot* s = &view->slots[index];
    if (!s->is_pending) view->pending_count++;
    s->is_pending = true;
    if (s->is_queued) return;
    s->is_queued = true;
    BASE_ASSERT(view->queue_count < view->queue_capacity);
    view->queue[(view->queue_first + view->queue_count++) % view->queue_capacity] = index;
}

static void end_waiting(net_view* view, slot* s) {
    if (s->is_pending) view->pending_count--;
    s->is_pending = false;
}

static uint32_t queue_pop(net_view* view) {
    uint32_t index = view->queue[view->queue_first];
    view->queue_first = (view->queue_first + 1) % view->queue_capacity;
    view->queue_count--;
    return index;
}

static void queue_push_front(net_view* view, uint32_t index) {
    view->queue_first = (view->queue_first + view->queue_capacity - 1) % view->queue_capacity;
    view->queue[view->queue_first] = index;
    view->queue_count++;
}

// ---- lives ----

static void begin_chapter(slot* s, slot_state state) {
    s->state = (uint8_t)state;
    s->chapter_first = s->send_count + 1;
    s->has_base = false;
}

static void come(net_view* view, uint32_t index) {
    begin_chapter(&view->slots[index], SLOT_UNKNOWN);
    begin_waiting(view, index);
}

static void go(net_view* view, uint32_t index) {
    slot* s = &view->slots[index];
    if (s->told == ECS_ENTITY_NONE) {
        begin_chapter(s, SLOT_UNKNOWN);
        end_waiting(view, s);
        return;
    }
    begin_chapter(s, SLOT_DESTROY_SENT);
    begin_waiting(view, index);
}

net_result net_view_create(const base_allocator* allocator, const net_history* history,
                           net_view** view) {
    BASE_ASSERT(history && view);
    *view = NULL;
    net_view* made = base_allocate_zero(allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->allocator = allocator;
    net_pool_init(&made->pool, allocator);
    made->history = history;
    made->step_count = net_history_step_count(history);
    net_body_init(&made->body);
    uint32_t end = net_history_index_end(history);
    if (!reserve_slots(made, end)) {
        net_view_destroy(made);
        return NET_ERR_MEMORY;
    }
    for (uint32_t index = 1; index < end; index++) {
        const net_history_entity* entity = net_history_find(history, index);
        if (entity && is_visible(made, entity)) come(made, index);
    }
    *view = made;
    return NET_OK;
}

// A packet of many records is rare: what it took is of use to any other.
static void release_items(net_view* view, packet* target) {
    base_release(&view->pool.allocator, target->items, target->capacity * sizeof(item));
    target->items = NULL;
    target->count = target->capacity = 0;
}

void net_view_destroy(net_view* view) {
    if (!view) return;
    const base_allocator* allocator = view->allocator;
    for (uint32_t i = 0; i < NET_PACKETS_IN_FLIGHT_MAX; i++)
        release_items(view, &view->packets[i]);
    net_pool_deinit(&view->pool);
    base_release(allocator, view->slots, view->slot_capacity * sizeof *view->slots);
    base_release(allocator, view->queue, view->queue_capacity * sizeof *view->queue);
    net_body_deinit(&view->body, allocator);
    base_release(allocator, view, sizeof *view);
}

net_result net_view_follow(net_view* view) {
    uint64_t step_count = net_history_step_count(view->history);
    if (view->step_count == step_count) return NET_OK; // made after the step: knows it all
    BASE_ASSERT(view->step_count + 1 == step_count);
    if (!reserve_slots(view, net_history_index_end(view->history))) return NET_ERR_MEMORY;
    view->step_count = step_count;
    uint32_t count;
    const net_history_event* events = net_history_events(view->history, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = ecs_entity_index(events[i].handle);
        switch (events[i].kind) {
        case NET_HISTORY_CHANGED:
            begin_waiting(view, index);
            break;
        case NET_HISTORY_CAME:
            come(view, index);
            break;
        case NET_HISTORY_WENT:
            go(view, index);
            break;
        }
    }
    return NET_OK;
}

bool net_view_has_pending(const net_view* view) {
    return view->pending_count > 0;
}

// ---- writing ----

static const uint64_t* choose_base(const slot* s, const net_history_entity* entity, ecs_tick now,
                                   uint32_t* group) {
    *group = NET_GROUP_ABSOLUTE;
    uint32_t sends = s->send_count - s->acked_ordinal;
    const uint64_t* base = NULL;
    if (s->has_base && sends <= SENDS_PER_BASE_MAX) base = net_history_at(entity, s->acked);
    if (!base) return entity->entry->defaults;
    ecs_tick age = now - s->acked;
    if (age <= NET_BASE_AGE_MAX) {
        *group = NET_GROUP_ABSOLUTE + (uint32_t)age;
        return base;
    }
    bool is_settled = sends == 0 || s->sent_after > now - NET_BODY_AGE_SETTLED;
    if (!is_settled) return entity->entry->defaults;
    *group = NET_GROUP_ABSOLUTE + NET_BODY_AGE_SETTLED;
    return base;
}

typedef enum outcome { TAKEN, NOTHING, NO_ROOM, NO_MEMORY } outcome;

// Try to put what a waiting slot needs into the body.
static outcome take(net_view* view, uint32_t index) {
    slot* s = &view->slots[index];
    const net_history_entity* entity = net_history_find(view->history, index);
    ecs_tick now = net_history_tick(view->history);
    net_body_record record = {.index = index};
    const uint64_t *base = NULL, *row = NULL;
    if (s->state == SLOT_DESTROY_SENT) {
        record.group = NET_GROUP_DESTROY;
        record.generation = ecs_entity_generation(s->told);
    } else if (!entity || !is_visible(view, entity)) {
        return NOTHING;
    } else {
        record.entry = entity->entry;
        row = net_history_newest(entity);
        if (s->state == SLOT_LIVE) {
            // A late acknowledgement may have brought the client up to date meanwhile.
            if (s->has_base && s->acked >= entity->change_tick) return NOTHING;
            base = choose_base(s, entity, now, &record.group);
        } else {
            record.group = NET_GROUP_CREATE;
            record.generation = ecs_entity_generation(entity->handle);
            base = entity->entry->defaults;
        }
    }
    switch (net_body_add(&view->body, view->allocator, record, base, row)) {
    case NET_BODY_TAKEN:
        return TAKEN;
    case NET_BODY_NO_ROOM:
        return NO_ROOM;
    case NET_BODY_NO_MEMORY:
        break;
    }
    return NO_MEMORY;
}

// One pass over the queue. @return false when memory ran out.
static bool fill_once(net_view* view, bool* has_more) {
    uint32_t kept = 0;
    bool ok = true;
    while (view->queue_count > 0 && kept < MISSES_MAX && ok) {
        uint32_t index = queue_pop(view);
        slot* s = &view->slots[index];
        switch (s->is_pending ? take(view, index) : NOTHING) {
        case NOTHING:
            end_waiting(view, s);
            s->is_queued = false;
            break;
        case TAKEN:
            break; // stays queued until the packet is certain
        case NO_MEMORY:
            ok = false; // fall through
        case NO_ROOM:
            view->kept[kept++] = index;
            break;
        }
    }
    *has_more = kept > 0;
    while (kept > 0)
        queue_push_front(view, view->kept[--kept]);
    return ok;
}

static bool fill(net_view* view, size_t capacity) {
    net_body_begin(&view->body, capacity, view->slot_capacity, view->body.number_bits);
    for (;;) {
        uint32_t before = view->body.record_count;
        bool has_more;
        bool ok = fill_once(view, &has_more);
        net_body_settle(&view->body);
        if (!ok) return false;
        if (!has_more || view->body.record_count == before) return true;
    }
}

// Put everything that was taken back in front, in its order.
static void give_back(net_view* view) {
    for (uint32_t i = view->body.record_count; i > 0; i--)
        queue_push_front(view, view->body.records[i - 1].index);
}

static void count_record(net_view* view, uint32_t group) {
    net_view_counters* counters = &view->counters;
    if (group == NET_GROUP_DESTROY)
        counters->records_destroy++;
    else if (group == NET_GROUP_CREATE)
        counters->records_create++;
    else if (group == NET_GROUP_ABSOLUTE)
        counters->records_absolute++;
    else
        counters->records_update++;
    if (group == NET_GROUP_ABSOLUTE + NET_BODY_AGE_SETTLED) counters->records_settled++;
}

static void note_sent(net_view* view, packet* target, const net_body_record* record) {
    slot* s = &view->slots[record->index];
    if (s->send_count == s->acked_ordinal) s->sent_after = target->tick;
    s->send_count++;
    s->sent = target->tick;
    end_waiting(view, s);
    s->is_queued = false;
    if (record->group == NET_GROUP_CREATE) {
        s->state = SLOT_CREATE_SENT;
        s->told = ecs_entity_make(record->index, record->generation);
    }
    target->items[target->count++] = (item){record->index, s->send_count};
    count_record(view, record->group);
}

net_result net_view_write(net_view* view, uint16_t seq, uint8_t* body, size_t capacity,
                          size_t* size) {
    BASE_ASSERT(view->step_count == net_history_step_count(view->history));
    BASE_ASSERT(view->packet_count == 0 || seq == view->seq_next);
    *size = 0;
    packet* target = &view->packets[seq & RING_MASK];
    if (target->state == PACKET_FLYING) (void)net_view_lost(view, target->seq);
    target->state = PACKET_FREE;
    release_items(view, target);
    view->body.number_bits = net_history_number_bits(view->history);
    if (!fill(view, capacity) ||
        !base_array_reserve(&view->pool.allocator, (void**)&target->items, &target->capacity,
                            view->body.record_count, sizeof *target->items)) {
        give_back(view);
        return NET_ERR_MEMORY;
    }
    *size = net_body_end(&view->body, body);
    target->count = 0;
    target->tick = net_history_tick(view->history);
    target->seq = seq;
    target->state = PACKET_FLYING;
    for (uint32_t i = 0; i < view->body.record_count; i++)
        note_sent(view, target, &view->body.records[i]);
    view->packet_count++;
    view->seq_next = (uint16_t)(seq + 1);
    view->counters.packets++;
    view->counters.bytes += *size;
    return NET_OK;
}

// ---- what became of it ----

static packet* find_packet(net_view* view, uint16_t seq) {
    packet* found = &view->packets[seq & RING_MASK];
    if (found->state != PACKET_FREE && found->seq == seq) return found;
    uint16_t behind = (uint16_t)(view->seq_next - 1 - seq);
    if (behind >= 0x8000 || behind >= view->packet_count) view->counters.acks_forged++;
    return NULL;
}

static void take_ack(slot* s, const packet* from, uint32_t ordinal) {
    ecs_tick tick = from->tick;
#ifdef SHOAL_FAULT_STALE_ACK
    tick = s->sent; // negative control: as if the newest send had arrived
    ordinal = s->send_count;
#endif
    s->acked = tick;
    s->acked_ordinal = ordinal;
    s->has_base = true;
    // Of the sends after this one only the newest tick is known.
    if (s->send_count != ordinal) s->sent_after = s->send_count == ordinal + 1 ? s->sent : tick + 1;
}

bool net_view_acked(net_view* view, uint16_t seq) {
    packet* from = find_packet(view, seq);
    if (!from) return false;
    if (from->state == PACKET_ACKED) return true;
    if (from->state == PACKET_LOST) view->counters.packets_lost--;
    from->state = PACKET_ACKED;
    view->counters.packets_acked++;
    for (uint32_t i = 0; i < from->count; i++) {
        slot* s = &view->slots[from->items[i].index];
        uint32_t ordinal = from->items[i].ordinal;
        if (ordinal < s->chapter_first) continue; // of a former life
        if (s->state == SLOT_DESTROY_SENT) {
            s->told = ECS_ENTITY_NONE;
            begin_chapter(s, SLOT_UNKNOWN);
            end_waiting(view, s);
            continue;
        }
        s->state = SLOT_LIVE;
        if (!s->has_base || ordinal > s->acked_ordinal) take_ack(s, from, ordinal);
    }
    return true;
}

bool net_view_lost(net_view* view, uint16_t seq) {
    packet* from = find_packet(view, seq);
    if (!from) return false;
    if (from->state != PACKET_FLYING) return true;
    from->state = PACKET_LOST;
    view->counters.packets_lost++;
    for (uint32_t i = 0; i < from->count; i++) {
        slot* s = &view->slots[from->items[i].index];
        uint32_t ordinal = from->items[i].ordinal;
        if (ordinal >= s->chapter_first && ordinal == s->send_count)
            begin_waiting(view, from->items[i].index);
    }
    return true;
}

bool net_view_is_settled(const net_view* view) {
    uint32_t end = net_history_index_end(view->history);
    if (view->step_count != net_history_step_count(view->history)) return false;
    for (uint32_t index = 1; index < end && index < view->slot_capacity; index++) {
        const slot* s = &view->slots[index];
        const net_history_entity* entity = net_history_find(view->history, index);
        if (!entity || !is_visible(view, entity)) {
            if (s->told != ECS_ENTITY_NONE) return false;
            continue;
        }
        if (s->state != SLOT_LIVE || !s->has_base || s->acked < entity->change_tick) return false;
    }
    return true;
}

const net_view_counters* net_view_get_counters(const net_view* view) {
    return &view->counters;
}
