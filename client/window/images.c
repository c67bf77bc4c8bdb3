// SPDX-License-Identifier: MIT
// stb_image decodes; what may be decoded is decided before (net_image_read).
//
// Between two pixels a renderer mixes their colours, also those of clear pixels, which programs
// save as black or white. A rim in that colour would show, so clear pixels get the colour of their
// neighbours first.
#include "window/images.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/text.h"
#include "net/match.h"

#include "stb_image.h"

#include <SDL.h>
#include <sys/stat.h>

#define SQUARES 8u ///< of each side of what stands for a broken picture

static SDL_Texture* make_texture(client_images* images, const void* argb, uint32_t width,
                                 uint32_t height, bool is_smooth) {
    SDL_Texture* texture = SDL_CreateTexture(images->renderer, SDL_PIXELFORMAT_ARGB8888,
                                             SDL_TEXTUREACCESS_STATIC, (int)width, (int)height);
    bool is_made = texture && SDL_SetTextureBlendMode(texture, SDL_BLENDMODE_BLEND) == 0 &&
                   SDL_SetTextureScaleMode(texture, is_smooth ? SDL_ScaleModeLinear
                                                              : SDL_ScaleModeNearest) == 0 &&
                   SDL_UpdateTexture(texture, NULL, argb, (int)width * 4) == 0;
    if (is_made) return texture;
    if (texture) SDL_DestroyTexture(texture);
    return NULL;
}

bool client_images_init(client_images* images, const base_allocator* allocator,
                        SDL_Renderer* renderer, const base_reporter* reporter) {
    *images = (client_images){.allocator = allocator, .renderer = renderer, .reporter = reporter};
    images->items = base_allocate_zero(allocator, sizeof *images->items * NET_IMAGES_MAX);
    uint32_t argb[SQUARES * SQUARES];
    for (uint32_t i = 0; i < BASE_COUNT(argb); i++)
        argb[i] = (i / SQUARES + i) % 2 ? 0xffff00ffu : 0xff202020u;
    images->squares = make_texture(images, argb, SQUARES, SQUARES, false);
    if (!images->squares) base_report(reporter, NULL, 0, "no texture: %s", SDL_GetError());
    return images->squares != NULL;
}

static void release(client_images* images, client_image* image) {
    SDL_Texture* const textures[] = {image->smooth, image->sharp};
    for (uint32_t i = 0; i < BASE_COUNT(textures); i++) {
        if (!textures[i]) continue;
        SDL_DestroyTexture(textures[i]);
        images->pixels -= image->width * image->height;
    }
    image->smooth = image->sharp = NULL;
}

static void forget(client_images* images) {
    for (uint32_t i = 0; i < images->count; i++)
        release(images, &images->items[i]);
    BASE_ASSERT(images->pixels == 0);
    images->count = 0;
    images->is_full = false;
}

void client_images_deinit(client_images* images) {
    forget(images);
    if (images->squares) SDL_DestroyTexture(images->squares);
}

void client_images_open(client_images* images, const char* folder) {
    forget(images);
    images->folder = folder;
}

// ---- loading ----

// The mean colour of the visible ones among a clear pixel's neighbours, clear.
static uint32_t bleed(const uint8_t* rgba, int32_t width, int32_t height, int32_t x, int32_t y) {
    static const int32_t ways[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    uint32_t sum[3] = {0, 0, 0}, count = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const int32_t to_x = x + ways[i][0], to_y = y + ways[i][1];
        if (to_x < 0 || to_y < 0 || to_x >= width || to_y >= height) continue;
        const uint8_t* pixel = rgba + 4 * ((size_t)to_y * (size_t)width + (size_t)to_x);
        if (pixel[3] == 0) continue;
        for (uint32_t k = 0; k < 3; k++)
            sum[k] += pixel[k];
        count++;
    }
    if (count == 0) return 0;
    return sum[0] / count << 16 | sum[1] / count << 8 | sum[2] / count;
}

static SDL_Texture* decode(client_images* images, const char* name, const base_bytes* file,
                           uint32_t width, uint32_t height, bool is_smooth) {
    int has_width = 0, has_height = 0, channels = 0;
    uint8_t* rgba =
        stbi_load_from_memory(file->data, (int)file->size, &has_width, &has_height, &channels, 4);
    if (!rgba || (uint32_t)has_width != width || (uint32_t)has_height != height) {
        base_report(images->reporter, images->folder, 0, "%s is damaged (%s): save it as PNG again",
                    name, rgba ? "its size" : stbi_failure_reason());
        stbi_image_free(rgba);
        return NULL;
    }
    const size_t size = (size_t)width * height * sizeof(uint32_t);
    uint32_t* argb = base_allocate(images->allocator, size);
    uint32_t* to = argb;
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            const uint8_t* pixel = rgba + 4 * ((size_t)y * width + x);
            *to++ = pixel[3] == 0
                        ? bleed(rgba, (int32_t)width, (int32_t)height, (int32_t)x, (int32_t)y)
                        : (uint32_t)pixel[3] << 24 | (uint32_t)pixel[0] << 16 |
                              (uint32_t)pixel[1] << 8 | pixel[2];
        }
    }
    SDL_Texture* texture = make_texture(images, argb, width, height, is_smooth);
    if (!texture)
        base_report(images->reporter, images->folder, 0, "no texture of %u x %u for %s: %s", width,
                    height, name, SDL_GetError());
    base_release(images->allocator, argb, size);
    stbi_image_free(rgba);
    return texture;
}

// @return NULL after a report.
static SDL_Texture* load_texture(client_images* images, client_image* image, const char* name,
                                 bool is_smooth) {
    base_bytes file;
    base_bytes_init(&file, images->allocator);
    uint32_t width = 0, height = 0;
    SDL_Texture* texture = NULL;
    net_result result =
        net_image_read(images->folder, name, images->reporter, &file, &width, &height);
    if (!result && width * height > NET_IMAGES_PIXELS_MAX - images->pixels)
        base_report(images->reporter, images->folder, 0,
                    "%s has no room: all pictures together have at most %u pixels", name,
                    NET_IMAGES_PIXELS_MAX);
    else if (!result)
        texture = decode(images, name, &file, width, height, is_smooth);
    base_bytes_deinit(&file);
    if (!texture) return NULL;
    images->pixels += width * height;
    image->width = width;
    image->height = height;
    return texture;
}

// Another number for another file or another state of it; 0: there is none.
static uint64_t stamp_of(const client_images* images, const client_image* image) {
    char path[4096];
    struct stat status;
    if (!net_asset_name_is_valid(image->name) ||
        !base_text_format(path, sizeof path, "%s/%s", images->folder, image->name) ||
        stat(path, &status) != 0)
        return 0;
    const uint64_t parts[] = {(uint64_t)status.st_mtim.tv_sec, (uint64_t)status.st_mtim.tv_nsec,
                              (uint64_t)status.st_size, (uint64_t)status.st_ino};
    return base_hash64(parts, sizeof parts, 0) | 1;
}

// Load it for the first time or again.
static void begin_image(client_images* images, client_image* image, const char* name) {
    release(images, image);
    image->stamp = image->stamp_seen = stamp_of(images, image);
    image->width = image->height = SQUARES;
    image->has_sharp = false;
    image->smooth = load_texture(images, image, name, true);
    image->is_broken = !image->smooth;
}

void client_images_look(client_images* images, uint64_t now_us) {
    if (!images->folder || now_us - images->looked_us < CLIENT_IMAGES_LOOK_US) return;
    images->looked_us = now_us;
    for (uint32_t i = 0; i < images->count; i++) {
        client_image* image = &images->items[i];
        const uint64_t stamp = stamp_of(images, image);
        if (stamp != image->stamp && stamp == image->stamp_seen)
            begin_image(images, image, image->name);
        image->stamp_seen = stamp;
    }
}

// ---- finding ----

const client_image* client_images_find(client_images* images, const char* name) {
    static const client_image broken = {.width = SQUARES, .height = SQUARES, .is_broken = true};
    if (!images->folder) return &broken;
    const uint64_t hash = base_hash64_text(name ? name : "");
    for (uint32_t i = 0; i < images->count; i++)
        if (images->items[i].name_hash == hash) return &images->items[i];
    if (images->count < NET_IMAGES_MAX) {
        client_image* image = &images->items[images->count++];
        *image = (client_image){.name_hash = hash};
        (void)base_text_copy(image->name, sizeof image->name, name ? name : "");
        begin_image(images, image, name);
        return image;
    }
    if (!images->is_full)
        base_report(images->reporter, images->folder, 0,
                    "%.64s has no room: a game has at most %u pictures: put several into one sheet",
                    name ? name : "", NET_IMAGES_MAX);
    images->is_full = true;
    return &broken;
}

SDL_Texture* client_images_texture(client_images* images, const client_image* image,
                                   bool is_smooth) {
    if (image->is_broken) return images->squares;
    client_image* found = &images->items[image - images->items];
    if (!is_smooth && !found->has_sharp) {
        found->has_sharp = true;
        client_image same = *found; // a file that is another one by now waits for the next look
        found->sharp = load_texture(images, &same, found->name, false);
        if (found->sharp && (same.width != found->width || same.height != found->height)) {
            images->pixels -= same.width * same.height;
            SDL_DestroyTexture(found->sharp);
            found->sharp = NULL;
        }
    }
    return !is_smooth && found->sharp ? found->sharp : found->smooth;
}
