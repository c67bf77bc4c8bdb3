// SPDX-License-Identifier: MIT
/// Sizes and pictures of single letters, from DejaVu Sans. Without a font file they come from
/// stb_easy_font.
///
/// A height is about the distance between two lines of text. The baseline lies CLIENT_FONT_BASELINE
/// of it below the top. Text is UTF-8. Bytes that are no UTF-8, and characters that the font does
/// not have, are shown as '?'. There is no kerning, so widths add up. The same font gives the same
/// numbers and pixels on every machine.
#pragma once

#include "base/alloc.h"
#include "base/report.h"

#define CLIENT_FONT_BASELINE 0.80f
#define CLIENT_FONT_FILE_BYTES_MAX (32u << 20)

typedef struct client_font client_font;

/// Open the font of SHOAL_FONT, or DejaVuSans.ttf in the usual folders of distributions.
/// A SHOAL_FONT that is no font is reported. Then, and also without any font file, the built-in
/// letters are used. base_owner_destroy ends it.
BASE_MUST_USE client_font* client_font_create(const base_allocator* allocator,
                                              const base_reporter* reporter);
/// Open the font of this file; NULL: the built-in letters.
BASE_MUST_USE client_font* client_font_create_from(const base_allocator* allocator,
                                                   const char* path);

/// @return the next character of UTF-8 text, 0 at the end. *text is moved past the character.
uint32_t client_font_next(const char** text);

/// @return the distance from this character to the next one, at a height.
float client_font_advance(const client_font* font, uint32_t character, float height);
float client_font_width(const client_font* font, float height, const char* text);

/// The picture of a character at a whole height in pixels: where it lies from the pen (x) and the
/// top of the line (y), and its size; 0 x 0 for a space.
typedef struct client_glyph {
    int32_t left, top, width, height;
} client_glyph;
client_glyph client_font_measure(const client_font* font, uint32_t character, uint32_t height);
/// Draw the part of each pixel that the character covers, 0..255, in rows of `stride` bytes.
void client_font_raster(const client_font* font, uint32_t character, uint32_t height,
                        uint8_t* target, uint32_t stride);

/// The letters of stb_easy_font, for systems without a font file (ASCII 32..126): the width of one,
/// in units.
int client_easy_font_advance(char letter);
/// Write the upright rectangles (left, top, right, bottom each) of a letter. @return their count.
int client_easy_font_quads(char letter, float* corners, int quads_max);
#define CLIENT_EASY_QUADS_MAX 64
