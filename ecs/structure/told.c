// SPDX-License-Identifier: MIT
// What tracking and the links of parents must know of rows that come, move and go.
#include "structure/transition.h"
#include "table/entity.h"
#include "table/storage.h"
#include "table/track.h"
#include "type/world.h"

static void note_parent(ecs_world* world, const ecs_chunk* chunk, ecs_entity entity) {
    if (chunk->archetype->notify & ECS_NOTIFY_PARENT) ecs_link_note(&world->storage->links, entity);
}

void ecs_structure_created(ecs_world* world, const ecs_chunk* chunk, uint32_t row,
                           ecs_entity entity) {
    ecs_track_created(world, entity, chunk, row);
    note_parent(world, chunk, entity);
}

void ecs_structure_destroying(ecs_world* world, const ecs_chunk* chunk, uint32_t row,
                              ecs_entity entity) {
    ecs_track_destroying(world, entity, chunk, row);
    if (chunk->archetype->notify & ECS_NOTIFY_PARENT)
        ecs_link_remove(&world->storage->links, ecs_entity_index(entity));
}

void ecs_structure_leaving(ecs_world* world, const ecs_chunk* chunk, uint32_t row,
                           ecs_entity entity) {
    ecs_track_leaving(world, chunk, row);
    note_parent(world, chunk, entity);
}

void ecs_structure_arrived(ecs_world* world, const ecs_chunk* chunk, uint32_t row,
                           ecs_entity entity) {
    ecs_track_arrived(world, entity, chunk, row);
    note_parent(world, chunk, entity);
}
