// SPDX-License-Identifier: MIT
// The runway: rows filled with a template's defaults before anybody asks for them.
//
// Entities often come in series of one template. Filling one row touches every column once, a line
// here and a line there; filling 64 rows column by column runs at the speed of memory. So when a template
// repeats, the next 1, 2, 4 .. 64 rows behind the count get its defaults, and a creation is left with a
// count, a record and the values that differ.
//
//     | rows that live | runway: defaults | zeros up to clean_end | ...
//                      ^ count            ^ end
//
// There is at most one in a world, on the tail chunk of an archetype of plain types. Rows behind the
// count must read as zeros while somebody walks, so the runway is closed (zeroed again) before a walk and
// before anything else touches the chunk's end. A runway that was closed before its end has misjudged
// the series: the next one starts small.
#include "table/runway.h"

#include "table/block.h"
#include "table/row.h"

enum { LENGTH_MAX = 64 };

void ecs_runway_close(ecs_world* world) {
    ecs_runway* runway = &world->storage->runway;
    ecs_chunk* chunk = runway->chunk;
    if (!chunk) return;
    runway->chunk = NULL;
    runway->left = 0;
    uint32_t count = ecs_chunk_count(world->storage, chunk);
    if (runway->end <= count) return;
    ecs_chunk_zero(chunk, count, runway->end);
    runway->template_id = ECS_TEMPLATE_NONE;
    runway->length = 0;
}

// Put defaults into the next rows. @return false when the chunk is full.
static bool extend(ecs_world* world, const ecs_binding* binding) {
    ecs_runway* runway = &world->storage->runway;
    ecs_chunk* chunk = runway->chunk;
    uint32_t row = ecs_chunk_count(world->storage, chunk);
    uint32_t length = runway->length == 0 ? 1 : runway->length * 2;
    if (length > LENGTH_MAX) length = LENGTH_MAX;
    uint32_t end = chunk->capacity - row < length ? chunk->capacity : row + length;
    if (end == row) return false;
    ecs_chunk_clean(chunk, end);
    ecs_rows_spread(chunk, row, end - row, binding);
    runway->length = length;
    runway->end = end;
    return true;
}

bool ecs_runway_take(ecs_world* world, const ecs_binding* binding, ecs_template_id template_id,
                     ecs_chunk** chunk, uint32_t* row) {
    ecs_runway* runway = &world->storage->runway;
    if (!runway->chunk || runway->template_id != template_id) return false;
    uint32_t* count = &world->storage->chunk_counts[runway->chunk->id];
    if (*count == runway->end && !extend(world, binding)) return false;
    *chunk = runway->chunk;
    *row = (*count)++;
    binding->archetype->row_count++;
    return true;
}

void ecs_runway_created(ecs_world* world, ecs_chunk* chunk, uint32_t row,
                        ecs_template_id template_id) {
    ecs_runway* runway = &world->storage->runway;
    if (runway->template_id == template_id) {
        if (runway->chunk) ecs_runway_close(world);
        runway->template_id = template_id;
        runway->chunk = chunk;
        runway->end = row + 1;
        return;
    }
    ecs_runway_close(world);
    *runway = (ecs_runway){.template_id = template_id};
}

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
    // As ecs_index_peek chooses; the page of the last index is there. Deaths in between change nothing:
    // never-used ones go first within a page, and of freed ones there are only more.
    uint32_t used_on_page = range->fresh % ECS_PAGE_RECORDS;
    uint32_t unused = range->last + 1 - range->fresh;
    runway->indices = range;
    runway->is_fresh = unused > 0 && used_on_page > 0 && range->fresh > range->first;
    if (runway->is_fresh)
        runway->left = smaller(left, smaller(ECS_PAGE_RECORDS - used_on_page, unused));
    else if (range->free_count >= ECS_FREE_INDICES_MIN && range->fresh > range->first)
        runway->left = smaller(left, range->free_count - ECS_FREE_INDICES_MIN + 1);
}
