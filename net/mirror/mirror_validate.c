// SPDX-License-Identifier: MIT
// The whole-structure check of a mirror: slots, indices, rows and previous incarnations agree.
// Called after each packet in BASE_VALIDATE builds, and by tests. An assertion here is our own
// fault: no bytes of a server may lead to one.
#include "mirror/snapshot_reader.h"

#include "base/assert.h"
#include "mirror/packed_row.h"

static void validate_slot(const net_mirror* mirror, uint32_t number) {
    const net_mirror_slot* slot = net_mirror_slot_of(mirror, number);
    net_tick_ring_validate(&slot->incarnation.ring);
    BASE_ASSERT(!slot->previous || slot->previous->slot == number);
    if (slot->handle == ECS_ENTITY_NONE) return;
    uint32_t index = ecs_entity_index(slot->handle), count = slot->incarnation.ring.count;
    BASE_ASSERT(index < mirror->indices.count);
    BASE_ASSERT(net_mirror_index_of(mirror, index)->slot_next == number + 1);
    BASE_ASSERT(slot->is_known && slot->incarnation.row_template && count > 0);
    BASE_ASSERT(net_tick_ring_tick(&slot->incarnation.ring, count - 1u) == slot->tick);
    BASE_ASSERT(slot->tick <= mirror->tick && slot->incarnation.tick <= slot->tick);
    BASE_ASSERT(slot->incarnation.ring.stride_bytes ==
                net_packed_row_bytes(&slot->incarnation.row_template->layout));
}

static void validate_previous(const net_mirror* mirror) {
    size_t bytes = 0;
    const net_mirror_previous* older = NULL;
    for (const net_mirror_previous* at = mirror->previous_oldest; at; at = at->newer) {
        BASE_ASSERT(at->older == older && at->slot < mirror->slots.count);
        BASE_ASSERT(net_mirror_slot_of(mirror, at->slot)->previous == at);
        net_tick_ring_validate(&at->incarnation.ring);
        bytes += at->incarnation.ring.bytes_allocated;
        older = at;
    }
    BASE_ASSERT(mirror->previous_newest == older && mirror->previous_bytes == bytes);
}

void net_mirror_validate(const net_mirror* mirror) {
    BASE_ASSERT(mirror->memory.used_bytes <= mirror->memory.bytes_max);
    if (mirror->broken != NET_OK) return; // applying failed half way: it is only destroyed
    for (uint32_t slot = 0; slot < mirror->slots.count; slot++)
        validate_slot(mirror, slot);
    for (uint32_t index = 0; index < mirror->indices.count; index++) {
        uint32_t slot_next = net_mirror_index_of(mirror, index)->slot_next;
        if (slot_next == 0) continue;
        BASE_ASSERT(slot_next <= mirror->slots.count);
        BASE_ASSERT(ecs_entity_index(net_mirror_slot_of(mirror, slot_next - 1)->handle) == index);
    }
    validate_previous(mirror);
}
