// SPDX-License-Identifier: MIT
/// Reading links as they are, without catching up: for hierarchy.c and hierarchy_walk.c.
#pragma once

#include "ecs/loader.h"
#include "table/storage.h"
#include "type/world.h"

/// Could a value name an entity of this world?
static inline bool ecs_link_is_handle(const ecs_world* world, ecs_entity value) {
    uint32_t index = ecs_entity_index(value);
    return index >= 1 && ecs_entity_generation(value) >= 1 &&
           index <= world->limits.replicated_index_max + world->limits.local_entities_max;
}
/// The handle of a linked index; its entity lives.
static inline ecs_entity ecs_link_handle(const ecs_world* world, uint32_t index) {
    return ecs_entity_make(index, ecs_record_at(world->storage, index)->life & ECS_GENERATION_MAX);
}
/// From a child's index on along its siblings: the first whose parent is this handle.
static inline ecs_entity ecs_link_skip(const ecs_world* world, uint32_t at, ecs_entity parent) {
    while (at != 0) {
        const ecs_link* link = ecs_link_at(&world->storage->links, at);
        if (link->parent == parent) return ecs_link_handle(world, at);
        at = link->next;
    }
    return ECS_ENTITY_NONE;
}
static inline ecs_entity ecs_link_first(const ecs_world* world, ecs_entity parent) {
    const ecs_link* link = ecs_link_at(&world->storage->links, ecs_entity_index(parent));
    return !link ? ECS_ENTITY_NONE : ecs_link_skip(world, link->first, parent);
}
static inline ecs_entity ecs_link_next(const ecs_world* world, ecs_entity child) {
    const ecs_link* link = ecs_link_at(&world->storage->links, ecs_entity_index(child));
    return !link || link->parent == ECS_ENTITY_NONE
               ? ECS_ENTITY_NONE
               : ecs_link_skip(world, link->next, link->parent);
}
/// What an entity names as its parent, whether it lives or waits for resources.
static inline ecs_entity ecs_link_parent_of(const ecs_world* world, ecs_entity entity) {
    if (ecs_is_alive(world, entity))
        return ecs_link_at(&world->storage->links, ecs_entity_index(entity))->parent;
    const ecs_entity* value = ecs_loading_find(world, entity, world->storage->links.component);
    return !value || !ecs_link_is_handle(world, *value) ? ECS_ENTITY_NONE : *value;
}
