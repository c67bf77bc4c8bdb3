// SPDX-License-Identifier: MIT
// The prediction world beside the server's world. The same inputs give the same pad and ball.
// Nothing else of the game happens in the prediction world.

#include "breakout_table.h"

typedef struct pair {
    table server;
    net_match* ahead;
    ecs_entity player;
} pair;

static void open_pair(pair* p, const char* const* settings, uint32_t setting_count) {
    table_open(&p->server, settings, setting_count, 21, NET_ROLE_SERVER, false);
    p->ahead = table_ahead(&p->server);
}

static void close_pair(pair* p) {
    net_match_destroy(p->ahead);
    table_close(&p->server);
}

#define PAIR_CASE(name, ...) CASE_WITH(pair, at, open_pair(at, __VA_ARGS__), close_pair(at), name)

// Pads and balls are already on the grid of the wire (assert_on_grid).
static void copy(pair* p) {
    table_replicate(&p->server, p->ahead);
}

static void join(pair* p) {
    table_join(&p->server, 1, "own");
    p->player = net_match_player(p->server.match, 1);
}

static void step_server(pair* p, int32_t move, bool is_launching) {
    table_input(&p->server, 1, &(breakout_input){move, is_launching});
    table_step(&p->server);
}

static void step_ahead(pair* p, ecs_tick tick, int32_t move, bool is_launching) {
    breakout_input input = {move, is_launching};
    ecs_world* world = net_match_world(p->ahead);
    assert_true(ecs_event_send(world, p->player, ecs_event_find(world, "pad_input"), &input));
    net_match_step_at(p->ahead, tick);
    assert_int_equal(ecs_changes_get(world).event_count, 0); // no event is listed
    ecs_changes_clear(world);
}

static void step_both(pair* p, int32_t move, bool is_launching) {
    step_server(p, move, is_launching);
    step_ahead(p, net_match_tick(p->server.match), move, is_launching);
}

static void assert_same(pair* p, ecs_entity entity, ecs_component_id component, size_t size) {
    const void* truth = ecs_get(table_world(&p->server), entity, component);
    const void* guess = ecs_get(net_match_world(p->ahead), entity, component);
    assert_memory_equal(truth, guess, size);
}

static void assert_same_ball(pair* p, ecs_entity ball) {
    const breakout_game* game = table_game(&p->server);
    assert_same(p, ball, game->pos, sizeof(ecs_vec2));
    assert_same(p, ball, game->vel, sizeof(ecs_vec2));
    const breakout_owner* truth = ecs_get(table_world(&p->server), ball, game->owner);
    const breakout_owner* guess = ecs_get(net_match_world(p->ahead), ball, game->owner);
    assert_int_equal(truth->pad, guess->pad);
    assert_int_equal(truth->is_held, guess->is_held);
}

static int32_t some_move(base_rng* rng, uint32_t tick) {
    static const int32_t moves[] = {-127, 127, 0};
    return tick % 7 < 4 ? moves[tick / 7 % 3] : base_rng_range(rng, -127, 127);
}

static void assert_on_grid(const ecs_vec2* value) {
    assert_true(value->x * 16.0f == base_floor(value->x * 16.0f));
    assert_true(value->y * 16.0f == base_floor(value->y * 16.0f));
}

// Destroy what replication would destroy: balls that were lost, and bricks that are rubble.
static void bury(pair* p) {
    ecs_world* truth = table_world(&p->server);
    ecs_world* ahead = net_match_world(p->ahead);
    breakout_game* game = net_match_context(p->ahead);
    ecs_query* const queries[] = {game->balls, game->bricks};
    static ecs_entity gone[BREAKOUT_COLUMNS * BREAKOUT_ROWS];
    for (uint32_t q = 0; q < BASE_COUNT(queries); q++) {
        uint32_t count = 0;
        EACH_ROW(ahead, queries[q], it, i) {
            ecs_entity entity = it.rows.entities[i];
            ecs_component_id mark = q == 0 ? game->vel : game->hits;
            if (!ecs_find(truth, entity, mark)) gone[count++] = entity;
        }
        while (count)
            assert_ok(ecs_destroy(ahead, gone[--count]));
    }
}

CASE_WITH(pair, p, open_pair(p, SETTINGS("pad_speed=600", "ball_speed=1.5"), 2), close_pair(p),
          with_fresh_rows_twice_a_second_no_tick_of_a_long_match_differs) {
    join(p);
    const breakout_game* game = table_game(&p->server);
    ecs_world* world = table_world(&p->server);
    base_rng rng = base_rng_make(4, 4);
    uint32_t compared = 0, bounces = 0;
    for (uint32_t i = 0; i < 3000; i++) {
        if (i % 30 == 0) {
            step_server(p, 0, false);
            bury(p);
            copy(p);
            continue;
        }
        ecs_entity ball = ecs_query_first(world, game->balls);
        int32_t move = some_move(&rng, i);
        if (ball) { // follow the ball, so that it bounces on the own pad
            const ecs_vec2* at = ecs_get(world, ball, game->pos);
            const ecs_vec2* pad = ecs_get(world, p->player, game->pos);
            move = (int32_t)base_clamp((at->x - pad->x - 60.0f) * 8.0f, -127.0f, 127.0f);
            bounces += at->y > 740.0f;
        }
        step_both(p, move, i % 50 == 5);
        assert_same(p, p->player, game->pos, sizeof(ecs_vec2));
        assert_on_grid(ecs_get(world, p->player, game->pos));
        // A ball that was lost or served a moment ago exists in one world only.
        if (!ecs_is_alive(world, ball) || !ecs_is_alive(net_match_world(p->ahead), ball)) continue;
        assert_same_ball(p, ball);
        assert_on_grid(ecs_get(world, ball, game->pos));
        assert_on_grid(ecs_get(world, ball, game->vel));
        compared++;
    }
    assert_true(compared > 1500 && bounces > 20);
}

PAIR_CASE(nothing_but_flying_happens_ahead, NULL, 0) {
    join(at);
    for (uint32_t i = 0; i < 5; i++)
        step_server(at, 0, i == 4);
    copy(at);
    ecs_world* world = net_match_world(at->ahead);
    breakout_game* game = net_match_context(at->ahead);
    uint32_t entities = ecs_world_entity_count(world);
    breakout_match before =
        *(const breakout_match*)ecs_get(world, ecs_query_first(world, game->matches), game->match);
    // The ball strikes bricks. In the end it is lost, because the pad moves away.
    for (uint32_t i = 0; i < 1200; i++)
        step_ahead(at, net_match_tick(at->server.match) + 1 + i, 127, false);
    assert_int_equal(ecs_world_entity_count(world), entities);
    assert_memory_equal(ecs_get(world, ecs_query_first(world, game->matches), game->match), &before,
                        sizeof before);
    assert_int_equal(((const breakout_player*)ecs_get(world, at->player, game->player))->score, 0);
    uint32_t struck = 0;
    EACH_ROW(world, game->bricks, it, i) {
        const ecs_entity* bricks = it.rows.entities;
        const int32_t* hits = it.rows.columns[2];
        const int32_t* truth =
            ecs_get(table_world(&at->server), bricks[i], table_game(&at->server)->hits);
        struck += hits[i] < *truth;
    }
    assert_true(struck > 0);
    const ecs_vec2* ball = ecs_get(world, ecs_query_first(world, game->balls), game->pos);
    assert_true(ball->y > BREAKOUT_FIELD_HEIGHT && ball->y < BREAKOUT_FIELD_HEIGHT + 100.0f);
}

static uint32_t ask(pair* p, net_predicted* entities, uint32_t capacity) {
    return breakout_predict(net_match_world(p->ahead), net_match_context(p->ahead), p->player,
                            entities, capacity);
}

// Get the weight of the first ball at a place.
static float weight_at(pair* p, ecs_vec2 pos, ecs_vec2 vel) {
    ecs_world* world = net_match_world(p->ahead);
    breakout_game* game = net_match_context(p->ahead);
    ecs_entity ball = ecs_query_first(world, game->balls);
    ((breakout_owner*)ecs_get_mut(world, ball, game->owner))->is_held = false;
    *(ecs_vec2*)ecs_get_mut(world, ball, game->pos) = pos;
    *(ecs_vec2*)ecs_get_mut(world, ball, game->vel) = vel;
    net_predicted entities[NET_PREDICTED_MAX];
    uint32_t count = ask(p, entities, NET_PREDICTED_MAX);
    assert_true(count == 1 || count == 2);
    assert_int_equal(entities[0].entity, p->player);
    assert_true(entities[0].weight == 1.0f);
    if (count == 1) return 0.0f;
    assert_int_equal(entities[1].entity, ball);
    return entities[1].weight;
}

PAIR_CASE(balls_near_the_own_pad_are_shown_as_predicted, SETTINGS("pad_speed=300"), 1) {
    join(at);
    step_server(at, 0, false);
    copy(at);
    net_predicted entities[NET_PREDICTED_MAX];
    // The own pad holds the ball.
    assert_int_equal(ask(at, entities, NET_PREDICTED_MAX), 2);
    assert_true(entities[0].weight == 1.0f && entities[1].weight == 1.0f);
    assert_int_equal(ask(at, entities, 1), 1);
    assert_int_equal(ask(at, entities, 0), 0);
    ecs_world* world = net_match_world(at->ahead);
    const ecs_vec2* pad =
        ecs_get(world, at->player, ((breakout_game*)net_match_context(at->ahead))->pos);
    float middle = pad->x + 80.0f;
    const ecs_vec2 down = {0.0f, 600.0f}, up = {0.0f, -600.0f};
    assert_true(weight_at(at, (ecs_vec2){middle, 700.0f}, down) == 1.0f);
    assert_true(weight_at(at, (ecs_vec2){middle, 751.0f}, up) == 1.0f);
    assert_true(weight_at(at, (ecs_vec2){middle, 320.0f}, down) == 0.0f);
    // The weight does not jump on the way up or down, and it is the same at the touch.
    float before = 1.0f;
    for (float y = 751.0f; y > 300.0f; y -= 10.0f) {
        float weight = weight_at(at, (ecs_vec2){middle, y}, up);
        assert_true(weight <= before && before - weight < 0.06f);
        assert_true(weight == weight_at(at, (ecs_vec2){middle, y}, down));
        before = weight;
    }
    assert_true(before == 0.0f);
    // Out of reach to the side: half a pad is 80, the ball is 5, the pad moves 300 a second.
    assert_true(weight_at(at, (ecs_vec2){middle + 84.0f, 750.0f}, down) == 1.0f);
    assert_true(weight_at(at, (ecs_vec2){middle + 400.0f, 740.0f}, down) == 0.0f);
    assert_true(weight_at(at, (ecs_vec2){middle + 400.0f, 740.0f}, up) == 0.0f);
    // A lost ball stays as predicted until the server removes it.
    assert_true(weight_at(at, (ecs_vec2){middle, 790.0f}, down) == 1.0f);
    // Without an own pad the weight is zero.
    at->player = ECS_ENTITY_NONE;
    assert_int_equal(ask(at, entities, NET_PREDICTED_MAX), 0);
}
