// SPDX-License-Identifier: MIT
/// Cells of whole rows (row.c).
#pragma once

#include "ecs/detail/queues.h"
#include "ecs/type.h"
#include "table/storage.h"
#include "type/world.h"

#include <string.h>

// Bytes of plain values: the sizes that most components have become plain moves instead of a call.

// clang-format off
/// Do `action(size)`, with a constant where the size is a usual one.
#define ECS_BY_SIZE(size, action)     \
    switch (size) {                   \
    case 0: break;                    \
    case 1: action(1); break;         \
    case 4: action(4); break;         \
    case 8: action(8); break;         \
    case 12: action(12); break;       \
    case 16: action(16); break;       \
    case 24: action(24); break;       \
    case 32: action(32); break;       \
    case 48: action(48); break;       \
    case 64: action(64); break;       \
    default: action(size);            \
    }
// clang-format on

static inline __attribute__((always_inline)) void ecs_bytes_copy(void* target, const void* source,
                                                                 uint32_t size) {
#define ECS_COPY(bytes) memcpy(target, source, bytes)
    ECS_BY_SIZE(size, ECS_COPY)
#undef ECS_COPY
}

/// The same where sizes are mostly those of a few floats: compares that the processor foresees cost
/// less than a jump through a table (destroy_seq_1m).
static inline __attribute__((always_inline)) void
ecs_bytes_copy_short(void* target, const void* source, uint32_t size) {
    if (size == 12)
        memcpy(target, source, 12);
    else if (size == 8)
        memcpy(target, source, 8);
    else if (size == 4)
        memcpy(target, source, 4);
    else
        ecs_bytes_copy(target, source, size);
}

static inline void ecs_bytes_zero(void* target, uint32_t size) {
#define ECS_ZERO(bytes) memset(target, 0, bytes)
    ECS_BY_SIZE(size, ECS_ZERO)
#undef ECS_ZERO
}

// Cells: one value in one row, whatever its type (row.c). A created cell holds a value, another
// any bytes.

/// Make `target` (not created) a copy.
void ecs_cell_copy(const ecs_world* world, const ecs_type* type, void* target, const void* source);
/// Make a created `target` equal to `source`.
void ecs_cell_assign(const ecs_world* world, const ecs_type* type, void* target,
                     const void* source);
void ecs_cell_move(const ecs_world* world, const ecs_type* type, void* target, void* source);
void ecs_cell_destroy(const ecs_world* world, const ecs_type* type, void* value);

/// Plain values of like entities: what they have in common, and a row for each of them.
typedef struct ecs_row_values {
    const uint8_t* rows;
    uint32_t stride;
    uint32_t slot_count;
    const ecs_value_slot* slots;
} ecs_row_values;

/// May cells be copies of these values, of components that exist? @return ECS_OK; ECS_ERR_TEXT.
BASE_MUST_USE ecs_result ecs_inits_check(const ecs_world* world, const ecs_init* inits,
                                         uint32_t count);
/// Create the cells of a row, shadows too, each a copy of sources[column].
void ecs_row_fill(ecs_world* world, ecs_chunk* chunk, uint32_t row, const void* const* sources);
/// Destroy the cells of columns [0, end), counting shadows after values.
void ecs_row_destroy_cells(ecs_world* world, ecs_chunk* chunk, uint32_t row, uint32_t end);
/// `count` copies of a plain value of `size` bytes.
void ecs_cells_spread(void* target, const void* value, size_t size, uint32_t count);
/// Fill rows of plain data with a template's defaults, shadows too.
void ecs_rows_spread(ecs_chunk* chunk, uint32_t row, uint32_t count, const ecs_binding* binding);
/// The same, but for the components that `values` gives to each row. The archetype has them.
void ecs_rows_fill(ecs_chunk* chunk, uint32_t row, uint32_t count, const ecs_binding* binding,
                   const ecs_row_values* values);
/// Set the values of rows of plain data, shadows too. The archetype has the components.
void ecs_rows_set(ecs_chunk* chunk, uint32_t row, uint32_t count, const ecs_row_values* values);

// A row of plain data goes: the part that destroying and moving rows one by one spend their time
// in. Inline, so that they save and restore registers once (destroy_seq_1m).

/// The last row of the tail went.
static inline void ecs_archetype_step_back(ecs_archetype* archetype) {
    const uint32_t index = archetype->tail->index;
    if (index > 0) archetype->tail = archetype->chunks[index - 1];
}

/// Give memory back when less than a quarter was used for as many removals as there is room: late
/// enough that a population that swings does not allocate each time (chunk.c).
void ecs_archetype_trim_idle(ecs_world* world, ecs_archetype* archetype, uint32_t removed);

static inline void ecs_archetype_trim(ecs_world* world, ecs_archetype* archetype,
                                      uint32_t removed) {
    if (archetype->row_count * 4 >= archetype->row_room)
        archetype->idle_removals = 0;
    else
        ecs_archetype_trim_idle(world, archetype, removed);
}

/// ecs_chunk_remove for an archetype that is_simple, without a runway (ecs_runway_disturb).
/// `row_place` is the record's. By offsets that all blocks share: no header but the last chunk's is
/// touched. What the last row leaves behind stays until the next walk: in most series another row
/// takes its place before.
static inline __attribute__((always_inline)) void ecs_chunk_close_hole(ecs_world* world,
                                                                       ecs_storage* storage,
                                                                       const ecs_place* place,
                                                                       uint32_t row_place) {
    ecs_archetype* archetype = place->archetype;
    ecs_chunk* last = archetype->tail;
    uint32_t* last_count = &storage->chunk_counts[last->id];
    const uint32_t last_row = *last_count - 1, row = row_place & ECS_ROW_MASK;
    uint8_t* block = (uint8_t*)place->chunk;
    if (place->chunk != last || row != last_row) {
        const ecs_entity moved = last->entities[last_row];
        place->entities[row] = moved;
        ecs_record_mut(storage, ecs_entity_index(moved))->place = row_place;
        const ecs_span *span = archetype->spans, *end = span + archetype->column_count;
        for (; span < end; span++)
            ecs_bytes_copy_short(block + span->offset + (size_t)span->size * row,
                                 (uint8_t*)last + span->offset + (size_t)span->size * last_row,
                                 span->size);
    }
    ecs_archetype_soil(archetype, &storage->soiled);
    *last_count = last_row;
    archetype->row_count--;
    if (last_row == 0) ecs_archetype_step_back(archetype);
    ecs_archetype_trim(world, archetype, 1);
}
