// SPDX-License-Identifier: MIT
// The helpers of pictures: what they draw, as words.

#include "test.h"

#include "ecs/ecs.h"
#include "net/draw.h"
#include "net/tiles.h"

static char drawn[2048];

__attribute__((format(printf, 1, 2))) static void note(const char* format, ...) {
    const size_t length = strlen(drawn);
    va_list values;
    va_start(values, format);
    assert_true(vsnprintf(drawn + length, sizeof drawn - length, format, values) > 0);
    va_end(values);
}

static void draw_rect(void* context, float x, float y, float width, float height, ecs_color color) {
    note("rect %g,%g %gx%g c%d\n", (double)x, (double)y, (double)width, (double)height, color.r);
}
static void draw_text(void* context, float x, float y, float height, ecs_color color,
                      const char* text) {
    note("%s %g,%g h%g c%d\n", text, (double)x, (double)y, (double)height, color.r);
}
// Half as wide as high.
static float text_width(void* context, float height, const char* text) {
    return (float)strlen(text) * height * 0.5f;
}

static const net_draw draw = {.size_bytes = sizeof draw,
                              .rect = draw_rect,
                              .text = draw_text,
                              .text_width = text_width,
                              .pixels_per_unit = 0.5f,
                              .view_width = 200.0f,
                              .view_height = 100.0f};
static const ecs_color white = {255, 255, 255, 255}, dark = {9, 0, 0, 128};

static void expect_drawn(const char* words) {
    assert_string_equal(drawn, words);
    drawn[0] = 0;
}

CASE(a_text_begins_has_its_middle_or_ends_at_a_place) {
    net_draw_text(&draw, 50, 20, 10, white, NET_ALIGN_LEFT, "four");
    net_draw_text(&draw, 50, 20, 10, white, NET_ALIGN_MIDDLE, "four");
    net_draw_text(&draw, 50, 20, 10, white, NET_ALIGN_RIGHT, "four");
    expect_drawn("four 50,20 h10 c255\nfour 40,20 h10 c255\nfour 30,20 h10 c255\n");
}

CASE(each_anchor_is_a_place_at_the_edges_of_the_view) {
    for (net_anchor anchor = NET_TOP_LEFT; anchor <= NET_BOTTOM_RIGHT; anchor++)
        net_draw_text_at(&draw, anchor, 4, 10, white, "ab");
    expect_drawn("ab 4,4 h10 c255\nab 95,4 h10 c255\nab 186,4 h10 c255\n"
                 "ab 4,45 h10 c255\nab 95,45 h10 c255\nab 186,45 h10 c255\n"
                 "ab 4,86 h10 c255\nab 95,86 h10 c255\nab 186,86 h10 c255\n");
}

CASE(a_table_is_as_wide_as_its_widest_name_and_value) {
    const net_row rows[] = {{"Ada", "7", white}, {"Grace", "12", dark}};
    net_draw_rows(&draw, NET_TOP_RIGHT, 0, 10, dark, rows, 2);
    expect_drawn("rect 145,0 55x31 c9\nAda 150,3 h10 c255\n7 190,3 h10 c255\n"
                 "Grace 150,16 h10 c9\n12 185,16 h10 c9\n");
    const net_row lines[] = {{"hello", NULL, white}};
    net_draw_rows(&draw, NET_BOTTOM_LEFT, 2, 10, dark, lines, 1);
    expect_drawn("rect 2,80 35x18 c9\nhello 7,83 h10 c255\n");
    net_draw_rows(&draw, NET_TOP, 0, 10, dark, NULL, 0);
    expect_drawn("");
}

static void note_fault(void* context, const char* file, uint32_t line, const char* text) {
    note("%s:%u: %s\n", file, line, text);
}

CASE(a_map_comes_from_the_pack_and_is_drawn_in_runs_of_a_color) {
    static const ecs_tile_kind kinds[] = {
        {.glyph = '#', .color = {1, 0, 0, 255}},
        {.glyph = '.', .cost = 1},
        {.glyph = 'a', .open = '.', .color = {2, 0, 0, 255}},
    };
    static const char map[] = "###\n#.a\n", wrong[] = "##\n#?\n";
    const net_game_file files[] = {{"map.txt", (const uint8_t*)map, sizeof map - 1},
                                   {"wrong.txt", (const uint8_t*)wrong, sizeof wrong - 1}};
    const net_game_start start = {.files = files, .file_count = 2, .fault = note_fault};
    const ecs_world_config config = ecs_world_config_default();
    ecs_world* world;
    assert_ok(ecs_world_create(&config, &world));
    ecs_tiles tiles;
    assert_true(net_tiles_read(&tiles, world, &start, "map.txt", kinds, 3, 8, 0.5f));
    const ecs_vec2 low = {-1e30f, 0}, high = {1e30f, 1e30f}, corner = {7, 7};
    net_draw_tiles(&draw, &tiles, 0, low, high);
    expect_drawn("rect 0,0 25x9 c1\nrect 0,8 9x9 c1\nrect 16,8 9x9 c2\n");
    net_draw_tiles(&draw, &tiles, 1, low, high);
    expect_drawn("rect 0,0 25x9 c1\nrect 0,8 9x9 c1\n");
    net_draw_tiles(&draw, &tiles, 1, corner, corner);
    expect_drawn("rect 0,0 9x9 c1\n");
    assert_false(net_tiles_read(&tiles, world, &start, "wrong.txt", kinds, 3, 8, 0.5f));
    expect_drawn("wrong.txt:2: this line has a character that is no kind of tile\n");
    assert_false(net_tiles_read(&tiles, world, &start, "none.txt", kinds, 3, 8, 0.5f));
    expect_drawn("none.txt:0: no line file:t of the game's .blk names this map\n");
    net_draw_tiles(&draw, &(ecs_tiles){0}, 1, (ecs_vec2){0, 0}, high);
    expect_drawn("");
    ecs_world_destroy(world);
}
