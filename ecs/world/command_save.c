// SPDX-License-Identifier: MIT
// The command queue as bytes, for saves and for the hash of a whole world.
//
// Components go before values, so that a reader knows how much memory the values take before it
// makes the first one. Placeholders are kept as they are: they name creations of the same queue.
#include "base/assert.h"
#include "event/command_queue.h"
#include "type/world.h"
#include "world/storage_save.h"

void ecs_commands_write(const ecs_world* world, base_bytes* bytes) {
    const ecs_commands* commands = world->commands;
    base_bytes_write_varint(bytes, commands->view.created_count);
    base_bytes_write_varint(bytes, commands->view.count);
    for (uint32_t i = 0, head = 0; i < commands->view.count; i++) {
        if (i == ecs_command_end(commands, head)) head++;
        const ecs_command* command = &commands->items[head];
        const ecs_command_values* values = command->values;
        const uint32_t init_count = ecs_command_init_count(command);
        base_bytes_write_u8(bytes, command->op);
        base_bytes_write_varint(bytes, command->system);
        base_bytes_write_varint(bytes, command->job);
        base_bytes_write_u16(bytes, command->template_id);
        base_bytes_write_u32(bytes, commands->view.targets[i]);
        base_bytes_write_varint(bytes, init_count);
        for (uint32_t k = 0; k < init_count; k++)
            base_bytes_write_u16(bytes, values->slots[k].component);
        for (uint32_t k = 0; k < init_count; k++)
            ecs_type_write(ecs_command_type(world, values->slots[k].component),
                           ecs_command_value(values, i - command->first, k), bytes);
    }
}

// The inits of one command: defaults of their types first, then read over.
static ecs_result read_inits(ecs_world* world, ecs_command* command, uint64_t count,
                             base_reader* reader) {
    ecs_component_id components[ECS_TEMPLATE_COMPONENTS_MAX] = {0};
    if (count > ECS_TEMPLATE_COMPONENTS_MAX) return ECS_ERR_MALFORMED;
    for (uint32_t i = 0; i < count; i++) {
        components[i] = base_reader_u16(reader);
        if (reader->failed || !ecs_command_type(world, components[i])) return ECS_ERR_MALFORMED;
    }
    if (!ecs_command_make_values(world, command, components, (uint32_t)count))
        return ECS_ERR_MEMORY;
    ecs_type_context context = {world->allocator};
    for (uint32_t i = 0; i < count; i++)
        if (!ecs_type_read(ecs_command_type(world, components[i]), &context,
                           ecs_command_value(command->values, 0, i), reader))
            return reader->failed ? ECS_ERR_MALFORMED : ECS_ERR_MEMORY;
    return ECS_OK;
}

// An entity field of a saved command is a handle, none, or a placeholder of this queue.
static bool is_target_valid(ecs_command_op op, ecs_entity entity, uint64_t created,
                            uint64_t created_count) {
    if (op == ECS_COMMAND_CREATE) return entity == created + 1;
    return !ecs_entity_is_placeholder(entity) || ecs_entity_index(entity) <= created_count;
}

ecs_result ecs_commands_read(ecs_world* world, base_reader* reader) {
    ecs_commands* commands = world->commands;
    BASE_ASSERT(commands->view.count == 0);
    uint64_t created_count = base_reader_varint(reader);
    uint64_t count = base_reader_varint(reader);
    if (reader->failed || created_count > count || count > world->limits.commands_queued_max)
        return ECS_ERR_MALFORMED;
    uint64_t created = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint8_t op = base_reader_u8(reader);
        uint64_t system = base_reader_varint(reader);
        uint64_t job = base_reader_varint(reader);
        ecs_template_id template_id = base_reader_u16(reader);
        ecs_entity entity = base_reader_u32(reader);
        uint64_t init_count = base_reader_varint(reader);
        if (reader->failed || op > ECS_COMMAND_SET || system > UINT32_MAX || job > UINT32_MAX ||
            (op == ECS_COMMAND_SET && init_count != 1) ||
            (op == ECS_COMMAND_DESTROY && init_count != 0) ||
            !is_target_valid((ecs_command_op)op, entity, created, created_count))
            return ECS_ERR_MALFORMED;
        ecs_command* command = ecs_command_push(world, (ecs_command_op)op, entity);
        if (!command) return ECS_ERR_MEMORY; // the count was checked
        command->system = (uint32_t)system;
        command->job = (uint32_t)job;
        command->template_id = template_id;
        if (op == ECS_COMMAND_CREATE) created++;
        ecs_result result = read_inits(world, command, init_count, reader);
        if (result != ECS_OK) return result;
    }
    commands->view.created_count = (uint32_t)created;
    return created == created_count ? ECS_OK : ECS_ERR_MALFORMED;
}
