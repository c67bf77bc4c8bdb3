// SPDX-License-Identifier: MIT
// Game events on their way out.
//
// Why reliable events travel in every packet and not on ENet's reliable channel: at 20 % loss the
// p99 of that channel is seconds, because one lost datagram holds up all behind it. An event here
// is as late as the first packet that arrives. It costs bytes only until it is acknowledged.
//
// Invariants: numbers in `reliable` are consecutive; the oldest is number_next - reliable.count.
#include "session/event_queue.h"

#include "core/fault.h"

#include <string.h>

// A field tag and a length of a submessage in a packet: 1 + 2 bytes.
#define EVENT_FRAME_BYTES 3u

void net_event_outbox_init(net_event_outbox* outbox, const base_allocator* allocator) {
    memset(outbox, 0, sizeof *outbox);
    outbox->allocator = allocator;
    outbox->number_next = 1;
}

void net_event_outbox_deinit(net_event_outbox* outbox) {
    BASE_ARRAY_RELEASE(outbox->allocator, outbox->reliable.bytes, outbox->reliable.capacity);
    BASE_ARRAY_RELEASE(outbox->allocator, outbox->unreliable.bytes, outbox->unreliable.capacity);
    outbox->reliable.bytes = outbox->unreliable.bytes = NULL;
}

// An event in a line.
typedef struct event_head {
    ecs_tick tick;
    ecs_entity target;
    uint32_t number; // 0: unreliable
    uint32_t message;
    uint32_t size;
    bool is_alone;
    uint8_t payload[];
} event_head;

static uint32_t bytes_of(uint32_t size) {
    const uint32_t align = _Alignof(event_head);
    return ((uint32_t)offsetof(event_head, payload) + size + align - 1) & ~(align - 1);
}

static event_head* event_at(const net_event_line* line, uint32_t at) {
    return (event_head*)(void*)(line->bytes + at);
}

// A place for the next event. Events move to the begin of the block when it ends.
static event_head* append(net_event_outbox* outbox, net_event_line* line, uint32_t size) {
    const uint32_t bytes = bytes_of(size), used = line->end - line->first;
    if (line->end + bytes > line->capacity) {
        BASE_ARRAY_RESERVE(outbox->allocator, line->bytes, line->capacity, 2 * used + bytes);
        memmove(line->bytes, line->bytes + line->first, used);
        line->first = 0;
        line->end = used;
    }
    event_head* event = event_at(line, line->end);
    line->end += bytes;
    line->count++;
    return event;
}

net_result net_event_outbox_push(net_event_outbox* outbox, bool is_reliable, bool is_alone,
                                 uint32_t message, ecs_tick tick, ecs_entity target,
                                 const void* payload, uint32_t size) {
    if (size > NET_EVENT_PAYLOAD_BYTES_MAX) return NET_ERR_MALFORMED;
    if (is_reliable ? outbox->reliable.count == NET_EVENTS_RELIABLE_MAX
                    : outbox->unreliable_count == NET_EVENTS_UNRELIABLE_MAX) {
        outbox->refused++;
        return NET_ERR_FULL;
    }
    event_head* event = append(outbox, is_reliable ? &outbox->reliable : &outbox->unreliable, size);
    *event = (event_head){.tick = tick,
                          .target = target,
                          .number = is_reliable ? outbox->number_next++ : 0,
                          .message = message,
                          .size = size,
                          .is_alone = is_alone};
    if (size) memcpy(event->payload, payload, size);
    outbox->unreliable_count += !is_reliable;
    return NET_OK;
}

bool net_event_outbox_acked(net_event_outbox* outbox, uint32_t number) {
    if (number >= outbox->number_next) return false;
    uint32_t oldest = outbox->number_next - outbox->reliable.count;
    for (; outbox->reliable.count > 0 && oldest <= number; oldest++) {
        outbox->reliable.first +=
            bytes_of(event_at(&outbox->reliable, outbox->reliable.first)->size);
        if (--outbox->reliable.count == 0) outbox->reliable.first = outbox->reliable.end = 0;
    }
    return true;
}

uint32_t net_event_outbox_fill(net_event_outbox* outbox, Shoal__Wire__GameEvent* events,
                               Shoal__Wire__GameEvent** pointers, uint32_t capacity,
                               size_t budget_bytes, size_t* used_bytes) {
    net_event_line* lines[] = {&outbox->reliable, &outbox->unreliable};
    uint32_t count = 0;
    size_t used = 0;
    bool is_full = false; // in order: a later, shorter one must not overtake
    for (uint32_t k = 0; k < 2 && !is_full; k++) {
        net_event_line* line = lines[k];
        uint32_t at = line->first, taken = 0;
        for (; taken < line->count && count < capacity; taken++) {
            const event_head* event = event_at(line, at);
            shoal__wire__game_event__init(&events[count]);
            events[count].number = event->number;
            events[count].message = event->message;
            events[count].tick = event->tick;
            events[count].target = event->target;
            events[count].is_alone = event->is_alone;
            events[count].payload.data = (uint8_t*)(uintptr_t)event->payload;
            events[count].payload.len = event->size;
            const size_t bytes =
                shoal__wire__game_event__get_packed_size(&events[count]) + EVENT_FRAME_BYTES;
            is_full = used + bytes > budget_bytes;
            if (is_full) break;
            used += bytes;
            pointers[count] = &events[count];
            count++;
            at += bytes_of(event->size);
        }
        if (line != &outbox->unreliable) continue;
        line->first = at; // its bytes stay until the next push
        line->count -= taken;
    }
    *used_bytes = used;
    return count;
}

uint32_t net_event_outbox_drop_unreliable(net_event_outbox* outbox) {
    const uint32_t missed = outbox->unreliable.count;
    outbox->unreliable.first = outbox->unreliable.end = outbox->unreliable.count = 0;
    outbox->unreliable_count = 0;
    return missed;
}

// Game events that came in.
//
// An event may arrive before the record that creates its entity: both travel in packets that are
// lost independently. So it waits here, for a bounded time. A waiting reliable event holds up those
// after it, because their order is kept. So it waits only for entities that can still come: what
// the mirror knows of an index since the event's tick shows whether an entity is gone.

void net_event_inbox_init(net_event_inbox* inbox, const base_allocator* allocator) {
    memset(inbox, 0, sizeof *inbox);
    inbox->allocator = allocator;
}

void net_event_inbox_deinit(net_event_inbox* inbox) {
    BASE_ARRAY_RELEASE(inbox->allocator, inbox->entries, inbox->capacity);
    inbox->entries = NULL;
}

net_result net_event_inbox_push(net_event_inbox* inbox, const Shoal__Wire__GameEvent* event,
                                const net_event_needs* needs) {
    if (event->payload.len > NET_EVENT_PAYLOAD_BYTES_MAX) return NET_ERR_MALFORMED;
    bool is_reliable = event->number != 0;
    if (is_reliable && inbox->is_open) inbox->newest = event->number - 1;
    if (is_reliable) inbox->is_open = false;
    bool is_again = net_fault_is_planted(NET_FAULT_EVENT_TWICE) && event->number == inbox->newest;
    if (is_reliable && event->number != inbox->newest + 1 && !is_again) {
        inbox->known++;
        return NET_OK;
    }
    // One place beyond the limit is kept free for the entry that net_event_inbox_next hands out.
    if (inbox->count >= NET_EVENTS_RELIABLE_MAX) {
        inbox->full++;
        return NET_OK;
    }
    if (inbox->count + 2 > inbox->capacity) {
        // Entries are long and few wait: the first block is short, the free place is not doubled.
        const size_t entry = sizeof *inbox->entries;
        const uint32_t capacity = inbox->capacity ? 2 * inbox->capacity - 1 : 2;
        inbox->entries = base_reallocate(inbox->allocator, inbox->entries, inbox->capacity * entry,
                                         capacity * entry);
        inbox->capacity = capacity;
    }
    net_event_inbox_entry* entry = &inbox->entries[inbox->count++];
    entry->event.number = event->number;
    entry->event.message = event->message;
    entry->event.is_alone = event->is_alone;
    entry->event.tick = event->tick;
    entry->event.target = event->target;
    entry->event.size = (uint32_t)event->payload.len;
    if (event->payload.len) memcpy(entry->event.payload, event->payload.data, event->payload.len);
    entry->needs.is_late = needs && needs->is_late;
    entry->needs.count = needs && !event->is_alone ? needs->count : 0;
    for (uint32_t i = 0; i < entry->needs.count; i++)
        entry->needs.entities[i] = needs->entities[i];
    entry->waited_ticks = 0;
    if (is_reliable) inbox->newest = event->number;
    return NET_OK;
}

void net_event_needs_of(net_match* match, uint32_t message, const void* data, size_t size,
                        net_event_needs* needs) {
    const net_game_module* game = net_match_get_config(match)->module->game;
    needs->is_late = message >= 1 && message <= game->message_count &&
                     game->messages[message - 1].is_delivered_late;
    needs->count = net_match_entities_of_packed(match, message, data, size, needs->entities);
}

static net_event_fate find_entity_fate(ecs_entity entity, ecs_tick tick, const ecs_world* world,
                                       net_known_incarnation_fn find_known,
                                       void* find_known_context) {
    if (ecs_is_alive(world, entity)) return NET_EVENT_READY;
    ecs_entity handle;
    ecs_tick known_tick;
    if (!find_known ||
        !find_known(find_known_context, ecs_entity_index(entity), &handle, &known_tick))
        return NET_EVENT_WAITS;
    return handle != entity && known_tick >= tick ? NET_EVENT_OVER : NET_EVENT_WAITS;
}

net_event_fate net_event_inbox_find_fate(const net_event_inbox_entry* entry, const ecs_world* world,
                                         net_known_incarnation_fn find_known,
                                         void* find_known_context) {
    const net_event_outbox_entry* event = &entry->event;
    net_event_fate fate = NET_EVENT_READY;
    if (!world) return fate;
    if (event->target != ECS_ENTITY_NONE)
        fate = find_entity_fate(event->target, event->tick, world, find_known, find_known_context);
    for (uint32_t i = 0; i < entry->needs.count && fate != NET_EVENT_OVER; i++) {
        net_event_fate other = find_entity_fate(entry->needs.entities[i], event->tick, world,
                                                find_known, find_known_context);
        if (other == NET_EVENT_READY || (other == NET_EVENT_OVER && entry->needs.is_late)) continue;
        fate = other;
    }
    return fate;
}

bool net_event_inbox_give_up(net_event_inbox_entry* entry) {
    if (!entry->needs.is_late || entry->needs.count == 0) return false;
    entry->needs.count = 0;
    return true;
}

static void remove_entry(net_event_inbox* inbox, uint32_t at) {
    memmove(&inbox->entries[at], &inbox->entries[at + 1],
            (inbox->count - at - 1) * sizeof(net_event_inbox_entry));
    inbox->count--;
}

const net_event_outbox_entry* net_event_inbox_next(net_event_inbox* inbox, const ecs_world* world) {
    bool is_held = false;
    for (uint32_t i = 0; i < inbox->count;) {
        net_event_inbox_entry* entry = &inbox->entries[i];
        bool is_reliable = entry->event.number != 0;
        net_event_fate fate =
            net_event_inbox_find_fate(entry, world, inbox->find_known, inbox->find_known_context);
        if (fate == NET_EVENT_OVER) {
            inbox->dropped++;
            remove_entry(inbox, i);
            continue;
        }
        if (fate == NET_EVENT_WAITS || (is_reliable && is_held)) {
            is_held = is_held || is_reliable;
            i++;
            continue;
        }
        // The entry moves past the end of the queue. There it stays readable until the next call.
        net_event_inbox_entry taken = *entry;
        remove_entry(inbox, i);
        inbox->entries[inbox->count] = taken;
        return &inbox->entries[inbox->count].event;
    }
    return NULL;
}

uint32_t net_event_inbox_done(const net_event_inbox* inbox) {
    for (uint32_t i = 0; i < inbox->count; i++)
        if (inbox->entries[i].event.number != 0) return inbox->entries[i].event.number - 1;
    return inbox->newest;
}

void net_event_inbox_age(net_event_inbox* inbox) {
    uint32_t kept = 0;
    bool is_first_reliable = true;
    for (uint32_t i = 0; i < inbox->count; i++) {
        net_event_inbox_entry* entry = &inbox->entries[i];
        // Events after a dropped reliable one can be delivered before they are dropped themselves.
        bool may_drop = entry->event.number == 0 || is_first_reliable;
        if (entry->event.number != 0) is_first_reliable = false;
        if (++entry->waited_ticks > NET_EVENT_WAIT_TICKS_MAX && may_drop &&
            !net_event_inbox_give_up(entry)) {
            inbox->dropped++;
            continue;
        }
        if (kept != i) inbox->entries[kept] = *entry;
        kept++;
    }
    inbox->count = kept;
}
