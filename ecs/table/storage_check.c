// SPDX-License-Identifier: MIT Every invariant of storage.h, checked one by one. Slow on purpose:
// it derives again what it checks.
#include "base/assert.h"
#include "table/entity.h"
#include "table/query_cache.h"
#include "table/storage.h"
#include "type/world.h"

static bool is_zero(const void* bytes, size_t size) {
    const uint8_t* at = bytes;
    for (size_t i = 0; i < size; i++)
        if (at[i] != 0) return false;
    return true;
}

static void check_rows(const ecs_world* world, const ecs_chunk* chunk, uint32_t count) {
    for (uint32_t row = 0; row < count; row++) {
        ecs_entity entity = chunk->entities[row];
        const ecs_record* record = ecs_record_find(world->storage, entity);
        BASE_ASSERT(record && "a row holds a handle that does not live");
        BASE_ASSERT(record->place == (chunk->id << ECS_ROW_BITS | row));
        BASE_ASSERT(world->storage->bindings[record->template_id].archetype == chunk->archetype);
    }
}

static void check_columns(const ecs_world* world, const ecs_chunk* chunk, uint32_t count) {
    const ecs_archetype* archetype = chunk->archetype;
    BASE_ASSERT(chunk->clean_end % 16 == 0 && chunk->clean_end <= chunk->capacity);
    BASE_ASSERT(chunk->clean_end >= count);
    if (archetype->is_soiled) return;
    BASE_ASSERT(is_zero(chunk->entities + count, (chunk->clean_end - count) * sizeof(ecs_entity)));
    const ecs_runway* runway = &world->storage->runway;
    if (runway->chunk == chunk) {
        BASE_ASSERT(runway->end >= count && runway->end <= chunk->clean_end);
        count = runway->end;
    }
    for (uint32_t i = 0; i < archetype->column_count + archetype->track_count; i++) {
        BASE_ASSERT((uintptr_t)chunk->columns[i] % BASE_CACHE_LINE_BYTES == 0);
        BASE_ASSERT(is_zero(ecs_chunk_cell(chunk, i, count),
                            (size_t)chunk->sizes[i] * (chunk->clean_end - count)));
    }
}

static void check_dirty(const ecs_chunk* chunk, uint32_t count) {
    for (uint32_t t = 0; t < chunk->archetype->track_count; t++) {
        const uint64_t* words = ecs_chunk_dirty(chunk, t);
        for (uint32_t row = 0; row < chunk->dirty_words * 64; row++) {
            if (!(words[row / 64] >> (row % 64) & 1)) continue;
            BASE_ASSERT(row < count);
            BASE_ASSERT(*ecs_chunk_summary(chunk, t) >> (row / ECS_DIRTY_ROWS_PER_SUMMARY) & 1);
        }
    }
}

// What look-ups by handle see.
static void check_place(const ecs_storage* storage, const ecs_chunk* chunk) {
    const ecs_archetype* archetype = chunk->archetype;
    const ecs_place* place = &storage->places[chunk->id];
    BASE_ASSERT(place->chunk == chunk && place->slots == archetype->lookup);
    BASE_ASSERT(archetype->chunk_count == 1 || chunk->capacity == archetype->rows_max);
    for (uint32_t i = 0; i < archetype->column_count; i++) {
        const ecs_slot* slot = &place->slots[archetype->columns[i].component];
        BASE_ASSERT(slot->column == i && slot->size == chunk->sizes[i]);
        BASE_ASSERT((const uint8_t*)chunk + slot->offset == (const uint8_t*)chunk->columns[i]);
    }
}

static uint64_t check_archetype(const ecs_world* world, const ecs_archetype* archetype) {
    const ecs_storage* storage = world->storage;
    uint64_t rows = 0;
    uint64_t room = 0;
    for (uint32_t i = 0; i < archetype->chunk_count; i++) {
        const ecs_chunk* chunk = archetype->chunks[i];
        uint32_t count = ecs_chunk_count(storage, chunk);
        BASE_ASSERT(chunk->archetype == archetype && chunk->index == i);
        BASE_ASSERT(count <= chunk->capacity);
        check_place(storage, chunk);
        BASE_ASSERT(chunk->capacity % 16 == 0 && chunk->capacity <= archetype->rows_max);
        BASE_ASSERT(i >= archetype->tail->index || count == archetype->rows_max);
        BASE_ASSERT(i <= archetype->tail->index || count == 0);
        BASE_ASSERT(chunk != archetype->tail || i == 0 || count > 0);
        check_rows(world, chunk, count);
        check_columns(world, chunk, count);
        check_dirty(chunk, count);
        rows += count;
        room += chunk->capacity;
    }
    BASE_ASSERT(rows == archetype->row_count && room == archetype->row_room);
    for (uint32_t i = 1; i < archetype->column_count; i++)
        BASE_ASSERT(archetype->columns[i - 1].component < archetype->columns[i].component);
    return rows;
}

static void check_ranges(const ecs_world* world) {
    const ecs_storage* storage = world->storage;
    for (uint32_t i = 0; i < 2; i++) {
        const ecs_index_range* range = &storage->ranges[i];
        uint32_t free_count = 0;
        for (uint32_t index = range->first; index <= range->last; index++) {
            const ecs_record_page* page = storage->pages[index >> ECS_PAGE_BITS];
            if (page == storage->zero_page) {
                BASE_ASSERT(index >= range->fresh || (world->is_mirror && i == 0));
                index |= ECS_PAGE_RECORDS - 1; // no index of it was used
                continue;
            }
            uint32_t bit = index & (ECS_PAGE_RECORDS - 1);
            bool lives = page->records[bit].life & ECS_LIFE_CREATED;
            bool is_free = page->free_words[bit / 64] >> (bit % 64) & 1;
            bool is_used = index < range->fresh;
            BASE_ASSERT(is_free == (is_used && !lives && !ecs_held_has_index(world, index)));
            BASE_ASSERT(is_used || !lives || (world->is_mirror && i == 0));
            free_count += is_free;
        }
        BASE_ASSERT(free_count == range->free_count);
    }
}

static void check_held(const ecs_world* world) {
    const ecs_held_handles* held = &world->storage->held;
    uint32_t counts[3] = {0, 0, 0};
    base_table_validate(&held->table);
    for (uint32_t i = 0; i < held->count; i++) {
        const ecs_held_handle* entry = &held->items[i];
        bool lives = ecs_is_alive(world, entry->handle);
        BASE_ASSERT(ecs_held_find(world, entry->handle) == entry);
        BASE_ASSERT(entry->references > 0 || entry->is_loading);
        BASE_ASSERT(!(lives && entry->is_loading));
        counts[0]++;
        counts[1] += !lives && !entry->is_loading;
        counts[2] += entry->is_loading;
    }
    BASE_ASSERT(counts[0] == held->count && counts[1] == held->allocated_count);
    BASE_ASSERT(counts[2] == held->loading_count);
}

void ecs_storage_validate(const ecs_world* world) {
    const ecs_storage* storage = world->storage;
    uint64_t rows = 0;
    uint32_t tracked = 0;
    ecs_runway_return(world);
    for (uint32_t i = 0; i < storage->archetype_count; i++) {
        BASE_ASSERT(storage->archetypes[i]->id == i);
        if (storage->archetypes[i]->track_count > 0)
            BASE_ASSERT(storage->tracked[tracked++] == storage->archetypes[i]);
        rows += check_archetype(world, storage->archetypes[i]);
    }
    BASE_ASSERT(rows == storage->entity_count && tracked == storage->tracked_count);
    uint32_t living = 0;
    for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(world, entity))
        living++;
    BASE_ASSERT(living == storage->entity_count);
    check_ranges(world);
    check_held(world);
    for (uint32_t i = 0; i < storage->query_count; i++)
        ecs_query_validate(world, storage->queries[i]);
}
