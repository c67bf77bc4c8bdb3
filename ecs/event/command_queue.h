// SPDX-License-Identifier: MIT
/// The queue of recorded commands (command_record.c).
#pragma once

#include "ecs/component.h"
#include "core/world_internal.h"

typedef enum ecs_command_op {
    ECS_COMMAND_CREATE,
    ECS_COMMAND_DESTROY,
    ECS_COMMAND_RECREATE,
    ECS_COMMAND_SET,
    ECS_COMMAND_ADD, ///< a sparse component; without values: its template's default
    ECS_COMMAND_REMOVE,
} ecs_command_op;

/// In front of one packed value; multiples of 64 bytes apart, so that every type's alignment holds.
typedef struct ecs_command_value {
    ecs_component_id component;
    uint32_t bytes; ///< of this head and the value, padded
} ecs_command_value;

/// Header of queued commands that are alike but for their targets: one, or several without values.
/// The packed inits of one are at `values`, each an ecs_command_value and then the value in its
/// type's memory form.
typedef struct ecs_command {
    uint32_t system, job; ///< the order in which commands are applied, then `first`
    uint32_t first;       ///< it stands for the commands from this one to the next header's first
    uint16_t init_count;  ///< ECS_TEMPLATE_COMPONENTS_MAX at most
    ecs_template_id template_id;
    ecs_command_value* values;
    uint8_t op;                 ///< ecs_command_op
    ecs_component_id component; ///< of an add or remove
} ecs_command;
_Static_assert(sizeof(ecs_command) == 32, "two commands fill a cache line");

/// Memory for packed values. Blocks never move, so values need not be movable.
typedef struct ecs_command_block {
    uint8_t* memory;
    size_t capacity;
} ecs_command_block;

/// What applying a run needs to know per command (command_batch.c).
typedef struct ecs_batch_item {
    uint32_t row;      ///< of the command's entity, counted through all chunks of its archetype
    uint32_t occupant; ///< by place in the window of last rows: which of them lies there
    uint32_t place;    ///< by row of that window: where it lies
} ecs_batch_item;

/// Scratch of a run, kept from flush to flush.
typedef struct ecs_batch {
    ecs_batch_item* items;
    uint64_t* seen; ///< a bit per row of the archetype; all zero between runs
    uint32_t item_capacity;
    uint32_t seen_capacity; ///< words
} ecs_batch;

typedef struct ecs_commands {
    ecs_entity* targets; ///< by command: its target, or the placeholder that a creation hands out
    uint32_t count;      ///< of commands
    uint32_t room;       ///< commands that targets and created have room for and the limit allows
    uint64_t open_key;   ///< of the last header, when commands like it may join it; else 0
    uint32_t target_capacity;
    ecs_command* items; ///< headers, rising by first
    uint32_t item_count;
    uint32_t item_capacity;
    ecs_command_block* blocks;
    uint32_t block_count;
    uint32_t block_capacity;
    uint32_t block_used; ///< block that takes the next values
    size_t block_bytes;  ///< used of that block
    ecs_batch batch;
    ecs_entity* created;    ///< placeholder ordinal - 1 -> handle, during a flush
    uint32_t created_count; ///< placeholders handed out
    uint32_t created_capacity;
    uint32_t system; ///< key of what is recorded now: set by the stage
    uint32_t job;    ///< who changes it sets open_key to 0
    bool is_flushing;
} ecs_commands;

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

/// What a placeholder became in the flush under way; ECS_ENTITY_NONE when its creation failed. Any
/// other handle is returned unchanged.
static inline ecs_entity ecs_command_resolve(const ecs_world* world, ecs_entity entity) {
    if (!ecs_entity_is_placeholder(entity)) return entity;
    uint32_t ordinal = ecs_entity_index(entity);
    const ecs_commands* commands = world->commands;
    return ordinal <= commands->created_count ? commands->created[ordinal - 1] : ECS_ENTITY_NONE;
}
void ecs_commands_clear(ecs_world* world); ///< drop what is queued
void ecs_commands_deinit(ecs_world* world);

/// The command after the last that header `head` stands for.
static inline uint32_t ecs_command_end(const ecs_commands* commands, uint32_t head) {
    return head + 1 < commands->item_count ? commands->items[head + 1].first : commands->count;
}
