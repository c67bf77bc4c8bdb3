// SPDX-License-Identifier: MIT
// Sparse components: one set of values each, beside the tables.
//
//     handle --> page --> position + 1
//                             |
//     entities  e e e e e     |       any entity of a template that states the component
//     values    v v v v v  <--+       dense, in the order of adding; the last fills a hole
//     shadows   v v v v v             of a tracked one
//
// An entity that gets or loses such a component keeps its row, its archetype and its place in every
// walk over tables: adding is a store at the end, removing moves one value. The order of a set
// follows from the order in which components were added and removed, as that of rows does, so it is
// the same in every run; saves keep it.
//
// Whether a component is sparse belongs to the component, not to a template: all templates that
// state it must agree. Archetypes do not know of it, but an archetype whose templates state one is
// flagged (ECS_NOTIFY_SPARSE), and so the values of its entities go when these go.
//
// Invariants: position and entities[position] point at each other; every entity of a set lives and
// its template states the component; beyond the count all is zero.
#include "table/sparse.h"

#include "base/assert.h"
#include "core/world_internal.h"
#include "table/bytes.h"
#include "table/cell.h"
#include "table/record.h"
#include "table/storage.h"
#include "type/type_registry.h"

#include <string.h>

enum { CAPACITY_MIN = 64 };

const void* ecs_sparse_find_default(const ecs_world* world, ecs_sparse* set, ecs_template_id id) {
    const ecs_template* made_from = ecs_template_get(world, id);
    const ecs_template_component* stated =
        made_from ? ecs_template_find_component(made_from, set->component) : NULL;
    if (!stated) return NULL;
    set->known = id;
    return set->known_default = stated->value;
}

// What a missing page is: entries that hold no position, and are not 0, which an add looks for.
static uint32_t* no_page(void) {
    __extension__ static const uint32_t page[ECS_PAGE_RECORDS] = {[0 ... ECS_PAGE_RECORDS - 1] =
                                                                      ECS_SPARSE_MOVED};
    return (uint32_t*)(uintptr_t)page; // never written
}

static ecs_result make_set(ecs_world* world, const ecs_template_component* stated) {
    ecs_storage* storage = world->storage;
    ecs_sparse* set = base_allocate_zero(world->allocator, sizeof *set);
    if (!set) return ECS_ERR_MEMORY;
    set->component = stated->component;
    set->is_tracked = stated->flags & ECS_COMPONENT_TRACKED;
    set->type = ecs_type_get(world, ecs_component_get(world, stated->component)->type);
    set->size = set->type->size;
    if (!set->is_tracked && !set->type->ops && set->size % 4 == 0 &&
        set->size <= 4 * ECS_SLOT_WORDS_MAX)
        set->words = (uint8_t)(set->size / 4);
    for (uint32_t i = 0; i < ECS_PAGES; i++)
        set->pages[i] = no_page();
    uint32_t place = storage->sparse_count++; // room for as many as there are components
    for (; place > 0 && storage->sparse[place - 1]->component > set->component; place--)
        storage->sparse[place] = storage->sparse[place - 1];
    storage->sparse[place] = storage->sparse_by[set->component] = set;
    return ECS_OK;
}

// One statement of a template beside what the others say.
static ecs_result check_statement(ecs_world* world, const ecs_template* made_from,
                                  const ecs_template_component* stated, const uint32_t* first,
                                  const base_reporter* reporter) {
    const uint32_t kinds = ECS_COMPONENT_SPARSE | ECS_COMPONENT_TRACKED;
    const ecs_template* other = ecs_template_get(world, (ecs_template_id)first[stated->component]);
    const ecs_template_component* before = ecs_template_find_component(other, stated->component);
    const bool is_any_sparse = (stated->flags | before->flags) & ECS_COMPONENT_SPARSE;
    if (!is_any_sparse || (stated->flags & kinds) == (before->flags & kinds)) return ECS_OK;
    base_report(reporter, made_from->file, stated->line,
                "component '%s' is sparse: it must have the same _sparse and _track here as in "
                "template '%s'",
                ecs_component_get(world, stated->component)->name, other->name);
    return ECS_ERR_TYPE;
}

ecs_result ecs_sparse_seal(ecs_world* world, const base_reporter* reporter) {
    ecs_sparse_deinit(world); // of a seal that failed
    ecs_storage* storage = world->storage;
    uint32_t first[ECS_COMPONENTS_MAX + 1] = {0}; // by component: the first template that states it
    storage->sparse_capacity = ecs_component_count(world) + 1;
    storage->sparse = base_allocate_zero(world->allocator, 2 * (size_t)storage->sparse_capacity *
                                                               sizeof *storage->sparse);
    if (!storage->sparse) {
        storage->sparse_capacity = 0;
        return ECS_ERR_MEMORY;
    }
    storage->sparse_by = storage->sparse + storage->sparse_capacity;
    world->fast.sparse = storage->sparse_by;
    ecs_result result = ECS_OK;
    for (uint32_t id = 1; id <= ecs_template_count(world); id++) {
        const ecs_template* made_from = ecs_template_get(world, (ecs_template_id)id);
        for (uint32_t i = 0; i < made_from->component_count; i++) {
            const ecs_template_component* stated = &made_from->components[i];
            ecs_result checked = ECS_OK;
            if (first[stated->component]) {
                checked = check_statement(world, made_from, stated, first, reporter);
            } else {
                first[stated->component] = id;
                if (stated->flags & ECS_COMPONENT_SPARSE) checked = make_set(world, stated);
            }
            if (result == ECS_OK) result = checked;
        }
    }
    return result;
}

void ecs_sparse_clear(ecs_world* world) {
    for (uint32_t i = 0; i < world->storage->sparse_count; i++) {
        ecs_sparse* set = world->storage->sparse[i];
        for (uint32_t at = 0; set->type->ops && at < set->count; at++) {
            ecs_cell_destroy(world, set->type, ecs_sparse_cell(set, at));
            if (set->is_tracked) ecs_cell_destroy(world, set->type, ecs_sparse_shadow(set, at));
        }
        for (uint32_t page = 0; page < ECS_PAGES; page++) {
            if (set->pages[page] != no_page())
                BASE_ARRAY_RELEASE(world->allocator, set->pages[page], ECS_PAGE_RECORDS);
            set->pages[page] = no_page();
        }
        const size_t bytes = (size_t)set->type->size * set->capacity;
        BASE_ARRAY_RELEASE(world->allocator, set->entities, set->capacity);
        base_release(world->allocator, set->values, bytes);
        base_release(world->allocator, set->shadows, bytes);
        BASE_ARRAY_RELEASE(world->allocator, set->dirty, ecs_sparse_words(set));
        BASE_ARRAY_RELEASE(world->allocator, set->moved, set->moved_capacity);
        set->entities = NULL;
        set->values = set->shadows = NULL;
        set->dirty = NULL;
        set->moved = NULL;
        set->count = set->capacity = set->moved_count = set->moved_capacity = 0;
        set->known = ECS_TEMPLATE_NONE;
    }
}

void ecs_sparse_deinit(ecs_world* world) {
    ecs_storage* storage = world->storage;
    ecs_sparse_clear(world);
    for (uint32_t i = 0; i < storage->sparse_count; i++)
        base_release(world->allocator, storage->sparse[i], sizeof *storage->sparse[i]);
    BASE_ARRAY_RELEASE(world->allocator, storage->sparse, 2 * storage->sparse_capacity);
    storage->sparse = storage->sparse_by = NULL;
    world->fast.sparse = NULL;
    storage->sparse_count = storage->sparse_capacity = 0;
}

// Larger memory for cells; values that know where they lie are moved by their type.
static void move_cells(const ecs_world* world, const ecs_sparse* set, uint8_t* to, uint8_t* from) {
    const size_t size = set->type->size;
    if (!from || size == 0) return;
    if (ecs_type_is_relocatable(set->type)) {
        memcpy(to, from, size * set->count);
    } else {
        for (uint32_t i = 0; i < set->count; i++)
            ecs_cell_move(world, set->type, to + size * i, from + size * i);
    }
}

static bool grow(ecs_world* world, ecs_sparse* set) {
    const base_allocator* allocator = world->allocator;
    const uint32_t capacity = set->capacity ? set->capacity * 2 : CAPACITY_MIN;
    const size_t size = set->type->size;
    ecs_storage* storage = world->storage;
    for (uint32_t q = 0; q < storage->query_count; q++)
        if (!ecs_sparse_reserve_runs(world, storage->queries[q], set, capacity)) return false;
    ecs_entity* entities = base_allocate_zero(allocator, capacity * sizeof *entities);
    uint8_t* values = base_allocate_zero(allocator, capacity * size);
    uint8_t* shadows = set->is_tracked ? base_allocate_zero(allocator, capacity * size) : NULL;
    uint64_t* dirty = base_allocate_zero(allocator, capacity / 64 * sizeof *dirty);
    if (!entities || !values || !dirty || (set->is_tracked && !shadows)) {
        base_release(allocator, entities, capacity * sizeof *entities);
        base_release(allocator, values, capacity * size);
        base_release(allocator, shadows, capacity * size);
        base_release(allocator, dirty, capacity / 64 * sizeof *dirty);
        return false;
    }
    if (set->count > 0) memcpy(entities, set->entities, set->count * sizeof *entities);
    if (set->dirty) memcpy(dirty, set->dirty, ecs_sparse_words(set) * sizeof *dirty);
    move_cells(world, set, values, set->values);
    move_cells(world, set, shadows, set->shadows);
    BASE_ARRAY_RELEASE(allocator, set->entities, set->capacity);
    base_release(allocator, set->values, set->capacity * size);
    base_release(allocator, set->shadows, set->capacity * size);
    BASE_ARRAY_RELEASE(allocator, set->dirty, ecs_sparse_words(set));
    set->entities = entities;
    set->values = values;
    set->shadows = shadows;
    set->dirty = dirty;
    set->capacity = capacity;
    return true;
}

// Room for one more: its page, its place, and two notes (it comes, and it may go).
static __attribute__((noinline)) bool reserve(ecs_world* world, ecs_sparse* set, uint32_t index) {
    uint32_t** page = &set->pages[index >> ECS_PAGE_BITS];
    if (*page == no_page()) {
        uint32_t* made = base_allocate_zero(world->allocator, ECS_PAGE_RECORDS * sizeof *made);
        if (!made) return false;
        *page = made;
    }
    if (set->is_tracked && !BASE_ARRAY_RESERVE(world->allocator, set->moved, set->moved_capacity,
                                               set->moved_count + set->count + 2))
        return false;
    return set->count < set->capacity || grow(world, set);
}

// Values that own memory, or have a shadow. @return false when memory ran out.
static __attribute__((noinline)) bool fill_cells(const ecs_world* world, const ecs_sparse* set,
                                                 uint32_t position, const void* value) {
    void* cell = ecs_sparse_cell(set, position);
    if (!ecs_cell_copy(world, set->type, cell, value)) return false;
    if (!set->is_tracked ||
        ecs_cell_copy(world, set->type, ecs_sparse_shadow(set, position), value))
        return true;
    ecs_cell_destroy(world, set->type, cell);
    memset(cell, 0, set->type->size);
    return false;
}

bool ecs_sparse_push(ecs_world* world, ecs_sparse* set, ecs_entity entity, const void* value) {
    if (!reserve(world, set, ecs_entity_index(entity))) return false;
    uint32_t* entry = ecs_sparse_entry(set, entity);
    const uint32_t position = set->count;
    BASE_ASSERT((*entry & ~ECS_SPARSE_MOVED) == 0 && "it has the component already");
    if (!fill_cells(world, set, position, value)) return false;
    set->entities[position] = entity;
    set->count = position + 1;
    *entry |= position + 1;
    return true;
}

// The last cell of a column goes where one was destroyed, and zeros stay behind.
static void fill_cell(const ecs_world* world, const ecs_sparse* set, uint8_t* cells, uint32_t to,
                      uint32_t last) {
    const uint32_t size = set->size;
    uint8_t *target = cells + (size_t)size * to, *source = cells + (size_t)size * last;
    if (set->type->ops) {
        ecs_cell_destroy(world, set->type, target);
        if (to != last) ecs_cell_move(world, set->type, target, source);
        memset(source, 0, size);
    } else {
        if (to != last) ecs_bytes_copy(target, source, size);
        ecs_bytes_zero(source, size);
    }
}

// A hole in shadows and marks, filled as that in the values.
static __attribute__((noinline)) void pull_shadow(const ecs_world* world, const ecs_sparse* set,
                                                  uint32_t position, uint32_t last) {
    fill_cell(world, set, set->shadows, position, last);
    const uint64_t was_dirty = set->dirty[last / 64] >> (last % 64) & 1;
    set->dirty[position / 64] &= ~(1ull << (position % 64));
    set->dirty[last / 64] &= ~(1ull << (last % 64));
    if (position != last) set->dirty[position / 64] |= was_dirty << (position % 64);
}

void ecs_sparse_pull(ecs_world* world, ecs_sparse* set, uint32_t position) {
    BASE_ASSERT(position < set->count);
    const uint32_t last = --set->count;
    const ecs_entity moved = set->entities[last];
    *ecs_sparse_entry(set, set->entities[position]) &= ECS_SPARSE_MOVED;
    fill_cell(world, set, set->values, position, last);
    if (set->is_tracked) pull_shadow(world, set, position, last);
    if (position != last) {
        uint32_t* entry = ecs_sparse_entry(set, moved);
        *entry = (*entry & ECS_SPARSE_MOVED) | (position + 1);
        set->entities[position] = moved;
    }
    set->entities[last] = ECS_ENTITY_NONE;
}

void ecs_sparse_note(ecs_sparse* set, ecs_entity entity) {
    uint32_t* entry = ecs_sparse_entry(set, entity);
    if (!set->is_tracked || *entry & ECS_SPARSE_MOVED) return;
    BASE_ASSERT(set->moved_count < set->moved_capacity);
    *entry |= ECS_SPARSE_MOVED;
    set->moved[set->moved_count++] = ecs_entity_index(entity);
}

void ecs_sparse_validate(const ecs_world* world) {
    for (uint32_t i = 0; i < world->storage->sparse_count; i++) {
        ecs_sparse* set = world->storage->sparse[i];
        BASE_ASSERT(set->count <= set->capacity && set->capacity % 64 == 0);
        for (uint32_t at = 0; at < set->count; at++) {
            const ecs_entity entity = set->entities[at];
            BASE_ASSERT(ecs_sparse_position(set, entity) == at);
            BASE_ASSERT(ecs_is_alive(world, entity));
            BASE_ASSERT(ecs_sparse_default(world, set, ecs_entity_template(world, entity)));
        }
        for (uint32_t at = set->count; at < set->capacity; at++) {
            BASE_ASSERT(set->entities[at] == ECS_ENTITY_NONE);
            BASE_ASSERT(!(set->dirty[at / 64] >> (at % 64) & 1));
        }
        for (uint32_t at = 0; at < set->moved_count; at++)
            BASE_ASSERT(set->pages[set->moved[at] >> ECS_PAGE_BITS]
                                  [set->moved[at] & (ECS_PAGE_RECORDS - 1)] &
                        ECS_SPARSE_MOVED);
    }
}
