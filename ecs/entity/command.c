// SPDX-License-Identifier: MIT
// Recorded commands applied at a flush point, in the order of recording.
//
// Runs of creations of one template without values go through the bulk path (structure/bulk.c),
// runs of recreates and destroys of one archetype through command_batch.c; the result is that of
// one by one.
#include "base/assert.h"
#include "ecs/command.h"
#include "ecs/loader.h"
#include "core/world_internal.h"
#include "entity/batch.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "structure/transition.h"
#include "table/archetype.h"
#include "table/chunk.h"
#include "table/record.h"
#include "table/storage.h"

#include <string.h>

static ecs_result apply(ecs_world* world, const ecs_command* command, ecs_entity target) {
    ecs_init inits[ECS_TEMPLATE_COMPONENTS_MAX];
    if (command->init_count > 0) ecs_command_unpack(world, command, inits);
    if (command->op == ECS_COMMAND_CREATE)
        return ecs_create(world, command->template_id, inits, command->init_count,
                          &world->commands->created[ecs_entity_index(target) - 1]);
    ecs_entity entity = ecs_command_resolve(world, target);
    if (!ecs_is_alive(world, entity) && !ecs_loading_is_pending(world, entity))
        return ECS_ERR_STALE;
    switch ((ecs_command_op)command->op) {
    case ECS_COMMAND_DESTROY:
        return ecs_destroy(world, entity);
    case ECS_COMMAND_RECREATE:
        return ecs_recreate(world, entity, command->template_id, inits, command->init_count);
    case ECS_COMMAND_SET:
        return ecs_set(world, entity, inits[0].component, inits[0].value);
    case ECS_COMMAND_ADD:
        return ecs_add(world, entity, command->component,
                       command->init_count > 0 ? inits[0].value : NULL);
    case ECS_COMMAND_REMOVE:
        return ecs_remove(world, entity, command->component);
    case ECS_COMMAND_CREATE:
        break;
    }
    return ECS_ERR_UNKNOWN;
}

static bool is_plain_create(const ecs_command* command, ecs_template_id template_id) {
    return command->op == ECS_COMMAND_CREATE && command->init_count == 0 &&
           command->template_id == template_id;
}

// A run of creations without values from `first` on, at once. `looked_at` is how many commands need
// no other try. @return commands done; 0 when there is no run or it does not fit as a whole, so
// that it is tried one by one.
static uint32_t apply_run(ecs_world* world, uint32_t first, uint32_t head, uint32_t* looked_at) {
    BASE_ASSERT(head < world->commands->item_count && first < world->commands->count);
    ecs_commands* commands = world->commands;
    const ecs_command* command = &commands->items[head];
    uint32_t count = 0;
    for (; head < commands->item_count &&
           is_plain_create(&commands->items[head], command->template_id);
         head++)
        count = ecs_command_end(commands, head) - first;
    *looked_at = count > 1 ? count : 1;
    ecs_binding* binding = NULL;
    if (count < 2 || ecs_row_bind(world, command->template_id, &binding) != ECS_OK ||
        binding->archetype->notify)
        return 0;
    ecs_entity* created = &commands->created[ecs_entity_index(commands->targets[first]) - 1];
    return ecs_create_many(world, command->template_id, count, created) == ECS_OK ? count : 0;
}

// Commands name entities anywhere in memory, and each would wait for its record and then for its
// row. So both are asked for some commands ahead; the order of application stays.
static void fetch_ahead(const ecs_world* world, uint32_t at) {
    enum { RECORD_AHEAD = 24, ROW_AHEAD = 10 };
    const ecs_storage* storage = world->storage;
    const ecs_commands* commands = world->commands;
    if (at + RECORD_AHEAD < commands->count)
        __builtin_prefetch(
            ecs_record_at(storage, ecs_entity_index(commands->targets[at + RECORD_AHEAD])), 1);
    if (at + ROW_AHEAD >= commands->count) return;
    const ecs_record* record = ecs_record_find(storage, commands->targets[at + ROW_AHEAD]);
    if (!record) return;
    ecs_chunk_prefetch(ecs_record_chunk(storage, record), ecs_record_row(record));
}

void ecs_commands_apply(ecs_world* world) {
    ecs_commands* commands = world->commands;
    BASE_ASSERT(world->fast.walk_depth == 0 && !commands->is_flushing);
    commands->is_flushing = true;
    if (commands->created)
        memset(commands->created, 0, commands->created_count * sizeof *commands->created);
    commands->open_key = 0;
    uint32_t create_from = 0, batch_from = 0, head = 0;
    for (uint32_t i = 0; i < commands->count;) {
        uint32_t run = 0, looked_at;
        while (ecs_command_end(commands, head) <= i)
            head++;
        if (i >= create_from) {
            run = apply_run(world, i, head, &looked_at);
            create_from = i + looked_at;
        }
        if (run == 0 && i >= batch_from) {
            run = ecs_batch_apply(world, i, head, &looked_at);
            batch_from = i + looked_at;
        }
        world->counters.commands_applied += run;
        i += run;
        if (run > 0) continue;
        fetch_ahead(world, i);
        ecs_result result = apply(world, &commands->items[head], commands->targets[i]);
        i++;
        if (result == ECS_OK)
            world->counters.commands_applied++;
        else if (result == ECS_ERR_STALE)
            world->counters.stale_handles++;
        else
            world->counters.commands_refused++;
    }
    ecs_events_resolve(world);
    ecs_commands_clear(world);
    commands->is_flushing = false;
}

void ecs_command_flush(ecs_world* world) {
    BASE_ASSERT(world->stage_depth == 0 && "inside a stage the flush points apply commands");
    ecs_commands_apply(world);
}
