// SPDX-License-Identifier: MIT
// What systems touch, as sets, and which systems conflict.
//
// A system touches columns of its rows, and further components by handle or by other queries. Two
// systems conflict when one writes what the other touches. They do not when both touch a component
// in their rows only and no row is in both: one requires a component that the other one excludes.
//
// Ranges of one system are its rows against its rows, which are other rows: they conflict when it
// writes anything besides its rows, or reads by handle what it writes in its rows.
//
// Validating builds check the declarations while systems run: access by handle and by queries
// before it happens, columns that are read only by a hash before and after the call, of every
// system. No other system of the wave writes such a column, so a difference is this system's. It is
// no fault when the system writes that component by handle too: as it declares, or, when it is not
// confined, as it was seen to do.
#include "system/system_registry.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"
#include "table/query_cache.h"
#include "table/storage.h"
#include "type/world.h"

#include <string.h>

static void declared_add(ecs_component_set* set, ecs_component_id component) {
    set->words[component / 64] |= 1ull << (component % 64);
}

// The first member of both; ECS_COMPONENT_NONE when there is none.
static ecs_component_id common(const ecs_component_set* a, const ecs_component_set* b) {
    for (uint32_t i = 0; i < BASE_COUNT(a->words); i++) {
        const uint64_t both = a->words[i] & b->words[i];
        if (both != 0) return (ecs_component_id)(i * 64 + (uint32_t)__builtin_ctzll(both));
    }
    return ECS_COMPONENT_NONE;
}

static void fill_rows(ecs_declared* declared, const ecs_query* query) {
    for (uint32_t i = 0; i < query->term_count; i++) {
        const ecs_component_id component = query->components[i];
        const ecs_access access = query->access[i];
        if (component == ECS_COMPONENT_NONE) continue;
        if (access == ECS_READ || access == ECS_OPTIONAL_READ)
            declared_add(&declared->row_reads, component);
        if (ecs_access_is_write(access)) declared_add(&declared->row_writes, component);
        if (access == ECS_READ || access == ECS_WRITE || access == ECS_REQUIRE)
            declared_add(&declared->all, component);
        if (access == ECS_REQUIRE_NOT) declared_add(&declared->none, component);
    }
}

// The number of a shared name; ECS_SHARED_NAMES_MAX when there are too many.
static uint32_t shared_number(ecs_world* world, const char* name) {
    ecs_systems* systems = world->systems;
    for (uint32_t i = 0; i < systems->shared_count; i++)
        if (strcmp(systems->shared[i], name) == 0) return i;
    if (systems->shared_count == ECS_SHARED_NAMES_MAX) return ECS_SHARED_NAMES_MAX;
    BASE_ARRAY_RESERVE(world->allocator, systems->shared, systems->shared_capacity,
                       systems->shared_count + 1);
    memcpy(systems->shared[systems->shared_count], name, strlen(name) + 1);
    return systems->shared_count++;
}

static ecs_result fill_names(ecs_world* world, const base_reporter* reporter,
                             const ecs_system* system, const ecs_names* names,
                             ecs_component_set* set, uint64_t* shared) {
    for (uint32_t i = 0; i < names->count; i++) {
        const ecs_component_id component = ecs_component_find(world, names->names[i]);
        if (component != ECS_COMPONENT_NONE) {
            declared_add(set, component);
            continue;
        }
        const uint32_t number = shared_number(world, names->names[i]);
        if (number == ECS_SHARED_NAMES_MAX)
            return BASE_REPORT_AS(ECS_ERR_FULL, reporter, NULL, 0,
                                  "system '%s' names '%s': more than %u shared names", system->name,
                                  names->names[i], ECS_SHARED_NAMES_MAX);
        *shared |= 1ull << number;
    }
    return ECS_OK;
}

ecs_result ecs_declared_seal(ecs_world* world, const base_reporter* reporter) {
    ecs_systems* systems = world->systems;
    systems->shared_count = 0;
    for (uint32_t i = 0; i < systems->count; i++) {
        ecs_system* system = systems->list[i];
        ecs_declared* declared = &system->declared;
        *declared = (ecs_declared){.shared_reads = 0};
        if (!system->is_present || !system->is_confined) continue;
        if (system->query) fill_rows(declared, system->query);
        ecs_result result = fill_names(world, reporter, system, &system->reads, &declared->reads,
                                       &declared->shared_reads);
        if (result == ECS_OK)
            result = fill_names(world, reporter, system, &system->writes, &declared->writes,
                                &declared->shared_writes);
        if (result != ECS_OK) return result;
        declared->may_cut = system->quantum > 0 && system->query && system->run &&
                            ecs_declared_conflict(world, system, system).kind == ECS_CONFLICT_NONE;
    }
    return ECS_OK;
}

// Does `writer` write what `other` touches?
static ecs_conflict one_way(const ecs_world* world, const ecs_system* writer,
                            const ecs_system* other, bool are_rows_apart) {
    const ecs_declared *w = &writer->declared, *o = &other->declared;
    const struct {
        const ecs_component_set *written, *touched;
        bool is_of_rows; // both lie in the rows
    } pairs[] = {
        {&w->row_writes, &o->row_reads, true}, {&w->row_writes, &o->row_writes, true},
        {&w->row_writes, &o->reads, false},    {&w->row_writes, &o->writes, false},
        {&w->writes, &o->row_reads, false},    {&w->writes, &o->row_writes, false},
        {&w->writes, &o->reads, false},        {&w->writes, &o->writes, false},
    };
    for (uint32_t i = 0; i < BASE_COUNT(pairs); i++) {
        if (pairs[i].is_of_rows && are_rows_apart) continue;
        const ecs_component_id component = common(pairs[i].written, pairs[i].touched);
        if (component != ECS_COMPONENT_NONE)
            return (ecs_conflict){ECS_CONFLICT_ACCESS, writer->name,
                                  ecs_component_get(world, component)->name};
    }
    const uint64_t both = w->shared_writes & (o->shared_reads | o->shared_writes);
    if (both == 0) return (ecs_conflict){ECS_CONFLICT_NONE, NULL, NULL};
    return (ecs_conflict){ECS_CONFLICT_ACCESS, writer->name,
                          world->systems->shared[__builtin_ctzll(both)]};
}

ecs_conflict ecs_declared_conflict(const ecs_world* world, const ecs_system* first,
                                   const ecs_system* second) {
    if (!first->is_confined || !second->is_confined)
        return (ecs_conflict){ECS_CONFLICT_UNCONFINED,
                              first->is_confined ? second->name : first->name, NULL};
    const ecs_declared *a = &first->declared, *b = &second->declared;
    const bool are_rows_apart = first == second ||
                                common(&a->all, &b->none) != ECS_COMPONENT_NONE ||
                                common(&b->all, &a->none) != ECS_COMPONENT_NONE;
    const ecs_conflict found = one_way(world, first, second, are_rows_apart);
    return found.kind == ECS_CONFLICT_NONE ? one_way(world, second, first, are_rows_apart) : found;
}

// ---- validating builds ----

// Assert "system 'NAME' WHAT 'COMPONENT'".
static __attribute__((noreturn)) void fail_declared(const ecs_world* world,
                                                    const ecs_system* system, uint32_t component,
                                                    const char* what) {
    const ecs_component* info = ecs_component_get(world, (ecs_component_id)component);
    char text[3 * ECS_NAME_BYTES_MAX];
    base_text_format(text, sizeof text, "system '%s' %s '%s'", system->name, what,
                     info ? info->name : "?");
    base_assert_fail(text, __FILE__, __LINE__);
}

void ecs_declared_check(const ecs_world* world, uint32_t component, bool is_write) {
    const ecs_declared* declared = &world->running->declared;
    if (component > ECS_COMPONENTS_MAX || ecs_component_set_has(&declared->writes, component) ||
        (!is_write && ecs_component_set_has(&declared->reads, component)))
        return;
    fail_declared(world, world->running, component,
                  is_write ? "does not declare that it writes" : "does not declare that it reads");
}

void ecs_declared_record(const ecs_world* world, uint32_t component, bool is_write) {
    if (!is_write || component > ECS_COMPONENTS_MAX) return;
    declared_add(&world->running->declared.writes, (ecs_component_id)component);
}

void ecs_declared_check_part(const ecs_world* world, uint32_t component, bool is_write) {
    const ecs_query* query = world->shared_query;
    if (component > ECS_COMPONENTS_MAX) return;
    if (is_write)
        fail_declared(world, world->running, component, "writes by handle in a shared loop");
    for (uint32_t i = 0; query && i < query->term_count; i++)
        if (query->components[i] == component && ecs_access_is_write(query->access[i]))
            fail_declared(world, world->running, component,
                          "reads by handle what its shared loop writes:");
    if (world->running->is_confined) ecs_declared_check(world, component, false);
}

static const ecs_place* place_of(const ecs_world* world, const ecs_rows* rows) {
    const ecs_record* record = ecs_fast_record(&world->fast, rows->entities[0]);
    return &world->fast.places[record->place >> ECS_ROW_BITS];
}

// The bytes of a column that the system may only read, as a hash; 0 for any other term.
static uint64_t hash_of_read(const ecs_world* world, const ecs_query* query, const ecs_rows* rows,
                             uint32_t term) {
    const ecs_access access = query->access[term];
    if ((access != ECS_READ && access != ECS_OPTIONAL_READ) || !rows->columns[term]) return 0;
    const ecs_place* place = place_of(world, rows);
    const size_t size = place->slots[query->components[term]].size;
    return base_hash64(rows->columns[term], size * rows->count, 0);
}

// Which rows of the chunk were opened for writing in this tick, as a hash: what a system writes by
// handle is one of them.
static uint64_t hash_of_marks(const ecs_world* world, const ecs_query* query, const ecs_rows* rows,
                              uint32_t term) {
    const ecs_place* place = place_of(world, rows);
    const ecs_slot* slot = &place->slots[query->components[term]];
    const uint32_t count = world->fast.chunk_counts[place->chunk->id];
    if (slot->column == ECS_SLOT_NONE || slot->marks == 0) return 0;
    return base_hash64(ecs_fast_marks(place, slot), sizeof(uint64_t) * (2 + (count - 1) / 64), 0);
}

// Without a reporter it is an assertion.
static void report_written(ecs_system* system, const ecs_world* world, ecs_component_id component,
                           uint32_t bit) {
    const base_reporter* reporter = world->write_reporter;
    if (!reporter) fail_declared(world, system, component, "declares that it only reads");
    if (__atomic_fetch_or(&system->written, bit, __ATOMIC_RELAXED) & bit) return;
    base_report(reporter, NULL, 0, "system %s declares that it only reads %s, and writes it",
                system->name, ecs_component_get(world, component)->name);
}

void ecs_declared_watch(ecs_watch* watch, const ecs_world* world, const ecs_query* query,
                        const ecs_rows* rows) {
    watch->query = BASE_VALIDATE_ON || world->write_reporter ? query : NULL;
    for (uint32_t i = 0; watch->query && i < query->term_count; i++) {
        watch->before[i] = hash_of_read(world, query, rows, i);
        if (watch->before[i] != 0) watch->marks[i] = hash_of_marks(world, query, rows, i);
    }
}

void ecs_declared_compare(const ecs_watch* watch, const ecs_world* world, const ecs_rows* rows) {
    const ecs_query* query = watch->query;
    ecs_system* system = world->running;
    for (uint32_t i = 0; query && i < query->term_count; i++) {
        const bool is_marked =
            watch->before[i] != 0 && hash_of_marks(world, query, rows, i) != watch->marks[i];
        if (is_marked && !system->is_confined) // a later write may find its row marked
            declared_add(&system->declared.writes, query->components[i]);
        if (hash_of_read(world, query, rows, i) != watch->before[i] && !is_marked &&
            !ecs_component_set_has(&system->declared.writes, query->components[i]))
            report_written(system, world, query->components[i], 1u << i);
    }
}

void ecs_declared_run(ecs_system* system, const ecs_stage* stage, const ecs_rows* rows) {
    ecs_watch watch;
    if (stage->world->write_reporter && rows->count > 0)
        __atomic_store_n(&system->has_had_rows, true, __ATOMIC_RELAXED);
    if (stage->world->systems->clock)
        __atomic_fetch_add(&system->times.rows, rows->count, __ATOMIC_RELAXED);
    ecs_declared_watch(&watch, stage->world, rows->count > 0 ? system->query : NULL, rows);
    system->run(stage, rows);
    ecs_declared_compare(&watch, stage->world, rows);
}

// Validating builds: what a system leaves alone stays as it was.
//
// A pointer from ecs_get may lose its const, and an index may run over the end of a column into the
// next one. No access is seen then. So each GUARD_TICKS the sums of all columns of the world are
// taken before and after a system that runs alone. A component that differs must be one that the
// system declares to write, or asked to write by handle or by a query. Pages are not protected:
// columns of one block share pages, and a copy of each block for each system costs more than sums.
//
// Values with functions (texts, lists, boxes) are left out: their memory lies elsewhere.

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
        if (!world->write_reporter) fail_declared(world, system, i, what);
        base_report(world->write_reporter, NULL, 0, "system %s %s %s", system->name, what,
                    ecs_component_get(world, (ecs_component_id)i)->name);
        declared_add(&system->declared.writes, (ecs_component_id)i); // said once
    }
}
