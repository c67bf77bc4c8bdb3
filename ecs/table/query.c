// SPDX-License-Identifier: MIT
// Queries: a cache of column pointers, patched when blocks come, move or go.
//
// An entry is a few machine words in a row, `stride` of them:
//
//   | chunk id | entities | column of term 0 | column of term 1 | ... | mark of write term 0 .. |
//
// A walk reads entries front to back and one count per entry out of the world's dense array, so a
// chunk costs some ten instructions, whether it is one of 4 or of 4,000. Marking a column as
// written is one byte store through the entry; columns that are not tracked point at a sink, so the
// walk need not ask.
//
// Entries are sorted by archetype (order of making) and chunk, which is the order of the
// simulation. A chunk that comes to an older archetype is inserted in its middle: rare, one
// memmove.
//
// Names are bound at seal. A required component that is not registered would mean a query that can
// never match; that is a mistake in a name, and reported. Missing optional and require_not terms
// are fine.
//
// Which archetypes match is the business of groups, which queries share; a query adds
// where its own terms' columns are, in its own order.
#include "base/assert.h"
#include "base/text.h"
#include "table/query_cache.h"
#include "template/template_registry.h"
#include "type/type_registry.h"
#include "type/world.h"

#include <string.h>

// Groups: one list of matching archetypes for all queries that ask for the same.
//
// What decides a match is a set: components that must be there, must not, of which one must be, and
// whether anything else may be there. Reading or writing makes no difference, nor does the order of
// terms; optional terms matter only where nothing else is allowed. The sorted set is the key of the
// group. It is asked once when an archetype is made, by name lookup done at seal, with one load per
// term: the archetype knows for every component of the world whether it has it, however many there
// are.

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

static ecs_group* find_group(const ecs_storage* storage, const ecs_group_term* key, uint32_t count,
                             bool is_only) {
    for (uint32_t id = 0; id < storage->group_count; id++) {
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
    ecs_group* group = find_group(storage, key, count, is_only);
    if (group) return group;
    BASE_ARRAY_RESERVE(world->allocator, storage->groups, storage->group_capacity,
                       storage->group_count + 1);
    group = base_allocate_zero(world->allocator, sizeof *group);
    group->terms = base_allocate_zero(world->allocator, count * sizeof *key);
    memcpy(group->terms, key, count * sizeof *key);
    group->term_count = count;
    group->is_only = is_only;
    storage->groups[storage->group_count++] = group;
    return group;
}

// Bind names; reports a group of ECS_ANY terms that all exist nowhere.
static ecs_result groups_seal(ecs_world* world, const base_reporter* reporter) {
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

static uint16_t slot_of(const ecs_archetype* archetype, ecs_component_id component) {
    return component == ECS_COMPONENT_NONE ? ECS_SLOT_NONE : archetype->slots[component];
}

static bool has(const ecs_archetype* archetype, ecs_component_id component) {
    return slot_of(archetype, component) != ECS_SLOT_NONE;
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

static bool group_matches(const ecs_group* group, const ecs_archetype* archetype) {
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

enum { ENTRY_CHUNK, ENTRY_ENTITIES, ENTRY_COLUMNS };

ecs_result ecs_query_create(ecs_world* world, const ecs_term* terms, uint32_t term_count,
                            ecs_query** query) {
    ecs_storage* storage = world->storage;
    if (world->is_sealed) return ECS_ERR_SEALED;
    if (term_count > ECS_QUERY_TERMS_MAX) return ECS_FULL(world, ECS_QUERY_TERMS_MAX);
    for (uint32_t i = 0; i < term_count; i++)
        BASE_ASSERT(!terms[i].component == (terms[i].access == ECS_ONLY));
    BASE_ARRAY_RESERVE(world->allocator, storage->queries, storage->query_capacity,
                       storage->query_count + 1);
    ecs_query* made = base_allocate_zero(world->allocator, sizeof *made);
    made->names = base_allocate_zero(world->allocator, term_count * sizeof *made->names);
    made->group = ecs_group_ensure(world, terms, term_count);
    BASE_ARRAY_RESERVE(world->allocator, made->group->queries, made->group->query_capacity,
                       made->group->query_count + 1);
    made->id = storage->query_count;
    made->term_count = term_count;
    for (uint32_t i = 0; i < term_count; i++) {
        bool fits = !terms[i].component ||
                    base_text_copy(made->names[i][0], ECS_NAME_BYTES_MAX, terms[i].component);
        if (terms[i].type)
            fits = fits && base_text_copy(made->names[i][1], ECS_NAME_BYTES_MAX, terms[i].type);
        BASE_ASSERT(fits && "a term's name is longer than any component's or type's");
        made->access[i] = terms[i].access;
        if (ecs_access_is_write(terms[i].access))
            made->write_terms[made->cache.mark_count++] = (uint16_t)i;
    }
    made->cache.stride = ENTRY_COLUMNS + term_count + made->cache.mark_count;
    made->group->queries[made->group->query_count++] = made;
    storage->queries[storage->query_count++] = made;
    *query = made;
    return ECS_OK;
}

void ecs_queries_clear(ecs_world* world) {
    for (uint32_t i = 0; i < world->storage->group_count; i++)
        world->storage->groups[i]->match_count = 0;
    for (uint32_t i = 0; i < world->storage->query_count; i++) {
        ecs_query* query = world->storage->queries[i];
        for (uint32_t k = 0; k < query->match_count; k++)
            BASE_ARRAY_RELEASE(world->allocator, query->matches[k].columns, query->term_count);
        query->match_count = 0;
        query->cache.entry_count = 0;
        if (query->match_of)
            memset(query->match_of, 0, query->match_of_capacity * sizeof *query->match_of);
    }
}

static ecs_result bind_term(ecs_world* world, ecs_query* query, uint32_t term,
                            const base_reporter* reporter) {
    const char* name = query->names[term][0];
    const char* type_name = query->names[term][1];
    const char* owner = query->owner ? query->owner : "(no system)";
    if (query->access[term] == ECS_ONLY) return ECS_OK;
    ecs_component_id id = ecs_component_find(world, name);
    query->components[term] = id;
    if (id == ECS_COMPONENT_NONE) {
        if (want_of(query->access[term]) != ECS_WANT_ALL) return ECS_OK;
        const ecs_opaque* opaque =
            ecs_opaque_seek(world->templates->opaques, world->templates->opaque_count, name);
        if (opaque)
            return BASE_REPORT_AS(
                ECS_ERR_TYPE, reporter, NULL, 0,
                "query %u of %s asks for '%s', whose type '%s' is not registered (%s:%u)",
                query->id, owner, name, opaque->type, opaque->file, opaque->line);
        char hint[BASE_HINT_BYTES];
        base_report(reporter, NULL, 0,
                    "query %u of %s: no template or module has a component '%s'%s", query->id,
                    owner, name, ecs_component_hint(world, name, hint));
        return ECS_ERR_UNKNOWN;
    }
    const ecs_type* type = ecs_type_get(world, ecs_component_get(world, id)->type);
    if (type_name[0] == '\0' || strcmp(type->name, type_name) == 0) return ECS_OK;
    base_report(reporter, NULL, 0, "query %u of %s asks for '%s:%s', but its type is '%s'",
                query->id, owner, name, type_name, type->name);
    return ECS_ERR_TYPE;
}

ecs_result ecs_storage_seal(ecs_world* world, const base_reporter* reporter) {
    ecs_storage* storage = world->storage;
    ecs_result first = groups_seal(world, reporter);
    for (uint32_t q = 0; q < storage->query_count; q++) {
        ecs_query* query = storage->queries[q];
        for (uint32_t i = 0; i < query->term_count; i++) {
            ecs_result result = bind_term(world, query, i, reporter);
            if (first == ECS_OK) first = result;
        }
    }
    storage->slot_count = ecs_component_count(world) + 1;
    world->fast.slot_count = first == ECS_OK ? storage->slot_count : 0;
    return first;
}

bool ecs_query_wants(const ecs_query* query, const ecs_archetype* archetype) {
    return group_matches(query->group, archetype);
}

static void add_to_query(ecs_world* world, ecs_query* query, ecs_archetype* archetype) {
    const base_allocator* allocator = world->allocator;
    BASE_ARRAY_RESERVE(allocator, archetype->queries, archetype->query_capacity,
                       archetype->query_count + 1);
    BASE_ARRAY_RESERVE(allocator, query->matches, query->match_capacity, query->match_count + 1);
    BASE_ARRAY_RESERVE(allocator, query->match_of, query->match_of_capacity, archetype->id + 1);
    uint16_t* columns = base_allocate(allocator, query->term_count * sizeof *columns);
    for (uint32_t i = 0; i < query->term_count; i++)
        columns[i] = query->access[i] <= ECS_OPTIONAL_WRITE
                         ? slot_of(archetype, query->components[i])
                         : ECS_SLOT_NONE;
    query->matches[query->match_count] = (ecs_match){
        .archetype = archetype, .entry_first = query->cache.entry_count, .columns = columns};
    query->match_of[archetype->id] = ++query->match_count;
    archetype->queries[archetype->query_count++] = query;
}

void ecs_queries_add_archetype(ecs_world* world, ecs_archetype* archetype) {
    for (uint32_t g = 0; g < world->storage->group_count; g++) {
        ecs_group* group = world->storage->groups[g];
        if (!group_matches(group, archetype)) continue;
        BASE_ARRAY_RESERVE(world->allocator, group->matches, group->match_capacity,
                           group->match_count + 1);
        group->matches[group->match_count++] = archetype;
        for (uint32_t q = 0; q < group->query_count; q++)
            add_to_query(world, group->queries[q], archetype);
    }
}

static uintptr_t* entry_of(const ecs_query* query, const ecs_match* match, const ecs_chunk* chunk) {
    return query->cache.entries + (size_t)(match->entry_first + chunk->index) * query->cache.stride;
}

static void fill_entry(ecs_world* world, const ecs_query* query, const ecs_match* match,
                       ecs_chunk* chunk) {
    uintptr_t* entry = entry_of(query, match, chunk);
    entry[ENTRY_CHUNK] = chunk->id;
    entry[ENTRY_ENTITIES] = (uintptr_t)chunk->entities;
    for (uint32_t i = 0; i < query->term_count; i++) {
        uint16_t column = match->columns[i];
        entry[ENTRY_COLUMNS + i] = column == ECS_SLOT_NONE ? 0 : (uintptr_t)chunk->columns[column];
    }
    uintptr_t* marks = entry + ENTRY_COLUMNS + query->term_count;
    for (uint32_t i = 0; i < query->cache.mark_count; i++) {
        uint16_t column = match->columns[query->write_terms[i]];
        uint16_t track =
            column == ECS_SLOT_NONE ? ECS_SLOT_NONE : chunk->archetype->columns[column].track;
        marks[i] = (uintptr_t)(track == ECS_SLOT_NONE ? &world->storage->mark_sink
                                                      : &chunk->written[track]);
    }
}

// One entry of a match comes or goes: all from `from` on move to `to`, an entry further or back.
static void move_entries(ecs_query* query, const ecs_match* match, const uintptr_t* from,
                         uintptr_t* to) {
    const uintptr_t* end =
        query->cache.entries + (size_t)query->cache.entry_count * query->cache.stride;
    const uint32_t more = to > from ? 1 : UINT32_MAX;
    memmove(to, from, (size_t)(end - from) * sizeof *from);
    query->cache.entry_count += more;
    for (ecs_match* later = query->matches + (match - query->matches) + 1;
         later < query->matches + query->match_count; later++)
        later->entry_first += more;
}

void ecs_queries_add_chunk(ecs_world* world, ecs_chunk* chunk) {
    for (uint32_t q = 0; q < chunk->archetype->query_count; q++) {
        ecs_query* query = chunk->archetype->queries[q];
        ecs_match* match = ecs_query_match(query, chunk->archetype);
        BASE_ARRAY_RESERVE(world->allocator, query->cache.entries, query->entry_capacity,
                           (query->cache.entry_count + 1) * query->cache.stride);
        uintptr_t* entry = entry_of(query, match, chunk);
        move_entries(query, match, entry, entry + query->cache.stride);
        fill_entry(world, query, match, chunk);
    }
}

void ecs_queries_patch_chunk(ecs_world* world, ecs_chunk* chunk) {
    for (uint32_t q = 0; q < chunk->archetype->query_count; q++) {
        ecs_query* query = chunk->archetype->queries[q];
        fill_entry(world, query, ecs_query_match(query, chunk->archetype), chunk);
    }
}

void ecs_queries_drop_chunk(const ecs_chunk* chunk) {
    for (uint32_t q = 0; q < chunk->archetype->query_count; q++) {
        ecs_query* query = chunk->archetype->queries[q];
        const ecs_match* match = ecs_query_match(query, chunk->archetype);
        uintptr_t* entry = entry_of(query, match, chunk);
        move_entries(query, match, entry + query->cache.stride, entry);
    }
}

void ecs_query_validate(const ecs_world* world, const ecs_query* query) {
    uint32_t match = 0;
    uint32_t entry_index = 0;
    for (uint32_t id = 0; id < world->storage->archetype_count; id++) {
        const ecs_archetype* archetype = world->storage->archetypes[id];
        const ecs_match* found = ecs_query_match(query, archetype);
        BASE_ASSERT(!found == !ecs_query_wants(query, archetype));
        if (!found) continue;
        BASE_ASSERT(query->group->matches[match] == archetype);
        BASE_ASSERT(found == &query->matches[match++]);
        BASE_ASSERT(found->archetype == archetype && found->entry_first == entry_index);
        for (uint32_t i = 0; i < archetype->chunk_count; i++, entry_index++) {
            const ecs_chunk* chunk = archetype->chunks[i];
            const uintptr_t* entry = entry_of(query, found, chunk);
            BASE_ASSERT(entry[ENTRY_CHUNK] == chunk->id);
            BASE_ASSERT(entry[ENTRY_ENTITIES] == (uintptr_t)chunk->entities);
            for (uint32_t t = 0; t < query->term_count; t++) {
                uint16_t column = found->columns[t];
                BASE_ASSERT(entry[ENTRY_COLUMNS + t] ==
                            (column == ECS_SLOT_NONE ? 0 : (uintptr_t)chunk->columns[column]));
            }
        }
    }
    BASE_ASSERT(match == query->match_count && entry_index == query->cache.entry_count);
    BASE_ASSERT(match == query->group->match_count);
}
