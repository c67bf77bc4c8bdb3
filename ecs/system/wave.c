// SPDX-License-Identifier: MIT
// Waves: the graph of a stage, cut into steps.
//
// Nodes are the systems and sync points of a stage in their order. There is an edge from each to
// every later one that it is ordered before, or conflicts with. The wave of a node is the length of
// the longest way that leads to it, so each runs as early as the edges let it. A flush point
// follows each wave; there, structure changes and nothing else runs.
//
//     order    a writes pos     b reads pos     c writes hp     d after c
//     wave     0: a c           1: b d
//
// Systems that are not confined conflict with all others, so among them waves are the old order,
// one by one.
//
// Waves depend on names, order and declarations only, never on the number of threads.
#include "system/wave.h"

#include "base/assert.h"
#include "system/declared.h"
#include "system/system_registry.h"
#include "type/world.h"

#include <string.h>

// Scratch while one stage is put into waves.
typedef struct wave_graph {
    const ecs_world* world;
    const ecs_system_order* order;
    uint32_t* positions; // [system] -> position in the order, UINT32_MAX when not in it
    uint32_t* waves;     // [position]: at least so much, until its turn came
} wave_graph;

static uint32_t position_of(const wave_graph* graph, const char* name) {
    const uint32_t system = ecs_system_index(graph->world, name);
    return system == UINT32_MAX ? UINT32_MAX : graph->positions[system];
}

static void push_behind(wave_graph* graph, uint32_t first, uint32_t later) {
    if (graph->waves[later] <= graph->waves[first]) graph->waves[later] = graph->waves[first] + 1;
}

// The declared edges of the node at `at`, to nodes behind it and from nodes before it. The order is
// sorted already, so no edge leads back.
static void follow_names(wave_graph* graph, const ecs_system* system, uint32_t at) {
    for (uint32_t i = 0; i < system->after.count; i++) {
        const uint32_t from = position_of(graph, system->after.names[i]);
        if (from != UINT32_MAX) push_behind(graph, from, at);
    }
    for (uint32_t i = 0; i < system->before.count; i++) {
        const uint32_t to = position_of(graph, system->before.names[i]);
        if (to != UINT32_MAX) push_behind(graph, at, to);
    }
}

// The node in front of `at` in an explicit order of any stage, when both are in this list.
static void follow_chains(wave_graph* graph, uint32_t at) {
    const ecs_systems* systems = graph->world->systems;
    const char* name = systems->list[graph->order->systems[at]]->name;
    for (uint32_t s = 0; s < systems->stage_count; s++) {
        const ecs_names* names = &systems->stages[s].explicit_order;
        uint32_t last = UINT32_MAX, i = 0;
        for (; i < names->count && strcmp(names->names[i], name) != 0; i++) {
            const uint32_t position = position_of(graph, names->names[i]);
            if (position != UINT32_MAX) last = position;
        }
        if (i < names->count && last != UINT32_MAX) push_behind(graph, last, at);
    }
}

static void follow_conflicts(wave_graph* graph, const ecs_system* system, uint32_t at) {
    for (uint32_t i = 0; i < at && !system->is_sync_point; i++) {
        const ecs_system* earlier = graph->world->systems->list[graph->order->systems[i]];
        if (earlier->is_sync_point || graph->waves[i] < graph->waves[at]) continue;
        if (ecs_declared_conflict(graph->world, earlier, system).kind != ECS_CONFLICT_NONE)
            push_behind(graph, i, at);
    }
}

static void find_waves(wave_graph* graph) {
    const ecs_system_order* order = graph->order;
    for (uint32_t i = 0; i < graph->world->systems->count; i++)
        graph->positions[i] = UINT32_MAX;
    for (uint32_t i = 0; i < order->count; i++)
        graph->positions[order->systems[i]] = i;
    memset(graph->waves, 0, order->count * sizeof *graph->waves);
    for (uint32_t i = 0; i < order->count; i++) {
        const ecs_system* system = graph->world->systems->list[order->systems[i]];
        follow_chains(graph, i);
        follow_conflicts(graph, system, i);
        follow_names(graph, system, i);
    }
}

// Stable: one pass per wave.
static void sort_by_wave(const wave_graph* graph, uint32_t* systems, uint32_t* waves) {
    uint32_t placed = 0;
    for (uint32_t wave = 0; placed < graph->order->count; wave++) {
        for (uint32_t i = 0; i < graph->order->count; i++) {
            if (graph->waves[i] != wave) continue;
            systems[placed] = graph->order->systems[i];
            waves[placed++] = wave;
        }
    }
}

ecs_result ecs_waves_seal(ecs_world* world, ecs_stage_info* stage) {
    ecs_system_order* order = &stage->order;
    const uint32_t count = order->count, system_count = world->systems->count;
    if (count == 0) return ECS_OK;
    // Positions, then waves, then both results.
    const size_t bytes = ((size_t)system_count + 3u * count) * sizeof(uint32_t);
    uint32_t* scratch = base_allocate(world->allocator, bytes);
    if (!scratch) return ECS_ERR_MEMORY;
    ecs_result result = ECS_ERR_MEMORY;
    if (BASE_ARRAY_RESERVE(world->allocator, stage->waves, stage->wave_capacity, count)) {
        wave_graph graph = {world, order, scratch, scratch + system_count};
        uint32_t* systems = graph.waves + count;
        uint32_t* waves = systems + count;
        find_waves(&graph);
        sort_by_wave(&graph, systems, waves);
        memcpy(order->systems, systems, count * sizeof *systems);
        memcpy(stage->waves, waves, count * sizeof *waves);
        result = ECS_OK;
    }
    base_release(world->allocator, scratch, bytes);
    return result;
}

void ecs_waves_deinit(const ecs_world* world, ecs_stage_info* stage) {
    BASE_ARRAY_RELEASE(world->allocator, stage->waves, stage->wave_capacity);
    stage->waves = NULL;
    stage->wave_capacity = 0;
}
