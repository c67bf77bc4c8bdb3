// SPDX-License-Identifier: MIT
/// The sounds and the music of a game, over SDL2_mixer. A build without it has none: then
/// client_sound_create returns NULL, and all functions take NULL.
///
/// Voices: at most CLIENT_VOICES_MAX sounds are heard at one time, CLIENT_VOICES_OF_ONE of them
/// from one row of the table. So a burst of events neither roars nor takes the voices of the
/// others; what finds no voice is not played.
///
/// Memory: everything is loaded at create; nothing is allocated when a sound plays.
/// Threads: only the main thread; SDL mixes on its own.
#pragma once

#include "base/alloc.h"
#include "base/report.h"
#include "net/match.h"

#define CLIENT_VOICES_MAX 16u
#define CLIENT_VOICES_OF_ONE 4u

typedef struct client_sound client_sound;

#if SHOAL_HAS_SOUND
/// Open the sound device, load the module's files and begin the music. A file that is missing or
/// broken is reported and stays silent; without a device, one line is reported. `volume` is 0..100.
/// The module must outlive it.
/// @return NULL when nothing can be heard: no device, volume 0, a game without sounds, or a picture
///         that is drawn into memory and no SDL_AUDIODRIVER.
client_sound* client_sound_create(const base_allocator* allocator, const net_module* module,
                                  uint32_t volume, const base_reporter* reporter);
void client_sound_destroy(client_sound* sound);
/// Begin these sounds, the first ones first.
void client_sound_play(client_sound* sound, const net_heard* heard, uint32_t count);
/// Turn all sound off, or on again.
void client_sound_mute(client_sound* sound);
#else
static inline client_sound* client_sound_create(const base_allocator* allocator,
                                                const net_module* module, uint32_t volume,
                                                const base_reporter* reporter) {
    (void)allocator, (void)module, (void)volume, (void)reporter;
    return NULL;
}
static inline void client_sound_destroy(client_sound* sound) {
    (void)sound;
}
static inline void client_sound_play(client_sound* sound, const net_heard* heard, uint32_t count) {
    (void)sound, (void)heard, (void)count;
}
static inline void client_sound_mute(client_sound* sound) {
    (void)sound;
}
#endif
