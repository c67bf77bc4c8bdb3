// SPDX-License-Identifier: MIT
// Entities that wait for resources: creation, completion, changes meanwhile.
//
// A creation whose values name resources that are not loaded makes a pending entity: a
// handle in state LOADING, a template, the values given, and events that were sent to it. It has no
// row, so walks, tracking and saves of rows do not see it. A poll between ticks visits pending
// entities in the order of request and creates those whose resources are all loaded, with the
// values that they have then.
//
// A recreation turns the old template's defaults into given values, since components that both
// templates have keep their values.
//
// Invariant: no function that is called while pending entities are visited adds one or takes one
// out. Resources and the loader are in resource.c, saves in world/save.c.
#include "structure/loading.h"

#include "base/assert.h"
#include "event/event_queue.h"
#include "structure/transition.h"
#include "table/entity.h"
#include "type/type_registry.h"

#include <string.h>

// Pending entities: slots in the order of request, values, and the resources that the values need.
//
// A pending entity keeps only the values that were given. The others are those of its template, and
// the template stays. It also keeps the events that were sent to it.
//
// Invariants: the held handle of a pending entity is LOADING and knows the slot and the template;
// slots are chained in the order of request; each value's component is in the template.

// Has the template a component of that id?
static bool pending_allows(const ecs_world* world, ecs_template_id template_id,
                           ecs_component_id component) {
    const ecs_template* template_ = ecs_template_get(world, template_id);
    return template_ && ecs_template_find_component(template_, component);
}

// NULL when the entity does not wait for resources.
static ecs_pending* pending_find(const ecs_world* world, ecs_entity entity) {
    if (world->loading->count == 0) return NULL;
    const ecs_held_handle* entry = ecs_held_find(world, entity);
    bool waits = entry && entry->pending != 0 && entry->pending != ECS_PENDING_AWAITED;
    return waits ? &world->loading->slots[entry->pending - 1] : NULL;
}

// Put what `pending` holds into a slot at the end of the order. The handle is LOADING.
static ecs_pending* pending_settle(ecs_world* world, const ecs_pending* pending) {
    BASE_ASSERT(pending->entity != ECS_ENTITY_NONE);
    ecs_loading* loading = world->loading;
    uint32_t number = loading->slot_free;
    if (number == 0) {
        number = ++loading->slot_count;
        BASE_ARRAY_RESERVE(world->allocator, loading->slots, loading->slot_capacity, number);
    } else {
        loading->slot_free = loading->slots[number - 1].next;
    }
    ecs_pending* slot = &loading->slots[number - 1];
    *slot = *pending;
    slot->previous = loading->last;
    slot->next = 0;
    if (loading->last != 0)
        loading->slots[loading->last - 1].next = number;
    else
        loading->first = number;
    loading->last = number;
    loading->count++;
    ecs_held_handle* entry = ecs_held_find(world, pending->entity);
    entry->pending = number;
    entry->pending_template = pending->template_id;
    return slot;
}

ecs_pending* ecs_pending_add(ecs_world* world, ecs_entity entity, ecs_template_id template_id) {
    ecs_pending pending = {.entity = entity, .template_id = template_id};
    return pending_settle(world, &pending);
}

static void free_cell(ecs_world* world, ecs_component_id component, void* cell) {
    BASE_ASSERT(cell);
    const ecs_type* type = ecs_component_type(world, component);
    ecs_cell_destroy(world, type, cell);
    base_release(world->allocator, cell, type->size);
}

// Free values, resources and parked events; the slot stays.
static void pending_free_content(ecs_world* world, ecs_pending* pending) {
    for (uint32_t i = 0; i < pending->value_count; i++)
        free_cell(world, pending->values[i].component, pending->values[i].cell);
    ecs_requests_release(world, pending->requests, pending->request_count);
    BASE_ARRAY_RELEASE(world->allocator, pending->values, pending->value_capacity);
    BASE_ARRAY_RELEASE(world->allocator, pending->requests, pending->request_capacity);
    base_release(world->allocator, pending->parked, pending->parked_capacity);
    world->loading->parked_count -= pending->parked_count;
}

// Take a slot out of the order; the state of the handle stays.
static void pending_unsettle(ecs_world* world, ecs_pending* pending) {
    BASE_ASSERT(world->loading->count > 0);
    ecs_loading* loading = world->loading;
    uint32_t number = (uint32_t)(pending - loading->slots) + 1;
    ecs_held_handle* entry = ecs_held_find(world, pending->entity);
    if (entry) entry->pending = 0;
    uint32_t* before =
        pending->previous != 0 ? &loading->slots[pending->previous - 1].next : &loading->first;
    uint32_t* behind =
        pending->next != 0 ? &loading->slots[pending->next - 1].previous : &loading->last;
    *before = pending->next;
    *behind = pending->previous;
    loading->count--;
    *pending = (ecs_pending){.next = loading->slot_free};
    loading->slot_free = number;
}

// A value that was given; NULL when the template's default holds.
static ecs_pending_value* pending_find_value(const ecs_pending* pending,
                                             ecs_component_id component) {
    for (uint32_t i = 0; i < pending->value_count; i++)
        if (pending->values[i].component == component) return &pending->values[i];
    return NULL;
}

// Room for a value and memory for its cell, not created.
static void* reserve_value(ecs_world* world, ecs_pending* pending, const ecs_type* type) {
    BASE_ARRAY_RESERVE(world->allocator, pending->values, pending->value_capacity,
                       pending->value_count + 1);
    return base_allocate_zero(world->allocator, type->size);
}

void* ecs_pending_add_value(ecs_world* world, ecs_pending* pending, ecs_component_id component) {
    const ecs_type* type = ecs_component_type(world, component);
    ecs_type_context context = {world->allocator};
    void* cell = reserve_value(world, pending, type);
    ecs_value_create(type, &context, cell);
    pending->values[pending->value_count++] = (ecs_pending_value){component, cell};
    return cell;
}

// Keep a copy of a value in place of the one there is.
static void pending_put_value(ecs_world* world, ecs_pending* pending, ecs_component_id component,
                              const void* value) {
    const ecs_type* type = ecs_component_type(world, component);
    void* cell = reserve_value(world, pending, type);
    ecs_cell_copy(world, type, cell, value);
    ecs_pending_value* found = pending_find_value(pending, component);
    if (found) {
        free_cell(world, component, found->cell);
        found->cell = cell;
    } else {
        pending->values[pending->value_count++] = (ecs_pending_value){component, cell};
    }
}

// @return ECS_OK; ECS_ERR_TEXT: none of them is kept.
static ecs_result pending_put_values(ecs_world* world, ecs_pending* pending, const ecs_init* inits,
                                     uint32_t init_count) {
    const ecs_result result = ecs_inits_check(world, inits, init_count);
    for (uint32_t i = 0; i < init_count && result == ECS_OK; i++)
        pending_put_value(world, pending, inits[i].component, inits[i].value);
    return result;
}

// The value that the entity will have; NULL when it will not have the component.
static const void* pending_value_of(const ecs_world* world, const ecs_pending* pending,
                                    ecs_component_id component) {
    const ecs_pending_value* found = pending_find_value(pending, component);
    if (found) return found->cell;
    const ecs_template_component* part =
        ecs_template_find_component(ecs_template_get(world, pending->template_id), component);
    return !part ? NULL : part->value;
}

// Note all resources that the values need, in the order of components. `inits` come before the
// values.
// @return ECS_OK; ECS_ERR_FULL (what was recorded stays).
static ecs_result pending_add_resources(ecs_world* world, const ecs_binding* binding,
                                        const ecs_init* inits, uint32_t init_count,
                                        ecs_pending* pending) {
    BASE_ASSERT(binding->archetype && (inits || init_count == 0));
    const ecs_archetype* archetype = binding->archetype;
    for (uint32_t i = 0; i < archetype->column_count; i++) {
        const ecs_column* column = &archetype->columns[i];
        if (!column->type->ops || !column->type->ops->request) continue;
        const ecs_pending_value* own = pending_find_value(pending, column->component);
        const void* cell = own ? own->cell : binding->defaults[i];
        for (uint32_t k = 0; k < init_count; k++)
            cell = inits[k].component == column->component ? inits[k].value : cell;
        ecs_result result = ecs_requests_add(world, column->type, cell, pending);
        if (result != ECS_OK) return result;
    }
    return ECS_OK;
}

ecs_result ecs_pending_renew(ecs_world* world, ecs_pending* pending) {
    ecs_binding* binding = NULL;
    ecs_result result = ecs_row_bind(world, pending->template_id, &binding);
    return result == ECS_OK ? pending_add_resources(world, binding, NULL, 0, pending) : result;
}

void ecs_pending_park(ecs_world* world, ecs_pending* pending, ecs_event_type type,
                      const void* payload, uint32_t size) {
    BASE_ASSERT(size <= ECS_EVENT_BYTES_MAX && (payload || size == 0));
    uint32_t bytes = ecs_parked_bytes(size);
    BASE_ARRAY_RESERVE(world->allocator, pending->parked, pending->parked_capacity,
                       pending->parked_bytes + bytes);
    const ecs_parked_head head = {.target = pending->entity, .type = type, .size = (uint16_t)size};
    memset(pending->parked + pending->parked_bytes, 0, bytes);
    memcpy(pending->parked + pending->parked_bytes, &head, sizeof(head));
    if (size > 0) memcpy(pending->parked + pending->parked_bytes + sizeof(head), payload, size);
    pending->parked_bytes += bytes;
    pending->parked_count++;
    world->loading->parked_count++;
}

// Failure

static void discard(ecs_world* world, ecs_pending* pending) {
    BASE_ASSERT(pending->entity != ECS_ENTITY_NONE);
    ecs_entity entity = pending->entity;
    world->counters.stale_handles += pending->parked_count;
    pending_free_content(world, pending);
    pending_unsettle(world, pending);
    ecs_handle_unload(world, entity);
}

static void fail_entity(ecs_world* world, ecs_pending* pending, const ecs_resource* resource) {
    ecs_resource copy = *resource; // may be forgotten with the last who needed it
    ecs_entity entity = pending->entity;
    ecs_template_id template_id = pending->template_id;
    discard(world, pending);
    const ecs_loading_config* config = &world->loading->config;
    world->counters.loads_failed++;
    base_report(&config->reporter, NULL, 0, "entity %u of template '%.80s': %.63s '%.200s' %s",
                entity, ecs_template_get(world, template_id)->name, copy.kind, copy.name,
                "could not be loaded");
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
    ecs_record_reserve(world, index);
    ecs_entity made = ecs_handle_take(storage, range, index);
    // As after a death: the generation is used, nothing lives.
    *ecs_record_mut(storage, index) = (ecs_record){.life = (uint16_t)ecs_entity_generation(made)};
    ecs_result result = ecs_handle_load(world, made);
    BASE_ASSERT(result == ECS_OK);
    *entity = made;
    return ECS_OK;
}

// Resources are recorded. @return ECS_OK and whether all are there.
static ecs_result ask(ecs_world* world, const ecs_binding* binding, const ecs_init* inits,
                      uint32_t init_count, ecs_pending* pending, bool* is_ready) {
    ecs_result result = pending_add_resources(world, binding, inits, init_count, pending);
    if (result != ECS_OK) return result;
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
    *is_ready = state == ECS_REQUEST_READY;
    return ECS_OK;
}

ecs_result ecs_loading_create(ecs_world* world, ecs_template_id template_id,
                              const ecs_binding* binding, const ecs_init* inits,
                              uint32_t init_count, ecs_entity* entity, bool* is_put_off) {
    BASE_ASSERT(binding->archetype && is_put_off);
    *is_put_off = false;
    if (!world->loading->config.load) return ECS_OK;
    bool is_given = *entity != ECS_ENTITY_NONE;
    if (binding->is_singleton && !is_given && !ecs_singleton_has_room(world, template_id))
        return ECS_ERR_TAKEN;
    for (uint32_t i = 0; i < init_count; i++)
        if (!pending_allows(world, template_id, inits[i].component)) return ECS_ERR_MISSING;
    ecs_pending pending = {.template_id = template_id};
    bool is_ready = false;
    ecs_result result = ask(world, binding, inits, init_count, &pending, &is_ready);
    if (result == ECS_OK && !is_ready) {
        result = world->loading->count >= world->limits.commands_queued_max
                     ? ECS_ERR_FULL
                     : pending_put_values(world, &pending, inits, init_count);
        if (result == ECS_OK) result = take_handle(world, binding, entity);
    }
    if (result != ECS_OK || is_ready) {
        pending_free_content(world, &pending);
        return result;
    }
    pending.entity = *entity;
    (void)pending_settle(world, &pending);
    *is_put_off = true;
    return ECS_OK;
}

// Completion

// @return whether it lives now; else it stays LOADING, or is gone when its index is taken.
static bool complete(ecs_world* world, ecs_pending* pending) {
    BASE_ASSERT(pending->value_count <= ECS_TEMPLATE_COMPONENTS_MAX);
    ecs_init inits[ECS_TEMPLATE_COMPONENTS_MAX];
    for (uint32_t i = 0; i < pending->value_count; i++)
        inits[i] = (ecs_init){pending->values[i].component, pending->values[i].cell};
    ecs_result result = ecs_structure_create_at(world, pending->entity, pending->template_id, inits,
                                                pending->value_count);
    if (result == ECS_OK) {
        for (uint32_t at = 0; at < pending->parked_bytes;) {
            const ecs_parked_head* head = (const void*)(pending->parked + at);
            (void)ecs_event_post(world, head->target, head->type, head + 1);
            at += ecs_parked_bytes(head->size);
        }
        pending_free_content(world, pending);
        pending_unsettle(world, pending);
        return true;
    }
    if (result == ECS_ERR_TAKEN) discard(world, pending);
    return false;
}

uint32_t ecs_loading_poll(ecs_world* world) {
    ecs_structure_check(world);
    BASE_ASSERT(world->fast.stage_depth == 0 && !world->commands->is_flushing);
    ecs_loading* loading = world->loading;
    uint32_t done = 0;
    loading->polls++;
    for (uint32_t at = loading->first, next; at != 0; at = next) {
        ecs_pending* pending = &loading->slots[at - 1];
        next = pending->next;
        ecs_requests_ask(world, pending);
        const ecs_request* failed = NULL;
        ecs_request_state state = ecs_requests_state(world, pending, &failed);
        if (state == ECS_REQUEST_FAILED) {
            fail_entity(world, pending, &failed->resource);
            continue;
        }
        done += state == ECS_REQUEST_READY && complete(world, pending);
    }
    return done;
}

// Changes meanwhile

static bool cancel_waiting(ecs_world* world, ecs_entity entity) {
    ecs_pending* pending = pending_find(world, entity);
    if (!pending) return false;
    discard(world, pending);
    return true;
}

ecs_result ecs_loading_destroy(ecs_world* world, ecs_entity entity) {
    if (ecs_is_alive(world, entity)) {
        ecs_structure_destroy(world, entity);
    } else if (!cancel_waiting(world, entity)) {
        ecs_world_count_bad_transition(world);
        return ECS_ERR_STALE;
    }
    return ECS_OK;
}

ecs_result ecs_loading_set_value(ecs_world* world, ecs_entity entity, ecs_component_id component,
                                 const void* value) {
    ecs_pending* pending = pending_find(world, entity);
    if (!pending) return ECS_ERR_STALE;
    ecs_init init = {.component = component, .value = value};
    return ecs_loading_recreate(world, entity, pending->template_id, &init, 1);
}

// What the entity has of the other template's components: values given, or the old template's.
static void take_over(ecs_world* world, const ecs_pending* old, ecs_pending* made) {
    BASE_ASSERT(made->entity == ECS_ENTITY_NONE);
    const ecs_template* template_ = ecs_template_get(world, old->template_id);
    for (uint32_t i = 0; i < template_->component_count; i++) {
        ecs_component_id component = template_->components[i].component;
        bool is_given = pending_find_value(old, component);
        if (!pending_allows(world, made->template_id, component) ||
            (!is_given && made->template_id == old->template_id) ||
            pending_find_value(made, component))
            continue;
        pending_put_value(world, made, component, pending_value_of(world, old, component));
    }
}

// The new content is built beside the old, so that an error changes nothing.
ecs_result ecs_loading_recreate(ecs_world* world, ecs_entity entity, ecs_template_id template_id,
                                const ecs_init* inits, uint32_t init_count) {
    ecs_pending* pending = pending_find(world, entity);
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
        if (!pending_allows(world, template_id, inits[i].component)) return ECS_ERR_MISSING;
    ecs_pending made = {.template_id = template_id};
    result = pending_put_values(world, &made, inits, init_count);
    if (result == ECS_OK) {
        take_over(world, pending, &made);
        result = ecs_pending_renew(world, &made);
    }
    if (result != ECS_OK) {
        pending_free_content(world, &made);
        return result;
    }
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
    pending_free_content(world, &old);
    return ECS_OK;
}

bool ecs_loading_park(ecs_world* world, const ecs_event* event) {
    ecs_pending* pending = pending_find(world, event->target);
    if (!pending) return false;
    if (world->loading->parked_count >= world->limits.events_queued_max) {
        world->counters.events_refused++;
        return true;
    }
    ecs_pending_park(world, pending, event->type, event->payload, event->size);
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
        bool is_cancelled = cancel_waiting(world, entity); // comes back here
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

// The loader of a world, and questions about entities that wait for resources.

void ecs_loading_set(ecs_world* world, const ecs_loading_config* config) {
    BASE_ASSERT(world->fast.stage_depth == 0 && world->fast.walk_depth == 0);
    ecs_loading* loading = world->loading;
    ecs_requests_reset(world);
    loading->config = !config ? (ecs_loading_config){0} : *config;
    world->has_loader = loading->config.load;
}

bool ecs_loading_is_pending(const ecs_world* world, ecs_entity entity) {
    return pending_find(world, entity);
}

uint32_t ecs_loading_count(const ecs_world* world) {
    return world->loading->count;
}

ecs_template_id ecs_loading_template(const ecs_world* world, ecs_entity entity) {
    const ecs_pending* pending = pending_find(world, entity);
    return !pending ? ECS_TEMPLATE_NONE : pending->template_id;
}

const void* ecs_loading_find(const ecs_world* world, ecs_entity entity,
                             ecs_component_id component) {
    const ecs_pending* pending = pending_find(world, entity);
    return !pending ? NULL : pending_value_of(world, pending, component);
}

ecs_entity ecs_loading_next(const ecs_world* world, ecs_entity after) {
    const ecs_loading* loading = world->loading;
    const ecs_pending* pending = pending_find(world, after);
    uint32_t number = !pending ? loading->first : pending->next;
    return number == 0 ? ECS_ENTITY_NONE : loading->slots[number - 1].entity;
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
            BASE_ASSERT(pending_allows(world, pending->template_id, pending->values[i].component));
        }
        previous = at;
        count++;
        parked += pending->parked_count;
    }
    BASE_ASSERT(previous == loading->last && count == loading->count);
    BASE_ASSERT(parked == loading->parked_count);
    ecs_requests_validate(world);
}
