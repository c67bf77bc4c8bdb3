// SPDX-License-Identifier: MIT
// A whole match of breakout: levels, lives, scores, events, many players, and runs with the same
// bits.

#include "breakout_table.h"

#define MINUTE_TICKS 3600u

CASE(the_templates_begin_with_those_of_the_design) {
    char* text = table_read_file(BREAKOUT_BLK);
    assert_non_null(strstr(text,
                           "\nrect { pos:p2 = 0,0; rectSize:p2 = 0,0; color:c=255,255,255,255 }\n"
                           "brick { _extends:t=\"rect\" brick.pos:ip2 = 0,0 }\n"
                           "pad { _extends:t=\"rect\" isPad:b=yes }\n"
                           "ball { pos:p2=600,700 vel:p2=330,-550 radius:r=5 "
                           "color:c=25,255,255,255 }\n"));
    free(text);
}

CASE(every_level_has_bricks_and_grows_stronger_with_each_round) {
    for (int32_t level = 1; level <= BREAKOUT_LEVELS; level++) {
        uint32_t count = 0;
        for (int32_t row = 0; row < BREAKOUT_ROWS; row++) {
            for (int32_t column = 0; column < BREAKOUT_COLUMNS; column++) {
                int32_t hits = breakout_level_hits(level, column, row);
                int32_t again = breakout_level_hits(level + BREAKOUT_LEVELS, column, row);
                count += hits > 0;
                assert_int_equal(again, hits ? hits + 1 : 0);
                assert_true(breakout_level_hits(level + 99 * BREAKOUT_LEVELS, column, row) <=
                            BREAKOUT_HITS_MAX);
            }
        }
        assert_true(count >= 30 && count <= BREAKOUT_ROWS * BREAKOUT_COLUMNS);
    }
    assert_int_equal(breakout_level_hits(0, 3, 3), 0);
    assert_int_equal(breakout_level_hits(1, -1, 3), 0);
    assert_int_equal(breakout_level_hits(1, BREAKOUT_COLUMNS, 3), 0);
    assert_int_equal(breakout_level_hits(1, 3, BREAKOUT_ROWS), 0);
}

BREAKOUT_CASE(a_tick_looks_no_name_up, 42, false) {
    table_join_bots(t, 4);
    uint64_t before = ecs_world_counters(table_world(t))->name_lookups;
    table_steps(t, 6000);
    const ecs_counters* counters = ecs_world_counters(table_world(t));
    assert_int_equal(counters->name_lookups, before);
    assert_int_equal(counters->events_refused, 0);
    assert_int_equal(counters->commands_refused, 0);
    assert_int_equal(counters->bad_transitions, 0);
}

// A tiny, motionless pad and a fast ball: in the end the match loses all lives.
BREAKOUT_CASE_WITH(balls_that_nobody_catches_cost_lives_until_the_game_begins_again,
                   SETTINGS("lives=2", "ball_speed=2", "level=2"), 3, 3, NET_ROLE_SERVER, false) {
    table_join(t, 1, "statue");
    int32_t score_peak = 0;
    uint32_t ticks = 0;
    while (t->events[BREAKOUT_MESSAGE_LIFE_LOST] < 2 && ticks < 20 * MINUTE_TICKS) {
        table_step(t);
        ticks++;
        if (table_match(t)->score > score_peak) score_peak = table_match(t)->score;
    }
    assert_int_equal(t->events[BREAKOUT_MESSAGE_LIFE_LOST], 2);
    assert_int_equal(table_match(t)->lives, 0);
    assert_int_equal(table_match(t)->phase, BREAKOUT_OVER);
    assert_true(score_peak > 0);
    table_steps(t, 300);
    assert_int_equal(table_match(t)->phase, BREAKOUT_PLAYING);
    assert_int_equal(table_match(t)->lives, 2);
    assert_int_equal(table_match(t)->level, 2);
    assert_true(table_match(t)->score < score_peak);
    assert_int_equal(table_match(t)->best, score_peak);
}

BREAKOUT_CASE(each_four_players_bring_a_ball, 64, false) {
    static const uint32_t players[] = {1, 3, 4, 8, 64};
    static const int32_t balls[] = {1, 1, 2, 3, 17};
    for (uint32_t i = 0; i < BASE_COUNT(players); i++) {
        while (t->clients < players[i])
            net_match_join(t->match, &(net_game_player){.client = ++t->clients, .name = "player"});
        for (uint32_t k = 0; k < 3; k++)
            table_step(t);
        assert_int_equal(table_match(t)->balls, balls[i]);
    }
}

BREAKOUT_CASE(a_leaver_takes_the_pad_and_the_held_ball_finds_another, 11, false) {
    table_join(t, 1, "first");
    table_join(t, 2, "second");
    table_steps(t, 10);
    ecs_world* world = table_world(t);
    breakout_game* game = table_game(t);
    ecs_entity ball = ecs_query_first(world, game->balls);
    ecs_entity holder = ((const breakout_owner*)ecs_get(world, ball, game->owner))->pad;
    uint32_t leaver = holder == net_match_player(t->match, 1) ? 1 : 2;
    assert_int_equal(holder, net_match_player(t->match, leaver));
    net_match_leave(t->match, leaver);
    assert_int_equal(net_match_player(t->match, leaver), ECS_ENTITY_NONE);
    assert_false(ecs_is_alive(world, holder));
    table_step(t);
    const breakout_owner* owner = ecs_get(world, ball, game->owner);
    assert_int_equal(owner->pad, net_match_player(t->match, 3 - leaver));
    // The free slot goes to the next client that joins.
    table_join(t, 3, "third");
    const breakout_player* third = ecs_get(world, net_match_player(t->match, 3), game->player);
    assert_int_equal(third->slot, (int32_t)leaver - 1);
}

BREAKOUT_CASE(a_cheer_reaches_everybody, 12, false) {
    table_join(t, 1, "fan");
    breakout_cheer cheer = {.emote = 5};
    assert_ok(table_send(t, 1, BREAKOUT_MESSAGE_CHEER, &cheer));
    table_steps(t, 2);
    assert_int_equal(t->events[BREAKOUT_MESSAGE_CHEERED], 1);
    const breakout_player* player =
        ecs_get(table_world(t), net_match_player(t->match, 1), table_game(t)->player);
    assert_int_equal(player->cheers, 1);
    cheer.emote = BREAKOUT_EMOTES;
    assert_int_equal(table_send(t, 1, BREAKOUT_MESSAGE_CHEER, &cheer), NET_ERR_MALFORMED);
}

BREAKOUT_CASE_WITH(an_input_moves_the_pad_by_its_speed_and_no_further_than_the_wall,
                   SETTINGS("pad_speed=600"), 1, 13, NET_ROLE_SERVER, false) {
    table_join(t, 1, "mover");
    ecs_world* world = table_world(t);
    breakout_game* game = table_game(t);
    ecs_entity pad = net_match_player(t->match, 1);
    float before = ((const ecs_vec2*)ecs_get(world, pad, game->pos))->x;
    breakout_input input = {.move = 100000}; // the reader clamps it
    table_input(t, 1, &input);
    net_match_step(t->match);
    float after = ((const ecs_vec2*)ecs_get(world, pad, game->pos))->x;
    assert_float_equal(after - before, 10.0f, 0.001f);
    for (uint32_t i = 0; i < 200; i++) {
        net_match_input(t->match, 1, NULL, 0, 0); // repeats the last input
        net_match_step(t->match);
    }
    after = ((const ecs_vec2*)ecs_get(world, pad, game->pos))->x;
    assert_float_equal(after, 1200.0f - breakout_pad_width(1), 0.001f);
}

static void open_busy(table* t, uint64_t seed) {
    table_open(t, SETTINGS("level=2"), 1, seed, NET_ROLE_SERVER, false);
}

CASE(a_game_is_the_same_on_any_number_of_threads) {
    table_expect_same_runs(open_busy);
}
