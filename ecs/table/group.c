// SPDX-License-Identifier: MIT
// Groups: one list of matching archetypes for all queries that ask for the same.
//
// What decides a match is a set: components that must be there, must not, of which one must be, and
// whether anything else may be there. Reading or writing makes no difference, nor does the order of
// terms; optional terms matter only where nothing else is allowed. The sorted set is the key of the
// group. It is asked once when an archetype is made, by name lookup done at seal, with one load per
// term: the archetype knows for every component of the world whether it has it, however many there
// are.
#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"
#include "table/archetype.h"
#include "table/query_cache.h"
#include "table/storage.h"
#include "type/world.h"

#include <string.h>

static ecs_want want_of(ecs_access access) {
    switch (access) {
    case ECS_READ:
    case ECS_WRITE:
    case ECS_REQUIRE:
        return ECS_WANT_ALL;
    case ECS_REQUIRE_NOT:
        return ECS_WANT_NONE;
    case ECS_ANY:
        return ECS_WANT_ANY;
    case ECS_OPTIONAL_READ:
    case ECS_OPTIONAL_WRITE:
    case ECS_ONLY:
        break;
    }
    return ECS_WANT_MAY;
}

static int compare_terms(const ecs_group_term* a, const ecs_group_term* b) {
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : (int)a->want - (int)b->want;
}

// Sorted, each once. @return how many.
static uint32_t make_key(const ecs_term* terms, uint32_t term_count, ecs_group_term* key,
                         bool* is_only) {
    *is_only = false;
    for (uint32_t i = 0; i < term_count; i++)
        *is_only = *is_only || terms[i].access == ECS_ONLY;
    uint32_t count = 0;
    for (uint32_t i = 0; i < term_count; i++) {
        ecs_group_term term = {.want = want_of(terms[i].access)};
        if (terms[i].access == ECS_ONLY || (term.want == ECS_WANT_MAY && !*is_only)) continue;
        bool fits = base_text_copy(term.name, sizeof term.name, terms[i].component);
        BASE_ASSERT(fits && "a term's name is longer than any component's");
        uint32_t at = count;
        while (at > 0 && compare_terms(&key[at - 1], &term) > 0)
            at--;
        if (at > 0 && compare_terms(&key[at - 1], &term) == 0) continue;
        memmove(key + at + 1, key + at, (count - at) * sizeof *key);
        key[at] = term;
        count++;
    }
    return count;
}

static uint64_t hash_key(const ecs_group_term* key, uint32_t count, bool is_only) {
    uint64_t hash = base_hash64_mix(count, is_only);
    for (uint32_t i = 0; i < count; i++)
        hash = base_hash64_mix(base_hash64_mix(hash, key[i].want), base_hash64_text(key[i].name));
    return hash;
}

static ecs_group* find_group(const ecs_storage* storage, uint64_t hash, const ecs_group_term* key,
                             uint32_t count, bool is_only) {
    uint32_t cursor = 0, id;
    while ((id = base_table_next(&storage->group_ids, hash, &cursor)) != BASE_TABLE_NONE) {
        ecs_group* group = storage->groups[id];
        bool is_same = group->term_count == count && group->is_only == is_only;
        for (uint32_t i = 0; is_same && i < count; i++)
            is_same = compare_terms(&group->terms[i], &key[i]) == 0;
        if (is_same) return group;
    }
    return NULL;
}

ecs_group* ecs_group_ensure(ecs_world* world, const ecs_term* terms, uint32_t term_count) {
    ecs_storage* storage = world->storage;
    ecs_group_term key[ECS_QUERY_TERMS_MAX];
    bool is_only = false;
    uint32_t count = make_key(terms, term_count, key, &is_only);
    const uint64_t hash = hash_key(key, count, is_only);
    ecs_group* group = find_group(storage, hash, key, count, is_only);
    if (group) return group;
    if (!base_table_reserve(&storage->group_ids, world->allocator, storage->group_count + 1) ||
        !BASE_ARRAY_RESERVE(world->allocator, storage->groups, storage->group_capacity,
                            storage->group_count + 1))
        return NULL;
    group = base_allocate_zero(world->allocator, sizeof *group);
    if (!group) return NULL;
    group->terms = base_allocate_zero(world->allocator, count * sizeof *key);
    if (!group->terms) {
        base_release(world->allocator, group, sizeof *group);
        return NULL;
    }
    memcpy(group->terms, key, count * sizeof *key);
    group->term_count = count;
    group->is_only = is_only;
    base_table_add(&storage->group_ids, hash, storage->group_count);
    storage->groups[storage->group_count++] = group;
    return group;
}

void ecs_groups_deinit(ecs_world* world) {
    ecs_storage* storage = world->storage;
    for (uint32_t g = 0; g < storage->group_count; g++) {
        ecs_group* group = storage->groups[g];
        BASE_ARRAY_RELEASE(world->allocator, group->terms, group->term_count);
        BASE_ARRAY_RELEASE(world->allocator, group->matches, group->match_capacity);
        BASE_ARRAY_RELEASE(world->allocator, group->queries, group->query_capacity);
        base_release(world->allocator, group, sizeof *group);
    }
    base_table_deinit(&storage->group_ids, world->allocator);
    BASE_ARRAY_RELEASE(world->allocator, storage->groups, storage->group_capacity);
}

ecs_result ecs_groups_seal(ecs_world* world, const base_reporter* reporter) {
    ecs_result result = ECS_OK;
    for (uint32_t g = 0; g < world->storage->group_count; g++) {
        ecs_group* group = world->storage->groups[g];
        const char* unknown = NULL;
        bool has_any = false;
        group->is_hopeless = false;
        group->needs = 0;
        for (uint32_t i = 0; i < group->term_count; i++) {
            ecs_group_term* term = &group->terms[i];
            term->component = ecs_component_find(world, term->name);
            bool is_known = term->component != ECS_COMPONENT_NONE;
            if (term->want == ECS_WANT_ALL) group->needs |= 1ull << (term->component % 64);
            // The query that names it reports it.
            if (term->want == ECS_WANT_ALL && !is_known) group->is_hopeless = true;
            if (term->want != ECS_WANT_ANY) continue;
            has_any = has_any || is_known;
            if (!unknown) unknown = term->name;
        }
        if (!unknown || has_any) continue;
        group->is_hopeless = true;
        base_report(reporter, NULL, 0,
                    "a query wants any of some components, but no template or module has a "
                    "component '%s' or another of them",
                    unknown);
        result = ECS_ERR_UNKNOWN;
    }
    return result;
}

static bool has(const ecs_archetype* archetype, ecs_component_id component) {
    return component != ECS_COMPONENT_NONE && archetype->slots[component] != ECS_SLOT_NONE;
}

// Is every component of the archetype one that is allowed?
static bool is_nothing_else(const ecs_group* group, const ecs_archetype* archetype) {
    uint32_t named = 0;
    ecs_component_id last = ECS_COMPONENT_NONE;
    for (uint32_t i = 0; i < group->term_count; i++) {
        const ecs_group_term* term = &group->terms[i];
        if (term->want == ECS_WANT_NONE || !has(archetype, term->component)) continue;
        named += term->component != last; // equal names lie side by side
        last = term->component;
    }
    return named == archetype->column_count;
}

bool ecs_group_matches(const ecs_group* group, const ecs_archetype* archetype) {
    if (group->is_hopeless || (group->needs & ~archetype->has) != 0) return false;
    bool wants_any = false, has_any = false;
    for (uint32_t i = 0; i < group->term_count; i++) {
        const ecs_group_term* term = &group->terms[i];
        bool is_there = has(archetype, term->component);
        if (term->want == ECS_WANT_ALL && !is_there) return false;
        if (term->want == ECS_WANT_NONE && is_there) return false;
        if (term->want != ECS_WANT_ANY) continue;
        wants_any = true;
        has_any = has_any || is_there;
    }
    if (wants_any && !has_any) return false;
    return !group->is_only || is_nothing_else(group, archetype);
}
