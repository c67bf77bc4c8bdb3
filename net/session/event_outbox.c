// SPDX-License-Identifier: MIT
// Game events on their way out.
//
// Why reliable events travel in every packet and not on ENet's reliable channel: at 20 % loss the
// p99 of that channel is seconds, because one lost datagram holds up all behind it. An event here
// is as late as the first packet that arrives. It costs bytes only until it is acknowledged.
//
// Invariants: numbers in `reliable` are consecutive; the oldest is number_next - reliable_count.
#include "session/event_outbox.h"

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
