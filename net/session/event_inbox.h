// SPDX-License-Identifier: MIT
/// Game events that came in: reliable ones once and in order, each held until the entity it is about and all
/// that it names are there (or NET_EVENT_WAIT_TICKS_MAX ticks went by). One about an entity that is known to
/// be gone since is dropped at once, so that it holds up nobody.
///
/// Limits: NET_EVENTS_RELIABLE_MAX wait; further reliable ones are left unacknowledged, so that the other
/// side sends them again. Memory: grows to its peak and stays there.
#pragma once

#include "net/match.h"
#include "session/event_outbox.h"
#include "state/known_incarnation.h"

/// Entities that an event's payload can name.
#define NET_EVENT_ENTITIES_MAX (ECS_EVENT_BYTES_MAX / sizeof(ecs_entity))

/// What an event waits for beside its target.
typedef struct net_event_needs {
    bool is_late; ///< net_message.is_delivered_late
    uint32_t count;
    ecs_entity entities[NET_EVENT_ENTITIES_MAX];
} net_event_needs;

/// What a packed event of a server needs on a client.
void net_event_needs_of(net_match* match, uint32_t message, const void* data, size_t size,
                        net_event_needs* needs);

typedef struct net_event_inbox_entry {
    net_event_outbox_entry event;
    net_event_needs needs;
    uint32_t waited_ticks;
} net_event_inbox_entry;

typedef struct net_event_inbox {
    const base_allocator* allocator;
    net_event_inbox_entry* entries; // in order of arrival
    uint32_t capacity;
    uint32_t count;
    uint32_t newest; // reliable number received last, without a gap
    uint64_t received;
    uint64_t dropped;              // waited in vain
    uint64_t known;                // reliable ones that came before, or before their turn
    uint64_t full;                 // no room: an unreliable one is lost, a reliable one comes again
    net_known_incarnation_fn told; // NULL: nobody knows who is gone
    void* told_context;
} net_event_inbox;

void net_event_inbox_init(net_event_inbox* inbox, const base_allocator* allocator);
void net_event_inbox_deinit(net_event_inbox* inbox);
/// Take one in; a reliable one that is not the next in order is ignored (it will come again).
/// @return NET_OK (also for a repeated one); NET_ERR_MALFORMED (too long); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_event_inbox_push(net_event_inbox* inbox,
                                              const Shoal__Wire__GameEvent* event);
/// The same of one that waits for more than its target. `needs` is copied; NULL: nothing.
BASE_MUST_USE net_result net_event_inbox_push_needs(net_event_inbox* inbox,
                                                    const Shoal__Wire__GameEvent* event,
                                                    const net_event_needs* needs);
/// What can be done with an event now.
typedef enum net_event_fate { NET_EVENT_WAITS, NET_EVENT_READY, NET_EVENT_OVER } net_event_fate;
/// READY: its target and what it names live in `world` (one that is_late does not wait for whom it names and
/// who is gone). OVER: one of them is gone since the event. `told` may be NULL.
net_event_fate net_event_inbox_judge(const net_event_inbox_entry* entry, const ecs_world* world,
                                     net_known_incarnation_fn told, void* told_context);
/// It waited for too long: one that is_late waits no more for whom it names. @return false: drop it.
bool net_event_inbox_give_up(net_event_inbox_entry* entry);
/// Take out the next one that can be delivered to `world`. Those that are over are dropped and counted on
/// the way. Borrowed until the next call; NULL when there is none now. Order of reliable ones is kept.
const net_event_outbox_entry* net_event_inbox_next(net_event_inbox* inbox, const ecs_world* world);
/// Once per tick: entries that wait get older; those beyond the limit are dropped and counted, reliable
/// ones at most one per call, so that those held behind it are offered to net_event_inbox_next first.
void net_event_inbox_age(net_event_inbox* inbox);
