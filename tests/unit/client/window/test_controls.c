// SPDX-License-Identifier: MIT
#include "window/controls.h"

#include "test.h"

#include <string.h>

enum { LEFT, RIGHT, FIRE };
static const net_action actions[] = {
    {"left", "Left,A", "to the left", "DPLeft,LeftX-"},
    {"right", "Right,D", "to the right", "DPRight,LeftX+"},
    {"fire", "Space,No Such Key,Left", "fire", "A,No Such Input,RightTrigger"},
};

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
    client_controls_init(&controls, actions, BASE_COUNT(actions), &reporter);
    assert_int_equal(reports.count, 2);
    assert_non_null(strstr(reports.text, "'No Such Key' is no key"));
    assert_null(strstr(reports.text, "DPLeft"));
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

static void use(client_controls* controls, client_event event) {
    (void)client_controls_see(controls, &event, 0.0f, 0.0f);
}

static void move_axis(client_controls* controls, client_pad_axis axis, float value) {
    use(controls,
        (client_event){.kind = CLIENT_EVENT_PAD_AXIS, .axis = (uint32_t)axis, .value = value});
}

CASE(inputs_of_pads_are_found_by_their_names_and_named_again) {
    static const char* const names[] = {"A",      "B",       "X",          "Y",
                                        "Back",   "Guide",   "Start",      "DPLeft",
                                        "LeftX-", "LeftX+",  "RightY-",    "RightTrigger",
                                        "DPUp",   "DPRight", "RightStick", "LeftShoulder"};
    for (uint32_t i = 0; i < BASE_COUNT(names); i++) {
        char name[CLIENT_PAD_NAME_BYTES];
        assert_true(client_pad_input(names[i]) < 0);
        assert_true(client_pad_input_name(client_pad_input(names[i]), name, sizeof name));
        assert_string_equal(name, names[i]);
    }
    assert_int_equal(client_pad_input("dpleft"), client_pad_input("DPLeft"));
    static const char* const wrong[] = {"",
                                        "-",
                                        "+",
                                        "Left",
                                        "LeftX",
                                        "-LeftX",
                                        "-LeftX-",
                                        "A-",
                                        "RightTrigger-",
                                        "RightTrigger+",
                                        "a_name_that_is_far_too_long_for_any"};
    for (uint32_t i = 0; i < BASE_COUNT(wrong); i++)
        assert_int_equal(client_pad_input(wrong[i]), 0);
    char name[CLIENT_PAD_NAME_BYTES];
    assert_false(client_pad_input_name(0, name, sizeof name));
    assert_false(client_pad_input_name(1, name, sizeof name));
    assert_false(client_pad_input_name(-1000, name, sizeof name));
}

CONTROLS_CASE(a_button_of_a_pad_is_as_a_key) {
    assert_false(client_controls_take(controls).is_pad);
    use(controls, (client_event){.kind = CLIENT_EVENT_PAD_DOWN, .key = client_pad_input("A")});
    net_controls taken = client_controls_take(controls);
    assert_true(taken.actions[FIRE] && taken.pressed[FIRE] && taken.is_pad);
    press(controls, "D");
    taken = client_controls_take(controls);
    assert_true(taken.actions[FIRE] && taken.actions[RIGHT] && !taken.is_pad);
    use(controls, (client_event){.kind = CLIENT_EVENT_PAD_UP, .key = client_pad_input("A")});
    assert_false(client_controls_take(controls).actions[FIRE]);
    client_event other = {.kind = CLIENT_EVENT_PAD_DOWN, .key = client_pad_input("Start")};
    assert_false(client_controls_see(controls, &other, 0.0f, 0.0f)); // the window's
}

CONTROLS_CASE(half_an_axis_is_pressed_once_on_its_way) {
    move_axis(controls, CLIENT_PAD_LEFT_X, -0.45f);
    assert_false(client_controls_take(controls).actions[LEFT]);
    move_axis(controls, CLIENT_PAD_LEFT_X, -0.55f);
    net_controls taken = client_controls_take(controls);
    assert_true(taken.actions[LEFT] && taken.pressed[LEFT] && !taken.actions[RIGHT]);
    move_axis(controls, CLIENT_PAD_LEFT_X, -0.45f); // it trembles
    move_axis(controls, CLIENT_PAD_LEFT_X, -0.55f);
    taken = client_controls_take(controls);
    assert_true(taken.actions[LEFT] && !taken.pressed[LEFT]);
    move_axis(controls, CLIENT_PAD_LEFT_X, 1.0f); // from one side to the other at once
    taken = client_controls_take(controls);
    assert_true(taken.actions[RIGHT] && !taken.actions[LEFT]);
    move_axis(controls, CLIENT_PAD_RIGHT_TRIGGER, 0.6f);
    assert_true(client_controls_take(controls).pressed[FIRE]);
}

CONTROLS_CASE(a_stick_says_how_far_behind_its_dead_zone) {
    static const struct {
        float x, y, move_x, move_y;
    } moves[] = {
        {0.1f, 0.1f, 0.0f, 0.0f},
        {CLIENT_STICK_DEAD, 0.0f, 0.0f, 0.0f},
        {0.6f, 0.0f, 0.5f, 0.0f},
        {0.0f, -1.0f, 0.0f, -1.0f},
        {1.0f, 1.0f, 0.70710678f, 0.70710678f}, // no longer than 1
    };
    for (uint32_t i = 0; i < BASE_COUNT(moves); i++) {
        move_axis(controls, CLIENT_PAD_LEFT_X, moves[i].x);
        move_axis(controls, CLIENT_PAD_LEFT_Y, moves[i].y);
        move_axis(controls, CLIENT_PAD_RIGHT_X, moves[i].y);
        move_axis(controls, CLIENT_PAD_RIGHT_Y, moves[i].x);
        const net_controls taken = client_controls_take(controls);
        assert_float_equal(taken.move_x, moves[i].move_x, 1e-6f);
        assert_float_equal(taken.move_y, moves[i].move_y, 1e-6f);
        assert_float_equal(taken.aim_x, moves[i].move_y, 1e-6f);
        assert_float_equal(taken.aim_y, moves[i].move_x, 1e-6f);
        assert_true(taken.is_pad == (i >= 2));
    }
}

CONTROLS_CASE(a_pad_that_goes_lets_everything_go) {
    press(controls, "D");
    use(controls, (client_event){.kind = CLIENT_EVENT_PAD_DOWN, .key = client_pad_input("A")});
    move_axis(controls, CLIENT_PAD_LEFT_X, -1.0f);
    (void)client_controls_take(controls);
    use(controls, (client_event){.kind = CLIENT_EVENT_PAD_GONE});
    const net_controls taken = client_controls_take(controls);
    assert_true(taken.actions[RIGHT]); // a key is no part of it
    assert_false(taken.actions[FIRE] || taken.actions[LEFT] || taken.is_pad);
    assert_float_equal(taken.move_x, 0.0f, 0.0f);
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
