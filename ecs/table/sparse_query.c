// SPDX-License-Identifier: MIT
// Queries with sparse terms: each walk finds its runs when it begins.
//
// The smallest set that an entity must be in leads, in its order; each of its entities is looked up
// in the tables and in the other sets. Without such a term, where sparse ones are optional or
// excluded, the tables lead. Rows that follow each other in all columns are joined, so a query of
// one sparse term is one run, and one that excludes a rare component still gets long runs.
//
// A run looks like an entry of the cache (query.c) whose first word is its own number, so the
// inline walk reads both. Write terms mark the very rows here, when the walk begins, not chunks.
//
// Invariant: there is room for all runs before a walk begins. A sparse value, there or missing,
// ends a run of table rows at most twice, and a run of a leading set has at least one value.
#include "base/assert.h"
#include "base/bitset.h"
#include "core/world_internal.h"
#include "table/chunk.h"
#include "table/query_cache.h"
#include "table/record.h"
#include "table/sparse.h"
#include "table/storage.h"

enum { ENTRY_COLUMNS = 2 };

#define NOWHERE UINT32_MAX

static bool is_required(ecs_access access) {
    return access == ECS_READ || access == ECS_WRITE || access == ECS_REQUIRE;
}

static bool is_write(ecs_access access) {
    return access == ECS_WRITE || access == ECS_OPTIONAL_WRITE;
}

bool ecs_sparse_reserve_runs(ecs_world* world, ecs_query* query, const ecs_sparse* set,
                             uint32_t capacity) {
    if (query->sparse_terms == 0) return true;
    uint64_t runs = (uint64_t)query->cache.entry_count + 1;
    for (uint32_t left = query->sparse_terms; left != 0; left &= left - 1) {
        const uint32_t term = base_bit_lowest(left);
        const ecs_sparse* other = ecs_sparse_of(world, query->components[term]);
        runs += 2 * (uint64_t)(other == set ? capacity : other->capacity);
    }
    if (runs > UINT32_MAX / 64) return false;
    if (!BASE_ARRAY_RESERVE(world->allocator, query->run_counts, query->run_capacity,
                            (uint32_t)runs) ||
        !BASE_ARRAY_RESERVE(world->allocator, query->runs.entries, query->run_words,
                            (uint32_t)runs * query->runs.stride))
        return false;
    query->runs.counts = query->run_counts;
    return true;
}

// A query that is being filled: its sparse terms, and where the last row was.
typedef struct filler {
    ecs_world* world;
    ecs_query* query;
    bool is_marking;
    bool is_by_row; // rows follow those of tables; else they follow the leading set
    uint32_t set_count;
    const ecs_sparse* sets[ECS_QUERY_TERMS_MAX]; // of the sparse terms in their order
    uint8_t terms[ECS_QUERY_TERMS_MAX];
    uint32_t
        next[ECS_QUERY_TERMS_MAX]; // positions that would continue the run; NOWHERE: it has none
    const ecs_chunk* chunk;
    uint32_t next_row;
} filler;

// One row that matches, and its positions in the sets of the filler.
typedef struct row_place {
    const ecs_match* match;
    const ecs_chunk* chunk;
    uint32_t row;
    uint32_t positions[ECS_QUERY_TERMS_MAX];
} row_place;

static filler make_filler(ecs_world* world, ecs_query* query, bool is_marking) {
    filler fill;
    fill.world = world;
    fill.query = query;
    fill.is_marking = is_marking && query->cache.mark_count > 0;
    fill.set_count = 0;
    for (uint32_t left = query->sparse_terms; left != 0; left &= left - 1) {
        const uint32_t term = base_bit_lowest(left);
        fill.terms[fill.set_count] = (uint8_t)term;
        fill.sets[fill.set_count++] = ecs_sparse_of(world, query->components[term]);
    }
    return fill;
}

static inline bool is_next(const filler* fill, const row_place* place) {
    if (fill->is_by_row && (fill->chunk != place->chunk || fill->next_row != place->row))
        return false;
    for (uint32_t k = 0; k < fill->set_count; k++)
        if (place->positions[k] != fill->next[k]) return false;
    return true;
}

static void mark_row(const filler* fill, const row_place* place) {
    const ecs_query* query = fill->query;
    for (uint32_t k = 0; k < fill->set_count; k++)
        if (is_write(query->access[fill->terms[k]]) && place->positions[k] != NOWHERE)
            ecs_sparse_mark(fill->sets[k], place->positions[k]);
    for (uint32_t i = 0; i < query->cache.mark_count; i++) {
        const uint16_t column = place->match->columns[query->write_terms[i]];
        if (column == ECS_SLOT_NONE) continue;
        const uint16_t track = place->match->archetype->columns[column].track;
        if (track != ECS_SLOT_NONE) ecs_chunk_mark_row(place->chunk, track, place->row);
    }
}

// `entity` points at the handle in the array whose order the run follows.
static void add_run(const filler* fill, const row_place* place, const ecs_entity* entity) {
    ecs_query* query = fill->query;
    BASE_ASSERT(query->runs.entry_count < query->run_capacity);
    const uint32_t run = query->runs.entry_count++;
    uintptr_t* entry = query->runs.entries + (size_t)run * query->runs.stride;
    query->run_counts[run] = 1;
    entry[0] = run;
    entry[1] = (uintptr_t)entity;
    for (uint32_t i = 0; i < query->term_count; i++) {
        const uint16_t column = place->match ? place->match->columns[i] : ECS_SLOT_NONE;
        entry[ENTRY_COLUMNS + i] =
            column == ECS_SLOT_NONE ? 0
                                    : (uintptr_t)ecs_chunk_cell(place->chunk, column, place->row);
    }
    for (uint32_t k = 0; k < fill->set_count; k++)
        if (place->positions[k] != NOWHERE && query->access[fill->terms[k]] <= ECS_OPTIONAL_WRITE)
            entry[ENTRY_COLUMNS + fill->terms[k]] =
                (uintptr_t)ecs_sparse_cell(fill->sets[k], place->positions[k]);
}

// Where an entity's sparse values are. @return false when a term excludes it.
static inline bool find_positions(const filler* fill, ecs_entity entity, uint32_t* positions) {
    for (uint32_t k = 0; k < fill->set_count; k++) {
        const ecs_access access = fill->query->access[fill->terms[k]];
        positions[k] = ecs_sparse_position(fill->sets[k], entity);
        if (positions[k] == NOWHERE ? is_required(access) : access == ECS_REQUIRE_NOT) return false;
    }
    return true;
}

// The smallest set that an entity must be in; NULL: tables lead.
static const ecs_sparse* find_leader(const filler* fill) {
    const ecs_sparse* leader = NULL;
    for (uint32_t k = 0; k < fill->set_count; k++)
        if (is_required(fill->query->access[fill->terms[k]]) &&
            (!leader || fill->sets[k]->count < leader->count))
            leader = fill->sets[k];
    return leader;
}

static inline void add_row(filler* fill, const row_place* place, const ecs_entity* entity) {
    ecs_query* query = fill->query;
    if (fill->is_marking) mark_row(fill, place);
    if (query->runs.entry_count > 0 && is_next(fill, place))
        query->run_counts[query->runs.entry_count - 1]++;
    else
        add_run(fill, place, entity);
    fill->chunk = place->chunk;
    fill->next_row = place->row + 1;
    for (uint32_t k = 0; k < fill->set_count; k++)
        fill->next[k] = place->positions[k] == NOWHERE ? NOWHERE : place->positions[k] + 1;
}

static void fill_from_set(filler* fill, const ecs_sparse* leader) {
    enum { RECORDS_AHEAD = 16 };
    const ecs_fast* fast = &fill->world->fast;
    const ecs_storage* storage = fill->world->storage;
    const ecs_archetype* last = NULL;
    row_place place;
    for (uint32_t at = 0; at < leader->count; at++) {
        const ecs_entity entity = leader->entities[at];
        if (at + RECORDS_AHEAD < leader->count)
            __builtin_prefetch(
                ecs_record_at(storage, ecs_entity_index(leader->entities[at + RECORDS_AHEAD])));
        const ecs_record* record = ecs_fast_record(fast, entity);
        BASE_ASSERT(record && "a dead entity has a sparse value");
        const ecs_place* chunk = &fast->places[record->place >> ECS_ROW_BITS];
        if (chunk->archetype != last) {
            last = chunk->archetype;
            place.match = ecs_query_match(fill->query, last);
        }
        if (!place.match || !find_positions(fill, entity, place.positions)) continue;
        place.chunk = chunk->chunk;
        place.row = record->place & ECS_ROW_MASK;
        add_row(fill, &place,
                fill->is_by_row ? chunk->entities + place.row : leader->entities + at);
    }
}

// A query of one sparse term alone is its set.
static void fill_whole(const filler* fill, const ecs_sparse* set) {
    const row_place first = {0};
    if (set->count == 0) return;
    add_run(fill, &first, set->entities);
    fill->query->run_counts[0] = set->count;
    for (uint32_t at = 0; fill->is_marking && at < set->count; at++)
        ecs_sparse_mark(set, at);
}

static void fill_from_tables(filler* fill) {
    const ecs_query* query = fill->query;
    row_place place;
    for (uint32_t m = 0; m < query->match_count; m++) {
        place.match = &query->matches[m];
        for (uint32_t k = 0; k < place.match->archetype->chunk_count; k++) {
            place.chunk = place.match->archetype->chunks[k];
            const uint32_t count = ecs_chunk_count(fill->world->storage, place.chunk);
            for (place.row = 0; place.row < count; place.row++) {
                const ecs_entity* entity = &place.chunk->entities[place.row];
                if (find_positions(fill, *entity, place.positions)) add_row(fill, &place, entity);
            }
        }
    }
}

void ecs_sparse_query_fill(ecs_world* world, ecs_query* query, bool is_marking) {
    BASE_ASSERT(!world->is_view && "in a confined system, sparse terms are those of the system");
    filler fill = make_filler(world, query, is_marking);
    const ecs_sparse* leader = find_leader(&fill);
    query->runs.entry_count = 0;
    fill.is_by_row = !leader || query->has_columns;
    if (leader && query->term_count == 1)
        fill_whole(&fill, leader);
    else if (leader)
        fill_from_set(&fill, leader);
    else
        fill_from_tables(&fill);
}

bool ecs_sparse_query_find(ecs_world* world, ecs_query* query, ecs_entity entity, void** columns) {
    const filler fill = make_filler(world, query, true);
    uint32_t positions[ECS_QUERY_TERMS_MAX];
    if (!find_positions(&fill, entity, positions)) return false;
    for (uint32_t k = 0; k < fill.set_count; k++) {
        const ecs_access access = query->access[fill.terms[k]];
        if (positions[k] == NOWHERE || access > ECS_OPTIONAL_WRITE) continue;
        columns[fill.terms[k]] = ecs_sparse_cell(fill.sets[k], positions[k]);
        if (is_write(access)) ecs_sparse_mark(fill.sets[k], positions[k]);
    }
    return true;
}
