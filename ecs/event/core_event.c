// SPDX-License-Identifier: MIT
// Core events of structure: created, recreated, destroyed, components that appear and disappear.
//
// What a change means depends on two archetypes only, so it is found once per pair and kept as an
// edge: which handlers run before the change, which run after it, which systems' member lists it
// touches. An archetype knows the edges of creation and destruction, and one word of it says
// whether any handler or member list exists: the common case is a test of that word.
//
// Handlers run at the place of the change and not from the queue: before a destruction the values
// must still be there. Structure is deferred meanwhile, so an edge never calls into itself; what
// handlers record goes to the end of the queue of commands.
//
// Invariants: calls of an edge are in the order of handlers that seal decided. Bulk and batch paths
// are taken only where no handler and no member list exists, so a handler sees the world as if
// changes were made one at a time.
#include "event/systems.h"

#include "base/assert.h"
#include "event/command_queue.h"
#include "event/event_queue.h"
#include "table/query_cache.h"
#include "table/storage.h"
#include "type/world.h"

static bool wants(const ecs_system* system, const ecs_archetype* archetype) {
    return archetype && (!system->query || ecs_query_wants(system->query, archetype));
}

// Add the handlers of an event among systems that want `is` and do not want `is_not` to the first
// `count` calls. Only counted when calls is NULL. @return how many calls there are.
static uint32_t find_calls(const ecs_world* world, uint32_t type, const ecs_archetype* is,
                           const ecs_archetype* is_not, ecs_call* calls, uint32_t count) {
    BASE_ASSERT(type < ECS_HANDLER_LISTS);
    const ecs_system_order* handlers = &world->systems->handlers[type];
    for (uint32_t i = 0; i < handlers->count; i++) {
        const ecs_system* system = world->systems->list[handlers->systems[i]];
        if (!wants(system, is) || wants(system, is_not)) continue;
        if (calls) calls[count] = (ecs_call){handlers->systems[i], type};
        count++;
    }
    return count;
}

static uint32_t find_members(const ecs_world* world, const ecs_archetype* is,
                             const ecs_archetype* is_not, ecs_call* calls, uint32_t count) {
    const ecs_systems* systems = world->systems;
    for (uint32_t i = 0; i < systems->count && systems->member_systems > 0; i++) {
        const ecs_system* system = systems->list[i];
        if (!system->has_members || !wants(system, is) || wants(system, is_not)) continue;
        if (calls) calls[count] = (ecs_call){i, ECS_EVENT_NONE};
        count++;
    }
    return count;
}

// Fill the counts of an edge, and its calls unless they are NULL: one of the archetypes may be
// NULL. @return how many calls.
static uint32_t fill_edge(const ecs_world* world, const ecs_archetype* from,
                          const ecs_archetype* to, ecs_edge* edge, ecs_call* calls) {
    uint32_t count = find_calls(world, ECS_EVENT_DISAPPEAR, from, to, calls, 0);
    if (!to) count = find_calls(world, ECS_EVENT_DESTROYED, from, NULL, calls, count);
    const uint32_t before = edge->before_count = count;
    const uint32_t made = !from ? ECS_EVENT_CREATED : ECS_EVENT_RECREATED;
    if (to) count = find_calls(world, made, to, NULL, calls, count);
    count = find_calls(world, ECS_EVENT_APPEAR, to, from, calls, count);
    edge->after_count = count - before;
    count = find_members(world, from, to, calls, count);
    edge->leave_count = count - before - edge->after_count;
    const uint32_t leave = count;
    count = find_members(world, to, from, calls, count);
    edge->enter_count = count - leave;
    return count;
}

static size_t edge_bytes(uint32_t calls) {
    return sizeof(ecs_edge) + sizeof(ecs_call) * calls;
}

static uint32_t count_calls(const ecs_world* world, const ecs_archetype* from,
                            const ecs_archetype* to) {
    ecs_edge counts;
    return fill_edge(world, from, to, &counts, NULL);
}

static ecs_edge* make_edge(const ecs_world* world, const ecs_archetype* from,
                           const ecs_archetype* to) {
    BASE_ASSERT(from || to);
    ecs_edge* edge = base_allocate_zero(world->allocator, edge_bytes(count_calls(world, from, to)));
    (void)fill_edge(world, from, to, edge, edge->calls);
    return edge;
}

static void free_edge(const ecs_world* world, ecs_edge* edge) {
    if (!edge) return;
    base_release(
        world->allocator, edge,
        edge_bytes(edge->before_count + edge->after_count + edge->leave_count + edge->enter_count));
}

// The edge of a creation (from NULL) or destruction, when one is needed.
static void bind_edge(const ecs_world* world, ecs_archetype* archetype, const ecs_archetype* from,
                      const ecs_archetype* to, ecs_edge** edge) {
    if (count_calls(world, from, to) == 0) return;
    archetype->notify |= to ? ECS_NOTIFY_CREATE : ECS_NOTIFY_DESTROY;
    *edge = make_edge(world, from, to);
}

void ecs_core_event_bind(ecs_world* world, ecs_archetype* archetype) {
    BASE_ASSERT(!archetype->on_create && !archetype->on_destroy);
    uint32_t moves = find_calls(world, ECS_EVENT_RECREATED, archetype, NULL, NULL, 0);
    moves = find_calls(world, ECS_EVENT_APPEAR, archetype, NULL, NULL, moves);
    moves = find_calls(world, ECS_EVENT_DISAPPEAR, archetype, NULL, NULL, moves);
    moves = find_members(world, archetype, NULL, NULL, moves);
    if (moves > 0) archetype->notify |= ECS_NOTIFY_MOVE;
    bind_edge(world, archetype, NULL, archetype, &archetype->on_create);
    bind_edge(world, archetype, archetype, NULL, &archetype->on_destroy);
}

void ecs_core_event_unbind(ecs_world* world, ecs_archetype* archetype) {
    free_edge(world, archetype->on_create);
    free_edge(world, archetype->on_destroy);
    archetype->on_create = archetype->on_destroy = NULL;
    ecs_core_event_clear(world); // its number may be given to another: moves are found again
}

// Moves

ecs_edge* ecs_core_event_move(ecs_world* world, const ecs_archetype* from,
                              const ecs_archetype* to) {
    BASE_ASSERT(from && to);
    ecs_edges* edges = &world->systems->edges;
    const uint64_t key = (uint64_t)from->id << 32 | to->id;
    uint32_t found = base_table_find(&edges->table, key);
    if (found != BASE_TABLE_NONE) return edges->items[found];
    base_table_reserve(&edges->table, world->allocator, edges->count + 1);
    BASE_ARRAY_RESERVE(world->allocator, edges->items, edges->capacity, edges->count + 1);
    ecs_edge* made = make_edge(world, from, to);
    base_table_add(&edges->table, key, edges->count);
    edges->items[edges->count++] = made;
    return made;
}

void ecs_core_event_clear(ecs_world* world) {
    ecs_edges* edges = &world->systems->edges;
    for (uint32_t i = 0; i < edges->count; i++)
        free_edge(world, edges->items[i]);
    edges->count = 0;
    base_table_clear(&edges->table);
}

// Calls

// What the core was doing when it called a handler.
typedef struct interruption {
    bool was_flushing;
    uint32_t created_count;
} interruption;

// Handlers run as systems do: whatever they want of structure is recorded.
static interruption interrupt(ecs_world* world) {
    ecs_commands* commands = world->commands;
    BASE_ASSERT(world->fast.walk_depth == 0);
    interruption kept = {commands->is_flushing, commands->view.created_count};
    commands->is_flushing = false;
    ecs_runway_return(world);
    world->fast.stage_depth++;
    return kept;
}

static void resume(ecs_world* world, interruption kept) {
    ecs_commands* commands = world->commands;
    BASE_ASSERT(world->fast.walk_depth == 0 && "a handler left a walk open");
    world->fast.stage_depth--;
    commands->is_flushing = kept.was_flushing;
    atomic_store_explicit(&world->systems->mark.system, NULL, memory_order_relaxed);
    // Creations that the handlers recorded stand for nothing until this flush comes to them.
    for (uint32_t i = kept.created_count; i < commands->view.created_count; i++)
        commands->created[i] = ECS_ENTITY_NONE;
}

static ecs_stage stage_now(ecs_world* world) {
    ecs_stage stage = world->systems->now;
    if (!stage.world) stage = (ecs_stage){.world = world, .tick = world->tick};
    return stage;
}

static void notify(ecs_world* world, const ecs_call* calls, uint32_t count, ecs_entity entity) {
    if (count == 0) return;
    interruption kept = interrupt(world);
    ecs_stage stage = stage_now(world);
    ecs_query_iter iter;
    for (uint32_t i = 0; i < count; i++) {
        ecs_event event = {.type = (ecs_event_type)calls[i].type, .target = entity};
        ecs_system* system = world->systems->list[calls[i].system];
        world->counters.events_delivered += i == 0 || calls[i].type != calls[i - 1].type;
        if (!system->query) {
            ecs_system_call_rows(world, system, &stage, &event);
            continue;
        }
        stage.context = system->context;
        bool is_there = ecs_query_find(world, system->query, entity, &iter);
        BASE_ASSERT(is_there);
        ecs_handler_enter(world, system, entity);
        system->on_event(&stage, &event, &iter.rows);
    }
    resume(world, kept);
}

void ecs_core_event_before(ecs_world* world, const ecs_edge* edge, ecs_entity entity) {
    notify(world, edge->calls, edge->before_count, entity);
}

void ecs_core_event_after(ecs_world* world, const ecs_edge* edge, ecs_entity entity) {
    BASE_ASSERT(entity != ECS_ENTITY_NONE);
    const ecs_call* members = edge->calls + edge->before_count + edge->after_count;
    for (uint32_t i = 0; i < edge->leave_count; i++)
        ecs_membership_leave(world, &world->systems->list[members[i].system]->members, entity);
    members += edge->leave_count;
    for (uint32_t i = 0; i < edge->enter_count; i++)
        ecs_membership_enter(world, &world->systems->list[members[i].system]->members, entity);
    notify(world, edge->calls + edge->before_count, edge->after_count, entity);
}

void ecs_core_event_broadcast(ecs_world* world, uint32_t type) {
    BASE_ASSERT(type < ECS_HANDLER_LISTS);
    const ecs_system_order* handlers = &world->systems->handlers[type];
    if (handlers->count == 0) return;
    interruption kept = interrupt(world);
    ecs_stage stage = stage_now(world);
    ecs_event event = {.type = (ecs_event_type)type};
    world->counters.events_delivered++;
    for (uint32_t i = 0; i < handlers->count; i++)
        ecs_system_call_rows(world, world->systems->list[handlers->systems[i]], &stage, &event);
    resume(world, kept);
}
