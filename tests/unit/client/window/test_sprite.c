// SPDX-License-Identifier: MIT
// Pictures of a game: every pixel at its place, and files that are none.
#include "picture.h"

#include "window/images.h"

#include "net/draw.h"
#include "net/limits.h"

#include "stb_image_write.h"

#include <unistd.h>

static const ecs_color white = {255, 255, 255, 255};

// A picture with a folder of files for its sprites.
typedef struct gallery {
    picture p;
    base_report_first first;
    base_reporter reporter;
    char folder[32];
    uint8_t file[1u << 18];
    size_t size; // of the file that was written last
} gallery;

static void open_gallery(gallery* g) {
    memset(g, 0, sizeof *g);
    picture_open(&g->p, 400, 300, 400.0f, 300.0f);
    g->reporter = base_reporter_first(&g->first);
    client_draw_destroy(g->p.draw);
    g->p.draw = client_draw_create(&g->p.memory.allocator, g->p.renderer, &g->reporter);
    assert_non_null(g->p.draw);
    client_draw_resize(g->p.draw, 400, 300, 400.0f, 300.0f);
    strcpy(g->folder, "/tmp/shoal_sprite_XXXXXX");
    assert_non_null(mkdtemp(g->folder));
    client_draw_set_assets(g->p.draw, g->folder);
    picture_begin(&g->p);
}

static void close_gallery(gallery* g) {
    char command[64];
    (void)base_text_format(command, sizeof command, "rm -r %s", g->folder);
    assert_int_equal(system(command), 0);
    picture_close(&g->p);
}

#define GALLERY_CASE(name) CASE_WITH(gallery, g, open_gallery(g), close_gallery(g), name)

static void write_file(gallery* g, const char* name, const void* bytes, size_t size) {
    char path[96];
    (void)base_text_format(path, sizeof path, "%s/%s", g->folder, name);
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void keep_bytes(void* context, void* bytes, int size) {
    gallery* g = context;
    assert_true(g->size + (size_t)size <= sizeof g->file);
    memcpy(g->file + g->size, bytes, (size_t)size);
    g->size += (size_t)size;
}

static void write_png(gallery* g, const char* name, const ecs_color* pixels, int width,
                      int height) {
    g->size = 0;
    assert_true(stbi_write_png_to_func(keep_bytes, g, width, height, 4, pixels, width * 4) != 0);
    write_file(g, name, g->file, g->size);
}

// 16 x 16 pixels in four squares: red, green, blue, white.
static void write_sheet(gallery* g, const char* name) {
    const ecs_color colors[4] = {red, green, blue, white};
    ecs_color pixels[16 * 16];
    for (uint32_t i = 0; i < BASE_COUNT(pixels); i++)
        pixels[i] = colors[i % 16 / 8 + i / 128 * 2];
    write_png(g, name, pixels, 16, 16);
}

static void draw_alone(gallery* g, net_sprite sprite) {
    SHOWN(&g->p, net_draw_sprite(&g->p.view, sprite));
}

// Draw it alone. The colours of four pixels around the middle, 3 to each side.
static void assert_four(gallery* g, net_sprite sprite, ecs_color upper_left, ecs_color upper_right,
                        ecs_color lower_left, ecs_color lower_right) {
    draw_alone(g, sprite);
    const int x = (int)sprite.x, y = (int)sprite.y;
    assert_true(picture_is(&g->p, x - 3, y - 3, upper_left, 0));
    assert_true(picture_is(&g->p, x + 2, y - 3, upper_right, 0));
    assert_true(picture_is(&g->p, x - 3, y + 2, lower_left, 0));
    assert_true(picture_is(&g->p, x + 2, y + 2, lower_right, 0));
}

GALLERY_CASE(a_picture_has_its_own_size_and_every_pixel) {
    write_sheet(g, "sheet.png");
    assert_four(g, (net_sprite){.image = "sheet.png", .x = 100, .y = 50}, red, green, blue, white);
    assert_int_equal(picture_drawn(&g->p, 0, 0, 400, 300), 256);
    const ecs_color colors[4] = {red, green, blue, white};
    for (int i = 0; i < 4; i++)
        assert_int_equal(picture_count(&g->p, 92 + i % 2 * 8, 42 + i / 2 * 8, 8, 8, colors[i], 0),
                         64);
    assert_int_equal(g->first.count, 0);
}

GALLERY_CASE(frames_of_a_sheet_have_none_of_their_neighbours) {
    write_sheet(g, "sheet.png");
    const ecs_color colors[4] = {red, green, blue, white};
    static const float sizes[] = {4.0f, 7.0f, 8.0f, 12.0f, 13.0f, 40.0f, 133.0f};
    for (uint32_t i = 0; i < BASE_COUNT(sizes) * 4; i++) {
        const float size = sizes[i / 4];
        draw_alone(g, (net_sprite){.image = "sheet.png",
                                   .x = 100,
                                   .y = 100,
                                   .width = size,
                                   .columns = 2,
                                   .rows = 2,
                                   .frame = i % 4 + i / 4 * 4});
        const uint32_t drawn = picture_drawn(&g->p, 0, 0, 400, 300);
        assert_int_equal(drawn, (uint32_t)(size * size));
        assert_int_equal(picture_count(&g->p, 0, 0, 400, 300, colors[i % 4], 0), drawn);
    }
}

GALLERY_CASE(a_picture_is_turned_flipped_and_cut) {
    write_sheet(g, "sheet.png");
    net_sprite sprite = {.image = "sheet.png", .x = 100, .y = 50};
    sprite.flip_x = true;
    assert_four(g, sprite, green, red, white, blue);
    sprite.flip_y = true;
    assert_four(g, sprite, white, blue, green, red);
    sprite.flip_x = false;
    assert_four(g, sprite, blue, white, red, green);
    sprite.flip_y = false;
    sprite.angle = BASE_PI / 2.0f; // the x axis to the y axis: clockwise
    assert_four(g, sprite, blue, red, white, green);
    sprite.angle = -BASE_PI / 2.0f;
    assert_four(g, sprite, green, white, red, blue);
    sprite.flip_x = true; // first
    assert_four(g, sprite, red, blue, green, white);
    sprite = (net_sprite){.image = "sheet.png", .x = 100, .y = 50, .width = 16};
    sprite.part_x = 8;
    sprite.part_width = 8;
    sprite.part_height = 8;
    assert_four(g, sprite, green, green, green, green);
    sprite.part_height = 16; // twice as high as wide
    assert_four(g, sprite, green, green, white, white);
    assert_int_equal(picture_drawn(&g->p, 0, 0, 400, 300), 16 * 32);
    sprite.width = 0;
    sprite.height = 16;
    assert_four(g, sprite, green, green, white, white);
    assert_int_equal(picture_drawn(&g->p, 0, 0, 400, 300), 8 * 16);
    sprite.columns = 8; // a sheet within a part: the last row of pixels
    sprite.frame = 7;
    assert_four(g, sprite, picture_background, picture_background, picture_background,
                picture_background);
    assert_int_equal(picture_count(&g->p, 99, 42, 2, 16, white, 0), 8);
}

GALLERY_CASE(a_tint_colours_and_fades) {
    write_sheet(g, "sheet.png");
    net_sprite sprite = {.image = "sheet.png", .x = 100, .y = 50, .tint = {255, 128, 0, 255}};
    assert_four(g, sprite, red, (ecs_color){0, 128, 0, 255}, (ecs_color){0, 0, 0, 255},
                (ecs_color){255, 128, 0, 255});
    sprite.tint = (ecs_color){255, 255, 255, 128};
    draw_alone(g, sprite);
    assert_true(picture_is(&g->p, 95, 45, (ecs_color){133, 10, 15, 255}, 3));
    sprite.tint.a = 0;
    assert_four(g, sprite, picture_background, picture_background, picture_background,
                picture_background);
}

GALLERY_CASE(what_has_no_area_or_lies_outside_is_not_drawn) {
    write_sheet(g, "sheet.png");
    const net_sprite whole = {.image = "sheet.png", .x = 100, .y = 50};
    net_sprite sprites[10];
    for (uint32_t i = 0; i < BASE_COUNT(sprites); i++)
        sprites[i] = whole;
    sprites[0].x = -9;
    sprites[1].y = 309;
    sprites[2].x = NAN;
    sprites[3].width = -5;
    sprites[4].height = NAN;
    sprites[5].angle = INFINITY;
    sprites[6].part_x = 10, sprites[6].part_width = 8, sprites[6].part_height = 8;
    sprites[7].part_width = NAN, sprites[7].part_height = 1;
    sprites[8].part_x = -1, sprites[8].part_width = 8, sprites[8].part_height = 8;
    sprites[9].x = -40, sprites[9].angle = 1;
    for (uint32_t i = 0; i < BASE_COUNT(sprites); i++)
        net_draw_sprite(&g->p.view, sprites[i]);
    client_draw_end(g->p.draw);
    assert_int_equal(picture_drawn(&g->p, 0, 0, 400, 300), 0);
}

GALLERY_CASE(sprites_and_shapes_keep_their_order) {
    write_sheet(g, "a.png");
    write_sheet(g, "b.png");
    const net_draw* draw = &g->p.view;
    draw->rect(draw->context, 90, 40, 20, 20, blue);
    net_draw_sprite(draw, (net_sprite){.image = "a.png", .x = 100, .y = 50});
    draw->rect(draw->context, 92, 42, 4, 4, white);
    net_draw_sprite(draw, (net_sprite){.image = "b.png", .x = 108, .y = 50});
    client_draw_end(g->p.draw);
    assert_true(picture_is(&g->p, 91, 41, blue, 0));
    assert_true(picture_is(&g->p, 93, 43, white, 0));
    assert_true(picture_is(&g->p, 98, 48, red, 0));
    assert_true(picture_is(&g->p, 103, 48, red, 0)); // b's
    assert_int_equal(client_draw_batches(g->p.draw), 4);
    // 1,000 sprites of one picture are one call, and a frame allocates nothing.
    const uint64_t calls = g->p.memory.calls;
    for (uint32_t i = 0; i < 2; i++) {
        picture_begin(&g->p);
        for (uint32_t k = 0; k < 1000; k++)
            net_draw_sprite(&g->p.view, (net_sprite){.image = "a.png",
                                                     .x = (float)(k % 40 * 10),
                                                     .y = (float)(k / 40 * 12)});
        client_draw_end(g->p.draw);
        assert_int_equal(client_draw_batches(g->p.draw), 1);
    }
    assert_true(g->p.memory.calls == calls);
}

// Black clear pixels beside white ones must not darken the rim when it is smoothed.
GALLERY_CASE(a_smoothed_rim_has_the_colour_of_the_picture) {
    ecs_color pixels[20 * 20] = {0};
    for (uint32_t i = 0; i < BASE_COUNT(pixels); i++)
        if (i % 20 >= 5 && i % 20 < 15) pixels[i] = white;
    write_png(g, "bar.png", pixels, 20, 20);
    net_draw_sprite(&g->p.view, (net_sprite){.image = "bar.png", .x = 100, .y = 50, .width = 33});
    client_draw_end(g->p.draw);
    uint32_t mixed = 0;
    for (int x = 80; x < 120; x++) {
        ecs_color is = picture_pixel(&g->p, x, 50);
        if (is.r == 10 || is.r == 255) continue;
        mixed++;
        const float part_r = (float)(is.r - 10) / 245.0f, part_b = (float)(is.b - 30) / 225.0f;
        assert_float_equal(part_r, part_b, 0.012f);
    }
    assert_true(mixed >= 2);
}

// A look, and another one when it is due: what was written before both is loaded again.
static void look_twice(gallery* g, uint64_t* now_us) {
    for (uint32_t i = 0; i < 2; i++)
        client_draw_look(g->p.draw, *now_us += CLIENT_IMAGES_LOOK_US);
}

GALLERY_CASE(a_picture_that_changes_is_shown_anew) {
    const net_sprite sprite = {.image = "ship.png", .x = 100, .y = 50, .width = 64};
    uint64_t now_us = 1000000;
    ecs_color pixels[16 * 16];
    write_sheet(g, "ship.png");
    draw_alone(g, sprite); // enlarged, so that both textures are there
    assert_true(picture_is(&g->p, 80, 30, red, 0));
    for (uint32_t i = 0; i < BASE_COUNT(pixels); i++)
        pixels[i] = green;
    write_png(g, "ship.png", pixels, 16, 8);
    client_draw_look(g->p.draw, now_us += CLIENT_IMAGES_LOOK_US);
    client_draw_look(g->p.draw, now_us + CLIENT_IMAGES_LOOK_US - 1); // too early
    draw_alone(g, sprite);
    assert_true(picture_is(&g->p, 80, 30, red, 0)); // it may still be written
    client_draw_look(g->p.draw, now_us += CLIENT_IMAGES_LOOK_US);
    draw_alone(g, sprite);
    assert_int_equal(picture_drawn(&g->p, 0, 0, 400, 300), 64 * 32);
    assert_int_equal(picture_count(&g->p, 0, 0, 400, 300, green, 0), 64 * 32);
    assert_int_equal(g->first.count, 0);
    // Without a change nothing is loaded, and a look allocates nothing.
    const uint64_t calls = g->p.memory.calls;
    look_twice(g, &now_us);
    assert_true(g->p.memory.calls == calls);
    // It goes, and comes back.
    char path[96];
    (void)base_text_format(path, sizeof path, "%s/ship.png", g->folder);
    assert_int_equal(unlink(path), 0);
    look_twice(g, &now_us);
    assert_int_equal(g->first.count, 1); // it is said once
    assert_non_null(strstr(g->first.text, "put ship.png into the folder assets"));
    draw_alone(g, sprite);
    assert_int_equal(picture_count(&g->p, 0, 0, 400, 300, (ecs_color){255, 0, 255, 255}, 0),
                     64 * 64 / 2);
    look_twice(g, &now_us);
    assert_int_equal(g->first.count, 1);
    write_sheet(g, "ship.png");
    look_twice(g, &now_us);
    assert_four(g, (net_sprite){.image = "ship.png", .x = 100, .y = 50}, red, green, blue, white);
}

// ---- files that are no pictures ----

// It is drawn as squares, and `why` is said once.
static void assert_broken(gallery* g, const char* name, const char* why) {
    memset(&g->first, 0, sizeof g->first);
    for (uint32_t i = 0; i < 2; i++) {
        draw_alone(g, (net_sprite){.image = name,
                                   .x = 100,
                                   .y = 50,
                                   .width = 16,
                                   .columns = 4,
                                   .frame = 3,
                                   .part_x = 5,
                                   .part_width = 100,
                                   .part_height = 100});
        assert_int_equal(picture_drawn(&g->p, 92, 42, 16, 16), 256);
        assert_int_equal(picture_count(&g->p, 92, 42, 16, 16, (ecs_color){255, 0, 255, 255}, 0),
                         128);
    }
    if (!strstr(g->first.text, why)) fail_msg("\"%s\" lacks \"%s\"", g->first.text, why);
    assert_int_equal(g->first.count, 1);
}

// The file that was written last, with another width and height.
static void write_resized(gallery* g, const char* name, uint32_t width, uint32_t height) {
    for (uint32_t i = 0; i < 4; i++) {
        g->file[16 + i] = (uint8_t)(width >> (24 - 8 * i));
        g->file[20 + i] = (uint8_t)(height >> (24 - 8 * i));
    }
    write_file(g, name, g->file, g->size);
}

GALLERY_CASE(what_is_no_picture_is_named_once_and_drawn_as_squares) {
    assert_broken(g, "none.png", "put none.png into the folder assets beside the game's sources");
    assert_broken(g, "../none.png", "is not the name of a picture");
    assert_broken(g, NULL, "is not the name of a picture");
    write_file(g, "text.png", "not a picture but a text", 24);
    assert_broken(g, "text.png", "text.png is not a PNG picture: save it as one");
    write_file(g, "empty.png", "", 0);
    assert_broken(g, "empty.png", "is not a PNG picture");
    write_sheet(g, "good.png");
    write_file(g, "half.png", g->file, g->size / 2);
    assert_broken(g, "half.png", "half.png is damaged (");
    write_file(g, "head.png", g->file, 23);
    assert_broken(g, "head.png", "is not a PNG picture");
    // Too large, by what its first bytes say: nothing is decoded. The last one is allowed, but the
    // rest of the file has another size.
    enum { ROWS = NET_IMAGE_PIXELS_MAX / NET_IMAGE_SIDE_MAX };
    static const struct {
        uint32_t width, height;
        const char* says;
    } sizes[] = {
        {0, 16, "has no pixels"},
        {16, 0, "has no pixels"},
        {16, 17, "is damaged ("},
        {NET_IMAGE_SIDE_MAX + 1, 1, "has 4097 x 1 pixels: a picture has sides of at most 4096"},
        {1, UINT32_MAX, "has 1 x 4294967295 pixels"},
        {NET_IMAGE_SIDE_MAX, ROWS + 1, "has 4096 x 1025 pixels"},
        {NET_IMAGE_SIDE_MAX, ROWS, "is damaged ("},
    };
    for (uint32_t i = 0; i < BASE_COUNT(sizes); i++) {
        char name[16];
        (void)base_text_format(name, sizeof name, "size%u.png", i);
        write_resized(g, name, sizes[i].width, sizes[i].height);
        assert_broken(g, name, sizes[i].says);
    }
    assert_four(g, (net_sprite){.image = "good.png", .x = 100, .y = 50}, red, green, blue, white);
}

// Any byte of a file may be wrong. What comes out is a picture or squares.
GALLERY_CASE(damaged_files_do_no_harm) {
    write_sheet(g, "good.png");
    base_rng rng = base_rng_make(1, 1);
    uint8_t bytes[1024];
    assert_true(g->size <= sizeof bytes);
    for (uint32_t i = 0; i < 600; i++) {
        memcpy(bytes, g->file, g->size);
        for (uint32_t k = 0; k <= i % 3; k++)
            bytes[base_rng_range(&rng, 0, (int32_t)g->size - 1)] =
                (uint8_t)base_rng_range(&rng, 0, 255);
        write_file(g, "damaged.png", bytes, g->size);
        client_draw_set_assets(g->p.draw, g->folder);
        draw_alone(g, (net_sprite){.image = "damaged.png", .x = 100, .y = 50, .width = 16});
    }
    assert_true(g->first.count > 0 && g->first.count < 600);
}

// A picture of one pixel, whose packed bytes unpack to more than any picture needs.
GALLERY_CASE(a_bomb_is_not_unpacked) {
    static const uint8_t head[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0,
                                   13,   'I', 'H', 'D', 'R',  0,    0,    0,    1, 0, 0,
                                   0,    1,   8,   6,   0,    0,    0,    0,    0, 0, 0};
    enum { MATCHES = (int)(NET_IMAGE_PIXELS_MAX * 20 / 258), BYTES = MATCHES / 8 * 13 + 128 };
    uint8_t* file = calloc(1, BYTES);
    assert_non_null(file);
    memcpy(file, head, sizeof head);
    size_t bit = (sizeof head + 8 + 2) * 8;
    const size_t body = sizeof head + 8;
    memcpy(file + body - 4, "IDAT", 4);
    file[body] = 0x78, file[body + 1] = 0x01;
    // The last block, with fixed codes: a zero byte, then "the byte before, 258 times" (code 285 at
    // distance 1) again and again. Codes have their high bit first.
#define PUT(code, bits)                                                                            \
    for (int at = (bits)-1; at >= 0; at--, bit++)                                                  \
    file[bit / 8] |= (uint8_t)(((code) >> at & 1) << bit % 8)
    PUT(1, 1);
    PUT(2, 2); // low bit first: 01
    PUT(0x30, 8);
    for (int i = 0; i < MATCHES; i++) {
        PUT(0xc5, 8);
        PUT(0, 5);
    }
    PUT(0, 7);
#undef PUT
    const size_t packed = (bit + 7) / 8 - body + 4;
    for (uint32_t i = 0; i < 4; i++)
        file[body - 8 + i] = (uint8_t)(packed >> (24 - 8 * i));
    size_t end = body + packed + 4;
    assert_true(end + 12 <= BYTES);
    memcpy(file + end + 4, "IEND", 4);
    write_file(g, "bomb.png", file, end + 12);
    free(file);
    assert_broken(g, "bomb.png", "bomb.png is damaged (outofmem)");
}

GALLERY_CASE(more_pictures_than_the_limit_have_no_room) {
    write_sheet(g, "sheet.png");
    char name[32];
    for (uint32_t i = 0; i + 1 < NET_IMAGES_MAX; i++) { // the last one of them is the sheet
        (void)base_text_format(name, sizeof name, "none%u.png", i);
        net_draw_sprite(&g->p.view, (net_sprite){.image = name, .x = 300, .y = 50});
    }
    assert_int_equal(g->first.count, NET_IMAGES_MAX - 1);
    client_draw_end(g->p.draw);
    assert_four(g, (net_sprite){.image = "sheet.png", .x = 100, .y = 50}, red, green, blue, white);
    assert_broken(g, "one_more.png", "one_more.png has no room: a game has at most 256 pictures");
    // Without a game there are no files, and nothing to say.
    client_draw_end(g->p.draw);
    client_draw_set_assets(g->p.draw, NULL);
    memset(&g->first, 0, sizeof g->first);
    draw_alone(g, (net_sprite){.image = "sheet.png", .x = 100, .y = 50});
    assert_int_equal(picture_drawn(&g->p, 0, 0, 400, 300), 64);
    assert_int_equal(g->first.count, 0);
}

GALLERY_CASE(all_pictures_together_have_a_limit) {
    enum { SIDE = 2048 };
    ecs_color* pixels = calloc(SIDE * SIDE, sizeof *pixels);
    assert_non_null(pixels);
    write_png(g, "0.png", pixels, SIDE, SIDE);
    free(pixels);
    char name[8];
    for (uint32_t i = 0; i <= NET_IMAGES_PIXELS_MAX / NET_IMAGE_PIXELS_MAX; i++) {
        (void)base_text_format(name, sizeof name, "%u.png", i);
        write_file(g, name, g->file, g->size);
        assert_int_equal(g->first.count, 0);
        net_draw_sprite(&g->p.view, (net_sprite){.image = name, .x = 300, .y = 50, .width = 1});
    }
    assert_non_null(strstr(g->first.text, "4.png has no room: all pictures together"));
    client_draw_end(g->p.draw);
}

// ---- animation ----

CASE(a_frame_follows_from_the_time) {
    static const struct {
        double time_s;
        uint32_t frames;
        bool is_loop;
        uint32_t frame;
    } rows[] = {{0.0, 4, true, 0},
                {0.124, 4, true, 0},
                {0.125, 4, true, 1},
                {0.5, 4, true, 0},
                {1e9, 3, true, 8000000000u % 3},
                {0.49, 4, false, 3},
                {0.5, 4, false, 3},
                {1e300, 4, false, 3},
                {1e300, 4, true, 0},
                {1.0, 0, true, 0},
                {1.0, 0, false, 0},
                {1.0, UINT32_MAX, false, 8}};
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++)
        assert_int_equal(net_frame_at(rows[i].time_s, 8.0, rows[i].frames, rows[i].is_loop),
                         rows[i].frame);
    static const double odd[] = {-0.1, NAN, -INFINITY};
    for (uint32_t i = 0; i < BASE_COUNT(odd); i++) {
        assert_int_equal(net_frame_at(odd[i], 8.0, 4, true), 0);
        assert_int_equal(net_frame_at(odd[i], 8.0, 4, false), 0);
    }
}
