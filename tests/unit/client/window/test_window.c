// SPDX-License-Identifier: MIT
// Events and pacing of a window of SDL's dummy driver. The tests push events into the queue that
// SDL's own events use.
#include "window/pads.h"
#include "window/window.h"

#include "test.h"

#include <SDL.h>

static client_window* open_window(double fps) {
    static base_reporter reporter; // a window keeps it
    reporter = base_reporter_stderr();
    const client_window_config config = {.reporter = &reporter,
                                         .title = "test",
                                         .width = 600,
                                         .height = 400,
                                         .fps = fps,
                                         .view_width = 1200.0f,
                                         .view_height = 800.0f};
    client_window* window = client_window_create(&config);
    assert_non_null(window);
    client_event event;
    while (client_window_next_event(window, &event)) {
    }
    return window;
}

static void push(SDL_Event event) {
    assert_int_equal(SDL_PushEvent(&event), 1);
}

static void push_window(uint8_t what) {
    push((SDL_Event){.window = {.type = SDL_WINDOWEVENT, .event = what}});
}

static void push_motion(int x, int y) {
    push((SDL_Event){.motion = {.type = SDL_MOUSEMOTION, .x = x, .y = y}});
}

static void push_key(uint32_t type, int32_t key, uint16_t held, bool is_repeat) {
    push((SDL_Event){
        .key = {.type = type, .repeat = is_repeat, .keysym = {.sym = key, .mod = held}}});
}

static void push_button(uint32_t type, uint8_t button) {
    push((SDL_Event){.button = {.type = type, .button = button}});
}

// Get the client event of a pushed event; `is_any` false: there is none. SDL ends a round of events
// at the last place where it looked for new ones. An event that is pushed later comes in the next
// round.
static client_event next(client_window* window, bool is_any) {
    client_event event = {0};
    bool has_one = client_window_next_event(window, &event);
    if (!has_one) has_one = client_window_next_event(window, &event);
    assert_int_equal(has_one, is_any);
    return event;
}

#define WINDOW_CASE(name, rate)                                                                    \
    CASE_MADE(client_window, window, open_window(rate), client_window_destroy(window), name)

WINDOW_CASE(a_window_that_nobody_sees_is_not_drawn, 0.0) {
    assert_true(client_window_frame_due_us(window) != UINT64_MAX);
    static const uint8_t pairs[][2] = {
        {SDL_WINDOWEVENT_HIDDEN, SDL_WINDOWEVENT_SHOWN},
        {SDL_WINDOWEVENT_MINIMIZED, SDL_WINDOWEVENT_RESTORED},
        {SDL_WINDOWEVENT_MINIMIZED, SDL_WINDOWEVENT_EXPOSED},
    };
    for (uint32_t i = 0; i < BASE_COUNT(pairs); i++) {
        push_window(pairs[i][0]);
        (void)next(window, false);
        assert_true(client_window_frame_due_us(window) == UINT64_MAX);
        push_window(pairs[i][1]);
        (void)next(window, false);
        assert_true(client_window_frame_due_us(window) == 0); // a frame is due at once
    }
}

WINDOW_CASE(frames_come_at_the_wanted_rate_and_are_not_caught_up, 50.0) {
    uint64_t now_us = 5000000, begun = 0;
    uint64_t until_us = now_us + 1000000;
    for (; now_us < until_us; now_us += 1000) {
        if (now_us < client_window_frame_due_us(window)) continue;
        client_window_begin_frame(window, now_us);
        assert_true(client_window_end_frame(window, NULL));
        begun++;
    }
    assert_in_range(begun, 49, 52);
    now_us += 700000; // a long pause
    client_window_begin_frame(window, now_us);
    net_draw draw = client_window_draw(window, CLIENT_CANVAS_VIEW);
    assert_float_equal(draw.frame_dt_s, 0.1f, 0.0001f); // effects do not jump
    assert_true(client_window_end_frame(window, NULL));
    assert_true(client_window_frame_due_us(window) > now_us);
}

WINDOW_CASE(keys_and_buttons_become_events, 0.0) {
    push_key(SDL_KEYDOWN, SDLK_F1, 0, true);
    client_event event = next(window, true);
    assert_int_equal(event.kind, CLIENT_EVENT_KEY_DOWN);
    assert_int_equal(event.key, client_window_key("F1"));
    assert_true(event.is_repeat);
    push_key(SDL_KEYUP, SDLK_F1, 0, false);
    assert_int_equal(next(window, true).kind, CLIENT_EVENT_KEY_UP);

    push_motion(300, 100);
    event = next(window, true);
    assert_int_equal(event.kind, CLIENT_EVENT_POINTER_MOVE);
    float x = 0.0f, y = 0.0f;
    client_window_begin_frame(window, 1);
    assert_true(client_window_end_frame(window, NULL));
    client_draw_to_canvas(client_window_canvases(window), CLIENT_CANVAS_VIEW, event.x, event.y, &x,
                          &y);
    assert_float_equal(x, 600.0f, 0.01f);
    assert_float_equal(y, 200.0f, 0.01f);

    push_button(SDL_MOUSEBUTTONDOWN, SDL_BUTTON_X1);
    (void)next(window, false);
    SDL_SetModState(KMOD_RSHIFT | KMOD_LALT);
    push_button(SDL_MOUSEBUTTONDOWN, SDL_BUTTON_RIGHT);
    event = next(window, true);
    assert_int_equal(event.kind, CLIENT_EVENT_BUTTON_DOWN);
    assert_int_equal(event.button, NET_BUTTON_RIGHT);
    assert_int_equal(event.modifiers, NET_MODIFIER_SHIFT | NET_MODIFIER_ALT);
    SDL_SetModState(KMOD_LCTRL);
    push_button(SDL_MOUSEBUTTONUP, SDL_BUTTON_MIDDLE);
    event = next(window, true);
    assert_int_equal(event.kind, CLIENT_EVENT_BUTTON_UP);
    assert_int_equal(event.button, NET_BUTTON_MIDDLE);
    assert_int_equal(event.modifiers, NET_MODIFIER_CTRL);
    SDL_SetModState(KMOD_NONE);
    for (int32_t turn = 0; turn < 2; turn++) {
        push((SDL_Event){
            .wheel = {.type = SDL_MOUSEWHEEL,
                      .y = turn ? 2 : -2,
                      .direction = turn ? SDL_MOUSEWHEEL_NORMAL : SDL_MOUSEWHEEL_FLIPPED}});
        event = next(window, true);
        assert_int_equal(event.kind, CLIENT_EVENT_WHEEL);
        assert_int_equal(event.wheel, 2);
    }
    push_button(SDL_MOUSEBUTTONDOWN, SDL_BUTTON_LEFT);
    assert_int_equal(next(window, true).kind, CLIENT_EVENT_POINTER_DOWN);
    push_button(SDL_MOUSEBUTTONUP, SDL_BUTTON_LEFT);
    assert_int_equal(next(window, true).kind, CLIENT_EVENT_POINTER_UP);

    SDL_Event text = {.type = SDL_TEXTINPUT};
    memcpy(text.text.text, "\xc3\xbc", 3);
    assert_false(SDL_IsTextInputActive()); // SDL begins with it
    client_window_type(window, true);
    assert_true(SDL_IsTextInputActive());
    push(text);
    event = next(window, true);
    assert_int_equal(event.kind, CLIENT_EVENT_TEXT);
    assert_string_equal(event.text, "\xc3\xbc");
    client_window_type(window, false);
    assert_false(SDL_IsTextInputActive());

    push_window(SDL_WINDOWEVENT_LEAVE);
    assert_int_equal(next(window, true).kind, CLIENT_EVENT_POINTER_GONE);
    push_window(SDL_WINDOWEVENT_FOCUS_LOST);
    assert_int_equal(next(window, true).kind, CLIENT_EVENT_FOCUS_LOST);
    push((SDL_Event){.type = SDL_QUIT});
    assert_int_equal(next(window, true).kind, CLIENT_EVENT_CLOSE);
    (void)next(window, false);
}

// ---- game controllers: SDL's virtual ones ----

static SDL_Joystick* plug(int* device) {
    const SDL_VirtualJoystickDesc desc = {.version = SDL_VIRTUAL_JOYSTICK_DESC_VERSION,
                                          .type = SDL_JOYSTICK_TYPE_GAMECONTROLLER,
                                          .naxes = SDL_CONTROLLER_AXIS_MAX,
                                          .nbuttons = SDL_CONTROLLER_BUTTON_MAX,
                                          .name = "Test Pad"};
    *device = SDL_JoystickAttachVirtualEx(&desc);
    assert_true(*device >= 0);
    SDL_Joystick* joystick = SDL_JoystickOpen(*device);
    assert_non_null(joystick);
    return joystick;
}

static client_window* open_with_pads(void) {
    // Before the window: it takes what the process has. Without HIDAPI no real one is looked for.
    SDL_SetHint(SDL_HINT_JOYSTICK_HIDAPI, "0");
    SDL_SetHint(SDL_HINT_JOYSTICK_ALLOW_BACKGROUND_EVENTS, "1"); // no window has the focus
    assert_int_equal(SDL_Init(SDL_INIT_GAMECONTROLLER), 0);
    return open_window(0.0);
}

static client_event next_of(client_window* window, client_event_kind kind) {
    client_event event = {0};
    SDL_JoystickUpdate();
    for (uint32_t i = 0; i < 64; i++)
        if (client_window_next_event(window, &event) && event.kind == kind) return event;
    fail_msg("no event of kind %d came", (int)kind);
    return event;
}

CASE_MADE(client_window, window, open_with_pads(), client_window_destroy(window),
          a_game_controller_comes_is_used_and_goes) {
    int device;
    SDL_Joystick* pad = plug(&device);
    assert_null(client_window_pad_name(window, 0));
    assert_int_equal(next_of(window, CLIENT_EVENT_PAD_CAME).pad, 0);
    assert_string_equal(client_window_pad_name(window, 0), "Test Pad");
    assert_null(client_window_pad_name(window, CLIENT_PADS_MAX));
    assert_int_equal(SDL_JoystickSetVirtualButton(pad, SDL_CONTROLLER_BUTTON_START, 1), 0);
    client_event event = next_of(window, CLIENT_EVENT_PAD_DOWN);
    assert_int_equal(event.key, client_pad_input("Start"));
    assert_int_equal(SDL_JoystickSetVirtualButton(pad, SDL_CONTROLLER_BUTTON_START, 0), 0);
    assert_int_equal(next_of(window, CLIENT_EVENT_PAD_UP).key, client_pad_input("Start"));
    assert_int_equal(SDL_JoystickSetVirtualAxis(pad, SDL_CONTROLLER_AXIS_RIGHTY, INT16_MIN), 0);
    event = next_of(window, CLIENT_EVENT_PAD_AXIS);
    assert_int_equal(event.axis, CLIENT_PAD_RIGHT_Y);
    assert_float_equal(event.value, -1.0f, 0.0f);
    SDL_JoystickClose(pad);
    assert_int_equal(SDL_JoystickDetachVirtual(device), 0);
    assert_int_equal(next_of(window, CLIENT_EVENT_PAD_GONE).pad, 0);
    assert_string_equal(client_window_pad_name(window, 0), "Test Pad"); // whose end one tells
}

CASE_MADE(client_window, window, open_with_pads(), client_window_destroy(window),
          more_game_controllers_than_there_are_numbers_are_ignored) {
    SDL_Joystick* pads[CLIENT_PADS_MAX + 1];
    int devices[CLIENT_PADS_MAX + 1];
    client_event event;
    uint32_t came = 0;
    for (uint32_t i = 0; i < BASE_COUNT(pads); i++)
        pads[i] = plug(&devices[i]);
    for (uint32_t i = 0; i < 64; i++) // the last one is reported
        if (client_window_next_event(window, &event) && event.kind == CLIENT_EVENT_PAD_CAME)
            assert_int_equal(event.pad, came++);
    assert_int_equal(came, CLIENT_PADS_MAX);
    // A number is free again when its pad has gone.
    SDL_JoystickClose(pads[1]);
    assert_int_equal(SDL_JoystickDetachVirtual(devices[1]), 0);
    assert_int_equal(next_of(window, CLIENT_EVENT_PAD_GONE).pad, 1);
    (void)plug(&devices[1]);
    assert_int_equal(next_of(window, CLIENT_EVENT_PAD_CAME).pad, 1);
}

// ---- fullscreen, bars, cursors ----

// The one window; each has a new number.
static SDL_Window* find_window(void) {
    SDL_Window* found = NULL;
    for (uint32_t id = 1; id < 64 && !found; id++)
        found = SDL_GetWindowFromID(id);
    assert_non_null(found);
    return found;
}

static bool is_fullscreen(void) {
    return (SDL_GetWindowFlags(find_window()) & SDL_WINDOW_FULLSCREEN_DESKTOP) ==
           SDL_WINDOW_FULLSCREEN_DESKTOP;
}

// SDL tells the window about its new size by events, which are no events of ours.
static void press_for_fullscreen(client_window* window, int32_t key, uint16_t held,
                                 bool is_repeat) {
    push_key(SDL_KEYDOWN, key, held, is_repeat);
    push_key(SDL_KEYUP, key, held, false);
    client_event event;
    for (uint32_t i = 0; i < 3; i++)
        while (client_window_next_event(window, &event))
            assert_true(event.kind != CLIENT_EVENT_KEY_DOWN && event.kind != CLIENT_EVENT_KEY_UP);
}

static void assert_size(client_window* window, float width, float height) {
    client_window_begin_frame(window, 1000000);
    float screen_width = 0.0f, screen_height = 0.0f, x = 0.0f, y = 0.0f;
    client_draw_canvas_size(client_window_canvases(window), CLIENT_CANVAS_SCREEN, &screen_width,
                            &screen_height);
    client_draw_to_canvas(client_window_canvases(window), CLIENT_CANVAS_SCREEN, width, height, &x,
                          &y);
    assert_float_equal(x, screen_width, 0.01f);
    assert_float_equal(y, screen_height, 0.01f);
    assert_true(client_window_end_frame(window, NULL));
}

WINDOW_CASE(fullscreen_comes_and_goes_by_key, 0.0) {
    assert_size(window, 600, 400);
    SDL_DisplayMode display;
    assert_int_equal(SDL_GetDesktopDisplayMode(0, &display), 0);
    press_for_fullscreen(window, SDLK_F11, 0, false);
    assert_true(is_fullscreen());
    assert_size(window, (float)display.w, (float)display.h);
    press_for_fullscreen(window, SDLK_F11, 0, true); // held: it stays
    assert_true(is_fullscreen());
    press_for_fullscreen(window, SDLK_RETURN, KMOD_LALT, false);
    assert_false(is_fullscreen());
    assert_size(window, 600, 400);
    press_for_fullscreen(window, SDLK_RETURN, KMOD_RALT, false);
    assert_true(is_fullscreen());
    press_for_fullscreen(window, SDLK_F11, 0, false);
    push_key(SDL_KEYDOWN, SDLK_RETURN, KMOD_LSHIFT, false);
    assert_int_equal(next(window, true).kind, CLIENT_EVENT_KEY_DOWN); // alone it is a key
    assert_false(is_fullscreen());
}

// The view of 3:2 in a window of 2:1 has bars on its sides. The pointer is outside of the view
// there.
WINDOW_CASE(the_pointer_is_right_between_bars, 0.0) {
    SDL_SetWindowSize(find_window(), 800, 400);
    client_event event;
    while (client_window_next_event(window, &event)) {
    }
    client_window_begin_frame(window, 1);
    assert_true(client_window_end_frame(window, NULL));
    static const struct {
        int at_x, at_y;
        float x, y;
    } places[] = {
        {100, 0, 0, 0}, {700, 400, 1200, 800}, {400, 200, 600, 400}, {50, 100, -100, 200}};
    for (uint32_t i = 0; i < BASE_COUNT(places); i++) {
        push_motion(places[i].at_x, places[i].at_y);
        event = next(window, true);
        float x = 0.0f, y = 0.0f;
        client_draw_to_canvas(client_window_canvases(window), CLIENT_CANVAS_VIEW, event.x, event.y,
                              &x, &y);
        assert_float_equal(x, places[i].x, 0.01f);
        assert_float_equal(y, places[i].y, 0.01f);
    }
}

// SDL's dummy driver has no pictures of cursors, only whether one is shown.
WINDOW_CASE(a_game_chooses_whether_the_pointer_is_marked, 0.0) {
    static const net_cursor cursors[] = {NET_CURSOR_CROSSHAIR, NET_CURSOR_NONE, NET_CURSOR_ARROW,
                                         NET_CURSOR_NONE, NET_CURSOR_CROSSHAIR};
    assert_int_equal(SDL_ShowCursor(SDL_QUERY), SDL_ENABLE);
    for (uint32_t i = 0; i < BASE_COUNT(cursors); i++) {
        client_window_set_cursor(window, cursors[i]);
        assert_int_equal(SDL_ShowCursor(SDL_QUERY),
                         cursors[i] == NET_CURSOR_NONE ? SDL_DISABLE : SDL_ENABLE);
    }
}
