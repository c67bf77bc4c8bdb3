// SPDX-License-Identifier: MIT
// stb's functions, compiled here once. Its code is foreign, so warnings are off here. That of
// stb_easy_font is static, so its letters are wrapped.
#include "window/stb_easy.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#define STB_TRUETYPE_IMPLEMENTATION
#include "stb_easy_font.h"
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
