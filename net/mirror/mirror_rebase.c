// SPDX-License-Identifier: MIT
// Another server has the match: its slots, packet numbers and base rows begin again, and what the
// world shows stays until that server has sent everything once.
//
// An entity of before the rebase keeps its slot, with its newest row, as a parked one: to readers
// of snapshots the slot is empty, and no record but a create names the entity. Then it goes on:
// mirror_apply.c finds it by its handle, wherever it is parked, and neither destroys nor creates
// it. The new server gives slots in its own order. When it names a slot where another entity is
// parked, that one moves to a slot without a name. What is still parked at the end does not exist
// any more, or is out of sight.
//
//     slot             0    1    2    3    4               0    1    2    3    4
//     parked           a    b    c              create 1 d:     a    -    c         b
//     entities                                                       d
//
// Invariant: a slot with an entity and without is_known is parked.
#include "base/assert.h"
#include "mirror/mirror_store.h"
#include "mirror/snapshot_reader.h"

static void park(net_mirror* mirror, uint32_t number) {
    net_mirror_slot* slot = net_mirror_slot_of(mirror, number);
    slot->is_known = slot->has_previous = false;
    slot->tick = slot->whole_tick = 0;
    if (slot->handle == ECS_ENTITY_NONE) return;
    net_tick_ring_drop(&slot->incarnation.ring, slot->incarnation.ring.count - 1u);
    slot->incarnation.tick = UINT64_MAX; // no update is of it
    slot->incarnation.has_forgotten = false;
}

net_result net_mirror_rebase(net_mirror* mirror, const net_solo* solo) {
    if (mirror->broken != NET_OK) return mirror->broken;
    net_mirror_drop_previous(mirror);
    for (uint32_t i = 0; i < mirror->slots.count; i++)
        park(mirror, i);
    for (uint32_t i = 0; i < mirror->indices.count; i++) {
        net_mirror_index* index = net_mirror_index_of(mirror, i);
        index->tick = index->gone_tick = 0;
        index->is_known = 0;
    }
    for (uint32_t i = 0; i < NET_SNAPSHOT_PACKETS; i++)
        mirror->packets[i].is_decoded = false;
    mirror->has_seq = mirror->has_tick = false;
    mirror->park_next = mirror->slots.count;
    if (!net_mirror_use_solo(mirror, solo)) mirror->broken = NET_ERR_MEMORY;
    return mirror->broken;
}

uint32_t net_mirror_end_rebase(net_mirror* mirror, ecs_tick tick) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < mirror->slots.count; i++) {
        net_mirror_slot* slot = net_mirror_slot_of(mirror, i);
        if (!net_mirror_is_parked(slot)) continue;
        net_mirror_end_slot(mirror, slot, tick);
        count++;
    }
    return count;
}
