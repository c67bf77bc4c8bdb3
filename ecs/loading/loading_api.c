// SPDX-License-Identifier: MIT
// The loader of a world, and questions about entities that wait for resources.
#include "base/assert.h"
#include "loading/loading.h"
#include "loading/pending.h"
#include "table/entity.h"
#include "type/world.h"

// ---- ecs_loading_config.load as a loader: busy but while the world polls ----

static ecs_load_answer begin_between(void* context, uint32_t ticket, const ecs_resource* resource) {
    const ecs_loading* loading = context;
    (void)ticket;
    if (!loading->is_polling) return ECS_LOAD_BUSY;
    return loading->config.load(loading->config.load_context, resource) ? ECS_LOAD_READY
                                                                        : ECS_LOAD_FAILED;
}

static uint32_t poll_nothing(void* context, ecs_loaded* loaded, uint32_t capacity) {
    (void)context;
    (void)loaded;
    (void)capacity;
    return 0;
}

void ecs_loading_set(ecs_world* world, const ecs_loading_config* config) {
    BASE_ASSERT(world->fast.stage_depth == 0 && world->fast.walk_depth == 0);
    ecs_loading* loading = world->loading;
    ecs_requests_reset(world);
    loading->config = !config ? (ecs_loading_config){0} : *config;
    loading->loader = (ecs_loader){0};
    if (loading->config.loader) {
        loading->loader = *loading->config.loader;
        BASE_ASSERT(loading->loader.begin && loading->loader.poll && !loading->config.load);
    } else if (loading->config.load) {
        loading->loader =
            (ecs_loader){.context = loading, .begin = begin_between, .poll = poll_nothing};
    }
    world->has_loader = loading->loader.begin;
    loading->config.loader = NULL; // copied
}

ecs_result ecs_loading_failure_register(ecs_world* world, const char* name, ecs_event_type* type) {
    static const ecs_field fields[] = {
        {.name = "entity",
         .offset = offsetof(ecs_loading_failure, entity),
         .kind = ECS_FIELD_ENTITY,
         .count = 1},
        {.name = "template_id",
         .offset = offsetof(ecs_loading_failure, template_id),
         .kind = ECS_FIELD_U16,
         .count = 1},
    };
    ecs_event_desc desc = {.name = name,
                           .size = sizeof(ecs_loading_failure),
                           .fields = fields,
                           .field_count = BASE_COUNT(fields)};
    return ecs_event_register(world, &desc, type);
}

bool ecs_loading_is_pending(const ecs_world* world, ecs_entity entity) {
    return ecs_pending_find(world, entity);
}

uint32_t ecs_loading_count(const ecs_world* world) {
    return world->loading->count;
}

ecs_template_id ecs_loading_template(const ecs_world* world, ecs_entity entity) {
    const ecs_pending* pending = ecs_pending_find(world, entity);
    return !pending ? ECS_TEMPLATE_NONE : pending->template_id;
}

const void* ecs_loading_find(const ecs_world* world, ecs_entity entity,
                             ecs_component_id component) {
    const ecs_pending* pending = ecs_pending_find(world, entity);
    return !pending ? NULL : ecs_pending_value_of(world, pending, component);
}

ecs_entity ecs_loading_next(const ecs_world* world, ecs_entity after) {
    const ecs_loading* loading = world->loading;
    const ecs_pending* pending = ecs_pending_find(world, after);
    uint32_t number = !pending ? loading->first : pending->next;
    return number == 0 ? ECS_ENTITY_NONE : loading->slots[number - 1].entity;
}

ecs_entity ecs_loading_last(const ecs_world* world) {
    const ecs_loading* loading = world->loading;
    return loading->last == 0 ? ECS_ENTITY_NONE : loading->slots[loading->last - 1].entity;
}

void ecs_loading_deinit(ecs_world* world) {
    ecs_loading_clear(world);
    ecs_requests_deinit(world);
    BASE_ARRAY_RELEASE(world->allocator, world->loading->slots, world->loading->slot_capacity);
    *world->loading = (ecs_loading){0};
}

void ecs_loading_validate(const ecs_world* world) {
    const ecs_loading* loading = world->loading;
    uint32_t count = 0;
    uint32_t parked = 0;
    uint32_t previous = 0;
    for (uint32_t at = loading->first; at != 0; at = loading->slots[at - 1].next) {
        const ecs_pending* pending = &loading->slots[at - 1];
        const ecs_held_handle* entry = ecs_held_find(world, pending->entity);
        BASE_ASSERT(entry && entry->is_loading && entry->pending == at);
        BASE_ASSERT(pending->previous == previous);
        for (uint32_t i = 0; i < pending->value_count; i++) {
            BASE_ASSERT(
                ecs_pending_allows(world, pending->template_id, pending->values[i].component));
        }
        previous = at;
        count++;
        parked += pending->parked_count;
    }
    BASE_ASSERT(previous == loading->last && count == loading->count);
    BASE_ASSERT(parked == loading->parked_count);
    ecs_requests_validate(world);
}
