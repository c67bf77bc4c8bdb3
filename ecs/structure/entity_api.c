// SPDX-License-Identifier: MIT
// Public calls that create, destroy and change one entity or many.
//
// A call decides here who does the work: an entity that waits for resources is loading's, one with
// children is the hierarchy's, and every other is a row (transition.c).
#include "base/assert.h"
#include "structure/hierarchy.h"
#include "structure/loading.h"
#include "structure/transition.h"

// A creation in a world with a loader: an entity whose resources are not there is put off.
// Apart, so that ecs_create saves no registers in a world without one.
static __attribute__((noinline)) ecs_result
create_loading(ecs_world* world, ecs_template_id template_id, const ecs_init* inits,
               uint32_t init_count, ecs_entity* entity) {
    ecs_structure_check(world);
    ecs_binding* binding = NULL;
    ecs_result result = ecs_row_bind(world, template_id, &binding);
    if (result != ECS_OK) return result;
    if (binding->archetype->notify & ECS_NOTIFY_LOAD) {
        ecs_entity handle = ECS_ENTITY_NONE;
        bool is_put_off = false;
        result = ecs_loading_create(world, template_id, binding, inits, init_count, &handle,
                                    &is_put_off);
        if (is_put_off) *entity = handle;
        if (result != ECS_OK || is_put_off) return result;
    }
    return ecs_structure_create(world, template_id, inits, init_count, entity);
}

// What is prepared waits for no resource, and structure may change while it is.
ecs_result ecs_create(ecs_world* world, ecs_template_id template_id, const ecs_init* inits,
                      uint32_t init_count, ecs_entity* entity) {
    ecs_storage* storage = world->storage;
    const ecs_runway* runway = &storage->runway;
    if (init_count == 0 && runway->left > 0 && runway->template_id == template_id &&
        !runway->is_tracked) {
        (void)ecs_runway_take(storage, entity);
        return ECS_OK;
    }
    if (world->has_loader) return create_loading(world, template_id, inits, init_count, entity);
    return ecs_structure_create(world, template_id, inits, init_count, entity);
}

// A destruction in a world with parents. Apart, so that ecs_destroy saves no registers.
static __attribute__((noinline)) ecs_result destroy_related(ecs_world* world, ecs_entity entity) {
    if (ecs_state(world, entity) < ECS_STATE_LOADING || !ecs_hierarchy_has_family(world, entity))
        return ecs_loading_destroy(world, entity);
    ecs_hierarchy_destroy(world, entity);
    return ECS_OK;
}

ecs_result ecs_destroy(ecs_world* world, ecs_entity entity) {
    ecs_structure_check(world);
    if (world->storage->links.component != ECS_COMPONENT_NONE)
        return destroy_related(world, entity);
    return ecs_structure_destroy_simple(world, entity) ? ECS_OK
                                                       : ecs_loading_destroy(world, entity);
}

ecs_result ecs_hierarchy_set_parent(ecs_world* world, ecs_entity child, ecs_entity parent) {
    ecs_result result = ecs_hierarchy_check_parent(world, child, parent);
    if (result != ECS_OK) return result;
    return ecs_set(world, child, world->storage->links.component, &parent);
}

ecs_result ecs_create_at(ecs_world* world, ecs_entity handle, ecs_template_id template_id,
                         const ecs_init* inits, uint32_t init_count) {
    ecs_structure_check(world);
    BASE_ASSERT(world->is_mirror && "only a mirror gets its handles from outside");
    uint32_t index = ecs_entity_index(handle);
    if (index == 0 || ecs_entity_generation(handle) == 0) return ECS_ERR_STALE;
    if (index > world->limits.replicated_index_max) return ECS_ERR_FULL;
    ecs_binding* binding = NULL;
    ecs_result result = ecs_row_bind(world, template_id, &binding);
    if (result != ECS_OK) return result;
    bool lives = ecs_record_at(world->storage, index)->life & ECS_LIFE_CREATED;
    if (!lives && binding->archetype->notify & ECS_NOTIFY_LOAD) {
        if (ecs_loading_is_pending(world, handle)) {
            ecs_world_count_bad_transition(world);
            return ECS_ERR_TAKEN;
        }
        bool is_put_off = false;
        result = ecs_loading_create(world, template_id, binding, inits, init_count, &handle,
                                    &is_put_off);
        if (result != ECS_OK || is_put_off) return result;
    }
    return ecs_structure_create_at(world, handle, template_id, inits, init_count);
}

ecs_result ecs_create_many(ecs_world* world, ecs_template_id template_id, uint32_t count,
                           ecs_entity* entities) {
    ecs_structure_check(world);
    ecs_binding* binding = NULL;
    ecs_result result = ecs_storage_bind(world, template_id, &binding);
    if (result != ECS_OK || count == 0) return result;
    result = ecs_structure_reserve_many(world, template_id, binding, count);
    if (result != ECS_OK) return result;
    if (!binding->archetype->notify)
        ecs_structure_create_many(world, template_id, binding, count, NULL, entities);
    // Where handlers exist, each sees the world as it is when that entity was made.
    for (uint32_t i = 0; i < count && binding->archetype->notify && result == ECS_OK; i++) {
        ecs_entity made = ECS_ENTITY_NONE;
        result = ecs_create(world, template_id, NULL, 0, &made);
        if (entities) entities[i] = made;
    }
    return result;
}

ecs_result ecs_detail_set(ecs_world* world, ecs_entity entity, ecs_component_id component,
                          const void* value) {
    const ecs_record* record = ecs_fast_record(&world->fast, entity);
    if (world->fast.check) world->fast.check(world, component, true);
    if (!record) return ecs_loading_set_value(world, entity, component, value);
    if (component >= world->fast.slot_count) return ECS_ERR_MISSING;
    const ecs_place* place = &world->fast.places[record->place >> ECS_ROW_BITS];
    const ecs_slot* slot = &place->slots[component];
    if (slot->column == ECS_SLOT_NONE) return ECS_ERR_MISSING;
    uint32_t row = ecs_record_row(record);
    void* cell = (uint8_t*)place->chunk + slot->offset + (size_t)slot->size * row;
    if (slot->track != ECS_SLOT_NONE) ecs_chunk_mark_row(place->chunk, slot->track, row);
    if (!slot->has_ops) {
        ecs_bytes_copy(cell, value, slot->size);
        return ECS_OK;
    }
    ecs_result result = ecs_inits_check(world, &(ecs_init){component, value}, 1);
    if (result == ECS_OK)
        ecs_cell_assign(world, place->chunk->archetype->columns[slot->column].type, cell, value);
    return result;
}
