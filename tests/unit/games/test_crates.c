// SPDX-License-Identifier: MIT
// Crates: what rests is not touched, a prediction has the server's bits, nothing leaves the arena.

#include "game_table.h"

#include "crates.h"

static void table_open(table* t, const char* const* settings) {
    table_open_game(t, crates_module(), CRATES_BLK, settings, UINT32_MAX, 5, NET_ROLE_SERVER, false,
                    0);
}

#define CRATES_CASE(name, settings)                                                                \
    CASE_WITH(table, t, table_open(t, settings), table_close(t), name)

static const ecs_vec2* pos_of(net_match* match, ecs_entity entity) {
    const crates_game* game = net_match_context(match);
    return ecs_find(net_match_world(match), entity, game->pos);
}

CRATES_CASE(crates_that_nobody_pushes_stay_where_they_are, SETTINGS("crates=3000")) {
    static ecs_vec2 before[CRATES_SLOTS];
    ecs_world* world = table_world(t);
    uint32_t count = 0, moved = 0;
    for (ecs_entity at = 0; (at = ecs_entity_next(world, at));)
        before[count++] = *pos_of(t->match, at);
    assert_int_equal(count, 3000);
    table_join(t, 1, "driver");
    table_steps(t, 60); // the driver does nothing
    count = 0;
    for (ecs_entity at = 0; (at = ecs_entity_next(world, at)) && count < 3000;)
        moved += memcmp(&before[count++], pos_of(t->match, at), sizeof(ecs_vec2)) != 0;
    assert_int_equal(moved, 0);
}

// The bodies of the server that differ from a prediction, within `reach` of a place.
static uint32_t count_differences(table* t, net_match* ahead, ecs_vec2 place, float reach,
                                  uint32_t* moving) {
    ecs_world* world = table_world(t);
    const crates_game* game = net_match_context(t->match);
    uint32_t differ = 0;
    for (ecs_entity at = 0; (at = ecs_entity_next(world, at));) {
        if (ecs_vec2_distance(*pos_of(t->match, at), place) > reach) continue;
        const ecs_component_id parts[] = {game->pos, game->angle, game->vel, game->spin};
        for (uint32_t i = 0; i < BASE_COUNT(parts); i++) {
            const size_t size = i % 2 ? sizeof(float) : sizeof(ecs_vec2);
            const void* truth = ecs_get(world, at, parts[i]);
            differ += memcmp(truth, ecs_get(net_match_world(ahead), at, parts[i]), size) != 0;
        }
        const ecs_vec2* vel = ecs_get(world, at, game->vel);
        *moving += vel->x != 0.0f || vel->y != 0.0f;
    }
    return differ;
}

CRATES_CASE(a_prediction_pushes_the_same_crates_to_the_same_places, SETTINGS("crates=3000")) {
    table_join(t, 1, "driver");
    const ecs_entity car = net_match_player(t->match, 1);
    net_match* ahead = table_ahead(t);
    crates_input input = {.throttle = 127, .steer = 20};
    net_predicted shown[NET_PREDICTED_MAX];
    uint32_t moving = 0;
    for (uint32_t i = 0; i < 240; i++) {
        table_act(t, 1, &input);
        if (i % 30 == 0) { // a packet comes
            table_replicate(t, ahead);
        } else {
            assert_true(ecs_event_send(net_match_world(ahead), car,
                                       ecs_event_find(net_match_world(ahead), "drive_input"),
                                       &input));
            net_match_step_at(ahead, net_match_tick(t->match));
            ecs_changes_clear(net_match_world(ahead));
        }
        uint32_t count = t->module->game->predict(net_match_world(ahead), net_match_context(ahead),
                                                  car, shown, NET_PREDICTED_MAX);
        assert_true(count > 0 && shown[0].entity == car);
        assert_int_equal(count_differences(t, ahead, *pos_of(t->match, car), 10.0f, &moving), 0);
        input.steer = i % 80 < 40 ? 60 : -60;
    }
    assert_true(moving > 1000); // it pushed many of them
    // A client's prediction has only what is near.
    const net_game_module* game = t->module->game;
    uint32_t near = 0;
    for (ecs_entity at = 0; (at = ecs_entity_next(table_world(t), at));)
        near += game->predict_area(table_world(t), net_match_context(t->match), car, at);
    assert_in_range(near, 50, 400);
    net_match_destroy(ahead);
}

CRATES_CASE(nothing_leaves_the_arena, SETTINGS("crates=1500", "quake=1")) {
    table_join_bots(t, 16);
    for (uint32_t i = 0; i < 600; i++) {
        table_step(t);
        for (ecs_entity at = 0; (at = ecs_entity_next(table_world(t), at));) {
            const ecs_vec2* pos = pos_of(t->match, at);
            assert_true(pos->x >= 0.0f && pos->x <= CRATES_WIDTH);
            assert_true(pos->y >= 0.0f && pos->y <= CRATES_HEIGHT);
        }
    }
}

double __wrap_pow(double base, double exponent); // space.c

CASE(powers_are_those_of_libm_but_for_their_last_bits) {
    const double off = __wrap_pow(__wrap_pow(0.9, 60.0), 1.0 / 60.0) / 0.9 - 1.0;
    assert_true(off < 1e-12 && off > -1e-12);
    assert_true(__wrap_pow(1.0, 0.25) == 1.0);
}
