// SPDX-License-Identifier: MIT
/// Cells of whole rows (row.c).
#pragma once

#include "ecs/detail/queues.h"
#include "table/chunk.h"

/// Plain values of like entities: what they have in common, and a row for each of them.
typedef struct ecs_row_values {
    const uint8_t* rows;
    uint32_t stride;
    uint32_t slot_count;
    const ecs_value_slot* slots;
} ecs_row_values;

/// Create the cells of a row, shadows too, each a copy of sources[column].
/// @return false when memory ran out: no cell is created then.
BASE_MUST_USE bool ecs_row_fill(ecs_world* world, ecs_chunk* chunk, uint32_t row,
                                const void* const* sources);
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
