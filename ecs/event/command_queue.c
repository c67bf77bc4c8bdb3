// SPDX-License-Identifier: MIT
// The queue of recorded commands: record, clear. structure/command.c applies it.
//
// While systems walk rows nothing may move, so they record what they want. A command is a target, a
// header, and copies of its values. Commands in a row that differ by their
// targets and the bytes of their values alone share a header, so that most cost no more than four
// bytes and the values. A creation cannot know its handle yet, since handles are given out in the
// order of application; it returns a placeholder, {generation 0, ordinal}, and whatever names it in
// later commands or in events is replaced at the flush. The order is (system, job, sequence): with
// one thread it is the order of recording.
//
// Memory for headers and values is kept from flush to flush.
#include "event/command_queue.h"

#include "base/assert.h"
#include "template/template_registry.h"
#include "type/container.h"
#include "type/type_registry.h"

#include <string.h>

// Values of recorded commands.
//
// Commands in a row that set the same components share a header, and their values lie in rows of
// one shape after it:
//
//     | shape: pos at 0, hits at 12 | pos hits | pos hits | pos hits | ...
//
// So one more command of the kind is a copy of its bytes, and a run of them is applied column by
// column. Rows join while they are plain bytes without placeholders; values that own memory, or
// name a creation of the same flush, have a header of their own.
//
// Rows lie in blocks that never move, so a type that memcpy cannot move may be recorded too. The
// blocks are kept from flush to flush.

enum { BLOCK_BYTES = 128 * 1024, ROW_ALIGN = 64 };

const ecs_type* ecs_component_type(const ecs_world* world, ecs_component_id id) {
    const ecs_component* component = ecs_component_get(world, id);
    return component ? ecs_type_get(world, component->type) : NULL;
}

static size_t align_up(size_t bytes, size_t align) {
    return (bytes + align - 1) & ~(align - 1);
}

// `bytes` of memory in the blocks, not taken yet.
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
    BASE_ARRAY_RESERVE(world->allocator, commands->blocks, commands->block_capacity,
                       commands->block_count + 1);
    size_t capacity = bytes > BLOCK_BYTES ? align_up(bytes, ROW_ALIGN) : BLOCK_BYTES;
    uint8_t* memory = base_allocate(world->allocator, capacity);
    commands->blocks[commands->block_count++] = (ecs_command_block){memory, capacity};
    return memory;
}

static bool has_handles(const ecs_type* type) {
    for (uint32_t f = 0; f < type->field_count; f++)
        if (type->fields[f].kind == ECS_FIELD_ENTITY) return true;
    return false;
}

// The shape of rows with these components, and memory for one row, nothing created. The caller
// takes the memory (take_row).
static ecs_command_values* lay_out(ecs_world* world, const ecs_init* inits, uint32_t count) {
    BASE_ASSERT(count > 0 && count <= ECS_TEMPLATE_COMPONENTS_MAX);
    size_t stride = 0, align = 1;
    const size_t head =
        align_up(sizeof(ecs_command_values) + count * sizeof(ecs_value_slot), ROW_ALIGN);
    for (uint32_t i = 0; i < count; i++) {
        const ecs_type* type = ecs_component_type(world, inits[i].component);
        stride = align_up(stride, type->align) + type->size;
        align = type->align > align ? type->align : align;
    }
    stride = align_up(stride, align);
    ecs_command_values* values = (ecs_command_values*)(void*)reserve_values(world, head + stride);
    *values = (ecs_command_values){.rows = (uint8_t*)values + head,
                                   .stride = (uint32_t)stride,
                                   .slot_count = count,
                                   .is_plain = true};
    size_t offset = 0;
    for (uint32_t i = 0; i < count; i++) {
        const ecs_type* type = ecs_component_type(world, inits[i].component);
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

// No more values join the last header.
static void command_close_values(ecs_commands* commands) {
    if (!commands->open) return;
    const ecs_command_block* block = &commands->blocks[commands->block_used];
    commands->block_bytes = align_up((size_t)(commands->view.row - block->memory), ROW_ALIGN);
    commands->open = NULL;
}

// How many commands more the open header has room for.
static uint32_t command_values_room(const ecs_commands* commands) {
    const ecs_command_block* block = &commands->blocks[commands->block_used];
    const size_t left = (size_t)(block->memory + block->capacity - commands->view.row);
    const size_t rows = commands->open->stride > 0 ? left / commands->open->stride : UINT32_MAX;
    return rows < UINT32_MAX ? (uint32_t)rows : UINT32_MAX;
}

void ecs_command_make_values(ecs_world* world, ecs_command* command,
                             const ecs_component_id* components, uint32_t count) {
    BASE_ASSERT(!command->values && count <= ECS_TEMPLATE_COMPONENTS_MAX);
    if (count == 0) return;
    ecs_init inits[ECS_TEMPLATE_COMPONENTS_MAX];
    for (uint32_t i = 0; i < count; i++)
        inits[i] = (ecs_init){components[i], NULL};
    ecs_command_values* values = lay_out(world, inits, count);
    ecs_type_context context = {world->allocator};
    memset(values->rows, 0, values->stride);
    for (uint32_t i = 0; i < count; i++)
        ecs_value_create(ecs_component_type(world, components[i]), &context,
                         ecs_command_value(values, 0, i));
    values->has_placeholders = true; // what is read into them may be
    take_row(world->commands, command, values);
    command_close_values(world->commands);
}

bool ecs_handles_visit(const ecs_world* world, const ecs_type* type, void* value, bool resolve) {
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

// Give a header that has none copies of the values, and keep it open for more like them. @return
// false: an unknown component, too many, or a text that is too long.
static bool command_copy_values(ecs_world* world, ecs_command* command, const ecs_init* inits,
                                uint32_t count) {
    BASE_ASSERT(inits && count > 0);
    if (count > ECS_TEMPLATE_COMPONENTS_MAX) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!ecs_component_type(world, inits[i].component)) return false;
    if (ecs_inits_check(world, inits, count) != ECS_OK) return false;
    ecs_command_values* values = lay_out(world, inits, count);
    for (uint32_t i = 0; i < count; i++) {
        const ecs_value_slot* slot = &values->slots[i];
        void* value = values->rows + slot->offset;
        const ecs_type* type = ecs_component_type(world, slot->component);
        ecs_cell_copy(world, type, value, inits[i].value);
        values->has_placeholders |=
            type->ops || (slot->has_handles && ecs_handles_visit(world, type, value, false));
    }
    take_row(world->commands, command, values);
    if (values->has_placeholders) command_close_values(world->commands);
    return true;
}

// One more command under the open header, whose values have handles. @return false when they are
// not of the same components, or name a placeholder.
static bool command_add_values(const ecs_world* world, ecs_entity target, const ecs_init* inits,
                               uint32_t count) {
    ecs_command_view* view = &world->commands->view;
    BASE_ASSERT(world->commands->open && view->count < view->room);
    for (uint32_t i = 0; i < count; i++) {
        const ecs_value_slot* slot = &view->slots[i];
        if (inits[i].component != slot->component) return false;
        ecs_bytes_copy(view->row + slot->offset, inits[i].value, slot->size);
        if (slot->has_handles &&
            ecs_handles_visit(world, ecs_component_type(world, slot->component),
                              view->row + slot->offset, false))
            return false;
    }
    view->row += view->stride;
    view->targets[view->count++] = target;
    return true;
}

static ecs_entity resolve_inside(const void* world, ecs_entity entity) {
    return ecs_command_resolve(world, entity);
}

void ecs_command_unpack(ecs_world* world, const ecs_command* command, uint32_t nth,
                        ecs_init* inits) {
    const ecs_command_values* values = command->values;
    for (uint32_t i = 0; values && i < values->slot_count; i++) {
        void* value = ecs_command_value(values, nth, i);
        if (values->has_placeholders) {
            const ecs_type* type = ecs_component_type(world, values->slots[i].component);
            if (type->id > ECS_BUILTIN_TAG && type->id < ECS_ELEMENT_TYPE_END)
                ecs_container_map_entities(ecs_container_body_of(value), resolve_inside, world);
            else
                (void)ecs_handles_visit(world, type, ecs_type_object_mut(type, value), true);
        }
        inits[i] = (ecs_init){values->slots[i].component, value};
    }
}

// Destroy what the values of `count` commands own.
static void command_destroy_values(const ecs_world* world, const ecs_command* command,
                                   uint32_t count) {
    const ecs_command_values* values = command->values;
    if (!values || values->is_plain) return;
    for (uint32_t nth = 0; nth < count; nth++)
        for (uint32_t i = 0; i < values->slot_count; i++)
            ecs_cell_destroy(world, ecs_component_type(world, values->slots[i].component),
                             ecs_command_value(values, nth, i));
}

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static bool reserve_command(ecs_world* world) {
    ecs_commands* commands = world->commands;
    if (commands->view.count >= world->limits.commands_queued_max) return false;
    BASE_ARRAY_RESERVE(world->allocator, commands->view.targets, commands->target_capacity,
                       commands->view.count + 1);
    BASE_ARRAY_RESERVE(world->allocator, commands->created, commands->created_capacity,
                       commands->view.count + 1);
    BASE_ARRAY_RESERVE(world->allocator, commands->items, commands->item_capacity,
                       commands->item_count + 1);
    return true;
}

ecs_command* ecs_command_push(ecs_world* world, ecs_command_op op, ecs_entity target) {
    ecs_commands* commands = world->commands;
    BASE_ASSERT(!world->is_part && "a part of a shared loop records no commands");
    BASE_ASSERT(world->is_sealed && !commands->is_flushing);
    if (!reserve_command(world)) return NULL;
    command_close_values(commands);
    ecs_command* command = &commands->items[commands->item_count++];
    *command = (ecs_command){.system = commands->system,
                             .job = commands->job,
                             .first = commands->view.count,
                             .op = (uint8_t)op};
    commands->view.targets[commands->view.count++] = target;
    ecs_commands_close(commands);
    return command;
}

void ecs_commands_close(ecs_commands* commands) {
    commands->view.key = commands->open_key = 0;
}

void ecs_commands_enter(ecs_commands* commands, uint32_t system, uint32_t job) {
    commands->system = system;
    commands->job = job;
    ecs_commands_close(commands);
}

static bool any_has_handles(const ecs_command_values* values) {
    bool has_handles = false;
    for (uint32_t i = 0; i < values->slot_count; i++)
        has_handles |= values->slots[i].has_handles;
    return has_handles;
}

// Commands like the last one may follow it. None may when its values stand alone. Handles in values
// are looked at, which the inline path does not.
static void open_header(ecs_world* world, uint32_t key, bool has_values) {
    ecs_commands* commands = world->commands;
    if (has_values && !commands->open) return;
    uint32_t room = smaller(commands->target_capacity, commands->created_capacity);
    room = smaller(room, world->limits.commands_queued_max);
    if (has_values)
        room = smaller(room, commands->view.count +
                                 smaller(command_values_room(commands), ECS_INDEX_MAX));
    commands->view.room = room;
    commands->open_key = key;
    commands->view.key = has_values && any_has_handles(commands->open) ? 0 : key;
}

// Queued commands may be saved, and a save names templates.
static bool is_template(const ecs_world* world, ecs_command_op op, ecs_template_id template_id) {
    if (op != ECS_COMMAND_CREATE && op != ECS_COMMAND_RECREATE) return true;
    return template_id != ECS_TEMPLATE_NONE && template_id <= world->templates->count;
}

// Queue one command under a new header. @return false when that is not possible (counted).
static __attribute__((noinline)) bool record_first(ecs_world* world, ecs_command_op op,
                                                   ecs_entity target, ecs_template_id template_id,
                                                   const ecs_init* inits, uint32_t init_count) {
    ecs_commands* commands = world->commands;
    ecs_command* command = NULL;
    if (is_template(world, op, template_id)) command = ecs_command_push(world, op, target);
    if (command && (init_count == 0 || command_copy_values(world, command, inits, init_count))) {
        command->template_id = template_id;
        open_header(world, ecs_command_key(op, template_id, init_count), init_count > 0);
        return true;
    }
    if (command) {
        commands->view.count--;
        commands->item_count--;
    }
    world->counters.commands_refused++;
    return false;
}

bool ecs_detail_command_record(ecs_world* world, ecs_command_op op, ecs_entity target,
                               ecs_template_id template_id, const ecs_init* inits,
                               uint32_t init_count) {
    ecs_commands* commands = world->commands;
    ecs_command_view* view = &commands->view;
    if (commands->open_key == ecs_command_key(op, template_id, init_count)) {
        // The inline path saw no room, or values with handles, or other components.
        if (view->count == view->room && reserve_command(world))
            open_header(world, commands->open_key, init_count > 0);
        if (view->key != 0
                ? ecs_detail_command_join(view, op, target, template_id, inits, init_count)
                : view->count < view->room && command_add_values(world, target, inits, init_count))
            return true;
    }
    return record_first(world, op, target, template_id, inits, init_count);
}

void ecs_commands_clear(ecs_world* world) {
    ecs_commands* commands = world->commands;
    command_close_values(commands);
    // Without blocks in use no command has values.
    const bool has_values = commands->block_used > 0 || commands->block_bytes > 0;
    for (uint32_t i = 0; has_values && i < commands->item_count; i++)
        command_destroy_values(world, &commands->items[i],
                               ecs_command_end(commands, i) - commands->items[i].first);
    ecs_commands_close(commands);
    commands->view.count = 0;
    commands->view.created_count = 0;
    commands->item_count = 0;
    commands->block_used = 0;
    commands->block_bytes = 0;
}
