// SPDX-License-Identifier: MIT
/// The change list and the incremental state hash.
#pragma once

#include "base/bitset.h"
#include "ecs/change.h"
#include "ecs/save.h"
#include "table/storage.h"

typedef struct ecs_entity_list {
    ecs_entity* items;
    uint32_t count;
    uint32_t capacity;
} ecs_entity_list;

typedef struct ecs_tracker {
    uint64_t* hashes; ///< [component], ECS_COMPONENTS_MAX + 1 of them: sums of value hashes
    ecs_entity_list created;
    ecs_entity_list destroyed;
    ecs_entity_list recreated;
    ecs_change* changed;
    uint32_t changed_count;
    uint32_t changed_capacity;
    base_bitset fresh;    ///< by index: entities in created.items[0, fresh_count)
    uint32_t fresh_count; ///< a step enters the rest before it compares
    base_bytes*
        scratch; ///< of ecs_world_hash; a block of its own since hashing takes a const world
} ecs_tracker;

/// Make room in the lists for so many more entries. Storage calls it before it changes anything, so
/// that running out of memory stays an error code; without the call running out is an assert.
BASE_MUST_USE bool ecs_track_reserve(ecs_world* world, uint32_t created, uint32_t destroyed,
                                     uint32_t recreated);
/// Hash of one value as part of the state hash.
uint64_t ecs_track_hash(const ecs_world* world, ecs_entity entity, ecs_component_id component,
                        const void* value);
/// Add (or take away) the hashes of all tracked cells of a row.
void ecs_track_count_row(ecs_world* world, const ecs_chunk* chunk, uint32_t row, bool is_added);
/// Forget lists and hashes (restore).
void ecs_track_reset(ecs_world* world);
