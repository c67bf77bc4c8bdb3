// SPDX-License-Identifier: MIT
// What a mirror keeps of lives that ended: packets are overtaken, and one that was written while an entity
// lived may come after the news that it is gone. Nothing of such a record is of use, but the rest of its
// packet is, and who does not know the rows that it was coded against cannot read the rest.
//
// One former life per slot, the last: a server uses a slot for another entity only after its destroy was
// acknowledged, so a packet that speaks of the life before the last is a round trip late or more.
//
// Which life an update means is a question of ticks. Updates follow the acknowledgement of a create of their
// life, so one that is younger than the present life's first create is of the present life; one between the
// first create and the end of the former life is of that one; whatever else is nobody's and refused. All
// its bases were acknowledged before it was written and so had come before the end: rows that come after
// the end are not kept.
//
// They take a bounded part of the memory: the oldest give way, and all of them to the rows of the living.
#include "mirror/snapshot_reader.h"

static size_t bytes_of(const net_row_ring* ring) {
    return ring->words_allocated * sizeof *ring->rows + ring->ticks_allocated * sizeof *ring->ticks;
}

static void drop(net_mirror* mirror, net_mirror_former* former) {
    if (former->older)
        former->older->newer = former->newer;
    else
        mirror->former_oldest = former->newer;
    if (former->newer)
        former->newer->older = former->older;
    else
        mirror->former_newest = former->older;
    mirror->slots[former->slot].former = NULL;
    mirror->former_bytes -= bytes_of(&former->life.ring);
    net_row_ring_deinit(&former->life.ring, &mirror->pool.allocator);
    base_release(&mirror->pool.allocator, former, sizeof *former);
}

static net_mirror_former* make_room(net_mirror* mirror, size_t bytes) {
    size_t bytes_max = mirror->memory.bytes_max / NET_MIRROR_FORMER_SHARE;
    if (bytes > bytes_max) return NULL;
    while (mirror->former_oldest && bytes > bytes_max - mirror->former_bytes)
        drop(mirror, mirror->former_oldest);
    return base_allocate(&mirror->pool.allocator, sizeof(net_mirror_former));
}

void net_mirror_keep_former(net_mirror* mirror, net_mirror_slot* slot, ecs_tick tick) {
    if (slot->former) drop(mirror, slot->former);
    size_t bytes = bytes_of(&slot->life.ring);
    net_mirror_former* former = slot->life.ring.count > 0 ? make_room(mirror, bytes) : NULL;
    if (!former) {
        net_row_ring_deinit(&slot->life.ring, &mirror->pool.allocator);
        return;
    }
    *former = (net_mirror_former){.life = slot->life,
                                  .handle = slot->handle,
                                  .slot = (uint32_t)(slot - mirror->slots),
                                  .end_tick = tick,
                                  .older = mirror->former_newest};
    if (former->older)
        former->older->newer = former;
    else
        mirror->former_oldest = former;
    mirror->former_newest = former;
    mirror->former_bytes += bytes;
    slot->former = former;
    slot->life.ring = (net_row_ring){0};
}

void net_mirror_expire_formers(net_mirror* mirror) {
    while (mirror->former_oldest &&
           mirror->tick - mirror->former_oldest->end_tick > NET_MIRROR_FORMER_TICKS)
        drop(mirror, mirror->former_oldest);
}

void net_mirror_drop_formers(net_mirror* mirror) {
    while (mirror->former_oldest)
        drop(mirror, mirror->former_oldest);
}

const net_mirror_former* net_mirror_find_former(const net_mirror_slot* slot, ecs_tick tick) {
    const net_mirror_former* former = slot->former;
    if (!former || tick <= former->life.tick || tick >= former->end_tick) return NULL;
    if (slot->handle != ECS_ENTITY_NONE && tick >= slot->life.tick) return NULL;
    return former;
}
