// SPDX-License-Identifier: MIT
/// The pictures of a game as textures, each loaded from its folder when it is drawn first.
///
/// A picture that cannot be loaded is reported once, with what to do, and is drawn as squares of
/// two colours. A file is untrusted: its size is checked before it is decoded, and decoding gets no
/// more memory than a picture within the limits (net/limits.h) needs.
///
/// One texture for each picture, and not one for all, which would need one way of scaling and room
/// for every picture: sprites of one kind are usually drawn after one another, and 1,000 of one
/// picture are one call. For the software renderer the number of calls does not matter (1 call 2.2
/// ms, 1,000 calls 2.5 ms); a graphics card takes its time for each.
/// A file that changes while the game is shown is loaded again, so that who draws it sees it.
/// Memory: textures are kept until file or folder change. Nothing is allocated after a picture's
/// first use. Threads: only the renderer's thread.
#pragma once

#include "base/alloc.h"
#include "base/report.h"
#include "net/limits.h"

struct SDL_Renderer;
struct SDL_Texture;

/// A picture is smoothed when it is shown in about its own size, and keeps sharp pixels when it is
/// much larger. SDL keeps the choice with a texture, so there are up to two.
typedef struct client_image {
    uint64_t name_hash;
    char name[NET_ASSET_NAME_BYTES]; ///< cut when it is no name of a file
    uint64_t stamp;                  ///< of the file that was loaded; 0: there was none
    uint64_t stamp_seen;             ///< at the last look
    struct SDL_Texture* smooth;      ///< NULL: `is_broken`
    struct SDL_Texture* sharp;       ///< NULL: not used yet, or the file went away
    uint32_t width, height;          ///< pixels
    bool is_broken;                  ///< squares of two colours take its place
    bool has_sharp;                  ///< loading it was tried
} client_image;

typedef struct client_images {
    const base_allocator* allocator;
    const base_reporter* reporter;
    struct SDL_Renderer* renderer;
    const char* folder; ///< NULL: no game
    struct SDL_Texture* squares;
    client_image* items; ///< NET_IMAGES_MAX
    uint32_t count;
    uint32_t pixels; ///< of all textures
    uint64_t looked_us;
    bool is_full; ///< and that was said
} client_images;

/// The memory goes back with the allocator's owner.
BASE_MUST_USE bool client_images_init(client_images* images, const base_allocator* allocator,
                                      struct SDL_Renderer* renderer, const base_reporter* reporter);
void client_images_deinit(client_images* images);
/// Forget all pictures and take those of another folder, which must outlive its use; NULL: none.
void client_images_open(client_images* images, const char* folder);
/// Look for files that changed, at most every CLIENT_IMAGES_LOOK_US, and load them again when they
/// were the same in two looks, so that none is read while it is written. Between two pictures.
void client_images_look(client_images* images, uint64_t now_us);
#define CLIENT_IMAGES_LOOK_US 250000u
/// @return the picture; valid until the next search. What has no name is broken too.
const client_image* client_images_find(client_images* images, const char* name);
/// @return the texture of a picture that was just found. Never NULL.
struct SDL_Texture* client_images_texture(client_images* images, const client_image* image,
                                          bool is_smooth);
