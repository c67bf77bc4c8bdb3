// SPDX-License-Identifier: MIT
// Recorded commands applied at a flush point, in the order of recording.
//
// Commands under one header are alike, so they are tried as one run first: creations go through the
// bulk path (structure/bulk.c), recreates and destroys through command_batch.c, values of one
// component into their cells. The result is that of one by one. A run ends where a command would
// not simply succeed; that one is applied alone, and says why.
#include "base/assert.h"
#include "ecs/command.h"
#include "ecs/loader.h"
#include "entity/batch.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "structure/transition.h"
#include "table/row.h"
#include "table/storage.h"
#include "type/world.h"

#include <string.h>

static ecs_result apply(ecs_world* world, const ecs_command* command, uint32_t nth,
                        ecs_entity target) {
    ecs_init inits[ECS_TEMPLATE_COMPONENTS_MAX];
    const uint32_t init_count = ecs_command_init_count(command);
    ecs_command_unpack(world, command, nth, inits);
    if (command->op == ECS_COMMAND_CREATE)
        return ecs_create(world, command->template_id, inits, init_count,
                          &world->commands->created[ecs_entity_index(target) - 1]);
    ecs_entity entity = ecs_command_resolve(world, target);
    if (!ecs_is_alive(world, entity) && !ecs_loading_is_pending(world, entity))
        return ECS_ERR_STALE;
    switch ((ecs_command_op)command->op) {
    case ECS_COMMAND_DESTROY:
        return ecs_destroy(world, entity);
    case ECS_COMMAND_RECREATE:
        return ecs_recreate(world, entity, command->template_id, inits, init_count);
    case ECS_COMMAND_SET:
        return ecs_set(world, entity, inits[0].component, inits[0].value);
    case ECS_COMMAND_CREATE:
        break;
    }
    return ECS_ERR_UNKNOWN;
}

// All creations from command `first` of a header on. @return commands done: all, or 0 when they do
// not fit as a whole.
static uint32_t apply_creates(ecs_world* world, uint32_t first, uint32_t head) {
    ecs_commands* commands = world->commands;
    const ecs_command* command = &commands->items[head];
    const uint32_t count = ecs_command_end(commands, head) - first;
    const ecs_template_id template_id = command->template_id;
    ecs_binding* binding = NULL;
    if (count < 2 || ecs_row_bind(world, template_id, &binding) != ECS_OK ||
        binding->archetype->notify)
        return 0;
    const ecs_command_values* values = command->values;
    ecs_row_values rows = {0};
    if (values) {
        if (binding->archetype->has_ops || !values->is_plain || values->has_placeholders ||
            !ecs_row_has_values(world, binding->archetype, values->slots, values->slot_count))
            return 0;
        rows = ecs_command_rows(values, first - command->first);
    }
    ecs_entity* created = &commands->created[ecs_entity_index(commands->view.targets[first]) - 1];
    ecs_structure_check(world);
    if (ecs_structure_reserve_many(world, template_id, binding, count) != ECS_OK ||
        ecs_structure_create_many(world, template_id, binding, count, values ? &rows : NULL,
                                  created) != ECS_OK)
        return 0;
    return count;
}

// Values of one component from command `first` of a header on, while the rows are there. Records
// and rows lie anywhere in memory, so both are asked for some commands ahead. @return commands
// done.
static uint32_t apply_sets(ecs_world* world, uint32_t first, uint32_t head) {
    enum { RECORD_AHEAD = 24, ROW_AHEAD = 10 };
    const ecs_storage* storage = world->storage;
    const ecs_commands* commands = world->commands;
    const ecs_command* command = &commands->items[head];
    const ecs_command_values* values = command->values;
    const uint32_t component = values->slots[0].component, size = values->slots[0].size;
    if (!values->is_plain || values->has_placeholders || component >= storage->slot_count) return 0;
    const ecs_entity* targets = commands->view.targets;
    const uint32_t end = ecs_command_end(commands, head);
    for (uint32_t i = first; i < end; i++) {
        if (i + RECORD_AHEAD < end)
            __builtin_prefetch(ecs_record_at(storage, ecs_entity_index(targets[i + RECORD_AHEAD])));
        const ecs_record* ahead =
            i + ROW_AHEAD < end ? ecs_record_find(storage, targets[i + ROW_AHEAD]) : NULL;
        if (ahead) {
            const ecs_place* place = &storage->places[ahead->place >> ECS_ROW_BITS];
            __builtin_prefetch((uint8_t*)place->chunk + place->slots[component].offset +
                                   (size_t)size * ecs_record_row(ahead),
                               1);
        }
        const ecs_record* record = ecs_record_find(storage, ecs_command_resolve(world, targets[i]));
        if (!record) return i - first;
        const ecs_place* place = &storage->places[record->place >> ECS_ROW_BITS];
        const ecs_slot* slot = &place->slots[component];
        if (slot->column == ECS_SLOT_NONE) return i - first;
        const uint32_t row = ecs_record_row(record);
        if (slot->track != ECS_SLOT_NONE) ecs_chunk_mark_row(place->chunk, slot->track, row);
        ecs_bytes_copy((uint8_t*)place->chunk + slot->offset + (size_t)size * row,
                       ecs_command_value(values, i - command->first, 0), size);
    }
    return end - first;
}

static uint32_t apply_run(ecs_world* world, uint32_t first, uint32_t head) {
    switch ((ecs_command_op)world->commands->items[head].op) {
    case ECS_COMMAND_CREATE:
        return apply_creates(world, first, head);
    case ECS_COMMAND_DESTROY:
    case ECS_COMMAND_RECREATE:
        return ecs_batch_apply(world, first, head);
    case ECS_COMMAND_SET:
        return apply_sets(world, first, head);
    }
    return 0;
}

void ecs_commands_apply(ecs_world* world) {
    ecs_commands* commands = world->commands;
    BASE_ASSERT(world->fast.walk_depth == 0 && !commands->is_flushing);
    commands->is_flushing = true;
    if (commands->created)
        memset(commands->created, 0, commands->view.created_count * sizeof *commands->created);
    ecs_commands_close(commands);
    bool is_creates_tried = false; // what did not fit as a whole is not tried again one shorter
    for (uint32_t i = 0, head = 0; i < commands->view.count;) {
        while (ecs_command_end(commands, head) <= i) {
            head++;
            is_creates_tried = false;
        }
        const uint32_t run = is_creates_tried ? 0 : apply_run(world, i, head);
        world->counters.commands_applied += run;
        i += run;
        if (run > 0) continue;
        const ecs_command* command = &commands->items[head];
        is_creates_tried = command->op == ECS_COMMAND_CREATE;
        ecs_result result = apply(world, command, i - command->first, commands->view.targets[i]);
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
    BASE_ASSERT(world->fast.stage_depth == 0 && "inside a stage the flush points apply commands");
    ecs_commands_apply(world);
}
