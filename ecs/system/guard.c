// SPDX-License-Identifier: MIT
// Validating builds: what a system leaves alone stays as it was.
//
// A pointer from ecs_get may lose its const, and an index may run over the end of a column into the
// next one. No access is seen then. So each GUARD_TICKS the sums of all columns of the world are
// taken before and after a system that runs alone. A component that differs must be one that the
// system declares to write, or asked to write by handle or by a query. Pages are not protected:
// columns of one block share pages, and a copy of each block for each system costs more than sums.
//
// Values with functions (texts, lists, boxes) are left out: their memory lies elsewhere.
#include "system/guard.h"

#include "base/hash.h"
#include "system/declared.h"
#include "table/query_cache.h"
#include "table/storage.h"
#include "type/world.h"

#define GUARD_TICKS 8u ///< sums of the whole world cost much more than most systems

bool ecs_guard_is_due(const ecs_stage* stage) {
    return BASE_VALIDATE_ON && stage->tick % GUARD_TICKS == 1;
}

static void sum_column(const ecs_world* world, const ecs_archetype* archetype, uint32_t column,
                       uint64_t* sum) {
    for (uint32_t i = 0; i < archetype->chunk_count; i++) {
        const ecs_chunk* chunk = archetype->chunks[i];
        const uint32_t count = world->fast.chunk_counts[chunk->id];
        if (count == 0) continue;
        const size_t bytes = (size_t)archetype->columns[column].size * count;
        *sum += base_hash64(ecs_chunk_cell(chunk, column, 0), bytes, chunk->id);
    }
}

void ecs_guard_sum(const ecs_world* world, ecs_guard* guard) {
    *guard = (ecs_guard){{0}};
    for (uint32_t i = 0; i < world->storage->archetype_count; i++) {
        const ecs_archetype* archetype = world->storage->archetypes[i];
        for (uint32_t k = 0; k < archetype->column_count; k++) {
            const ecs_column* column = &archetype->columns[k];
            if (column->size > 0 && !archetype->lookup[column->component].has_ops)
                sum_column(world, archetype, k, &guard->sums[column->component]);
        }
    }
}

// Columns of its rows are declared: writes to those that are read are found at each call.
static bool is_of_its_rows(const ecs_query* query, uint32_t component) {
    for (uint32_t i = 0; query && i < query->term_count; i++)
        if (query->components[i] == component && query->access[i] <= ECS_OPTIONAL_WRITE)
            return true;
    return false;
}

void ecs_guard_compare(const ecs_world* world, ecs_system* system, const ecs_guard* before) {
    ecs_guard now;
    ecs_guard_sum(world, &now);
    for (uint32_t i = 1; i < BASE_COUNT(now.sums); i++) {
        if (now.sums[i] == before->sums[i] || is_of_its_rows(system->query, i) ||
            ecs_component_set_has(&system->declared.writes, i))
            continue;
        const char* what = "writes through const or past a column into";
        if (!world->write_reporter) ecs_declared_fail(world, system, i, what);
        base_report(world->write_reporter, NULL, 0, "system %s %s %s", system->name, what,
                    ecs_component_get(world, (ecs_component_id)i)->name);
        ecs_declared_add(&system->declared.writes, (ecs_component_id)i); // said once
    }
}
