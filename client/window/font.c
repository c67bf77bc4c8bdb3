// SPDX-License-Identifier: MIT
// Letters from a TrueType file (stb_truetype) or from stb_easy_font's rectangles.
//
// A font file is foreign data, and stb_truetype checks little. So only files of the administrator
// are read: SHOAL_FONT or the system's own folders. The atlas caches each glyph, so a glyph is
// measured once. Widths are needed often, so the advances of the common characters are kept here,
// in units of the height.
#include "window/font.h"

#include "net/result.h"

#include "stb_truetype.h"

#include "base/assert.h"
#include "base/shown.h"

#include <math.h>
#include <stdlib.h>

#define EM_PER_HEIGHT 0.92f // DejaVu letters are large for their size
#define EASY_BASELINE 7.0f  // of stb_easy_font's line of 12
#define EASY_PER_HEIGHT 9.6f
#define ADVANCES 256u

struct client_font {
    base_owner owner;
    uint8_t* bytes; // NULL: built-in letters
    stbtt_fontinfo info;
    float advances[ADVANCES]; // for Latin-1 characters, at height 1
};

static const char* const places[] = {
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/TTF/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
    "/usr/local/share/fonts/dejavu/DejaVuSans.ttf",
};

static bool read_file(client_font* font, const char* path) {
    base_bytes bytes = {.allocator = &font->owner.allocator};
    if (net_file_read(path, CLIENT_FONT_FILE_BYTES_MAX, NULL, &bytes) != NET_OK || bytes.size < 13)
        return false;
    const int offset = stbtt_GetFontOffsetForIndex(bytes.data, 0);
    if (offset < 0 || !stbtt_InitFont(&font->info, bytes.data, offset)) return false;
    font->bytes = bytes.data;
    return true;
}

// The built-in letters are ASCII; other characters become '?'.
static char easy_letter(uint32_t character) {
    return character >= ' ' && character < 127 ? (char)character : '?';
}

static float measure_advance(const client_font* font, uint32_t character) {
    if (!font->bytes)
        return (float)client_easy_font_advance(easy_letter(character)) / EASY_PER_HEIGHT;
    int glyph = stbtt_FindGlyphIndex(&font->info, (int)character);
    if (!glyph) glyph = stbtt_FindGlyphIndex(&font->info, '?');
    int advance = 0, bearing = 0;
    stbtt_GetGlyphHMetrics(&font->info, glyph, &advance, &bearing);
    return (float)advance * stbtt_ScaleForMappingEmToPixels(&font->info, EM_PER_HEIGHT);
}

client_font* client_font_create_from(const base_allocator* allocator, const char* path) {
    client_font* font = base_owner_create(allocator, sizeof *font);
    if (path) (void)read_file(font, path);
    for (uint32_t i = 0; i < ADVANCES; i++)
        font->advances[i] = i < ' ' ? 0.0f : measure_advance(font, i);
    return font;
}

client_font* client_font_create(const base_allocator* allocator, const base_reporter* reporter) {
    const char* wanted = getenv("SHOAL_FONT");
    if (wanted && wanted[0]) {
        client_font* font = client_font_create_from(allocator, wanted);
        if (font->bytes) return font;
        base_report(reporter, wanted, 0, "SHOAL_FONT is not a readable TrueType font");
        base_owner_destroy(font);
    }
    for (uint32_t i = 0; i < BASE_COUNT(places); i++) {
        client_font* font = client_font_create_from(allocator, places[i]);
        if (font->bytes) return font;
        base_owner_destroy(font);
    }
    return client_font_create_from(allocator, NULL);
}

uint32_t client_font_next(const char** text) {
    uint32_t character = 0;
    bool is_shown;
    if (**text) *text += base_shown_next(*text, &character, &is_shown);
    return character == UINT32_MAX ? '?' : character;
}

float client_font_advance(const client_font* font, uint32_t character, float height) {
    float unit =
        character < ADVANCES ? font->advances[character] : measure_advance(font, character);
    return unit * height;
}

float client_font_width(const client_font* font, float height, const char* text) {
    float width = 0.0f;
    for (uint32_t character; (character = client_font_next(&text)) != 0;)
        width += client_font_advance(font, character, height);
    return width;
}

// ---- pictures ----

static float outline_scale(const client_font* font, uint32_t height) {
    BASE_ASSERT(font->bytes && height > 0);
    return stbtt_ScaleForMappingEmToPixels(&font->info, (float)height * EM_PER_HEIGHT);
}

static int32_t baseline(uint32_t height) {
    return (int32_t)((float)height * CLIENT_FONT_BASELINE + 0.5f);
}

static int outline(const client_font* font, uint32_t character) {
    int glyph = stbtt_FindGlyphIndex(&font->info, (int)character);
    return glyph ? glyph : stbtt_FindGlyphIndex(&font->info, '?');
}

// The size of one pixel of the built-in letters, in pixels of the line.
static float easy_scale(uint32_t height) {
    return (float)height / EASY_PER_HEIGHT;
}

static client_glyph measure_easy(uint32_t character, uint32_t height) {
    float corners[CLIENT_EASY_QUADS_MAX * 4];
    int count = client_easy_font_quads(easy_letter(character), corners, CLIENT_EASY_QUADS_MAX);
    if (count == 0) return (client_glyph){0};
    float right = 0.0f, bottom = 0.0f, scale = easy_scale(height);
    for (int i = 0; i < count; i++) {
        right = fmaxf(right, corners[i * 4 + 2]);
        bottom = fmaxf(bottom, corners[i * 4 + 3]);
    }
    int32_t top = baseline(height) - (int32_t)(EASY_BASELINE * scale + 0.5f);
    return (client_glyph){0, top, (int32_t)ceilf(right * scale), (int32_t)ceilf(bottom * scale)};
}

client_glyph client_font_measure(const client_font* font, uint32_t character, uint32_t height) {
    if (!font->bytes) return measure_easy(character, height);
    float scale = outline_scale(font, height);
    int left = 0, top = 0, right = 0, bottom = 0;
    stbtt_GetGlyphBitmapBox(&font->info, outline(font, character), scale, scale, &left, &top,
                            &right, &bottom);
    if (right <= left || bottom <= top) return (client_glyph){0};
    return (client_glyph){left, top + baseline(height), right - left, bottom - top};
}

// @return how much of the pixel [at, at + 1) lies in [low, high).
static float overlap(float at, float low, float high) {
    float first = fmaxf(at, low), last = fminf(at + 1.0f, high);
    return last > first ? last - first : 0.0f;
}

static void raster_easy(uint32_t character, uint32_t height, uint8_t* target, uint32_t stride) {
    float corners[CLIENT_EASY_QUADS_MAX * 4];
    int count = client_easy_font_quads(easy_letter(character), corners, CLIENT_EASY_QUADS_MAX);
    client_glyph size = measure_easy(character, height);
    float scale = easy_scale(height);
    for (int32_t y = 0; y < size.height; y++) {
        for (int32_t x = 0; x < size.width; x++) {
            float cover = 0.0f;
            for (int i = 0; i < count; i++)
                cover += overlap((float)x, corners[i * 4] * scale, corners[i * 4 + 2] * scale) *
                         overlap((float)y, corners[i * 4 + 1] * scale, corners[i * 4 + 3] * scale);
            target[(uint32_t)y * stride + (uint32_t)x] = (uint8_t)(fminf(cover, 1.0f) * 255.0f);
        }
    }
}

void client_font_raster(const client_font* font, uint32_t character, uint32_t height,
                        uint8_t* target, uint32_t stride) {
    if (!font->bytes) {
        raster_easy(character, height, target, stride);
        return;
    }
    client_glyph size = client_font_measure(font, character, height);
    if (size.width == 0) return;
    BASE_ASSERT(size.width > 0 && (uint32_t)size.width <= stride);
    float scale = outline_scale(font, height);
    stbtt_MakeGlyphBitmap(&font->info, target, size.width, size.height, (int)stride, scale, scale,
                          outline(font, character));
}
