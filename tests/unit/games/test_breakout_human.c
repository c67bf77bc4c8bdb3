// SPDX-License-Identifier: MIT
// How keys and a pointer become inputs: short taps, keys against pointer, cheers.

#include "breakout_table.h"

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
    table_join(&h->t, 1, "human");
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

#define HUMAN_CASE(name) CASE_WITH(human, at, open_human(at), table_close(&at->t), name)

static breakout_input ask(human* h) {
    breakout_input input = {0};
    breakout_human_input(&h->view, &h->controls, &input);
    return input;
}

HUMAN_CASE(a_stick_moves_the_pad_by_parts) {
    at->controls.is_pad = true;
    at->controls.move_x = -0.5f;
    assert_int_equal(ask(at).move, -64);
    at->controls.move_x = 0.0f; // the cross beside it
    at->actions[BREAKOUT_ACTION_RIGHT] = true;
    assert_int_equal(ask(at).move, 127);
}

HUMAN_CASE(keys_become_an_input) {
    breakout_input input = ask(at);
    assert_int_equal(input.move, 0);
    assert_false(input.is_launching);
    at->actions[BREAKOUT_ACTION_LEFT] = true;
    at->actions[BREAKOUT_ACTION_LAUNCH] = true;
    input = ask(at);
    assert_int_equal(input.move, -127);
    assert_true(input.is_launching);
    at->actions[BREAKOUT_ACTION_RIGHT] = true; // both keys: no movement
    assert_int_equal(ask(at).move, 0);
}

HUMAN_CASE(a_tap_between_two_inputs_counts) {
    at->pressed[BREAKOUT_ACTION_RIGHT] = true;
    at->pressed[BREAKOUT_ACTION_LAUNCH] = true;
    breakout_input input = ask(at);
    assert_int_equal(input.move, 127);
    assert_true(input.is_launching);
}

HUMAN_CASE(the_pointer_leads_from_when_it_moves_until_a_key_is_pressed) {
    at->controls.has_pointer = true;
    at->controls.pointer_x = 1190.0f;
    assert_int_equal(ask(at).move, 0); // the pointer does not move
    at->controls.is_pointer_moved = true;
    assert_int_equal(ask(at).move, 127);
    at->controls.is_pointer_moved = false;
    assert_int_equal(ask(at).move, 127); // it is still the goal
    at->actions[BREAKOUT_ACTION_LEFT] = true;
    assert_int_equal(ask(at).move, -127);
    at->actions[BREAKOUT_ACTION_LEFT] = false;
    assert_int_equal(ask(at).move, 0); // the pad does not run back
    at->controls.pointer_down = true;
    breakout_input input = ask(at);
    assert_int_equal(input.move, 127);
    assert_true(input.is_launching);
    at->controls.pointer_down = false;
    // The pad slows down near the goal and stops on it.
    const ecs_vec2* pos = ecs_get(at->view.world, at->view.player, table_game(&at->t)->pos);
    at->controls.pointer_x = pos->x + 80.0f + 7.5f;
    assert_in_range(ask(at).move, 63, 64); // half of the 15 units of a tick
    at->controls.pointer_x = pos->x + 80.0f;
    assert_int_equal(ask(at).move, 0);
    // While the client has no pad, nothing is sent.
    at->controls.pointer_x = 1190.0f;
    at->view.player = ECS_ENTITY_NONE;
    assert_int_equal(ask(at).move, 0);
}

HUMAN_CASE(a_number_key_cheers_once_per_press) {
    at->pressed[BREAKOUT_ACTION_CHEER + 6] = true;
    at->actions[BREAKOUT_ACTION_CHEER + 6] = true;
    (void)ask(at);
    assert_int_equal(at->sent, 1);
    assert_int_equal(at->emote, 6);
    at->pressed[BREAKOUT_ACTION_CHEER + 6] = false; // the key is still held
    (void)ask(at);
    assert_int_equal(at->sent, 1);
}

CASE(a_landing_is_folded_at_the_side_walls) {
    static const float rows[][3] = {
        {100.0f, 1000.0f, 0.01f},
        {200.0f, 990.0f, 0.01f}, // 600 + 800 = 1400 is 205 beyond the wall at 1195
        {-200.0f, 210.0f, 0.01f},
        {500.0f, 220.0f, 0.05f}, // it bounces on both walls
    };
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++)
        assert_float_equal(breakout_landing_x((ecs_vec2){600.0f, 350.0f},
                                              (ecs_vec2){rows[i][0], 100.0f}, 5.0f, 750.0f),
                           rows[i][1], rows[i][2]);
}
