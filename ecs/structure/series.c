// SPDX-License-Identifier: MIT
// Series of creations: how many of one template may follow without any check.
//
// The runway (table/runway.c) holds rows that are filled already. A creation that takes one must
// still know that the lists of tracking have room and which index comes next. Both are counted here
// once per series.
#include "base/assert.h"
#include "core/world_internal.h"
#include "structure/transition.h"
#include "table/archetype.h"
#include "table/storage.h"
#include "track/track.h"

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

void ecs_runway_count(ecs_world* world) {
    ecs_storage* storage = world->storage;
    ecs_runway* runway = &storage->runway;
    runway->left = 0;
    if (!runway->chunk || storage->held.count > 0) return;
    const ecs_entity_list *born = &world->tracker->created, *dead = &world->tracker->destroyed;
    uint32_t left = runway->end - ecs_chunk_count(storage, runway->chunk);
    left = smaller(left, born->capacity - born->count);
    left = smaller(left, dead->capacity - dead->count - storage->entity_count);
    const ecs_binding* binding = &storage->bindings[runway->template_id];
    ecs_index_range* range = &storage->ranges[binding->is_replicated && !world->is_mirror ? 0 : 1];
    // As ecs_index_peek chooses; the page of the last index is there. Deaths in between change
    // nothing: never-used ones go first within a page, and of freed ones there are only more.
    uint32_t used_on_page = range->fresh % ECS_PAGE_RECORDS;
    uint32_t unused = range->last + 1 - range->fresh;
    runway->indices = range;
    runway->is_fresh = unused > 0 && used_on_page > 0 && range->fresh > range->first;
    if (runway->is_fresh)
        runway->left = smaller(left, smaller(ECS_PAGE_RECORDS - used_on_page, unused));
    else if (range->free_count >= ECS_FREE_INDICES_MIN && range->fresh > range->first)
        runway->left = smaller(left, range->free_count - ECS_FREE_INDICES_MIN + 1);
}

void ecs_structure_validate(const ecs_world* world) {
    const ecs_runway* runway = &world->storage->runway;
    if (runway->left == 0) return;
    BASE_ASSERT(runway->chunk && world->storage->held.count == 0);
    BASE_ASSERT(!runway->chunk->archetype->has_ops && !runway->chunk->archetype->on_create);
    BASE_ASSERT(runway->left <= runway->end - ecs_chunk_count(world->storage, runway->chunk));
    const ecs_entity_list *born = &world->tracker->created, *dead = &world->tracker->destroyed;
    BASE_ASSERT(runway->left <= born->capacity - born->count);
    BASE_ASSERT(runway->left <= dead->capacity - dead->count - world->storage->entity_count);
    const ecs_index_range* range = runway->indices;
    if (runway->is_fresh) {
        BASE_ASSERT(range->fresh % ECS_PAGE_RECORDS + runway->left <= ECS_PAGE_RECORDS);
        BASE_ASSERT(range->fresh + runway->left <= range->last + 1);
    } else {
        BASE_ASSERT(range->free_count + 1 >= ECS_FREE_INDICES_MIN + runway->left);
        BASE_ASSERT(range->fresh > range->last || range->fresh % ECS_PAGE_RECORDS == 0);
    }
}
