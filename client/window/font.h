// SPDX-License-Identifier: MIT
/// Letters: measures and pictures of single ones, from DejaVu Sans or, where no font file is, from
/// stb_easy_font's built-in ones.
///
/// Shape: a height is that of the letter M's box with its surroundings (about the distance of lines); the
///        baseline lies CLIENT_FONT_BASELINE of it below the top. Text is UTF-8; what is no UTF-8, and what
///        the font does not have, is shown as '?'. No kerning: widths add up.
/// The same font gives the same numbers and pixels on every machine.
#pragma once

#include "base/alloc.h"
#include "base/report.h"

#define CLIENT_FONT_BASELINE 0.80f
#define CLIENT_FONT_FILE_BYTES_MAX (32u << 20)

typedef struct client_font client_font;

/// Looks at SHOAL_FONT, then at where distributions have DejaVuSans.ttf.
/// @return NULL when memory is missing. A SHOAL_FONT that is no font is reported; then, as without any
///         file, the built-in letters are used.
BASE_MUST_USE client_font* client_font_create(const base_allocator* allocator,
                                              const base_reporter* reporter);
/// From a file; NULL: the built-in letters.
BASE_MUST_USE client_font* client_font_create_from(const base_allocator* allocator,
                                                   const char* path);
void client_font_destroy(client_font* font); ///< may be NULL
bool client_font_is_builtin(const client_font* font);

/// The next character of UTF-8 text; *text goes past it. 0 at the end.
uint32_t client_font_next(const char** text);

/// How far the next character is from this one, at a height.
float client_font_advance(const client_font* font, uint32_t character, float height);
float client_font_width(const client_font* font, float height, const char* text);

/// The picture of a character at a whole height in pixels: where it lies from the pen (x) and the top of
/// the line (y), and its size; 0 x 0 for a space.
typedef struct client_glyph {
    int32_t left, top, width, height;
} client_glyph;
client_glyph client_font_measure(const client_font* font, uint32_t character, uint32_t height);
/// How much of each pixel it covers, 0..255, rows of `stride` bytes.
void client_font_raster(const client_font* font, uint32_t character, uint32_t height,
                        uint8_t* target, uint32_t stride);
