// SPDX-License-Identifier: MIT
// Sparse components come and go: values in their sets (table/sparse.c), what tracking must know.
//
// A tracked value counts in the state hash from the moment it is there. That it came or went is
// noted, and listed as a change when the step tracks.
#include "core/world_internal.h"
#include "structure/transition.h"
#include "table/cell.h"
#include "table/sparse.h"
#include "table/storage.h"
#include "track/track.h"

static void tell(ecs_world* world, ecs_sparse* set, uint32_t position, bool is_added) {
    const uint64_t hash = ecs_track_hash(world, set->entities[position], set->component,
                                         ecs_sparse_shadow(set, position));
    world->tracker->hashes[set->component] += is_added ? hash : 0 - hash;
    ecs_sparse_note(set, set->entities[position]);
}

ecs_result ecs_structure_sparse_add(ecs_world* world, ecs_entity entity, ecs_component_id component,
                                    const void* value) {
    const ecs_record* record = ecs_fast_record(&world->fast, entity);
    ecs_sparse* set = ecs_sparse_of(world, component);
    if (!record) return ECS_ERR_STALE;
    const void* stated = set ? ecs_sparse_default(world, set, record->template_id) : NULL;
    if (!stated) return ECS_ERR_MISSING;
    if (!value) value = stated;
    uint32_t position = ecs_sparse_position(set, entity);
    if (position != UINT32_MAX) {
        ecs_sparse_mark(set, position);
        return ecs_cell_assign(world, set->type, ecs_sparse_cell(set, position), value)
                   ? ECS_OK
                   : ECS_ERR_MEMORY;
    }
    if (!ecs_sparse_push(world, set, entity, value)) return ECS_ERR_MEMORY;
    if (set->is_tracked) tell(world, set, set->count - 1, true);
    return ECS_OK;
}

static void take(ecs_world* world, ecs_sparse* set, uint32_t position) {
    if (set->is_tracked) tell(world, set, position, false);
    ecs_sparse_pull(world, set, position);
}

ecs_result ecs_structure_sparse_remove(ecs_world* world, ecs_entity entity,
                                       ecs_component_id component) {
    ecs_sparse* set = ecs_sparse_of(world, component);
    const uint32_t position = set ? ecs_sparse_position(set, entity) : UINT32_MAX;
    if (position == UINT32_MAX)
        return ecs_is_alive(world, entity) ? ECS_ERR_MISSING : ECS_ERR_STALE;
    take(world, set, position);
    return ECS_OK;
}

void ecs_structure_sparse_keep(ecs_world* world, ecs_entity entity, ecs_template_id template_id) {
    for (uint32_t i = 0; i < world->storage->sparse_count; i++) {
        ecs_sparse* set = world->storage->sparse[i];
        const uint32_t position = ecs_sparse_position(set, entity);
        if (position != UINT32_MAX && !ecs_sparse_default(world, set, template_id))
            take(world, set, position);
    }
}
