// SPDX-License-Identifier: MIT
/// Game events on their way out, to one receiver. A reliable event has a number and travels in
/// every packet until it is acknowledged. An unreliable event travels in one packet.
///
/// A payload of more than NET_EVENT_PART_BYTES_MAX travels in parts under the one number of its
/// event: a packet has one part of the oldest such event, all parts in turn, until the event is
/// acknowledged. Later events wait.
///
/// Limits: NET_EVENTS_RELIABLE_MAX reliable and NET_EVENTS_UNRELIABLE_MAX unreliable events wait.
/// Memory: grows to its peak and stays there.
#pragma once

#include "state/snapshot_format.h"

#include "net/limits.h"
#include "net/match.h"
#include "net/result.h"

#include "ecs/ecs.h"

#include "base/bytes.h"

#include "wire.pb-c.h"

/// Entities that an event's payload can name.
#define NET_EVENT_ENTITIES_MAX (ECS_EVENT_BYTES_MAX / sizeof(ecs_entity))

/// The entities that an event waits for beside its target.
typedef struct net_event_needs {
    bool is_late; ///< net_message.is_delivered_late
    uint32_t count;
    ecs_entity entities[NET_EVENT_ENTITIES_MAX];
} net_event_needs;

/// Fill in what an encoded event of a server needs on a client.
void net_event_needs_of(net_match* match, uint32_t message, const void* data, size_t size,
                        net_event_needs* needs);

/// An event in a line. Its payload follows, then the entities that it waits for.
typedef struct net_event {
    ecs_tick tick;
    ecs_entity target;
    uint32_t number; ///< 0: unreliable
    uint32_t message;
    uint32_t size; ///< of the payload
    uint32_t waited_ticks;
    uint16_t need_count;
    bool is_late;  ///< of its needs
    bool is_alone; ///< waits for its target only
    bool is_over;  ///< removed; its bytes stay until the next one is added
    uint8_t payload[];
} net_event;

/// Events in order, each as long as its payload: bytes [first, end) of a block.
typedef struct net_event_line {
    uint8_t* bytes;
    uint32_t capacity, first, end;
    uint32_t count;
} net_event_line;

void net_event_line_deinit(net_event_line* line, const base_allocator* allocator);
/// Append a copy of `event`, with its payload, and of what it waits for (NULL: nothing).
net_event* net_event_line_add(net_event_line* line, const base_allocator* allocator,
                              const net_event* event, const void* payload,
                              const net_event_needs* needs);
/// Walk: the one after `event`, NULL: the first. @return NULL at the end.
net_event* net_event_line_next(const net_event_line* line, const net_event* event);
void net_event_line_remove(net_event_line* line, net_event* event);

typedef struct net_event_outbox {
    const base_allocator* allocator;
    net_event_line reliable;
    net_event_line unreliable; // that had no packet yet
    uint32_t unreliable_count; // with those that had one
    uint32_t number_next;
    uint32_t turn; // parts that were sent
    uint64_t refused;
} net_event_outbox;

void net_event_outbox_init(net_event_outbox* outbox, const base_allocator* allocator);
void net_event_outbox_deinit(net_event_outbox* outbox);
/// Queue one event; `payload` is copied. `is_alone`: it does not wait for the entities in that.
/// @return NET_OK; NET_ERR_FULL (counted in `refused`; after a reliable event end the session);
///         NET_ERR_MALFORMED (payload too long).
BASE_MUST_USE net_result net_event_outbox_push(net_event_outbox* outbox, bool is_reliable,
                                               bool is_alone, uint32_t message, ecs_tick tick,
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
/// Drop all unreliable events. @return how many had no packet yet.
uint32_t net_event_outbox_drop_unreliable(net_event_outbox* outbox);

/// Game events that came in: reliable ones once and in order. Each waits until its target and all
/// entities in its payload exist, NET_EVENT_WAIT_TICKS_MAX ticks at most. An event whose entity is
/// known to be gone is dropped at once, so that it does not hold up others.
///
/// Limits: NET_EVENTS_RELIABLE_MAX wait. Further reliable ones are not acknowledged, so the other
/// side sends them again. Of the next one, parts are collected. Memory: grows to its peak and stays
/// there.

typedef struct net_event_inbox {
    const base_allocator* allocator;
    net_event_line line; // in order of arrival
    uint32_t newest;     // reliable number received last, without a gap
    bool is_open;        // it is not known: the first reliable one that comes is the next
    uint64_t dropped;    // waited too long, or their entity is gone
    uint64_t known;      // reliable ones that came before, or out of order
    uint64_t full;       // no room: an unreliable one is lost, a reliable one is sent again
    net_known_incarnation_fn find_known; // NULL: it is not known which entities are gone
    void* find_known_context;
    uint32_t part_number; // of the event whose parts came; 0: none
    uint32_t part_message, part_size;
    uint32_t part_bits; // of the parts that came
    uint8_t* parts;     // NET_EVENT_PAYLOAD_BYTES_MAX, from the first part on
} net_event_inbox;

void net_event_inbox_init(net_event_inbox* inbox, const base_allocator* allocator);
void net_event_inbox_deinit(net_event_inbox* inbox);
/// Check the frame of an event from the wire, and collect it when it is a part. First of all.
/// @return NET_OK: it is whole, a collected one borrows its payload from the inbox;
///         NET_ERR_STALE: other parts are missing, or it is not the next; NET_ERR_MALFORMED.
BASE_MUST_USE net_result net_event_inbox_join(net_event_inbox* inbox,
                                              Shoal__Wire__GameEvent* event);
/// Queue a whole event. `needs`, copied, is what it waits for beside its target; NULL: nothing. A
/// reliable one that is not the next in order is ignored: it will come again.
/// @return the queued event, until the next call; NULL: it was ignored, or there is no room.
const net_event* net_event_inbox_push(net_event_inbox* inbox, const Shoal__Wire__GameEvent* event,
                                      const net_event_needs* needs);
/// What to do with an event now.
typedef enum net_event_fate { NET_EVENT_WAITS, NET_EVENT_READY, NET_EVENT_OVER } net_event_fate;
/// READY: its target and the entities in its payload exist in `world` (NULL: they all do); an event
/// with is_late does not wait for payload entities that are gone. OVER: one of them is gone since
/// the event. `known` may be NULL.
net_event_fate net_event_find_fate(const net_event* event, const ecs_world* world,
                                   net_known_incarnation_fn find_known, void* find_known_context);
/// The event waited too long. With is_late it stops waiting for the entities in its payload.
/// @return false: drop it.
bool net_event_give_up(net_event* event);
/// Pop the next event that can be delivered to `world`. Events that are OVER are dropped and
/// counted. The order of reliable ones is kept. Borrowed until the next push. @return NULL when
/// there is none now.
const net_event* net_event_inbox_next(net_event_inbox* inbox, const ecs_world* world);
/// @return The newest reliable number up to which none waits: each was popped or dropped. 0 before
///         the first.
uint32_t net_event_inbox_done(const net_event_inbox* inbox);
/// Once per tick: waiting events get older. Those beyond the limit are dropped and counted; of
/// reliable ones at most one per call, so that net_event_inbox_next can pop those after it first.
void net_event_inbox_age(net_event_inbox* inbox);
