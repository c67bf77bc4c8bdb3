// SPDX-License-Identifier: MIT
/// The register of systems.
///
/// Idea: a system is a copied description. What its names mean is settled once: its query when it is
/// registered, its events, stages and neighbours when the world is sealed. After that a stage is an
/// array of indices and an event type has an array of handlers.
/// Why left-out systems are kept: their names may stand in the before and after of others, which is no
/// error in a world that lacks their tags.
/// Left to others: the order (order.c), running (step.c, event.c), checking terms (query.c).

#include <string.h>

#include "base/assert.h"
#include "world_internal.h"

bool ecs_systems_init(ecs_world* world) {
    ecs_systems* systems = &world->systems;
    memset(systems, 0, sizeof(*systems));
    memcpy(systems->stages[0].name, "act", sizeof("act"));
    systems->stage_count = 1;
    return true;
}

static void free_names(const ecs_world* world, ecs_names* names) {
    base_release(world->allocator, names->names, (size_t)names->count * ECS_NAME_BYTES_MAX);
    *names = (ecs_names){0};
}

static void free_order(const ecs_world* world, ecs_system_order* order) {
    base_release(world->allocator, order->systems, sizeof(uint32_t) * order->capacity);
    *order = (ecs_system_order){0};
}

static void free_system(const ecs_world* world, ecs_system* system) {
    if (system == NULL) {
        return;
    }
    free_names(world, &system->before);
    free_names(world, &system->after);
    free_names(world, &system->events);
    base_release(world->allocator, system, sizeof(ecs_system));
}

void ecs_systems_deinit(ecs_world* world) {
    ecs_systems* systems = &world->systems;
    for (uint32_t i = 0; i < systems->count; i++) {
        free_system(world, systems->list[i]);
    }
    base_release(world->allocator, systems->list, sizeof(ecs_system*) * systems->capacity);
    for (uint32_t i = 0; i < systems->stage_count; i++) {
        free_order(world, &systems->stages[i].order);
    }
    for (uint32_t i = 0; i <= ECS_EVENT_TYPES_MAX; i++) {
        free_order(world, &systems->handlers[i]);
    }
    memset(systems, 0, sizeof(*systems));
}

static bool name_fits(const char* name) {
    BASE_ASSERT(name != NULL);
    return strlen(name) < ECS_NAME_BYTES_MAX;
}

static ecs_result copy_names(const ecs_world* world, ecs_names* target, const char* const* names,
                             uint32_t count) {
    if (count == 0) {
        return ECS_OK;
    }
    target->names = base_allocate_zero(world->allocator, (size_t)count * ECS_NAME_BYTES_MAX);
    if (target->names == NULL) {
        return ECS_ERR_MEMORY;
    }
    target->count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (!name_fits(names[i])) {
            return ECS_ERR_FULL;
        }
        memcpy(target->names[i], names[i], strlen(names[i]));
    }
    return ECS_OK;
}

static bool has_tags(const ecs_world* world, const ecs_system_desc* desc) {
    for (uint32_t i = 0; i < desc->tag_count; i++) {
        if (!ecs_world_has_tag(world, desc->tags[i])) {
            return false;
        }
    }
    return true;
}

static uint32_t stage_index(const ecs_systems* systems, const char* name) {
    for (uint32_t i = 0; i < systems->stage_count; i++) {
        if (strcmp(systems->stages[i].name, name) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

// A stage is made when the first system names it. UINT32_MAX when there are too many.
static uint32_t stage_ensure(ecs_systems* systems, const char* name) {
    uint32_t index = stage_index(systems, name);
    if (index == UINT32_MAX && systems->stage_count < ECS_STAGES_MAX && name_fits(name)) {
        index = systems->stage_count++;
        memcpy(systems->stages[index].name, name, strlen(name) + 1);
    }
    return index;
}

static ecs_result fill_system(ecs_world* world, ecs_system* system, const ecs_system_desc* desc) {
    memcpy(system->name, desc->name, strlen(desc->name));
    system->run = desc->run;
    system->on_event = desc->on_event;
    system->context = desc->context;
    system->stage = UINT32_MAX;
    system->is_present = has_tags(world, desc);
    ecs_result result = copy_names(world, &system->before, desc->before, desc->before_count);
    if (result == ECS_OK) {
        result = copy_names(world, &system->after, desc->after, desc->after_count);
    }
    if (result == ECS_OK) {
        result = copy_names(world, &system->events, desc->events, desc->event_count);
    }
    // The query comes last but for the stage: nothing may fail after it, since it lives on with the
    // world.
    if (result == ECS_OK && desc->stage != NULL &&
        stage_ensure(&world->systems, desc->stage) == UINT32_MAX) {
        result = ECS_ERR_FULL;
    }
    if (result == ECS_OK && system->is_present && desc->term_count > 0) {
        result = ecs_query_create(world, desc->terms, desc->term_count, &system->query);
    }
    if (result == ECS_OK && system->query != NULL) {
        ecs_query_own(system->query, system->name);
    }
    if (result == ECS_OK && desc->stage != NULL) {
        system->stage = stage_index(&world->systems, desc->stage);
    }
    return result;
}

ecs_result ecs_system_register(ecs_world* world, const ecs_system_desc* desc) {
    BASE_ASSERT(world != NULL && desc != NULL && desc->name != NULL);
    BASE_ASSERT((desc->stage != NULL) == (desc->run != NULL));
    BASE_ASSERT((desc->event_count > 0) == (desc->on_event != NULL));
    BASE_ASSERT(desc->stage != NULL || desc->event_count > 0);
    ecs_systems* systems = &world->systems;
    if (world->is_sealed) {
        return ECS_ERR_SEALED;
    }
    if (ecs_system_index(world, desc->name) != UINT32_MAX) {
        return ECS_ERR_DUPLICATE;
    }
    if (systems->count >= ECS_SYSTEMS_MAX || !name_fits(desc->name)) {
        return ECS_ERR_FULL;
    }
    ecs_system* system = base_allocate_zero(world->allocator, sizeof(ecs_system));
    ecs_result result = ECS_ERR_MEMORY;
    if (system != NULL &&
        base_array_reserve(world->allocator, (void**)&systems->list, &systems->capacity,
                           systems->count + 1, sizeof(ecs_system*))) {
        result = fill_system(world, system, desc);
    }
    if (result != ECS_OK) {
        free_system(world, system);
        return result;
    }
    systems->list[systems->count++] = system;
    return ECS_OK;
}

static ecs_result order_push(const ecs_world* world, ecs_system_order* order, uint32_t system) {
    if (!base_array_reserve(world->allocator, (void**)&order->systems, &order->capacity,
                            order->count + 1, sizeof(uint32_t))) {
        return ECS_ERR_MEMORY;
    }
    order->systems[order->count++] = system;
    return ECS_OK;
}

static ecs_result seal_stages(ecs_world* world, const base_reporter* reporter) {
    ecs_systems* systems = &world->systems;
    ecs_result result = ECS_OK;
    for (uint32_t i = 0; i < systems->count && result == ECS_OK; i++) {
        const ecs_system* system = systems->list[i];
        if (system->is_present && system->stage != UINT32_MAX) {
            result = order_push(world, &systems->stages[system->stage].order, i);
        }
    }
    for (uint32_t i = 0; i < systems->stage_count && result == ECS_OK; i++) {
        result = ecs_order_sort(world, reporter, &systems->stages[i].order);
    }
    return result;
}

// One handler joins the list of each of its events, once even when it names an event twice.
static ecs_result bind_handler(ecs_world* world, const base_reporter* reporter, uint32_t index) {
    ecs_systems* systems = &world->systems;
    const ecs_system* system = systems->list[index];
    for (uint32_t i = 0; i < system->events.count; i++) {
        ecs_event_type type = ecs_event_find(world, system->events.names[i]);
        if (type == ECS_EVENT_NONE) {
            base_report(reporter, NULL, 0,
                        "system '%s' handles event '%s', which is not registered", system->name,
                        system->events.names[i]);
            return ECS_ERR_UNKNOWN;
        }
        ecs_system_order* list = &systems->handlers[type];
        if (list->count > 0 && list->systems[list->count - 1] == index) {
            continue;
        }
        ecs_result result = order_push(world, list, index);
        if (result != ECS_OK) {
            return result;
        }
    }
    return ECS_OK;
}

static ecs_result seal_handlers(ecs_world* world, const base_reporter* reporter) {
    ecs_systems* systems = &world->systems;
    ecs_system_order all = {0};
    ecs_result result = ECS_OK;
    for (uint32_t i = 0; i < systems->count && result == ECS_OK; i++) {
        if (systems->list[i]->is_present && systems->list[i]->on_event != NULL) {
            result = order_push(world, &all, i);
        }
    }
    if (result == ECS_OK) {
        result = ecs_order_sort(world, reporter, &all);
    }
    for (uint32_t i = 0; i < all.count && result == ECS_OK; i++) {
        result = bind_handler(world, reporter, all.systems[i]);
    }
    free_order(world, &all);
    return result;
}

// A seal that failed may be tried again after more was registered.
static void forget_orders(ecs_systems* systems) {
    for (uint32_t i = 0; i < systems->stage_count; i++) {
        systems->stages[i].order.count = 0;
    }
    for (uint32_t i = 0; i <= ECS_EVENT_TYPES_MAX; i++) {
        systems->handlers[i].count = 0;
    }
}

ecs_result ecs_systems_seal(ecs_world* world, const base_reporter* reporter) {
    forget_orders(&world->systems);
    ecs_result result = ecs_order_check_names(world, reporter);
    if (result == ECS_OK) {
        result = seal_stages(world, reporter);
    }
    if (result == ECS_OK) {
        result = seal_handlers(world, reporter);
    }
    return result;
}

uint32_t ecs_stage_find(ecs_world* world, const char* name) {
    world->counters.name_lookups++;
    return stage_index(&world->systems, name);
}

const char* ecs_stage_system_name(const ecs_world* world, uint32_t stage, uint32_t position) {
    const ecs_systems* systems = &world->systems;
    if (stage >= systems->stage_count || position >= systems->stages[stage].order.count) {
        return NULL;
    }
    return systems->list[systems->stages[stage].order.systems[position]]->name;
}
