// SPDX-License-Identifier: MIT
// Chunks: blocks of rows of one archetype.
//
// A block grows by doubling, from 1,024 rows on by four, until the archetype's rows_max, then
// further blocks are appended. Holes are filled with the archetype's last row, so that all chunks
// but the tail are full and a walk never asks whether a row is valid.
//
// A row that moves takes its dirty bit along; out of a chunk opened by a WRITE walk it arrives
// marked, since it was not compared yet.
#include "table/chunk.h"

#include "base/assert.h"
#include "table/archetype.h"
#include "table/block.h"
#include "table/bytes.h"
#include "table/cell.h"
#include "table/close_hole.h"
#include "table/query_cache.h"
#include "table/record.h"
#include "table/storage.h"
#include "type/type_registry.h"
#include "type/world.h"

#include <string.h>

// Type of a column, shadows too.
static const ecs_type* type_of(const ecs_archetype* archetype, uint32_t column) {
    if (column >= archetype->column_count)
        column = archetype->tracked[column - archetype->column_count];
    return archetype->columns[column].type;
}

static void move_columns(ecs_world* world, ecs_chunk* target, ecs_chunk* source, uint32_t count) {
    const ecs_archetype* archetype = source->archetype;
    memcpy(target->entities, source->entities, count * sizeof(ecs_entity));
    for (uint32_t i = 0; i < ecs_archetype_columns(archetype); i++) {
        const ecs_type* type = type_of(archetype, i);
        if (ecs_type_is_relocatable(type)) {
            memcpy(target->columns[i], source->columns[i], (size_t)source->sizes[i] * count);
            continue;
        }
        for (uint32_t row = 0; row < count; row++)
            ecs_cell_move(world, type, ecs_chunk_cell(target, i, row),
                          ecs_chunk_cell(source, i, row));
    }
}

// Make a block the one that look-ups find, and its capacity the archetype's.
static void publish(ecs_world* world, ecs_chunk* chunk) {
    ecs_archetype* archetype = chunk->archetype;
    for (uint32_t i = 0; i < archetype->column_count; i++) {
        uint32_t offset = (uint32_t)((const uint8_t*)chunk->columns[i] - (const uint8_t*)chunk);
        ecs_slot* slot = &archetype->lookup[archetype->columns[i].component];
        slot->offset = archetype->spans[i].offset = offset;
        if (slot->track == ECS_SLOT_NONE) continue;
        const uint64_t* marks = ecs_chunk_summary(chunk, slot->track);
        slot->marks =
            (uint16_t)((size_t)((const uint8_t*)marks - (const uint8_t*)chunk) / ECS_MARK_BYTES);
    }
    archetype->chunks[chunk->index] = chunk;
    world->storage->chunks[chunk->id] = chunk;
    world->storage->places[chunk->id] =
        (ecs_place){chunk, archetype->lookup, archetype, chunk->entities};
}

void ecs_runway_close(ecs_world* world) {
    ecs_runway* runway = &world->storage->runway;
    ecs_chunk* chunk = runway->chunk;
    if (!chunk) return;
    runway->chunk = NULL;
    runway->left = 0;
    uint32_t count = ecs_chunk_count(world->storage, chunk);
    if (runway->end <= count) return;
    ecs_archetype_soil(chunk->archetype, &world->storage->soiled);
    runway->template_id = ECS_TEMPLATE_NONE;
    runway->length = 0;
}

// Replace a block by one of another capacity; id, rows, marks stay.
static bool resize(ecs_world* world, ecs_chunk* chunk, uint32_t capacity) {
    if (world->storage->runway.chunk == chunk) ecs_runway_close(world);
    ecs_archetype* archetype = chunk->archetype;
    uint32_t count = ecs_chunk_count(world->storage, chunk);
    BASE_ASSERT(capacity >= count);
    ecs_chunk* fresh = ecs_block_create(world, archetype, capacity);
    if (!fresh) return false;
    fresh->id = chunk->id;
    fresh->index = chunk->index;
    archetype->row_room += capacity;
    archetype->row_room -= chunk->capacity;
    move_columns(world, fresh, chunk, count);
    for (uint32_t t = 0; t < archetype->track_count; t++) {
        fresh->written[t] = chunk->written[t];
        *ecs_chunk_summary(fresh, t) = *ecs_chunk_summary(chunk, t);
        memcpy(ecs_chunk_dirty(fresh, t), ecs_chunk_dirty(chunk, t),
               ecs_dirty_words(count) * sizeof(uint64_t));
    }
    fresh->clean_end = (count + 15) & ~15u;
    ecs_chunk_zero(fresh, count, fresh->clean_end);
    publish(world, fresh);
    ecs_queries_patch_chunk(world, fresh);
    base_release(world->allocator, chunk, chunk->bytes);
    return true;
}

static bool reserve_ids(ecs_world* world) {
    ecs_storage* storage = world->storage;
    if (storage->chunk_ids_free_count > 0 || storage->chunk_id_next < storage->chunk_capacity)
        return true;
    enum { ARRAYS = 4 };
    const base_allocator* allocator = world->allocator;
    const uint32_t old_capacity = storage->chunk_capacity;
    const uint32_t capacity = old_capacity == 0 ? 16 : old_capacity * 2;
    const size_t item_bytes[ARRAYS] = {sizeof(ecs_chunk*), sizeof(ecs_place), sizeof(uint32_t),
                                       sizeof(uint32_t)};
    void* old[ARRAYS] = {storage->chunks, storage->places, storage->chunk_counts,
                         storage->chunk_ids_free};
    void* grown[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) {
        grown[i] = base_allocate_zero(allocator, capacity * item_bytes[i]);
        if (grown[i]) continue;
        for (int j = 0; j < i; j++)
            base_release(allocator, grown[j], capacity * item_bytes[j]);
        return false;
    }
    for (int i = 0; i < ARRAYS; i++) {
        if (old[i]) memcpy(grown[i], old[i], old_capacity * item_bytes[i]);
        base_release(allocator, old[i], old_capacity * item_bytes[i]);
    }
    storage->chunks = grown[0];
    world->fast.places = storage->places = grown[1];
    world->fast.chunk_counts = storage->chunk_counts = grown[2];
    storage->chunk_ids_free = grown[3];
    storage->chunk_capacity = capacity;
    storage->runway.left = 0;
    return true;
}

static ecs_result add_chunk(ecs_world* world, ecs_archetype* archetype, uint32_t capacity) {
    ecs_storage* storage = world->storage;
    if (storage->chunk_ids_free_count == 0 && storage->chunk_id_next == ECS_CHUNKS_MAX)
        return ECS_ERR_FULL;
    if (!reserve_ids(world) || !ecs_queries_reserve_chunk(world, archetype) ||
        !BASE_ARRAY_RESERVE(world->allocator, archetype->chunks, archetype->chunk_capacity,
                            archetype->chunk_count + 1))
        return ECS_ERR_MEMORY;
    ecs_chunk* chunk = ecs_block_create(world, archetype, capacity);
    if (!chunk) return ECS_ERR_MEMORY;
    chunk->id = storage->chunk_ids_free_count > 0
                    ? storage->chunk_ids_free[--storage->chunk_ids_free_count]
                    : storage->chunk_id_next++;
    chunk->index = archetype->chunk_count++;
    archetype->row_room += capacity;
    publish(world, chunk);
    storage->chunk_counts[chunk->id] = 0;
    ecs_queries_add_chunk(world, chunk);
    return ECS_OK;
}

static void drop_last_chunk(ecs_world* world, ecs_archetype* archetype) {
    ecs_storage* storage = world->storage;
    ecs_chunk* chunk = archetype->chunks[archetype->chunk_count - 1];
    BASE_ASSERT(ecs_chunk_count(storage, chunk) == 0);
    if (storage->runway.chunk == chunk) ecs_runway_close(world);
    ecs_queries_drop_chunk(chunk);
    archetype->chunk_count--;
    archetype->row_room -= chunk->capacity;
    storage->chunks[chunk->id] = NULL;
    storage->places[chunk->id] = (ecs_place){0};
    storage->chunk_ids_free[storage->chunk_ids_free_count++] = chunk->id;
    base_release(world->allocator, chunk, chunk->bytes);
}

static uint32_t capacity_for(const ecs_archetype* archetype, uint64_t count) {
    uint32_t capacity = ECS_CHUNK_ROWS_MIN;
    while (capacity < count && capacity < archetype->rows_max)
        capacity *= 2;
    return capacity;
}

// Rows to make room for when `needed` do not fit. A large block becomes four times as large: pages
// that are not touched cost nothing, copies do (create_fresh_30k: 0.9 times its twin, 1.25 by
// twos).
static uint64_t grown_count(const ecs_chunk* chunk, uint64_t needed) {
    enum { LARGE_ROWS = 1024 };
    const uint64_t grown = chunk->capacity < LARGE_ROWS ? 0 : (uint64_t)chunk->capacity * 4;
    return needed > grown ? needed : grown;
}

ecs_result ecs_archetype_reserve(ecs_world* world, ecs_archetype* archetype, uint32_t count) {
    if (archetype->chunk_count == 0) {
        ecs_result result = add_chunk(world, archetype, capacity_for(archetype, count));
        if (result != ECS_OK) return result;
    }
    const ecs_storage* storage = world->storage;
    ecs_chunk* tail = archetype->chunks[archetype->tail];
    uint32_t used = ecs_chunk_count(storage, tail);
    if (count <= tail->capacity - used) return ECS_OK;
    if ((uint64_t)used + count > tail->capacity && tail->capacity < archetype->rows_max) {
        if (!resize(world, tail,
                    capacity_for(archetype, grown_count(tail, (uint64_t)used + count))))
            return ECS_ERR_MEMORY;
        tail = archetype->chunks[archetype->tail];
    }
    uint64_t room = tail->capacity - used;
    for (uint32_t i = archetype->tail + 1; i < archetype->chunk_count; i++)
        room += archetype->chunks[i]->capacity;
    uint32_t kept_count = archetype->chunk_count;
    while (room < count) {
        ecs_result result = add_chunk(world, archetype, archetype->rows_max);
        if (result != ECS_OK) {
            while (archetype->chunk_count > kept_count)
                drop_last_chunk(world, archetype);
            return result;
        }
        room += archetype->rows_max;
    }
    return ECS_OK;
}

ecs_chunk* ecs_archetype_tail(ecs_world* world, ecs_archetype* archetype) {
    ecs_chunk* chunk = archetype->chunks[archetype->tail];
    if (ecs_chunk_count(world->storage, chunk) < chunk->capacity) return chunk;
    BASE_ASSERT(archetype->tail + 1 < archetype->chunk_count);
    return archetype->chunks[++archetype->tail];
}

uint32_t ecs_chunk_append(ecs_world* world, ecs_chunk* chunk, uint32_t count) {
    if (world->storage->runway.chunk == chunk) ecs_runway_close(world);
    uint32_t row = ecs_chunk_count(world->storage, chunk);
    uint32_t end = row + count;
    BASE_ASSERT(end <= chunk->capacity);
    ecs_chunk_clean(chunk, end);
    world->storage->chunk_counts[chunk->id] = end;
    chunk->archetype->row_count += count;
    return row;
}

void ecs_chunk_retract(ecs_world* world, ecs_chunk* chunk, uint32_t count) {
    uint32_t* rows = &world->storage->chunk_counts[chunk->id];
    ecs_chunk_zero(chunk, *rows - count, *rows);
    *rows -= count;
    chunk->archetype->row_count -= count;
    if (*rows == 0 && chunk->archetype->tail > 0) chunk->archetype->tail--;
}

void ecs_archetype_trim_idle(ecs_world* world, ecs_archetype* archetype, uint32_t removed) {
    archetype->idle_removals += removed;
    if (archetype->idle_removals < archetype->row_room) return;
    archetype->idle_removals = 0;
    while (archetype->chunk_count > archetype->tail + 1)
        drop_last_chunk(world, archetype);
    ecs_chunk* tail = archetype->chunks[archetype->tail];
    uint32_t capacity = capacity_for(archetype, archetype->row_count * 2);
    if (archetype->tail == 0 && capacity < tail->capacity &&
        tail->bytes > ECS_CHUNK_SHRINK_BYTES_MIN) {
        // No memory for the smaller block: the larger one serves as well.
        (void)!resize(world, tail, capacity);
    }
}

void ecs_chunk_move_marks(ecs_chunk* to, uint32_t row, const ecs_chunk* from, uint32_t from_row) {
    for (uint32_t t = 0; t < to->archetype->track_count; t++) {
        bool is_dirty = ecs_chunk_dirty(from, t)[from_row / 64] >> (from_row % 64) & 1;
        if (is_dirty || (from->written[t] && !to->written[t])) ecs_chunk_mark_row(to, t, row);
    }
}

void ecs_chunk_clear_mark(ecs_chunk* chunk, uint32_t row) {
    for (uint32_t t = 0; t < chunk->archetype->track_count; t++)
        ecs_chunk_dirty(chunk, t)[row / 64] &= ~(1ull << (row % 64));
}

// The last row goes into a hole; its marks go with it.
static void fill_hole(ecs_world* world, ecs_chunk* hole, uint32_t row, ecs_chunk* last,
                      uint32_t last_row) {
    const ecs_archetype* archetype = hole->archetype;
    if (!archetype->has_ops) {
        for (uint32_t i = 0; i < ecs_archetype_columns(archetype); i++)
            ecs_bytes_copy(ecs_chunk_cell(hole, i, row), ecs_chunk_cell(last, i, last_row),
                           hole->sizes[i]);
    } else {
        for (uint32_t i = 0; i < ecs_archetype_columns(archetype); i++)
            ecs_cell_move(world, type_of(archetype, i), ecs_chunk_cell(hole, i, row),
                          ecs_chunk_cell(last, i, last_row));
    }
    ecs_chunk_move_marks(hole, row, last, last_row);
    ecs_entity moved = last->entities[last_row];
    hole->entities[row] = moved;
    ecs_record_mut(world->storage, ecs_entity_index(moved))->place = hole->id << ECS_ROW_BITS | row;
}

static void tidy(const ecs_storage* storage, ecs_archetype* archetype) {
    archetype->is_soiled = false;
    for (uint32_t i = archetype->tail; i < archetype->chunk_count; i++) {
        ecs_chunk* chunk = archetype->chunks[i];
        const uint32_t count = ecs_chunk_count(storage, chunk), end = (count + 15) & ~15u;
        if (chunk->clean_end <= count) continue;
        ecs_chunk_zero(chunk, count, end);
        chunk->clean_end = end;
    }
}

void ecs_storage_tidy(ecs_world* world) {
    ecs_storage* storage = world->storage;
    ecs_runway_close(world);
    while (storage->soiled) {
        ecs_archetype* archetype = storage->soiled;
        storage->soiled = archetype->soiled_next;
        tidy(storage, archetype);
    }
}

static void remove_any(ecs_world* world, ecs_chunk* chunk, uint32_t row, ecs_chunk* last,
                       uint32_t last_row) {
    ecs_chunk_clear_mark(chunk, row);
    if (last != chunk || last_row != row) {
        fill_hole(world, chunk, row, last, last_row);
        ecs_chunk_clear_mark(last, last_row);
    }
    ecs_chunk_retract(world, last, 1);
}

void ecs_chunk_remove(ecs_world* world, ecs_chunk* chunk, uint32_t row) {
    ecs_archetype* archetype = chunk->archetype;
    if (archetype->is_simple) {
        ecs_chunk_close_hole(world, world->storage, &world->storage->places[chunk->id],
                             chunk->id << ECS_ROW_BITS | row);
        return;
    }
    ecs_chunk* last = archetype->chunks[archetype->tail];
    if (world->storage->runway.chunk == last) ecs_runway_close(world);
    remove_any(world, chunk, row, last, ecs_chunk_count(world->storage, last) - 1);
    ecs_archetype_trim(world, archetype, 1);
}

// Rows [from, end) end, the last ones of the chunk: a few are made zero at once, of many only those
// that must be, and the others when rows are about to take their place again.
static void cut_rows(ecs_chunk* chunk, uint32_t from, uint32_t end) {
    if (end - from > ECS_CLEAN_ROWS) chunk->clean_end = end = (from + 15) & ~15u;
    ecs_chunk_zero(chunk, from, end);
}

void ecs_archetype_truncate(ecs_world* world, ecs_archetype* archetype, uint32_t count) {
    ecs_storage* storage = world->storage;
    BASE_ASSERT(!archetype->has_ops && !storage->runway.chunk);
    // Of removals one by one, those would be idle that found less than a quarter used.
    const uint64_t quarter = (archetype->row_room + 3) / 4;
    const uint64_t idle_from = archetype->row_count < quarter ? archetype->row_count : quarter;
    if (archetype->row_count > quarter) archetype->idle_removals = 0;
    while (archetype->row_count > count) {
        ecs_chunk* chunk = archetype->chunks[archetype->tail];
        uint32_t* rows = &storage->chunk_counts[chunk->id];
        uint64_t excess = archetype->row_count - count;
        uint32_t end = excess < *rows ? *rows - (uint32_t)excess : 0;
        for (uint32_t row = end; row < *rows && archetype->track_count > 0; row++)
            ecs_chunk_clear_mark(chunk, row);
        cut_rows(chunk, end, *rows);
        archetype->row_count -= *rows - end;
        *rows = end;
        if (end == 0 && archetype->tail > 0) archetype->tail--;
    }
    ecs_archetype_trim(world, archetype, idle_from > count ? (uint32_t)(idle_from - count) : 0);
}

void ecs_archetype_drop_chunk(ecs_world* world, ecs_archetype* archetype) {
    drop_last_chunk(world, archetype);
}
