// SPDX-License-Identifier: MIT
// Cells of whole rows: fill them, destroy them, spread one value over many rows.
//
// A row's cells are its values, and behind them one shadow for each tracked column. Plain defaults
// are spread by copying a block that fits the first cache; types with functions are copied one by
// one, and cells that were made are destroyed again when one copy fails.
#include "table/row.h"

#include "table/archetype.h"
#include "table/bytes.h"
#include "table/cell.h"
#include "table/chunk.h"

#include <string.h>

enum { SPREAD_BYTES = 2048, SPREAD_HEAD = 16 };

void ecs_row_destroy_cells(ecs_world* world, ecs_chunk* chunk, uint32_t row, uint32_t end) {
    const ecs_archetype* archetype = chunk->archetype;
    if (!archetype->has_ops) return;
    for (uint32_t i = 0; i < end; i++) {
        uint32_t column =
            i < archetype->column_count ? i : archetype->tracked[i - archetype->column_count];
        ecs_cell_destroy(world, archetype->columns[column].type, ecs_chunk_cell(chunk, i, row));
    }
}

bool ecs_row_fill(ecs_world* world, ecs_chunk* chunk, uint32_t row, const void* const* sources) {
    const ecs_archetype* archetype = chunk->archetype;
    uint32_t count = archetype->column_count;
    if (!archetype->has_ops) {
        for (uint32_t i = 0; i < count; i++)
            ecs_bytes_copy(ecs_chunk_cell(chunk, i, row), sources[i], chunk->sizes[i]);
        for (uint32_t t = 0; t < archetype->track_count; t++)
            ecs_bytes_copy(ecs_chunk_cell(chunk, count + t, row), sources[archetype->tracked[t]],
                           chunk->sizes[count + t]);
        return true;
    }
    for (uint32_t i = 0; i < count + archetype->track_count; i++) {
        // A shadow is a copy of the value itself: types may tell equality by a version.
        uint32_t column = i < count ? i : archetype->tracked[i - count];
        const void* source = i < count ? sources[i] : ecs_chunk_cell(chunk, column, row);
        if (ecs_cell_copy(world, archetype->columns[column].type, ecs_chunk_cell(chunk, i, row),
                          source))
            continue;
        ecs_row_destroy_cells(world, chunk, row, i);
        return false;
    }
    return true;
}

// Copies of a value whose size the compiler knows: a few wide stores each, no call.
static inline void spread_fixed(uint8_t* out, const void* value, size_t size, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        memcpy(out + i * size, value, size);
}

void ecs_cells_spread(void* target, const void* value, size_t size, uint32_t count) {
    size_t bytes = size * count;
    if (bytes == 0) return;
    uint8_t* out = target;
    size_t done = size;
    const uint32_t head = count < SPREAD_HEAD ? count : SPREAD_HEAD;
    switch (size) {
    case 4:
        spread_fixed(out, value, 4, head);
        done = head * size;
        break;
    case 8:
        spread_fixed(out, value, 8, head);
        done = head * size;
        break;
    case 12:
        spread_fixed(out, value, 12, head);
        done = head * size;
        break;
    case 16:
        spread_fixed(out, value, 16, count);
        return;
    case 24:
        spread_fixed(out, value, 24, count);
        return;
    case 32:
        spread_fixed(out, value, 32, count);
        return;
    case 48:
        spread_fixed(out, value, 48, count);
        return;
    case 64:
        spread_fixed(out, value, 64, count);
        return;
    default:
        memcpy(out, value, size);
        break;
    }
    for (; done < bytes && done < SPREAD_BYTES; done *= 2)
        memcpy(out + done, out, done <= bytes - done ? done : bytes - done);
    for (size_t block = done; done < bytes; done += block)
        memcpy(out + done, out, block <= bytes - done ? block : bytes - done);
}

void ecs_rows_spread(ecs_chunk* chunk, uint32_t row, uint32_t count, const ecs_binding* binding) {
    const ecs_archetype* archetype = chunk->archetype;
    for (uint32_t i = 0; i < archetype->column_count; i++)
        ecs_cells_spread(ecs_chunk_cell(chunk, i, row), binding->defaults[i], chunk->sizes[i],
                         count);
    for (uint32_t t = 0; t < archetype->track_count; t++)
        ecs_cells_spread(ecs_chunk_cell(chunk, archetype->column_count + t, row),
                         binding->defaults[archetype->tracked[t]],
                         chunk->sizes[archetype->tracked[t]], count);
}

void ecs_detail_mark(ecs_chunk* chunk, uint32_t track, uint32_t row) {
    ecs_chunk_mark_row(chunk, track, row);
}
