// SPDX-License-Identifier: MIT
// The compare of tracked columns: what was marked against its shadow.
//
// A WRITE walk marks the whole column of a chunk, a write by handle marks one row. Whole columns
// are compared 128 bytes at a time, single rows one by one. A row that differs is listed, its
// shadow brought up to date, and the sum of hashes corrected by the difference.
#include "table/track.h"

#include "base/assert.h"
#include "base/hash.h"
#include "table/row.h"
#include "table/storage.h"
#include "type/type_registry.h"
#include "type/world.h"

#include <string.h>

// Values and shadows of a tracked column as bytes: which rows differ, which are hashed as they lie.

// One tracked column of one chunk.
typedef struct track_cells {
    const ecs_type* type;
    ecs_component_id component;
    uint64_t name_hash;
    const ecs_entity* entities;
    uint8_t* values;
    uint8_t* shadows;
    size_t size;
    // What track_learn fills in.
    uint64_t float_bits[2]; // the exponents of floats in `is_flat` values, 0 where are none
    bool is_dense;          // its bytes are all there is to a value
    bool is_flat;           // and lie as they are hashed, at most 16 of them
} track_cells;

#define TRACK_ROWS_GATHERED 32u
#define TRACK_ROWS_MAX (TRACK_ROWS_GATHERED + 64u) // a word of marks may come on top

enum { FLAT_BYTES_MAX = 16 };

// Is a value of the type hashed by the very bytes that it has in memory? But for NaNs of four-byte
// floats, whose places are in `float_bits`: eight bytes of a value each.
static bool is_flat(const ecs_type* type, uint64_t* float_bits) {
    if (type->object_size > FLAT_BYTES_MAX) return false;
    uint32_t end = 0;
    if (BASE_IS_BIG_ENDIAN) return false;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        if (field->offset != end || field->kind == ECS_FIELD_BOOL || field->kind == ECS_FIELD_F64)
            return false;
        if (field->kind == ECS_FIELD_F32 && end % 4 != 0) return false;
        for (uint32_t k = 0; k < field->count && field->kind == ECS_FIELD_F32; k++)
            float_bits[(end + 4 * k) / 8] |= UINT64_C(0x7F800000) << (end + 4 * k) % 8 * 8;
        end += field->count * ecs_field_kind_bytes(field->kind);
    }
    return end == type->object_size && end % 4 == 0 && end > 0;
}

// Find out what the bytes of the type tell.
static void track_learn(track_cells* column) {
    column->is_dense = column->type->is_dense && ecs_type_is_plain(column->type);
    column->is_flat = column->is_dense && is_flat(column->type, column->float_bits);
}

static inline uint64_t load_4(const uint8_t* at) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}
static inline uint64_t load_8(const uint8_t* at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

// Have two values other bytes? A constant size makes this a few instructions.
static inline __attribute__((always_inline)) bool differ(const uint8_t* a, const uint8_t* b,
                                                         size_t size) {
    switch (size) {
    case 4:
        return load_4(a) != load_4(b);
    case 8:
        return load_8(a) != load_8(b);
    case 12:
        return ((load_8(a) ^ load_8(b)) | (load_4(a + 8) ^ load_4(b + 8))) != 0;
    case 16:
        return ((load_8(a) ^ load_8(b)) | (load_8(a + 8) ^ load_8(b + 8))) != 0;
    default:
        return memcmp(a, b, size) != 0;
    }
}

static inline __attribute__((always_inline)) uint32_t
find_rows_of(const track_cells* column, size_t size, uint32_t first, uint32_t end, uint32_t* rows) {
    const uint8_t *value = column->values + size * first, *shadow = column->shadows + size * first;
    uint32_t count = 0;
    for (uint32_t row = first; row < end; row++, value += size, shadow += size) {
        rows[count] = row;
        count += differ(value, shadow, size);
    }
    return count;
}

// The rows of [first, end) whose bytes differ from their shadows. No branch for each row, since
// those that changed lie anywhere. @return how many.
static uint32_t track_find_rows(const track_cells* column, uint32_t first, uint32_t end,
                                uint32_t* rows) {
    uint32_t found = 0;
#define FIND(bytes) found = find_rows_of(column, bytes, first, end, rows)
    ECS_BY_SIZE(column->size, FIND)
#undef FIND
    return found;
}

// NAN_BITS of them are set where a flat value may hold a NaN or an infinite float.
static inline __attribute__((always_inline)) uint64_t nan_bits(const track_cells* column,
                                                               size_t size, const uint8_t* value) {
    if (size != 4 && size != 8 && size != 12 && size != 16) return 0; // not flat
    const uint64_t low = size == 4 ? load_4(value) : load_8(value);
    const uint64_t high = size == 12 ? load_4(value + 8) : size == 16 ? load_8(value + 8) : 0;
    // An exponent of ones carries into the bit above it, which the mask left free.
    const uint64_t carry = UINT64_C(0x0080000000800000);
    return ((low & column->float_bits[0]) + carry) | ((high & column->float_bits[1]) + carry);
}

#define NAN_BITS UINT64_C(0x8000000080000000)

// The same among the rows of a list. `is_flat`: values and shadows of all of them are hashed by the
// bytes that they have in memory.
static uint32_t track_find_among(const track_cells* column, const uint32_t* rows, uint32_t count,
                                 uint32_t* changed, bool* is_flat) {
    uint32_t found = 0;
    uint64_t bits = 0;
#define FIND(bytes)                                                                                \
    for (uint32_t i = 0; i < count; i++) {                                                         \
        const uint8_t* value = column->values + (size_t)(bytes)*rows[i];                           \
        const uint8_t* shadow = column->shadows + (size_t)(bytes)*rows[i];                         \
        changed[found] = rows[i];                                                                  \
        found += differ(value, shadow, bytes);                                                     \
        bits |= nan_bits(column, bytes, value) | nan_bits(column, bytes, shadow);                  \
    }
    ECS_BY_SIZE(column->size, FIND)
#undef FIND
    *is_flat = column->is_flat && (bits & NAN_BITS) == 0;
    return found;
}

// Copy values to their shadows.
static void track_update_shadows(const track_cells* column, const uint32_t* rows, uint32_t count) {
#define UPDATE(bytes)                                                                              \
    for (uint32_t i = 0; i < count; i++)                                                           \
    memcpy(column->shadows + (size_t)(bytes)*rows[i], column->values + (size_t)(bytes)*rows[i],    \
           bytes)
    ECS_BY_SIZE(column->size, UPDATE)
#undef UPDATE
}

// The C library's memcmp compares by the widest vectors of the machine: three quarters of the time
// of a loop here (compare_100k, -O2).
static size_t track_find_difference(const track_cells* column, size_t at, size_t end,
                                    size_t block) {
    for (; at < end; at += block) {
        size_t bytes = end - at < block ? end - at : block;
        if (memcmp(column->values + at, column->shadows + at, bytes) != 0) return at;
    }
    return end;
}

static track_cells column_of(const ecs_world* world, const ecs_chunk* chunk, uint32_t track) {
    BASE_ASSERT(track < chunk->archetype->track_count);
    const ecs_archetype* archetype = chunk->archetype;
    const ecs_column* column = &archetype->columns[archetype->tracked[track]];
    return (track_cells){
        .type = column->type,
        .component = column->component,
        .name_hash = ecs_component_get(world, column->component)->name_hash,
        .entities = chunk->entities,
        .values = chunk->columns[archetype->tracked[track]],
        .shadows = chunk->columns[archetype->column_count + track],
        .size = column->size,
    };
}

static uint64_t cell_hash(const track_cells* column, const void* cell, uint32_t row) {
    return ecs_type_hash(column->type, cell,
                         base_hash64_mix(column->name_hash, column->entities[row]));
}

static uint64_t shadow_hash(const track_cells* column, uint32_t row) {
    return cell_hash(column, column->shadows + column->size * row, row);
}

void ecs_track_count_row(ecs_world* world, const ecs_chunk* chunk, uint32_t row, bool is_added) {
    BASE_ASSERT(row < chunk->capacity);
    for (uint32_t track = 0; track < chunk->archetype->track_count; track++) {
        track_cells column = column_of(world, chunk, track);
        uint64_t hash = shadow_hash(&column, row);
        world->tracker->hashes[column.component] += is_added ? hash : 0 - hash;
    }
}

static void push_change(const ecs_world* world, ecs_change_list* list, ecs_entity entity,
                        ecs_component_id component) {
    if (list->count == list->capacity)
        BASE_ARRAY_RESERVE(world->allocator, list->items, list->capacity, list->count + 1);
    list->items[list->count++] = (ecs_change){entity, component};
}

static void list_change(ecs_world* world, ecs_entity entity, ecs_component_id component) {
    ecs_tracker* tracker = world->tracker;
    if (ecs_component_set_has(&tracker->watched, component))
        push_change(world, &tracker->noticed, entity, component);
    uint32_t index = ecs_entity_index(entity);
    if (tracker->fresh_count > 0 && base_bitset_has(&tracker->fresh, index))
        return; // a reader of the created list reads its values
    push_change(world, &tracker->changed, entity, component);
}

// Rows of a column that have another value, and what it makes of the sum of hashes.
static void count_changes(ecs_world* world, const track_cells* column, const uint32_t* rows,
                          uint32_t count, uint64_t difference) {
    BASE_ASSERT(column->component != ECS_COMPONENT_NONE);
    if (count == 0) return;
    world->tracker->hashes[column->component] += difference;
    world->counters.rows_changed += count;
    ecs_change_list* list = &world->tracker->changed;
    if (world->tracker->fresh_count > 0 ||
        ecs_component_set_has(&world->tracker->watched, column->component)) {
        for (uint32_t i = 0; i < count; i++)
            list_change(world, column->entities[rows[i]], column->component);
        return;
    }
    BASE_ARRAY_RESERVE(world->allocator, list->items, list->capacity, list->count + count);
    ecs_change* items = list->items + list->count;
    const ecs_entity* entities = column->entities;
    const ecs_component_id component = column->component;
    for (uint32_t i = 0; i < count; i++)
        items[i] = (ecs_change){entities[rows[i]], component};
    list->count += count;
}

// Does a row whose bytes differ hold another value? Not when they spell a NaN differently: the
// hashes are equal then, so the slow compare is asked only where they are.
static bool is_changed(const track_cells* column, uint32_t row, const void* shadow,
                       const void* value, uint64_t* difference) {
    uint64_t before = cell_hash(column, shadow, row);
    uint64_t after = cell_hash(column, value, row);
    *difference += after - before;
    return before != after || !ecs_type_equal(column->type, shadow, value);
}

uint64_t ecs_track_sum(const ecs_world* world, const ecs_chunk* chunk, uint32_t track, uint32_t row,
                       uint32_t count) {
    BASE_ASSERT(row + count <= chunk->capacity);
    const uint32_t end = row + count;
    track_cells column = column_of(world, chunk, track);
    track_learn(&column);
    uint64_t sum = 0;
    for (uint32_t first = row, some; first < end; first += some) {
        uint32_t rows[TRACK_ROWS_MAX];
        some = end - first < TRACK_ROWS_MAX ? end - first : TRACK_ROWS_MAX;
        for (uint32_t i = 0; i < some; i++)
            rows[i] = first + i;
        uint32_t changed[TRACK_ROWS_MAX];
        bool is_flat;
        (void)track_find_among(&column, rows, some, changed, &is_flat);
        if (is_flat) {
            sum += base_hash64_rows(column.shadows, column.size, column.entities, column.name_hash,
                                    rows, some);
            continue;
        }
        for (uint32_t i = 0; i < some; i++)
            sum += shadow_hash(&column, rows[i]);
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
static void change_dense_rows(ecs_world* world, const track_cells* column, const uint32_t* rows,
                              uint32_t count, bool is_flat) {
    uint32_t changed[TRACK_ROWS_MAX], changed_count = 0;
    uint64_t difference = 0;
    BASE_ASSERT(count <= TRACK_ROWS_MAX);
    if (is_flat)
        difference = base_hash64_rows_change(column->shadows, column->values, column->size,
                                             column->entities, column->name_hash, rows, count);
    for (uint32_t i = 0; i < count && !is_flat; i++) {
        const size_t at = column->size * rows[i];
        if (is_changed(column, rows[i], column->shadows + at, column->values + at, &difference))
            changed[changed_count++] = rows[i];
    }
    track_update_shadows(column, rows, count);
    count_changes(world, column, is_flat ? rows : changed, is_flat ? count : changed_count,
                  difference);
}

// Compare one row of which the bytes are not all.
static void compare_row(ecs_world* world, track_cells* column, uint32_t row) {
    const void* value = column->values + column->size * row;
    void* shadow = column->shadows + column->size * row;
    if (ecs_value_is_untouched(column->type, shadow, value)) return;
    ecs_type_context context = {world->allocator};
    if (ecs_type_equal(column->type, shadow, value)) {
        if (column->type->ops && column->type->ops->version)
            (void)ecs_value_compare(column->type, &context, shadow, value); // the versions meet
        return;
    }
    uint64_t before = shadow_hash(column, row);
    if (ecs_type_is_plain(column->type))
        memcpy(shadow, value, column->size);
    else
        (void)ecs_value_compare(column->type, &context, shadow, value);
    count_changes(world, column, &row, 1, shadow_hash(column, row) - before);
}

static void compare_rows(ecs_world* world, track_cells* column, const uint32_t* rows,
                         uint32_t count) {
    for (uint32_t i = 0; i < count && !column->is_dense; i++)
        compare_row(world, column, rows[i]);
    if (!column->is_dense) return;
    uint32_t changed[TRACK_ROWS_MAX];
    bool is_flat;
    count = track_find_among(column, rows, count, changed, &is_flat);
    change_dense_rows(world, column, changed, count, is_flat);
}

// Large blocks first, then small ones, then their rows. A row that straddles two blocks is looked
// at once.
static void compare_dense(ecs_world* world, track_cells* column, uint32_t count) {
    enum { LARGE_BYTES = 4096, SMALL_BYTES = 128 };
    const size_t bytes = column->size * count;
    uint32_t rows[TRACK_ROWS_MAX];
    uint32_t gathered = 0, next_row = 0;
    for (size_t large = 0;
         (large = track_find_difference(column, large, bytes, LARGE_BYTES)) < bytes;
         large += LARGE_BYTES) {
        const size_t end = large + LARGE_BYTES < bytes ? large + LARGE_BYTES : bytes;
        for (size_t at = large; (at = track_find_difference(column, at, end, SMALL_BYTES)) < end;
             at += SMALL_BYTES) {
            const size_t last = at + SMALL_BYTES < end ? at + SMALL_BYTES : end;
            if (next_row < at / column->size) next_row = (uint32_t)(at / column->size);
            const uint32_t end_row = (uint32_t)((last + column->size - 1) / column->size);
            for (uint32_t some; next_row < end_row; next_row += some) {
                const uint32_t room = TRACK_ROWS_MAX - gathered;
                some = end_row - next_row < room ? end_row - next_row : room;
                gathered += track_find_rows(column, next_row, next_row + some, rows + gathered);
                if (gathered < TRACK_ROWS_MAX) continue;
                compare_rows(world, column, rows, gathered);
                gathered = 0;
            }
        }
    }
    compare_rows(world, column, rows, gathered);
}

static void compare_written(ecs_world* world, track_cells* column, uint32_t count) {
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
static void compare_marked(ecs_world* world, track_cells* column, const ecs_chunk* chunk,
                           uint32_t track) {
    uint64_t *words = ecs_chunk_dirty(chunk, track), *summary = ecs_chunk_summary(chunk, track);
    const uint32_t words_per_bit = ECS_DIRTY_ROWS_PER_SUMMARY / 64;
    const uint8_t *values = column->values, *shadows = column->shadows;
    const ecs_entity* entities = column->entities;
    const size_t size = column->size;
    uint32_t rows[TRACK_ROWS_MAX];
    uint32_t count = 0;
    for (uint64_t left = *summary; left != 0; left &= left - 1) {
        const uint32_t first = base_bit_lowest(left) * words_per_bit;
        uint32_t end = first + words_per_bit;
        if (end > chunk->dirty_words) end = chunk->dirty_words;
        for (uint32_t word = first; word < end; word++) {
            uint64_t bits = words[word];
            if (bits == 0) continue;
            if (column->is_dense) words[word] = 0; // no memory that could run out
            for (; bits != 0; bits &= bits - 1) {
                const uint32_t row = word * 64 + base_bit_lowest(bits);
                __builtin_prefetch(values + size * row);
                __builtin_prefetch(shadows + size * row, 1);
                __builtin_prefetch(entities + row);
                rows[count++] = row;
            }
            if (count < TRACK_ROWS_GATHERED) continue;
            world->counters.rows_compared += count;
            compare_rows(world, column, rows, count);
            count = 0;
        }
    }
    if (column->is_dense) *summary = 0;
    world->counters.rows_compared += count;
    compare_rows(world, column, rows, count);
}

void ecs_track_forget(ecs_chunk* chunk, uint32_t track) {
    uint64_t* words = ecs_chunk_dirty(chunk, track);
    const uint32_t words_per_bit = ECS_DIRTY_ROWS_PER_SUMMARY / 64;
    for (uint64_t left = *ecs_chunk_summary(chunk, track); left != 0; left &= left - 1) {
        const uint32_t first = base_bit_lowest(left) * words_per_bit;
        for (uint32_t word = first; word < first + words_per_bit && word < chunk->dirty_words;)
            words[word++] = 0;
    }
    *ecs_chunk_summary(chunk, track) = 0;
    chunk->written[track] = 0;
}

void ecs_track_column(ecs_world* world, ecs_chunk* chunk, uint32_t track) {
    if (chunk->written[track] == 0 && *ecs_chunk_summary(chunk, track) == 0) return;
    track_cells column = column_of(world, chunk, track);
    track_learn(&column);
    if (column.size > 0 && chunk->written[track] != 0)
        compare_written(world, &column, ecs_chunk_count(world->storage, chunk));
    else if (column.size > 0)
        compare_marked(world, &column, chunk, track);
    ecs_track_forget(chunk, track);
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
    track_cells column = column_of(world, chunk, track);
    track_learn(&column);
    column.entities += first;
    column.values += column.size * first;
    column.shadows += column.size * first;
    compare_written(world, &column, count);
}

// Writes past tracking: a value that differs from its shadow though its row has no mark.
//
// Right after a step no row is marked, so value and shadow are equal everywhere. What differs was
// written through a pointer that does not mark. A look compares a few rows and remembers where it
// stopped, so that a match can afford it in each tick. It changes nothing, not even the shadow:
// what follows is the same with and without it.

static bool is_marked(const ecs_chunk* chunk, uint32_t track, uint32_t row) {
    return chunk->written[track] != 0 ||
           (ecs_chunk_dirty(chunk, track)[row / 64] >> (row % 64) & 1) != 0;
}

static bool is_slip(const track_cells* column, uint32_t row) {
    const uint8_t *value = column->values + column->size * row,
                  *shadow = column->shadows + column->size * row;
    return memcmp(value, shadow, column->size) != 0 && !ecs_type_equal(column->type, shadow, value);
}

// Compare rows [first, end) of a column. @return the first that slipped; `end`: none is.
static uint32_t find_slip_row(const track_cells* column, const ecs_chunk* chunk, uint32_t track,
                              uint32_t first, uint32_t end) {
    const size_t at = column->size * first;
    if (memcmp(column->values + at, column->shadows + at, column->size * end - at) == 0) return end;
    for (uint32_t row = first; row < end; row++)
        if (is_slip(column, row) && !is_marked(chunk, track, row)) return row;
    return end;
}

// To the next column, chunk, archetype. @return false: from the last to the first.
static bool advance(const ecs_storage* storage, ecs_track_sweep* sweep) {
    const ecs_archetype* archetype = storage->tracked[sweep->archetype];
    sweep->row = 0;
    if (++sweep->track < archetype->track_count) return true;
    sweep->track = 0;
    if (++sweep->chunk < archetype->chunk_count) return true;
    sweep->chunk = 0;
    if (++sweep->archetype < storage->tracked_count) return true;
    sweep->archetype = 0;
    return false;
}

ecs_change ecs_track_find_slip(ecs_world* world, uint32_t rows_max) {
    enum { COLUMN_ROWS = 8, LAPS_MAX = 2 }; // what a column costs besides its rows
    const ecs_storage* storage = world->storage;
    ecs_track_sweep* sweep = &world->tracker->sweep;
    uint32_t laps = 0;
    if (sweep->archetype >= storage->tracked_count) *sweep = (ecs_track_sweep){.row = 0};
    for (uint32_t left = rows_max; left > 0 && laps < LAPS_MAX && storage->tracked_count > 0;) {
        const ecs_archetype* archetype = storage->tracked[sweep->archetype];
        const ecs_chunk* chunk =
            sweep->chunk < archetype->chunk_count ? archetype->chunks[sweep->chunk] : NULL;
        const uint32_t count = chunk ? ecs_chunk_count(storage, chunk) : 0;
        const uint32_t first = sweep->row;
        if (first < count) {
            const track_cells column = column_of(world, chunk, sweep->track);
            const uint32_t end = count - first < left ? count : first + left;
            sweep->row = find_slip_row(&column, chunk, sweep->track, first, end);
            if (sweep->row < end)
                return (ecs_change){column.entities[sweep->row++], column.component};
            left -= end - first;
        }
        if (sweep->row < count) continue;
        left -= left < COLUMN_ROWS ? left : COLUMN_ROWS;
        laps += !advance(storage, sweep);
    }
    return (ecs_change){ECS_ENTITY_NONE, ECS_COMPONENT_NONE};
}

void ecs_track_watch(ecs_world* world, ecs_change value) {
    ecs_track_sweep* sweep = &world->tracker->sweep;
    sweep->watched = value;
    sweep->system = NULL;
    sweep->is_found = false;
    sweep->bytes = 0;
}

void ecs_track_look(ecs_world* world, const char* system) {
    ecs_track_sweep* sweep = &world->tracker->sweep;
    const ecs_record* record = ecs_record_find(world->storage, sweep->watched.entity);
    if (!record || sweep->is_found) return;
    const ecs_place* place = &world->fast.places[record->place >> ECS_ROW_BITS];
    const uint32_t row = record->place & ECS_ROW_MASK;
    const ecs_slot* slot = &place->slots[sweep->watched.component];
    if (slot->column == ECS_SLOT_NONE || slot->track == ECS_SLOT_NONE) return;
    const uint64_t bytes =
        base_hash64(ecs_chunk_cell(place->chunk, slot->column, row), slot->size, 1);
    const bool is_other = sweep->bytes != 0 && bytes != sweep->bytes;
    sweep->bytes = bytes;
    if (!is_other || is_marked(place->chunk, slot->track, row)) return;
    sweep->system = system;
    sweep->is_found = true;
}
