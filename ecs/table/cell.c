// SPDX-License-Identifier: MIT
// One value in one row: ecs_value_* (value.c) with the world's allocator, and plain data as bytes.
#include "table/cell.h"

#include "table/bytes.h"
#include "type/type_registry.h"
#include "type/world.h"

bool ecs_cell_copy(const ecs_world* world, const ecs_type* type, void* target, const void* source) {
    if (type->ops) {
        ecs_type_context context = {world->allocator};
        return ecs_value_copy(type, &context, target, source);
    }
    ecs_bytes_copy(target, source, type->size);
    return true;
}

bool ecs_cell_assign(const ecs_world* world, const ecs_type* type, void* target,
                     const void* source) {
    if (type->ops) {
        ecs_type_context context = {world->allocator};
        return ecs_value_assign(type, &context, target, source);
    }
    ecs_bytes_copy(target, source, type->size);
    return true;
}

void ecs_cell_move(const ecs_world* world, const ecs_type* type, void* target, void* source) {
    if (!ecs_type_is_relocatable(type)) {
        ecs_type_context context = {world->allocator};
        ecs_value_move(type, &context, target, source);
        return;
    }
    ecs_bytes_copy(target, source, type->size);
}

void ecs_cell_destroy(const ecs_world* world, const ecs_type* type, void* value) {
    if (!type->ops) return;
    ecs_type_context context = {world->allocator};
    ecs_value_destroy(type, &context, value);
}
