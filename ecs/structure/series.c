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

// Freed indices from the cursor on, as far as one word of bits tells: those that creations take one
// after the other, whatever dies meanwhile. Not the last index of the range, behind which the
// cursor begins again.
static uint32_t freed_ahead(const ecs_storage* storage, const ecs_index_range* range) {
    const uint32_t cursor = range->cursor, first = cursor & ~63u;
    const uint32_t end = smaller(range->fresh, range->last);
    if (cursor >= end) return 0;
    const ecs_record_page* page = storage->pages[cursor >> ECS_PAGE_BITS];
    uint64_t bits = page->free_words[(cursor & (ECS_PAGE_RECORDS - 1)) / 64] >> (cursor - first);
    if (end - cursor < 64) bits &= (1ull << (end - cursor)) - 1;
    return (uint32_t)__builtin_popcountll(bits);
}

void ecs_runway_count(ecs_world* world) {
    ecs_storage* storage = world->storage;
    ecs_runway* runway = &storage->runway;
    runway->left = 0;
    if (!runway->chunk || storage->held.count > 0) return;
    const ecs_entity_list* born = &world->tracker->created;
    ecs_chunk* chunk = runway->chunk;
    uint32_t left = runway->end - ecs_chunk_count(storage, chunk);
    left = smaller(left, born->capacity - born->count);
    if (!ecs_track_is_ready(world->tracker, storage->entity_count + left)) return;
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
        runway->left = smaller(left, smaller(freed_ahead(storage, range),
                                             range->free_count - ECS_FREE_INDICES_MIN + 1));
    if (runway->left == 0) return;
    const uint32_t index = runway->is_fresh ? range->fresh : range->cursor;
    ecs_record_page* page = storage->pages[index >> ECS_PAGE_BITS];
    runway->records = page->records;
    runway->free_word = &page->free_words[(index & (ECS_PAGE_RECORDS - 1)) / 64];
    runway->rows = &storage->chunk_counts[chunk->id];
    runway->row_count = &chunk->archetype->row_count;
    runway->entities = chunk->entities;
    runway->place = chunk->id << ECS_ROW_BITS;
    runway->lookup = chunk->lookup;
    runway->is_tracked = chunk->archetype->track_count > 0;
}

void ecs_structure_validate(const ecs_world* world) {
    const ecs_runway* runway = &world->storage->runway;
    if (runway->left == 0) return;
    BASE_ASSERT(runway->chunk && world->storage->held.count == 0);
    BASE_ASSERT(!runway->chunk->archetype->has_ops && !runway->chunk->archetype->on_create);
    BASE_ASSERT(runway->left <= runway->end - ecs_chunk_count(world->storage, runway->chunk));
    const ecs_entity_list* born = &world->tracker->created;
    BASE_ASSERT(runway->left <= born->capacity - born->count);
    BASE_ASSERT(runway->rows == &world->storage->chunk_counts[runway->chunk->id]);
    const ecs_index_range* range = runway->indices;
    if (runway->is_fresh) {
        BASE_ASSERT(range->fresh % ECS_PAGE_RECORDS + runway->left <= ECS_PAGE_RECORDS);
        BASE_ASSERT(range->fresh + runway->left <= range->last + 1);
    } else {
        BASE_ASSERT(range->free_count + 1 >= ECS_FREE_INDICES_MIN + runway->left);
        BASE_ASSERT(range->fresh > range->last || range->fresh % ECS_PAGE_RECORDS == 0);
    }
}
