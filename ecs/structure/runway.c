// SPDX-License-Identifier: MIT
// The runway: what the next creations of one template need, made ahead.
//
// Entities often come in series of one template. Filling one row touches every column once, a line
// here and a line there; filling many rows column by column runs at the speed of memory. So while a
// template repeats, the next 1, 2, 4 .. 1,024 rows after the count get its defaults. And it is
// counted once how many creations may follow without any check: rows, indices of one word or page,
// room in tracking's lists. A creation is left with a count, a record and the values that differ.
// The processor must see that a column goes on: with 64 rows at most create_single_30k takes 1.7
// times its twin instead of 1.2.
//
// Off, in ns an entity: create_1m 10.7 -> 34, create_recycled_1m 10.7 -> 34.5, create_single_30k
// 39 -> 105.
//
//     | rows that live | runway: defaults | zeros up to clean_end | ...
//                      ^ count            ^ end
//
// There is at most one in a world, on the tail chunk of an archetype of plain types that no handler
// listens to. It is closed before a walk, which finds zeros there (ecs_storage_tidy), and before
// anything else touches the chunk's end. A runway that was closed before its end has misjudged the
// series: the next one starts small.
#include "base/assert.h"
#include "structure/transition.h"

enum { LENGTH_MAX = 1024, BYTES_MAX = 1 << 20 };

// Put defaults into the next rows of the chunk: a single one where no runway goes on.
static void extend(ecs_runway* runway, ecs_chunk* chunk, uint32_t row, const ecs_binding* binding) {
    uint32_t length = 1;
    if (runway->chunk == chunk) {
        length = runway->length == 0 ? 1 : runway->length * 2;
        if (length > LENGTH_MAX || length * (chunk->bytes / chunk->capacity) > BYTES_MAX)
            length = (length + 1) / 2;
        runway->length = length;
    }
    // At a multiple of `length`, as clean_end: no row is made zero and then filled.
    uint32_t end = (row + length) / length * length;
    if (end > chunk->capacity) end = chunk->capacity;
    ecs_chunk_clean(chunk, end);
    ecs_rows_spread(chunk, row, end - row, binding);
    runway->chunk = chunk;
    runway->end = end;
}

// How many creations nothing is in the way of, from `index` on: those that would get the same
// indices one by one, whatever dies meanwhile. Never-used ones go first within a page, and of freed
// ones there are only more. Not the last index of the range, after which the walk begins again.
static uint32_t count_indices(const ecs_index_range* range, uint32_t index, uint64_t free_word) {
    if (index >= range->fresh) {
        const uint32_t on_page = ECS_PAGE_RECORDS - index % ECS_PAGE_RECORDS;
        const uint32_t unused = range->last + 1 - index;
        return on_page < unused ? on_page : unused;
    }
    uint64_t bits = free_word >> (index % 64);
    const uint32_t end = range->fresh < range->last ? range->fresh : range->last;
    if (end - index < 64) bits &= (1ull << (end - index)) - 1;
    const uint32_t ahead = (uint32_t)__builtin_popcountll(bits);
    const uint32_t spare = range->free_count - ECS_FREE_INDICES_MIN + 1;
    return ahead < spare ? ahead : spare;
}

ecs_result ecs_runway_prepare(ecs_world* world, ecs_template_id template_id) {
    ecs_storage* storage = world->storage;
    ecs_runway* runway = &storage->runway;
    const ecs_binding* binding = &storage->bindings[template_id];
    ecs_index_range* range = &storage->ranges[binding->is_replicated && !world->is_mirror ? 0 : 1];
    BASE_ASSERT(storage->held.count == 0);
    const uint32_t index = ecs_index_peek(world, (uint32_t)(range - storage->ranges));
    if (index == 0) return ECS_ERR_FULL;
    if (!ecs_record_reserve(world, index) || !ecs_row_reserve_lists(world, 1, 0))
        return ECS_ERR_MEMORY;
    ecs_chunk* chunk = NULL;
    ecs_result result = ecs_row_reserve(world, binding->archetype, &chunk);
    if (result != ECS_OK) return result;
    if (runway->template_id != template_id) {
        ecs_runway_close(world);
        *runway = (ecs_runway){.template_id = template_id};
    }
    const uint32_t row = ecs_chunk_count(storage, chunk);
    if (runway->chunk != chunk || row == runway->end) extend(runway, chunk, row, binding);
    ecs_record_page* page = storage->pages[index >> ECS_PAGE_BITS];
    runway->indices = range;
    runway->is_fresh = index >= range->fresh;
    if (!runway->is_fresh) range->cursor = index;
    runway->records = page->records;
    runway->free_word = &page->free_words[(index & (ECS_PAGE_RECORDS - 1)) / 64];
    runway->rows = &storage->chunk_counts[chunk->id];
    runway->row_count = &chunk->archetype->row_count;
    runway->entities = chunk->entities;
    runway->place = chunk->id << ECS_ROW_BITS;
    runway->lookup = chunk->lookup;
    runway->is_tracked = chunk->archetype->track_count > 0;
    runway->left = count_indices(range, index, *runway->free_word);
    const uint32_t room = ecs_track_room(world->tracker, storage->entity_count);
    if (runway->left > runway->end - row) runway->left = runway->end - row;
    if (runway->left > room) runway->left = room;
    return ECS_OK;
}

void ecs_runway_validate(const ecs_world* world) {
    const ecs_runway* runway = &world->storage->runway;
    if (runway->left == 0) return;
    BASE_ASSERT(runway->chunk && world->storage->held.count == 0);
    BASE_ASSERT(!runway->chunk->archetype->has_ops && !runway->chunk->archetype->notify);
    BASE_ASSERT(runway->left <= runway->end - ecs_chunk_count(world->storage, runway->chunk));
    BASE_ASSERT(runway->rows == &world->storage->chunk_counts[runway->chunk->id]);
    BASE_ASSERT(runway->left <= ecs_track_room(world->tracker, world->storage->entity_count));
    const ecs_index_range* range = runway->indices;
    if (runway->is_fresh) {
        BASE_ASSERT(range->fresh % ECS_PAGE_RECORDS + runway->left <= ECS_PAGE_RECORDS);
        BASE_ASSERT(range->fresh + runway->left <= range->last + 1);
    } else {
        BASE_ASSERT(range->free_count + 1 >= ECS_FREE_INDICES_MIN + runway->left);
        BASE_ASSERT(range->fresh > range->last || range->fresh % ECS_PAGE_RECORDS == 0);
    }
}
