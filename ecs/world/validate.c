// SPDX-License-Identifier: MIT
// Checks of the whole structure, and the public step that runs them in validating builds.
//
// Each room checks its own part: storage, series of creations, loading, hierarchy, events, systems,
// tracking and members. An assertion here is a fault of this code, never of data. Builds with
// SHOAL_VALIDATE run the check after steps; tests call it in every build.

#include "base/assert.h"
#include "ecs/debug.h"
#include "ecs/save.h"
#include "event/event_queue.h"
#include "event/membership.h"
#include "event/systems.h"
#include "structure/hierarchy.h"
#include "structure/loading.h"
#include "structure/transition.h"
#include "system/system_registry.h"
#include "table/storage.h"
#include "table/track.h"
#include "type/world.h"

#include <string.h>

static void validate_queue(const ecs_world* world) {
    const ecs_events* events = world->events;
    BASE_ASSERT(events->head <= ecs_events_tail(events));
    BASE_ASSERT(ecs_events_tail(events) <= events->capacity);
    BASE_ASSERT(ecs_events_count(events) <= world->limits.events_queued_max);
    BASE_ASSERT(events->open_kind || events->view.key == 0);
    uint32_t count = 0;
    uint32_t unresolved = 0;
    ecs_event_walk walk = {.at = events->head};
    for (const uint8_t* payload; (payload = ecs_events_next(events, &walk)) != NULL; count++) {
        BASE_ASSERT(ecs_event_is_queued(events, walk.kind->id));
        unresolved += ecs_event_is_unresolved(walk.kind, payload);
    }
    BASE_ASSERT(count == ecs_events_count(events) && unresolved == events->unresolved_count);
}

static void validate_exported(const ecs_events* events) {
    size_t at = 0;
    for (uint32_t i = 0; i < events->exported_count; i++) {
        const ecs_event* event = &events->exported[i];
        BASE_ASSERT((const uint8_t*)event->payload == events->payloads + at);
        at += ((size_t)event->size + 15u) & ~(size_t)15u;
    }
    BASE_ASSERT(at == events->payload_bytes);
}

static void validate_order(const ecs_systems* systems, const ecs_system_order* order) {
    for (uint32_t i = 0; i < order->count; i++) {
        BASE_ASSERT(order->systems[i] < systems->count);
        BASE_ASSERT(systems->list[order->systems[i]]->is_present);
    }
}

static void validate_fresh(const ecs_tracker* tracker) {
    BASE_ASSERT(tracker->fresh_count <= tracker->created.count);
    // Without memory an entity is not in the set; nothing else is in it.
    uint32_t found = 0;
    for (uint32_t i = 0; i < tracker->fresh_count; i++)
        found += base_bitset_has(&tracker->fresh, ecs_entity_index(tracker->created.items[i]));
    BASE_ASSERT(base_bitset_count(&tracker->fresh) <= found);
}

void ecs_world_validate(const ecs_world* world) {
    ecs_storage_validate(world);
    ecs_runway_validate(world);
    ecs_loading_validate(world);
    ecs_hierarchy_validate(world);
    validate_queue(world);
    validate_exported(world->events);
    for (uint32_t i = 0; i < world->systems->stage_count; i++)
        validate_order(world->systems, &world->systems->stages[i].order);
    for (uint32_t i = 0; i < ECS_HANDLER_LISTS; i++)
        validate_order(world->systems, &world->systems->handlers[i]);
    validate_fresh(world->tracker);
    ecs_membership_validate(world);
    BASE_ASSERT(ecs_world_state_hash_walk(world) == ecs_world_state_hash(world));
}

// A whole check costs as much as the world is large. It runs once in so many steps that a step pays
// for about this many rows and used indices.
enum { UNITS_PER_STEP = 512 };

// Is it the turn of a whole check? The tick decides, so a re-run checks at the same steps.
static bool is_due(const ecs_world* world) {
    const ecs_index_range* ranges = world->storage->ranges;
    uint32_t used = (ranges[0].fresh - ranges[0].first) + (ranges[1].fresh - ranges[1].first);
    uint32_t period = 1 + (used + world->storage->entity_count) / UNITS_PER_STEP;
    return world->tick % period == 0;
}

void ecs_world_step(ecs_world* world, const ecs_step* step) {
    ecs_systems_step(world, step);
    if (BASE_VALIDATE_ON && is_due(world)) ecs_world_validate(world);
}
