// SPDX-License-Identifier: MIT
// A dungeon of 256 x 256 tiles in rooms, with 48 doors of which one opens or shuts in every tick:
// 500 monsters look for four players, who run, and go after the nearest by flow and sweep.
#include "bench.h"

#include "ecs/ecs.h"
#include "ecs/flow.h"

enum { SIDE = 256, ROOM = 8, MONSTERS = 500, PLAYERS = 4, DOORS = 48 };
#define STEP 0.0625f

typedef struct dungeon {
    ecs_world* world;
    ecs_tiles tiles;
    ecs_flow flow;
    ecs_tick tick;
    uint64_t open, now, next, kept[PLAYERS];
    ecs_vec2 players[PLAYERS], monsters[MONSTERS];
    base_rng rng;
} dungeon;

static const ecs_tile_kind kinds[] = {
    {.glyph = '#', .is_opaque = true},
    {.glyph = '.', .cost = 1},
    {.glyph = '~', .cost = 3},
    {.glyph = 'A', .last = 'p', .open = '.', .is_opaque = true},
};

static ecs_vec2 place_of(dungeon* self) {
    ecs_vec2 place;
    uint32_t tile;
    do {
        tile = base_rng_below(&self->rng, SIDE * SIDE);
        place = ecs_tiles_middle(&self->tiles, tile);
    } while (ecs_tiles_cost(&self->tiles, 0, tile) == 0);
    return place;
}

static void* create_dungeon(void) {
    dungeon* self = bench_allocate(sizeof *self);
    const ecs_world_config config = ecs_world_config_default();
    bench_ok(ecs_world_create(&config, &self->world), "a world");
    self->rng = base_rng_make(256, 500);
    char* text = bench_allocate((size_t)SIDE * (SIDE + 1));
    for (uint32_t row = 0, at = 0; row < SIDE; row++, text[at++] = '\n')
        for (uint32_t column = 0; column < SIDE; column++) {
            const bool is_x = column % ROOM == 0, is_y = row % ROOM == 0;
            const bool is_gap = (is_x && row % ROOM == 4) || (is_y && column % ROOM == 4);
            char glyph = is_x || is_y ? '#' : base_rng_below(&self->rng, 8) ? '.' : '~';
            if (is_gap && base_rng_below(&self->rng, 4))
                glyph = (char)('A' + base_rng_below(&self->rng, DOORS));
            text[at++] = glyph;
        }
    uint32_t line;
    const char* wrong = ecs_tiles_read(&self->tiles, self->world, kinds, BASE_COUNT(kinds), 16.0f,
                                       STEP, text, (size_t)SIDE * (SIDE + 1), &line);
    bench_require(!wrong, "a map");
    ecs_flow_init(&self->flow, self->world, &self->tiles);
    self->open = base_rng_u64(&self->rng);
    for (uint32_t i = 0; i < PLAYERS; i++)
        self->players[i] = place_of(self);
    for (uint32_t i = 0; i < MONSTERS; i++)
        self->monsters[i] = place_of(self);
    return self;
}

static void monster_step(dungeon* self, ecs_vec2* monster) {
    ecs_vec2 to = self->players[0];
    for (uint32_t i = 1; i < PLAYERS; i++)
        if (ecs_vec2_distance(*monster, self->players[i]) < ecs_vec2_distance(*monster, to))
            to = self->players[i];
    const bool is_seen = ecs_vec2_distance(*monster, to) < 200.0f &&
                         ecs_tiles_sees(&self->tiles, self->open, *monster, to);
    if (!is_seen && !ecs_flow_way(&self->flow, *monster, &to)) return;
    const ecs_vec2 way = ecs_vec2_sub(to, *monster);
    const float length = ecs_vec2_length(way),
                speed = base_min(1.0f / base_max(length, 1.0f), 1.0f);
    *monster = ecs_tiles_move(&self->tiles, self->open, *monster, ecs_vec2_scale(way, speed), 6.0f);
}

static void run_dungeon(void* fixture) {
    dungeon* self = fixture;
    self->tick++;
    self->open ^= UINT64_C(1) << base_rng_below(&self->rng, DOORS);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        const ecs_vec2 way = {(float)base_rng_range(&self->rng, -48, 48) * STEP,
                              (float)base_rng_range(&self->rng, -48, 48) * STEP};
        self->players[i] = ecs_tiles_move(&self->tiles, self->open, self->players[i], way, 6.0f);
        ecs_flow_goal(&self->flow, self->tick, self->players[i], &self->kept[i]);
    }
    ecs_tiles_flow(&self->flow, self->tick, self->open, &self->now, &self->next);
    for (uint32_t i = 0; i < MONSTERS; i++)
        monster_step(self, &self->monsters[i]);
}

static void destroy_dungeon(void* fixture) {
    ecs_world_destroy(((dungeon*)fixture)->world);
}

bench_rows bench_rows_tiles(void) {
    static const bench_job chase = {{NULL, NULL}, {run_dungeon, NULL}, NULL, destroy_dungeon, NULL};
    static const bench_row rows[] = {
        {"tiles_500", "us_per_tick", 1, 1000, 16 * ECS_FLOW_TICKS, false, create_dungeon, &chase},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
