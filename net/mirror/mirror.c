// SPDX-License-Identifier: MIT
// The mirror: the client's copy of the world. mirror_apply.c says how records change it.
#include "mirror/mirror.h"

#include "core/fault.h"
#include "mirror/snapshot_reader.h"

#include "base/assert.h"

#include <string.h>

net_result net_mirror_create(const net_mirror_config* config, net_mirror** mirror) {
    BASE_ASSERT(config && config->rows && config->index_max && mirror);
    *mirror = NULL;
    net_mirror* made = base_allocate_zero(config->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    made->allocator = config->allocator;
    base_quota_init(&made->memory, config->allocator,
                    config->memory_bytes_max ? config->memory_bytes_max : NET_MIRROR_BYTES_MAX);
    net_pool_init(&made->pool, &made->memory.allocator);
    made->world = config->world;
    made->rows = config->rows;
    uint32_t index_max =
        config->world ? ecs_world_limits(config->world)->replicated_index_max : config->index_max;
    made->index_bits = net_snapshot_index_bits(config->index_max);
    made->index_max = config->index_max < index_max ? config->index_max : index_max;
    made->target = (net_row_world){
        .allocator = &made->memory.allocator, .world = config->world, .index_max = made->index_max};
    made->trace = config->trace;
    made->trace_context = config->trace_context;
    made->sink = config->sink;
    const base_allocator* memory = &made->memory.allocator;
    made->part_count = net_rows_component_count(config->rows) + 1;
    made->parts = base_allocate_zero(memory, made->part_count * sizeof *made->parts);
    if (!made->parts || !net_mirror_use_solo(made, config->solo)) {
        net_mirror_destroy(made);
        return NET_ERR_MEMORY;
    }
    *mirror = made;
    return NET_OK;
}

bool net_mirror_use_solo(net_mirror* mirror, const net_solo* solo) {
    if (mirror->solo) mirror->solo->receiver_destroy(mirror->receiver);
    mirror->solo = solo;
    mirror->receiver = solo ? solo->receiver_create(&mirror->memory.allocator) : NULL;
    return !solo || mirror->receiver;
}

void net_mirror_destroy(net_mirror* mirror) {
    if (!mirror) return;
    const base_allocator* memory = &mirror->memory.allocator;
    net_mirror_drop_previous(mirror);
    net_mirror_drop_all_values(mirror);
    for (uint32_t i = 0; i < mirror->slots.count; i++) {
        net_mirror_release_newest(mirror, net_mirror_slot_of(mirror, i));
        net_tick_ring_deinit(&net_mirror_slot_of(mirror, i)->incarnation.ring,
                             &mirror->pool.allocator);
    }
    for (uint32_t i = 0; i < NET_SNAPSHOT_PACKETS; i++)
        base_release(&mirror->pool.allocator, mirror->packets[i].gaps,
                     mirror->packets[i].gaps_capacity);
    net_pool_deinit(&mirror->pool);
    net_mirror_release_pages(mirror);
    BASE_ARRAY_RELEASE(memory, mirror->records, mirror->record_capacity);
    base_release(memory, mirror->packed, mirror->packed_capacity);
    base_release(memory, mirror->gaps, mirror->gaps_capacity);
    BASE_ARRAY_RELEASE(memory, mirror->listed, mirror->listed_capacity);
    BASE_ARRAY_RELEASE(memory, mirror->parts, mirror->part_count);
    (void)net_mirror_use_solo(mirror, NULL);
    net_row_world_deinit(&mirror->target);
    BASE_ASSERT(mirror->memory.used_bytes == 0);
    base_release(mirror->allocator, mirror, sizeof *mirror);
}

net_result net_mirror_read(net_mirror* mirror, uint16_t seq, ecs_tick tick,
                           proto_bit_reader* snapshot) {
    if (mirror->broken != NET_OK) return mirror->broken;
    net_result code = net_mirror_decode(mirror, seq, tick, snapshot);
    if (code == NET_OK) {
        code = net_mirror_remember(mirror, seq, tick);
        if (code == NET_OK) code = net_mirror_apply(mirror, tick);
        mirror->broken = code;
    }
    if (code == NET_ERR_STALE) mirror->counters.stale++;
    if (code == NET_ERR_MALFORMED) mirror->counters.malformed++;
    if (code != NET_OK) return code;
    mirror->counters.packets++;
    if (!mirror->has_tick || tick > mirror->tick) mirror->tick = tick;
    mirror->has_tick = true;
    net_mirror_expire_previous(mirror);
    if (mirror->counters.packets % NET_MIRROR_TRIM_PACKETS == 0) net_pool_trim(&mirror->pool);
    if (NET_VALIDATE_ON) net_mirror_validate(mirror);
    return NET_OK;
}

ecs_tick net_mirror_tick(const net_mirror* mirror) {
    return mirror->tick;
}

bool net_mirror_entity_tick(const net_mirror* mirror, ecs_entity entity, ecs_tick* tick) {
    const net_mirror_slot* slot = net_mirror_find(mirror, entity);
    if (slot) *tick = slot->tick;
    return slot != NULL;
}

bool net_mirror_known_incarnation(const net_mirror* mirror, uint32_t index, ecs_entity* handle,
                                  ecs_tick* tick) {
    *handle = ECS_ENTITY_NONE;
    *tick = 0;
    if (index >= mirror->indices.count) return false;
    const net_mirror_index* at = net_mirror_index_of(mirror, index);
    if (at->slot_next > 0) {
        *handle = net_mirror_slot_of(mirror, at->slot_next - 1)->handle;
        *tick = net_mirror_slot_of(mirror, at->slot_next - 1)->tick;
        return true;
    }
    *tick = at->gone_tick > at->tick ? at->gone_tick : at->tick;
    return at->is_known || at->gone_tick > 0;
}

uint64_t net_mirror_component_bits(const net_mirror* mirror, ecs_component_id component) {
    return component < mirror->part_count ? mirror->parts[component].all : 0;
}

const net_mirror_counters* net_mirror_get_counters(const net_mirror* mirror) {
    return &mirror->counters;
}

// ---- another server ----

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

// ---- does it hold what the server has? ----

// Does the mirror hold what the server has, and does the world hold what the mirror says?
//
// A probe names one row by its tick. What moves has newer rows by the time the probe arrives, so
// the probe is compared with the row of that tick, which is kept as a base. The world is compared
// with the newest row, which needs no word from the server. Every packet checks a part of the
// slots, so a value that other code wrote is found within seconds, also where each tick has a row.
//
// An entity that was never alive since its newest row (it is LOADING, or cannot be loaded) is no
// fault of the connection. One that was alive and is not was destroyed by other code.

static bool is_comparable(const net_mirror* mirror, const net_mirror_slot* slot) {
    return slot->handle != ECS_ENTITY_NONE && slot->is_known && slot->incarnation.ring.count > 0 &&
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

// The whole-structure check of a mirror: slots, indices, rows and previous incarnations agree.
// Called after each packet in BASE_VALIDATE builds, and by tests. An assertion here is our own
// fault: no bytes of a server may lead to one.

static void validate_slot(const net_mirror* mirror, uint32_t number) {
    const net_mirror_slot* slot = net_mirror_slot_of(mirror, number);
    net_tick_ring_validate(&slot->incarnation.ring);
    BASE_ASSERT(!slot->previous || slot->previous->slot == number);
    if (slot->handle == ECS_ENTITY_NONE) return;
    uint32_t index = ecs_entity_index(slot->handle), count = slot->incarnation.ring.count;
    BASE_ASSERT(index < mirror->indices.count);
    BASE_ASSERT(net_mirror_index_of(mirror, index)->slot_next == number + 1);
    BASE_ASSERT(slot->incarnation.row_template && count > 0);
    if (net_mirror_is_parked(slot)) {
        BASE_ASSERT(count == 1 && !slot->previous && slot->incarnation.tick == UINT64_MAX);
        return;
    }
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
