// SPDX-License-Identifier: MIT
// The pixels are read back, made opaque RGB, compressed by stb_image_write with fixed settings, and
// first written to a file beside the target, so that no program reads an incomplete picture.
#include "window/shot.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"

#include "stb_image_write.h"

#include <SDL.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sink {
    FILE* file;
    bool is_failed;
} sink;

static void write_bytes(void* context, void* bytes, int count) {
    sink* to = context;
    if (fwrite(bytes, 1, (size_t)count, to->file) != (size_t)count) to->is_failed = true;
}

static bool write_png(const char* path, const uint8_t* rgb, int width, int height,
                      const base_reporter* reporter) {
    char part[4096];
    if (!base_text_format(part, sizeof part, "%s.part", path)) {
        base_report(reporter, path, 0, "the name is too long");
        return false;
    }
    (void)remove(part); // a link goes, and not what it leads to
    sink to = {.file = fopen(part, "wbx")};
    if (!to.file) {
        base_report(reporter, path, 0, "cannot be written: %s", strerror(errno));
        return false;
    }
    bool is_written =
        stbi_write_png_to_func(write_bytes, &to, width, height, 3, rgb, width * 3) != 0;
    is_written = is_written && !to.is_failed;
    is_written = fclose(to.file) == 0 && is_written;
    is_written = is_written && rename(part, path) == 0;
    if (is_written) return true;
    base_report(reporter, path, 0, "cannot be written: %s", strerror(errno));
    (void)remove(part);
    return false;
}

bool client_shot_write(struct SDL_Renderer* renderer, const char* path,
                       const base_reporter* reporter) {
    BASE_ASSERT(renderer && path);
    int width = 0, height = 0;
    if (SDL_GetRendererOutputSize(renderer, &width, &height) != 0 || width < 1 || height < 1) {
        base_report(reporter, path, 0, "no picture: %s", SDL_GetError());
        return false;
    }
    size_t size = (size_t)width * (size_t)height * 3;
    uint8_t* rgb = base_allocate(NULL, size);
    if (!rgb) {
        base_report(reporter, path, 0, "no memory for a picture of %d x %d", width, height);
        return false;
    }
    bool is_written = false;
    (void)SDL_RenderSetClipRect(renderer, NULL);
    if (SDL_RenderReadPixels(renderer, NULL, SDL_PIXELFORMAT_RGB24, rgb, width * 3) != 0)
        base_report(reporter, path, 0, "no pixels: %s", SDL_GetError());
    else
        is_written = write_png(path, rgb, width, height, reporter);
    base_release(NULL, rgb, size);
    return is_written;
}
