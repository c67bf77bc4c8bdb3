// SPDX-License-Identifier: MIT
// Tracking: which tracked values changed since the last step, and the hash of all of them.
//
// Each tracked column has a shadow: the value as it was after the last step. A step compares what
// was marked with its shadow (track_compare.c), lists each difference, and corrects the sum of
// hashes by it. So the hash costs what changed, not what exists.
//
// The hash is a sum: it does not depend on the order of entities, and adding and subtracting are
// exact modulo 2^64.
//
// Invariant: hashes[c] is the sum of ecs_track_hash over all shadows of component c. Everything
// here reads shadows, never values, except the compare itself. Storage creates, moves and destroys
// shadow cells.
#include "track/track.h"

#include "base/assert.h"
#include "base/hash.h"
#include "table/archetype.h"
#include "table/chunk.h"
#include "table/storage.h"
#include "track/track_lanes.h"
#include "type/world.h"

#include <string.h>

bool ecs_tracker_init(ecs_world* world) {
    BASE_ASSERT(!world->tracker->hashes);
    ecs_tracker* tracker = world->tracker;
    memset(tracker, 0, sizeof(*tracker));
    base_bitset_init(&tracker->fresh, world->allocator);
    tracker->hashes =
        base_allocate_zero(world->allocator, sizeof(uint64_t) * (ECS_COMPONENTS_MAX + 1));
    tracker->scratch = base_allocate_zero(world->allocator, sizeof(base_bytes));
    if (!tracker->hashes || !tracker->scratch) return false;
    base_bytes_init(tracker->scratch, world->allocator);
    return true;
}

static void free_list(const ecs_world* world, ecs_entity_list* list) {
    BASE_ARRAY_RELEASE(world->allocator, list->items, list->capacity);
}

void ecs_tracker_deinit(ecs_world* world) {
    ecs_tracker* tracker = world->tracker;
    free_list(world, &tracker->created);
    free_list(world, &tracker->destroyed);
    free_list(world, &tracker->recreated);
    BASE_ARRAY_RELEASE(world->allocator, tracker->changed.items, tracker->changed.capacity);
    BASE_ARRAY_RELEASE(world->allocator, tracker->noticed.items, tracker->noticed.capacity);
    base_release(world->allocator, tracker->hashes, sizeof(uint64_t) * (ECS_COMPONENTS_MAX + 1));
    if (tracker->scratch) {
        base_bytes_deinit(tracker->scratch);
        base_release(world->allocator, tracker->scratch, sizeof(base_bytes));
    }
    base_bitset_deinit(&tracker->fresh);
    ecs_track_lanes_deinit(world);
    memset(tracker, 0, sizeof(*tracker));
}

static bool reserve_list(const ecs_world* world, ecs_entity_list* list, uint32_t more) {
    return BASE_ARRAY_RESERVE(world->allocator, list->items, list->capacity, list->count + more);
}

bool ecs_track_reserve(ecs_world* world, uint32_t created, uint32_t destroyed, uint32_t recreated) {
    ecs_tracker* tracker = world->tracker;
    // What lives can be destroyed without asking for memory: destroying must not fail for that.
    // 4 bytes for each of a million would be a tenth of what they take.
    uint32_t mortal = world->storage->entity_count + created;
    if (mortal > ECS_DEATHS_READY) mortal = ECS_DEATHS_READY;
    return reserve_list(world, &tracker->created, created) &&
           reserve_list(world, &tracker->destroyed, mortal > destroyed ? mortal : destroyed) &&
           reserve_list(world, &tracker->recreated, recreated);
}

static void push_entity(ecs_world* world, ecs_entity_list* list, ecs_entity entity) {
    BASE_ASSERT(entity != ECS_ENTITY_NONE);
    if (list->count == list->capacity) {
        bool has_room = reserve_list(world, list, 1);
        BASE_ASSERT(has_room);
    }
    list->items[list->count++] = entity;
}

uint64_t ecs_track_hash(const ecs_world* world, ecs_entity entity, ecs_component_id component,
                        const void* value) {
    const ecs_component* info = ecs_component_get(world, component);
    return ecs_type_hash(ecs_type_get(world, info->type), value,
                         base_hash64_mix(info->name_hash, entity));
}

void ecs_track_created(ecs_world* world, ecs_entity entity, const ecs_chunk* chunk, uint32_t row) {
    ecs_track_count_row(world, chunk, row, true);
    push_entity(world, &world->tracker->created, entity);
}

void ecs_track_destroying(ecs_world* world, ecs_entity entity, const ecs_chunk* chunk,
                          uint32_t row) {
    ecs_track_count_row(world, chunk, row, false);
    push_entity(world, &world->tracker->destroyed, entity);
}

void ecs_track_leaving(ecs_world* world, const ecs_chunk* chunk, uint32_t row) {
    BASE_ASSERT(row < ecs_chunk_count(world->storage, chunk));
    ecs_track_count_row(world, chunk, row, false);
}

void ecs_track_arrived(ecs_world* world, ecs_entity entity, const ecs_chunk* chunk, uint32_t row) {
    ecs_track_count_row(world, chunk, row, true);
    push_entity(world, &world->tracker->recreated, entity);
}

// Without memory an entity is not in the set: then its changes are listed besides its creation.
static void enter_fresh(ecs_tracker* tracker) {
    BASE_ASSERT(tracker->fresh_count <= tracker->created.count);
    for (; tracker->fresh_count < tracker->created.count; tracker->fresh_count++) {
        uint32_t index = ecs_entity_index(tracker->created.items[tracker->fresh_count]);
        if (base_bitset_reserve(&tracker->fresh, index + 1))
            base_bitset_add(&tracker->fresh, index);
    }
}

void ecs_track_step(ecs_world* world) {
    BASE_ASSERT(world->is_sealed && world->fast.walk_depth == 0);
    const ecs_storage* storage = world->storage;
    world->tracker->noticed.count = 0;
    enter_fresh(world->tracker);
    const bool is_done = ecs_track_by_lanes(world);
    for (uint32_t i = 0; i < storage->tracked_count && !is_done; i++) {
        ecs_archetype* archetype = storage->tracked[i];
        for (uint32_t k = 0; k < archetype->chunk_count; k++)
            ecs_track_chunk(world, archetype->chunks[k]);
    }
}

void ecs_track_clear_lists(ecs_world* world) {
    ecs_tracker* tracker = world->tracker;
    for (uint32_t i = 0; i < tracker->fresh_count; i++) {
        uint32_t index = ecs_entity_index(tracker->created.items[i]);
        base_bitset_remove(&tracker->fresh, index);
    }
    tracker->fresh_count = 0;
    tracker->created.count = 0;
    tracker->destroyed.count = 0;
    tracker->recreated.count = 0;
    tracker->changed.count = 0;
}

void ecs_track_reset(ecs_world* world) {
    BASE_ASSERT(world->tracker->hashes);
    memset(world->tracker->hashes, 0, sizeof(uint64_t) * (ECS_COMPONENTS_MAX + 1));
    ecs_track_clear_lists(world);
}
