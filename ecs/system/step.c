// SPDX-License-Identifier: MIT
// Running a stage and a whole step.
//
// A step runs systems in order, with a flush point before the first and after each that ran. Sync
// points run nothing, interval systems run only on their ticks. A flush point applies the recorded
// commands, then delivers the events that wait, and repeats both until none is left or the budget
// of events is used up; the rest waits for the next flush point.
//
// Commands come first: an event may name a placeholder, which has a handle only after its creation
// was applied. Handlers run with structure deferred as systems do, so a batch of events sees one
// unchanging structure.
//
// Invariant: no names, no allocation in a steady step; the result depends on the order of systems
// and of rows only.
#include "base/assert.h"
#include "core/world_internal.h"
#include "entity/batch.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "event/membership.h"
#include "event/systems.h"
#include "hierarchy/hierarchy_lists.h"
#include "system/system_registry.h"
#include "track/track.h"

static void flush_point(ecs_world* world, const ecs_stage* stage) {
    BASE_ASSERT(stage->world == world && world->stage_depth > 0);
    uint32_t budget = world->limits.events_per_flush_max;
    for (;;) {
        ecs_commands_apply(world);
        ecs_events_resolve(world); // what names a placeholder that no command made
        uint32_t batch = world->events->queue_count < budget ? world->events->queue_count : budget;
        if (batch == 0) break;
        ecs_events_deliver(world, stage, batch);
        budget -= batch;
    }
    world->counters.events_deferred += world->events->queue_count;
}

static void run_system(ecs_world* world, ecs_system* system, ecs_stage* stage) {
    BASE_ASSERT(system->is_present && !system->is_sync_point);
    stage->context = system->context;
    if (system->has_members) ecs_membership_deliver(system, &system->members, stage);
    if (!system->run) return;
    if (!system->query) {
        const ecs_rows none = {0};
        system->run(stage, &none);
        return;
    }
    ecs_query_iter iter = ecs_query_begin(world, system->query);
    while (ecs_query_next(&iter))
        system->run(stage, &iter.rows);
}

// Steps do not nest, and no walk holds columns while one begins.
static void check_idle(const ecs_world* world) {
    BASE_ASSERT(world->is_sealed);
    BASE_ASSERT(world->stage_depth == 0 && world->fast.walk_depth == 0);
}

static void run_stage(ecs_world* world, uint32_t index, const ecs_step* step) {
    BASE_ASSERT(index < world->systems->stage_count);
    ecs_stage stage = {.world = world, .tick = step->tick, .dt = step->dt, .user = step->user};
    const ecs_system_order* order = &world->systems->stages[index].order;
    world->stage_depth++;
    world->systems->now = stage;
    flush_point(world, &stage);
    for (uint32_t i = 0; i < order->count; i++) {
        ecs_system* system = world->systems->list[order->systems[i]];
        if (system->is_sync_point || (system->every_ticks > 1 && step->tick % system->every_ticks))
            continue; // nothing ran, so there is nothing to flush
        world->commands->system = i;
        run_system(world, system, &stage);
        world->commands->system = 0;
        flush_point(world, &stage);
    }
    world->systems->now = (ecs_stage){0};
    world->stage_depth--;
}

void ecs_world_run_stage(ecs_world* world, uint32_t stage, const ecs_step* step) {
    check_idle(world);
    run_stage(world, stage, step);
}

// ComponentChanged of what tracking noticed; delivered in the next step.
static void post_changes(ecs_world* world) {
    BASE_ASSERT(world->stage_depth == 0);
    ecs_change_list* noticed = &world->tracker->noticed;
    for (uint32_t i = 0; i < noticed->count; i++) {
        const ecs_component_changed changed = {noticed->items[i].component};
        (void)ecs_event_post(world, noticed->items[i].entity, ECS_EVENT_CHANGED, &changed);
    }
    noticed->count = 0;
}

void ecs_systems_step(ecs_world* world, const ecs_step* step) {
    check_idle(world);
    world->tick = step->tick;
    run_stage(world, 0, step);
    ecs_hierarchy_sync(world); // it looks at the marks, which tracking drops
    ecs_track_step(world);
    post_changes(world);
}
