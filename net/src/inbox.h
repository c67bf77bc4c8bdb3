// SPDX-License-Identifier: MIT
/// Game events that came in: reliable ones once and in order, each held until the entity it is about
/// is there (or NET_EVENT_WAIT_TICKS_MAX ticks went by).
///
/// Limits: NET_EVENTS_RELIABLE_MAX wait; further reliable ones are left unacknowledged, so that the other
/// side sends them again. Memory: grows to its peak and stays there.
#pragma once

#include "outbox.h"

typedef struct net_inbox_entry {
    net_outbox_entry event;
    uint32_t waited_ticks;
} net_inbox_entry;

typedef struct net_inbox {
    const base_allocator* allocator;
    net_inbox_entry* entries; // in order of arrival
    uint32_t capacity;
    uint32_t count;
    uint32_t newest; // reliable number received last, without a gap
    uint64_t received;
    uint64_t dropped; // waited in vain
    uint64_t known;   // reliable ones that came before, or before their turn
    uint64_t full;    // no room: an unreliable one is lost, a reliable one comes again
} net_inbox;

void net_inbox_init(net_inbox* inbox, const base_allocator* allocator);
void net_inbox_deinit(net_inbox* inbox);
/// Take one in; a reliable one that is not the next in order is ignored (it will come again).
/// @return NET_OK (also for a repeated one); NET_ERR_MALFORMED (too long); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_inbox_push(net_inbox* inbox, const Shoal__Wire__GameEvent* event);
/// Take out the next one that can be delivered to `world`: its target lives or is none. Borrowed until
/// the next call; NULL when there is none now. Order of reliable ones is kept.
const net_outbox_entry* net_inbox_next(net_inbox* inbox, const ecs_world* world);
/// Once per tick: entries that wait get older; those beyond the limit are dropped and counted, reliable
/// ones at most one per call, so that those held behind it are offered to net_inbox_next first.
void net_inbox_age(net_inbox* inbox);
