// SPDX-License-Identifier: MIT
/// A row of plain data goes: the part that destroying and moving rows one by one spend their time
/// in. Inline, so that they save and restore registers once (destroy_seq_1m).
#pragma once

#include "table/bytes.h"
#include "table/record.h"
#include "table/storage.h"
#include "type/world.h"

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

/// ecs_chunk_remove for an archetype that is_simple. `row_place` is the record's. By offsets that
/// all blocks share: no header but the last chunk's is touched. What the last row leaves behind
/// stays until the next walk: in most series another row takes its place before.
static inline __attribute__((always_inline)) void ecs_chunk_close_hole(ecs_world* world,
                                                                       ecs_storage* storage,
                                                                       const ecs_place* place,
                                                                       uint32_t row_place) {
    ecs_archetype* archetype = place->archetype;
    ecs_chunk* last = archetype->chunks[archetype->tail];
    if (storage->runway.chunk == last) ecs_runway_close(world);
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
    if (last_row == 0 && archetype->tail > 0) archetype->tail--;
    ecs_archetype_trim(world, archetype, 1);
}
