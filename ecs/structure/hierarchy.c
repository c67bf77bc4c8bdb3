// SPDX-License-Identifier: MIT
// Parents and children: lists that follow values.
//
// The component's value is the truth and lists are derived from it. So no list is saved, hashed or
// sent, and a value may be written in each way in which values are written. Tracking's marks say
// what was written, and a list of news (table/entity.c) has what was created or recreated;
// catching up looks at those alone. It happens before children are read and before tracking drops
// its marks.
//
//   links by index     2: first 5, last 9     5: parent 2, next 7     7: parent 2, prev 5, next 9
//
// A list holds every child that names the index, of each generation: on a mirror the children of
// (7, 5) may be here before it, and those of (7, 4) still. A walk takes those of the handle that it
// was given. Siblings rise by index, so the order follows from the values alone and not from the
// order of writes.
//
// Cycles: links are made first, then the chain above each new link is walked with a stamp of this
// sync. A chain that another walk of this sync passed is known to end, so all chains together cost
// no more than the links.
//
// Invariants: an entity that is linked has the component; news are links in the list or 0; a living
// entity's page of links exists, of a mirror's one when it has the component and lists caught up.
#include "structure/hierarchy.h"

#include "base/assert.h"
#include "base/hash.h"
#include "structure/loading.h"
#include "table/entity.h"
#include "table/query_cache.h"
#include "type/type_registry.h"

ecs_result ecs_hierarchy_seal(ecs_world* world, const base_reporter* reporter) {
    BASE_ASSERT(!world->is_sealed);
    ecs_hierarchy* hierarchy = world->hierarchy;
    ecs_links* links = &world->storage->links;
    ecs_component_id id =
        ecs_component_seek(world, ECS_PARENT_NAME, base_hash64_text(ECS_PARENT_NAME));
    if (id == ECS_COMPONENT_NONE || links->component != ECS_COMPONENT_NONE) return ECS_OK;
    const ecs_type* type = ecs_type_get(world, ecs_component_get(world, id)->type);
    if (type->id != ecs_type_find(world, "eid"))
        return BASE_REPORT_AS(ECS_ERR_TYPE, reporter, NULL, 0,
                              "component '%s' has type '%.63s': it must be eid", ECS_PARENT_NAME,
                              type->name);
    ecs_term term = {.component = ECS_PARENT_NAME, .type = "eid", .access = ECS_READ};
    hierarchy->group = ecs_group_ensure(world, &term, 1);
    links->component = id;
    links->news = ECS_LINK_END;
    return ECS_OK;
}

void ecs_hierarchy_reset(ecs_world* world) {
    if (world->storage->links.component == ECS_COMPONENT_NONE) return;
    ecs_links_clear(world);
    world->hierarchy->stamp = 0;
}

// Links

static void link_to(ecs_world* world, uint32_t index, ecs_entity parent_handle) {
    BASE_ASSERT(index >= 1 && parent_handle != ECS_ENTITY_NONE);
    ecs_links* links = &world->storage->links;
    uint32_t parent_index = ecs_entity_index(parent_handle);
    ecs_link_reserve(world, parent_index);
    ecs_link* link = ecs_link_at(links, index);
    ecs_link* parent = ecs_link_at(links, parent_index);
    // Mostly the newest child has the highest index, or all come falling.
    uint32_t next = parent->first != 0 && parent->first < index ? 0 : parent->first;
    uint32_t previous = next == 0 ? parent->last : 0;
    while (previous != 0 && previous > index) {
        next = previous;
        previous = ecs_link_at(links, previous)->previous;
    }
    link->parent = parent_handle;
    link->previous = previous;
    link->next = next;
    *(previous != 0 ? &ecs_link_at(links, previous)->next : &parent->first) = index;
    *(next != 0 ? &ecs_link_at(links, next)->previous : &parent->last) = index;
}

// Catching up

// What a chunk's mark says of a column that a walk opened. To tracking both are the same.
enum { NEWLY_WRITTEN = 1, FOLLOWED = 2 };

static void follow(ecs_world* world, uint32_t index, ecs_entity value) {
    ecs_links* links = &world->storage->links;
    ecs_link_reserve(world, index);
    const ecs_link* link = ecs_link_at(links, index);
    ecs_entity parent = ecs_handle_is_in_range(world, value) ? value : ECS_ENTITY_NONE;
    if (link->parent == parent) return;
    ecs_link_remove(links, index);
    if (parent != ECS_ENTITY_NONE) link_to(world, index, parent);
    ecs_link_record(links, ecs_entity_make(index, 1)); // its chain is looked at below
}

static void follow_row(ecs_world* world, const ecs_chunk* chunk, uint32_t row) {
    BASE_ASSERT(chunk->lookup[world->storage->links.component].column != ECS_SLOT_NONE);
    ecs_slot slot = chunk->lookup[world->storage->links.component];
    const ecs_entity* values = chunk->columns[slot.column];
    follow(world, ecs_entity_index(chunk->entities[row]), values[row]);
}

static void follow_marked(ecs_world* world, const ecs_chunk* chunk, uint32_t track) {
    const uint32_t words_per_bit = ECS_DIRTY_ROWS_PER_SUMMARY / 64;
    const uint64_t* words = ecs_chunk_dirty(chunk, track);
    for (uint64_t left = *ecs_chunk_summary(chunk, track); left != 0; left &= left - 1) {
        uint32_t first = (uint32_t)__builtin_ctzll(left) * words_per_bit;
        for (uint32_t word = first; word < first + words_per_bit && word < chunk->dirty_words;
             word++)
            for (uint64_t rows = words[word]; rows != 0; rows &= rows - 1)
                follow_row(world, chunk, word * 64 + (uint32_t)__builtin_ctzll(rows));
    }
}

static void follow_rows(ecs_world* world, bool is_behind) {
    const ecs_group* group = world->hierarchy->group;
    for (uint32_t i = 0; i < group->match_count; i++) {
        const ecs_archetype* archetype = group->matches[i];
        uint32_t track = archetype->lookup[world->storage->links.component].track;
        for (uint32_t k = 0; k < archetype->chunk_count; k++) {
            const ecs_chunk* chunk = archetype->chunks[k];
            uint32_t count = ecs_chunk_count(world->storage, chunk);
            if (!is_behind && chunk->written[track] != NEWLY_WRITTEN) {
                follow_marked(world, chunk, track);
                continue;
            }
            for (uint32_t row = 0; row < count; row++)
                follow_row(world, chunk, row);
            // No walk holds the column now: until the next walk opens it, it stays as it is.
            if (chunk->written[track] == NEWLY_WRITTEN && world->fast.walk_depth == 0)
                chunk->written[track] = FOLLOWED;
        }
    }
}

// What an index that is in the news says by now: its link follows. A destroyed entity has none.
static void follow_news(ecs_world* world, uint32_t index) {
    const ecs_record* record = ecs_record_at(world->storage, index);
    if (!(record->life & ECS_LIFE_CREATED)) {
        ecs_link_remove(&world->storage->links, index);
        return;
    }
    const ecs_chunk* chunk = ecs_record_chunk(world->storage, record);
    if (chunk->lookup[world->storage->links.component].column == ECS_SLOT_NONE) {
        ecs_link_remove(&world->storage->links, index);
        return;
    }
    follow_row(world, chunk, ecs_record_row(record));
}

// Each entity on the cycle through `index` loses its parent.
static void cut(ecs_world* world, uint32_t index) {
    BASE_ASSERT(!world->is_mirror && "a mirror never cuts");
    ecs_links* links = &world->storage->links;
    for (ecs_link* link = ecs_link_at(links, index); link->parent != ECS_ENTITY_NONE;
         link = ecs_link_at(links, index)) {
        uint32_t above = ecs_entity_index(link->parent);
        const ecs_record* record = ecs_record_at(world->storage, index);
        ecs_entity entity = ecs_entity_make(index, record->life & ECS_GENERATION_MAX);
        ecs_entity* value = ecs_find_mut(world, entity, links->component);
        BASE_ASSERT(value && "who is linked has the component");
        *value = ECS_ENTITY_NONE;
        ecs_link_remove(links, index);
        world->counters.parents_cut++;
        index = above;
    }
}

// The index above one that lives, as the handle says; 0: none.
static uint32_t above(const ecs_world* world, const ecs_link* link) {
    return ecs_is_alive(world, link->parent) ? ecs_entity_index(link->parent) : 0;
}

static void check_chain(ecs_world* world, uint32_t index, uint32_t sync_first) {
    BASE_ASSERT(index >= 1 && sync_first <= world->hierarchy->stamp + 1);
    ecs_hierarchy* hierarchy = world->hierarchy;
    ecs_links* links = &world->storage->links;
    uint32_t walk = ++hierarchy->stamp;
    while (index != 0) {
        ecs_link* link = ecs_link_at(links, index);
        if (link->stamp == walk) {
            cut(world, index);
            return;
        }
        if (link->stamp >= sync_first && link->stamp < walk)
            return; // a walk of this sync came by: it ended, or was cut
        link->stamp = walk;
        index = above(world, link);
    }
}

static bool has_marks(const ecs_world* world) {
    const ecs_group* group = world->hierarchy->group;
    for (uint32_t i = 0; i < group->match_count; i++) {
        const ecs_archetype* archetype = group->matches[i];
        uint32_t track = archetype->lookup[world->storage->links.component].track;
        for (uint32_t k = 0; k < archetype->chunk_count; k++)
            if (archetype->chunks[k]->written[track] == NEWLY_WRITTEN ||
                *ecs_chunk_summary(archetype->chunks[k], track) != 0)
                return true;
    }
    return false;
}

// Stamps of a walk; all are forgotten before the numbers run out.
static void reset_stamps(ecs_hierarchy* hierarchy, ecs_links* links) {
    if (hierarchy->stamp < UINT32_MAX / 2) return;
    for (uint32_t i = 0; i < links->page_capacity; i++)
        for (uint32_t k = 0; links->pages[i] && k < ECS_LINK_PAGE; k++)
            links->pages[i][k].stamp = 0;
    hierarchy->stamp = 0;
}

void ecs_hierarchy_sync(ecs_world* world) {
    if (world->is_view) return; // it was done before the wave, and no system of it writes parents
    ecs_hierarchy* hierarchy = world->hierarchy;
    ecs_links* links = &world->storage->links;
    if (links->component == ECS_COMPONENT_NONE || hierarchy->is_busy ||
        (links->news == ECS_LINK_END && !links->is_behind && !has_marks(world)))
        return;
    reset_stamps(hierarchy, links);
    bool is_behind = links->is_behind;
    links->is_behind = false;
    follow_rows(world, is_behind);
    // What follows here may be recorded again, but is in the list already: none is added.
    for (uint32_t at = links->news; at != ECS_LINK_END; at = ecs_link_at(links, at)->news_next)
        follow_news(world, at);
    uint32_t sync_first = hierarchy->stamp + 1;
    while (links->news != ECS_LINK_END) {
        ecs_link* link = ecs_link_at(links, links->news);
        uint32_t index = links->news;
        links->news = link->news_next;
        link->news_next = 0;
        if (!world->is_mirror && link->parent != ECS_ENTITY_NONE)
            check_chain(world, index, sync_first);
    }
}

// Destruction

// An entity that waits and whose parent will be this one, and was not come by.
static ecs_entity pending_child(const ecs_world* world, ecs_entity parent, uint32_t walk) {
    if (world->loading->count == 0) return ECS_ENTITY_NONE;
    for (ecs_entity entity = ecs_loading_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_loading_next(world, entity))
        if (ecs_link_parent_of(world, entity) == parent &&
            ecs_link_at(&world->storage->links, ecs_entity_index(entity))->stamp != walk)
            return entity;
    return ECS_ENTITY_NONE;
}

// The first living child that a walk did not come by.
static ecs_entity living_child(const ecs_world* world, ecs_entity parent, uint32_t walk) {
    for (ecs_entity child = ecs_link_first(world, parent); child != ECS_ENTITY_NONE;
         child = ecs_link_next(world, child))
        if (ecs_link_at(&world->storage->links, ecs_entity_index(child))->stamp != walk)
            return child;
    return ECS_ENTITY_NONE;
}

bool ecs_hierarchy_has_family(ecs_world* world, ecs_entity entity) {
    if (world->is_mirror || world->hierarchy->is_busy) return false;
    ecs_hierarchy_sync(world);
    uint32_t none = world->hierarchy->stamp + 1;
    return ecs_link_first(world, entity) != ECS_ENTITY_NONE ||
           pending_child(world, entity, none) != ECS_ENTITY_NONE;
}

void ecs_hierarchy_destroy(ecs_world* world, ecs_entity entity) {
    BASE_ASSERT(!world->is_mirror && !world->hierarchy->is_busy);
    ecs_hierarchy* hierarchy = world->hierarchy;
    ecs_links* links = &world->storage->links;
    ecs_hierarchy_sync(world);
    uint32_t walk = ++hierarchy->stamp;
    hierarchy->is_busy = true;
    ecs_entity at = entity;
    ecs_link_at(links, ecs_entity_index(at))->stamp = walk;
    for (;;) {
        ecs_entity child = living_child(world, at, walk);
        if (child == ECS_ENTITY_NONE) child = pending_child(world, at, walk);
        if (child != ECS_ENTITY_NONE) {
            at = child;
            ecs_link_at(links, ecs_entity_index(at))->stamp = walk;
            continue;
        }
        ecs_entity parent = ecs_link_parent_of(world, at);
        ecs_result result = ecs_loading_destroy(world, at);
        BASE_ASSERT(result == ECS_OK);
        if (at == entity) break;
        at = parent;
    }
    hierarchy->is_busy = false;
}

// Checks

static void check_children(const ecs_world* world, uint32_t index) {
    const ecs_links* links = &world->storage->links;
    const ecs_link* link = ecs_link_at(links, index);
    uint32_t previous = 0;
    for (uint32_t at = link->first; at != 0; at = ecs_link_at(links, at)->next) {
        const ecs_link* child = ecs_link_at(links, at);
        BASE_ASSERT(at > previous && child->previous == previous);
        BASE_ASSERT(ecs_entity_index(child->parent) == index);
        previous = at;
    }
    BASE_ASSERT(link->last == previous);
}

// Links equal the values of all rows, where no row waits to be looked at.
static void check_values(const ecs_world* world) {
    const ecs_links* links = &world->storage->links;
    const ecs_group* group = world->hierarchy->group;
    if (links->is_behind || links->news != ECS_LINK_END) return;
    for (uint32_t i = 0; i < group->match_count; i++) {
        const ecs_archetype* archetype = group->matches[i];
        ecs_slot slot = archetype->lookup[links->component];
        for (uint32_t k = 0; k < archetype->chunk_count; k++) {
            const ecs_chunk* chunk = archetype->chunks[k];
            const ecs_entity* values = chunk->columns[slot.column];
            if (chunk->written[slot.track] != 0 || *ecs_chunk_summary(chunk, slot.track) != 0)
                continue;
            for (uint32_t row = 0; row < ecs_chunk_count(world->storage, chunk); row++) {
                const ecs_link* link = ecs_link_at(links, ecs_entity_index(chunk->entities[row]));
                bool is_handle = ecs_handle_is_in_range(world, values[row]);
                BASE_ASSERT(link && link->parent == (is_handle ? values[row] : ECS_ENTITY_NONE));
            }
        }
    }
}

void ecs_hierarchy_validate(const ecs_world* world) {
    const ecs_hierarchy* hierarchy = world->hierarchy;
    const ecs_links* links = &world->storage->links;
    if (links->component == ECS_COMPONENT_NONE) return;
    BASE_ASSERT(!hierarchy->is_busy);
    for (uint32_t page = 0; page < links->page_capacity; page++)
        for (uint32_t i = 0; links->pages[page] && i < ECS_LINK_PAGE; i++)
            check_children(world, page << ECS_LINK_PAGE_BITS | i);
    check_values(world);
    if (world->is_mirror) return;
    for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(world, entity))
        BASE_ASSERT(ecs_link_at(links, ecs_entity_index(entity)));
}

// Public questions about parents and children. Each one lets the lists catch up first.
//
// A walk upwards carries a stamp, so it ends on a mirror where two halves of a change make a cycle.

static bool has_hierarchy(const ecs_world* world) {
    return world->storage->links.component != ECS_COMPONENT_NONE;
}

// The link of an entity that lives or waits. NULL: of a mirror, without parent or child.
static ecs_link* link_of(const ecs_world* world, ecs_entity entity) {
    BASE_ASSERT(has_hierarchy(world));
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
        if (!link && !ecs_is_alive(world, entity)) {
            // One that waits names its parent, and may be on a cycle.
            ecs_link_reserve(world, ecs_entity_index(entity));
            link = link_of(world, entity);
        }
        if (entity == ancestor || !link || link->stamp == walk) return entity == ancestor;
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
    const ecs_link* link = link_of(world, child);
    return link && ecs_is_alive(world, link->parent) ? link->parent : ECS_ENTITY_NONE;
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

bool ecs_is_complete(ecs_world* world, ecs_entity entity) {
    if (!ecs_is_alive(world, entity)) return false;
    if (!has_hierarchy(world) || world->loading->count == 0) return true;
    ecs_hierarchy_sync(world);
    for (ecs_entity waiting = ecs_loading_next(world, ECS_ENTITY_NONE); waiting != ECS_ENTITY_NONE;
         waiting = ecs_loading_next(world, waiting))
        if (is_met(world, waiting, entity)) return false;
    return true;
}
