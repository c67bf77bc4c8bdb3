// SPDX-License-Identifier: MIT
// How keys and a pointer become inputs: short taps, keys against pointer, cheers.

#include "breakout_table.h"

#include <stddef.h>

typedef struct human {
    table t;
    net_player_context view;
    net_controls controls;
    bool actions[BREAKOUT_ACTION_COUNT], pressed[BREAKOUT_ACTION_COUNT];
    _Alignas(16) uint8_t memory[NET_BOT_MEMORY_BYTES];
    uint32_t sent, emote;
} human;

static bool take_cheer(void* sender, uint32_t message, const void* payload) {
    human* h = sender;
    assert_int_equal(message, BREAKOUT_MESSAGE_CHEER + 1);
    h->sent++;
    h->emote = ((const breakout_cheer*)payload)->emote;
    return true;
}

static void open_human(human* h) {
    memset(h, 0, sizeof *h);
    table_open(&h->t, NULL, 0, 1, NET_ROLE_SERVER, false);
    net_match_join(h->t.match, &(net_game_player){.client = 1, .name = "human"});
    h->view = (net_player_context){.size_bytes = sizeof h->view,
                                   .world = net_match_world(h->t.match),
                                   .context = net_match_context(h->t.match),
                                   .player = net_match_player(h->t.match, 1),
                                   .dt = net_match_dt(h->t.match),
                                   .memory = h->memory,
                                   .send = take_cheer,
                                   .sender = h};
    h->controls = (net_controls){.size_bytes = sizeof h->controls,
                                 .actions = h->actions,
                                 .pressed = h->pressed,
                                 .action_count = BREAKOUT_ACTION_COUNT};
}

static breakout_input ask(human* h) {
    breakout_input input = {0};
    breakout_human_input(&h->view, &h->controls, &input);
    return input;
}

static void keys_become_an_input(void** state) {
    (void)state;
    human h;
    open_human(&h);
    breakout_input input = ask(&h);
    assert_int_equal(input.move, 0);
    assert_false(input.is_launching);
    h.actions[BREAKOUT_ACTION_LEFT] = true;
    h.actions[BREAKOUT_ACTION_LAUNCH] = true;
    input = ask(&h);
    assert_int_equal(input.move, -127);
    assert_true(input.is_launching);
    h.actions[BREAKOUT_ACTION_RIGHT] = true; // both keys: no movement
    assert_int_equal(ask(&h).move, 0);
    table_close(&h.t);
}

static void a_tap_between_two_inputs_counts(void** state) {
    (void)state;
    human h;
    open_human(&h);
    h.pressed[BREAKOUT_ACTION_RIGHT] = true;
    h.pressed[BREAKOUT_ACTION_LAUNCH] = true;
    breakout_input input = ask(&h);
    assert_int_equal(input.move, 127);
    assert_true(input.is_launching);
    // A program without `pressed`: held keys count.
    h.controls.size_bytes = offsetof(net_controls, pressed);
    input = ask(&h);
    assert_int_equal(input.move, 0);
    assert_false(input.is_launching);
    table_close(&h.t);
}

static void the_pointer_leads_from_when_it_moves_until_a_key_is_pressed(void** state) {
    (void)state;
    human h;
    open_human(&h);
    h.controls.has_pointer = true;
    h.controls.pointer_x = 1190.0f;
    assert_int_equal(ask(&h).move, 0); // the pointer does not move
    h.controls.is_pointer_moved = true;
    assert_int_equal(ask(&h).move, 127);
    h.controls.is_pointer_moved = false;
    assert_int_equal(ask(&h).move, 127); // it is still the goal
    h.actions[BREAKOUT_ACTION_LEFT] = true;
    assert_int_equal(ask(&h).move, -127);
    h.actions[BREAKOUT_ACTION_LEFT] = false;
    assert_int_equal(ask(&h).move, 0); // the pad does not run back
    h.controls.pointer_down = true;
    breakout_input input = ask(&h);
    assert_int_equal(input.move, 127);
    assert_true(input.is_launching);
    h.controls.pointer_down = false;
    // The pad slows down near the goal and stops on it.
    const ecs_vec2* pos = ecs_get(h.view.world, h.view.player, table_game(&h.t)->pos);
    h.controls.pointer_x = pos->x + 80.0f + 7.5f;
    assert_in_range(ask(&h).move, 63, 64); // half of the 15 units of a tick
    h.controls.pointer_x = pos->x + 80.0f;
    assert_int_equal(ask(&h).move, 0);
    // While the client has no pad, nothing is sent.
    h.controls.pointer_x = 1190.0f;
    h.view.player = ECS_ENTITY_NONE;
    assert_int_equal(ask(&h).move, 0);
    table_close(&h.t);
}

static void a_pointer_leads_always_when_the_program_does_not_say_that_it_moved(void** state) {
    (void)state;
    human h;
    open_human(&h);
    h.controls.size_bytes = offsetof(net_controls, pressed);
    h.controls.has_pointer = true;
    h.controls.pointer_x = 10.0f;
    assert_int_equal(ask(&h).move, -127);
    table_close(&h.t);
}

static void a_number_key_cheers_once_per_press(void** state) {
    (void)state;
    human h;
    open_human(&h);
    h.pressed[BREAKOUT_ACTION_CHEER + 6] = true;
    h.actions[BREAKOUT_ACTION_CHEER + 6] = true;
    (void)ask(&h);
    assert_int_equal(h.sent, 1);
    assert_int_equal(h.emote, 6);
    h.pressed[BREAKOUT_ACTION_CHEER + 6] = false; // the key is still held
    (void)ask(&h);
    assert_int_equal(h.sent, 1);
    table_close(&h.t);
}

static void a_landing_is_folded_at_the_side_walls(void** state) {
    (void)state;
    ecs_vec2 pos = {600.0f, 350.0f};
    assert_float_equal(breakout_landing_x(pos, (ecs_vec2){100.0f, 100.0f}, 5.0f, 750.0f), 1000.0f,
                       0.01f);
    // 600 + 800 = 1400 is 205 beyond the wall at 1195.
    assert_float_equal(breakout_landing_x(pos, (ecs_vec2){200.0f, 100.0f}, 5.0f, 750.0f), 990.0f,
                       0.01f);
    assert_float_equal(breakout_landing_x(pos, (ecs_vec2){-200.0f, 100.0f}, 5.0f, 750.0f), 210.0f,
                       0.01f);
    // The ball bounces on both walls.
    assert_float_equal(breakout_landing_x(pos, (ecs_vec2){500.0f, 100.0f}, 5.0f, 750.0f), 220.0f,
                       0.05f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(keys_become_an_input),
        TEST(a_tap_between_two_inputs_counts),
        TEST(the_pointer_leads_from_when_it_moves_until_a_key_is_pressed),
        TEST(a_pointer_leads_always_when_the_program_does_not_say_that_it_moved),
        TEST(a_number_key_cheers_once_per_press),
        TEST(a_landing_is_folded_at_the_side_walls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
