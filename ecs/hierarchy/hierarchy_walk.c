// SPDX-License-Identifier: MIT
// Public questions about parents and children. Each one lets the lists catch up first.
//
// A walk upwards carries a stamp, so it ends on a mirror where two halves of a change make a cycle.
// A walk over all entities below needs no stamp: it goes down from the root and comes back on the
// same way. It never enters the root again, so it also ends when the root is on a cycle.
#include "base/assert.h"
#include "hierarchy/hierarchy_link.h"
#include "hierarchy/hierarchy_lists.h"
#include "loading/loading.h"
#include "table/entity.h"
#include "table/storage.h"
#include "type/world.h"

static bool has_hierarchy(const ecs_world* world) {
    return world->storage->links.pages;
}

// The link of an entity that lives or waits; such a one has a page.
static ecs_link* link_of(const ecs_world* world, ecs_entity entity) {
    BASE_ASSERT(world->storage->links.pages);
    return ecs_link_at(&world->storage->links, ecs_entity_index(entity));
}

static bool exists(const ecs_world* world, ecs_entity entity) {
    return ecs_is_alive(world, entity) || ecs_loading_is_pending(world, entity);
}

// Is `ancestor` met on the way up from `entity`, itself included?
static bool is_met(ecs_world* world, ecs_entity entity, ecs_entity ancestor) {
    BASE_ASSERT(has_hierarchy(world) && !world->is_view); // it stamps what it comes by
    uint32_t walk = ++world->hierarchy->stamp;
    while (exists(world, entity)) {
        ecs_link* link = link_of(world, entity);
        if (entity == ancestor || link->stamp == walk) return entity == ancestor;
        link->stamp = walk;
        entity = ecs_link_parent_of(world, entity);
    }
    return entity == ancestor;
}

ecs_result ecs_hierarchy_check_parent(ecs_world* world, ecs_entity child, ecs_entity parent) {
    if (!exists(world, child) ||
        (parent != ECS_ENTITY_NONE && ecs_state(world, parent) == ECS_STATE_NONE))
        return ECS_ERR_STALE;
    if (!has_hierarchy(world)) return ECS_ERR_MISSING;
    ecs_hierarchy_sync(world);
    if (parent != ECS_ENTITY_NONE && is_met(world, parent, child)) return ECS_ERR_CYCLE;
    return ECS_OK;
}

ecs_entity ecs_hierarchy_parent(ecs_world* world, ecs_entity child) {
    if (!has_hierarchy(world) || !ecs_is_alive(world, child)) return ECS_ENTITY_NONE;
    ecs_hierarchy_sync(world);
    ecs_entity parent = link_of(world, child)->parent;
    return ecs_is_alive(world, parent) ? parent : ECS_ENTITY_NONE;
}

ecs_entity ecs_hierarchy_root(ecs_world* world, ecs_entity entity) {
    if (!ecs_is_alive(world, entity) || !has_hierarchy(world))
        return ecs_is_alive(world, entity) ? entity : ECS_ENTITY_NONE;
    BASE_ASSERT(!world->is_view); // it stamps what it comes by
    ecs_hierarchy_sync(world);
    uint32_t walk = ++world->hierarchy->stamp;
    for (;;) {
        ecs_link* link = link_of(world, entity);
        link->stamp = walk;
        if (!ecs_is_alive(world, link->parent) || link_of(world, link->parent)->stamp == walk)
            return entity;
        entity = link->parent;
    }
}

ecs_entity ecs_hierarchy_first(ecs_world* world, ecs_entity parent) {
    if (!has_hierarchy(world) || !ecs_is_alive(world, parent)) return ECS_ENTITY_NONE;
    ecs_hierarchy_sync(world);
    return ecs_link_first(world, parent);
}

ecs_entity ecs_hierarchy_next(ecs_world* world, ecs_entity child) {
    if (!has_hierarchy(world) || !ecs_is_alive(world, child)) return ECS_ENTITY_NONE;
    ecs_hierarchy_sync(world);
    return ecs_link_next(world, child);
}

uint32_t ecs_hierarchy_count(ecs_world* world, ecs_entity parent) {
    uint32_t count = 0;
    for (ecs_entity child = ecs_hierarchy_first(world, parent); child != ECS_ENTITY_NONE;
         child = ecs_link_next(world, child))
        count++;
    return count;
}

ecs_entity ecs_hierarchy_below(ecs_world* world, ecs_entity root, ecs_entity after) {
    if (!has_hierarchy(world) || !ecs_is_alive(world, root) || !ecs_is_alive(world, after))
        return ECS_ENTITY_NONE;
    ecs_hierarchy_sync(world);
    ecs_entity child = ecs_link_first(world, after);
    // The root is below itself on a mirror's cycle: it is passed over, not gone into.
    while (child == root)
        child = ecs_link_next(world, child);
    while (child == ECS_ENTITY_NONE && after != root) {
        child = ecs_link_next(world, after);
        while (child == root)
            child = ecs_link_next(world, child);
        after = link_of(world, after)->parent;
        if (!ecs_is_alive(world, after)) break; // it was not below the root
    }
    return child;
}

bool ecs_hierarchy_is_below(ecs_world* world, ecs_entity entity, ecs_entity ancestor) {
    if (!has_hierarchy(world) || !ecs_is_alive(world, entity) || entity == ancestor) return false;
    ecs_hierarchy_sync(world);
    return ecs_is_alive(world, ancestor) && is_met(world, entity, ancestor);
}

bool ecs_is_complete(ecs_world* world, ecs_entity entity) {
    if (!ecs_is_alive(world, entity)) return false;
    if (!has_hierarchy(world) || world->loading->count == 0) return true;
    ecs_hierarchy_sync(world);
    for (ecs_entity waiting = ecs_loading_next(world, ECS_ENTITY_NONE); waiting != ECS_ENTITY_NONE;
         waiting = ecs_loading_next(world, waiting))
        if (is_met(world, waiting, entity)) return false;
    return true;
}
