// SPDX-License-Identifier: MIT
#include "window/panel.h"

#include "picture.h"

#include <math.h>

static client_panel_sample same(float value) {
    client_panel_sample sample;
    for (uint32_t i = 0; i < CLIENT_PLOT_COUNT; i++)
        sample.values[i] = value;
    return sample;
}

CASE(a_scale_is_a_round_number_that_holds_the_largest_value) {
    static const float cases[][2] = {{0.0f, 50.0f},    {50.0f, 50.0f},   {50.1f, 100.0f},
                                     {100.0f, 100.0f}, {130.0f, 200.0f}, {201.0f, 500.0f},
                                     {700.0f, 1000.0f}};
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        client_panel panel = {0};
        client_panel_sample sample = same(cases[i][0]);
        client_panel_add(&panel, &sample);
        assert_float_equal(client_panel_scale(&panel, CLIENT_PLOT_RTT), cases[i][1], 0.01f);
    }
    client_panel empty = {0};
    assert_true(client_panel_scale(&empty, CLIENT_PLOT_RTT) > 0.0f);
    client_panel_sample odd = same(NAN);
    client_panel_add(&empty, &odd);
    odd = same(INFINITY);
    client_panel_add(&empty, &odd);
    assert_true(client_panel_scale(&empty, CLIENT_PLOT_RTT) > 0.0f);
}

CASE(each_fault_has_its_sentence_above_its_threshold_alone) {
    const client_advice_facts good = {.loss_percent = CLIENT_ADVICE_LOSS_PERCENT,
                                      .frame_ms = CLIENT_ADVICE_FRAME_MS,
                                      .view_ms = CLIENT_ADVICE_VIEW_MS,
                                      .rtt_ms = CLIENT_ADVICE_RTT_MS,
                                      .ticks_s = 60.0 * CLIENT_ADVICE_TICKS_PART,
                                      .rate_hz = 60.0,
                                      .corrections_s = CLIENT_ADVICE_CORRECTIONS};
    client_advice_facts bad[6] = {good, good, good, good, good, good};
    static const char* const sentences[] = {
        "frames take 40 ms: this machine draws too slowly",
        "loss 12 %: the line drops packets",
        "the server is late: 14 of 60 ticks a second",
        "round trip 250 ms: the server is far away",
        "view 300 ms behind: packets come unevenly",
        "5 corrections a second: snap what is rounded",
    };
    char text[96];
    assert_false(client_advice_write(&good, text, sizeof text));
    assert_string_equal(text, "nothing is wrong");
    bad[0].frame_ms = 40.0;
    bad[1].loss_percent = 12.0;
    bad[2].ticks_s = 14.0;
    bad[3].rtt_ms = 250.0;
    bad[4].view_ms = 300.0;
    bad[5].corrections_s = 5.0;
    for (uint32_t i = 0; i < BASE_COUNT(bad); i++) {
        assert_true(client_advice_write(&bad[i], text, sizeof text));
        assert_string_equal(text, sentences[i]);
    }
    bad[3].is_local = true;
    assert_true(client_advice_write(&bad[3], text, sizeof text));
    assert_string_equal(text, "round trip 250 ms in one program: --net, or a busy machine");
    client_advice_facts unknown = good;
    unknown.ticks_s = 0.0; // no rate yet
    assert_false(client_advice_write(&unknown, text, sizeof text));
}

CASE(old_samples_give_way) {
    client_panel panel = {0};
    client_panel_sample high = same(900.0f), low = same(1.0f);
    client_panel_add(&panel, &high);
    for (uint32_t i = 0; i + 1 < CLIENT_PANEL_SAMPLES; i++)
        client_panel_add(&panel, &low);
    assert_float_equal(client_panel_scale(&panel, CLIENT_PLOT_RTT), 1000.0f, 0.01f);
    client_panel_add(&panel, &low);
    assert_float_equal(client_panel_scale(&panel, CLIENT_PLOT_RTT), 50.0f, 0.01f);
    assert_int_equal(panel.count, CLIENT_PANEL_SAMPLES);
}

static void fill(client_panel* panel) {
    *panel = (client_panel){0};
    for (uint32_t i = 0; i < CLIENT_PANEL_SAMPLES; i++) {
        client_panel_sample sample;
        for (uint32_t k = 0; k < CLIENT_PLOT_COUNT; k++) {
            float scale = client_panel_scale(panel, (client_plot)k);
            sample.values[k] = i < CLIENT_PANEL_SAMPLES / 2 ? 0.0f : scale * 0.75f;
        }
        client_panel_add(panel, &sample);
    }
    panel->facts = (client_panel_facts){.title = "Breakout",
                                        .tick = 1234.5,
                                        .created = 50,
                                        .meter.pace = 1.0,
                                        .parts = {{"pos", 4000.0f}, {"vel", 1000.0f}},
                                        .part_count = 2,
                                        .parts_bytes_s = 5000.0f};
}

// A panel with its picture.
typedef struct board {
    client_panel panel;
    picture p;
} board;

static void show_panel(board* b, uint32_t width, uint32_t height) {
    picture_open(&b->p, width, height, 0.0f, 0.0f);
    client_panel_draw(&b->panel, &b->p.screen);
    client_draw_end(b->p.draw);
}

static void open_board(board* b) {
    fill(&b->panel);
    show_panel(b, WIDTH, HEIGHT);
}

#define BOARD_CASE(name) CASE_WITH(board, b, open_board(b), picture_close(&b->p), name)

// The value is zero half of the time, then three quarters of the scale.
BOARD_CASE(plots_stand_where_they_say_and_as_high_as_their_values) {
    for (uint32_t i = 0; i < CLIENT_PLOT_COUNT; i++) {
        float x = 0.0f, y = 0.0f, width = 0.0f, height = 0.0f;
        client_panel_plot_box((client_plot)i, &x, &y, &width, &height);
        ecs_color color = client_panel_plot_color((client_plot)i);
        int top = (int)(y + height * 0.25f + 0.5f);
        int middle = (int)(x + width * 0.5f), right = (int)(x + width);
        // A bright line over the newer half: at the height of the value and not above.
        uint32_t bright =
            picture_count(&b->p, middle + 2, top - 2, right - middle - 3, 4, color, 30);
        assert_true(bright >= (uint32_t)(right - middle - 3));
        assert_int_equal(
            picture_count(&b->p, (int)x, (int)y, (int)width, top - 3 - (int)y, color, 30), 0);
        // The tinted bar is below the line. The older half has no bar at that height.
        ecs_color bar = picture_pixel(&b->p, (middle + right) / 2, (int)(y + height * 0.6f));
        ecs_color none = picture_pixel(&b->p, (int)x + 10, (int)(y + height * 0.6f));
        assert_true(bar.r + bar.g + bar.b > none.r + none.g + none.b + 60);
    }
}

BOARD_CASE(the_panel_stays_within_its_box_and_is_readable) {
    int left = (int)CLIENT_PANEL_LEFT, top = (int)CLIENT_PANEL_TOP;
    int width = (int)CLIENT_PANEL_WIDTH, height = (int)CLIENT_PANEL_HEIGHT;
    assert_int_equal(picture_drawn(&b->p, 0, 0, 960, 540), width * height);
    assert_int_equal(picture_drawn(&b->p, left, top, width, height), width * height);
    // Letters: bright pixels in the head, none at the margins.
    assert_true(picture_count(&b->p, left + 8, top + 4, 100, 20, bright_text, 60) > 40);
    assert_int_equal(picture_count(&b->p, left + 1, top + 2, 6, height - 4, bright_text, 60), 0);
    assert_int_equal(
        picture_count(&b->p, left + width - 7, top + 2, 6, height - 4, bright_text, 60), 0);
}
