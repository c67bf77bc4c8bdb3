// SPDX-License-Identifier: MIT
// The order in which systems run.
//
// Within a list of systems, `before` and `after` are edges. The next system is always the one
// registered earliest among those whose predecessors have all run (Kahn's algorithm with the
// smallest ready node). So systems without constraints keep the order of registration, and a
// constraint moves as little as it must.
//
// Each list is sorted on its own: that of a stage, and that of all event handlers. A constraint
// between systems of different stages has no effect. Sync points are in both: nodes that run
// nothing. An explicit order is a chain of further edges.
//
// Invariant: the result depends on names and order of registration only, so every machine that
// registers the same systems runs them in the same order. Names of systems that tags left out are
// known and ignored; other names are errors.
#include "system/system_registry.h"

#include "base/assert.h"
#include "event/systems.h"
#include "type/world.h"

#include <string.h>

uint32_t ecs_system_index(const ecs_world* world, const char* name) {
    const ecs_systems* systems = world->systems;
    for (uint32_t i = 0; i < systems->count; i++)
        if (strcmp(systems->list[i]->name, name) == 0) return i;
    return UINT32_MAX;
}

static ecs_result check_names(const ecs_world* world, const base_reporter* reporter,
                              const ecs_names* names, const char* kind, const char* owner,
                              const char* word) {
    for (uint32_t i = 0; i < names->count; i++) {
        const char* name = names->names[i];
        if (ecs_system_index(world, name) != UINT32_MAX) continue;
        char hint[BASE_HINT_BYTES];
        base_nearest nearest = base_nearest_begin(name);
        for (uint32_t k = 0; k < world->systems->count; k++)
            base_nearest_offer(&nearest, world->systems->list[k]->name);
        base_report(reporter, NULL, 0, "%s '%s' %s '%s', which is not registered%s", kind, owner,
                    word, name, base_nearest_hint(&nearest, hint));
        return ECS_ERR_UNKNOWN;
    }
    return ECS_OK;
}

ecs_result ecs_order_check_names(ecs_world* world, const base_reporter* reporter) {
    const ecs_systems* systems = world->systems;
    ecs_result result = ECS_OK;
    for (uint32_t i = 0; i < systems->count && result == ECS_OK; i++) {
        const ecs_system* system = systems->list[i];
        if (!system->is_present) continue;
        result =
            check_names(world, reporter, &system->before, "system", system->name, "runs before");
        if (result == ECS_OK)
            result =
                check_names(world, reporter, &system->after, "system", system->name, "runs after");
    }
    for (uint32_t i = 0; i < systems->stage_count && result == ECS_OK; i++)
        result = check_names(world, reporter, &systems->stages[i].explicit_order,
                             "the order of stage", systems->stages[i].name, "names");
    return result;
}

// The graph of one list: nodes are positions in the list.
typedef struct order_edge {
    uint32_t from, to; // from runs before to
} order_edge;

typedef struct order_graph {
    const base_allocator* allocator;
    uint32_t count;
    uint32_t* positions; // [system] -> position in the list, UINT32_MAX when not in it
    uint32_t position_count;
    uint32_t* waiting; // [position] predecessors that have not run; UINT32_MAX once placed
    order_edge* edges;
    uint32_t edge_count;
    uint32_t edge_capacity;
} order_graph;

static uint32_t position_of(const ecs_world* world, const order_graph* graph, const char* name) {
    uint32_t system = ecs_system_index(world, name);
    return system == UINT32_MAX ? UINT32_MAX : graph->positions[system];
}

static void add_edge(order_graph* graph, uint32_t from, uint32_t to) {
    BASE_ARRAY_RESERVE(graph->allocator, graph->edges, graph->edge_capacity, graph->edge_count + 1);
    graph->edges[graph->edge_count++] = (order_edge){from, to};
    graph->waiting[to]++;
}

static void add_edges(const ecs_world* world, order_graph* graph, uint32_t position,
                      const ecs_names* names, bool is_before) {
    for (uint32_t i = 0; i < names->count; i++) {
        uint32_t target = position_of(world, graph, names->names[i]);
        if (target == UINT32_MAX) continue;
        add_edge(graph, is_before ? position : target, is_before ? target : position);
    }
}

// An explicit order chains those of its names that are in the list.
static void add_chain(const ecs_world* world, order_graph* graph, const ecs_names* names) {
    uint32_t last = UINT32_MAX;
    for (uint32_t i = 0; i < names->count; i++) {
        uint32_t position = position_of(world, graph, names->names[i]);
        if (position == UINT32_MAX) continue;
        if (last != UINT32_MAX) add_edge(graph, last, position);
        last = position;
    }
}

static void build_graph(const ecs_world* world, order_graph* graph,
                        const ecs_system_order* members) {
    graph->count = members->count;
    graph->position_count = world->systems->count;
    graph->positions = base_allocate(graph->allocator, sizeof(uint32_t) * graph->position_count);
    graph->waiting = base_allocate_zero(graph->allocator, sizeof(uint32_t) * graph->count);
    for (uint32_t i = 0; i < graph->position_count; i++)
        graph->positions[i] = UINT32_MAX;
    for (uint32_t i = 0; i < graph->count; i++)
        graph->positions[members->systems[i]] = i;
    for (uint32_t i = 0; i < graph->count; i++) {
        const ecs_system* system = world->systems->list[members->systems[i]];
        add_edges(world, graph, i, &system->before, true);
        add_edges(world, graph, i, &system->after, false);
    }
    for (uint32_t i = 0; i < world->systems->stage_count; i++)
        add_chain(world, graph, &world->systems->stages[i].explicit_order);
}

static void free_graph(order_graph* graph) {
    BASE_ARRAY_RELEASE(graph->allocator, graph->positions, graph->position_count);
    BASE_ARRAY_RELEASE(graph->allocator, graph->waiting, graph->count);
    BASE_ARRAY_RELEASE(graph->allocator, graph->edges, graph->edge_capacity);
}

// A predecessor of `node` that could not be placed; there is one for each node that is stuck.
static uint32_t stuck_predecessor(const order_graph* graph, uint32_t node) {
    for (uint32_t i = 0; i < graph->edge_count; i++)
        if (graph->edges[i].to == node && graph->waiting[graph->edges[i].from] != UINT32_MAX)
            return graph->edges[i].from;
    return UINT32_MAX;
}

// Walking back through stuck predecessors must reach a node again; the second lap spells the cycle.
static void report_cycle(const ecs_world* world, const base_reporter* reporter,
                         const order_graph* graph, const ecs_system_order* members) {
    uint32_t node = 0;
    while (graph->waiting[node] == UINT32_MAX)
        node++;
    for (uint32_t i = 0; i < graph->count; i++) {
        node = stuck_predecessor(graph, node);
        BASE_ASSERT(node != UINT32_MAX);
    }
    char text[BASE_REPORT_BYTES_MAX];
    size_t used = 0;
    uint32_t first = node;
    bool is_closed = false;
    while (!is_closed) {
        const char* name = world->systems->list[members->systems[node]]->name;
        size_t length = strlen(name);
        if (used + length + sizeof(" after ...") > sizeof(text)) {
            memcpy(text + used, "...", 3);
            used += 3;
            break;
        }
        memcpy(text + used, name, length);
        used += length;
        is_closed = used > length && node == first;
        if (!is_closed) {
            memcpy(text + used, " after ", 7);
            used += 7;
            node = stuck_predecessor(graph, node);
        }
    }
    text[used] = '\0';
    base_report(reporter, NULL, 0, "systems form a cycle: %s", text);
}

ecs_result ecs_order_sort(ecs_world* world, const base_reporter* reporter,
                          ecs_system_order* members) {
    if (members->count == 0) return ECS_OK;
    order_graph graph = {.allocator = world->allocator};
    uint32_t* sorted = base_allocate(world->allocator, sizeof(uint32_t) * members->count);
    ecs_result result = ECS_OK;
    build_graph(world, &graph, members);
    for (uint32_t placed = 0; placed < graph.count; placed++) {
        uint32_t next = 0;
        while (next < graph.count && graph.waiting[next] != 0)
            next++;
        if (next == graph.count) {
            report_cycle(world, reporter, &graph, members);
            result = ECS_ERR_CYCLE;
            break;
        }
        graph.waiting[next] = UINT32_MAX;
        sorted[placed] = members->systems[next];
        for (uint32_t i = 0; i < graph.edge_count; i++)
            if (graph.edges[i].from == next && graph.edges[i].to != next)
                graph.waiting[graph.edges[i].to]--;
    }
    if (result == ECS_OK) memcpy(members->systems, sorted, sizeof(uint32_t) * members->count);
    BASE_ARRAY_RELEASE(world->allocator, sorted, members->count);
    free_graph(&graph);
    return result;
}

// Waves: the graph of a stage, cut into steps.
//
// Nodes are the systems and sync points of a stage in their order. There is an edge from each to
// every later one that it is ordered before, or conflicts with. The wave of a node is the length of
// the longest way that leads to it, so each runs as early as the edges let it. A flush point
// follows each wave; there, structure changes and nothing else runs. README.md has a drawing.
//
// Waves depend on names, order and declarations only, never on the number of threads.

// The longest way to each node of a sorted list: all edges lead to later nodes.
static void find_waves(const ecs_world* world, const ecs_system_order* order,
                       const order_graph* graph, uint32_t* waves) {
    memset(waves, 0, order->count * sizeof *waves);
    for (uint32_t at = 0; at < order->count; at++) {
        const ecs_system* system = world->systems->list[order->systems[at]];
        for (uint32_t i = 0; i < graph->edge_count; i++)
            if (graph->edges[i].to == at && waves[graph->edges[i].from] >= waves[at])
                waves[at] = waves[graph->edges[i].from] + 1;
        for (uint32_t i = 0; i < at && !system->is_sync_point; i++) {
            const ecs_system* earlier = world->systems->list[order->systems[i]];
            if (earlier->is_sync_point || waves[i] < waves[at]) continue;
            if (ecs_declared_conflict(world, earlier, system).kind != ECS_CONFLICT_NONE)
                waves[at] = waves[i] + 1;
        }
    }
}

void ecs_waves_seal(ecs_world* world, ecs_stage_info* stage) {
    ecs_system_order* order = &stage->order;
    const uint32_t count = order->count;
    if (count == 0) return;
    order_graph graph = {.allocator = world->allocator};
    uint32_t* waves = base_allocate(world->allocator, 2 * count * sizeof *waves);
    uint32_t* systems = waves + count;
    build_graph(world, &graph, order);
    BASE_ARRAY_RESERVE(world->allocator, stage->waves, stage->wave_capacity, count);
    find_waves(world, order, &graph, waves);
    // Stable: one pass per wave.
    for (uint32_t wave = 0, placed = 0; placed < count; wave++) {
        for (uint32_t i = 0; i < count; i++) {
            if (waves[i] != wave) continue;
            systems[placed] = order->systems[i];
            stage->waves[placed++] = wave;
        }
    }
    memcpy(order->systems, systems, count * sizeof *systems);
    base_release(world->allocator, waves, 2 * count * sizeof *waves);
    free_graph(&graph);
}
