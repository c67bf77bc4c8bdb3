// SPDX-License-Identifier: MIT
// Game events on their way out.
//
// Why reliable events travel in every packet and not on ENet's reliable channel: at 20 % loss the
// p99 of that channel is seconds, because one lost datagram holds up all behind it. An event here
// is as late as the first packet that arrives. It costs bytes only until it is acknowledged.
//
// Invariants: numbers in `reliable` are consecutive; the oldest is number_next - reliable_count.
#include "session/event_queue.h"

#include "core/fault.h"

#include "net/match.h"

#include <string.h>

// A field tag and a length of a submessage in a packet: 1 + 2 bytes.
#define EVENT_FRAME_BYTES 3u

void net_event_outbox_init(net_event_outbox* outbox, const base_allocator* allocator) {
    memset(outbox, 0, sizeof *outbox);
    outbox->allocator = allocator;
    outbox->number_next = 1;
}

void net_event_outbox_deinit(net_event_outbox* outbox) {
    BASE_ARRAY_RELEASE(outbox->allocator, outbox->reliable, outbox->reliable_capacity);
    BASE_ARRAY_RELEASE(outbox->allocator, outbox->unreliable, outbox->unreliable_capacity);
    outbox->reliable = NULL;
    outbox->unreliable = NULL;
}

// The ring doubles; the oldest event moves to place 0.
static bool grow_reliable(net_event_outbox* outbox) {
    uint32_t capacity = outbox->reliable_capacity ? outbox->reliable_capacity * 2 : 4;
    if (capacity > NET_EVENTS_RELIABLE_MAX) capacity = NET_EVENTS_RELIABLE_MAX;
    net_event_outbox_entry* entries =
        base_allocate(outbox->allocator, capacity * sizeof(net_event_outbox_entry));
    if (!entries) return false;
    for (uint32_t i = 0; i < outbox->reliable_count; i++) {
        entries[i] = outbox->reliable[(outbox->reliable_first + i) % outbox->reliable_capacity];
    }
    BASE_ARRAY_RELEASE(outbox->allocator, outbox->reliable, outbox->reliable_capacity);
    outbox->reliable = entries;
    outbox->reliable_capacity = capacity;
    outbox->reliable_first = 0;
    return true;
}

static void fill_entry(net_event_outbox_entry* entry, uint32_t number, uint32_t message,
                       bool is_alone, ecs_tick tick, ecs_entity target, const void* payload,
                       uint32_t size) {
    entry->is_alone = is_alone;
    entry->number = number;
    entry->message = message;
    entry->tick = tick;
    entry->target = target;
    entry->size = size;
    if (size) memcpy(entry->payload, payload, size);
}

static net_result push(net_event_outbox* outbox, bool is_reliable, uint32_t message, bool is_alone,
                       ecs_tick tick, ecs_entity target, const void* payload, uint32_t size) {
    if (size > NET_EVENT_PAYLOAD_BYTES_MAX) return NET_ERR_MALFORMED;
    if (is_reliable) {
        if (outbox->reliable_count == NET_EVENTS_RELIABLE_MAX) {
            outbox->refused++;
            return NET_ERR_FULL;
        }
        if (outbox->reliable_count == outbox->reliable_capacity && !grow_reliable(outbox)) {
            return NET_ERR_MEMORY;
        }
        uint32_t slot =
            (outbox->reliable_first + outbox->reliable_count) % outbox->reliable_capacity;
        fill_entry(&outbox->reliable[slot], outbox->number_next++, message, is_alone, tick, target,
                   payload, size);
        outbox->reliable_count++;
        return NET_OK;
    }
    if (outbox->unreliable_count == NET_EVENTS_UNRELIABLE_MAX) {
        outbox->refused++;
        return NET_ERR_FULL;
    }
    if (!BASE_ARRAY_RESERVE(outbox->allocator, outbox->unreliable, outbox->unreliable_capacity,
                            outbox->unreliable_count + 1)) {
        return NET_ERR_MEMORY;
    }
    fill_entry(&outbox->unreliable[outbox->unreliable_count++], 0, message, is_alone, tick, target,
               payload, size);
    return NET_OK;
}

net_result net_event_outbox_push(net_event_outbox* outbox, bool is_reliable, uint32_t message,
                                 ecs_tick tick, ecs_entity target, const void* payload,
                                 uint32_t size) {
    return push(outbox, is_reliable, message, false, tick, target, payload, size);
}

net_result net_event_outbox_push_alone(net_event_outbox* outbox, bool is_reliable, uint32_t message,
                                       ecs_tick tick, ecs_entity target, const void* payload,
                                       uint32_t size) {
    return push(outbox, is_reliable, message, true, tick, target, payload, size);
}

bool net_event_outbox_acked(net_event_outbox* outbox, uint32_t number) {
    if (number >= outbox->number_next) return false;
    uint32_t oldest = outbox->number_next - outbox->reliable_count;
    while (outbox->reliable_count > 0 && oldest <= number) {
        outbox->reliable_first = (outbox->reliable_first + 1) % outbox->reliable_capacity;
        outbox->reliable_count--;
        oldest++;
    }
    return true;
}

static size_t describe(const net_event_outbox_entry* entry, Shoal__Wire__GameEvent* event) {
    shoal__wire__game_event__init(event);
    event->number = entry->number;
    event->message = entry->message;
    event->tick = entry->tick;
    event->target = entry->target;
    event->is_alone = entry->is_alone;
    event->payload.data = (uint8_t*)(uintptr_t)entry->payload;
    event->payload.len = entry->size;
    return shoal__wire__game_event__get_packed_size(event) + EVENT_FRAME_BYTES;
}

uint32_t net_event_outbox_fill(net_event_outbox* outbox, Shoal__Wire__GameEvent* events,
                               Shoal__Wire__GameEvent** pointers, uint32_t capacity,
                               size_t budget_bytes, size_t* used_bytes) {
    uint32_t count = 0;
    size_t used = 0;
    bool is_full = false;
    for (uint32_t i = 0; i < outbox->reliable_count && count < capacity; i++) {
        uint32_t slot = (outbox->reliable_first + i) % outbox->reliable_capacity;
        size_t bytes = describe(&outbox->reliable[slot], &events[count]);
        if (used + bytes > budget_bytes) {
            is_full = true; // in order: a later, shorter one must not overtake
            break;
        }
        used += bytes;
        pointers[count] = &events[count];
        count++;
    }
    while (!is_full && outbox->unreliable_sent < outbox->unreliable_count && count < capacity) {
        size_t bytes = describe(&outbox->unreliable[outbox->unreliable_sent], &events[count]);
        if (used + bytes > budget_bytes) break;
        used += bytes;
        pointers[count] = &events[count];
        count++;
        outbox->unreliable_sent++;
    }
    *used_bytes = used;
    return count;
}

bool net_event_outbox_has_unsent(const net_event_outbox* outbox) {
    return outbox->unreliable_sent < outbox->unreliable_count;
}

uint32_t net_event_outbox_drop_unreliable(net_event_outbox* outbox) {
    uint32_t missed = outbox->unreliable_count - outbox->unreliable_sent;
    outbox->unreliable_count = 0;
    outbox->unreliable_sent = 0;
    return missed;
}

bool net_event_outbox_is_empty(const net_event_outbox* outbox) {
    return outbox->reliable_count == 0;
}

bool net_event_outbox_is_idle(const net_event_outbox* outbox) {
    return outbox->reliable_count == 0 && !net_event_outbox_has_unsent(outbox);
}

// Game events that came in.
//
// An event may arrive before the record that creates its entity: both travel in packets that are
// lost independently. So it waits here, for a bounded time. A waiting reliable event holds up those
// behind it, because their order is kept. So it waits only for entities that can still come: what
// the mirror knows of an index since the event's tick shows whether an entity is gone.

void net_event_inbox_init(net_event_inbox* inbox, const base_allocator* allocator) {
    memset(inbox, 0, sizeof *inbox);
    inbox->allocator = allocator;
}

void net_event_inbox_deinit(net_event_inbox* inbox) {
    BASE_ARRAY_RELEASE(inbox->allocator, inbox->entries, inbox->capacity);
    inbox->entries = NULL;
}

net_result net_event_inbox_push(net_event_inbox* inbox, const Shoal__Wire__GameEvent* event) {
    return net_event_inbox_push_needs(inbox, event, NULL);
}

net_result net_event_inbox_push_needs(net_event_inbox* inbox, const Shoal__Wire__GameEvent* event,
                                      const net_event_needs* needs) {
    if (event->payload.len > NET_EVENT_PAYLOAD_BYTES_MAX) return NET_ERR_MALFORMED;
    bool is_reliable = event->number != 0;
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
    if (!BASE_ARRAY_RESERVE(inbox->allocator, inbox->entries, inbox->capacity, inbox->count + 2)) {
        return NET_ERR_MEMORY;
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
    inbox->received++;
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
        // The entry moves behind the end of the queue. There it stays readable until the next call.
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
        // Events behind a dropped reliable one can be delivered before they are dropped themselves.
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
