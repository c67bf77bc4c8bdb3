// SPDX-License-Identifier: MIT
// Values of recorded commands.
//
// Commands in a row that set the same components share a header, and their values lie in rows of
// one shape behind it:
//
//     | shape: pos at 0, hits at 12 | pos hits | pos hits | pos hits | ...
//
// So one more command of the kind is a copy of its bytes, and a run of them is applied column by
// column. Rows join while they are plain bytes without placeholders; values that own memory, or
// name a creation of the same flush, have a header of their own.
//
// Rows lie in blocks that never move, so a type that memcpy cannot move may be recorded too. The
// blocks are kept from flush to flush.
#include "base/assert.h"
#include "event/command_queue.h"
#include "table/row.h"
#include "type/container.h"
#include "type/type_registry.h"
#include "type/world.h"

#include <string.h>

enum { BLOCK_BYTES = 128 * 1024, ROW_ALIGN = 64 };

const ecs_type* ecs_command_type(const ecs_world* world, ecs_component_id id) {
    const ecs_component* component = ecs_component_get(world, id);
    return component ? ecs_type_get(world, component->type) : NULL;
}

static size_t align_up(size_t bytes, size_t align) {
    return (bytes + align - 1) & ~(align - 1);
}

// `bytes` of memory in the blocks, not taken yet; NULL when memory ran out.
static uint8_t* reserve_values(ecs_world* world, size_t bytes) {
    BASE_ASSERT(bytes > 0);
    ecs_commands* commands = world->commands;
    while (commands->block_used < commands->block_count) {
        ecs_command_block* block = &commands->blocks[commands->block_used];
        if (block->capacity - commands->block_bytes >= bytes)
            return block->memory + commands->block_bytes;
        commands->block_used++;
        commands->block_bytes = 0;
    }
    if (!BASE_ARRAY_RESERVE(world->allocator, commands->blocks, commands->block_capacity,
                            commands->block_count + 1))
        return NULL;
    size_t capacity = bytes > BLOCK_BYTES ? align_up(bytes, ROW_ALIGN) : BLOCK_BYTES;
    uint8_t* memory = base_allocate(world->allocator, capacity);
    if (!memory) return NULL;
    commands->blocks[commands->block_count++] = (ecs_command_block){memory, capacity};
    return memory;
}

static bool has_handles(const ecs_type* type) {
    for (uint32_t f = 0; f < type->field_count; f++)
        if (type->fields[f].kind == ECS_FIELD_ENTITY) return true;
    return false;
}

// The shape of rows with these components, and memory for one row, nothing created. The caller
// takes the memory (take_row). NULL when memory ran out.
static ecs_command_values* lay_out(ecs_world* world, const ecs_init* inits, uint32_t count) {
    BASE_ASSERT(count > 0 && count <= ECS_TEMPLATE_COMPONENTS_MAX);
    size_t stride = 0, align = 1;
    const size_t head =
        align_up(sizeof(ecs_command_values) + count * sizeof(ecs_value_slot), ROW_ALIGN);
    for (uint32_t i = 0; i < count; i++) {
        const ecs_type* type = ecs_command_type(world, inits[i].component);
        stride = align_up(stride, type->align) + type->size;
        align = type->align > align ? type->align : align;
    }
    stride = align_up(stride, align);
    ecs_command_values* values = (ecs_command_values*)(void*)reserve_values(world, head + stride);
    if (!values) return NULL;
    *values = (ecs_command_values){.rows = (uint8_t*)values + head,
                                   .stride = (uint32_t)stride,
                                   .slot_count = count,
                                   .is_plain = true};
    size_t offset = 0;
    for (uint32_t i = 0; i < count; i++) {
        const ecs_type* type = ecs_command_type(world, inits[i].component);
        offset = align_up(offset, type->align);
        values->slots[i] = (ecs_value_slot){.offset = (uint32_t)offset,
                                            .size = type->size,
                                            .component = inits[i].component,
                                            .has_handles = has_handles(type) && !type->ops};
        values->is_plain &= !type->ops;
        offset += type->size;
    }
    return values;
}

// The header has its first row.
static void take_row(ecs_commands* commands, ecs_command* command, ecs_command_values* values) {
    command->values = values;
    commands->open = values;
    commands->view.slots = values->slots;
    commands->view.stride = values->stride;
    commands->view.row = values->rows + values->stride;
}

void ecs_command_close_values(ecs_commands* commands) {
    if (!commands->open) return;
    const ecs_command_block* block = &commands->blocks[commands->block_used];
    commands->block_bytes = align_up((size_t)(commands->view.row - block->memory), ROW_ALIGN);
    commands->open = NULL;
}

uint32_t ecs_command_values_room(const ecs_commands* commands) {
    const ecs_command_block* block = &commands->blocks[commands->block_used];
    const size_t left = (size_t)(block->memory + block->capacity - commands->view.row);
    const size_t rows = commands->open->stride > 0 ? left / commands->open->stride : UINT32_MAX;
    return rows < UINT32_MAX ? (uint32_t)rows : UINT32_MAX;
}

bool ecs_command_make_values(ecs_world* world, ecs_command* command,
                             const ecs_component_id* components, uint32_t count) {
    BASE_ASSERT(!command->values && count <= ECS_TEMPLATE_COMPONENTS_MAX);
    if (count == 0) return true;
    ecs_init inits[ECS_TEMPLATE_COMPONENTS_MAX];
    for (uint32_t i = 0; i < count; i++)
        inits[i] = (ecs_init){components[i], NULL};
    ecs_command_values* values = lay_out(world, inits, count);
    if (!values) return false;
    ecs_type_context context = {world->allocator};
    bool are_made = true;
    memset(values->rows, 0, values->stride);
    for (uint32_t i = 0; i < count; i++)
        are_made = ecs_value_create(ecs_command_type(world, components[i]), &context,
                                    ecs_command_value(values, 0, i)) &&
                   are_made;
    values->has_placeholders = true; // what is read into them may be
    take_row(world->commands, command, values);
    ecs_command_close_values(world->commands);
    return are_made;
}

// Handles in the plain value of a slot: resolved, or only looked at. @return whether one was a
// placeholder.
static bool visit_handles(const ecs_world* world, const ecs_value_slot* slot, void* value,
                          bool resolve) {
    const ecs_type* type = ecs_command_type(world, slot->component);
    bool found = false;
    for (uint32_t f = 0; f < type->field_count; f++) {
        const ecs_field* field = &type->fields[f];
        if (field->kind != ECS_FIELD_ENTITY) continue;
        ecs_entity* handles = (ecs_entity*)(void*)((uint8_t*)value + field->offset);
        for (uint32_t i = 0; i < field->count; i++) {
            found |= ecs_entity_is_placeholder(handles[i]);
            if (resolve) handles[i] = ecs_command_resolve(world, handles[i]);
        }
    }
    return found;
}

bool ecs_command_copy_values(ecs_world* world, ecs_command* command, const ecs_init* inits,
                             uint32_t count) {
    BASE_ASSERT(inits && count > 0);
    if (count > ECS_TEMPLATE_COMPONENTS_MAX) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!ecs_command_type(world, inits[i].component)) return false;
    ecs_command_values* values = lay_out(world, inits, count);
    if (!values) return false;
    for (uint32_t i = 0; i < count; i++) {
        const ecs_value_slot* slot = &values->slots[i];
        void* value = values->rows + slot->offset;
        const ecs_type* type = ecs_command_type(world, slot->component);
        if (!ecs_cell_copy(world, type, value, inits[i].value)) {
            while (i-- > 0)
                ecs_cell_destroy(world, ecs_command_type(world, values->slots[i].component),
                                 ecs_command_value(values, 0, i));
            return false;
        }
        values->has_placeholders |=
            type->ops || (slot->has_handles && visit_handles(world, slot, value, false));
    }
    take_row(world->commands, command, values);
    if (values->has_placeholders) ecs_command_close_values(world->commands);
    return true;
}

bool ecs_command_add_values(const ecs_world* world, ecs_entity target, const ecs_init* inits,
                            uint32_t count) {
    ecs_command_view* view = &world->commands->view;
    BASE_ASSERT(world->commands->open && view->count < view->room);
    for (uint32_t i = 0; i < count; i++) {
        const ecs_value_slot* slot = &view->slots[i];
        if (inits[i].component != slot->component) return false;
        ecs_bytes_copy(view->row + slot->offset, inits[i].value, slot->size);
        if (slot->has_handles && visit_handles(world, slot, view->row + slot->offset, false))
            return false;
    }
    view->row += view->stride;
    view->targets[view->count++] = target;
    return true;
}

static ecs_entity resolve_inside(const void* world, ecs_entity entity) {
    return ecs_command_resolve(world, entity);
}

static void resolve_value(const ecs_world* world, const ecs_value_slot* slot, void* value) {
    const ecs_type* type = ecs_command_type(world, slot->component);
    if (type->id > ECS_BUILTIN_TAG && type->id < ECS_BUILTIN_END)
        ecs_container_map_entities(ecs_container_body_of(value), resolve_inside, world);
    else
        (void)visit_handles(world, slot, ecs_type_object_mut(type, value), true);
}

void ecs_command_unpack(ecs_world* world, const ecs_command* command, uint32_t nth,
                        ecs_init* inits) {
    const ecs_command_values* values = command->values;
    for (uint32_t i = 0; values && i < values->slot_count; i++) {
        void* value = ecs_command_value(values, nth, i);
        if (values->has_placeholders) resolve_value(world, &values->slots[i], value);
        inits[i] = (ecs_init){values->slots[i].component, value};
    }
}

void ecs_command_destroy_values(const ecs_world* world, const ecs_command* command,
                                uint32_t count) {
    const ecs_command_values* values = command->values;
    if (!values || values->is_plain) return;
    for (uint32_t nth = 0; nth < count; nth++)
        for (uint32_t i = 0; i < values->slot_count; i++)
            ecs_cell_destroy(world, ecs_command_type(world, values->slots[i].component),
                             ecs_command_value(values, nth, i));
}
