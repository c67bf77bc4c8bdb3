// SPDX-License-Identifier: MIT
/// Rows that are prepared before they are created (runway.c).
#pragma once

#include "core/world_internal.h"
#include "table/storage.h"

/// Zero the runway's unused rows and forget it.
void ecs_runway_close(ecs_world* world);
/// Append the next row of the template's runway: its cells are the defaults.
/// @return false when there is none: append and fill a row instead, then call ecs_runway_created.
bool ecs_runway_take(ecs_world* world, const ecs_binding* binding, ecs_template_id template_id,
                     ecs_chunk** chunk, uint32_t* row);
/// ecs_runway_take; no call while prepared rows are left or there is no runway.
static inline bool ecs_runway_next(ecs_world* world, const ecs_binding* binding,
                                   ecs_template_id template_id, ecs_chunk** chunk, uint32_t* row) {
    const ecs_runway* runway = &world->storage->runway;
    if (!runway->chunk || runway->template_id != template_id) return false;
    uint32_t* count = &world->storage->chunk_counts[runway->chunk->id];
    if (*count == runway->end) return ecs_runway_take(world, binding, template_id, chunk, row);
    *chunk = runway->chunk;
    *row = (*count)++;
    binding->archetype->row_count++;
    return true;
}
/// A row of plain data was appended without a runway: when its template repeats one starts behind
/// it.
void ecs_runway_created(ecs_world* world, ecs_chunk* chunk, uint32_t row,
                        ecs_template_id template_id);
