// SPDX-License-Identifier: MIT
// The queue of recorded commands: record, read, clear. entity/command.c applies it.
//
// While systems walk rows nothing may move, so they record what they want. A command is a target, a
// header, and packed copies of its values; commands in a row that differ by their targets alone and
// have no values share a header, so that most cost no more than four bytes. A creation cannot know
// its handle yet, since handles are given out in the order of application; it returns a
// placeholder, {generation 0, ordinal}, and whatever names it in later commands or in events is
// replaced at the flush. The order is (system, job, sequence): with one thread it is the order of
// recording.
//
// Memory for headers and values is kept from flush to flush. Values lie in blocks that never move,
// so a type that cannot be moved by memcpy may be recorded too.
#include "base/assert.h"
#include "ecs/command.h"
#include "core/world_internal.h"
#include "event/command_queue.h"
#include "table/cell.h"
#include "template/template_registry.h"
#include "type/container.h"
#include "type/type_registry.h"

#include <string.h>

enum { BLOCK_BYTES = 64 * 1024, VALUE_ALIGN = 64 };

static uint32_t value_bytes(const ecs_type* type) {
    return VALUE_ALIGN + ((type->size + VALUE_ALIGN - 1) & ~(uint32_t)(VALUE_ALIGN - 1));
}

const ecs_type* ecs_command_type(const ecs_world* world, ecs_component_id id) {
    const ecs_component* component = ecs_component_get(world, id);
    return component ? ecs_type_get(world, component->type) : NULL;
}

void* ecs_command_value_data(ecs_command_value* value) {
    return (uint8_t*)value + VALUE_ALIGN;
}

static ecs_command_value* next_value(ecs_command_value* value) {
    return (ecs_command_value*)(void*)((uint8_t*)value + value->bytes);
}

ecs_command_value* ecs_command_value_at(const ecs_command* command, uint32_t n) {
    BASE_ASSERT(n < command->init_count);
    ecs_command_value* value = command->values;
    while (n-- > 0)
        value = next_value(value);
    return value;
}

// `bytes` of memory in the blocks; NULL when memory ran out.
static uint8_t* reserve_values(ecs_world* world, size_t bytes) {
    BASE_ASSERT(bytes > 0 && bytes % VALUE_ALIGN == 0);
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
    size_t capacity = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    uint8_t* memory = base_allocate(world->allocator, capacity);
    if (!memory) return NULL;
    commands->blocks[commands->block_count++] = (ecs_command_block){memory, capacity};
    return memory;
}

static void destroy_values(ecs_world* world, ecs_command_value* value, uint32_t count) {
    for (uint32_t i = 0; i < count; i++, value = next_value(value))
        ecs_cell_destroy(world, ecs_command_type(world, value->component),
                         ecs_command_value_data(value));
}

// Room for values of all these components, heads filled, nothing created. NULL when memory ran
// out. The caller adds `bytes` to block_bytes to keep the room.
static ecs_command_value* lay_out(ecs_world* world, const ecs_component_id* components,
                                  uint32_t count, size_t* bytes) {
    BASE_ASSERT(count > 0 && count <= ECS_TEMPLATE_COMPONENTS_MAX);
    *bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        *bytes += value_bytes(ecs_command_type(world, components[i]));
    uint8_t* memory = reserve_values(world, *bytes);
    uint8_t* next = memory;
    for (uint32_t i = 0; memory && i < count; i++) {
        ecs_command_value* value = (ecs_command_value*)(void*)next;
        value->component = components[i];
        value->bytes = value_bytes(ecs_command_type(world, components[i]));
        next += value->bytes;
    }
    return (ecs_command_value*)(void*)memory;
}

bool ecs_command_make_values(ecs_world* world, ecs_command* command,
                             const ecs_component_id* components, uint32_t count) {
    BASE_ASSERT(command->init_count == 0 && count <= ECS_TEMPLATE_COMPONENTS_MAX);
    ecs_type_context context = {world->allocator};
    size_t bytes = 0;
    if (count == 0) return true;
    command->values = lay_out(world, components, count, &bytes);
    if (!command->values) return false;
    ecs_command_value* value = command->values;
    bool are_made = true;
    for (uint32_t i = 0; i < count; i++, value = next_value(value)) {
        const ecs_type* type = ecs_command_type(world, value->component);
        memset(ecs_command_value_data(value), 0, type->size);
        are_made = ecs_value_create(type, &context, ecs_command_value_data(value)) && are_made;
    }
    command->init_count = (uint16_t)count;
    world->commands->block_bytes += bytes;
    return are_made;
}

static bool copy_values(ecs_world* world, const ecs_init* inits, uint32_t count,
                        ecs_command_value** values) {
    BASE_ASSERT(inits || count == 0);
    ecs_component_id components[ECS_TEMPLATE_COMPONENTS_MAX];
    size_t bytes = 0;
    *values = NULL;
    if (count == 0) return true;
    if (count > ECS_TEMPLATE_COMPONENTS_MAX) return false;
    for (uint32_t i = 0; i < count; i++) {
        components[i] = inits[i].component;
        if (!ecs_command_type(world, components[i])) return false;
    }
    *values = lay_out(world, components, count, &bytes);
    if (!*values) return false;
    ecs_command_value* value = *values;
    for (uint32_t i = 0; i < count; i++, value = next_value(value)) {
        if (ecs_cell_copy(world, ecs_command_type(world, value->component),
                          ecs_command_value_data(value), inits[i].value))
            continue;
        destroy_values(world, *values, i);
        return false;
    }
    world->commands->block_bytes += bytes;
    return true;
}

static bool reserve_command(ecs_world* world) {
    ecs_commands* commands = world->commands;
    const uint32_t limit = world->limits.commands_queued_max;
    if (commands->count >= limit ||
        !BASE_ARRAY_RESERVE(world->allocator, commands->targets, commands->target_capacity,
                            commands->count + 1) ||
        !BASE_ARRAY_RESERVE(world->allocator, commands->created, commands->created_capacity,
                            commands->count + 1))
        return false;
    uint32_t room = commands->target_capacity < commands->created_capacity
                        ? commands->target_capacity
                        : commands->created_capacity;
    commands->room = room < limit ? room : limit;
    return true;
}

ecs_command* ecs_command_push(ecs_world* world, ecs_command_op op, ecs_entity target) {
    ecs_commands* commands = world->commands;
    BASE_ASSERT(world->is_sealed && !commands->is_flushing);
    if (commands->count >= commands->room && !reserve_command(world)) return NULL;
    if (!BASE_ARRAY_RESERVE(world->allocator, commands->items, commands->item_capacity,
                            commands->item_count + 1))
        return NULL;
    ecs_command* command = &commands->items[commands->item_count++];
    *command = (ecs_command){.system = commands->system,
                             .job = commands->job,
                             .first = commands->count,
                             .op = (uint8_t)op};
    commands->targets[commands->count++] = target;
    commands->open_key = 0;
    return command;
}

// What commands under one header have in common; never 0.
static inline uint64_t key_of(const ecs_commands* commands, ecs_command_op op,
                              ecs_template_id template_id) {
    return (uint64_t)commands->system << 32 | (uint64_t)(op + 1) << 16 | template_id;
}

// One more command like those of the last header.
static inline bool join(ecs_world* world, ecs_command_op op, ecs_entity target,
                        ecs_template_id template_id, uint32_t init_count) {
    ecs_commands* commands = world->commands;
    const uint32_t count = commands->count;
    if (commands->open_key != key_of(commands, op, template_id) || init_count > 0 ||
        count >= commands->room)
        return false;
    commands->targets[count] = target;
    commands->count = count + 1;
    return true;
}

// Queue one command with copies of its values. @return false when that is not possible (counted).
static __attribute__((noinline)) bool record(ecs_world* world, ecs_command_op op, ecs_entity target,
                                             ecs_template_id template_id, const ecs_init* inits,
                                             uint32_t init_count) {
    ecs_commands* commands = world->commands;
    ecs_command* command = ecs_command_push(world, op, target);
    if (command && (init_count == 0 || copy_values(world, inits, init_count, &command->values))) {
        command->init_count = (uint16_t)init_count;
        command->template_id = template_id;
        if (init_count == 0) commands->open_key = key_of(commands, op, template_id);
        return true;
    }
    if (command) {
        commands->count--;
        commands->item_count--;
    }
    world->counters.commands_refused++;
    return false;
}

// What is queued may be saved, and a save names templates. @return false for an unknown one
// (counted).
static inline bool is_template(ecs_world* world, ecs_template_id template_id) {
    if (template_id != ECS_TEMPLATE_NONE && template_id <= world->templates->count) return true;
    world->counters.commands_refused++;
    return false;
}

ecs_entity ecs_command_create(ecs_world* world, ecs_template_id template_id, const ecs_init* inits,
                              uint32_t init_count) {
    ecs_commands* commands = world->commands;
    const ecs_entity placeholder = ecs_entity_make(commands->created_count + 1, 0);
    if (!join(world, ECS_COMMAND_CREATE, placeholder, template_id, init_count) &&
        (!is_template(world, template_id) ||
         !record(world, ECS_COMMAND_CREATE, placeholder, template_id, inits, init_count)))
        return ECS_ENTITY_NONE;
    commands->created_count++;
    return placeholder;
}

bool ecs_command_destroy(ecs_world* world, ecs_entity entity) {
    return join(world, ECS_COMMAND_DESTROY, entity, ECS_TEMPLATE_NONE, 0) ||
           record(world, ECS_COMMAND_DESTROY, entity, ECS_TEMPLATE_NONE, NULL, 0);
}

bool ecs_command_recreate(ecs_world* world, ecs_entity entity, ecs_template_id template_id,
                          const ecs_init* inits, uint32_t init_count) {
    return join(world, ECS_COMMAND_RECREATE, entity, template_id, init_count) ||
           (is_template(world, template_id) &&
            record(world, ECS_COMMAND_RECREATE, entity, template_id, inits, init_count));
}

bool ecs_command_set(ecs_world* world, ecs_entity entity, ecs_component_id component,
                     const void* value) {
    ecs_init init = {.component = component, .value = value};
    return record(world, ECS_COMMAND_SET, entity, ECS_TEMPLATE_NONE, &init, 1);
}

static bool record_sparse(ecs_world* world, ecs_command_op op, ecs_entity entity,
                          ecs_component_id component, const void* value) {
    const ecs_init init = {.component = component, .value = value};
    ecs_commands* commands = world->commands;
    if (!value && join(world, op, entity, component, 0)) return true;
    if (!record(world, op, entity, ECS_TEMPLATE_NONE, &init, value ? 1 : 0)) return false;
    commands->items[commands->item_count - 1].component = component;
    if (!value) commands->open_key = key_of(commands, op, component);
    return true;
}

bool ecs_command_add(ecs_world* world, ecs_entity entity, ecs_component_id component,
                     const void* value) {
    return record_sparse(world, ECS_COMMAND_ADD, entity, component, value);
}

bool ecs_command_remove(ecs_world* world, ecs_entity entity, ecs_component_id component) {
    return record_sparse(world, ECS_COMMAND_REMOVE, entity, component, NULL);
}

uint32_t ecs_command_count(const ecs_world* world) {
    return world->commands->count;
}

static ecs_entity resolve_inside(const void* world, ecs_entity entity) {
    return ecs_command_resolve(world, entity);
}

// Handles inside a value: placeholders become what they stand for.
static void resolve_value(const ecs_world* world, const ecs_type* type, void* cell) {
    if (type->id > ECS_BUILTIN_TAG && type->id < ECS_BUILTIN_END) {
        ecs_container_map_entities(ecs_container_body_of(cell), resolve_inside, world);
        return;
    }
    void* value = ecs_type_object_mut(type, cell);
    for (uint32_t f = 0; f < type->field_count; f++) {
        const ecs_field* field = &type->fields[f];
        if (field->kind != ECS_FIELD_ENTITY) continue;
        ecs_entity* handles = (ecs_entity*)(void*)((uint8_t*)value + field->offset);
        for (uint32_t i = 0; i < field->count; i++)
            handles[i] = ecs_command_resolve(world, handles[i]);
    }
}

void ecs_command_unpack(ecs_world* world, const ecs_command* command, ecs_init* inits) {
    BASE_ASSERT(command->init_count <= ECS_TEMPLATE_COMPONENTS_MAX);
    ecs_command_value* value = command->values;
    for (uint32_t i = 0; i < command->init_count; i++, value = next_value(value)) {
        void* data = ecs_command_value_data(value);
        resolve_value(world, ecs_command_type(world, value->component), data);
        inits[i] = (ecs_init){.component = value->component, .value = data};
    }
}

void ecs_commands_clear(ecs_world* world) {
    ecs_commands* commands = world->commands;
    // Without blocks in use no command has values.
    bool has_values = commands->block_used > 0 || commands->block_bytes > 0;
    for (uint32_t i = 0; has_values && i < commands->item_count; i++)
        destroy_values(world, commands->items[i].values, commands->items[i].init_count);
    commands->count = 0;
    commands->item_count = 0;
    commands->open_key = 0;
    commands->created_count = 0;
    commands->block_used = 0;
    commands->block_bytes = 0;
}

void ecs_commands_deinit(ecs_world* world) {
    ecs_commands* commands = world->commands;
    const base_allocator* allocator = world->allocator;
    ecs_commands_clear(world);
    for (uint32_t i = 0; i < commands->block_count; i++)
        base_release(allocator, commands->blocks[i].memory, commands->blocks[i].capacity);
    BASE_ARRAY_RELEASE(allocator, commands->blocks, commands->block_capacity);
    BASE_ARRAY_RELEASE(allocator, commands->items, commands->item_capacity);
    BASE_ARRAY_RELEASE(allocator, commands->targets, commands->target_capacity);
    BASE_ARRAY_RELEASE(allocator, commands->created, commands->created_capacity);
    *commands = (ecs_commands){0};
}
