// SPDX-License-Identifier: MIT
// What a mirror keeps of lives that ended: packets are overtaken, and one that was written while an entity
// lived may come after the news that it is gone. Nothing of such a record is of use, but the rest of its
// packet is, and who does not know the rows that it was coded against cannot read the rest.
//
// One previous life per slot, the last: a server uses a slot for another entity only after its destroy was
// acknowledged, so a packet that speaks of the life before the last is a round trip late or more.
//
// Which life an update means is a question of ticks. Updates follow the acknowledgement of a create of their
// life, so one that is younger than the present life's first create is of the present life; one between the
// first create and the end of the previous life is of that one; whatever else is nobody's and refused. All
// its bases were acknowledged before it was written and so had come before the end: rows that come after
// the end are not kept.
//
// They take a bounded part of the memory: the oldest give way, and all of them to the rows of the living.
#include "mirror/snapshot_reader.h"

static size_t bytes_of(const net_row_ring* ring) {
    return ring->bytes_allocated + ring->ticks_allocated * sizeof *ring->ticks;
}

static void drop(net_mirror* mirror, net_mirror_previous* previous) {
    if (previous->older)
        previous->older->newer = previous->newer;
    else
        mirror->previous_oldest = previous->newer;
    if (previous->newer)
        previous->newer->older = previous->older;
    else
        mirror->previous_newest = previous->older;
    mirror->slots[previous->slot].previous = NULL;
    mirror->previous_bytes -= bytes_of(&previous->incarnation.ring);
    net_row_ring_deinit(&previous->incarnation.ring, &mirror->pool.allocator);
    base_release(&mirror->pool.allocator, previous, sizeof *previous);
}

static net_mirror_previous* make_room(net_mirror* mirror, size_t bytes) {
    size_t bytes_max = mirror->memory.bytes_max / NET_MIRROR_PREVIOUS_SHARE;
    if (bytes > bytes_max) return NULL;
    while (mirror->previous_oldest && bytes > bytes_max - mirror->previous_bytes)
        drop(mirror, mirror->previous_oldest);
    return base_allocate(&mirror->pool.allocator, sizeof(net_mirror_previous));
}

void net_mirror_keep_previous(net_mirror* mirror, net_mirror_slot* slot, ecs_tick tick) {
    if (slot->previous) drop(mirror, slot->previous);
    size_t bytes = bytes_of(&slot->incarnation.ring);
    net_mirror_previous* previous =
        slot->incarnation.ring.count > 0 ? make_room(mirror, bytes) : NULL;
    if (!previous) {
        net_row_ring_deinit(&slot->incarnation.ring, &mirror->pool.allocator);
        return;
    }
    *previous = (net_mirror_previous){.incarnation = slot->incarnation,
                                      .handle = slot->handle,
                                      .slot = (uint32_t)(slot - mirror->slots),
                                      .end_tick = tick,
                                      .older = mirror->previous_newest};
    if (previous->older)
        previous->older->newer = previous;
    else
        mirror->previous_oldest = previous;
    mirror->previous_newest = previous;
    mirror->previous_bytes += bytes;
    slot->previous = previous;
    slot->incarnation.ring = (net_row_ring){0};
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
