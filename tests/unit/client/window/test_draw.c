// SPDX-License-Identifier: MIT
// There are pixels where something was drawn, and no pixels elsewhere.
#include "picture.h"

#include "net/draw.h"

#include <math.h>

static const ecs_color white = {255, 255, 255, 255};

#define PICTURE_CASE(name, ...)                                                                    \
    CASE_WITH(picture, p, picture_open(p, __VA_ARGS__), picture_close(p), name)

PICTURE_CASE(a_rectangle_covers_exactly_its_pixels, 1200, 800, 1200.0f, 800.0f) {
    p->view.rect(p->view.context, 100.0f, 50.0f, 66.0f, 24.0f, red);
    client_draw_end(p->draw);
    assert_int_equal(picture_count(p, 0, 0, 1200, 800, red, 0), 66 * 24);
    assert_int_equal(picture_count(p, 100, 50, 66, 24, red, 0), 66 * 24);
}

PICTURE_CASE(the_view_gets_a_part_of_the_picture, 1200, 800, 600.0f, 400.0f) {
    client_draw_place_view(p->draw, (client_area){0.5f, 0.0f, 1.0f, 0.75f});
    p->view = client_draw_get(p->draw, CLIENT_CANVAS_VIEW);
    assert_float_equal(p->view.pixels_per_unit, 1.0f, 0.001f);
    p->view.rect(p->view.context, -5000.0f, -5000.0f, 20000.0f, 20000.0f, red);
    client_draw_end(p->draw);
    assert_int_equal(picture_count(p, 0, 0, 1200, 800, red, 0), 600 * 400);
    assert_int_equal(picture_count(p, 600, 100, 600, 400, red, 0), 600 * 400);
    client_draw_resize(p->draw, 1200, 800, 600.0f, 400.0f); // the next frame has all of it
    assert_float_equal(client_draw_get(p->draw, CLIENT_CANVAS_VIEW).pixels_per_unit, 2.0f, 0.001f);
}

// A rectangle of 20 x 20 units around (500, 300): where it lies, and how large it is.
static void draw_box(picture* p, const ecs_color color) {
    p->view.rect(p->view.context, 490.0f, 290.0f, 20.0f, 20.0f, color);
}

PICTURE_CASE(a_camera_moves_and_enlarges_what_is_drawn, 1200, 800, 600.0f, 400.0f) {
    float x = 0.0f, y = 0.0f;
    client_draw_to_game(p->draw, 0.0f, 0.0f, &x, &y);
    assert_float_equal(x, 0.0f, 0.001f);
    net_draw_camera(&p->view, 500.0f, 300.0f, 3.0f);
    assert_float_equal(p->view.pixels_per_unit, 6.0f, 0.001f);
    draw_box(p, red);
    // What makes no sense changes nothing.
    net_draw_camera(&p->view, NAN, 0.0f, 1.0f);
    net_draw_camera(&p->view, 0.0f, INFINITY, 1.0f);
    net_draw_camera(&p->view, 0.0f, 0.0f, 0.0f);
    net_draw_camera(&p->view, 0.0f, 0.0f, -1.0f);
    net_draw_camera(&p->view, 0.0f, 0.0f, NAN);
    assert_float_equal(p->view.pixels_per_unit, 6.0f, 0.001f);
    draw_box(p, green);
    net_draw_camera(&p->view, 300.0f, 200.0f, 1.0f); // what lies over it
    assert_float_equal(p->view.pixels_per_unit, 2.0f, 0.001f);
    p->view.rect(p->view.context, 0.0f, 0.0f, 10.0f, 10.0f, blue);
    client_draw_end(p->draw);
    assert_int_equal(picture_count(p, 0, 0, 1200, 800, green, 0), 120 * 120);
    assert_int_equal(picture_count(p, 540, 340, 120, 120, green, 0), 120 * 120);
    assert_int_equal(picture_count(p, 0, 0, 20, 20, blue, 0), 400);
    // The pointer is where the first camera saw it, until the canvas is placed again.
    client_draw_to_game(p->draw, 606.0f, 394.0f, &x, &y);
    assert_float_equal(x, 501.0f, 0.001f);
    assert_float_equal(y, 299.0f, 0.001f);
    client_draw_to_canvas(p->draw, CLIENT_CANVAS_VIEW, 606.0f, 394.0f, &x, &y);
    assert_float_equal(x, 303.0f, 0.001f);
    net_draw_camera(&p->view, 0.0f, 0.0f, 9.0f);
    assert_float_equal(client_draw_get(p->draw, CLIENT_CANVAS_VIEW).pixels_per_unit, 2.0f, 0.001f);
    p->view = client_draw_get(p->draw, CLIENT_CANVAS_VIEW); // and a canvas begins without one
    p->view.rect(p->view.context, 10.0f, 0.0f, 10.0f, 10.0f, blue);
    client_draw_end(p->draw);
    assert_int_equal(picture_count(p, 0, 0, 40, 20, blue, 0), 800);
    client_draw_place_view(p->draw, (client_area){0.0f, 0.0f, 0.5f, 0.5f});
    client_draw_to_game(p->draw, 100.0f, 50.0f, &x, &y);
    assert_float_equal(x, 100.0f, 0.001f);
    assert_float_equal(y, 50.0f, 0.001f);
}

static const struct {
    uint32_t width, height;
    float left, top, scale;
} windows[] = {
    {960, 540, 75.0f, 0.0f, 0.675f}, {1200, 800, 0.0f, 0.0f, 1.0f},
    {600, 800, 0.0f, 200.0f, 0.5f},  {2400, 800, 600.0f, 0.0f, 1.0f},
    {64, 64, 0.0f, 10.0f, 0.05333f},
};

CASE_ROWS(picture, p, picture_open(p, windows[i].width, windows[i].height, 1200.0f, 800.0f),
          picture_close(p), i, BASE_COUNT(windows), the_view_lies_in_the_middle_of_any_window) {
    assert_float_equal(p->view.pixels_per_unit, windows[i].scale, 0.001f);
    float x = 0.0f, y = 0.0f;
    client_draw_to_canvas(p->draw, CLIENT_CANVAS_VIEW, windows[i].left + 123.0f * windows[i].scale,
                          windows[i].top + 456.0f * windows[i].scale, &x, &y);
    assert_float_equal(x, 123.0f, 0.05f);
    assert_float_equal(y, 456.0f, 0.05f);
    // The drawing is larger than the view. The bars beside the view stay.
    p->view.rect(p->view.context, -5000.0f, -5000.0f, 20000.0f, 20000.0f, red);
    client_draw_end(p->draw);
    uint32_t left = (uint32_t)windows[i].left, top = (uint32_t)windows[i].top;
    uint32_t shown = (windows[i].width - 2 * left) * (windows[i].height - 2 * top);
    uint32_t is = picture_count(p, 0, 0, (int)windows[i].width, (int)windows[i].height, red, 0);
    // At most one row less at either end.
    assert_true(is <= shown && is + 2 * windows[i].width >= shown);
    assert_true(left == 0 || picture_is_background(p, (int)left - 1, 20));
    assert_true(top == 0 || picture_is_background(p, 20, (int)top - 1));
}

PICTURE_CASE(the_screen_keeps_its_units_at_any_size, 1920, 1080, 1200.0f, 800.0f) {
    float width = 0.0f, height = 0.0f;
    client_draw_canvas_size(p->draw, CLIENT_CANVAS_SCREEN, &width, &height);
    assert_float_equal(width, 960.0f, 0.01f);
    assert_float_equal(height, 540.0f, 0.01f);
    p->screen.rect(p->screen.context, 0.0f, 0.0f, 10.0f, 10.0f, green);
    client_draw_end(p->draw);
    assert_int_equal(picture_count(p, 0, 0, 40, 40, green, 0), 400);
    client_draw_resize(p->draw, 540, 1080, 1200.0f, 800.0f);
    client_draw_canvas_size(p->draw, CLIENT_CANVAS_SCREEN, &width, &height);
    assert_float_equal(width, 960.0f, 0.01f);
    assert_float_equal(height, 1920.0f, 0.01f);
}

static const float radii[] = {2.0f, 5.0f, 13.0f, 40.0f, 150.0f};

CASE_ROWS(picture, p, picture_open(p, 400, 400, 400.0f, 400.0f), picture_close(p), i,
          BASE_COUNT(radii), a_circle_is_round_and_has_a_soft_rim) {
    p->view.circle(p->view.context, 200.0f, 200.0f, radii[i], white);
    client_draw_end(p->draw);
    float drawn = (float)picture_drawn(p, 0, 0, 400, 400);
    float full = (float)picture_count(p, 0, 0, 400, 400, white, 2);
    float area = 3.14159f * radii[i] * radii[i], rim = 2.0f * 3.14159f * radii[i];
    assert_true(full < area + 1.0f && full > area - rim * 1.5f - 4.0f);
    assert_true(drawn > area - 4.0f && drawn < area + rim * 1.5f + 8.0f);
    assert_true(picture_is(p, 200, 200, white, 2));
    // The corner of its box is empty.
    int corner = (int)(radii[i] * 0.8f) + 1;
    assert_true(picture_is_background(p, 200 + corner + 1, 200 + corner + 1));
}

PICTURE_CASE(lines_are_as_wide_and_long_as_asked, 400, 400, 400.0f, 400.0f) {
    p->view.line(p->view.context, 10.0f, 20.5f, 110.0f, 20.5f, 1.0f, green);
    p->view.line(p->view.context, 200.0f, 10.0f, 200.0f, 110.0f, 4.0f, green);
    client_draw_end(p->draw);
    assert_int_equal(picture_count(p, 0, 0, 400, 400, green, 0), 100 + 400);
    picture_begin(p);
    p->view.line(p->view.context, 50.0f, 50.0f, 350.0f, 250.0f, 6.0f, blue);
    client_draw_end(p->draw);
    float length = sqrtf(300.0f * 300.0f + 200.0f * 200.0f);
    float full = (float)picture_count(p, 0, 0, 400, 400, blue, 8);
    assert_true(full > length * 4.2f && full < length * 6.2f);
    assert_true(picture_is(p, 200, 150, blue, 8));
    assert_true(picture_is_background(p, 200, 160));
}

PICTURE_CASE(an_upright_gradient_goes_from_top_to_bottom, 100, 256, 100.0f, 256.0f) {
    const float points[] = {0, 0, 100, 0, 0, 256, 0, 256, 100, 0, 100, 256};
    const ecs_color colors[] = {red, red, blue, blue, red, blue};
    p->view.triangles(p->view.context, points, colors, 6);
    client_draw_end(p->draw);
    assert_true(picture_is(p, 50, 0, red, 1));
    assert_true(picture_is(p, 50, 255, blue, 1));
    assert_true(picture_is(p, 50, 128, (ecs_color){127, 0, 128, 255}, 2));
    for (int y = 0; y < 256; y++)
        assert_true(picture_is(p, 0, y, picture_pixel(p, 99, y), 0));
}

PICTURE_CASE(other_triangles_are_triangles, 100, 100, 100.0f, 100.0f) {
    const float points[] = {10, 10, 90, 10, 10, 90};
    const ecs_color colors[] = {green, green, green};
    p->view.triangles(p->view.context, points, colors, 3);
    client_draw_end(p->draw);
    float full = (float)picture_count(p, 0, 0, 100, 100, green, 0);
    assert_true(full > 3000.0f && full < 3400.0f);
    assert_true(picture_is(p, 20, 20, green, 0));
    assert_true(picture_is_background(p, 80, 80));
}

PICTURE_CASE(text_is_as_wide_as_it_says_and_stands_below_its_y, 600, 200, 600.0f, 200.0f) {
    const char* text = "Hello, \xc3\xa9t\xc3\xa9";
    float width = p->view.text_width(p->view.context, 40.0f, text);
    p->view.text(p->view.context, 50.0f, 60.0f, 40.0f, white, text);
    client_draw_end(p->draw);
    assert_true(width > 100.0f && width < 300.0f);
    assert_true(picture_drawn(p, 50, 60, (int)width + 2, 50) > 300);
    assert_int_equal(picture_drawn(p, 0, 0, 48, 200), 0);
    assert_int_equal(picture_drawn(p, 0, 0, 600, 58), 0);
    assert_int_equal(picture_drawn(p, 0, 112, 600, 88), 0);
    int right = 50 + (int)width + 3;
    assert_int_equal(picture_drawn(p, right, 0, 600 - right, 200), 0);
}

PICTURE_CASE(nothing_that_is_no_shape_is_drawn, 100, 100, 100.0f, 100.0f) {
    const ecs_color clear = {255, 255, 255, 0};
    const float nan = NAN, far = 1e30f;
    p->view.rect(p->view.context, 10.0f, 10.0f, 20.0f, 20.0f, clear);
    p->view.rect(p->view.context, 10.0f, 10.0f, 0.0f, 20.0f, red);
    p->view.rect(p->view.context, 10.0f, 10.0f, -5.0f, 20.0f, red);
    p->view.rect(p->view.context, nan, nan, nan, nan, red);
    p->view.circle(p->view.context, 50.0f, 50.0f, 0.0f, red);
    p->view.circle(p->view.context, 50.0f, 50.0f, nan, red);
    p->view.circle(p->view.context, far, far, 5.0f, red);
    p->view.line(p->view.context, 10.0f, 10.0f, 10.0f, 10.0f, 3.0f, red);
    p->view.line(p->view.context, 10.0f, 10.0f, 20.0f, 20.0f, 0.0f, red);
    p->view.text(p->view.context, 10.0f, 10.0f, 0.0f, red, "x");
    p->view.text(p->view.context, 10.0f, 10.0f, nan, red, "x");
    p->view.text(p->view.context, -far, 10.0f, 20.0f, red, "x");
    p->view.text(p->view.context, 10.0f, 10.0f, 20.0f, red, "");
    p->view.triangles(p->view.context, NULL, NULL, 0);
    client_draw_end(p->draw);
    assert_int_equal(picture_drawn(p, 0, 0, 100, 100), 0);
}

PICTURE_CASE(later_calls_lie_above_earlier_ones_on_both_canvases, 960, 540, 960.0f, 540.0f) {
    p->view.rect(p->view.context, 10.0f, 10.0f, 50.0f, 50.0f, red);
    p->screen.rect(p->screen.context, 20.0f, 20.0f, 50.0f, 50.0f, green);
    p->view.circle(p->view.context, 45.0f, 45.0f, 4.0f, blue);
    p->view.rect(p->view.context, 30.0f, 30.0f, 5.0f, 5.0f, white);
    client_draw_end(p->draw);
    assert_true(picture_is(p, 15, 15, red, 0));
    assert_true(picture_is(p, 25, 25, green, 0));
    assert_true(picture_is(p, 45, 45, blue, 0));
    assert_true(picture_is(p, 32, 32, white, 0));
}

// More shapes than a batch holds, and more letters than the texture has room for.
PICTURE_CASE(full_batches_and_textures_are_begun_again, 960, 540, 960.0f, 540.0f) {
    for (uint32_t i = 0; i < 20000; i++) {
        p->view.rect(p->view.context, (float)(i % 300) * 3.0f, (float)(i / 300) * 3.0f, 2.0f, 2.0f,
                     i % 2 ? red : green);
    }
    client_draw_end(p->draw);
    assert_int_equal(picture_count(p, 0, 0, 960, 540, red, 0), 40000);
    assert_int_equal(picture_count(p, 0, 0, 960, 540, green, 0), 40000);
    assert_true(client_draw_batches(p->draw) > 1);
    picture_begin(p);
    for (uint32_t height = 20; height <= 160; height += 4) {
        for (uint32_t c = 'A'; c <= 'z'; c++) {
            const char text[2] = {(char)c, 0};
            p->view.text(p->view.context, 500.0f, 10.0f, (float)height, white, text);
        }
    }
    p->view.text(p->view.context, 10.0f, 10.0f, 40.0f, white, "H");
    client_draw_end(p->draw);
    assert_true(picture_count(p, 10, 10, 40, 50, white, 10) > 100);
}

// One call with many solid triangles draws without blending. The picture equals the picture of
// single calls.
CASE(a_mass_of_solid_triangles_looks_as_one_by_one) {
    enum { TRIANGLES = 200 };
    static float points[TRIANGLES * 6];
    static ecs_color colors[TRIANGLES * 3];
    base_rng rng = base_rng_make(5, 5);
    for (uint32_t i = 0; i < TRIANGLES; i++) {
        const ecs_color color = {(uint8_t)base_rng_below(&rng, 256), (uint8_t)(i & 255), 90, 255};
        for (uint32_t k = 0; k < 6; k++)
            points[i * 6 + k] = (float)base_rng_range(&rng, -5, 105);
        for (uint32_t k = 0; k < 3; k++)
            colors[i * 3 + k] = color;
    }
    picture mass, single;
    picture_open(&mass, 100, 100, 100.0f, 100.0f);
    picture_open(&single, 100, 100, 100.0f, 100.0f);
    const ecs_color veil = {200, 0, 0, 100}; // the next drawing is blended again
    mass.view.triangles(mass.view.context, points, colors, TRIANGLES * 3);
    mass.view.rect(mass.view.context, 20.0f, 20.0f, 50.0f, 50.0f, veil);
    for (uint32_t i = 0; i < TRIANGLES; i++)
        single.view.triangles(single.view.context, points + i * 6, colors + i * 3, 3);
    single.view.rect(single.view.context, 20.0f, 20.0f, 50.0f, 50.0f, veil);
    client_draw_end(mass.draw);
    client_draw_end(single.draw);
    for (int y = 0; y < 100; y++)
        for (int x = 0; x < 100; x++)
            assert_true(picture_is(&mass, x, y, picture_pixel(&single, x, y), 0));
    picture_close(&mass);
    picture_close(&single);
}

static void draw_scene(picture* p) {
    for (uint32_t i = 0; i < 60; i++) {
        p->view.rect(p->view.context, (float)i * 15.0f, 40.0f, 12.0f, 8.0f, green);
        p->view.circle(p->view.context, (float)i * 15.0f, 90.3f, (float)i * 0.5f + 1.0f, red);
        p->view.line(p->view.context, (float)i, 100.0f, (float)i * 9.0f, 300.0f, 1.5f, blue);
    }
    p->view.text(p->view.context, 20.0f, 400.0f, 33.3f, white, "The same again");
    p->screen.text(p->screen.context, 20.0f, 450.0f, 12.0f, white, "and 0123456789");
}

PICTURE_CASE(a_steady_frame_allocates_nothing_and_repeats_its_bytes, 960, 540, 1200.0f, 800.0f) {
    draw_scene(p);
    client_draw_end(p->draw);
    size_t bytes = (size_t)p->surface->pitch * (size_t)p->surface->h;
    uint8_t* first = malloc(bytes);
    assert_non_null(first);
    memcpy(first, p->surface->pixels, bytes);
    uint64_t calls = p->memory.calls;
    for (uint32_t i = 0; i < 20; i++) {
        picture_begin(p);
        draw_scene(p);
        client_draw_end(p->draw);
        assert_memory_equal(first, p->surface->pixels, bytes);
    }
    assert_int_equal(p->memory.calls, calls);
    free(first);
}

static const char* name_of(void* context, uint32_t client) {
    return client == *(const uint32_t*)context ? "Ada" : NULL;
}

CASE_WITH(picture, p, picture_open(p, 100, 100, 100.0f, 100.0f), picture_close(p),
          names_come_from_who_knows_them) {
    uint32_t known = 3;
    assert_null(p->view.player_name(p->view.context, 3));
    client_draw_set_names(p->draw, name_of, &known);
    assert_string_equal(p->view.player_name(p->view.context, 3), "Ada");
    assert_string_equal(p->screen.player_name(p->screen.context, 3), "Ada");
    assert_null(p->view.player_name(p->view.context, 4));
}
