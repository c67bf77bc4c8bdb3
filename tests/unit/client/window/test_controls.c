// SPDX-License-Identifier: MIT
#include "window/bindings.h"
#include "window/controls.h"

#include "test.h"

#include "check/check.h"
#include "net/controls.h"

#include <SDL.h>

#include <unistd.h>

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
    assert_non_null(strstr(reports.text, "'No Such Key' names no key"));
    assert_null(strstr(reports.text, "DPLeft"));
    return controls;
}

CASE(a_check_knows_the_names_of_keys) {
    base_nearest nearest;
    for (int i = 0; i < SDL_NUM_SCANCODES; i++) {
        const char* name = SDL_GetScancodeName((SDL_Scancode)i);
        if (client_window_key(name) == 0 || strchr(name, ',')) continue;
        if (!net_check_is_input(false, name, &nearest)) fail_msg("%s", name);
    }
    for (int i = 0; i < SDL_CONTROLLER_BUTTON_MAX; i++)
        assert_true(net_check_is_input(
            true, SDL_GameControllerGetStringForButton((SDL_GameControllerButton)i), &nearest));
    assert_true(net_check_is_input(false, "Enter", &nearest));
    assert_true(net_check_is_input(true, "RightTrigger", &nearest));
    assert_false(net_check_is_input(false, "No Such Key", &nearest));
    assert_false(net_check_is_input(true, "LeftX", &nearest));
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

static void use(client_controls* controls, client_event event) {
    (void)client_controls_see(controls, &event, 0.0f, 0.0f);
}

static void move_axis(client_controls* controls, client_pad_axis axis, float value) {
    use(controls,
        (client_event){.kind = CLIENT_EVENT_PAD_AXIS, .axis = (uint32_t)axis, .value = value});
}

CASE(inputs_of_pads_are_found_by_their_names_and_named_again) {
    char name[CLIENT_PAD_NAME_BYTES];
    char names[] =
        "A B X Y Back Guide Start DPLeft LeftX- LeftX+ RightY- RightTrigger DPUp DPRight "
        "RightStick LeftShoulder";
    for (const char* word = strtok(names, " "); word; word = strtok(NULL, " ")) {
        assert_true(client_pad_input(word) < 0);
        assert_true(client_pad_input_name(client_pad_input(word), name, sizeof name));
        assert_string_equal(name, word);
    }
    assert_int_equal(client_pad_input("dpleft"), client_pad_input("DPLeft"));
    assert_int_equal(client_pad_input(""), 0);
    char wrong[] = "- + Left LeftX -LeftX -LeftX- A- RightTrigger- RightTrigger+ "
                   "a_name_that_is_far_too_long_for_any";
    for (const char* word = strtok(wrong, " "); word; word = strtok(NULL, " "))
        assert_int_equal(client_pad_input(word), 0);
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

CONTROLS_CASE(other_keys_leave_sticks_and_pointer_where_they_are) {
    static const net_action others[] = {{"left", "L", "to the left", "B"}};
    client_event event = {.kind = CLIENT_EVENT_POINTER_MOVE};
    use(controls, event);
    press(controls, "D");
    move_axis(controls, CLIENT_PAD_RIGHT_Y, 1.0f);
    move_axis(controls, CLIENT_PAD_LEFT_X, -1.0f);
    client_controls_change(controls, others, 1, NULL);
    net_controls taken = client_controls_take(controls);
    assert_int_equal(taken.action_count, 1);
    assert_false(taken.actions[LEFT]);
    assert_float_equal(taken.aim_y, 1.0f, 1e-6f);
    assert_true(taken.is_pad && taken.has_pointer);
    press(controls, "L");
    assert_true(client_controls_take(controls).actions[LEFT]);
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

CONTROLS_CASE(each_button_of_the_mouse_is_held_and_pressed) {
    const client_event shift_right = {.kind = CLIENT_EVENT_BUTTON_DOWN,
                                      .button = NET_BUTTON_RIGHT,
                                      .modifiers = NET_MODIFIER_SHIFT};
    use(controls, (client_event){.kind = CLIENT_EVENT_POINTER_DOWN});
    use(controls, shift_right);
    use(controls, (client_event){.kind = CLIENT_EVENT_BUTTON_UP, .button = NET_BUTTON_RIGHT});
    use(controls, (client_event){.kind = CLIENT_EVENT_WHEEL, .wheel = 2});
    use(controls, (client_event){.kind = CLIENT_EVENT_WHEEL, .wheel = -5});
    net_controls taken = client_controls_take(controls);
    // A click with Shift that ended before the input counts once, with its Shift.
    assert_true(net_is_button(&taken, NET_BUTTON_RIGHT));
    assert_true(net_is_button_pressed(&taken, NET_BUTTON_RIGHT));
    assert_false(net_is_button(&taken, NET_BUTTON_MIDDLE));
    assert_true(net_is_modified(&taken, NET_MODIFIER_SHIFT | NET_MODIFIER_CTRL));
    assert_false(net_is_modified(&taken, NET_MODIFIER_CTRL | NET_MODIFIER_ALT));
    assert_int_equal(net_wheel(&taken), -3);
    taken = client_controls_take(controls);
    assert_false(net_is_button(&taken, NET_BUTTON_RIGHT));
    assert_false(net_is_modified(&taken, NET_MODIFIER_SHIFT));
    assert_int_equal(net_wheel(&taken), 0);
    assert_true(net_is_button(&taken, NET_BUTTON_LEFT) && taken.pointer_down);
    assert_false(net_is_button_pressed(&taken, NET_BUTTON_LEFT));
    client_event move = {.kind = CLIENT_EVENT_POINTER_MOVE, .modifiers = NET_MODIFIER_CTRL};
    use(controls, move);
    taken = client_controls_take(controls);
    assert_true(net_is_modified(&taken, NET_MODIFIER_CTRL));
    use(controls, shift_right);
    use(controls, (client_event){.kind = CLIENT_EVENT_FOCUS_LOST});
    (void)client_controls_take(controls);
    taken = client_controls_take(controls);
    assert_false(taken.buttons || taken.modifiers);
}

// ---- a line that a person types ----

static client_line_result type(client_line* line, const char* text) {
    client_event event = {.kind = CLIENT_EVENT_TEXT};
    assert_true(strlen(text) < sizeof event.text);
    memcpy(event.text, text, strlen(text));
    return client_line_see(line, &event);
}

static client_line_result hit(client_line* line, const char* name) {
    client_event event = key(CLIENT_EVENT_KEY_DOWN, name);
    return client_line_see(line, &event);
}

#define LINE_CASE(name) CASE_WITH(client_line, line, client_line_open(line), (void)0, name)

LINE_CASE(a_line_is_typed_by_characters_and_ends_with_enter) {
    assert_true(line->is_open);
    assert_int_equal(type(line, "gr\xc3\xbc\xe2\x82\xac"), CLIENT_LINE_TAKEN);
    assert_int_equal(type(line, "\n\t\x7f!"), CLIENT_LINE_TAKEN);
    assert_string_equal(line->text, "gr\xc3\xbc\xe2\x82\xac!");
    static const char* const rests[] = {"gr\xc3\xbc\xe2\x82\xac", "gr\xc3\xbc", "gr", "g", "", ""};
    for (uint32_t i = 0; i < BASE_COUNT(rests); i++) {
        assert_int_equal(hit(line, "Backspace"), CLIENT_LINE_TAKEN);
        assert_string_equal(line->text, rests[i]);
    }
    (void)type(line, "hello");
    assert_int_equal(hit(line, "A"), CLIENT_LINE_TAKEN); // no key of the game
    client_event end = key(CLIENT_EVENT_KEY_UP, "A");
    assert_int_equal(client_line_see(line, &end), CLIENT_LINE_IGNORED);
    client_event held = key(CLIENT_EVENT_KEY_DOWN, "Return"); // the one that opened it
    held.is_repeat = true;
    assert_int_equal(client_line_see(line, &held), CLIENT_LINE_TAKEN);
    assert_int_equal(hit(line, "Return"), CLIENT_LINE_DONE);
    assert_false(line->is_open);
    assert_string_equal(line->text, "hello");
}

LINE_CASE(a_line_is_left_by_escape_or_without_a_text) {
    (void)type(line, "hello");
    assert_int_equal(hit(line, "Escape"), CLIENT_LINE_LEFT);
    assert_false(line->is_open);
    client_line_open(line);
    assert_int_equal(line->size, 0);
    assert_int_equal(hit(line, "Keypad Enter"), CLIENT_LINE_LEFT);
}

LINE_CASE(a_full_line_takes_no_half_characters) {
    for (uint32_t i = 0; i < NET_LINE_BYTES_MAX - 2; i++)
        (void)type(line, "x");
    (void)type(line, "\xc3\xbc"); // two bytes, and there is place for one
    assert_int_equal(strlen(line->text), NET_LINE_BYTES_MAX - 2);
    (void)type(line, "y");
    assert_int_equal(strlen(line->text), NET_LINE_BYTES_MAX - 1);
    (void)type(line, "z");
    assert_int_equal(strlen(line->text), NET_LINE_BYTES_MAX - 1);
    assert_int_equal(line->text[line->size - 1], 'y');
}

// ---- keys that a person chooses ----

static const net_game_module game = {.actions = actions, .action_count = BASE_COUNT(actions)};

#define BINDINGS_CASE(name)                                                                        \
    CASE_WITH(client_bindings, chosen, client_bindings_init(chosen, &game), (void)0, name)

BINDINGS_CASE(without_a_file_the_keys_are_those_of_the_game) {
    assert_int_equal(chosen->count, 3);
    assert_string_equal(chosen->actions[LEFT].keys, "Left,A");
    assert_string_equal(chosen->actions[LEFT].pads, "DPLeft,LeftX-");
    assert_string_equal(chosen->actions[LEFT].help, "to the left");
    // Left and fire have the key Left.
    assert_int_equal(client_bindings_conflict(chosen, LEFT, false), FIRE);
    assert_int_equal(client_bindings_conflict(chosen, LEFT, true), 3);
    assert_int_equal(client_bindings_conflict(chosen, RIGHT, false), 3);
    client_bindings_set(chosen, FIRE, false, "F");
    assert_int_equal(client_bindings_conflict(chosen, LEFT, false), 3);
    client_bindings_set(chosen, FIRE, true, "LeftX-");
    assert_int_equal(client_bindings_conflict(chosen, LEFT, true), FIRE);
    client_bindings_reset(chosen, FIRE);
    assert_string_equal(chosen->actions[FIRE].pads, "A,No Such Input,RightTrigger");
}

static bool parse(client_bindings* chosen, const char* text, base_report_first* reports) {
    char copy[512];
    (void)base_text_copy(copy, sizeof copy, text);
    base_reporter reporter = base_reporter_first(reports);
    return client_bindings_parse(chosen, copy, "g.keys", &reporter);
}

BINDINGS_CASE(a_file_changes_the_actions_that_it_names) {
    base_report_first reports;
    assert_true(
        parse(chosen,
              "# mine\n\n  right = L , Left Shift \r\nfire = Comma,Bar|B\njump = J | A\nleft =  |",
              &reports));
    assert_string_equal(chosen->actions[RIGHT].keys, "L,Left Shift");
    assert_string_equal(chosen->actions[RIGHT].pads, "");
    assert_string_equal(chosen->actions[FIRE].keys, "Comma,Bar");
    assert_string_equal(chosen->actions[FIRE].pads, "B");
    assert_string_equal(chosen->actions[LEFT].keys, "");
    assert_int_equal(reports.count, 1);
    assert_non_null(strstr(reports.text, "g.keys:5: warning: the game has no action of this name"));
}

BINDINGS_CASE(a_damaged_file_is_named_and_changes_nothing) {
    char longest[200];
    (void)base_text_format(longest, sizeof longest, "left = %0*d", CLIENT_BINDING_BYTES, 0);
    const struct {
        const char *text, *says;
    } damaged[] = {
        {"right = L\nleft", "g.keys:2: error: write \"left = Left,A | DPLeft,LeftX-\"; the keys of "
                            "the game stay as they were"},
        {"right = L\nleft = Qwerty | A", "g.keys:2: error: no such key"},
        {"left = L | LeftX", "g.keys:1: error: no such input of a game controller"},
        {longest, "g.keys:1: error: the names are longer than 95 bytes"},
        {"left = a_name_that_is_longer_than_any_key", "a name is longer than 31 bytes"},
    };
    for (uint32_t i = 0; i < BASE_COUNT(damaged); i++) {
        base_report_first reports;
        assert_false(parse(chosen, damaged[i].text, &reports));
        if (!strstr(reports.text, damaged[i].says))
            fail_msg("expected: %s\nsaid: %s", damaged[i].says, reports.text);
        assert_string_equal(chosen->actions[RIGHT].keys, "Right,D");
        assert_string_equal(chosen->actions[LEFT].keys, "Left,A");
    }
}

BINDINGS_CASE(what_is_written_is_read_again) {
    char folder[] = "/tmp/shoal-keys-XXXXXX", path[128], part[160];
    base_report_first reports;
    base_reporter reporter = base_reporter_first(&reports);
    assert_non_null(mkdtemp(folder));
    (void)base_text_format(path, sizeof path, "%s/new/game.keys", folder);
    assert_true(client_bindings_read(chosen, path, &reporter)); // there is none
    client_bindings_set(chosen, LEFT, false, "Comma");
    client_bindings_set(chosen, FIRE, false, "Space");
    client_bindings_set(chosen, FIRE, true, "RightY-");
    assert_true(client_bindings_write(chosen, path, &reporter));
    client_bindings again;
    client_bindings_init(&again, &game);
    assert_true(client_bindings_read(&again, path, &reporter));
    for (uint32_t i = 0; i < chosen->count; i++) {
        assert_string_equal(again.actions[i].keys, chosen->actions[i].keys);
        assert_string_equal(again.actions[i].pads, chosen->actions[i].pads);
    }
    assert_int_equal(reports.count, 0);
    (void)base_text_format(part, sizeof part, "%s.new", path);
    assert_int_equal(access(part, F_OK), -1);
    // Sizes around the limit, what is no text, and what is no file.
    for (uint32_t size = CLIENT_BINDINGS_FILE_MAX - 1; size <= CLIENT_BINDINGS_FILE_MAX + 1;
         size++) {
        FILE* file = fopen(path, "w");
        for (uint32_t i = 0; i < size; i++)
            fputc('\n', file);
        fclose(file);
        assert_int_equal(client_bindings_read(&again, path, &reporter),
                         size <= CLIENT_BINDINGS_FILE_MAX);
    }
    assert_non_null(strstr(reports.text, "it is longer than 32768 bytes"));
    FILE* file = fopen(path, "w");
    fwrite("left\0", 5, 1, file);
    fclose(file);
    reporter = base_reporter_first(&reports);
    assert_false(client_bindings_read(&again, path, &reporter));
    assert_non_null(strstr(reports.text, "it is not text"));
    assert_int_equal(unlink(path), 0);
    *strrchr(path, '/') = '\0';
    reporter = base_reporter_first(&reports);
    assert_false(client_bindings_read(&again, path, &reporter)); // a folder
    assert_non_null(strstr(reports.text, "cannot be read: "));
    assert_string_equal(again.actions[LEFT].keys, "Comma");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0);
    // Where no folder can be made.
    assert_false(client_bindings_write(chosen, "/proc/none/game.keys", &reporter));
}

CASE(names_of_keys_are_found_again) {
    static const char* const names[] = {"A",   "Left",       "Space", "Comma",
                                        "Bar", "Left Shift", "=",     "#"};
    char name[CLIENT_KEY_NAME_BYTES];
    for (uint32_t i = 0; i < BASE_COUNT(names); i++) {
        assert_true(client_window_key_name(client_window_key(names[i]), name, sizeof name));
        assert_string_equal(name, names[i]);
    }
    assert_false(client_window_key_name(0, name, sizeof name));
    assert_false(client_window_key_name(-5, name, sizeof name));
}

typedef struct binding {
    client_bindings chosen;
    client_binder binder;
} binding;

static void open_binder(binding* at) {
    client_bindings_init(&at->chosen, &game);
    client_binder_open(&at->binder);
}

static void bind_key(binding* at, const char* name) {
    client_event event = key(CLIENT_EVENT_KEY_DOWN, name);
    assert_true(client_binder_see(&at->binder, &at->chosen, &event));
}

CASE_WITH(binding, at, open_binder(at), (void)0, a_key_and_a_button_are_chosen_and_given_back) {
    bind_key(at, "Down");
    bind_key(at, "Return");
    assert_true(at->binder.is_waiting);
    client_event held = key(CLIENT_EVENT_KEY_DOWN, "Return"); // the same press
    held.is_repeat = true;
    assert_true(client_binder_see(&at->binder, &at->chosen, &held));
    bind_key(at, "K");
    assert_false(at->binder.is_waiting);
    assert_string_equal(at->chosen.actions[RIGHT].keys, "K");
    bind_key(at, "Return");
    client_event stick = {
        .kind = CLIENT_EVENT_PAD_AXIS, .axis = CLIENT_PAD_RIGHT_X, .value = -0.6f};
    assert_true(client_binder_see(&at->binder, &at->chosen, &stick)); // not far enough
    stick.value = -0.8f;
    assert_true(client_binder_see(&at->binder, &at->chosen, &stick));
    assert_string_equal(at->chosen.actions[RIGHT].pads, "RightX-");
    bind_key(at, "Up");
    bind_key(at, "Up"); // around
    bind_key(at, "Return");
    client_event button = {.kind = CLIENT_EVENT_PAD_DOWN, .key = client_pad_input("Y")};
    assert_true(client_binder_see(&at->binder, &at->chosen, &button));
    assert_string_equal(at->chosen.actions[FIRE].pads, "Y");
    bind_key(at, "Backspace");
    assert_string_equal(at->chosen.actions[FIRE].pads, "A,No Such Input,RightTrigger");
    bind_key(at, "Return");
    bind_key(at, "Escape"); // leaves the waiting alone
    assert_true(at->binder.is_open && !at->binder.is_waiting && at->binder.is_changed);
    client_event end = key(CLIENT_EVENT_KEY_UP, "K");
    assert_false(client_binder_see(&at->binder, &at->chosen, &end));
    bind_key(at, "Escape");
    assert_false(at->binder.is_open);
}

CASE_WITH(binding, at, open_binder(at), (void)0, a_key_without_a_name_is_not_taken) {
    bind_key(at, "Return");
    client_event event = {.kind = CLIENT_EVENT_KEY_DOWN, .key = 0};
    assert_true(client_binder_see(&at->binder, &at->chosen, &event));
    assert_true(at->binder.is_waiting && !at->binder.is_changed);
    assert_non_null(strstr(at->binder.note, "has no name"));
    assert_string_equal(at->chosen.actions[LEFT].keys, "Left,A");
}
