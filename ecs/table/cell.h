// SPDX-License-Identifier: MIT
/// Cells: one value in one row, whatever its type (cell.c). A created cell holds a value, another
/// any bytes.
#pragma once

#include "ecs/type.h"

/// Make `target` (not created) a copy. @return false when memory ran out: still not created.
BASE_MUST_USE bool ecs_cell_copy(const ecs_world* world, const ecs_type* type, void* target,
                                 const void* source);
/// Make a created `target` equal to `source`. @return false when memory ran out: the old value
/// stays.
BASE_MUST_USE bool ecs_cell_assign(const ecs_world* world, const ecs_type* type, void* target,
                                   const void* source);
void ecs_cell_move(const ecs_world* world, const ecs_type* type, void* target, void* source);
void ecs_cell_destroy(const ecs_world* world, const ecs_type* type, void* value);
