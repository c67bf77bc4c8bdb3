// SPDX-License-Identifier: MIT
/// A queue of recorded commands (command_queue.c) and their values. Each
/// recorder has one: queues share nothing, so several may be filled at the same time.
#pragma once

#include "ecs/command.h"
#include "table/row.h"
#include "type/world.h"

/// Values of the commands of one header: what they have in common, then a row for each command.
typedef struct ecs_command_values {
    uint8_t* rows;
    uint32_t stride;
    uint32_t slot_count;
    bool is_plain;         ///< no type has functions
    bool has_placeholders; ///< handles in the values may be placeholders
    ecs_value_slot slots[];
} ecs_command_values;

/// Header of queued commands that are alike but for their targets and the bytes of their values.
typedef struct ecs_command {
    uint32_t system, job; ///< the order in which commands are applied, then `first`
    uint32_t first;       ///< it stands for the commands from this one to the next header's first
    ecs_template_id template_id;
    uint8_t op;                 ///< ecs_command_op
    ecs_command_values* values; ///< NULL: none
} ecs_command;
_Static_assert(sizeof(ecs_command) <= 32, "two headers fill a cache line");

/// Memory for values. Blocks never move, so values need not be movable.
typedef struct ecs_command_block {
    uint8_t* memory;
    size_t capacity;
} ecs_command_block;

/// What applying a run needs to know (structure/command.c), kept from flush to flush.
typedef struct ecs_batch {
    uint32_t* words;
    uint32_t capacity;
} ecs_batch;

typedef struct ecs_commands {
    ecs_command_view view; ///< first: what inline functions see
    uint32_t target_capacity;
    ecs_command* items; ///< headers, rising by first
    uint32_t item_count;
    uint32_t item_capacity;
    ecs_command_values* open; ///< of the last header, when commands with values may join it
    uint32_t open_key;        ///< of them; view.key when no value has handles
    ecs_command_block* blocks;
    uint32_t block_count;
    uint32_t block_capacity;
    uint32_t block_used; ///< block that takes the next values
    size_t block_bytes;  ///< used of that block
    ecs_batch batch;
    ecs_entity* created; ///< placeholder ordinal - 1 -> handle, during a flush
    uint32_t created_capacity;
    uint32_t system; ///< key of commands recorded now (ecs_commands_enter)
    uint32_t job;
    bool is_flushing;
} ecs_commands;

/// The type of a component; NULL for an unknown one.
const ecs_type* ecs_component_type(const ecs_world* world, ecs_component_id component);
/// Append a command without values, with the key of now. NULL: full.
ecs_command* ecs_command_push(ecs_world* world, ecs_command_op op, ecs_entity target);
/// Commands recorded from now on belong to this system and job.
void ecs_commands_enter(ecs_commands* commands, uint32_t system, uint32_t job);
void ecs_commands_close(ecs_commands* commands); ///< no more commands join the last header
void ecs_commands_clear(ecs_world* world);       ///< drop all queued commands

// Values (command_queue.c).
/// Make a row of values of known components, each its type's default, for a header that has none.
void ecs_command_make_values(ecs_world* world, ecs_command* command,
                             const ecs_component_id* components, uint32_t count);
/// The inits of command `nth` of a header, ECS_TEMPLATE_COMPONENTS_MAX at most, placeholders in
/// them resolved.
void ecs_command_unpack(ecs_world* world, const ecs_command* command, uint32_t nth,
                        ecs_init* inits);

/// Handles in the fields of a plain value: only looked at, or resolved (ecs_command_resolve).
/// @return whether one was a placeholder.
bool ecs_handles_visit(const ecs_world* world, const ecs_type* type, void* value, bool resolve);

static inline uint32_t ecs_command_init_count(const ecs_command* command) {
    return command->values ? command->values->slot_count : 0;
}
/// The rows of a header's values from command `nth` on.
static inline ecs_row_values ecs_command_rows(const ecs_command_values* values, uint32_t nth) {
    return (ecs_row_values){values->rows + (size_t)values->stride * nth, values->stride,
                            values->slot_count, values->slots};
}
/// A value of command `nth` of a header.
static inline void* ecs_command_value(const ecs_command_values* values, uint32_t nth,
                                      uint32_t slot) {
    return values->rows + (size_t)values->stride * nth + values->slots[slot].offset;
}

/// What a placeholder became in the flush under way; ECS_ENTITY_NONE when its creation failed. Any
/// other handle is returned unchanged.
static inline ecs_entity ecs_command_resolve(const ecs_world* world, ecs_entity entity) {
    if (!ecs_entity_is_placeholder(entity)) return entity;
    uint32_t ordinal = ecs_entity_index(entity);
    const ecs_commands* commands = world->commands;
    return ordinal <= commands->view.created_count ? commands->created[ordinal - 1]
                                                   : ECS_ENTITY_NONE;
}
/// The command after the last that header `head` stands for.
static inline uint32_t ecs_command_end(const ecs_commands* commands, uint32_t head) {
    return head + 1 < commands->item_count ? commands->items[head + 1].first : commands->view.count;
}
