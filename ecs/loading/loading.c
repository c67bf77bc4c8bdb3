// SPDX-License-Identifier: MIT
// Entities that wait for resources: creation, completion, changes meanwhile.
//
// A creation whose values name resources that are not loaded makes a pending entity (pending.c): a
// handle in state LOADING, a template, the values given, and events that were sent to it. It has no
// row, so walks, tracking and saves of rows do not see it. A poll between ticks visits pending
// entities in the order of request and creates those whose resources are all loaded, with the
// values that they have then.
//
// A recreation turns the old template's defaults into given values, since components that both
// templates have keep their values.
//
// Invariant: no function that is called while pending entities are visited adds one or takes one
// out. Resources and the loader are in resource.c, saves in world/loading_save.c.
#include "loading/loading.h"

#include "base/assert.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "loading/pending.h"
#include "structure/singleton.h"
#include "structure/transition.h"
#include "table/entity.h"
#include "table/storage.h"
#include "type/world.h"

#include <string.h>

// Failure

static void tell_failure(ecs_world* world, ecs_entity entity, ecs_template_id template_id,
                         const ecs_resource* resource) {
    const ecs_loading_config* config = &world->loading->config;
    world->counters.loads_failed++;
    base_report(&config->reporter, NULL, 0, "entity %u of template '%.80s': %.63s '%.200s' %s",
                entity, ecs_template_get(world, template_id)->name, resource->kind, resource->name,
                "could not be loaded");
    if (config->failed_event != ECS_EVENT_NONE) {
        ecs_loading_failure failure = {.entity = entity, .template_id = template_id};
        (void)ecs_event_broadcast(world, config->failed_event, &failure);
    }
    if (config->failed) {
        world->fast.walk_depth++; // structure asserts
        config->failed(config->failed_context, entity, template_id, resource);
        world->fast.walk_depth--;
    }
}

static void discard(ecs_world* world, ecs_pending* pending) {
    BASE_ASSERT(pending->entity != ECS_ENTITY_NONE);
    ecs_entity entity = pending->entity;
    world->counters.stale_handles += pending->parked_count;
    ecs_pending_free_content(world, pending);
    ecs_pending_unsettle(world, pending);
    ecs_handle_unload(world, entity);
}

static void fail(ecs_world* world, ecs_pending* pending, const ecs_resource* resource) {
    ecs_resource copy = *resource; // may be forgotten with the last who needed it
    ecs_entity entity = pending->entity;
    ecs_template_id template_id = pending->template_id;
    discard(world, pending);
    tell_failure(world, entity, template_id, &copy);
}

// Creation

// Take a handle that will be LOADING, or make the given one so. Nothing changed unless ECS_OK.
static ecs_result take_handle(ecs_world* world, const ecs_binding* binding, ecs_entity* entity) {
    ecs_storage* storage = world->storage;
    if (*entity != ECS_ENTITY_NONE) {
        if (ecs_state(world, *entity) == ECS_STATE_LOADING)
            return ECS_OK; // by ecs_handle_load; the caller saw that it does not wait
        return ecs_handle_load(world, *entity);
    }
    uint32_t range = binding->is_replicated && !world->is_mirror ? 0 : 1;
    uint32_t index = ecs_index_peek(world, range);
    if (index == 0) return ECS_ERR_FULL;
    if (!ecs_record_reserve(world, index) || !ecs_held_reserve(world)) return ECS_ERR_MEMORY;
    ecs_entity made = ecs_handle_take(storage, range, index);
    // As after a death: the generation is used, nothing lives.
    *ecs_record_mut(storage, index) = (ecs_record){.life = (uint16_t)ecs_entity_generation(made)};
    ecs_result result = ecs_handle_load(world, made);
    BASE_ASSERT(result == ECS_OK); // its memory was reserved
    *entity = made;
    return ECS_OK;
}

// Resources are noted and asked for. @return ECS_OK and whether all are there.
static ecs_result ask(ecs_world* world, const ecs_binding* binding, const ecs_init* inits,
                      uint32_t init_count, ecs_pending* pending, bool* is_ready) {
    ecs_result result = ecs_pending_note_resources(world, binding, inits, init_count, pending);
    if (result != ECS_OK) return result;
    ecs_requests_begin(world, pending);
    const ecs_request* failed = NULL;
    ecs_request_state state = ecs_requests_state(world, pending, &failed);
    if (state == ECS_REQUEST_FAILED) {
        world->counters.loads_failed++;
        base_report(&world->loading->config.reporter, NULL, 0,
                    "template '%.80s': %.63s '%.200s' could not be loaded",
                    ecs_template_get(world, pending->template_id)->name, failed->resource.kind,
                    failed->resource.name);
        return ECS_ERR_LOAD;
    }
    // No entity overtakes another where order is kept.
    *is_ready = state == ECS_REQUEST_READY &&
                !(world->loading->config.keep_order && world->loading->count > 0);
    return ECS_OK;
}

ecs_result ecs_loading_create(ecs_world* world, ecs_template_id template_id,
                              const ecs_binding* binding, const ecs_init* inits,
                              uint32_t init_count, ecs_entity* entity, bool* is_put_off) {
    BASE_ASSERT(binding->archetype && is_put_off);
    *is_put_off = false;
    if (!world->loading->loader.begin) return ECS_OK;
    bool is_given = *entity != ECS_ENTITY_NONE;
    if (binding->is_singleton && !is_given && !ecs_singleton_has_room(world, template_id))
        return ECS_ERR_TAKEN;
    for (uint32_t i = 0; i < init_count; i++)
        if (!ecs_pending_allows(world, template_id, inits[i].component)) return ECS_ERR_MISSING;
    ecs_pending pending = {.template_id = template_id};
    bool is_ready = false;
    ecs_result result = ask(world, binding, inits, init_count, &pending, &is_ready);
    if (result == ECS_OK && !is_ready) {
        result = world->loading->count >= world->limits.commands_queued_max ? ECS_ERR_FULL
                 : ecs_pending_reserve(world) &&
                         ecs_pending_put_values(world, &pending, inits, init_count)
                     ? take_handle(world, binding, entity)
                     : ECS_ERR_MEMORY;
    }
    if (result != ECS_OK || is_ready) {
        ecs_pending_free_content(world, &pending);
        return result;
    }
    pending.entity = *entity;
    (void)ecs_pending_settle(world, &pending);
    *is_put_off = true;
    return ECS_OK;
}

// Completion

static void post_parked(ecs_world* world, const uint8_t* parked, uint32_t bytes) {
    _Alignas(16) uint8_t payload[ECS_EVENT_BYTES_MAX];
    for (uint32_t at = 0; at < bytes;) {
        ecs_parked_head head;
        memcpy(&head, parked + at, sizeof(head));
        memcpy(payload, parked + at + sizeof(head), head.size);
        (void)ecs_event_post(world, head.target, head.type, payload);
        at += ecs_parked_bytes(head.size);
    }
}

// @return whether it lives now; else it stays LOADING, or is gone when its index is taken.
static bool complete(ecs_world* world, ecs_pending* pending) {
    BASE_ASSERT(pending->value_count <= ECS_TEMPLATE_COMPONENTS_MAX);
    ecs_init inits[ECS_TEMPLATE_COMPONENTS_MAX];
    for (uint32_t i = 0; i < pending->value_count; i++)
        inits[i] = (ecs_init){pending->values[i].component, pending->values[i].cell};
    ecs_result result = ecs_structure_create_at(world, pending->entity, pending->template_id, inits,
                                                pending->value_count);
    if (result == ECS_OK) {
        uint8_t* parked = pending->parked;
        uint32_t bytes = pending->parked_bytes;
        uint32_t capacity = pending->parked_capacity;
        world->loading->parked_count -= pending->parked_count;
        pending->parked = NULL;
        pending->parked_bytes = pending->parked_capacity = pending->parked_count = 0;
        ecs_pending_free_content(world, pending);
        ecs_pending_unsettle(world, pending);
        post_parked(world, parked, bytes);
        base_release(world->allocator, parked, capacity);
        return true;
    }
    if (result == ECS_ERR_TAKEN) discard(world, pending);
    return false;
}

uint32_t ecs_loading_poll(ecs_world* world) {
    ecs_structure_check(world);
    BASE_ASSERT(world->fast.stage_depth == 0 && !world->commands->is_flushing);
    ecs_loading* loading = world->loading;
    ecs_requests_poll(world);
    loading->is_polling = true;
    for (uint32_t at = loading->first; at != 0; at = loading->slots[at - 1].next)
        ecs_requests_begin(world, &loading->slots[at - 1]);
    loading->is_polling = false;
    uint32_t done = 0;
    for (uint32_t at = loading->first, next; at != 0; at = next) {
        ecs_pending* pending = &loading->slots[at - 1];
        next = pending->next;
        const ecs_request* failed = NULL;
        ecs_request_state state = ecs_requests_state(world, pending, &failed);
        if (state == ECS_REQUEST_FAILED) {
            fail(world, pending, &failed->resource);
            continue;
        }
        bool is_done = state == ECS_REQUEST_READY && complete(world, pending);
        done += is_done;
        if (!is_done && loading->config.keep_order) break;
    }
    return done;
}

// Changes meanwhile

bool ecs_loading_cancel(ecs_world* world, ecs_entity entity) {
    ecs_pending* pending = ecs_pending_find(world, entity);
    if (!pending) return false;
    discard(world, pending);
    return true;
}

ecs_result ecs_loading_destroy(ecs_world* world, ecs_entity entity) {
    if (ecs_is_alive(world, entity)) return ecs_structure_destroy(world, entity);
    if (ecs_loading_cancel(world, entity)) return ECS_OK;
    ecs_world_count_bad_transition(world);
    return ECS_ERR_STALE;
}

ecs_result ecs_loading_set_value(ecs_world* world, ecs_entity entity, ecs_component_id component,
                                 const void* value) {
    ecs_pending* pending = ecs_pending_find(world, entity);
    if (!pending) return ECS_ERR_STALE;
    ecs_init init = {.component = component, .value = value};
    return ecs_loading_recreate(world, entity, pending->template_id, &init, 1);
}

// What the entity has of the other template's components: values given, or the old template's.
static ecs_result take_over(ecs_world* world, const ecs_pending* old, ecs_pending* made) {
    BASE_ASSERT(made->entity == ECS_ENTITY_NONE);
    const ecs_template* template_ = ecs_template_get(world, old->template_id);
    for (uint32_t i = 0; i < template_->component_count; i++) {
        ecs_component_id component = template_->components[i].component;
        bool is_given = ecs_pending_find_value(old, component);
        if (!ecs_pending_allows(world, made->template_id, component) ||
            (!is_given && made->template_id == old->template_id) ||
            ecs_pending_find_value(made, component))
            continue;
        if (!ecs_pending_put_value(world, made, component,
                                   ecs_pending_value_of(world, old, component)))
            return ECS_ERR_MEMORY;
    }
    return ECS_OK;
}

// The new content is built beside the old, so that an error changes nothing.
ecs_result ecs_loading_recreate(ecs_world* world, ecs_entity entity, ecs_template_id template_id,
                                const ecs_init* inits, uint32_t init_count) {
    ecs_pending* pending = ecs_pending_find(world, entity);
    if (!pending) return ECS_ERR_STALE;
    ecs_binding* binding = NULL;
    ecs_result result = ecs_row_bind(world, template_id, &binding);
    if (result != ECS_OK) return result;
    if (binding->is_replicated && !world->is_mirror &&
        ecs_entity_index(entity) > world->limits.replicated_index_max)
        return ECS_ERR_TYPE;
    if (binding->is_singleton && template_id != pending->template_id && !world->is_mirror &&
        !ecs_singleton_has_room(world, template_id))
        return ECS_ERR_TAKEN;
    for (uint32_t i = 0; i < init_count; i++)
        if (!ecs_pending_allows(world, template_id, inits[i].component)) return ECS_ERR_MISSING;
    ecs_pending made = {.template_id = template_id};
    result = ecs_pending_put_values(world, &made, inits, init_count)
                 ? take_over(world, pending, &made)
                 : ECS_ERR_MEMORY;
    result = result == ECS_OK ? ecs_pending_renew(world, &made) : result;
    if (result != ECS_OK) {
        ecs_pending_free_content(world, &made);
        return result;
    }
    ecs_requests_begin(world, &made);
    ecs_pending old = *pending;
    old.parked = NULL;
    old.parked_capacity = old.parked_count = 0;
    pending->template_id = template_id;
    ecs_held_find(world, entity)->pending_template = template_id;
    pending->values = made.values;
    pending->value_count = made.value_count;
    pending->value_capacity = made.value_capacity;
    pending->requests = made.requests;
    pending->request_count = made.request_count;
    pending->request_capacity = made.request_capacity;
    ecs_pending_free_content(world, &old);
    return ECS_OK;
}

bool ecs_loading_park(ecs_world* world, const ecs_event* event) {
    ecs_pending* pending = ecs_pending_find(world, event->target);
    if (!pending) return false;
    if (world->loading->parked_count >= world->limits.events_queued_max ||
        !ecs_pending_park(world, pending, event->type, event->payload, event->size)) {
        world->counters.events_refused++;
        return true;
    }
    world->counters.events_parked++;
    return true;
}

void ecs_loading_clear(ecs_world* world) {
    while (world->loading->last != 0)
        discard(world, &world->loading->slots[world->loading->last - 1]);
    world->loading->awaited = 0;
}

ecs_result ecs_handle_load(ecs_world* world, ecs_entity entity) {
    ecs_entity_state state = ecs_state(world, entity);
    if (!ecs_handle_is_in_range(world, entity) || state == ECS_STATE_CREATED ||
        state == ECS_STATE_LOADING) {
        ecs_world_count_bad_transition(world);
        return ecs_handle_is_in_range(world, entity) ? ECS_ERR_TAKEN : ECS_ERR_STALE;
    }
    ecs_held_handle* entry = ecs_handle_hold(world, entity);
    if (!entry) return ECS_ERR_MEMORY;
    entry->is_loading = true;
    world->storage->held.loading_count++;
    if (state == ECS_STATE_ALLOCATED) world->storage->held.allocated_count--;
    return ECS_OK;
}

void ecs_handle_unload(ecs_world* world, ecs_entity entity) {
    ecs_held_handle* entry = ecs_held_find(world, entity);
    if (!entry || !entry->is_loading) {
        ecs_world_count_bad_transition(world);
        return;
    }
    if (entry->pending != 0) {
        bool is_cancelled = ecs_loading_cancel(world, entity); // comes back here
        BASE_ASSERT(is_cancelled);
        return;
    }
    entry->is_loading = false;
    world->storage->held.loading_count--;
    if (entry->references > 0)
        world->storage->held.allocated_count++;
    else
        ecs_handle_drop(world, entry);
}
