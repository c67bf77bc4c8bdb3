// SPDX-License-Identifier: MIT
// stb's functions, compiled here once. Its code is foreign, so warnings are off here. That of
// stb_easy_font is static, so its letters are wrapped.
#include "window/font.h"

#include "net/limits.h"

#include <stdlib.h>

// A packed picture may unpack to a thousand times its size: no piece of memory is larger than the
// largest picture needs (8 bytes a pixel in a file of 16 bits, and what doubling leaves over).
#define PIECE_BYTES_MAX ((size_t)NET_IMAGE_PIXELS_MAX * 16)
static void* piece_resize(void* piece, size_t size) {
    return size <= PIECE_BYTES_MAX ? realloc(piece, size) : NULL;
}
#define STBI_MALLOC(size) piece_resize(NULL, size)
#define STBI_REALLOC(piece, size) piece_resize(piece, size)
#define STBI_FREE(piece) free(piece)
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS NET_IMAGE_SIDE_MAX
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#define STB_TRUETYPE_IMPLEMENTATION
#include "stb_easy_font.h"
#include "stb_image.h"
#include "stb_image_write.h"
#include "stb_truetype.h"

int client_easy_font_advance(char letter) {
    char text[2] = {letter, 0};
    return stb_easy_font_width(text);
}

int client_easy_font_quads(char letter, float* corners, int quads_max) {
    char text[2] = {letter, 0};
    struct {
        float x, y, z;
        unsigned char color[4];
    } buffer[64 * 4];
    int count = stb_easy_font_print(0.0f, 0.0f, text, NULL, buffer, (int)sizeof buffer);
    if (count > quads_max) count = quads_max;
    for (int i = 0; i < count; i++) {
        corners[i * 4 + 0] = buffer[i * 4 + 0].x;
        corners[i * 4 + 1] = buffer[i * 4 + 0].y;
        corners[i * 4 + 2] = buffer[i * 4 + 2].x;
        corners[i * 4 + 3] = buffer[i * 4 + 2].y;
    }
    return count;
}
