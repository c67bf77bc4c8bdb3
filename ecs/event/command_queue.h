// SPDX-License-Identifier: MIT
/// The command queue's insides, for command.c and command_save.c.
#pragma once

#include "world/world_internal.h"

/// NULL for an unknown component.
const ecs_type* ecs_command_type(const ecs_world* world, ecs_component_id component);
void* ecs_command_value_data(ecs_command_value* value);
/// The n-th packed value; n < init_count.
ecs_command_value* ecs_command_value_at(const ecs_command* command, uint32_t n);
/// The inits of a command, ECS_TEMPLATE_COMPONENTS_MAX at most, placeholders in them resolved.
void ecs_command_unpack(ecs_world* world, const ecs_command* command, ecs_init* inits);
/// Append a command without values, keyed by what is recorded now. NULL: full or out of memory.
ecs_command* ecs_command_push(ecs_world* world, ecs_command_op op, ecs_entity target);
/// Make values of known components, each its type's default. @return false when memory ran out.
BASE_MUST_USE bool ecs_command_make_values(ecs_world* world, ecs_command* command,
                                           const ecs_component_id* components, uint32_t count);

/// The command after the last that header `head` stands for.
static inline uint32_t ecs_command_end(const ecs_commands* commands, uint32_t head) {
    return head + 1 < commands->item_count ? commands->items[head + 1].first : commands->count;
}
