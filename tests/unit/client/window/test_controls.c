// SPDX-License-Identifier: MIT
#include "window/controls.h"

#include "test.h"

#include <string.h>

enum { LEFT, RIGHT, FIRE };
static const net_action actions[] = {
    {"left", "Left,A", "to the left"},
    {"right", "Right,D", "to the right"},
    {"fire", "Space,No Such Key,Left", "fire"},
};
static const net_game_module game = {.actions = actions, .action_count = BASE_COUNT(actions)};

static client_event key(client_event_kind kind, const char* name) {
    return (client_event){.kind = kind, .key = client_window_key(name)};
}

static void press(client_controls* controls, const char* name) {
    client_event event = key(CLIENT_EVENT_KEY_DOWN, name);
    assert_true(client_controls_see(controls, &event, 0.0f, 0.0f));
}

static void let_go(client_controls* controls, const char* name) {
    client_event event = key(CLIENT_EVENT_KEY_UP, name);
    assert_true(client_controls_see(controls, &event, 0.0f, 0.0f));
}

static client_controls make(void) {
    base_report_first reports;
    base_reporter reporter = base_reporter_first(&reports);
    client_controls controls;
    client_controls_init(&controls, &game, &reporter);
    assert_int_equal(reports.count, 1);
    assert_non_null(strstr(reports.text, "'No Such Key' is no key"));
    return controls;
}

CASE(keys_are_found_by_their_names) {
    assert_true(client_window_key("Left") != 0);
    assert_true(client_window_key("A") == 'a');
    assert_true(client_window_key("Space") == ' ');
    assert_true(client_window_key("Enter") == client_window_key("Return"));
    assert_true(client_window_key("Esc") == client_window_key("Escape"));
    assert_true(client_window_key("F1") != client_window_key("F2"));
    assert_int_equal(client_window_key("No Such Key"), 0);
    assert_int_equal(client_window_key(""), 0);
}

#define CONTROLS_CASE(name) CASE_WITH(client_controls, controls, *controls = make(), (void)0, name)

CONTROLS_CASE(a_held_key_is_held_in_every_input_and_pressed_in_one) {
    net_controls taken = client_controls_take(controls);
    assert_int_equal(taken.size_bytes, sizeof(net_controls));
    assert_int_equal(taken.action_count, 3);
    assert_false(taken.actions[RIGHT] || taken.pressed[RIGHT]);
    press(controls, "D");
    for (uint32_t i = 0; i < 3; i++) {
        taken = client_controls_take(controls);
        assert_true(taken.actions[RIGHT]);
        assert_true(taken.pressed[RIGHT] == (i == 0));
        client_event repeat = key(CLIENT_EVENT_KEY_DOWN, "D");
        repeat.is_repeat = true;
        assert_true(client_controls_see(controls, &repeat, 0.0f, 0.0f));
    }
    let_go(controls, "D");
    taken = client_controls_take(controls);
    assert_false(taken.actions[RIGHT] || taken.pressed[RIGHT]);
}

CONTROLS_CASE(a_tap_between_two_inputs_is_told_once) {
    press(controls, "Space");
    let_go(controls, "Space");
    net_controls taken = client_controls_take(controls);
    assert_true(taken.actions[FIRE] && taken.pressed[FIRE]);
    taken = client_controls_take(controls);
    assert_false(taken.actions[FIRE] || taken.pressed[FIRE]);
}

CONTROLS_CASE(two_keys_of_an_action_are_let_go_one_by_one) {
    press(controls, "Right");
    press(controls, "D");
    let_go(controls, "D");
    (void)client_controls_take(controls);
    assert_true(client_controls_take(controls).actions[RIGHT]);
    let_go(controls, "Right");
    assert_false(client_controls_take(controls).actions[RIGHT]);
}

CONTROLS_CASE(one_key_may_serve_two_actions) {
    press(controls, "Left");
    net_controls taken = client_controls_take(controls);
    assert_true(taken.actions[LEFT] && taken.actions[FIRE]);
    assert_false(taken.actions[RIGHT]);
}

CONTROLS_CASE(unknown_keys_are_left_to_others) {
    client_event event = key(CLIENT_EVENT_KEY_DOWN, "F1");
    assert_false(client_controls_see(controls, &event, 0.0f, 0.0f));
    event.key = 0; // a key without a code must not match an action without a key
    assert_false(client_controls_see(controls, &event, 0.0f, 0.0f));
    event.kind = CLIENT_EVENT_CLOSE;
    assert_false(client_controls_see(controls, &event, 0.0f, 0.0f));
}

CONTROLS_CASE(the_pointer_says_where_it_is_and_whether_it_moved) {
    assert_false(client_controls_take(controls).has_pointer);
    client_event event = {.kind = CLIENT_EVENT_POINTER_MOVE};
    assert_true(client_controls_see(controls, &event, 600.0f, 300.0f));
    net_controls taken = client_controls_take(controls);
    assert_true(taken.has_pointer && taken.is_pointer_moved && !taken.pointer_down);
    assert_float_equal(taken.pointer_x, 600.0f, 0.0f);
    assert_float_equal(taken.pointer_y, 300.0f, 0.0f);
    assert_false(client_controls_take(controls).is_pointer_moved);
    // A click that ends before the input was taken.
    event.kind = CLIENT_EVENT_POINTER_DOWN;
    assert_true(client_controls_see(controls, &event, 600.0f, 300.0f));
    event.kind = CLIENT_EVENT_POINTER_UP;
    assert_true(client_controls_see(controls, &event, 600.0f, 300.0f));
    assert_true(client_controls_take(controls).pointer_down);
    assert_false(client_controls_take(controls).pointer_down);
    event.kind = CLIENT_EVENT_POINTER_GONE;
    assert_true(client_controls_see(controls, &event, 0.0f, 0.0f));
    assert_false(client_controls_take(controls).has_pointer);
}

CONTROLS_CASE(losing_the_focus_lets_everything_go) {
    press(controls, "A");
    client_event event = {.kind = CLIENT_EVENT_POINTER_DOWN};
    (void)client_controls_see(controls, &event, 1.0f, 1.0f);
    (void)client_controls_take(controls);
    event.kind = CLIENT_EVENT_FOCUS_LOST;
    assert_true(client_controls_see(controls, &event, 0.0f, 0.0f));
    net_controls taken = client_controls_take(controls);
    assert_false(taken.actions[LEFT] || taken.pointer_down);
}
