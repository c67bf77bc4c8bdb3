// SPDX-License-Identifier: MIT
/// Lists of children (hierarchy.c).
#pragma once

#include "ecs/hierarchy.h"

/// By index. `first` to `count` speak of the index as a parent, the rest of the entity as a child.
typedef struct ecs_link {
    ecs_entity parent; ///< as the value said when it was linked; ECS_ENTITY_NONE: in no list
    uint32_t first;    ///< indices of children, whichever generation they name; 0: none
    uint32_t last;
    uint32_t next; ///< siblings, rising; 0: none
    uint32_t previous;
    uint32_t news_next; ///< in the list of what is to be looked at; 0: not in it
    uint32_t stamp;     ///< of the last walk that came by
    uint32_t unused;
} ecs_link;
_Static_assert(sizeof(ecs_link) == 32, "two links fill a cache line");

typedef struct ecs_hierarchy {
    ecs_component_id component; ///< ECS_COMPONENT_NONE: no hierarchy
    ecs_link** pages;           ///< as of records; NULL: no hierarchy
    struct ecs_group* group;    ///< archetypes with the component
    uint32_t news;              ///< index of the first entity to look at; ECS_LINK_END: none
    uint32_t stamp;
    bool is_behind; ///< every row is to be looked at: after a restore, or when memory ran out
    bool is_busy;   ///< lists stay as they are: a family is being destroyed
} ecs_hierarchy;

#define ECS_LINK_END UINT32_MAX ///< no index; ends the list of news

/// Find the component and set up. Before queries are bound. @return ECS_OK; ECS_ERR_TYPE (reported);
/// ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_hierarchy_seal(ecs_world* world, const base_reporter* reporter);
void ecs_hierarchy_deinit(ecs_world* world);
/// Forget everything; all rows are to be looked at.
void ecs_hierarchy_reset(ecs_world* world);
/// Make the page of an index. @return false when memory ran out.
BASE_MUST_USE bool ecs_hierarchy_reserve(ecs_world* world, uint32_t index);
/// Rows of archetypes told of ECS_TOLD_PARENT: one was filled or changed its archetype; one goes.
void ecs_hierarchy_note(ecs_world* world, ecs_entity entity);
void ecs_hierarchy_forget(ecs_world* world, ecs_entity entity);
/// Lists follow the values. Nothing when nothing was written.
void ecs_hierarchy_sync(ecs_world* world);
/// Does a death of this one mean others? Never in mirrors.
bool ecs_hierarchy_has_family(ecs_world* world, ecs_entity entity);
/// Destroy all below it, and it. It lives or waits for resources.
void ecs_hierarchy_destroy(ecs_world* world, ecs_entity entity);
void ecs_hierarchy_validate(const ecs_world* world);
