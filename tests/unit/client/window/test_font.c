// SPDX-License-Identifier: MIT
#include "window/font.h"

#include "test.h"

static base_report_first reports;

static client_font* open_builtin(void) {
    client_font* font = client_font_create_from(NULL, NULL);
    assert_non_null(font);
    return font;
}

static void assert_is_builtin(client_font* font) {
    client_font* builtin = open_builtin();
    for (const char* letter = "iWgx"; *letter; letter++)
        assert_true(client_font_advance(font, (uint8_t)*letter, 40.0f) ==
                    client_font_advance(builtin, (uint8_t)*letter, 40.0f));
    base_owner_destroy(builtin);
    base_owner_destroy(font);
}

// Open the system's font when there is one. Otherwise the tests use the built-in letters twice.
static client_font* open_found(void) {
    unsetenv("SHOAL_FONT");
    base_reporter reporter = base_reporter_first(&reports);
    client_font* font = client_font_create(NULL, &reporter);
    assert_non_null(font);
    assert_int_equal(reports.count, 0);
    return font;
}

CASE(utf8_is_read_by_characters) {
    const char* text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82";
    assert_int_equal(client_font_next(&text), 'a');
    assert_int_equal(client_font_next(&text), 0xe9);
    assert_int_equal(client_font_next(&text), 0x20ac);
    assert_int_equal(client_font_next(&text), 0x1f642);
    assert_int_equal(client_font_next(&text), 0);
    assert_int_equal(client_font_next(&text), 0); // a further call also returns 0
}

CASE(what_is_no_utf8_is_a_question_mark_and_ends_where_it_ends) {
    const char* const wrong[] = {
        "\x80",         "\xc3",     "\xe2\x82",         "\xf0\x9f\x99",
        "\xc0\x80",     "\xff",     "\xed\xa0\x80",     "\xe0\x80\x80",
        "\xf5\x80\x80", "\xc3\x28", "\xf4\x90\x80\x80", "\xf0\x80\x80\x80"};
    for (uint32_t i = 0; i < BASE_COUNT(wrong); i++) {
        // A block exactly as long as the text: a sanitizer sees a read past its end.
        size_t bytes = strlen(wrong[i]) + 1;
        char* copy = malloc(bytes);
        assert_non_null(copy);
        memcpy(copy, wrong[i], bytes);
        const char* at = copy;
        assert_int_equal(client_font_next(&at), '?');
        uint32_t count = 0;
        while (client_font_next(&at) != 0)
            assert_true(++count < 8);
        assert_ptr_equal(at, copy + bytes - 1);
        free(copy);
    }
}

CASE(widths_add_up_and_grow_with_the_height) {
    client_font* fonts[2] = {open_builtin(), open_found()};
    for (uint32_t i = 0; i < 2; i++) {
        float word = client_font_width(fonts[i], 20.0f, "Shoal");
        assert_true(word > 20.0f && word < 100.0f);
        assert_float_equal(client_font_width(fonts[i], 40.0f, "Shoal"), word * 2.0f, 0.01f);
        assert_float_equal(client_font_width(fonts[i], 20.0f, "Sho") +
                               client_font_width(fonts[i], 20.0f, "al"),
                           word, 0.01f);
        assert_float_equal(client_font_width(fonts[i], 20.0f, ""), 0.0f, 0.0f);
        assert_true(client_font_width(fonts[i], 20.0f, "i") <=
                    client_font_width(fonts[i], 20.0f, "W"));
        base_owner_destroy(fonts[i]);
    }
}

CASE(letters_stand_within_their_line) {
    client_font* fonts[2] = {open_builtin(), open_found()};
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t height = 5; height <= 160; height += 31) {
            for (uint32_t character = ' '; character < 256; character++) {
                client_glyph glyph = client_font_measure(fonts[i], character, height);
                assert_true(glyph.width >= 0 && glyph.height >= 0);
                assert_in_range(glyph.top + (int32_t)height, 0, 2 * height);
                assert_true(glyph.top + glyph.height <= (int32_t)(height * 3 / 2));
                assert_true(glyph.width <= (int32_t)(2 * height));
            }
        }
        base_owner_destroy(fonts[i]);
    }
}

CASE(a_letter_has_ink_where_it_says_and_a_space_has_none) {
    client_font* fonts[2] = {open_builtin(), open_found()};
    static uint8_t pixels[128 * 128], again[128 * 128];
    for (uint32_t i = 0; i < 2; i++) {
        client_glyph glyph = client_font_measure(fonts[i], 'H', 40);
        assert_in_range(glyph.width, 10, 60);
        assert_in_range(glyph.height, 20, 40);
        memset(pixels, 0, sizeof pixels);
        memset(again, 0, sizeof again);
        client_font_raster(fonts[i], 'H', 40, pixels, 128);
        client_font_raster(fonts[i], 'H', 40, again, 128);
        assert_memory_equal(pixels, again, sizeof pixels);
        uint32_t ink = 0, outside = 0;
        for (int32_t y = 0; y < 128; y++) {
            for (int32_t x = 0; x < 128; x++) {
                bool is_inside = x < glyph.width && y < glyph.height;
                ink += is_inside && pixels[y * 128 + x] > 200;
                outside += !is_inside && pixels[y * 128 + x] > 0;
            }
        }
        assert_true(ink > 100);
        assert_int_equal(outside, 0);
        assert_int_equal(client_font_measure(fonts[i], ' ', 40).width, 0);
        assert_true(client_font_advance(fonts[i], ' ', 40.0f) > 0.0f);
        base_owner_destroy(fonts[i]);
    }
}

CASE(a_font_that_is_none_is_reported_and_another_one_used) {
    base_reporter reporter = base_reporter_first(&reports);
    setenv("SHOAL_FONT", "/nowhere/font.ttf", 1);
    client_font* font = client_font_create(NULL, &reporter);
    assert_non_null(font);
    assert_int_equal(reports.count, 1);
    assert_non_null(strstr(reports.text, "/nowhere/font.ttf"));
    base_owner_destroy(font);
    unsetenv("SHOAL_FONT");
    // A text file is not a font, and a folder is not a font.
    assert_is_builtin(client_font_create_from(NULL, __FILE__));
    assert_is_builtin(client_font_create_from(NULL, "/"));
}
