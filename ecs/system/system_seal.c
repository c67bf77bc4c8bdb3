// SPDX-License-Identifier: MIT
// Seal of the register of systems: names become lists of indices.
//
// Each stage gets the order of its systems, each event type its handlers in order, each handler of
// changes the set of components that it handles. Sync points take part in both sorts, so a
// constraint against a sync point holds for systems and handlers.
//
// A seal that failed drops what it made and may be tried again after more was registered.
#include "base/assert.h"
#include "event/event_queue.h"
#include "event/systems.h"
#include "system/declared.h"
#include "system/system_registry.h"
#include "system/wave.h"
#include "table/query_cache.h"
#include "table/track.h"
#include "type/world.h"

#include <string.h>

static ecs_result order_push(const ecs_world* world, ecs_system_order* order, uint32_t system) {
    BASE_ASSERT(system < world->systems->count);
    if (!BASE_ARRAY_RESERVE(world->allocator, order->systems, order->capacity, order->count + 1))
        return ECS_ERR_MEMORY;
    order->systems[order->count++] = system;
    return ECS_OK;
}

static ecs_result seal_stages(ecs_world* world, const base_reporter* reporter) {
    ecs_systems* systems = world->systems;
    ecs_result result = ECS_OK;
    for (uint32_t i = 0; i < systems->count && result == ECS_OK; i++) {
        const ecs_system* system = systems->list[i];
        if (system->is_present && system->stage != UINT32_MAX)
            result = order_push(world, &systems->stages[system->stage].order, i);
    }
    for (uint32_t i = 0; i < systems->stage_count && result == ECS_OK; i++) {
        result = ecs_order_sort(world, reporter, &systems->stages[i].order);
        if (result == ECS_OK) result = ecs_waves_seal(world, &systems->stages[i]);
    }
    return result;
}

// Shortcuts stand for the events that they are named after.
static ecs_event_type event_of(ecs_world* world, const char* name) {
    if (strcmp(name, "on_appear") == 0) return ECS_EVENT_APPEAR;
    return strcmp(name, "on_disappear") == 0 ? ECS_EVENT_DISAPPEAR : ecs_event_find(world, name);
}

// One handler joins the list of each of its events, once even when it names an event twice.
static ecs_result bind_handler(ecs_world* world, const base_reporter* reporter, uint32_t index) {
    BASE_ASSERT(index < world->systems->count);
    ecs_systems* systems = world->systems;
    const ecs_system* system = systems->list[index];
    for (uint32_t i = 0; i <= system->events.count; i++) {
        bool is_last = i == system->events.count; // who tracks handles one more
        if (is_last && system->track.count == 0) break;
        ecs_event_type type =
            is_last ? ECS_EVENT_CHANGED : event_of(world, system->events.names[i]);
        if (type == ECS_EVENT_NONE) {
            char hint[BASE_HINT_BYTES];
            base_report(reporter, NULL, 0,
                        "system '%s' handles event '%s', which is not registered%s", system->name,
                        system->events.names[i],
                        ecs_event_hint(world, system->events.names[i], hint));
            return ECS_ERR_UNKNOWN;
        }
        ecs_system_order* list = &systems->handlers[type];
        if (list->count > 0 && list->systems[list->count - 1] == index) continue;
        ecs_result result = order_push(world, list, index);
        if (result != ECS_OK) return result;
    }
    return ECS_OK;
}

static void track_component(ecs_world* world, ecs_system* system, ecs_component_id component) {
    BASE_ASSERT(component != ECS_COMPONENT_NONE && component <= ECS_COMPONENTS_MAX);
    uint64_t bit = 1ull << (component % 64);
    system->tracked.words[component / 64] |= bit;
    world->tracker->watched.words[component / 64] |= bit;
}

static void refuse_track(const ecs_world* world, const base_reporter* reporter, const char* system,
                         const char* name) {
    char hint[BASE_HINT_BYTES];
    base_nearest nearest = base_nearest_begin(name);
    for (uint32_t id = 1; id <= ecs_component_count(world); id++)
        base_nearest_offer(&nearest, ecs_component_get(world, (ecs_component_id)id)->name);
    base_report(reporter, NULL, 0,
                "system '%s' tracks '%s', but no template or module has a component of that name%s",
                system, name, base_nearest_hint(&nearest, hint));
}

// What each handler of ComponentChanged handles: the components that it tracks, or else those of
// its terms.
static ecs_result seal_tracks(ecs_world* world, const base_reporter* reporter) {
    ecs_systems* systems = world->systems;
    const ecs_system_order* handlers = &systems->handlers[ECS_EVENT_CHANGED];
    for (uint32_t i = 0; i < handlers->count; i++) {
        ecs_system* system = systems->list[handlers->systems[i]];
        const ecs_query* query = system->query;
        uint32_t term_count = system->track.count > 0 || !query ? 0 : query->term_count;
        for (uint32_t k = 0; k < term_count; k++)
            if (query->access[k] != ECS_REQUIRE_NOT && query->access[k] != ECS_ONLY &&
                query->components[k] != ECS_COMPONENT_NONE)
                track_component(world, system, query->components[k]);
        for (uint32_t k = 0; k < system->track.count; k++) {
            ecs_component_id component = ecs_component_find(world, system->track.names[k]);
            if (component == ECS_COMPONENT_NONE) {
                refuse_track(world, reporter, system->name, system->track.names[k]);
                return ECS_ERR_UNKNOWN;
            }
            track_component(world, system, component);
        }
        if (term_count == 0 && system->track.count == 0) {
            base_report(reporter, NULL, 0,
                        "system '%s' handles ComponentChanged, but names no component",
                        system->name);
            return ECS_ERR_UNKNOWN;
        }
    }
    return ECS_OK;
}

static ecs_result seal_handlers(ecs_world* world, const base_reporter* reporter) {
    ecs_systems* systems = world->systems;
    ecs_system_order all = {0};
    ecs_result result = ECS_OK;
    for (uint32_t i = 0; i < systems->count && result == ECS_OK; i++) {
        const ecs_system* system = systems->list[i];
        if (system->is_present && (system->on_event || system->is_sync_point))
            result = order_push(world, &all, i);
    }
    if (result == ECS_OK) result = ecs_order_sort(world, reporter, &all);
    for (uint32_t i = 0; i < all.count && result == ECS_OK; i++)
        result = bind_handler(world, reporter, all.systems[i]);
    ecs_system_order_deinit(world, &all);
    return result;
}

// A seal that failed may be tried again after more was registered.
static void forget_orders(ecs_world* world) {
    ecs_systems* systems = world->systems;
    for (uint32_t i = 0; i < systems->stage_count; i++)
        systems->stages[i].order.count = 0;
    for (uint32_t i = 0; i < ECS_HANDLER_LISTS; i++)
        systems->handlers[i].count = 0;
    for (uint32_t i = 0; i < systems->count; i++)
        systems->list[i]->tracked = (ecs_component_set){0};
    world->tracker->watched = (ecs_component_set){0};
}

ecs_result ecs_systems_seal(ecs_world* world, const base_reporter* reporter) {
    BASE_ASSERT(!world->is_sealed);
    forget_orders(world);
    ecs_result result = ecs_order_check_names(world, reporter);
    if (result == ECS_OK) result = ecs_declared_seal(world, reporter);
    if (result == ECS_OK) result = seal_stages(world, reporter);
    if (result == ECS_OK) result = seal_handlers(world, reporter);
    if (result == ECS_OK) result = seal_tracks(world, reporter);
    if (result == ECS_OK && world->systems->handlers[ECS_EVENT_ORDER_SET].count > 0 &&
        !ecs_event_post(world, ECS_ENTITY_NONE, ECS_EVENT_ORDER_SET, NULL))
        result = ECS_ERR_MEMORY;
    return result;
}
