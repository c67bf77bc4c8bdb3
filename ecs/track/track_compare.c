// SPDX-License-Identifier: MIT
// The compare of tracked columns: what was marked against its shadow.
//
// A WRITE walk marks the whole column of a chunk, a write by handle marks one row. Whole columns
// are compared 128 bytes at a time, single rows one by one. A row that differs is listed, its
// shadow brought up to date, and the sum of hashes corrected by the difference.
#include "base/assert.h"
#include "base/hash.h"
#include "table/archetype.h"
#include "table/bytes.h"
#include "table/chunk.h"
#include "table/record.h"
#include "table/storage.h"
#include "track/track.h"
#include "track/track_cells.h"
#include "type/type_registry.h"
#include "type/world.h"

#include <string.h>

static ecs_track_cells column_of(const ecs_world* world, const ecs_chunk* chunk, uint32_t track) {
    BASE_ASSERT(track < chunk->archetype->track_count);
    const ecs_archetype* archetype = chunk->archetype;
    const ecs_column* column = &archetype->columns[archetype->tracked[track]];
    return (ecs_track_cells){
        .type = column->type,
        .component = column->component,
        .name_hash = ecs_component_get(world, column->component)->name_hash,
        .entities = chunk->entities,
        .values = chunk->columns[archetype->tracked[track]],
        .shadows = chunk->columns[archetype->column_count + track],
        .size = column->size,
    };
}

static uint64_t cell_hash(const ecs_track_cells* column, const void* cell, uint32_t row) {
    return ecs_type_hash(column->type, cell,
                         base_hash64_mix(column->name_hash, column->entities[row]));
}

static uint64_t shadow_hash(const ecs_track_cells* column, uint32_t row) {
    return cell_hash(column, column->shadows + column->size * row, row);
}

void ecs_track_count_row(ecs_world* world, const ecs_chunk* chunk, uint32_t row, bool is_added) {
    BASE_ASSERT(row < chunk->capacity);
    for (uint32_t track = 0; track < chunk->archetype->track_count; track++) {
        ecs_track_cells column = column_of(world, chunk, track);
        uint64_t hash = shadow_hash(&column, row);
        world->tracker->hashes[column.component] += is_added ? hash : 0 - hash;
    }
}

static bool push_change(const ecs_world* world, ecs_change_list* list, ecs_entity entity,
                        ecs_component_id component) {
    if (list->count == list->capacity &&
        !BASE_ARRAY_RESERVE(world->allocator, list->items, list->capacity, list->count + 1))
        return false;
    list->items[list->count++] = (ecs_change){entity, component};
    return true;
}

// Handlers do not see a lost change and clients do not get it: the caller that steps the world
// looks at the counter.
static void list_change(ecs_world* world, ecs_entity entity, ecs_component_id component) {
    ecs_tracker* tracker = world->tracker;
    if (ecs_component_set_has(&tracker->watched, component) &&
        !push_change(world, &tracker->noticed, entity, component))
        world->counters.changes_lost++;
    uint32_t index = ecs_entity_index(entity);
    if (tracker->fresh_count > 0 && base_bitset_has(&tracker->fresh, index))
        return; // a reader of the created list reads its values
    if (!push_change(world, &tracker->changed, entity, component)) world->counters.changes_lost++;
}

// Rows of a column that have another value, and what it makes of the sum of hashes.
static void count_changes(ecs_world* world, const ecs_track_cells* column, const uint32_t* rows,
                          uint32_t count, uint64_t difference) {
    BASE_ASSERT(column->component != ECS_COMPONENT_NONE);
    if (count == 0) return;
    world->tracker->hashes[column->component] += difference;
    world->counters.rows_changed += count;
    ecs_change_list* list = &world->tracker->changed;
    if (world->tracker->fresh_count > 0 ||
        ecs_component_set_has(&world->tracker->watched, column->component) ||
        !BASE_ARRAY_RESERVE(world->allocator, list->items, list->capacity, list->count + count)) {
        for (uint32_t i = 0; i < count; i++)
            list_change(world, column->entities[rows[i]], column->component);
        return;
    }
    ecs_change* items = list->items + list->count;
    for (uint32_t i = 0; i < count; i++)
        items[i] = (ecs_change){column->entities[rows[i]], column->component};
    list->count += count;
}

// Does a row whose bytes differ hold another value? Not when they spell a NaN differently: the
// hashes are equal then, so the slow compare is asked only where they are.
static bool is_changed(const ecs_track_cells* column, uint32_t row, const void* shadow,
                       const void* value, uint64_t* difference) {
    uint64_t before = cell_hash(column, shadow, row);
    uint64_t after = cell_hash(column, value, row);
    *difference += after - before;
    return before != after || !ecs_type_equal(column->type, shadow, value);
}

static uint64_t sum_hashes(const ecs_track_cells* column, const void* cells, const uint32_t* rows,
                           uint32_t count) {
    return base_hash64_rows(cells, column->size, column->entities, column->name_hash, rows, count);
}

uint64_t ecs_track_sum(const ecs_world* world, const ecs_chunk* chunk, uint32_t track, uint32_t row,
                       uint32_t count) {
    BASE_ASSERT(row + count <= chunk->capacity);
    const uint32_t end = row + count;
    ecs_track_cells column = column_of(world, chunk, track);
    ecs_track_learn(&column);
    uint64_t sum = 0;
    for (uint32_t first = row, some; first < end; first += some) {
        uint32_t rows[ECS_TRACK_ROWS_MAX], flat[ECS_TRACK_ROWS_MAX], next = 0;
        some = end - first < ECS_TRACK_ROWS_MAX ? end - first : ECS_TRACK_ROWS_MAX;
        for (uint32_t i = 0; i < some; i++)
            rows[i] = first + i;
        const uint32_t flat_count = ecs_track_find_flat(&column, rows, some, flat);
        for (uint32_t i = 0; i < some && flat_count < some; i++) {
            if (next < flat_count && flat[next] == rows[i])
                next++;
            else
                sum += shadow_hash(&column, rows[i]);
        }
        sum += sum_hashes(&column, column.shadows, flat, flat_count);
    }
    return sum;
}

void ecs_track_count_rows(ecs_world* world, const ecs_chunk* chunk, uint32_t row, uint32_t count,
                          bool is_added) {
    const ecs_archetype* archetype = chunk->archetype;
    for (uint32_t track = 0; track < archetype->track_count; track++) {
        const uint64_t sum = ecs_track_sum(world, chunk, track, row, count);
        world->tracker->hashes[archetype->columns[archetype->tracked[track]].component] +=
            is_added ? sum : 0 - sum;
    }
}

// Compare rows of plain bytes. The hashes of those that differ are computed together, in half of
// the time that one after the other takes (change_find).
static void change_dense_rows(ecs_world* world, const ecs_track_cells* column, const uint32_t* rows,
                              uint32_t count) {
    uint32_t changed[ECS_TRACK_ROWS_MAX], flat[ECS_TRACK_ROWS_MAX];
    uint32_t changed_count = 0, next = 0;
    uint64_t difference = 0;
    BASE_ASSERT(count <= ECS_TRACK_ROWS_MAX);
    const uint32_t flat_count = ecs_track_find_flat(column, rows, count, flat);
    for (uint32_t i = 0; i < count && flat_count < count; i++) {
        const size_t at = column->size * rows[i];
        if (next < flat_count && flat[next] == rows[i])
            changed[changed_count++] = flat[next++];
        else if (is_changed(column, rows[i], column->shadows + at, column->values + at,
                            &difference))
            changed[changed_count++] = rows[i];
    }
    if (flat_count > 0)
        difference +=
            base_hash64_rows_change(column->shadows, column->values, column->size, column->entities,
                                    column->name_hash, flat, flat_count);
    ecs_track_update_shadows(column, rows, count);
    if (flat_count == count)
        count_changes(world, column, rows, count, difference);
    else
        count_changes(world, column, changed, changed_count, difference);
}

// Compare one row of which the bytes are not all.
static void compare_row(ecs_world* world, ecs_track_cells* column, uint32_t row) {
    const void* value = column->values + column->size * row;
    void* shadow = column->shadows + column->size * row;
    if (ecs_value_is_untouched(column->type, shadow, value)) return;
    if (ecs_type_equal(column->type, shadow, value)) {
        ecs_type_context context = {world->allocator};
        if (column->type->ops && column->type->ops->version)
            (void)ecs_value_compare(column->type, &context, shadow, value); // the versions meet
        return;
    }
    uint64_t before = shadow_hash(column, row);
    if (ecs_type_is_plain(column->type)) {
        memcpy(shadow, value, column->size);
    } else {
        ecs_type_context context = {world->allocator};
        (void)ecs_value_compare(column->type, &context, shadow, value);
        column->is_behind |=
            column->type->ops->equal && !ecs_type_equal(column->type, shadow, value);
    }
    count_changes(world, column, &row, 1, shadow_hash(column, row) - before);
}

static void compare_rows(ecs_world* world, ecs_track_cells* column, const uint32_t* rows,
                         uint32_t count) {
    for (uint32_t i = 0; i < count && !column->is_dense; i++)
        compare_row(world, column, rows[i]);
    if (!column->is_dense) return;
    uint32_t changed[ECS_TRACK_ROWS_MAX];
    change_dense_rows(world, column, changed, ecs_track_find_among(column, rows, count, changed));
}

// Large blocks first, then small ones, then their rows. A row that straddles two blocks is looked
// at once.
static void compare_dense(ecs_world* world, ecs_track_cells* column, uint32_t count) {
    enum { LARGE_BYTES = 4096, SMALL_BYTES = 128 };
    const size_t bytes = column->size * count;
    uint32_t rows[ECS_TRACK_ROWS_MAX];
    uint32_t gathered = 0, next_row = 0;
    for (size_t large = 0;
         (large = ecs_track_find_difference(column, large, bytes, LARGE_BYTES)) < bytes;
         large += LARGE_BYTES) {
        const size_t end = large + LARGE_BYTES < bytes ? large + LARGE_BYTES : bytes;
        for (size_t at = large;
             (at = ecs_track_find_difference(column, at, end, SMALL_BYTES)) < end;
             at += SMALL_BYTES) {
            const size_t last = at + SMALL_BYTES < end ? at + SMALL_BYTES : end;
            if (next_row < at / column->size) next_row = (uint32_t)(at / column->size);
            const uint32_t end_row = (uint32_t)((last + column->size - 1) / column->size);
            for (uint32_t some; next_row < end_row; next_row += some) {
                const uint32_t room = ECS_TRACK_ROWS_MAX - gathered;
                some = end_row - next_row < room ? end_row - next_row : room;
                gathered += ecs_track_find_rows(column, next_row, next_row + some, rows + gathered);
                if (gathered < ECS_TRACK_ROWS_MAX) continue;
                change_dense_rows(world, column, rows, gathered);
                gathered = 0;
            }
        }
    }
    change_dense_rows(world, column, rows, gathered);
}

static void compare_written(ecs_world* world, ecs_track_cells* column, uint32_t count) {
    world->counters.rows_compared += count;
    if (column->is_dense) {
        compare_dense(world, column, count);
        return;
    }
    for (uint32_t row = 0; row < count; row++)
        compare_row(world, column, row);
}

// Rows written by handle: the summary finds the words, the words find the rows. They lie apart, so
// some are gathered and asked for before the first is compared.
static void compare_marked(ecs_world* world, ecs_track_cells* column, const ecs_chunk* chunk,
                           uint32_t track) {
    const uint64_t* words = ecs_chunk_dirty(chunk, track);
    const uint32_t words_per_bit = ECS_DIRTY_ROWS_PER_SUMMARY / 64;
    uint32_t rows[ECS_TRACK_ROWS_MAX];
    uint32_t count = 0;
    for (uint64_t left = *ecs_chunk_summary(chunk, track); left != 0; left &= left - 1) {
        uint32_t first = base_bit_lowest(left) * words_per_bit;
        for (uint32_t word = first; word < first + words_per_bit && word < chunk->dirty_words;
             word++) {
            for (uint64_t bits = words[word]; bits != 0; bits &= bits - 1) {
                uint32_t row = word * 64 + base_bit_lowest(bits);
                __builtin_prefetch(column->values + column->size * row);
                __builtin_prefetch(column->shadows + column->size * row, 1);
                __builtin_prefetch(column->entities + row);
                rows[count++] = row;
            }
            if (count >= ECS_TRACK_ROWS_GATHERED) {
                world->counters.rows_compared += count;
                compare_rows(world, column, rows, count);
                count = 0;
            }
        }
    }
    world->counters.rows_compared += count;
    compare_rows(world, column, rows, count);
}

static void forget_marks(ecs_chunk* chunk, uint32_t track) {
    uint64_t* words = ecs_chunk_dirty(chunk, track);
    const uint32_t words_per_bit = ECS_DIRTY_ROWS_PER_SUMMARY / 64;
    for (uint64_t left = *ecs_chunk_summary(chunk, track); left != 0; left &= left - 1) {
        uint32_t first = base_bit_lowest(left) * words_per_bit;
        for (uint32_t word = first; word < first + words_per_bit && word < chunk->dirty_words;
             word++)
            words[word] = 0;
    }
    *ecs_chunk_summary(chunk, track) = 0;
    chunk->written[track] = 0;
}

void ecs_track_column(ecs_world* world, ecs_chunk* chunk, uint32_t track) {
    if (chunk->written[track] == 0 && *ecs_chunk_summary(chunk, track) == 0) return;
    ecs_track_cells column = column_of(world, chunk, track);
    ecs_track_learn(&column);
    if (column.size > 0 && chunk->written[track] != 0)
        compare_written(world, &column, ecs_chunk_count(world->storage, chunk));
    else if (column.size > 0)
        compare_marked(world, &column, chunk, track);
    if (!column.is_behind) forget_marks(chunk, track);
}

bool ecs_track_may_cut(const ecs_chunk* chunk, uint32_t track) {
    const ecs_archetype* archetype = chunk->archetype;
    const ecs_type* type = archetype->columns[archetype->tracked[track]].type;
    return chunk->written[track] != 0 && type->is_dense && ecs_type_is_plain(type) &&
           type->size > 0;
}

void ecs_track_rows(ecs_world* world, ecs_chunk* chunk, uint32_t track, uint32_t first,
                    uint32_t count) {
    BASE_ASSERT(ecs_track_may_cut(chunk, track));
    ecs_track_cells column = column_of(world, chunk, track);
    ecs_track_learn(&column);
    column.entities += first;
    column.values += column.size * first;
    column.shadows += column.size * first;
    compare_written(world, &column, count);
}

void ecs_track_forget(ecs_chunk* chunk, uint32_t track) {
    forget_marks(chunk, track);
}

void ecs_track_chunk(ecs_world* world, ecs_chunk* chunk) {
    for (uint32_t track = 0; track < chunk->archetype->track_count; track++)
        ecs_track_column(world, chunk, track);
}
