// SPDX-License-Identifier: MIT
/// Parents and children.
///
/// An entity has a parent when it has the component `ecs.parent` of type eid and that names a
/// living entity:
///
///     wheel { "ecs.parent:eid"{ _replicate:b=yes; value:eid=0 } }
///
/// The value is all there is: it is created, set, saved and replicated like any other, by whatever
/// way values are written. From it follow lists of children, kept for every index, so that walks
/// and destruction cost what is there. They catch up when they are asked for and before tracking;
/// the component is therefore always tracked. In a world without a component of this name nothing
/// of this costs anything.
///
/// Order:  siblings rise by index, on a server as on its mirrors, before and after a restore.
/// Destruction: ecs_destroy of a parent, by command or at once, first destroys its children, in
///         their order, each with its own children first, and among the children of one those that
///         live before those that still load. Not in mirrors: there each death is the server's
///         word.
/// Cycles: ecs_hierarchy_set_parent refuses them. Written by other ways, a cycle is cut when lists
///         catch up: each entity on it gets parent none, counted in parents_cut. Mirrors cut
///         nothing, since the other half may be on its way; walks end nevertheless.
/// Mirrors: a child may come before its parent. The relation holds as soon as both live.
/// Memory: 32 bytes per index, in pages, made with the records of indices; nothing in a steady
/// tick.
#pragma once

#include "ecs/component.h"

#define ECS_PARENT_NAME "ecs.parent"

/// The component; ECS_COMPONENT_NONE when no template has it. For creations and commands.
ecs_component_id ecs_hierarchy_component(const ecs_world* world);

/// Set the parent of a living or LOADING entity; ECS_ENTITY_NONE: none. At once, in systems too;
/// walks over children that are under way must not go on.
/// @return ECS_OK; ECS_ERR_STALE (the child does not exist, or the parent neither lives nor loads
///         nor is referred to); ECS_ERR_MISSING (no such component); ECS_ERR_CYCLE (the parent is
///         the child or below it); ECS_ERR_MEMORY. Nothing changed unless ECS_OK.
BASE_MUST_USE ecs_result ecs_hierarchy_set_parent(ecs_world* world, ecs_entity child,
                                                  ecs_entity parent);
/// The living parent of a living entity, or ECS_ENTITY_NONE.
ecs_entity ecs_hierarchy_parent(ecs_world* world, ecs_entity child);
/// The topmost above an entity, itself when it has no parent; on a mirror's cycle, where it closes.
/// ECS_ENTITY_NONE for one that does not live.
ecs_entity ecs_hierarchy_root(ecs_world* world, ecs_entity entity);
/// Walk living children: first, then next of each until ECS_ENTITY_NONE. To change structure or
/// parents meanwhile, take the next one before. next costs one look-up.
ecs_entity ecs_hierarchy_first(ecs_world* world, ecs_entity parent);
ecs_entity ecs_hierarchy_next(ecs_world* world, ecs_entity child);
uint32_t ecs_hierarchy_count(ecs_world* world, ecs_entity parent); ///< living children; walks them
/// Walk all below `root`, parents before their children: pass `root` first, then what it returned;
/// ECS_ENTITY_NONE ends it. Without memory of its own: no parent may change meanwhile.
ecs_entity ecs_hierarchy_below(ecs_world* world, ecs_entity root, ecs_entity after);
/// Is `entity` below `ancestor`, at any depth? Nobody is below itself.
bool ecs_hierarchy_is_below(ecs_world* world, ecs_entity entity, ecs_entity ancestor);

/// Is a composite complete: it lives, and nothing that will be below it is LOADING for resources.
/// O(depth) per entity that waits in the world.
bool ecs_is_complete(ecs_world* world, ecs_entity entity);
