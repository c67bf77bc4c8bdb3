// SPDX-License-Identifier: MIT
// Handles that are referenced while their entity does not live, and handles that are loading.
//
//     NONE --retain--> ALLOCATED --load--> LOADING --create--> CREATED --destroy--> NONE
//                                                                 \--- referenced --> ALLOCATED
//
// A record knows one generation of its index, but two may be in use at once: a mirror still shows
// (7, 4) while a reference to (7, 5) has arrived. So what is known beyond "it lives" is kept per
// handle, in a small table by index (held.c). While any generation of an index is held, the index
// is not given out again (entity.c).
//
// Invariants: an entry has references or is loading; a living handle's entry is never loading; the
// counts by state equal the entries. Every transition that the picture lacks is counted in
// bad_transitions and refused.
#include "table/handle.h"

#include "base/assert.h"
#include "table/held.h"
#include "table/index.h"
#include "table/storage.h"
#include "type/world.h"

void ecs_handle_drop(ecs_world* world, ecs_held_handle* entry) {
    uint32_t index = ecs_entity_index(entry->handle);
    ecs_held_remove(&world->storage->held, entry);
    ecs_index_settle(world, index);
}

bool ecs_handle_is_in_range(const ecs_world* world, ecs_entity handle) {
    uint32_t index = ecs_entity_index(handle);
    return index >= 1 && ecs_entity_generation(handle) >= 1 &&
           index <= world->limits.replicated_index_max + world->limits.local_entities_max;
}

ecs_held_handle* ecs_handle_hold(ecs_world* world, ecs_entity handle) {
    ecs_held_handle* entry = ecs_held_find(world, handle);
    if (entry) return entry;
    if (!ecs_record_reserve(world, ecs_entity_index(handle)) || !ecs_held_reserve(world))
        return NULL;
    entry = ecs_held_add(&world->storage->held, handle);
    world->storage->runway.left = 0;
    ecs_index_settle(world, ecs_entity_index(handle));
    return entry;
}

void ecs_world_count_bad_transition(ecs_world* world) {
    world->counters.bad_transitions++;
}

ecs_entity_state ecs_state(const ecs_world* world, ecs_entity entity) {
    if (ecs_is_alive(world, entity)) return ECS_STATE_CREATED;
    const ecs_held_handle* entry = ecs_held_find(world, entity);
    if (!entry) return ECS_STATE_NONE;
    return entry->is_loading ? ECS_STATE_LOADING : ECS_STATE_ALLOCATED;
}

ecs_result ecs_handle_retain(ecs_world* world, ecs_entity entity) {
    BASE_ASSERT(!world->is_view && "no confined system does this");
    if (!ecs_handle_is_in_range(world, entity)) {
        ecs_world_count_bad_transition(world);
        return ECS_ERR_STALE;
    }
    ecs_entity_state state = ecs_state(world, entity);
    ecs_held_handle* entry = ecs_handle_hold(world, entity);
    if (!entry) return ECS_ERR_MEMORY;
    if (entry->references == UINT32_MAX) return ECS_ERR_FULL;
    entry->references++;
    if (state == ECS_STATE_NONE) world->storage->held.allocated_count++;
    return ECS_OK;
}

void ecs_handle_release(ecs_world* world, ecs_entity entity) {
    BASE_ASSERT(!world->is_view && "no confined system does this");
    ecs_held_handle* entry = ecs_held_find(world, entity);
    if (!entry || entry->references == 0) {
        ecs_world_count_bad_transition(world);
        return;
    }
    entry->references--;
    if (entry->references > 0 || entry->is_loading) return;
    if (!ecs_is_alive(world, entity)) world->storage->held.allocated_count--;
    ecs_handle_drop(world, entry);
}

uint32_t ecs_handle_count(const ecs_world* world, ecs_entity_state state) {
    switch (state) {
    case ECS_STATE_ALLOCATED:
        return world->storage->held.allocated_count;
    case ECS_STATE_LOADING:
        return world->storage->held.loading_count;
    case ECS_STATE_CREATED:
        return world->storage->entity_count;
    case ECS_STATE_NONE:
        break;
    }
    return 0;
}

void ecs_held_created(ecs_world* world, ecs_entity handle) {
    ecs_held_handle* entry = ecs_held_find(world, handle);
    if (!entry) return;
    if (entry->is_loading)
        world->storage->held.loading_count--;
    else
        world->storage->held.allocated_count--;
    entry->is_loading = false;
    entry->pending = 0;
    if (entry->references == 0) ecs_handle_drop(world, entry);
}

void ecs_held_destroyed(ecs_world* world, ecs_entity handle) {
    if (ecs_held_find(world, handle)) world->storage->held.allocated_count++;
}
