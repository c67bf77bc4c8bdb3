// SPDX-License-Identifier: MIT
/// Rows coming to life, for transition.c, bulk.c and command.c.
#pragma once

#include "base/assert.h"
#include "world_internal.h"

/// Asserts that structure may change now.
static inline void ecs_structure_check(const ecs_world* world) {
    BASE_ASSERT(world->is_sealed && "seal the world before entities are made");
    BASE_ASSERT(world->walk_depth == 0 && "no structural change while a query is walked");
    BASE_ASSERT((world->stage_depth == 0 || world->storage.commands.is_flushing) &&
                "inside a stage record structural changes with ecs/command.h");
}
/// Create the cells of a row, shadows too, each a copy of sources[column].
/// @return false when memory ran out: no cell is created then.
BASE_MUST_USE bool ecs_row_fill(ecs_world* world, ecs_chunk* chunk, uint32_t row,
                                const void* const* sources);
/// Destroy the cells of columns [0, end), counting shadows after values.
void ecs_row_destroy_cells(ecs_world* world, ecs_chunk* chunk, uint32_t row, uint32_t end);
/// Point record and row at each other.
static inline void ecs_row_settle(ecs_world* world, ecs_chunk* chunk, uint32_t row,
                                  ecs_entity entity, ecs_template_id template_id) {
    ecs_record* record = ecs_record_mut(&world->storage, ecs_entity_index(entity));
    *record = (ecs_record){.place = chunk->id << ECS_ROW_BITS | row,
                           .life = (uint16_t)(ecs_entity_generation(entity) | ECS_LIFE_CREATED),
                           .template_id = template_id};
    chunk->entities[row] = entity;
}

/// Fill rows of plain data with a template's defaults, shadows too.
void ecs_rows_spread(ecs_chunk* chunk, uint32_t row, uint32_t count, const ecs_binding* binding);
/// Append the next row of the template's runway: its cells are the defaults.
/// @return false when there is none: append and fill a row instead, then call ecs_runway_created.
bool ecs_runway_take(ecs_world* world, const ecs_binding* binding, ecs_template_id template_id,
                     ecs_chunk** chunk, uint32_t* row);
/// A row of plain data was appended without a runway: when its template repeats one starts behind it.
void ecs_runway_created(ecs_world* world, ecs_chunk* chunk, uint32_t row,
                        ecs_template_id template_id);
