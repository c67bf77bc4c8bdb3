// SPDX-License-Identifier: MIT
// Does the mirror hold what the server has, and does the world hold what the mirror says?
//
// A probe names one row by its tick. What moves has newer rows by the time the probe arrives, so
// the probe is compared with the row of that tick, which is kept as a base. The world is compared
// with the newest row, which needs no word from the server. Every packet checks a part of the
// slots, so a value that other code wrote is found within seconds, also where each tick has a row.
//
// An entity that was never alive since its newest row (it is LOADING, or cannot be loaded) is no
// fault of the connection. One that was alive and is not was destroyed by other code.
#include "base/assert.h"
#include "mirror/snapshot_reader.h"

static bool is_comparable(const net_mirror* mirror, const net_mirror_slot* slot) {
    return slot->handle != ECS_ENTITY_NONE && slot->incarnation.ring.count > 0 &&
           (slot->was_shown || net_mirror_is_alive(mirror, slot));
}

static ecs_component_id first_component(const net_row_template* row_template, uint64_t bits) {
    const uint32_t first = bits ? (uint32_t)__builtin_ctzll(bits) : PROTO_ROW_COMPONENTS_MAX;
    return first < row_template->layout.component_count
               ? (ecs_component_id)row_template->layout.components[first].key
               : ECS_COMPONENT_NONE;
}

// Compare what the world holds with the newest row.
static bool is_world_different(const net_mirror* mirror, const net_mirror_slot* slot,
                               ecs_component_id* component) {
    *component = ECS_COMPONENT_NONE;
    if (!mirror->world) return false;
    const net_row_template* row_template = slot->incarnation.row_template;
    uint64_t newest[PROTO_ROW_FIELDS_MAX], here[PROTO_ROW_FIELDS_MAX];
    if (!net_mirror_is_alive(mirror, slot) ||
        !net_row_world_read(&mirror->target, slot->handle, row_template, here))
        return true;
    net_mirror_unpack(&slot->incarnation, slot->incarnation.ring.count - 1u, newest);
    const uint64_t changed = net_row_changed(row_template, newest, here);
    *component = first_component(row_template, changed);
    return changed != 0;
}

net_mirror_probe_result net_mirror_check_probe(const net_mirror* mirror, uint32_t slot,
                                               ecs_tick tick, uint16_t hash,
                                               net_mirror_difference* difference) {
    net_mirror_difference unused;
    if (!difference) difference = &unused;
    *difference = (net_mirror_difference){ECS_ENTITY_NONE, ECS_COMPONENT_NONE};
    if (slot >= mirror->slots.count) return NET_MIRROR_UNKNOWN;
    const net_mirror_slot* at = net_mirror_slot_of(mirror, slot);
    if (!is_comparable(mirror, at)) return NET_MIRROR_UNKNOWN;
    const net_tick_ring* ring = &at->incarnation.ring;
    const uint32_t position = net_tick_ring_find(ring, tick);
    if (position == UINT32_MAX || net_tick_ring_tick(ring, position) != tick)
        return NET_MIRROR_UNKNOWN;
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    net_mirror_unpack(&at->incarnation, position, row);
    const bool is_right = (uint16_t)net_row_hash(at->incarnation.row_template, row) == hash;
    const bool is_shown = !is_world_different(mirror, at, &difference->component);
    if (is_right && is_shown) return NET_MIRROR_EQUAL;
    difference->entity = at->handle;
    return NET_MIRROR_DIFFERS;
}

bool net_mirror_sweep(net_mirror* mirror, net_mirror_difference* difference) {
    BASE_ASSERT(difference);
    *difference = (net_mirror_difference){ECS_ENTITY_NONE, ECS_COMPONENT_NONE};
    if (!mirror->world) return false;
    const uint32_t part =
        (mirror->slots.count + NET_MIRROR_SWEEP_CALLS - 1) / NET_MIRROR_SWEEP_CALLS;
    for (uint32_t i = 0; i < part; i++) {
        if (mirror->sweep_next >= mirror->slots.count) mirror->sweep_next = 0;
        const net_mirror_slot* slot = net_mirror_slot_of(mirror, mirror->sweep_next++);
        if (difference->entity != ECS_ENTITY_NONE || !is_comparable(mirror, slot)) continue;
        if (is_world_different(mirror, slot, &difference->component))
            difference->entity = slot->handle;
    }
    return difference->entity != ECS_ENTITY_NONE;
}

ecs_tick net_mirror_whole_tick(const net_mirror* mirror, ecs_entity entity) {
    const net_mirror_slot* slot = net_mirror_find(mirror, entity);
    return slot ? slot->whole_tick : 0;
}
