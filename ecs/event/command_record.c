// SPDX-License-Identifier: MIT
// The queue of recorded commands: record, clear. entity/command.c applies it.
//
// While systems walk rows nothing may move, so they record what they want. A command is a target, a
// header, and copies of its values (command_values.c). Commands in a row that differ by their
// targets and the bytes of their values alone share a header, so that most cost no more than four
// bytes and the values. A creation cannot know its handle yet, since handles are given out in the
// order of application; it returns a placeholder, {generation 0, ordinal}, and whatever names it in
// later commands or in events is replaced at the flush. The order is (system, job, sequence): with
// one thread it is the order of recording.
//
// Memory for headers and values is kept from flush to flush.
#include "base/assert.h"
#include "event/command_queue.h"
#include "template/template_registry.h"
#include "type/world.h"

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static bool reserve_command(ecs_world* world) {
    ecs_commands* commands = world->commands;
    return commands->view.count < world->limits.commands_queued_max &&
           BASE_ARRAY_RESERVE(world->allocator, commands->view.targets, commands->target_capacity,
                              commands->view.count + 1) &&
           BASE_ARRAY_RESERVE(world->allocator, commands->created, commands->created_capacity,
                              commands->view.count + 1) &&
           BASE_ARRAY_RESERVE(world->allocator, commands->items, commands->item_capacity,
                              commands->item_count + 1);
}

ecs_command* ecs_command_push(ecs_world* world, ecs_command_op op, ecs_entity target) {
    ecs_commands* commands = world->commands;
    BASE_ASSERT(!world->is_part && "a part of a shared loop records no commands");
    BASE_ASSERT(world->is_sealed && !commands->is_flushing);
    if (!reserve_command(world)) return NULL;
    ecs_command_close_values(commands);
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
                                 smaller(ecs_command_values_room(commands), ECS_INDEX_MAX));
    commands->view.room = room;
    commands->open_key = key;
    commands->view.key = has_values && any_has_handles(commands->open) ? 0 : key;
}

// What is queued may be saved, and a save names templates.
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
    if (command &&
        (init_count == 0 || ecs_command_copy_values(world, command, inits, init_count))) {
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
                : view->count < view->room &&
                      ecs_command_add_values(world, target, inits, init_count))
            return true;
    }
    return record_first(world, op, target, template_id, inits, init_count);
}

uint32_t ecs_command_count(const ecs_world* world) {
    return world->commands->view.count;
}

void ecs_commands_clear(ecs_world* world) {
    ecs_commands* commands = world->commands;
    ecs_command_close_values(commands);
    // Without blocks in use no command has values.
    const bool has_values = commands->block_used > 0 || commands->block_bytes > 0;
    for (uint32_t i = 0; has_values && i < commands->item_count; i++)
        ecs_command_destroy_values(world, &commands->items[i],
                                   ecs_command_end(commands, i) - commands->items[i].first);
    ecs_commands_close(commands);
    commands->view.count = 0;
    commands->view.created_count = 0;
    commands->item_count = 0;
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
    BASE_ARRAY_RELEASE(allocator, commands->view.targets, commands->target_capacity);
    BASE_ARRAY_RELEASE(allocator, commands->created, commands->created_capacity);
    *commands = (ecs_commands){0};
}
