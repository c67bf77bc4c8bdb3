// SPDX-License-Identifier: MIT
// Binding a template to its archetype, and an archetype to those that handle its changes.
//
// The table makes archetypes and knows of no handlers; core events find out once per archetype
// which handlers and members its rows concern. Both happen before the first row, here.
#include "base/assert.h"
#include "event/core_event.h"
#include "structure/transition.h"
#include "table/storage.h"
#include "type/world.h"

ecs_result ecs_archetype_ensure(ecs_world* world, const ecs_template* made_from,
                                ecs_archetype** archetype) {
    const uint32_t count = world->storage->archetype_count;
    ecs_result result = ecs_archetype_find_or_make(world, made_from, archetype);
    if (result != ECS_OK || world->storage->archetype_count == count) return result;
    if (ecs_core_event_bind(world, *archetype)) return ECS_OK;
    ecs_archetypes_drop_last(world);
    *archetype = NULL;
    return ECS_ERR_MEMORY;
}

void ecs_archetype_drop_newest(ecs_world* world) {
    const ecs_storage* storage = world->storage;
    BASE_ASSERT(storage->archetype_count > 0);
    ecs_core_event_unbind(world, storage->archetypes[storage->archetype_count - 1]);
    ecs_archetypes_drop_last(world);
}

ecs_result ecs_storage_bind(ecs_world* world, ecs_template_id template_id, ecs_binding** binding) {
    const ecs_storage* storage = world->storage;
    BASE_ASSERT(world->is_sealed && "seal the world before entities are made");
    const uint32_t count = storage->archetype_count;
    ecs_result result = ecs_binding_make(world, template_id, binding);
    if (result != ECS_OK || storage->archetype_count == count) return result;
    if (ecs_core_event_bind(world, (*binding)->archetype)) return ECS_OK;
    ecs_binding_drop(world, *binding);
    ecs_archetypes_drop_last(world);
    *binding = NULL;
    return ECS_ERR_MEMORY;
}
