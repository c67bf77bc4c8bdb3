// SPDX-License-Identifier: MIT
// The picture, drawn into a list instead of a window: what is drawn and where. Drawing does not
// change the simulation.

#include "breakout_table.h"
#include "recorder.h"

static void render_at(table* t, recorder* r, ecs_entity player, double tick, float frame_dt_s) {
    net_draw draw = recorder_draw(r, player, tick);
    draw.time_s = tick / 60.0;
    draw.frame_dt_s = frame_dt_s;
    recorder_run(t->match, &draw);
}

static void render(table* t, recorder* r, ecs_entity player) {
    render_at(t, r, player, (double)net_match_tick(t->match), 1.0f / 60.0f);
}

// Ticks, each with its picture.
static void show(table* t, recorder* r, uint32_t ticks, ecs_entity player) {
    for (uint32_t i = 0; i < ticks; i++) {
        table_step(t);
        render(t, r, player);
    }
}

static uint32_t primitives(const recorder* r) {
    return r->rects + r->circles + r->lines + r->points / 3 + r->texts;
}

static uint32_t sparks_alight(table* t) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < BREAKOUT_SPARKS; i++) {
        const breakout_spark* spark = &table_game(t)->view.sparks[i];
        count += spark->age_s < spark->life_s;
    }
    return count;
}

// Server and picture are in one world, so both sets of systems exist.
BREAKOUT_CASE(the_picture_shows_bricks_pads_balls_names_and_the_score, 1, true) {
    table_join_bots(t, 2);
    recorder r;
    show(t, &r, 600, net_match_player(t->match, 1));
    const breakout_match* match = table_match(t);
    assert_true(r.points >= 3u * (2u * (uint32_t)match->bricks + 2u));
    assert_true(r.rects >= 4u * (uint32_t)match->bricks);
    assert_true(r.circles >= 5);
    assert_true(recorder_has_text(&r, "Ada"));
    assert_true(recorder_has_text(&r, "player 2"));
    assert_true(recorder_has_text(&r, "SCORE"));
    assert_true(recorder_has_text(&r, "LEVEL 1"));
    char score[32];
    snprintf(score, sizeof score, "%06d", match->score);
    assert_true(recorder_has_text(&r, score));
    assert_true(r.low_x > -40.0f && r.high_x < 1240.0f && r.low_y > -40.0f && r.high_y < 840.0f);
}

BREAKOUT_CASE(a_brick_hit_strikes_sparks, 1, true) {
    table_join_bots(t, 1);
    recorder r;
    while (t->events[BREAKOUT_MESSAGE_BRICK_HIT] == 0)
        table_step(t);
    table_step(t); // the view gets the broadcast
    assert_true(sparks_alight(t) >= 6);
    render(t, &r, ECS_ENTITY_NONE);
    assert_true(recorder_has_text(&r, "+10"));
    uint32_t rects = r.rects;
    for (uint32_t i = 0; i < 90; i++)
        render(t, &r, ECS_ENTITY_NONE); // the effects end
    assert_true(r.rects < rects);
    assert_int_equal(sparks_alight(t), 0);
    assert_false(recorder_has_text(&r, "+10"));
}

BREAKOUT_CASE_WITH(the_end_of_a_game_is_announced, SETTINGS("lives=1", "ball_speed=2"), 2, 3,
                   NET_ROLE_SERVER, true) {
    table_join(t, 1, "statue");
    for (uint32_t i = 0; i < 100000 && t->events[BREAKOUT_MESSAGE_LIFE_LOST] == 0; i++)
        table_step(t);
    assert_int_equal(t->events[BREAKOUT_MESSAGE_LIFE_LOST], 1);
    recorder r;
    render(t, &r, ECS_ENTITY_NONE);
    assert_true(recorder_has_text(&r, "GAME OVER"));
}

CASE(drawing_changes_nothing_of_the_simulation) {
    uint64_t hashes[2];
    for (uint32_t run = 0; run < 2; run++) {
        table t;
        table_open(&t, NULL, 0, 5, NET_ROLE_SERVER, true);
        table_join_bots(&t, 4);
        recorder r;
        for (uint32_t i = 0; i < 900; i++) {
            table_step(&t);
            if (run == 1) render(&t, &r, ECS_ENTITY_NONE);
        }
        hashes[run] = ecs_world_hash(net_match_world(t.match));
        table_close(&t);
    }
    assert_true(hashes[0] == hashes[1]);
}

BREAKOUT_CASE_WITH(an_empty_mirror_can_be_drawn_and_thought_about, NULL, 0, 1, NET_ROLE_MIRROR,
                   true) {
    recorder r;
    render(t, &r, ECS_ENTITY_NONE);
    assert_int_equal(r.texts, 0);
    assert_int_equal(r.points, 18); // the field
    base_rng rng = base_rng_make(1, 1);
    _Alignas(16) uint8_t memory[NET_BOT_MEMORY_BYTES] = {0};
    net_player_context view = {.size_bytes = sizeof view,
                               .world = net_match_world(t->match),
                               .context = net_match_context(t->match),
                               .dt = net_match_dt(t->match),
                               .rng = &rng,
                               .memory = memory};
    breakout_input input = {0};
    breakout_bot_think(&view, &input);
    assert_int_equal(input.move, 0);
}

static breakout_trail* first_trail(table* t) {
    ecs_entity ball = ecs_query_first(net_match_world(t->match), table_game(t)->balls);
    breakout_view* view = &table_game(t)->view;
    for (uint32_t i = 0; i < BREAKOUT_TRAILS; i++)
        if (view->trails[i].ball == ball) return &view->trails[i];
    fail();
    return NULL;
}

CASE(a_trail_is_as_long_at_any_frame_rate) {
    static const uint32_t frames_per_tick[] = {1, 4};
    double spans[2];
    for (uint32_t run = 0; run < 2; run++) {
        table t;
        table_open(&t, NULL, 0, 1, NET_ROLE_SERVER, true);
        table_join_bots(&t, 1);
        recorder r;
        for (uint32_t i = 0; i < 150; i++) {
            table_step(&t);
            uint32_t count = frames_per_tick[run];
            for (uint32_t k = 0; k < count; k++) {
                double tick = (double)net_match_tick(t.match) + (double)k / (double)count;
                render_at(&t, &r, ECS_ENTITY_NONE, tick, 1.0f / 60.0f / (float)count);
            }
        }
        breakout_trail* trail = first_trail(&t);
        assert_int_equal(trail->count, BREAKOUT_TRAIL_POINTS);
        double newest =
            trail->times_s[(trail->next + BREAKOUT_TRAIL_POINTS - 1) % BREAKOUT_TRAIL_POINTS];
        spans[run] = newest - trail->times_s[trail->next % BREAKOUT_TRAIL_POINTS];
        table_close(&t);
    }
    assert_true(spans[0] > 0.24 && spans[0] < 0.26);
    assert_true(spans[1] > 0.24 && spans[1] < 0.26);
}

BREAKOUT_CASE(a_jump_in_time_clears_what_the_picture_remembers, 1, true) {
    table_join_bots(t, 1);
    recorder r;
    while (t->events[BREAKOUT_MESSAGE_BRICK_HIT] == 0) {
        table_step(t);
        render(t, &r, ECS_ENTITY_NONE);
    }
    table_step(t);
    render(t, &r, ECS_ENTITY_NONE);
    assert_true(sparks_alight(t) > 0);
    // A paused playback: effects stand still and are not lost.
    uint32_t count = first_trail(t)->count;
    render_at(t, &r, ECS_ENTITY_NONE, (double)net_match_tick(t->match), 0.0f);
    assert_int_equal(first_trail(t)->count, count);
    assert_true(sparks_alight(t) > 0);
    render_at(t, &r, ECS_ENTITY_NONE, 5.0, 1.0f / 60.0f);
    assert_int_equal(sparks_alight(t), 0);
    assert_int_equal(first_trail(t)->count, 1);
}

BREAKOUT_CASE(a_pad_flashes_when_a_ball_turns_on_it, 2, true) {
    table_join_bots(t, 2);
    recorder r;
    uint32_t bounces = 0, flashes = 0;
    ecs_world* world = net_match_world(t->match);
    for (uint32_t i = 0; i < 1200; i++) {
        ecs_entity ball = ecs_query_first(world, table_game(t)->balls);
        const ecs_vec2* vel = ecs_find(world, ball, table_game(t)->vel);
        bool was_down = vel && vel->y > 0.0f;
        table_step(t);
        vel = ecs_find(world, ball, table_game(t)->vel);
        const ecs_vec2* pos = ecs_find(world, ball, table_game(t)->pos);
        if (was_down && vel && vel->y < 0.0f && pos->y > 700.0f) bounces++;
        uint32_t before = table_game(t)->view.flash_next;
        render(t, &r, ECS_ENTITY_NONE);
        if (table_game(t)->view.flash_next != before) {
            flashes++;
            assert_true(ecs_find(world, table_game(t)->view.flashes[before].pad,
                                 table_game(t)->player) != NULL);
        }
    }
    assert_true(bounces > 3);
    // The view sees the bounce up to two ticks later.
    assert_in_range(flashes, bounces - 1, bounces);
}

BREAKOUT_CASE(a_cheer_stands_over_its_pad_for_a_moment, 12, true) {
    table_join(t, 1, "fan");
    table_step(t);
    assert_ok(table_send(t, 1, BREAKOUT_MESSAGE_CHEER, &(breakout_cheer){.emote = 2}));
    recorder r;
    show(t, &r, 3, ECS_ENTITY_NONE);
    assert_true(recorder_has_text(&r, "wow!"));
    show(t, &r, 120, ECS_ENTITY_NONE);
    assert_false(recorder_has_text(&r, "wow!"));
}

BREAKOUT_CASE(the_list_names_the_best_and_oneself, 12, true) {
    for (uint32_t i = 1; i <= 20; i++)
        table_join(t, i, "player");
    table_step(t);
    ecs_world* world = net_match_world(t->match);
    for (uint32_t i = 1; i <= 20; i++) {
        breakout_player* player =
            ecs_get_mut(world, net_match_player(t->match, i), table_game(t)->player);
        player->score = (int32_t)(i * 7 % 20) * 10; // all scores differ; client 17 has 190
    }
    recorder r;
    render(t, &r, net_match_player(t->match, 20)); // this player has 0 points
    assert_true(recorder_has_text(&r, "player 17") && recorder_has_text(&r, "190"));
    assert_true(recorder_has_text(&r, "player 14") && recorder_has_text(&r, "180"));
    assert_false(recorder_has_text(&r, "player 3")); // this player has 10 points
    assert_true(recorder_has_text(&r, "player 20") && recorder_has_text(&r, "20"));
}

CASE_WITH(table, t, table_open(t, NULL, 0, 1, NET_ROLE_SERVER, true), table_close(t),
          a_level_begins_with_its_name) {
    recorder r;
    table_step(t);
    render(t, &r, ECS_ENTITY_NONE);
    assert_true(recorder_has_text(&r, "48 bricks"));
    show(t, &r, 130, ECS_ENTITY_NONE);
    assert_false(recorder_has_text(&r, "48 bricks"));
    table_close(t);
    // A client that joins later gets no hint about what all clients see.
    table_open(t, NULL, 0, 1, NET_ROLE_SERVER, true);
    table_steps(t, 130);
    render(t, &r, ECS_ENTITY_NONE);
    assert_false(recorder_has_text(&r, "48 bricks"));
}

CASE(a_picture_has_few_shapes_however_many_play) {
    static const struct {
        uint32_t players;
        const char* level;
        uint32_t primitives_max;
    } cases[] = {{4, "level=1", 900}, {4, "level=6", 1500}, {64, "level=6", 3500}};
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        table t;
        table_open(&t, &cases[i].level, 1, 3, NET_ROLE_SERVER, true);
        table_join_bots(&t, cases[i].players);
        recorder r;
        uint32_t peak = 0;
        for (uint32_t k = 0; k < 900; k++) {
            table_step(&t);
            render(&t, &r, net_match_player(t.match, 1));
            if (primitives(&r) > peak) peak = primitives(&r);
        }
        print_message("players=%u %s primitives_peak=%u\n", cases[i].players, cases[i].level, peak);
        assert_true(peak <= cases[i].primitives_max);
        table_close(&t);
    }
}
