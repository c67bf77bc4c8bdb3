// SPDX-License-Identifier: MIT
#include "svg.h"
#include "net/draw.h"
#include "test.h"

#include <string.h>

#define PAGE_BYTES 8192u
static const ecs_color red = {255, 0, 0, 255};
static const ecs_color blue = {0, 0, 255, 255};

typedef struct page {
    svg picture;
    net_draw draw;
    FILE* file;
    char text[PAGE_BYTES];
} page;

static void page_open(page* p) {
    p->file = tmpfile();
    assert_non_null(p->file);
    svg_begin(&p->picture, p->file, 100.0f, 50.5f, "a <page>");
    p->draw = svg_draw(&p->picture);
}

static const char* page_close(page* p) {
    assert_true(svg_end(&p->picture));
    rewind(p->file);
    p->text[fread(p->text, 1, PAGE_BYTES - 1, p->file)] = 0;
    fclose(p->file);
    return p->text;
}

CASE(alike_rectangles_share_a_path) {
    page p;
    page_open(&p);
    p.draw.rect(p.draw.context, 1.0f, 2.0f, 3.0f, 4.0f, red);
    p.draw.rect(p.draw.context, -1.25f, 0.04f, 3.0f, 4.0f, red);
    p.draw.rect(p.draw.context, 1.0f, 2.0f, 3.0f, 4.0f, (ecs_color){0, 0, 255, 51});
    p.draw.rect(p.draw.context, 1.0f, 2.0f, 3.0f, 4.0f, (ecs_color){1, 2, 3, 0}); // nothing to see
    const char* text = page_close(&p);
    assert_non_null(
        strstr(text, "<path fill=\"#ff0000\" d=\"M1 2h3v4h-3zM-1.3 0h3v4h-3z\"/>\n"
                     "<path fill=\"#0000ff\" fill-opacity=\".200\" d=\"M1 2h3v4h-3z\"/>\n</svg>"));
    assert_non_null(strstr(text, "viewBox=\"0 0 100 50.5\""));
}

CASE(a_quad_from_top_to_bottom_becomes_a_gradient) {
    page p;
    page_open(&p);
    const float points[] = {0, 0, 4, 0, 0, 2, 0, 2, 4, 0, 4, 2};
    const ecs_color colors[] = {red, red, blue, blue, red, blue};
    p.draw.triangles(p.draw.context, points, colors, 6);
    p.draw.triangles(p.draw.context, points, colors, 6);
    const char* text = page_close(&p);
    const char* rect = "<rect x=\"0\" y=\"0\" width=\"4\" height=\"2\" fill=\"url(#g0)\"/>\n";
    const char* first = strstr(text, rect);
    assert_non_null(first);
    assert_non_null(strstr(first + 1, rect));
    assert_null(strstr(text, "polygon"));
    assert_null(strstr(text, "g1")); // one gradient serves both
}

CASE(other_triangles_become_polygons_of_their_mean_color) {
    page p;
    page_open(&p);
    const float slanted[] = {0, 0, 4, 1, 0, 2, 0, 2, 4, 0, 4, 2};
    const float twice[] = {0, 0, 4, 0, 0, 2, 0, 0, 4, 0, 0, 2}; // the same half two times
    const ecs_color colors[] = {red, red, blue, red, red, blue};
    p.draw.triangles(p.draw.context, slanted, colors, 6);
    p.draw.triangles(p.draw.context, twice, colors, 6);
    const char* text = page_close(&p);
    assert_non_null(strstr(text, "<polygon fill=\"#aa0055\" points=\"0 0 4 1 0 2\"/>"));
    assert_non_null(strstr(text, "<polygon fill=\"#aa0055\" points=\"0 2 4 0 4 2\"/>"));
    assert_null(strstr(text, "<rect"));
}

CASE(text_of_players_cannot_leave_its_element) {
    page p;
    page_open(&p);
    p.draw.text(p.draw.context, 0.0f, 0.0f, 10.0f, red, "<a>&\n.");
    assert_float_equal(p.draw.text_width(p.draw.context, 10.0f, "ab"), 11.12f, 0.01f);
    assert_float_equal(p.draw.text_width(p.draw.context, 10.0f, "~W"), 15.28f, 0.01f);
    const char* text = page_close(&p);
    assert_non_null(strstr(text, "y=\"8\" font-size=\"10\" fill=\"#ff0000\">&lt;a>&amp;?.</text>"));
    assert_non_null(strstr(text, "<title>a &lt;page></title>"));
}

CASE(a_sprite_names_its_file_and_shows_one_frame) {
    page p;
    page_open(&p);
    net_draw_sprite(&p.draw, (net_sprite){.image = "ship.png",
                                          .x = 10,
                                          .y = 20,
                                          .width = 8,
                                          .columns = 3,
                                          .rows = 2,
                                          .frame = 10, // of 6: the fifth
                                          .flip_x = true,
                                          .angle = 3.14159265f / 2.0f});
    net_draw_sprite(&p.draw, (net_sprite){.image = "no_size.png", .x = 10, .y = 20});
    const char* text = page_close(&p);
    assert_non_null(strstr(
        text,
        "<g transform=\"translate(10 20) rotate(90) scale(-1 1)\"><svg x=\"-4\" y=\"-4\" "
        "width=\"8\" height=\"8\" viewBox=\"1 1 1 1\" preserveAspectRatio=\"none\"><image "
        "width=\"3\" height=\"2\" preserveAspectRatio=\"none\" href=\"ship.png\"/></svg></g>"));
    assert_null(strstr(text, "no_size"));
}

CASE(what_has_no_file_is_drawn_into_nothing) {
    svg picture;
    svg_begin(&picture, NULL, 1.0f, 1.0f, "");
    net_draw draw = svg_draw(&picture);
    const float points[] = {0, 0, 4, 0, 0, 2};
    const ecs_color colors[] = {red, red, blue};
    draw.rect(draw.context, 0.0f, 0.0f, 1.0f, 1.0f, red);
    draw.circle(draw.context, 0.0f, 0.0f, 1.0f, red);
    draw.line(draw.context, 0.0f, 0.0f, 1.0f, 1.0f, 1.0f, red);
    draw.triangles(draw.context, points, colors, 3);
    draw.text(draw.context, 0.0f, 0.0f, 1.0f, red, "a");
    net_draw_sprite(&draw, (net_sprite){.image = "ship.png", .width = 1.0f});
    assert_true(svg_end(&picture));
}
