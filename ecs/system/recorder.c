// SPDX-License-Identifier: MIT
// Recorders: each range of a system records commands and events into queues of its own.
//
// Ranges that run at the same time share no queue, so nothing waits and nothing depends on who was
// first. A flush point takes the recorders in the order of systems and ranges: the events move to
// the end of the world's queue as they are, bytes behind bytes, and the commands are applied from
// where they lie. What handlers of core events record meanwhile goes to the same recorder, behind
// its commands, and placeholders mean what that recorder gave out.
//
// Limits hold for each recorder, and once more for the world's queue of events when they move: what
// does not fit is refused and counted. Both depend on what was recorded, never on threads.
#include "system/recorder.h"

#include "base/assert.h"
#include "structure/transition.h"

#include <string.h>

void ecs_recorder_init(const ecs_world* world, ecs_recorder* recorder) {
    BASE_ASSERT(world->is_sealed);
    const ecs_events* events = world->events;
    memcpy(recorder->events.kinds, events->kinds, sizeof recorder->events.kinds);
    recorder->events.kind_count = events->kind_count;
    recorder->events.park = events->park;
    recorder->events.maximum = events->maximum;
}

// Functions of a queue find it in the world: for them the recorder's queues are the world's.
typedef struct world_queues {
    ecs_commands* commands;
    ecs_events* events;
} world_queues;

static world_queues put_queues(ecs_world* world, world_queues queues) {
    const world_queues before = {world->commands, world->events};
    world->commands = queues.commands;
    world->events = queues.events;
    world->fast.commands = &queues.commands->view;
    world->fast.events = &queues.events->view;
    return before;
}

void ecs_recorder_deinit(ecs_world* world, ecs_recorder* recorder) {
    world_queues before = put_queues(world, (world_queues){&recorder->commands, &recorder->events});
    ecs_batch_deinit(world);
    ecs_commands_deinit(world);
    (void)put_queues(world, before);
    base_release(world->allocator, recorder->events.queue, recorder->events.capacity);
    *recorder = (ecs_recorder){0};
}

void ecs_recorder_bind(ecs_world* view, ecs_recorder* recorder, uint32_t system, uint32_t job) {
    BASE_ASSERT(recorder->commands.view.count == 0 && ecs_events_count(&recorder->events) == 0);
    (void)put_queues(view, (world_queues){&recorder->commands, &recorder->events});
    ecs_commands_enter(&recorder->commands, system, job);
}

void ecs_recorder_take(ecs_world* world, ecs_recorder* recorder) {
    ecs_events_append(world, &recorder->events);
    if (recorder->commands.view.count > 0 || world->events->unresolved_count > 0) {
        world_queues own = put_queues(world, (world_queues){&recorder->commands, world->events});
        ecs_commands_apply(world);
        ecs_events_resolve(world);
        (void)put_queues(world, own);
    }
}
