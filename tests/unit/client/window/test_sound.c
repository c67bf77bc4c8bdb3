// SPDX-License-Identifier: MIT
// Sounds, heard by SDL's disk driver: it writes what a person would hear into a file.
#include "window/sound.h"

#include "test.h"

#include <SDL.h>
#include <SDL_mixer.h>
#include <unistd.h>

#define SECOND_BYTES (44100L * 2 * 2)

static char folder[64];

static const net_sound sounds[] = {{"a", "a.wav", 1.0f, 0.0f},
                                   {"b", "b.wav", 1.0f, 0.0f},
                                   {"broken", "broken.wav", 1.0f, 0.0f},
                                   {"other", "other.wav", 1.0f, 0.0f},
                                   {"missing", "missing.wav", 1.0f, 0.0f},
                                   {"c", "c.wav", 1.0f, 0.0f},
                                   {"d", "d.wav", 1.0f, 0.0f},
                                   {"e", "e.wav", 1.0f, 0.0f}};

static char* path_of(char* path, size_t bytes, const char* name) {
    assert_true(base_text_format(path, bytes, "%s/%s", folder, name));
    return path;
}

static void put_u32(uint8_t* to, uint32_t value) {
    for (uint32_t i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static void write_file(const char* name, const void* bytes, size_t size) {
    char path[128];
    FILE* file = fopen(path_of(path, sizeof path, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

// A square wave of 2 s at 8 kHz, 8 bits.
static void write_wave(const char* name) {
    static uint8_t bytes[44 + 16000];
    memcpy(bytes, "RIFF....WAVEfmt ....\1\0\1\0....\100\37\0\0\1\0\10\0data....", 44);
    put_u32(bytes + 4, sizeof bytes - 8);
    put_u32(bytes + 16, 16);
    put_u32(bytes + 24, 8000);
    put_u32(bytes + 40, sizeof bytes - 44);
    for (uint32_t i = 44; i < sizeof bytes; i++)
        bytes[i] = i / 8 % 2 ? 40 : 215;
    write_file(name, bytes, sizeof bytes);
}

typedef struct hall {
    net_game_module game;
    net_module module;
    base_report_first faults;
    base_reporter reporter;
    client_sound* sound;
} hall;

static void open_hall(hall* h, uint32_t volume, uint32_t sound_count, const char* music) {
    char path[128];
    memset(h, 0, sizeof *h);
    h->game.sounds = sounds;
    h->game.sound_count = sound_count;
    h->game.music = music;
    h->game.music_volume = 0.5f;
    h->module.game = &h->game;
    h->module.asset_folder = folder;
    h->reporter = base_reporter_first(&h->faults);
    (void)SDL_setenv("SDL_DISKAUDIOFILE", path_of(path, sizeof path, "heard.raw"), 1);
    h->sound = client_sound_create(NULL, &h->module, volume, &h->reporter);
}

// @return the loudest sample that was ever heard.
static int32_t close_hall(hall* h) {
    char path[128];
    client_sound_destroy(h->sound);
    FILE* file = fopen(path_of(path, sizeof path, "heard.raw"), "rb");
    if (!file) return -1;
    int32_t loudest = 0;
    static int16_t samples[4096];
    for (size_t count; (count = fread(samples, sizeof samples[0], 4096, file)) > 0;)
        for (size_t i = 0; i < count; i++)
            if (abs(samples[i]) > loudest) loudest = abs(samples[i]);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(unlink(path), 0);
    return loudest;
}

static void call(hall* h, uint32_t row, float volume, uint32_t times) {
    const net_heard heard = {row, volume};
    for (uint32_t i = 0; i < times; i++)
        client_sound_play(h->sound, &heard, 1);
}

CASE(a_sound_is_heard_as_loud_as_it_is) {
    static const float volumes[] = {0.0f, 0.2f, 1.0f};
    int32_t loudest[3];
    for (uint32_t i = 0; i < 3; i++) {
        hall h;
        open_hall(&h, 100, 1, NULL);
        assert_non_null(h.sound);
        if (i > 0) call(&h, 0, volumes[i], 1);
        SDL_Delay(60);
        loudest[i] = close_hall(&h);
        assert_int_equal(h.faults.count, 0);
    }
    assert_int_equal(loudest[0], 0);
    assert_true(loudest[1] > 1000 && loudest[2] > 3 * loudest[1]);
}

// The loudest sample of a sound after so many calls of mute.
static int32_t heard(uint32_t volume, uint32_t mutes) {
    hall h;
    open_hall(&h, volume, 1, NULL);
    for (uint32_t i = 0; i < mutes; i++)
        client_sound_mute(h.sound);
    call(&h, 0, 1.0f, 1);
    SDL_Delay(60);
    return close_hall(&h);
}

CASE(the_volume_and_mute_are_of_all_sounds) {
    hall h;
    open_hall(&h, 0, 1, "a.wav"); // not even opened
    assert_null(h.sound);
    call(&h, 0, 1.0f, 1);
    client_sound_mute(h.sound);
    assert_int_equal(close_hall(&h), -1);
    assert_in_range(heard(10, 0), 501, 5999);
    assert_int_equal(heard(100, 1), 0);
    assert_true(heard(100, 2) > 1000);
}

CASE(music_is_heard_without_an_event_and_begins_again) {
    hall h;
    open_hall(&h, 100, 0, "a.wav");
    assert_non_null(h.sound);
    SDL_Delay(60);
    assert_int_equal(Mix_Playing(-1), 0);
    // The file has 2 s: what is written later is its beginning once more.
    char path[128];
    long size = 0;
    for (uint32_t i = 0; i < 200 && size < 4 * SECOND_BYTES; i++) {
        SDL_Delay(10);
        FILE* file = fopen(path_of(path, sizeof path, "heard.raw"), "rb");
        assert_int_equal(fseek(file, 0, SEEK_END), 0);
        size = ftell(file);
        if (size >= 4 * SECOND_BYTES) {
            int16_t late[64];
            assert_int_equal(fseek(file, 3 * SECOND_BYTES, SEEK_SET), 0);
            assert_int_equal(fread(late, sizeof late[0], 64, file), 64);
            assert_true(abs(late[0]) > 1000);
        }
        assert_int_equal(fclose(file), 0);
    }
    assert_true(size >= 4 * SECOND_BYTES);
    assert_true(close_hall(&h) > 1000);
}

CASE(a_burst_takes_no_more_than_its_voices) {
    hall h;
    (void)SDL_setenv("SDL_DISKAUDIODELAY", "50", 1); // sounds last until the end of the case
    open_hall(&h, 100, BASE_COUNT(sounds), NULL);
    call(&h, 0, 0.1f, CLIENT_VOICES_OF_ONE - 1);
    assert_int_equal(Mix_Playing(-1), CLIENT_VOICES_OF_ONE - 1);
    call(&h, 0, 0.1f, 1);
    assert_int_equal(Mix_Playing(-1), CLIENT_VOICES_OF_ONE);
    call(&h, 0, 0.1f, 200);
    assert_int_equal(Mix_Playing(-1), CLIENT_VOICES_OF_ONE);
    static const uint32_t others[] = {1, 5, 6, 7};
    for (uint32_t i = 0; i < BASE_COUNT(others); i++)
        call(&h, others[i], 0.1f, 200);
    assert_int_equal(Mix_Playing(-1), CLIENT_VOICES_MAX);
    (void)close_hall(&h);
    (void)SDL_setenv("SDL_DISKAUDIODELAY", "1", 1);
}

// The keeper of reports has the first one; so each fault has a hall of its own.
CASE(a_file_that_is_missing_or_broken_is_named_and_silent) {
    static const struct {
        uint32_t row;
        const char* said;
    } faults[] = {{2, "broken.wav: error: cannot be played: "},
                  {3, "other.wav: error: is neither WAVE nor Ogg"},
                  {4, "missing.wav: error: is missing: put missing.wav into the folder assets"}};
    for (uint32_t i = 0; i < BASE_COUNT(faults); i++) {
        hall h;
        memset(&h, 0, sizeof h);
        net_sound two[] = {sounds[faults[i].row], sounds[0]};
        h.game.sounds = two;
        h.game.sound_count = 2;
        h.module.game = &h.game;
        h.module.asset_folder = folder;
        h.reporter = base_reporter_first(&h.faults);
        h.sound = client_sound_create(NULL, &h.module, 100, &h.reporter);
        assert_non_null(h.sound);
        assert_int_equal(h.faults.count, 1);
        if (!strstr(h.faults.text, faults[i].said))
            fail_msg("%s lacks %s", h.faults.text, faults[i].said);
        call(&h, 0, 1.0f, 1);
        assert_int_equal(Mix_Playing(-1), 0);
        call(&h, 1, 1.0f, 1);
        assert_int_equal(Mix_Playing(-1), 1);
        (void)close_hall(&h);
    }
}

CASE(without_a_device_the_game_goes_on) {
    hall h;
    (void)SDL_setenv("SDL_AUDIODRIVER", "nothing", 1);
    open_hall(&h, 100, 1, NULL);
    assert_null(h.sound);
    assert_int_equal(h.faults.count, 1);
    assert_non_null(strstr(h.faults.text, "no sound: "));
    (void)SDL_setenv("SDL_AUDIODRIVER", "disk", 1);
}

int main(void) {
    strcpy(folder, "/tmp/shoal-sound.XXXXXX");
    if (!mkdtemp(folder)) return 1;
    static const char* const waves[] = {"a.wav", "b.wav", "c.wav", "d.wav", "e.wav"};
    for (uint32_t i = 0; i < BASE_COUNT(waves); i++)
        write_wave(waves[i]);
    write_file("broken.wav", "RIFF\1\0\0\0WAVEfmt nothing", 24);
    write_file("other.wav", "ID3 of another kind", 19);
    int failed = test_run();
    char path[128];
    static const char* const files[] = {"a.wav", "b.wav",      "c.wav",    "d.wav",
                                        "e.wav", "broken.wav", "other.wav"};
    for (uint32_t i = 0; i < BASE_COUNT(files); i++)
        (void)unlink(path_of(path, sizeof path, files[i]));
    return rmdir(folder) == 0 ? failed : 1; // it fails when the tests left a file
}
