// SPDX-License-Identifier: MIT
// The runway: rows filled with a template's defaults before they are created.
//
// Entities often come in series of one template. Filling one row touches every column once, a line
// here and a line there; filling many rows column by column runs at the speed of memory. So when a
// template repeats, the next 1, 2, 4 .. 1,024 rows behind the count get its defaults, and a
// creation is left with a count, a record and the values that differ. The processor must see that a
// column goes on: with 64 rows at most create_single_30k takes 1.7 times its twin instead of 1.2.
//
//     | rows that live | runway: defaults | zeros up to clean_end | ...
//                      ^ count            ^ end
//
// There is at most one in a world, on the tail chunk of an archetype of plain types. It is closed
// before a walk, which finds zeros there (ecs_storage_tidy), and before anything else touches the
// chunk's end. A runway that was closed before
// its end has misjudged the series: the next one starts small.
#include "table/runway.h"

#include "core/world_internal.h"
#include "table/archetype.h"
#include "table/block.h"
#include "table/chunk.h"
#include "table/row.h"
#include "table/storage.h"

enum { LENGTH_MAX = 1024, BYTES_MAX = 1 << 20 };

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

// Put defaults into the next rows. @return false when the chunk is full.
static bool extend(ecs_world* world, const ecs_binding* binding) {
    ecs_runway* runway = &world->storage->runway;
    ecs_chunk* chunk = runway->chunk;
    uint32_t row = ecs_chunk_count(world->storage, chunk);
    uint32_t length = runway->length == 0 ? 1 : runway->length * 2;
    if (length > LENGTH_MAX || length * (chunk->bytes / chunk->capacity) > BYTES_MAX)
        length = runway->length > 0 ? runway->length : 1;
    if (row == chunk->capacity) return false;
    // At a multiple of `length`, as clean_end: no row is made zero and then filled.
    uint32_t end = (row + length) / length * length;
    if (end > chunk->capacity) end = chunk->capacity;
    ecs_chunk_clean(chunk, end);
    ecs_rows_spread(chunk, row, end - row, binding);
    runway->length = length;
    runway->end = end;
    return true;
}

bool ecs_runway_take(ecs_world* world, const ecs_binding* binding, ecs_template_id template_id,
                     ecs_chunk** chunk, uint32_t* row) {
    ecs_runway* runway = &world->storage->runway;
    if (!runway->chunk || runway->template_id != template_id) return false;
    uint32_t* count = &world->storage->chunk_counts[runway->chunk->id];
    if (*count == runway->end && !extend(world, binding)) return false;
    *chunk = runway->chunk;
    *row = (*count)++;
    binding->archetype->row_count++;
    return true;
}

void ecs_runway_created(ecs_world* world, ecs_chunk* chunk, uint32_t row,
                        ecs_template_id template_id) {
    ecs_runway* runway = &world->storage->runway;
    if (runway->template_id == template_id) {
        if (runway->chunk) ecs_runway_close(world);
        runway->template_id = template_id;
        runway->chunk = chunk;
        runway->end = row + 1;
        return;
    }
    ecs_runway_close(world);
    *runway = (ecs_runway){.template_id = template_id};
}
