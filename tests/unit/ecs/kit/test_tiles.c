// SPDX-License-Identifier: MIT
// A map of tiles against simple twins: a square that goes in tiny steps, a line against each tile
// of the map, a flow against the shortest ways by repeated relaxing.

#include "test.h"

#include "base/hash.h"
#include "ecs/ecs.h"
#include "ecs/flow.h"

enum { COLUMNS = 24, ROWS = 18, TILES = COLUMNS * ROWS };
#define SIZE 16.0f
#define STEP 0.0625f

static const ecs_tile_kind kinds[] = {
    {.glyph = '#', .is_opaque = true},
    {.glyph = '.', .cost = 1},
    {.glyph = '~', .cost = 4},
    {.glyph = '=', .is_opaque = false},           // water: solid, and one sees across
    {.glyph = '%', .cost = 2, .is_opaque = true}, // a bush
    {.glyph = 'a', .last = 'd', .open = '.', .is_opaque = true},
};

typedef struct ground {
    ecs_world* world;
    ecs_tiles tiles;
    ecs_flow flow;
    base_rng rng;
} ground;

static void ground_open(ground* self) {
    const ecs_world_config config = ecs_world_config_default();
    assert_ok(ecs_world_create(&config, &self->world));
    self->rng = base_rng_make(20261129, 1);
}
static void ground_close(ground* self) {
    ecs_world_destroy(self->world);
}
#define GROUND_CASE(name) CASE_WITH(ground, g, ground_open(g), ground_close(g), name)

static const char* ground_read(ground* g, const char* text, uint32_t* line) {
    return ecs_tiles_read(&g->tiles, g->world, kinds, BASE_COUNT(kinds), SIZE, STEP, text,
                          strlen(text), line);
}

// A map at random, a third of it in the way.
static void ground_scatter(ground* g, uint32_t solid_percent) {
    char text[TILES + ROWS + 1], *end = text;
    for (uint32_t i = 0; i < TILES; i++) {
        const bool is_solid = base_rng_below(&g->rng, 100) < solid_percent;
        *end++ = is_solid ? "###=abcd"[base_rng_below(&g->rng, 8)]
                          : "......~%"[base_rng_below(&g->rng, 8)];
        if (i % COLUMNS == COLUMNS - 1) *end++ = '\n';
    }
    *end = 0;
    uint32_t line;
    assert_null(ground_read(g, text, &line));
    assert_int_equal(g->tiles.columns, COLUMNS);
    assert_int_equal(g->tiles.rows, ROWS);
}

static ecs_vec2 place_at(ground* g) {
    return (ecs_vec2){(float)base_rng_below(&g->rng, COLUMNS * 256) * STEP,
                      (float)base_rng_below(&g->rng, ROWS * 256) * STEP};
}

static bool is_solid_at(const ecs_tiles* tiles, uint64_t open, int32_t column, int32_t row) {
    if (column < 0 || row < 0 || column >= COLUMNS || row >= ROWS) return true;
    return ecs_tiles_cost(tiles, open, (uint32_t)(row * COLUMNS + column)) == 0;
}

static bool is_opaque_at(const ecs_tiles* tiles, uint64_t open, uint32_t tile) {
    const ecs_tile_glyph* glyph = &tiles->glyphs[tiles->map[tile]];
    return glyph->is_opaque[(glyph->gate & open) != 0];
}

// Whether something solid is in an area of steps.
static bool is_within(const ecs_tiles* tiles, uint64_t open, const int32_t low[2],
                      const int32_t high[2]) {
    for (int32_t row = (low[1] + 4096) / 256; row <= (high[1] + 4095) / 256; row++)
        for (int32_t column = (low[0] + 4096) / 256; column <= (high[0] + 4095) / 256; column++)
            if (is_solid_at(tiles, open, column - 16, row - 16)) return true;
    return false;
}

// One step of one axis at a time, in the order in which the way comes to them. While an axis is
// between two steps the square is in both.
static void square_creep(const ecs_tiles* tiles, uint64_t open, int32_t half, int32_t at[2],
                         const int32_t way[2]) {
    const int64_t length[2] = {abs(way[0]), abs(way[1])};
    const int32_t from[2] = {at[0], at[1]};
    int64_t done[2] = {0, 0};
    bool is_stopped[2] = {false, false};
    while (done[0] < length[0] || done[1] < length[1]) {
        const bool is_x = done[0] * length[1] <= done[1] * length[0];
        const uint32_t axis = done[1] >= length[1] || (done[0] < length[0] && is_x) ? 0 : 1;
        const uint32_t other = 1 - axis;
        const int32_t sign = way[axis] > 0 ? 1 : -1;
        const int64_t whole = done[axis]++ * length[other] / length[axis];
        if (is_stopped[axis]) continue;
        int32_t rear = from[other] + (int32_t)(way[other] > 0 ? whole : -whole);
        if (is_stopped[other]) rear = at[other];
        int32_t low[2], high[2];
        low[axis] = at[axis] + sign - half;
        high[axis] = at[axis] + sign + half;
        low[other] = (rear < at[other] ? rear : at[other]) - half;
        high[other] = (rear > at[other] ? rear : at[other]) + half;
        if (is_within(tiles, open, low, high))
            is_stopped[axis] = true;
        else
            at[axis] += sign;
    }
}

GROUND_CASE(a_square_ends_where_tiny_steps_end) {
    uint64_t hash = 0;
    uint32_t stopped = 0, counted = 0;
    for (uint32_t run = 0; run < 4000; run++) {
        if (run % 100 == 0) ground_scatter(g, 30);
        const uint64_t open = base_rng_below(&g->rng, 16);
        const int32_t half = 1 + (int32_t)base_rng_below(&g->rng, 127);
        const ecs_vec2 place = place_at(g);
        int32_t at[2] = {(int32_t)(place.x / STEP), (int32_t)(place.y / STEP)};
        const int32_t low[2] = {at[0] - half, at[1] - half};
        const int32_t high[2] = {at[0] + half, at[1] + half};
        if (is_within(&g->tiles, open, low, high)) continue;
        const int32_t way[2] = {base_rng_range(&g->rng, -1500, 1500),
                                base_rng_range(&g->rng, -1500, 1500)};
        const ecs_vec2 to = ecs_tiles_move(&g->tiles, open, place,
                                           (ecs_vec2){(float)way[0] * STEP, (float)way[1] * STEP},
                                           (float)half * STEP);
        hash = base_hash64(&to, sizeof to, hash);
        const int32_t before[2] = {at[0], at[1]};
        square_creep(&g->tiles, open, half, at, way);
        stopped += at[0] != before[0] + way[0] || at[1] != before[1] + way[1];
        counted++;
        if (to.x != (float)at[0] * STEP || to.y != (float)at[1] * STEP)
            fail_msg("run %u: %g,%g and not %g,%g", run, (double)to.x, (double)to.y,
                     (double)((float)at[0] * STEP), (double)((float)at[1] * STEP));
    }
    assert_in_range(stopped, counted / 2, counted - 1);
    assert_int_equal(hash, UINT64_C(0x4f50f8c3a2257ddf));
}

// Whether a line goes through the inside of a tile.
static bool is_crossing(const int64_t a[2], const int64_t b[2], int64_t low_x, int64_t low_y,
                        int64_t span) {
    // The tile against the line: the signs of the four corners, and the boxes of both.
    const int64_t high_x = low_x + span, high_y = low_y + span;
    if ((a[0] < low_x && b[0] < low_x) || (a[0] > high_x && b[0] > high_x)) return false;
    if ((a[1] < low_y && b[1] < low_y) || (a[1] > high_y && b[1] > high_y)) return false;
    const int64_t x[4] = {low_x, high_x, low_x, high_x}, y[4] = {low_y, low_y, high_y, high_y};
    uint32_t above = 0, below = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const int64_t side = (b[0] - a[0]) * (y[i] - a[1]) - (b[1] - a[1]) * (x[i] - a[0]);
        above += side > 0;
        below += side < 0;
    }
    return above > 0 && below > 0;
}

// Whether a line goes through a corner between two opaque tiles.
static bool is_corner_shut(const ecs_tiles* tiles, uint64_t open, const int64_t a[2],
                           const int64_t b[2], int64_t column, int64_t row) {
    const int64_t x = column * 512, y = row * 512, dx = b[0] - a[0], dy = b[1] - a[1];
    if ((x - a[0]) * dy != (y - a[1]) * dx || (x - a[0]) * (x - b[0]) >= 0) return false;
    const int64_t up = (row - 1) * COLUMNS, down = row * COLUMNS;
    const int64_t one = dx * dy > 0 ? up + column : up + column - 1;
    const int64_t two = dx * dy > 0 ? down + column - 1 : down + column;
    return is_opaque_at(tiles, open, (uint32_t)one) && is_opaque_at(tiles, open, (uint32_t)two);
}

GROUND_CASE(a_line_ends_at_the_first_opaque_tile) {
    uint64_t hash = 0;
    uint32_t seen = 0;
    for (uint32_t run = 0; run < 4000; run++) {
        if (run % 100 == 0) ground_scatter(g, 10);
        const uint64_t open = base_rng_below(&g->rng, 16);
        ecs_vec2 eye = place_at(g), place = place_at(g);
        if (run % 4 == 0) { // exactly through corners
            eye = ecs_tiles_middle(&g->tiles, base_rng_below(&g->rng, TILES));
            place = ecs_tiles_middle(&g->tiles, base_rng_below(&g->rng, TILES));
        }
        const int64_t a[2] = {2 * (int64_t)(eye.x / STEP) + 1, 2 * (int64_t)(eye.y / STEP) + 1};
        const int64_t b[2] = {2 * (int64_t)(place.x / STEP) + 1, 2 * (int64_t)(place.y / STEP) + 1};
        const uint32_t first = ecs_tiles_at(&g->tiles, eye);
        bool is_hidden = false;
        for (uint32_t tile = 0; tile < TILES; tile++) {
            const uint32_t column = tile % COLUMNS, row = tile / COLUMNS;
            if (tile != first && is_opaque_at(&g->tiles, open, tile))
                is_hidden |= is_crossing(a, b, column * 512, row * 512, 512);
            if (column > 0 && row > 0)
                is_hidden |= is_corner_shut(&g->tiles, open, a, b, column, row);
        }
        const bool is_seen = ecs_tiles_sees(&g->tiles, open, eye, place);
        if (is_seen == is_hidden) fail_msg("run %u: seen %d", run, is_seen);
        seen += is_seen;
        const float part =
            ecs_tiles_reach(&g->tiles, open, eye, ecs_vec2_sub(place, eye), ECS_TILE_SOLID);
        hash = base_hash64(&part, sizeof part, hash);
    }
    assert_in_range(seen, 400, 3600);
    assert_int_equal(hash, UINT64_C(0x4e654de455a1f189));
}

GROUND_CASE(a_square_leaves_a_gate_that_shuts_and_enters_none) {
    uint32_t line;
    assert_null(ground_read(g, "#####\n#.a.#\n#####\n", &line));
    const ecs_vec2 gate = ecs_tiles_middle(&g->tiles, 7), left = {-100.0f, 3.0f};
    const uint64_t open = ecs_tiles_gate(&g->tiles, gate);
    assert_int_equal(open, 1);
    assert_int_equal(ecs_tiles_gate(&g->tiles, (ecs_vec2){-1.0f, 8.0f}), 0);
    const ecs_vec2 out = ecs_tiles_move(&g->tiles, 0, gate, left, 8.0f);
    assert_true(out.x == 24.0f && out.y == 24.0f);
    const ecs_vec2 back = ecs_tiles_move(&g->tiles, 0, out, (ecs_vec2){1e30f, -1e30f}, 8.0f);
    assert_true(back.x == 24.0f && back.y == 24.0f);
    const ecs_vec2 through = ecs_tiles_move(&g->tiles, open, out, (ecs_vec2){1e30f, 0.0f}, 8.0f);
    assert_true(through.x == 56.0f);
    uint32_t tile = 0, found = 0;
    for (ecs_vec2 middle; ecs_tiles_find(&g->tiles, '.', &tile, &middle); found++)
        assert_true(middle.y == 24.0f);
    assert_int_equal(found, 2);
}

GROUND_CASE(a_text_that_is_no_map_is_refused_by_its_line) {
    static char wide[ECS_TILES_SIDE_MAX + 2], high[2 * ECS_TILES_SIDE_MAX + 2];
    memset(wide, '.', sizeof wide - 1);
    for (uint32_t i = 0; i < sizeof high - 1; i++)
        high[i] = i % 2 ? '\n' : '.';
    const struct {
        const char *text, *wrong;
        uint32_t line;
    } rows[] = {
        {"", "no tiles", 1},
        {"\n\n", "no tiles", 1},
        {"...\r\n..#\r\n.e.\n", "no kind of tile", 3},
        {"..\n\xc3\xa4", "no kind of tile", 2},
        {wide, "1,024 tiles", 1},
        {high, "1,024 lines", ECS_TILES_SIDE_MAX + 1},
    };
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        uint32_t line = 0;
        const char* wrong = ground_read(g, rows[i].text, &line);
        assert_non_null(wrong);
        assert_non_null(strstr(wrong, rows[i].wrong));
        assert_int_equal(line, rows[i].line);
        assert_int_equal(ecs_tiles_at(&g->tiles, (ecs_vec2){1.0f, 1.0f}), UINT32_MAX);
    }
    uint32_t line; // a short row is filled up
    assert_null(ground_read(g, ".\r\n...", &line));
    assert_int_equal(g->tiles.columns * g->tiles.rows, 6);
    assert_int_equal(ecs_tiles_cost(&g->tiles, 0, 1), 0);
}

// Goals that walk, and the components of a flow.
enum { GOALS = 5 };
typedef struct herd {
    ecs_vec2 places[GOALS];
    uint64_t kept[GOALS], open, now, next;
} herd;

static void herd_step(herd* self, ecs_flow* flow, ecs_tick tick) {
    for (uint32_t i = 0; i < GOALS; i++)
        ecs_flow_goal(flow, tick, self->places[i], &self->kept[i]);
    ecs_tiles_flow(flow, tick, self->open, &self->now, &self->next);
}

// The cheapest way of each tile, by going over all tiles until none changes.
static void relax(const ecs_tiles* tiles, const herd* all, uint32_t distances[TILES]) {
    memset(distances, 0xff, TILES * sizeof distances[0]);
    for (uint32_t i = 0; i < GOALS; i++)
        distances[ecs_tiles_at(tiles, all->places[i])] = 0;
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (int32_t i = 0; i < TILES * 4; i++) {
            const int32_t at = i / 4, side = i % 4;
            const int32_t column = at % COLUMNS + (side == 0) - (side == 1);
            const int32_t row = at / COLUMNS + (side == 2) - (side == 3);
            const int32_t to = row * COLUMNS + column;
            if (column < 0 || row < 0 || column >= COLUMNS || row >= ROWS) continue;
            if (is_solid_at(tiles, all->open, at % COLUMNS, at / COLUMNS)) continue;
            if (distances[to] == UINT32_MAX) continue;
            const uint32_t cost = ecs_tiles_cost(tiles, all->open, (uint32_t)to);
            const uint32_t sum = distances[to] + (cost ? cost : 1);
            if (sum >= distances[at]) continue;
            distances[at] = sum;
            is_changed = true;
        }
    }
}

GROUND_CASE(a_flow_at_rest_is_the_cheapest_way_and_a_restored_one_has_its_bits) {
    uint64_t hash = 0;
    uint32_t led = 0;
    herd all = {0};
    for (ecs_tick tick = 1; tick <= 1920; tick++) {
        if (tick % 480 == 1) ground_scatter(g, 28);
        if (tick % 480 == 1) ecs_flow_init(&g->flow, g->world, &g->tiles);
        if (tick % 96 < 48) { // the other half of the time all is at rest
            all.places[base_rng_below(&g->rng, GOALS)] = place_at(g);
            all.open ^= base_rng_below(&g->rng, 10) ? 0 : 1u << base_rng_below(&g->rng, 4);
        }
        herd_step(&all, &g->flow, tick);
        ecs_flow again;
        ecs_flow_init(&again, g->world, &g->tiles);
        herd copy = all; // what a save has
        if (tick % ECS_FLOW_TICKS != 0) herd_step(&copy, &again, tick);
        uint32_t distances[TILES];
        if (tick % 96 == 95) relax(&g->tiles, &all, distances);
        for (uint32_t tile = 0; tile < TILES; tile++) {
            ecs_vec2 to = {0.0f, 0.0f}, same = to, from = ecs_tiles_middle(&g->tiles, tile);
            const bool is_led = ecs_flow_way(&g->flow, from, &to);
            hash = base_hash64(&to, sizeof to, hash);
            if (tick % ECS_FLOW_TICKS != 0) {
                assert_int_equal(ecs_flow_way(&again, from, &same), is_led);
                assert_memory_equal(&to, &same, sizeof to);
            }
            if (tick % 96 != 95 || ecs_tiles_cost(&g->tiles, all.open, tile) == 0) continue;
            assert_int_equal(is_led, distances[tile] != UINT32_MAX && distances[tile] > 0);
            if (!is_led) continue;
            led++;
            const uint32_t next = ecs_tiles_at(&g->tiles, to);
            const uint32_t cost = ecs_tiles_cost(&g->tiles, all.open, next);
            const uint32_t corners[2] = {
                ecs_tiles_cost(&g->tiles, all.open,
                               ecs_tiles_at(&g->tiles, (ecs_vec2){to.x, from.y})),
                ecs_tiles_cost(&g->tiles, all.open,
                               ecs_tiles_at(&g->tiles, (ecs_vec2){from.x, to.y}))};
            const bool is_straight = to.x == from.x || to.y == from.y;
            assert_true(is_straight || (corners[0] && corners[1]));
            const uint32_t corner = corners[0] < corners[1] ? corners[0] : corners[1];
            assert_int_equal(distances[tile],
                             distances[next] + (cost ? cost : 1) + (is_straight ? 0 : corner));
        }
    }
    assert_true(led > 1000);
    assert_int_equal(hash, UINT64_C(0x554d246cfeb072ea));
}

GROUND_CASE(a_way_to_a_goal_does_not_depend_on_the_fields_of_a_table) {
    enum { PLACES = 6 };
    ecs_vec2 goals[PLACES];
    ecs_flows flows = {0};
    uint64_t hash = 0;
    uint32_t led = 0;
    for (uint32_t run = 0; run < 2000; run++) {
        if (run % 100 == 0) {
            ground_scatter(g, 28);
            ecs_flow_init(&g->flow, g->world, &g->tiles);
            ecs_flows_init(&flows, g->world, &g->tiles, 1 + run / 500);
            for (uint32_t i = 0; i < PLACES; i++)
                goals[i] = place_at(g);
        }
        const ecs_vec2 goal = goals[base_rng_below(&g->rng, PLACES)], from = place_at(g);
        uint64_t now = base_rng_below(&g->rng, 3), next = now;
        uint64_t kept = (ecs_tiles_at(&g->tiles, goal) + 1) * UINT64_C(0x100000001);
        ecs_flow_goal(&g->flow, 1, goal, &kept);
        ecs_tiles_flow(&g->flow, 1, 0, &now, &next);
        ecs_vec2 to = {0.0f, 0.0f}, same = to;
        const bool is_led = ecs_flow_way(&g->flow, from, &to);
        assert_int_equal(ecs_flows_way(&flows, now, from, goal, &same), is_led);
        assert_memory_equal(&to, &same, sizeof to);
        hash = base_hash64(&to, sizeof to, hash);
        led += is_led;
    }
    assert_in_range(led, 1000, 1990);
    assert_int_equal(hash, UINT64_C(0x7599f6aa3bba64f9));
    ecs_vec2 to;
    assert_false(ecs_flows_way(&flows, 0, (ecs_vec2){-1.0f, 1.0f}, goals[0], &to));
    assert_false(ecs_flows_way(&flows, 0, goals[0], (ecs_vec2){1.0f, 1e9f}, &to));
}

GROUND_CASE(of_too_many_goals_those_of_the_lowest_tiles_count) {
    uint32_t line;
    char text[101];
    memset(text, '.', 100);
    text[100] = 0;
    assert_null(ground_read(g, text, &line));
    ecs_flow_init(&g->flow, g->world, &g->tiles);
    uint64_t now = 0, next = 0, kept[101] = {0};
    for (ecs_tick tick = 16; tick <= 32; tick += 16) {
        for (uint32_t i = 0; i < 101; i++) { // some twice, and one outside of the map
            const ecs_vec2 place = {(float)(i * 37 % 101) * SIZE, i == 50 ? -1.0f : 1.0f};
            ecs_flow_goal(&g->flow, tick, place, &kept[i]);
        }
        ecs_tiles_flow(&g->flow, tick, 0, &now, &next);
    }
    assert_int_equal(g->flow.read.key.count, ECS_FLOW_GOALS_MAX);
    ecs_vec2 to;
    assert_false(ecs_flow_way(&g->flow, (ecs_vec2){8.0f, 8.0f}, &to));
    assert_true(ecs_flow_way(&g->flow, (ecs_vec2){90.0f * SIZE + 1.0f, 8.0f}, &to));
    assert_true(to.x == 89.5f * SIZE);
    assert_false(ecs_flow_way(&g->flow, (ecs_vec2){-1.0f, 8.0f}, &to));
}
