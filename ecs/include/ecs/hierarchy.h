// SPDX-License-Identifier: MIT
/// Parents and children.
///
/// An entity has a parent when its component `ecs.parent` of type eid names a living entity:
///
///     wheel { "ecs.parent:eid"{ _replicate:b=yes; value:eid=0 } }
///
/// The component is the only state: it is created, set, saved and replicated like any other
/// component. The world keeps lists of children beside it, so walks and destruction cost no more
/// than the children there are. The lists are brought up to date when they are used and before
/// tracking; so the component is always tracked. A world without a component of this name pays
/// nothing.
///
/// Order:   Siblings rise by index: on a server, on its mirrors, before and after a restore.
/// Destroy: ecs_destroy of a parent, by command or at once, first destroys its children in their
///          order, each with its own children first. Living children come before children that are
///          LOADING. Not in mirrors: there the server decides about each destruction.
/// Cycles:  ecs_hierarchy_set_parent refuses them. A cycle that was written another way is cut when
///          the lists are brought up to date: each entity on it gets parent none (counted in
///          parents_cut). Mirrors cut nothing, since the next packet may resolve the cycle; walks
///          end nevertheless.
/// Mirrors: A child may arrive before its parent. The relation holds as soon as both live.
/// Memory:  32 bytes per index, in pages, made with the records of indices. Nothing in a steady
/// tick.
#pragma once

#include "ecs/component.h"

BASE_C_BEGIN

#define ECS_PARENT_NAME "ecs.parent"

/// Set the parent of a living or LOADING entity; ECS_ENTITY_NONE removes it. It acts at once, in
/// systems too. A walk over children that has begun must not go on.
/// @return ECS_OK; ECS_ERR_STALE (the child does not exist, or the parent is in state NONE);
///         ECS_ERR_MISSING (the child does not have the component); ECS_ERR_CYCLE (the parent is
///         the child or below it). After a failure nothing changed.
BASE_MUST_USE ecs_result ecs_hierarchy_set_parent(ecs_world* world, ecs_entity child,
                                                  ecs_entity parent);
/// Get the living parent of a living entity. @return ECS_ENTITY_NONE when it has none.
ecs_entity ecs_hierarchy_parent(ecs_world* world, ecs_entity child);
/// Walk the living children of an entity: first, then next of each, until ECS_ENTITY_NONE. To
/// change structure or parents during the walk, get the next child before the change. next costs
/// one look-up.
ecs_entity ecs_hierarchy_first(ecs_world* world, ecs_entity parent);
ecs_entity ecs_hierarchy_next(ecs_world* world, ecs_entity child);

/// Is a family complete: does the entity live, and is nothing that will be below it LOADING for
/// resources? O(depth) per entity that waits in the world.
bool ecs_is_complete(ecs_world* world, ecs_entity entity);

BASE_C_END
