// SPDX-License-Identifier: MIT
// Game events that came in.
//
// An event may arrive before the create record of the entity that it is about, because both ride in
// packets that get lost independently. Holding it here, for a bounded time, is what makes the order
// harmless. A reliable event that waits holds those behind it (order is part of the promise).
#include "inbox.h"

#include <string.h>

void net_inbox_init(net_inbox* inbox, const base_allocator* allocator) {
    memset(inbox, 0, sizeof *inbox);
    inbox->allocator = allocator;
}

void net_inbox_deinit(net_inbox* inbox) {
    base_release(inbox->allocator, inbox->entries, inbox->capacity * sizeof(net_inbox_entry));
    inbox->entries = NULL;
}

net_result net_inbox_push(net_inbox* inbox, const Shoal__Wire__GameEvent* event) {
    if (event->payload.len > NET_EVENT_PAYLOAD_BYTES_MAX) return NET_ERR_MALFORMED;
    bool is_reliable = event->number != 0;
    if (is_reliable && event->number != inbox->newest + 1) {
        inbox->known++;
        return NET_OK;
    }
    // One place beyond the limit is kept free for the entry that net_inbox_next hands out.
    if (inbox->count >= NET_EVENTS_RELIABLE_MAX) {
        inbox->full++;
        return NET_OK;
    }
    void* array = inbox->entries;
    if (!base_array_reserve(inbox->allocator, &array, &inbox->capacity, inbox->count + 2,
                            sizeof(net_inbox_entry))) {
        return NET_ERR_MEMORY;
    }
    inbox->entries = array;
    net_inbox_entry* entry = &inbox->entries[inbox->count++];
    entry->event.number = event->number;
    entry->event.message = event->message;
    entry->event.tick = event->tick;
    entry->event.target = event->target;
    entry->event.size = (uint32_t)event->payload.len;
    if (event->payload.len) memcpy(entry->event.payload, event->payload.data, event->payload.len);
    entry->waited_ticks = 0;
    if (is_reliable) inbox->newest = event->number;
    inbox->received++;
    return NET_OK;
}

static bool is_deliverable(const net_outbox_entry* event, const ecs_world* world) {
    return event->target == ECS_ENTITY_NONE || ecs_is_alive(world, event->target);
}

const net_outbox_entry* net_inbox_next(net_inbox* inbox, const ecs_world* world) {
    bool is_held = false;
    for (uint32_t i = 0; i < inbox->count; i++) {
        const net_outbox_entry* event = &inbox->entries[i].event;
        if (event->number != 0 && is_held) continue;
        if (!is_deliverable(event, world)) {
            is_held = is_held || event->number != 0;
            continue;
        }
        // Swap it behind the end, where it stays readable until the next call.
        net_inbox_entry taken = inbox->entries[i];
        memmove(&inbox->entries[i], &inbox->entries[i + 1],
                (inbox->count - i - 1) * sizeof(net_inbox_entry));
        inbox->count--;
        inbox->entries[inbox->count] = taken;
        return &inbox->entries[inbox->count].event;
    }
    return NULL;
}

void net_inbox_age(net_inbox* inbox) {
    uint32_t kept = 0;
    bool is_first_reliable = true;
    for (uint32_t i = 0; i < inbox->count; i++) {
        net_inbox_entry* entry = &inbox->entries[i];
        // What a reliable one holds up gets its own chance to be delivered before it is given up.
        bool may_drop = entry->event.number == 0 || is_first_reliable;
        if (entry->event.number != 0) is_first_reliable = false;
        if (++entry->waited_ticks > NET_EVENT_WAIT_TICKS_MAX && may_drop) {
            inbox->dropped++;
            continue;
        }
        if (kept != i) inbox->entries[kept] = *entry;
        kept++;
    }
    inbox->count = kept;
}
