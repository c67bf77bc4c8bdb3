// SPDX-License-Identifier: MIT
/// Lists of children (hierarchy.c).
#pragma once

#include "base/report.h"
#include "ecs/hierarchy.h"
#include "ecs/loader.h"
#include "table/storage.h"
#include "type/world.h"

typedef struct ecs_hierarchy {
    struct ecs_group* group; ///< archetypes with the component
    uint32_t stamp;
    bool is_busy; ///< lists stay as they are: a family is being destroyed
} ecs_hierarchy;

/// Find the component and set up. Before queries are bound. @return ECS_OK; ECS_ERR_TYPE
/// (reported).
BASE_MUST_USE ecs_result ecs_hierarchy_seal(ecs_world* world, const base_reporter* reporter);
/// Forget everything; all rows are to be looked at.
void ecs_hierarchy_reset(ecs_world* world);
/// Lists follow the values. Nothing when nothing was written.
void ecs_hierarchy_sync(ecs_world* world);
/// May `parent` become the parent of `child`? @return ECS_OK; ECS_ERR_STALE; ECS_ERR_MISSING;
/// ECS_ERR_CYCLE (ecs_hierarchy_set_parent).
BASE_MUST_USE ecs_result ecs_hierarchy_check_parent(ecs_world* world, ecs_entity child,
                                                    ecs_entity parent);
/// Does the destruction of this entity destroy others? Never in mirrors.
bool ecs_hierarchy_has_family(ecs_world* world, ecs_entity entity);
/// Destroy all below it, and it. It lives or waits for resources.
void ecs_hierarchy_destroy(ecs_world* world, ecs_entity entity);
void ecs_hierarchy_validate(const ecs_world* world);

// Reading links as they are, without catching up.

/// From a child's index on along its siblings: the first whose parent is this handle.
static inline ecs_entity ecs_link_skip(const ecs_world* world, uint32_t at, ecs_entity parent) {
    while (at != 0) {
        const ecs_link* link = ecs_link_at(&world->storage->links, at);
        if (link->parent == parent) // its entity lives
            return ecs_entity_make(at,
                                   ecs_record_at(world->storage, at)->life & ECS_GENERATION_MAX);
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
    if (ecs_is_alive(world, entity)) {
        const ecs_link* link = ecs_link_at(&world->storage->links, ecs_entity_index(entity));
        return link ? link->parent : ECS_ENTITY_NONE;
    }
    const ecs_entity* value = ecs_loading_find(world, entity, world->storage->links.component);
    return !value || !ecs_handle_is_in_range(world, *value) ? ECS_ENTITY_NONE : *value;
}
