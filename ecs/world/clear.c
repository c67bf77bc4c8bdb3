// SPDX-License-Identifier: MIT
// Empty a world that goes on.
//
// Entities are destroyed one at a time, so handlers, tracking and held handles see each
// destruction, and old handles stay stale; they would not if indices began from the start. Commands
// and events that wait name entities that are gone, so they are dropped before AfterClear, whose
// handlers may fill the world again.
#include "base/assert.h"
#include "event/command_queue.h"
#include "event/core_event.h"
#include "event/event_queue.h"
#include "structure/loading.h"
#include "type/world.h"

void ecs_world_clear(ecs_world* world) {
    BASE_ASSERT(world->is_sealed && world->fast.stage_depth == 0 && world->fast.walk_depth == 0);
    ecs_core_event_broadcast(world, ECS_EVENT_BEFORE_CLEAR);
    for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(world, entity)) {
        ecs_result result = ecs_destroy(world, entity);
        BASE_ASSERT(result == ECS_OK);
    }
    ecs_loading_clear(world);
    ecs_commands_clear(world);
    ecs_events_clear_queue(world);
    ecs_core_event_broadcast(world, ECS_EVENT_AFTER_CLEAR);
}
