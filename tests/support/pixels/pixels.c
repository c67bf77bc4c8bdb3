// SPDX-License-Identifier: MIT
// shoal-pixels FILE.png: the size in its first line; then for each line "X Y [anything]" of stdin
// "R G B anything". A place outside of the picture is an error.
#include "stb_image.h"

#include <stdio.h>
#include <string.h>

static int answer(const unsigned char* rgb, int width, int height) {
    char line[512];
    while (fgets(line, sizeof line, stdin)) {
        int x = -1, y = -1, used = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%d %d%n", &x, &y, &used) != 2 || x < 0 || y < 0 || x >= width ||
            y >= height) {
            fprintf(stderr, "no place in the picture: %s\n", line);
            return 1;
        }
        const unsigned char* pixel = rgb + ((size_t)y * (size_t)width + (size_t)x) * 3;
        printf("%d %d %d%s\n", pixel[0], pixel[1], pixel[2], line + used);
    }
    return 0;
}

int main(int argc, char** argv) {
    int width = 0, height = 0, channels = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: shoal-pixels FILE.png < PLACES\n");
        return 2;
    }
    unsigned char* rgb = stbi_load(argv[1], &width, &height, &channels, 3);
    if (!rgb) {
        fprintf(stderr, "%s: %s\n", argv[1], stbi_failure_reason());
        return 1;
    }
    printf("%dx%d\n", width, height);
    int code = answer(rgb, width, height);
    stbi_image_free(rgb);
    return code;
}
