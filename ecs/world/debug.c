// SPDX-License-Identifier: MIT
// The world as lines of text, key=value, in a fixed order: archetypes by making, entities by rising
// index, components by name. Two equal worlds give equal lines, so dumps can be compared as text.
#include "base/assert.h"
#include "ecs/debug.h"
#include "ecs/save.h"
#include "event/event_queue.h"
#include "event/systems.h"
#include "structure/hierarchy.h"
#include "structure/loading.h"
#include "structure/transition.h"
#include "system/system_registry.h"
#include "table/storage.h"
#include "table/track.h"
#include "type/world.h"

#include <stdio.h>
#include <string.h>

#define VALUE_BYTES (ECS_STRING_BYTES_MAX + 16u)
#define LINE_BYTES (VALUE_BYTES + 8u * ECS_NAME_BYTES_MAX)

static void dump_component(const ecs_world* world, ecs_entity entity, const char* template_name,
                           const ecs_component* component, ecs_line_fn line, void* context) {
    const ecs_type* type = ecs_type_get(world, component->type);
    char value[VALUE_BYTES];
    bool is_whole =
        ecs_type_format(type, ecs_get(world, entity, component->id), value, sizeof(value));
    char text[LINE_BYTES];
    (void)snprintf(text, sizeof(text), "entity=%u:%u template=%s component=%s type=%s value=%s%s",
                   ecs_entity_index(entity), ecs_entity_generation(entity), template_name,
                   component->name, type->name, value, is_whole ? "" : "...");
    line(context, text);
}

void ecs_dump_entity(const ecs_world* world, ecs_entity entity, ecs_line_fn line, void* context) {
    const ecs_template* template_ = ecs_template_get(world, ecs_entity_template(world, entity));
    char text[ECS_NAME_BYTES_MAX * 5];
    if (!template_) {
        (void)snprintf(text, sizeof(text), "entity=%u:%u dead", ecs_entity_index(entity),
                       ecs_entity_generation(entity));
        line(context, text);
        return;
    }
    const char* name = ecs_entity_template_name(world, entity);
    if (template_->component_count == 0) {
        (void)snprintf(text, sizeof(text), "entity=%u:%u template=%s", ecs_entity_index(entity),
                       ecs_entity_generation(entity), name);
        line(context, text);
    }
    for (uint32_t i = 0; i < template_->component_count; i++) {
        const ecs_component_id component = template_->components[i].component;
        dump_component(world, entity, name, ecs_component_get(world, component), line, context);
    }
}

// "archetype=0 rows=3 chunks=1 components=+hp,pos": a '+' before tracked ones.
static void dump_archetype(const ecs_world* world, const ecs_archetype* archetype, ecs_line_fn line,
                           void* context) {
    char text[LINE_BYTES];
    int used =
        snprintf(text, sizeof(text), "archetype=%u rows=%llu chunks=%u components=", archetype->id,
                 (unsigned long long)archetype->row_count, archetype->chunk_count);
    size_t at = (size_t)used;
    for (uint32_t i = 0; i < archetype->column_count; i++) {
        const ecs_column* column = &archetype->columns[i];
        const char* name = ecs_component_get(world, column->component)->name;
        if (at + strlen(name) + sizeof(",+...") > sizeof(text)) {
            (void)snprintf(text + at, sizeof(text) - at, "...");
            break;
        }
        used = snprintf(text + at, sizeof(text) - at, "%s%s%s", i > 0 ? "," : "",
                        column->track != ECS_SLOT_NONE ? "+" : "", name);
        at += (size_t)used;
    }
    line(context, text);
}

void ecs_dump_world(const ecs_world* world, bool with_storage, ecs_line_fn line, void* context) {
    for (uint32_t i = 0; with_storage && i < world->storage->archetype_count; i++)
        dump_archetype(world, world->storage->archetypes[i], line, context);
    for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(world, entity))
        ecs_dump_entity(world, entity, line, context);
}

// Checks of the whole structure, and the public step that runs them in validating builds.
//
// Each room checks its own part: storage, series of creations, loading, hierarchy, events, systems,
// tracking and members. An assertion here is a fault of this code, never of data. Builds with
// SHOAL_VALIDATE run the check after steps; tests call it in every build.

static void validate_queue(const ecs_world* world) {
    const ecs_events* events = world->events;
    BASE_ASSERT(events->head <= ecs_events_tail(events));
    BASE_ASSERT(ecs_events_tail(events) <= events->capacity);
    BASE_ASSERT(ecs_events_count(events) <= world->limits.events_queued_max);
    BASE_ASSERT(events->open_kind || events->view.key == 0);
    uint32_t count = 0;
    uint32_t unresolved = 0;
    ecs_event_walk walk = {.at = events->head};
    for (uint8_t* payload; (payload = ecs_events_next(events, &walk)) != NULL; count++) {
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
    ecs_runway_validate(world);
    ecs_storage_validate(world);
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

// A whole check costs as much as the world is large. It runs once in enough steps that a step pays
// for about this many rows and used indices.
enum { UNITS_PER_STEP = 512 };

// Is it the turn of a whole check? The tick decides, so a re-run checks at the same steps.
static bool is_due(const ecs_world* world) {
    const ecs_index_range* ranges = world->storage->ranges;
    ecs_runway_return(world);
    uint32_t used = (ranges[0].fresh - ranges[0].first) + (ranges[1].fresh - ranges[1].first);
    uint32_t period = 1 + (used + world->storage->entity_count) / UNITS_PER_STEP;
    return world->tick % period == 0;
}

void ecs_world_step(ecs_world* world, const ecs_step* step) {
    ecs_systems_step(world, step);
    if (BASE_VALIDATE_ON && is_due(world)) ecs_world_validate(world);
}
