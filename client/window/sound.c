// SPDX-License-Identifier: MIT
// Sounds as SDL2_mixer plays them: a chunk in memory per row of the module's table, channels as
// voices, one piece of music.
//
// Files come from the game's folder through net_asset_read, and only what begins as WAVE or Ogg
// reaches the mixer's decoders. A voice is chosen here and not by the mixer: it would take any free
// channel, so that a burst of one event silences all others.
#include "window/sound.h"

#include "base/bytes.h"

#include <SDL.h>
#include <SDL_mixer.h>
#include <string.h>

#define RATE_HZ 44100
#define BUFFER_FRAMES 1024 // 23 ms
#define PERCENT 100u

struct client_sound {
    base_owner owner;
    const net_module* module;
    const base_reporter* reporter;
    Mix_Chunk* chunks[NET_SOUNDS_MAX]; // by row; NULL: it could not be loaded
    uint32_t rows[CLIENT_VOICES_MAX];  // what a voice plays, or played last
    base_bytes music_bytes;            // the mixer reads them while it plays
    Mix_Music* music;
    uint32_t volume;
    bool is_muted;
};

// What a volume of 0..1 is for the mixer now.
static int mixed(const client_sound* sound, float volume) {
    const uint32_t percent = sound->is_muted ? 0 : sound->volume;
    return (int)(volume * (float)(MIX_MAX_VOLUME * percent) / (float)PERCENT);
}

static bool read_sound(const client_sound* sound, const char* name, base_bytes* bytes) {
    const char* folder = sound->module->asset_folder;
    if (net_asset_read(folder, name, sound->reporter, bytes) != NET_OK) return false;
    if (net_asset_is_sound(bytes->data, bytes->size)) return true;
    base_report(sound->reporter, name, 0,
                "is neither WAVE nor Ogg and cannot be played: save it again as one of these");
    return false;
}

static void refuse_sound(const client_sound* sound, const char* name) {
    base_report(sound->reporter, name, 0, "cannot be played: %s; save the file again",
                Mix_GetError());
}

static void load_music(client_sound* sound) {
    const char* name = sound->module->game->music;
    if (!name || !read_sound(sound, name, &sound->music_bytes)) return;
    SDL_RWops* file = SDL_RWFromConstMem(sound->music_bytes.data, (int)sound->music_bytes.size);
    sound->music = Mix_LoadMUS_RW(file, 1);
    if (!sound->music || Mix_PlayMusic(sound->music, -1) != 0) refuse_sound(sound, name);
}

// Without a display no person listens; a driver that is asked for is opened all the same.
static bool is_near_a_person(void) {
    const char* video = SDL_GetCurrentVideoDriver();
    return SDL_getenv("SDL_AUDIODRIVER") || !video || strcmp(video, "dummy") != 0;
}

client_sound* client_sound_create(const base_allocator* allocator, const net_module* module,
                                  uint32_t volume, const base_reporter* reporter) {
    const net_game_module* game = module->game;
    if (volume == 0 || (game->sound_count == 0 && !game->music) || !is_near_a_person()) return NULL;
    if (SDL_InitSubSystem(SDL_INIT_AUDIO) != 0 ||
        Mix_OpenAudio(RATE_HZ, MIX_DEFAULT_FORMAT, MIX_DEFAULT_CHANNELS, BUFFER_FRAMES) != 0) {
        base_report(reporter, NULL, 0, "no sound: %s (--window volume=0 asks for none)",
                    SDL_GetError());
        SDL_QuitSubSystem(SDL_INIT_AUDIO);
        return NULL;
    }
    client_sound* made = base_owner_create(allocator, sizeof *made);
    made->module = module;
    made->reporter = reporter;
    made->volume = volume > PERCENT ? PERCENT : volume;
    base_bytes_init(&made->music_bytes, &made->owner.allocator);
    (void)Mix_AllocateChannels((int)CLIENT_VOICES_MAX);
    for (uint32_t row = 0; row < game->sound_count; row++) {
        const char* name = made->module->game->sounds[row].file;
        base_bytes bytes;
        base_bytes_init(&bytes, &made->owner.allocator);
        if (read_sound(made, name, &bytes)) {
            made->chunks[row] = Mix_LoadWAV_RW(SDL_RWFromConstMem(bytes.data, (int)bytes.size), 1);
            if (!made->chunks[row]) refuse_sound(made, name);
        }
        base_bytes_deinit(&bytes);
    }
    load_music(made);
    (void)Mix_VolumeMusic(mixed(made, game->music_volume));
    return made;
}

void client_sound_destroy(client_sound* sound) {
    if (!sound) return;
    (void)Mix_HaltChannel(-1);
    (void)Mix_HaltMusic();
    if (sound->music) Mix_FreeMusic(sound->music);
    for (uint32_t row = 0; row < NET_SOUNDS_MAX; row++)
        if (sound->chunks[row]) Mix_FreeChunk(sound->chunks[row]);
    Mix_CloseAudio();
    SDL_QuitSubSystem(SDL_INIT_AUDIO);
    base_owner_destroy(sound);
}

// @return A voice for a row; CLIENT_VOICES_MAX: none is free, or the row has enough of them.
static uint32_t find_voice(const client_sound* sound, uint32_t row) {
    uint32_t found = CLIENT_VOICES_MAX, of_one = 0;
    for (uint32_t voice = 0; voice < CLIENT_VOICES_MAX; voice++) {
        if (!Mix_Playing((int)voice))
            found = voice;
        else
            of_one += sound->rows[voice] == row;
    }
    return of_one < CLIENT_VOICES_OF_ONE ? found : CLIENT_VOICES_MAX;
}

void client_sound_play(client_sound* sound, const net_heard* heard, uint32_t count) {
    for (uint32_t i = 0; sound && i < count; i++) {
        const uint32_t row = heard[i].sound;
        const uint32_t voice = sound->chunks[row] ? find_voice(sound, row) : CLIENT_VOICES_MAX;
        if (voice == CLIENT_VOICES_MAX) continue;
        sound->rows[voice] = row;
        (void)Mix_Volume((int)voice, mixed(sound, heard[i].volume));
        (void)Mix_PlayChannel((int)voice, sound->chunks[row], 0);
    }
}

void client_sound_mute(client_sound* sound) {
    if (!sound) return;
    sound->is_muted = !sound->is_muted;
    if (sound->is_muted) (void)Mix_Volume(-1, 0);
    (void)Mix_VolumeMusic(mixed(sound, sound->module->game->music_volume));
}
