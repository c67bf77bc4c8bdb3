// SPDX-License-Identifier: MIT
// Templates of which one entity exists at a time.
//
// A binding remembers the entity that was made last of its template; a look at its record shows
// whether it still exists. So a destruction needs no work here.
//
// A mirror takes what its authority sends, even two entities: then the one made last counts, and
// when it is gone the rows are searched.
#include "structure/singleton.h"

#include "table/entity.h"
#include "table/storage.h"
#include "type/world.h"

static bool is_of(const ecs_world* world, ecs_entity entity, ecs_template_id template_id) {
    const ecs_record* record = ecs_record_find(world->storage, entity);
    return record && record->template_id == template_id;
}

static ecs_entity look_through(const ecs_world* world, const ecs_archetype* archetype,
                               ecs_template_id template_id) {
    for (uint32_t k = 0; k < archetype->chunk_count; k++) {
        const ecs_chunk* chunk = archetype->chunks[k];
        uint32_t count = ecs_chunk_count(world->storage, chunk);
        for (uint32_t row = 0; row < count; row++)
            if (is_of(world, chunk->entities[row], template_id)) return chunk->entities[row];
    }
    return ECS_ENTITY_NONE;
}

ecs_entity ecs_singleton(const ecs_world* world, ecs_template_id template_id) {
    const ecs_storage* storage = world->storage;
    if (template_id >= storage->binding_capacity || !storage->bindings[template_id].is_singleton)
        return ECS_ENTITY_NONE;
    const ecs_binding* binding = &storage->bindings[template_id];
    if (is_of(world, binding->single, template_id)) return binding->single;
    return world->is_mirror ? look_through(world, binding->archetype, template_id)
                            : ECS_ENTITY_NONE;
}

bool ecs_singleton_has_room(ecs_world* world, ecs_template_id template_id) {
    if (ecs_singleton(world, template_id) == ECS_ENTITY_NONE &&
        !ecs_held_has_pending(world, template_id))
        return true;
    world->counters.singletons_refused++;
    return false;
}
