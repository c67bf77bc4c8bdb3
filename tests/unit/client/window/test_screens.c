// SPDX-License-Identifier: MIT
// Screens by their pictures: the card is at its place, in its colour, with letters on it.
#include "window/screens.h"

#include "net/limits.h"

#include "picture.h"

static const ecs_color bad = {255, 107, 107, 255};
static const ecs_color bright = {200, 210, 220, 255};

// Check the bar on top of the card: its width is that of the card, and its height is right.
static void has_card(const picture* p, ecs_color edge, uint32_t width) {
    uint32_t pixels = picture_count(p, 0, 0, WIDTH, HEIGHT, edge, 2);
    assert_in_range(pixels, width * 3, width * 3 + 1500);
}

SCREEN_CASE(connecting_says_where_to_and_turns) {
    size_t bytes = (size_t)p->surface->pitch * HEIGHT;
    uint8_t* first = malloc(bytes);
    assert_non_null(first);
    SHOWN(p,
          client_screen_connecting(&p->screen, WIDTH, HEIGHT, "127.0.0.1:7777", "Breakout", 0.25));
    has_card(p, accent, 520);
    assert_true(picture_count(p, 240, 270, 480, 60, bright_text, 40) > 200);
    memcpy(first, p->surface->pixels, bytes);
    SHOWN(p,
          client_screen_connecting(&p->screen, WIDTH, HEIGHT, "127.0.0.1:7777", "Breakout", 0.25));
    assert_memory_equal(first, p->surface->pixels, bytes);
    SHOWN(p,
          client_screen_connecting(&p->screen, WIDTH, HEIGHT, "127.0.0.1:7777", "Breakout", 0.75));
    assert_memory_not_equal(first, p->surface->pixels, bytes);
    // The game is not known yet, and the time may have any value.
    picture_begin(p);
    client_screen_connecting(&p->screen, WIDTH, HEIGHT, "127.0.0.1:7777", NULL, 1e9);
    client_screen_waiting(&p->screen, WIDTH, HEIGHT, "Breakout", 0.0);
    client_draw_end(p->draw);
    has_card(p, accent, 520);
    free(first);
}

SCREEN_CASE(who_is_watched_stands_in_a_strip_at_the_lower_edge) {
    const int tall = (int)CLIENT_WATCHING_HEIGHT;
    for (uint32_t i = 0; i < 2; i++) {
        SHOWN(p, client_screen_watching(&p->screen, WIDTH, HEIGHT, "Watching Ada (1 of 3)",
                                        i ? "Left, Right: another" : ""));
        assert_int_equal(picture_drawn(p, 0, 0, WIDTH, HEIGHT - tall), 0);
        assert_int_equal(picture_drawn(p, 0, HEIGHT - tall, WIDTH, tall), WIDTH * tall);
        assert_in_range(picture_count(p, 0, HEIGHT - tall, WIDTH, tall, accent, 2), 3 * 25, 3 * 27);
        assert_true(picture_count(p, 0, HEIGHT - tall, WIDTH, tall, bright_text, 40) > 100);
        const uint32_t hint = picture_count(p, 500, HEIGHT - tall, 400, tall, soft, 20);
        assert_int_equal(hint > 50, i);
    }
}

SCREEN_CASE(a_lost_connection_lies_over_the_dimmed_picture) {
    p->screen.rect(p->screen.context, 0.0f, 0.0f, WIDTH, HEIGHT, bright);
    client_screen_resuming(&p->screen, WIDTH, HEIGHT, 4.0, 26.0, 0.5);
    client_draw_end(p->draw);
    has_card(p, warm, 520);
    ecs_color corner = picture_pixel(p, 5, 5);
    assert_true(corner.r > 40 && corner.r < 130); // dimmed but not black
    assert_true(picture_count(p, 320, 230, 420, 80, bright_text, 40) > 150);
}

SCREEN_CASE(the_end_says_what_and_why_and_what_to_do) {
    SHOWN(p, client_screen_ended(&p->screen, WIDTH, HEIGHT, true, "The server refuses",
                                 "the server is full", "Enter: once more"));
    has_card(p, bad, 520);
    assert_true(picture_count(p, 240, 200, 480, 50, bright_text, 40) > 150);
    assert_true(picture_count(p, 240, 315, 480, 40, accent, 40) > 60);
    // A screen that reports no fault is not red.
    picture_begin(p);
    client_screen_background(&p->screen, WIDTH, HEIGHT);
    client_screen_ended(&p->screen, WIDTH, HEIGHT, false, "The match is over", "", "");
    client_draw_end(p->draw);
    has_card(p, accent, 520);
    assert_int_equal(picture_count(p, 0, 0, WIDTH, HEIGHT, bad, 2), 0);
}

static const char* const reasons[] = {"the game files differ: component pos of template "
                                      "breakout_brick is quantised otherwise here, "
                                      "and so is everything else that one could think of when "
                                      "a sentence has to be very long indeed",
                                      "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW"
                                      "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW",
                                      "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                                      "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3"
                                      "\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3"
                                      "\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                                      "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                                      "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3"
                                      "\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3"
                                      "\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
                                      "",
                                      " ",
                                      "one   two    "};

CASE_ROWS(picture, p, picture_open(p, WIDTH, HEIGHT, 1200.0f, 800.0f), picture_close(p), i,
          BASE_COUNT(reasons), long_reasons_are_broken_and_cut_within_the_card) {
    client_screen_ended(&p->screen, WIDTH, HEIGHT, true, NULL, reasons[i], NULL);
    client_draw_end(p->draw);
    assert_int_equal(picture_count(p, 0, 0, 230, HEIGHT, soft, 40), 0);
    assert_int_equal(picture_count(p, 730, 0, 230, HEIGHT, soft, 40), 0);
    assert_true(i > 2 || picture_count(p, 230, 240, 500, 80, soft, 40) > 100);
}

SCREEN_CASE(help_lists_the_games_keys_and_our_own) {
    const net_action actions[] = {{"left", "Left,A", "to the left", "DPLeft,LeftX-"},
                                  {"fire", "Space", "fire", "A"}};
    const client_help_row rows[] = {{"F1", "the panel"}};
    SHOWN(p, client_screen_help(&p->screen, WIDTH, HEIGHT, "Breakout", actions, 2, rows, 1, false));
    has_card(p, accent, 460);
    assert_true(picture_count(p, 270, 150, 150, 200, accent, 40) > 60);
    assert_true(picture_count(p, 420, 150, 280, 200, bright_text, 40) > 100);
}

SCREEN_CASE(help_shows_game_controllers_beside_the_keys) {
    const net_action actions[] = {{"left", "Left,A", "to the left", "DPLeft,LeftX-"},
                                  {"fire", "Space", NULL, NULL}}; // its name stands for its help
    SHOWN(p, client_screen_help(&p->screen, WIDTH, HEIGHT, "Breakout", actions, 2, NULL, 0, true));
    has_card(p, accent, 650);
    assert_true(picture_count(p, 180, 150, 140, 200, accent, 40) > 60);
    assert_true(picture_count(p, 330, 150, 140, 200, warm, 40) > 60);
    assert_true(picture_count(p, 520, 150, 250, 200, bright_text, 40) > 60);
}

SCREEN_CASE(help_fits_into_a_small_window) {
    const net_action actions[] = {{"left", "Left,A", "to the left", "DPLeft,LeftX-"},
                                  {"fire", "Space", "fire", "A"}};
    SHOWN(p, client_screen_help(&p->screen, 320, 180, "Breakout", actions, 2, NULL, 0, false));
    assert_true(picture_count(p, 15, 60, 60, 100, accent, 90) > 20);
}

SCREEN_CASE(the_table_of_keys_fits_into_a_small_window) {
    const client_binding_row rows[] = {{.name = "left", .keys = "Left"}};
    SHOWN(p, client_screen_bindings(&p->screen, 480, 180, rows, 1, 1, false, "Esc: done"));
    assert_true(picture_count(p, 15, 86, 60, 20, bright_text, 90) > 5); // the action's name
}

static uint32_t strip(picture* p, uint32_t actions_count, bool has_pads, float part,
                      ecs_color color) {
    net_action actions[NET_ACTIONS_MAX];
    for (uint32_t i = 0; i < BASE_COUNT(actions); i++)
        actions[i] = (net_action){"throw a stone", "Left,A", "help", "DPLeft"};
    picture_begin(p);
    const float tall =
        client_screen_legend(&p->screen, WIDTH, HEIGHT, actions, actions_count, has_pads, part);
    client_draw_end(p->draw);
    assert_true(tall < 50.0f && (tall > 0.0f) == (actions_count > 0));
    assert_int_equal(picture_count(p, 0, 0, WIDTH, HEIGHT - (int)tall, bright_text, 40), 0);
    return picture_count(p, 0, HEIGHT - 50, WIDTH, 50, color, 40);
}

SCREEN_CASE(the_legend_says_keys_and_what_they_do_in_a_strip) {
    const uint32_t one = strip(p, 1, false, 1.0f, bright_text);
    assert_true(one > 60);
    assert_int_equal(strip(p, 1, false, 1.0f, warm), 0);
    assert_true(strip(p, 1, true, 1.0f, warm) > 10);
    assert_int_equal(strip(p, 0, true, 1.0f, bright_text), 0);
    assert_int_equal(strip(p, 1, true, 0.0f, bright_text), 0);
    // What has no place in two rows is left to the help.
    const uint32_t many = strip(p, NET_ACTIONS_MAX, true, 1.0f, bright_text);
    assert_int_equal(many, strip(p, NET_ACTIONS_MAX - 1, true, 1.0f, bright_text));
    assert_true(many > 5 * one && many < 20 * one);
}

SCREEN_CASE(a_notice_stands_above_the_legend) {
    SHOWN(p, client_screen_notice(&p->screen, WIDTH, HEIGHT, "Pad 1: a game controller is here",
                                  1.0f));
    assert_true(picture_count(p, 240, HEIGHT - 130, 480, 50, bright_text, 40) > 100);
    assert_int_equal(picture_count(p, 0, HEIGHT - 46, WIDTH, 46, bright_text, 40), 0);
}

SCREEN_CASE(what_a_build_said_lies_over_the_game_while_it_fails) {
    static const char* const lines[CLIENT_FAULTS_MAX] = {
        "hop.c:12:5: error: expected ';' before 'return'", "b", "c", "d", "e", "f"};
    uint32_t before = 0;
    for (uint32_t count = 0; count <= CLIENT_FAULTS_MAX; count++) {
        client_draw_begin(p->draw, (ecs_color){0, 0, 0, 255});
        client_screen_faults(&p->screen, WIDTH, lines, count);
        client_draw_end(p->draw);
        const uint32_t shown = picture_count(p, 60, 40, WIDTH - 120, 300, bright_text, 40);
        assert_true(count == 0 ? shown == 0 : shown > before);
        before = shown;
    }
}

SCREEN_CASE(a_line_shows_its_end) {
    const char* const texts[] = {"", "hello",
                                 ("a line that is so long that it does not fit into its "
                                  "place, of which one sees what one types, the END")};
    uint32_t count[BASE_COUNT(texts)];
    for (uint32_t i = 0; i < BASE_COUNT(texts); i++) {
        SHOWN(p,
              client_screen_line(&p->screen, WIDTH, HEIGHT, texts[i], 0.7)); // without the cursor
        count[i] = picture_count(p, 192, HEIGHT - 130, 576, 60, bright_text, 40);
        assert_int_equal(picture_count(p, 0, 0, 190, HEIGHT, bright_text, 40), 0);
        assert_int_equal(picture_count(p, 770, 0, 190, HEIGHT, bright_text, 40), 0);
    }
    assert_true(count[0] == 0 && count[1] > 30 && count[2] > 8 * count[1]);
}

static uint32_t colored(picture* p, const client_binding_row* row, bool is_waiting,
                        ecs_color color) {
    SHOWN(p, client_screen_bindings(&p->screen, WIDTH, HEIGHT, row, 1, 0, is_waiting, "Esc: done"));
    has_card(p, accent, 720);
    return picture_count(p, 200, 250, 640, 24, color, 40);
}

SCREEN_CASE(keys_that_two_actions_have_are_red) {
    const client_binding_row free = {"left", "Left,A", "DPLeft", NULL, false, false};
    const client_binding_row shared = {"left", "Left,A", "DPLeft", "also fire", false, true};
    assert_true(colored(p, &free, false, accent) > 20);
    assert_true(colored(p, &free, false, warm) > 20);
    assert_int_equal(colored(p, &free, false, bad), 0);
    assert_true(colored(p, &shared, false, bad) > 30);
    assert_true(colored(p, &shared, false, accent) > 20); // the keys are free
    assert_int_equal(colored(p, &shared, false, warm), 0);
    assert_int_equal(colored(p, &shared, true, accent), 0); // it waits for a key
}
