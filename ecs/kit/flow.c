// SPDX-License-Identifier: MIT
// Dijkstra from the goals on, over four neighbours. A step costs 1 to 16, so the queue is a ring of
// lists. What waits is a tile together with the side from which it was reached, so each has one
// place in a list; when it was reached by a shorter way meanwhile, it is skipped. The distances are
// the least ones in whatever order: they follow from map, gates and goals.
#include "ecs/flow.h"

#include "base/assert.h"

#include <string.h>

#define NONE UINT32_MAX
#define RING 32u

static const int32_t sides[8][2] = {{1, 0}, {0, 1},  {-1, 0},  {0, -1},
                                    {1, 1}, {-1, 1}, {-1, -1}, {1, -1}};

// `fields` of distances, before the four links of each tile.
static uint32_t* flow_open(ecs_flow* flow, ecs_world* world, const ecs_tiles* tiles,
                           uint32_t fields) {
    const size_t count = (size_t)tiles->columns * tiles->rows;
    uint32_t* memory = ecs_world_context(world, (count + 1) * (fields + 4) * sizeof *memory);
    *flow = (ecs_flow){.tiles = tiles, .links = memory + fields * count};
    return flow->made.distances = memory;
}

void ecs_flow_init(ecs_flow* flow, ecs_world* world, const ecs_tiles* tiles) {
    const size_t count = (size_t)tiles->columns * tiles->rows;
    flow->read.distances = flow_open(flow, world, tiles, 2) + count;
    memset(flow->made.distances, 0xff, 2 * count * sizeof(uint32_t));
}

static void key_add(ecs_flow_key* key, uint32_t tile) {
    uint32_t at = key->count;
    while (at > 0 && key->goals[at - 1] >= tile)
        at--;
    if (at == ECS_FLOW_GOALS_MAX || (at < key->count && key->goals[at] == tile)) return;
    key->count += key->count < ECS_FLOW_GOALS_MAX;
    memmove(&key->goals[at + 1], &key->goals[at], (key->count - 1 - at) * sizeof tile);
    key->goals[at] = tile;
}

static bool key_is_equal(const ecs_flow_key* a, const ecs_flow_key* b) {
    return a->open == b->open && a->count == b->count &&
           memcmp(a->goals, b->goals, a->count * sizeof a->goals[0]) == 0;
}

// A tile is `distance` away, reached from a side, unless it is known to be nearer.
static inline void queue_add(ecs_flow* flow, uint32_t tile, uint32_t side, uint32_t distance) {
    if (flow->made.distances[tile] <= distance) return;
    flow->made.distances[tile] = distance;
    flow->links[4 * tile + side] = flow->heads[distance % RING];
    flow->heads[distance % RING] = 4 * tile + side;
    flow->waiting++;
}

static void field_begin(ecs_flow* flow, const ecs_flow_key* key) {
    const ecs_tiles* tiles = flow->tiles;
    flow->made.key = *key;
    flow->reached = flow->waiting = 0;
    for (uint32_t i = 0; i < BASE_COUNT(tiles->glyphs); i++)
        flow->costs[i] = tiles->glyphs[i].cost[(tiles->glyphs[i].gate & key->open) != 0];
    memset(flow->made.distances, 0xff, (size_t)tiles->columns * tiles->rows * sizeof(uint32_t));
    memset(flow->heads, 0xff, sizeof flow->heads);
    for (uint32_t i = 0; i < key->count; i++)
        queue_add(flow, key->goals[i], 0, 0);
}

// A goal in a gate that was shut is still a goal: a step onto it costs as the cheapest.
static inline uint32_t step_cost(uint32_t cost) {
    return cost > 0 ? cost : 1;
}

static void field_work(ecs_flow* flow, uint32_t budget) {
    const uint32_t columns = flow->tiles->columns, rows = flow->tiles->rows;
    const uint8_t *map = flow->tiles->map, *costs = flow->costs;
    while (budget > 0 && flow->waiting > 0) {
        uint32_t* head = &flow->heads[flow->reached % RING];
        if (*head == NONE) {
            flow->reached++;
            continue;
        }
        const uint32_t tile = *head / 4, column = tile % columns;
        *head = flow->links[*head];
        flow->waiting--;
        if (flow->made.distances[tile] != flow->reached) continue;
        budget--;
        const uint32_t next = flow->reached + step_cost(costs[map[tile]]);
        if (column + 1 < columns && costs[map[tile + 1]]) queue_add(flow, tile + 1, 0, next);
        if (column > 0 && costs[map[tile - 1]]) queue_add(flow, tile - 1, 1, next);
        if (tile / columns + 1 < rows && costs[map[tile + columns]])
            queue_add(flow, tile + columns, 2, next);
        if (tile >= columns && costs[map[tile - columns]]) queue_add(flow, tile - columns, 3, next);
    }
}

void ecs_flow_goal(ecs_flow* flow, ecs_tick tick, ecs_vec2 place, uint64_t* kept) {
    // One more than the tile, so that a template's 0 is none: of `next` in the upper half.
    if (tick % ECS_FLOW_TICKS == 0)
        *kept = *kept >> 32 | (uint64_t)(ecs_tiles_at(flow->tiles, place) + 1) << 32;
    const uint32_t now = (uint32_t)*kept, next = (uint32_t)(*kept >> 32);
    const uint32_t count = flow->tiles->columns * flow->tiles->rows;
    if (now > 0 && now <= count) key_add(&flow->now, now - 1);
    if (next > 0 && next <= count) key_add(&flow->next, next - 1);
}

void ecs_tiles_flow(ecs_flow* flow, ecs_tick tick, uint64_t open, uint64_t* now, uint64_t* next) {
    const uint32_t count = flow->tiles->columns * flow->tiles->rows;
    if (tick % ECS_FLOW_TICKS == 0) *now = *next;
    if (tick % ECS_FLOW_TICKS == 0) *next = open;
    flow->now.open = *now;
    flow->next.open = *next;
    if (!key_is_equal(&flow->read.key, &flow->now)) {
        if (!key_is_equal(&flow->made.key, &flow->now)) field_begin(flow, &flow->now);
        field_work(flow, UINT32_MAX);
        const ecs_flow_field made = flow->made;
        flow->made = flow->read; // its key is another one than `next`, or it is done
        flow->read = made;
    }
    if (!key_is_equal(&flow->made.key, &flow->next)) field_begin(flow, &flow->next);
    field_work(flow, count / ECS_FLOW_TICKS + 1);
    flow->now.count = flow->next.count = 0;
}

// Onto a neighbour that is one step of the cheapest way, or better, across a corner, two of them.
bool ecs_flow_way(const ecs_flow* flow, ecs_vec2 place, ecs_vec2* to) {
    const ecs_tiles* tiles = flow->tiles;
    const uint32_t tile = ecs_tiles_at(tiles, place), columns = tiles->columns;
    if (tile == NONE || flow->read.distances[tile] == 0) return false;
    uint32_t least = NONE, best = NONE, around[4] = {0};
    for (uint32_t side = 0; side < 8; side++) {
        const uint32_t row = tile / columns + (uint32_t)sides[side][1];
        const uint32_t column = tile % columns + (uint32_t)sides[side][0];
        uint32_t first = 0; // what the corner costs
        if (side >= 4) {
            const uint32_t a = around[side - 4], b = around[(side - 3) % 4];
            if (a == 0 || b == 0) continue;
            first = a < b ? a : b;
        }
        if (column >= columns || row >= tiles->rows) continue;
        const uint32_t next = row * columns + column,
                       cost = ecs_tiles_cost(tiles, flow->read.key.open, next);
        if (side < 4) around[side] = cost;
        const uint32_t distance = flow->read.distances[next];
        if (distance == NONE || distance + first + step_cost(cost) > least) continue;
        least = distance + first + step_cost(cost);
        best = next;
    }
    if (best != NONE) *to = ecs_tiles_middle(tiles, best);
    return best != NONE;
}

void ecs_flows_init(ecs_flows* flows, ecs_world* world, const ecs_tiles* tiles, uint32_t count) {
    BASE_ASSERT(flows && count > 0);
    *flows = (ecs_flows){ecs_world_context(world, count * sizeof *flows->all), count, 0};
    for (uint32_t i = 0; i < count; i++)
        (void)flow_open(&flows->all[i], world, tiles, 1);
}

// What a tile's way follows from is known when its own distance is: more work changes nothing.
bool ecs_flows_way(ecs_flows* flows, uint64_t open, ecs_vec2 place, ecs_vec2 goal, ecs_vec2* to) {
    ecs_flow* flow = flows->all;
    const uint32_t tile = ecs_tiles_at(flow->tiles, place);
    const ecs_flow_key key = {open, 1, {ecs_tiles_at(flow->tiles, goal)}};
    if (tile == NONE || key.goals[0] == NONE) return false;
    bool is_there = false;
    for (ecs_flow* each = flow; each < flows->all + flows->count && !is_there; each++) {
        is_there = key_is_equal(&each->read.key, &key);
        if (is_there || each->used < flow->used) flow = each;
    }
    if (!is_there) {
        field_begin(flow, &key);
        flow->read = flow->made;
    }
    flow->used = ++flows->uses;
    while (flow->waiting > 0 && flow->reached <= flow->read.distances[tile])
        field_work(flow, RING);
    return ecs_flow_way(flow, place, to);
}
