// SPDX-License-Identifier: MIT
// Chunks: blocks of rows of one archetype.
//
// A block grows by doubling, from 1,024 rows on by four, until the archetype's rows_max, then
// further blocks are appended. Holes are filled with the archetype's last row, so that all chunks
// but the tail are full and a walk never asks whether a row is valid.
//
// A row that moves takes its dirty bit along; out of a chunk opened by a WRITE walk it arrives
// marked, since it was not compared yet.
#include "table/storage.h"

#include "base/assert.h"
#include "table/query_cache.h"
#include "table/row.h"
#include "type/type_registry.h"
#include "type/world.h"

#include <string.h>

// One block of memory for a chunk: where columns lie in it, and which rows are zero.
//
//   | header, column pointers | summary and dirty bits | written | entities | col 0 .. | shadows |
//                             ^ 16, by tracked column            ^ 64       ^ 64, each skewed
//
// Every column starts on a cache line. Capacities are powers of two, so columns of 4 KiB and more
// would all start at the same place of a page: row i of each would fall into the same cache set,
// and a store to one would look like a hazard to the load from the next. Each column is therefore
// pushed SKEW_LINES lines further than the one before; 9 is odd, so 64 columns take 64 different
// lines, and far from 1, so that neighbours do not chase each other.
//
// A block is not cleared as a whole: rows are zeroed a few steps ahead of the count (clean_end),
// while the lines are about to be used anyway.

enum { SKEW_LINES = 9, SKEW_BYTES_MIN = 4096, KEPT_BYTES_MIN = 64 << 10 };

_Static_assert((sizeof(ecs_chunk) + 2 * ECS_TEMPLATE_COMPONENTS_MAX * sizeof(void*) +
                ECS_TEMPLATE_COMPONENTS_MAX * (ECS_CHUNK_ROWS_MAX / 64 + 2) * sizeof(uint64_t)) /
                       ECS_MARK_BYTES <
                   UINT16_MAX,
               "ecs_slot.marks reaches all marks of a block");

static size_t align_line(size_t offset) {
    return (offset + BASE_CACHE_LINE_BYTES - 1) & ~(size_t)(BASE_CACHE_LINE_BYTES - 1);
}

// Start of a column of `bytes` after `end`.
static size_t column_start(size_t end, size_t bytes) {
    size_t skew = bytes >= SKEW_BYTES_MIN ? SKEW_LINES * BASE_CACHE_LINE_BYTES : 0;
    return align_line(end) + skew;
}

static size_t head_bytes(const ecs_archetype* archetype) {
    const size_t bytes = sizeof(ecs_chunk) + ecs_archetype_columns(archetype) * sizeof(void*);
    return (bytes + ECS_MARK_BYTES - 1) & ~(size_t)(ECS_MARK_BYTES - 1);
}

// Words of the marks of one tracked column: a summary and dirty bits, in whole units.
static uint32_t mark_words(uint32_t capacity) {
    return (1 + ecs_dirty_words(capacity) + 1) & ~1u;
}

// Offsets: [0] entities, [1 + column]. @return bytes of the block.
size_t ecs_chunk_layout(const ecs_archetype* archetype, uint32_t capacity, size_t* offsets) {
    size_t end = head_bytes(archetype);
    end += archetype->track_count * (sizeof(uint64_t) * mark_words(capacity) + 1);
    for (uint32_t i = 0; i <= ecs_archetype_columns(archetype); i++) {
        size_t bytes = (size_t)capacity * (i == 0 ? sizeof(ecs_entity) : archetype->sizes[i - 1]);
        size_t start = column_start(end, bytes);
        if (offsets) offsets[i] = start;
        end = start + bytes;
    }
    return align_line(end);
}

void ecs_block_release(const ecs_world* world, ecs_chunk* chunk) {
    ecs_storage* storage = world->storage;
    if (!storage->keeps_blocks || chunk->bytes < KEPT_BYTES_MIN) {
        base_release(world->allocator, chunk, chunk->bytes);
        return;
    }
    *chunk = (ecs_chunk){.bytes = chunk->bytes, .next_kept = storage->kept_blocks};
    storage->kept_blocks = chunk;
}

void ecs_blocks_drop_kept(const ecs_world* world) {
    ecs_storage* storage = world->storage;
    while (storage->kept_blocks) {
        ecs_chunk* chunk = storage->kept_blocks;
        storage->kept_blocks = chunk->next_kept;
        base_release(world->allocator, chunk, chunk->bytes);
    }
}

// One that is kept, else a new one.
static ecs_chunk* take_block(const ecs_world* world, size_t bytes) {
    ecs_storage* storage = world->storage;
    for (ecs_chunk** at = &storage->kept_blocks; *at; at = &(*at)->next_kept) {
        ecs_chunk* chunk = *at;
        if (chunk->bytes != bytes) continue;
        *at = chunk->next_kept;
        return chunk;
    }
    return base_allocate(world->allocator, bytes);
}

// A block with its header filled and no rows.
static ecs_chunk* block_create(const ecs_world* world, ecs_archetype* archetype,
                               uint32_t capacity) {
    size_t offsets[2 * ECS_TEMPLATE_COMPONENTS_MAX + 1];
    size_t bytes = ecs_chunk_layout(archetype, capacity, offsets);
    ecs_chunk* chunk = take_block(world, bytes);
    memset(chunk, 0, offsets[0]);
    uint8_t* block = (uint8_t*)chunk;
    chunk->capacity = capacity;
    chunk->bytes = bytes;
    chunk->lookup = archetype->lookup;
    chunk->sizes = archetype->sizes;
    chunk->archetype = archetype;
    chunk->entities = (ecs_entity*)(void*)(block + offsets[0]);
    chunk->marks = (uint64_t*)(void*)(block + head_bytes(archetype));
    chunk->mark_words = mark_words(capacity);
    chunk->dirty_words = ecs_dirty_words(capacity);
    chunk->written = (uint8_t*)(chunk->marks + (size_t)archetype->track_count * chunk->mark_words);
    for (uint32_t i = 0; i < ecs_archetype_columns(archetype); i++)
        chunk->columns[i] = block + offsets[i + 1];
    return chunk;
}

// Zero all columns of rows [from, end).
static void chunk_zero(ecs_chunk* chunk, uint32_t from, uint32_t end) {
    if (from >= end) return;
    if (end - from == 1) {
        chunk->entities[from] = ECS_ENTITY_NONE;
        for (uint32_t i = 0; i < ecs_archetype_columns(chunk->archetype); i++)
            ecs_bytes_zero(ecs_chunk_cell(chunk, i, from), chunk->sizes[i]);
        return;
    }
    memset(chunk->entities + from, 0, (end - from) * sizeof(ecs_entity));
    for (uint32_t i = 0; i < ecs_archetype_columns(chunk->archetype); i++) {
        size_t size = chunk->sizes[i];
        memset((uint8_t*)chunk->columns[i] + size * from, 0, size * (end - from));
    }
}

void ecs_chunk_clean(ecs_chunk* chunk, uint32_t end) {
    if (end <= chunk->clean_end) return;
    uint32_t clean_end = (end + ECS_CLEAN_ROWS - 1) & ~(ECS_CLEAN_ROWS - 1);
    if (clean_end > chunk->capacity) clean_end = chunk->capacity;
    // Handles of rows that are only prepared stay zero.
    memset(chunk->entities + chunk->clean_end, 0,
           (clean_end - chunk->clean_end) * sizeof(ecs_entity));
    chunk_zero(chunk, end, clean_end);
    chunk->clean_end = clean_end;
}

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
    world->storage->places[chunk->id] =
        (ecs_place){chunk, archetype->lookup, archetype, chunk->entities};
}

void ecs_runway_close(ecs_world* world) {
    ecs_runway* runway = &world->storage->runway;
    ecs_chunk* chunk = runway->chunk;
    if (!chunk) return;
    ecs_runway_return(world);
    runway->chunk = NULL;
    uint32_t count = ecs_chunk_count(world->storage, chunk);
    if (runway->end <= count) return;
    ecs_archetype_soil(chunk->archetype, &world->storage->soiled);
    runway->template_id = ECS_TEMPLATE_NONE;
    runway->length = 0;
}

void ecs_runway_disturb(ecs_world* world, const ecs_archetype* archetype) {
    ecs_runway_return(world);
    if (world->storage->runway.chunk->archetype == archetype) ecs_runway_close(world);
}

// Replace the tail's block by one of another capacity; id, rows, marks stay.
static void resize_tail(ecs_world* world, ecs_archetype* archetype, uint32_t capacity) {
    ecs_chunk* chunk = archetype->tail;
    if (world->storage->runway.chunk == chunk) ecs_runway_close(world);
    uint32_t count = ecs_chunk_count(world->storage, chunk);
    BASE_ASSERT(capacity >= count);
    ecs_chunk* fresh = block_create(world, archetype, capacity);
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
    chunk_zero(fresh, count, fresh->clean_end);
    publish(world, fresh);
    archetype->tail = fresh;
    ecs_queries_patch_chunk(world, fresh);
    base_release(world->allocator, chunk, chunk->bytes);
}

static void reserve_ids(ecs_world* world) {
    ecs_storage* storage = world->storage;
    if (storage->chunk_ids_free_count > 0 || storage->chunk_id_next < storage->chunk_capacity)
        return;
    const base_allocator* allocator = world->allocator;
    uint32_t capacities[2] = {storage->chunk_capacity, storage->chunk_capacity};
    const uint32_t needed = storage->chunk_capacity + 1;
    ecs_runway_return(world);
    BASE_ARRAY_RESERVE(allocator, storage->places, capacities[0], needed);
    BASE_ARRAY_RESERVE(allocator, storage->chunk_counts, capacities[1], needed);
    BASE_ARRAY_RESERVE(allocator, storage->chunk_ids_free, storage->chunk_capacity, needed);
    world->fast.places = storage->places;
    world->fast.chunk_counts = storage->chunk_counts;
}

static ecs_result add_chunk(ecs_world* world, ecs_archetype* archetype, uint32_t capacity) {
    ecs_storage* storage = world->storage;
    if (storage->chunk_ids_free_count == 0 && storage->chunk_id_next == ECS_CHUNKS_MAX)
        return ECS_ERR_FULL;
    reserve_ids(world);
    BASE_ARRAY_RESERVE(world->allocator, archetype->chunks, archetype->chunk_capacity,
                       archetype->chunk_count + 1);
    ecs_chunk* chunk = block_create(world, archetype, capacity);
    chunk->id = storage->chunk_ids_free_count > 0
                    ? storage->chunk_ids_free[--storage->chunk_ids_free_count]
                    : storage->chunk_id_next++;
    chunk->index = archetype->chunk_count++;
    archetype->row_room += capacity;
    publish(world, chunk);
    if (!archetype->tail) archetype->tail = chunk;
    storage->chunk_counts[chunk->id] = 0;
    ecs_queries_add_chunk(world, chunk);
    return ECS_OK;
}

// Drop the last chunk, which has no rows.
static void drop_chunk(ecs_world* world, ecs_archetype* archetype) {
    ecs_storage* storage = world->storage;
    ecs_chunk* chunk = archetype->chunks[archetype->chunk_count - 1];
    BASE_ASSERT(ecs_chunk_count(storage, chunk) == 0);
    if (storage->runway.chunk == chunk) ecs_runway_close(world);
    ecs_queries_drop_chunk(chunk);
    archetype->chunk_count--;
    archetype->row_room -= chunk->capacity;
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
    const ecs_chunk* tail = archetype->tail;
    uint32_t used = ecs_chunk_count(storage, tail);
    if (count <= tail->capacity - used) return ECS_OK;
    if ((uint64_t)used + count > tail->capacity && tail->capacity < archetype->rows_max) {
        resize_tail(world, archetype,
                    capacity_for(archetype, grown_count(tail, (uint64_t)used + count)));
        tail = archetype->tail;
    }
    uint64_t room = tail->capacity - used;
    for (uint32_t i = tail->index + 1; i < archetype->chunk_count; i++)
        room += archetype->chunks[i]->capacity;
    uint32_t kept_count = archetype->chunk_count;
    while (room < count) {
        ecs_result result = add_chunk(world, archetype, archetype->rows_max);
        if (result != ECS_OK) {
            while (archetype->chunk_count > kept_count)
                drop_chunk(world, archetype);
            return result;
        }
        room += archetype->rows_max;
    }
    return ECS_OK;
}

ecs_chunk* ecs_archetype_tail(ecs_world* world, ecs_archetype* archetype) {
    ecs_chunk* chunk = archetype->tail;
    if (ecs_chunk_count(world->storage, chunk) < chunk->capacity) return chunk;
    BASE_ASSERT(chunk->index + 1 < archetype->chunk_count);
    return archetype->tail = archetype->chunks[chunk->index + 1];
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
    chunk_zero(chunk, *rows - count, *rows);
    *rows -= count;
    chunk->archetype->row_count -= count;
    if (*rows == 0) ecs_archetype_step_back(chunk->archetype);
}

void ecs_archetype_trim_idle(ecs_world* world, ecs_archetype* archetype, uint32_t removed) {
    archetype->idle_removals += removed;
    if (archetype->idle_removals < archetype->row_room) return;
    archetype->idle_removals = 0;
    const ecs_chunk* tail = archetype->tail;
    while (archetype->chunk_count > tail->index + 1)
        drop_chunk(world, archetype);
    uint32_t capacity = capacity_for(archetype, archetype->row_count * 2);
    if (tail->index == 0 && capacity < tail->capacity && tail->bytes > ECS_CHUNK_SHRINK_BYTES_MIN)
        resize_tail(world, archetype, capacity);
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
    for (uint32_t i = archetype->tail->index; i < archetype->chunk_count; i++) {
        ecs_chunk* chunk = archetype->chunks[i];
        const uint32_t count = ecs_chunk_count(storage, chunk), end = (count + 15) & ~15u;
        if (chunk->clean_end <= count) continue;
        chunk_zero(chunk, count, end);
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
    if (world->storage->runway.chunk) ecs_runway_disturb(world, archetype);
    if (archetype->is_simple) {
        ecs_chunk_close_hole(world, world->storage, &world->storage->places[chunk->id],
                             chunk->id << ECS_ROW_BITS | row);
        return;
    }
    ecs_chunk* last = archetype->tail;
    remove_any(world, chunk, row, last, ecs_chunk_count(world->storage, last) - 1);
    ecs_archetype_trim(world, archetype, 1);
}

void ecs_archetype_truncate(ecs_world* world, ecs_archetype* archetype, uint32_t count) {
    ecs_storage* storage = world->storage;
    BASE_ASSERT(!archetype->has_ops && !storage->runway.chunk);
    // Of removals one by one, those would be idle that found less than a quarter used.
    const uint64_t quarter = (archetype->row_room + 3) / 4;
    const uint64_t idle_from = archetype->row_count < quarter ? archetype->row_count : quarter;
    if (archetype->row_count > quarter) archetype->idle_removals = 0;
    while (archetype->row_count > count) {
        ecs_chunk* chunk = archetype->tail;
        uint32_t* rows = &storage->chunk_counts[chunk->id];
        uint64_t excess = archetype->row_count - count;
        uint32_t end = excess < *rows ? *rows - (uint32_t)excess : 0;
        for (uint32_t row = end; row < *rows && archetype->track_count > 0; row++)
            ecs_chunk_clear_mark(chunk, row);
        // A few rows that end are made zero at once. Of many only those that must be, and the
        // others when rows are about to take their place again.
        uint32_t zero_end = *rows;
        if (zero_end - end > ECS_CLEAN_ROWS) chunk->clean_end = zero_end = (end + 15) & ~15u;
        chunk_zero(chunk, end, zero_end);
        archetype->row_count -= *rows - end;
        *rows = end;
        if (end == 0) ecs_archetype_step_back(archetype);
    }
    ecs_archetype_trim(world, archetype, idle_from > count ? (uint32_t)(idle_from - count) : 0);
}

// Reading a query: open a walk, find one entity, count rows.
//
// The walk itself is inline (ecs/query.h) and reads the cache that query.c fills. A walk may read
// past the count of a chunk and must find zeros there, so the storage is tidied first.

// A system that declares what it touches may walk no more than that.
static void check_terms(const ecs_world* world, const ecs_query* query) {
    for (uint32_t i = 0; i < query->term_count; i++) {
        const ecs_access access = query->access[i];
        const bool is_write = ecs_access_is_write(access);
        if (access <= ECS_OPTIONAL_WRITE && query->components[i] != ECS_COMPONENT_NONE)
            world->fast.check(world, query->components[i], is_write);
    }
}

const ecs_query_cache* ecs_query_open(ecs_world* world, ecs_query* query) {
    // A query that never matched has no array to point into.
    static const uintptr_t nothing[1];
    static const ecs_query_cache empty = {.entries = (uintptr_t*)nothing};
    BASE_ASSERT(world->is_sealed && "seal the world before queries are walked");
    if (world->fast.check) check_terms(world, query);
    ecs_storage_tidy(world);
    return query->cache.entry_count == 0 ? &empty : &query->cache;
}

uint32_t ecs_query_count(ecs_world* world, ecs_query* query) {
    uint64_t count = 0;
    (void)world;
    for (uint32_t i = 0; i < query->group->match_count; i++)
        count += query->group->matches[i]->row_count;
    return (uint32_t)count;
}

ecs_entity ecs_query_first(ecs_world* world, ecs_query* query) {
    (void)world;
    for (uint32_t i = 0; i < query->group->match_count; i++) {
        const ecs_archetype* archetype = query->group->matches[i];
        if (archetype->row_count > 0) return archetype->chunks[0]->entities[0];
    }
    return ECS_ENTITY_NONE;
}

ecs_entity ecs_query_nth(ecs_world* world, ecs_query* query, uint32_t index) {
    ecs_query_iter it = ecs_query_begin(world, query);
    while (ecs_query_next(&it)) {
        if (index < it.rows.count) {
            const ecs_entity found = it.rows.entities[index];
            ecs_query_end(&it);
            return found;
        }
        index -= it.rows.count;
    }
    return ECS_ENTITY_NONE;
}

bool ecs_query_find(ecs_world* world, ecs_query* query, ecs_entity entity, ecs_query_iter* iter) {
    if (world->fast.check) check_terms(world, query);
    const ecs_record* record = ecs_record_find(world->storage, entity);
    if (!record) return false;
    const ecs_chunk* chunk = ecs_record_chunk(world->storage, record);
    const ecs_match* match = ecs_query_match(query, chunk->archetype);
    if (!match) return false;
    uint32_t row = ecs_record_row(record);
    for (uint32_t i = 0; i < query->term_count; i++) {
        uint16_t column = match->columns[i];
        iter->columns[i] = column == ECS_SLOT_NONE ? NULL : ecs_chunk_cell(chunk, column, row);
    }
    for (uint32_t i = 0; i < query->cache.mark_count && chunk->archetype->track_count > 0; i++) {
        uint16_t column = match->columns[query->write_terms[i]];
        if (column == ECS_SLOT_NONE) continue;
        uint16_t track = chunk->archetype->columns[column].track;
        if (track != ECS_SLOT_NONE) ecs_chunk_mark_row(chunk, track, row);
    }
    iter->rows.count = 1;
    iter->rows.entities = chunk->entities + row;
    iter->rows.columns = iter->columns;
    iter->world = NULL; // no walk is open: nothing to end
    iter->entry = iter->end = NULL;
    return true;
}
