// SPDX-License-Identifier: MIT
/// Game events on their way out, to one receiver. A reliable event has a number and travels in
/// every packet until it is acknowledged. An unreliable event travels in one packet.
///
/// Limits: NET_EVENTS_RELIABLE_MAX reliable and NET_EVENTS_UNRELIABLE_MAX unreliable events wait.
/// Memory: grows to its peak and stays there.
#pragma once

#include "base/bytes.h"
#include "ecs/ecs.h"
#include "net/limits.h"
#include "net/result.h"
#include "wire.pb-c.h"

typedef struct net_event_outbox_entry {
    uint32_t number; // 0: unreliable
    uint32_t message;
    bool is_alone; // waits for its target only
    ecs_tick tick;
    ecs_entity target;
    uint32_t size;
    uint8_t payload[NET_EVENT_PAYLOAD_BYTES_MAX];
} net_event_outbox_entry;

typedef struct net_event_outbox {
    const base_allocator* allocator;
    net_event_outbox_entry* reliable; // ring, oldest at reliable_first
    uint32_t reliable_capacity;
    uint32_t reliable_first;
    uint32_t reliable_count;
    net_event_outbox_entry* unreliable;
    uint32_t unreliable_capacity;
    uint32_t unreliable_count;
    uint32_t unreliable_sent; // the first so many had their packet
    uint32_t number_next;
    uint64_t refused;
} net_event_outbox;

void net_event_outbox_init(net_event_outbox* outbox, const base_allocator* allocator);
void net_event_outbox_deinit(net_event_outbox* outbox);
/// Queue one event; `payload` is copied.
/// @return NET_OK; NET_ERR_FULL (counted in `refused`; after a reliable event end the session);
///         NET_ERR_MALFORMED (payload too long); NET_ERR_MEMORY (as NET_ERR_FULL).
BASE_MUST_USE net_result net_event_outbox_push(net_event_outbox* outbox, bool is_reliable,
                                               uint32_t message, ecs_tick tick, ecs_entity target,
                                               const void* payload, uint32_t size);
/// As net_event_outbox_push, for an event that does not wait for the entities in its payload.
BASE_MUST_USE net_result net_event_outbox_push_alone(net_event_outbox* outbox, bool is_reliable,
                                                     uint32_t message, ecs_tick tick,
                                                     ecs_entity target, const void* payload,
                                                     uint32_t size);
/// All events up to `number` have arrived. @return false for a number that was never used (forged).
bool net_event_outbox_acked(net_event_outbox* outbox, uint32_t number);
/// Describe what fits `budget_bytes` (as packed fields of a packet): reliable ones oldest first,
/// then unreliable ones that had no packet yet. `events` and `pointers` hold `capacity` elements
/// and borrow from the outbox until the next push or ack. @return how many.
uint32_t net_event_outbox_fill(net_event_outbox* outbox, Shoal__Wire__GameEvent* events,
                               Shoal__Wire__GameEvent** pointers, uint32_t capacity,
                               size_t budget_bytes, size_t* used_bytes);
/// Does an unreliable event wait for its packet?
bool net_event_outbox_has_unsent(const net_event_outbox* outbox);
/// Drop all unreliable events. @return how many had no packet yet.
uint32_t net_event_outbox_drop_unreliable(net_event_outbox* outbox);
bool net_event_outbox_is_empty(const net_event_outbox* outbox);
/// Is there nothing to send: no unacknowledged event, and no unreliable one without a packet?
bool net_event_outbox_is_idle(const net_event_outbox* outbox);
