// SPDX-License-Identifier: MIT
// Cuts: where rows of a query are divided.
//
// A cut lies at the end of a chunk or at a multiple of 16 rows, so two threads never write to one
// cache line, and a run of rows ends in zeros or at a full line. Cuts follow from the rows and the
// number of parts, and that from the quantum; threads play no part.
#include "system/cut.h"

#include "base/assert.h"
#include "table/storage.h"

enum { ENTRY_CHUNK, ENTRY_ENTITIES, ENTRY_COLUMNS, CUT_ROWS = 16 };

uint32_t ecs_cut_parts(uint32_t items, uint32_t quantum) {
    BASE_ASSERT(quantum > 0);
    const uint32_t parts = items / quantum;
    return parts < 1 ? 1 : parts > ECS_RANGES_MAX ? ECS_RANGES_MAX : parts;
}

uint32_t ecs_cut_mark(const ecs_world* world, const ecs_query_cache* cache) {
    uint64_t rows = 0;
    const uintptr_t* entry = cache->entries;
    for (uint32_t i = 0; i < cache->entry_count; i++, entry += cache->stride) {
        const uint32_t count = world->fast.chunk_counts[entry[ENTRY_CHUNK]];
        rows += count;
        for (uint32_t k = 1; k <= cache->mark_count && count > 0; k++)
            *(uint8_t*)entry[cache->stride - k] = 1;
    }
    return (uint32_t)rows;
}

// Where a cut begins: rows behind it follow entry after entry.
typedef struct row_cursor {
    const uintptr_t* entry;
    const uintptr_t* end;
    const uint32_t* counts;
    uint32_t stride;
    uint32_t row;
} row_cursor;

// Go on by `count` rows or a few more, to the next place for a cut. @return by how many.
static uint32_t go_on(row_cursor* cursor, uint32_t count) {
    uint32_t done = 0;
    while (done < count && cursor->entry < cursor->end) {
        const uint32_t rows = cursor->counts[cursor->entry[ENTRY_CHUNK]];
        const uint32_t left = rows - cursor->row;
        const uint32_t wanted = (count - done + CUT_ROWS - 1) & ~(uint32_t)(CUT_ROWS - 1);
        if (wanted < left) {
            cursor->row += wanted;
            return done + wanted;
        }
        done += left;
        cursor->row = 0;
        cursor->entry += cursor->stride;
    }
    return done;
}

uint32_t ecs_cut_rows(const ecs_world* world, const ecs_query_cache* cache, uint32_t rows,
                      uint32_t parts, ecs_cut* cuts) {
    BASE_ASSERT(parts >= 1 && parts <= ECS_RANGES_MAX);
    const uint32_t step = (rows + parts - 1) / parts;
    row_cursor cursor = {cache->entries,
                         cache->entries + (size_t)cache->entry_count * cache->stride,
                         world->fast.chunk_counts, cache->stride, 0};
    uint32_t count = 0;
    for (uint32_t done = 0; done < rows; done += cuts[count++].row_count) {
        cuts[count] = (ecs_cut){cursor.entry, cursor.row, 0};
        cuts[count].row_count = go_on(&cursor, step);
    }
    return count;
}

bool ecs_cut_next(const ecs_world* world, const ecs_query* query, ecs_cut* cut, ecs_cut_run* run) {
    const ecs_query_cache* cache = &query->cache;
    const uint32_t* counts = world->fast.chunk_counts;
    while (cut->row_count > 0 && counts[cut->entry[ENTRY_CHUNK]] == 0)
        cut->entry += cache->stride;
    if (cut->row_count == 0) return false;
    const uintptr_t* entry = cut->entry;
    const uint32_t row = cut->row, left = counts[entry[ENTRY_CHUNK]] - row;
    const uint32_t count = left < cut->row_count ? left : cut->row_count;
    run->rows = (ecs_rows){count, (const ecs_entity*)entry[ENTRY_ENTITIES] + row,
                           (void* const*)(entry + ENTRY_COLUMNS)};
    if (row > 0) {
        const ecs_slot* slots = world->fast.places[entry[ENTRY_CHUNK]].slots;
        for (uint32_t i = 0; i < query->term_count; i++) {
            uint8_t* column = (uint8_t*)entry[ENTRY_COLUMNS + i];
            run->columns[i] =
                column ? column + (size_t)slots[query->components[i]].size * row : NULL;
        }
        run->rows.columns = run->columns;
    }
    cut->entry += cache->stride;
    cut->row = 0;
    cut->row_count -= count;
    return true;
}
