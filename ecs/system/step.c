// SPDX-License-Identifier: MIT
// Running a stage and a whole step.
//
// A step runs systems wave by wave (order.c), with a flush point before the first and after each
// wave in which one ran. Sync points run nothing, interval systems run only on their ticks. A flush
// point applies the recorded commands, then delivers the events that wait, and repeats both until
// none is left or the budget of events is used up; the rest waits for the next flush point.
//
// A wave of one system whose rows are not cut runs on the world itself. Any other is run in ranges,
// with one thread as with many (range.c).
//
// Commands come first: an event may name a placeholder, which has a handle only after its creation
// was applied. Handlers run with structure deferred as systems do, so a batch of events sees one
// unchanging structure.
//
// Invariant: no names, no allocation in a steady step; the result depends on the order of systems
// and of rows only.
#include "base/assert.h"
#include "base/float_mode.h"
#include "base/hash.h"
#include "ecs/debug.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "event/systems.h"
#include "structure/hierarchy.h"
#include "structure/transition.h"
#include "system/system_registry.h"
#include "table/track.h"
#include "type/world.h"

#include <stdatomic.h>

struct ecs_running {
    _Atomic(const ecs_mark*) mark; // of the world whose stage runs; NULL: none does
    _Atomic(const char*) function; // of a game, that is called outside of stages; NULL: none is
};

// One process has many worlds: a server's, clients' and those that are shown.
static _Thread_local ecs_running here;

// A value that was written past tracking is watched, to learn who writes it.
static inline void look(ecs_world* world, const ecs_system* system) {
    const char* name = system ? system->name : NULL;
    if (world->tracker->sweep.watched.entity != ECS_ENTITY_NONE) ecs_track_look(world, name);
    if (world->systems->after) world->systems->after(world->systems->after_context, world, name);
}

static void flush_point(ecs_world* world, const ecs_stage* stage) {
    BASE_ASSERT(stage->world == world && world->fast.stage_depth > 0);
    uint32_t budget = world->limits.events_per_flush_max;
    for (;;) {
        ecs_mark_set(world, NULL, ECS_ENTITY_NONE);
        ecs_commands_apply(world);
        ecs_events_resolve(world); // what names a placeholder that no command made
        const uint32_t waiting = ecs_events_count(world->events);
        uint32_t batch = waiting < budget ? waiting : budget;
        if (batch == 0) break;
        ecs_events_deliver(world, stage, batch);
        budget -= batch;
    }
    look(world, NULL);
}

// In validating builds: check what it touches from now on; NULL: nothing is checked.
static void watch(ecs_world* world, const ecs_system* system) {
    if (BASE_VALIDATE_ON)
        world->fast.check = !system               ? NULL
                            : system->is_confined ? ecs_declared_check
                                                  : ecs_declared_record;
}

static bool is_due(const ecs_system* system, ecs_tick tick) {
    return !system->is_sync_point && (system->every_ticks <= 1 || tick % system->every_ticks == 0);
}

// ecs_inspect_times: what the systems of a wave took in this tick.
static void close_times(ecs_world* world, const ecs_system_order* order, uint32_t first,
                        uint32_t end, ecs_tick tick) {
    for (uint32_t i = first; i < end; i++) {
        ecs_system* system = world->systems->list[order->systems[i]];
        ecs_system_times* times = &system->times;
        if (!is_due(system, tick)) continue;
        times->ticks++;
        times->ns += times->ns_tick;
        if (times->ns_tick > times->ns_max) times->ns_max = times->ns_tick;
        times->ns_tick = 0;
    }
}

// On the world itself, with its queues.
static void run_alone(ecs_world* world, uint32_t position, ecs_system* system, ecs_stage* stage) {
    BASE_ASSERT(system->is_present && !system->is_sync_point);
    const ecs_clock_fn clock = world->systems->clock;
    const uint64_t begin_ns = clock ? clock() : 0;
    stage->context = system->context;
    ecs_commands_enter(world->commands, position, 0);
    world->running = system;
    ecs_mark_set(world, system, ECS_ENTITY_NONE);
    watch(world, system);
    if (system->has_members) ecs_membership_deliver(system, &system->members, stage);
    if (system->run && !system->query) {
        const ecs_rows none = {0};
        system->run(stage, &none);
    } else if (system->run) {
        watch(world, NULL); // its own rows need no other declaration
        ecs_query_iter iter = ecs_query_begin(world, system->query);
        watch(world, system);
        while (ecs_query_next(&iter)) {
            ecs_mark_set(world, system, iter.rows.entities[0]);
            ecs_declared_run(system, stage, &iter.rows);
        }
    }
    watch(world, NULL);
    world->running = NULL;
    ecs_commands_enter(world->commands, 0, 0);
    if (clock) system->times.ns_tick += clock() - begin_ns;
    look(world, system);
}

// Of a wave that is done: the first system that reads the watched value in its rows.
static void look_at_wave(ecs_world* world, const ecs_system_order* order, uint32_t first,
                         uint32_t end) {
    const ecs_change* watched = &world->tracker->sweep.watched;
    if (watched->entity == ECS_ENTITY_NONE) return;
    const ecs_system* reader = NULL;
    for (uint32_t i = first; i < end && !reader; i++) {
        const ecs_system* system = world->systems->list[order->systems[i]];
        if (ecs_component_set_has(&system->declared.row_reads, watched->component)) reader = system;
    }
    look(world, reader);
}

// The systems at [first, end) of a stage, which are one wave. @return whether one of them ran.
static bool run_wave(ecs_world* world, const ecs_system_order* order, uint32_t first, uint32_t end,
                     ecs_stage* stage) {
    ecs_system** list = world->systems->list;
    ecs_wave wave = {0};
    uint32_t due = 0;
    for (uint32_t i = first; i < end; i++) {
        ecs_system* system = list[order->systems[i]];
        if (!is_due(system, stage->tick)) continue;
        due++;
        if ((end - first > 1 || system->declared.may_cut) && !world->systems->after)
            ecs_wave_add(world, &wave, i, system);
    }
    if (wave.count > 1) {
        ecs_mark_set(world, list[order->systems[first]], ECS_ENTITY_NONE);
        ecs_wave_run(world, &wave, stage);
        look_at_wave(world, order, first, end);
        return true;
    }
    for (uint32_t i = first; i < end && due > 0; i++) {
        ecs_system* system = list[order->systems[i]];
        if (!is_due(system, stage->tick)) continue;
        ecs_guard before;
        const bool is_guarded = ecs_guard_is_due(stage);
        if (is_guarded) ecs_guard_sum(world, &before);
        run_alone(world, i, system, stage);
        if (is_guarded) ecs_guard_compare(world, system, &before);
    }
    return due > 0;
}

// Steps do not nest, and no walk holds columns while one begins.
static void check_idle(const ecs_world* world) {
    BASE_ASSERT(world->is_sealed && !world->is_view);
    BASE_ASSERT(world->fast.stage_depth == 0 && world->fast.walk_depth == 0);
}

static void run_stage(ecs_world* world, uint32_t index, const ecs_step* step) {
    BASE_ASSERT(index < world->systems->stage_count);
    ecs_stage stage = {.world = world, .tick = step->tick, .dt = step->dt, .user = step->user};
    const ecs_system_order* order = &world->systems->stages[index].order;
    ecs_runway_return(world);
    world->fast.stage_depth++;
    world->systems->now = stage;
    ecs_mark* mark = &world->systems->mark;
    atomic_store_explicit(&mark->tick, step->tick, memory_order_relaxed);
    atomic_store_explicit(&mark->stage, &world->systems->stages[index], memory_order_relaxed);
    ecs_mark_set(world, NULL, ECS_ENTITY_NONE);
    const ecs_mark* outer = atomic_load_explicit(&here.mark, memory_order_relaxed);
    atomic_store_explicit(&here.mark, mark, memory_order_release);
    world->chance = base_hash64_mix(world->rng.state ^ world->rng.stream, step->tick);
    flush_point(world, &stage);
    const uint32_t* waves = world->systems->stages[index].waves;
    for (uint32_t first = 0, end; first < order->count; first = end) {
        for (end = first + 1; end < order->count && waves[end] == waves[first];)
            end++;
        // When nothing ran, there is nothing to flush.
        if (!run_wave(world, order, first, end, &stage)) continue;
        if (world->systems->clock) close_times(world, order, first, end, step->tick);
        flush_point(world, &stage);
    }
    world->systems->now = (ecs_stage){0};
    atomic_store_explicit(&here.mark, outer, memory_order_release);
    world->fast.stage_depth--;
}

const ecs_running* ecs_running_here(void) {
    return &here;
}

const char* ecs_running_call(const char* function) {
    const char* outer = atomic_load_explicit(&here.function, memory_order_relaxed);
    atomic_store_explicit(&here.function, function, memory_order_relaxed);
    return outer;
}

bool ecs_running_where(const ecs_running* running, ecs_where* where) {
    const ecs_mark* mark = atomic_load_explicit(&running->mark, memory_order_acquire);
    if (!mark) {
        *where =
            (ecs_where){.system = atomic_load_explicit(&running->function, memory_order_relaxed)};
        return where->system != NULL;
    }
    const ecs_system* system = atomic_load_explicit(&mark->system, memory_order_relaxed);
    *where = (ecs_where){
        .tick = atomic_load_explicit(&mark->tick, memory_order_relaxed),
        .stage = atomic_load_explicit(&mark->stage, memory_order_relaxed)->name,
        .system = system ? system->name : NULL,
        .entity = atomic_load_explicit(&mark->entity, memory_order_relaxed),
    };
    return true;
}

void ecs_world_run_stage(ecs_world* world, uint32_t stage, const ecs_step* step) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    check_idle(world);
    run_stage(world, stage, step);
}

base_rng ecs_stage_rng(const ecs_stage* stage, ecs_entity entity) {
    const ecs_world* world = stage->world;
    BASE_ASSERT(world->running && "in a system's own functions only");
    return base_rng_make(base_hash64_mix(world->chance, world->running->name_hash), entity);
}

void ecs_world_set_workers(ecs_world* world, base_workers* workers) {
    check_idle(world);
    world->workers = workers;
}

void ecs_systems_step(ecs_world* world, const ecs_step* step) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    check_idle(world);
    world->tick = step->tick;
    run_stage(world, 0, step);
    ecs_hierarchy_sync(world); // it looks at the marks, which tracking drops
    ecs_track_step(world);
    // ComponentChanged of what tracking noticed; delivered in the next step.
    BASE_ASSERT(world->fast.stage_depth == 0);
    ecs_change_list* noticed = &world->tracker->noticed;
    for (uint32_t i = 0; i < noticed->count; i++) {
        const ecs_component_changed changed = {noticed->items[i].component};
        (void)ecs_event_post(world, noticed->items[i].entity, ECS_EVENT_CHANGED, &changed);
    }
    noticed->count = 0;
}
