// SPDX-License-Identifier: MIT
/// Lists of children (hierarchy.c).
#pragma once

#include "base/report.h"
#include "ecs/hierarchy.h"

typedef struct ecs_hierarchy {
    struct ecs_group* group; ///< archetypes with the component
    uint32_t stamp;
    bool is_busy; ///< lists stay as they are: a family is being destroyed
} ecs_hierarchy;

/// Find the component and set up. Before queries are bound. @return ECS_OK; ECS_ERR_TYPE
/// (reported); ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_hierarchy_seal(ecs_world* world, const base_reporter* reporter);
void ecs_hierarchy_deinit(ecs_world* world);
/// Forget everything; all rows are to be looked at.
void ecs_hierarchy_reset(ecs_world* world);
/// Lists follow the values. Nothing when nothing was written.
void ecs_hierarchy_sync(ecs_world* world);
/// May `parent` become the parent of `child`? @return ECS_OK; ECS_ERR_STALE; ECS_ERR_MISSING;
/// ECS_ERR_CYCLE; ECS_ERR_MEMORY (ecs_hierarchy_set_parent).
BASE_MUST_USE ecs_result ecs_hierarchy_check_parent(ecs_world* world, ecs_entity child,
                                                    ecs_entity parent);
/// Does the destruction of this entity destroy others? Never in mirrors.
bool ecs_hierarchy_has_family(ecs_world* world, ecs_entity entity);
/// Destroy all below it, and it. It lives or waits for resources.
void ecs_hierarchy_destroy(ecs_world* world, ecs_entity entity);
void ecs_hierarchy_validate(const ecs_world* world);
