// SPDX-License-Identifier: MIT
/// Rows that are prepared before they are created (runway.c).
#pragma once

#include "core/world_internal.h"
#include "table/storage.h"

/// Forget the runway. Its unused rows are like removed ones (ecs_archetype_soil).
void ecs_runway_close(ecs_world* world);
/// Append the next row of the template's runway: its cells are the defaults.
/// @return false when there is none: append and fill a row instead, then call ecs_runway_created.
bool ecs_runway_take(ecs_world* world, const ecs_binding* binding, ecs_template_id template_id,
                     ecs_chunk** chunk, uint32_t* row);
/// A row of plain data was appended without a runway: when its template repeats one starts behind
/// it.
void ecs_runway_created(ecs_world* world, ecs_chunk* chunk, uint32_t row,
                        ecs_template_id template_id);
