// SPDX-License-Identifier: MIT
// Reading a query: open a walk, find one entity, count rows.
//
// The walk itself is inline (ecs/query.h) and reads the cache that query.c fills. A walk may read
// past the count of a chunk and must find zeros there, so the storage is tidied first.
#include "base/assert.h"
#include "table/archetype.h"
#include "table/chunk.h"
#include "table/query_cache.h"
#include "table/record.h"
#include "table/storage.h"
#include "type/world.h"

// A system that says what it touches may walk no more than that.
static void check_terms(const ecs_world* world, const ecs_query* query) {
    for (uint32_t i = 0; i < query->term_count; i++) {
        const ecs_access access = query->access[i];
        const bool is_write = ecs_access_is_write(access);
        if (access <= ECS_OPTIONAL_WRITE && query->components[i] != ECS_COMPONENT_NONE)
            world->fast.check(world, query->components[i], is_write);
    }
}

const ecs_query_cache* ecs_query_open(ecs_world* world, ecs_query* query) {
    // A query that never matched has no array to point into.
    static const uintptr_t nothing[1];
    static const ecs_query_cache empty = {.entries = (uintptr_t*)nothing};
    BASE_ASSERT(world->is_sealed && "seal the world before queries are walked");
    if (world->fast.check) check_terms(world, query);
    ecs_storage_tidy(world);
    return query->cache.entry_count == 0 ? &empty : &query->cache;
}

uint32_t ecs_group_count(const ecs_query* query) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < query->group->match_count; i++)
        count += query->group->matches[i]->row_count;
    return (uint32_t)count;
}

uint32_t ecs_query_count(ecs_world* world, ecs_query* query) {
    (void)world;
    return ecs_group_count(query);
}

ecs_entity ecs_query_first(ecs_world* world, ecs_query* query) {
    (void)world;
    for (uint32_t i = 0; i < query->group->match_count; i++) {
        const ecs_archetype* archetype = query->group->matches[i];
        if (archetype->row_count > 0) return archetype->chunks[0]->entities[0];
    }
    return ECS_ENTITY_NONE;
}

ecs_entity ecs_query_nth(ecs_world* world, ecs_query* query, uint32_t index) {
    ecs_query_iter it = ecs_query_begin(world, query);
    while (ecs_query_next(&it)) {
        if (index < it.rows.count) {
            const ecs_entity found = it.rows.entities[index];
            ecs_query_end(&it);
            return found;
        }
        index -= it.rows.count;
    }
    return ECS_ENTITY_NONE;
}

bool ecs_query_find(ecs_world* world, ecs_query* query, ecs_entity entity, ecs_query_iter* iter) {
    if (world->fast.check) check_terms(world, query);
    const ecs_record* record = ecs_record_find(world->storage, entity);
    if (!record) return false;
    const ecs_chunk* chunk = ecs_record_chunk(world->storage, record);
    const ecs_match* match = ecs_query_match(query, chunk->archetype);
    if (!match) return false;
    uint32_t row = ecs_record_row(record);
    for (uint32_t i = 0; i < query->term_count; i++) {
        uint16_t column = match->columns[i];
        iter->columns[i] = column == ECS_SLOT_NONE ? NULL : ecs_chunk_cell(chunk, column, row);
    }
    for (uint32_t i = 0; i < query->cache.mark_count && chunk->archetype->track_count > 0; i++) {
        uint16_t column = match->columns[query->write_terms[i]];
        if (column == ECS_SLOT_NONE) continue;
        uint16_t track = chunk->archetype->columns[column].track;
        if (track != ECS_SLOT_NONE) ecs_chunk_mark_row(chunk, track, row);
    }
    iter->rows.count = 1;
    iter->rows.entities = chunk->entities + row;
    iter->rows.columns = iter->columns;
    iter->world = NULL; // no walk is open: nothing to end
    iter->entry = iter->end = NULL;
    return true;
}
