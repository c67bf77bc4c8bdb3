// SPDX-License-Identifier: MIT
/// Destroying an entity of plain data, without a call: ecs_destroy does it in most worlds.
#pragma once

#include "table/row.h"
#include "table/storage.h"
#include "table/track.h"
#include "type/world.h"

/// Destroy an entity if it lives, its row is plain data, and neither tracking nor handlers nor held
/// handles exist for it. @return false when it is not so: nothing happened.
static inline __attribute__((always_inline)) bool ecs_structure_destroy_simple(ecs_world* world,
                                                                               ecs_entity entity) {
    ecs_storage* storage = world->storage;
    const uint32_t index = ecs_entity_index(entity), at = index & (ECS_PAGE_RECORDS - 1);
    ecs_record_page* page = storage->pages[index >> ECS_PAGE_BITS];
    ecs_record* record = &page->records[at];
    const uint32_t generation = ecs_entity_generation(entity), row_place = record->place;
    ecs_entity_list* dead = &world->tracker->destroyed;
    if (record->life != (generation | ECS_LIFE_CREATED)) return false;
    const ecs_place* place = &storage->places[row_place >> ECS_ROW_BITS];
    ecs_index_range* range = &storage->ranges[index >= storage->ranges[1].first];
    if (!place->archetype->is_simple || place->archetype->notify || storage->held.count > 0 ||
        dead->count == dead->capacity || index >= range->fresh)
        return false;
    dead->items[dead->count++] = entity;
    *record = (ecs_record){.life = (uint16_t)generation};
    page->free_words[at / 64] |= 1ull << (at % 64);
    range->free_count++;
    storage->entity_count--;
    ecs_chunk_close_hole(world, storage, place, row_place);
    return true;
}
