// SPDX-License-Identifier: MIT
// Ended incarnations: packets overtake each other, and a packet that was written while an entity
// existed may arrive after its destroy. Its record of that entity is useless, but the other records
// of the packet are not, and a reader without the base rows of one record cannot read the rest.
//
// One previous incarnation per slot, the last: a server uses a slot for another entity only after
// its destroy was acknowledged, so a packet with a record of an earlier one is a round trip late or
// more.
//
// Ticks decide to which incarnation an update belongs. Updates follow the acknowledgement of a
// create of their incarnation. So an update that is newer than the present incarnation's first
// create is of the present one; an update between the first create and the end of the previous one
// is of that one; any other is refused. All its bases were acknowledged before it was written, so
// they arrived before the end: rows that arrive after the end are not kept.
//
// They use a bounded part of the memory: the oldest are dropped first, and all of them before a row
// of a present incarnation.
#include "mirror/snapshot_reader.h"

#include "base/assert.h"

static void drop(net_mirror* mirror, net_mirror_previous* previous) {
    BASE_ASSERT(net_mirror_slot_of(mirror, previous->slot)->previous == previous);
    if (previous->older)
        previous->older->newer = previous->newer;
    else
        mirror->previous_oldest = previous->newer;
    if (previous->newer)
        previous->newer->older = previous->older;
    else
        mirror->previous_newest = previous->older;
    net_mirror_slot_of(mirror, previous->slot)->previous = NULL;
    mirror->previous_bytes -= previous->incarnation.ring.bytes_allocated;
    net_tick_ring_deinit(&previous->incarnation.ring, &mirror->pool.allocator);
    base_release(&mirror->pool.allocator, previous, sizeof *previous);
}

static net_mirror_previous* make_room(net_mirror* mirror, size_t bytes) {
    size_t bytes_max = mirror->memory.bytes_max / NET_MIRROR_PREVIOUS_SHARE;
    if (bytes > bytes_max) return NULL;
    while (mirror->previous_oldest && bytes > bytes_max - mirror->previous_bytes)
        drop(mirror, mirror->previous_oldest);
    return base_allocate(&mirror->pool.allocator, sizeof(net_mirror_previous));
}

void net_mirror_keep_previous(net_mirror* mirror, uint32_t number, ecs_tick tick) {
    net_mirror_slot* slot = net_mirror_slot_of(mirror, number);
    BASE_ASSERT(slot->handle != ECS_ENTITY_NONE);
    if (slot->previous) drop(mirror, slot->previous);
    size_t bytes = slot->incarnation.ring.bytes_allocated;
    net_mirror_previous* previous =
        slot->incarnation.ring.count > 0 ? make_room(mirror, bytes) : NULL;
    if (!previous) {
        net_tick_ring_deinit(&slot->incarnation.ring, &mirror->pool.allocator);
        return;
    }
    *previous = (net_mirror_previous){.incarnation = slot->incarnation,
                                      .handle = slot->handle,
                                      .slot = number,
                                      .end_tick = tick,
                                      .older = mirror->previous_newest};
    if (previous->older)
        previous->older->newer = previous;
    else
        mirror->previous_oldest = previous;
    mirror->previous_newest = previous;
    mirror->previous_bytes += bytes;
    slot->previous = previous;
    slot->incarnation.ring = (net_tick_ring){0};
}

void net_mirror_expire_previous(net_mirror* mirror) {
    while (mirror->previous_oldest &&
           mirror->tick - mirror->previous_oldest->end_tick > NET_MIRROR_PREVIOUS_TICKS)
        drop(mirror, mirror->previous_oldest);
}

void net_mirror_drop_previous(net_mirror* mirror) {
    while (mirror->previous_oldest)
        drop(mirror, mirror->previous_oldest);
}

const net_mirror_previous* net_mirror_find_previous(const net_mirror_slot* slot, ecs_tick tick) {
    const net_mirror_previous* previous = slot->previous;
    if (!previous || tick <= previous->incarnation.tick || tick >= previous->end_tick) return NULL;
    if (slot->handle != ECS_ENTITY_NONE && tick >= slot->incarnation.tick) return NULL;
    return previous;
}
