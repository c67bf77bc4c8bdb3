// SPDX-License-Identifier: MIT
// A log, its game, and who looks at it: a window, a picture (playback_window.c), or only its hashes.
//
// The log never names a path: the game is found by name in the module path, or given with --game. Exit
// codes are those of shoal-replay.
#include "playback/playback_play.h"

#include "ecs/save.h"
#include "playback/playback_internal.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    FILM_OK = 0,
    FILM_FAILURE = 1, ///< a damaged log, a file that cannot be read, no memory
    FILM_USAGE = 2,
    FILM_SCHEMA = 4,
    FILM_DIVERGED = 5,
};

/// Between two looks at signals.
#define CHUNK_TICKS 6000.0
#define WAKE_US 10000u

static int code_of(net_result result) {
    switch (result) {
    case NET_OK:
        return FILM_OK;
    case NET_ERR_SCHEMA:
    case NET_ERR_VERSION:
        return FILM_SCHEMA;
    case NET_ERR_UNKNOWN:
    case NET_ERR_MODULE:
        return FILM_USAGE;
    default:
        return FILM_FAILURE;
    }
}

bool client_playback_note(client_playback* self, net_result result) {
    self->is_diverged |= result == NET_ERR_DIVERGED;
    self->is_damaged |= result == NET_ERR_DAMAGED;
    if (result == NET_OK || result == NET_ERR_DIVERGED || result == NET_ERR_DAMAGED) return true;
    base_report(self->reporter, self->config->replay, 0, "cannot go on: %s",
                net_result_text(result));
    return false;
}

static net_result open_playback(client_playback* self) {
    char path[2048];
    const char* file = self->config->replay;
    net_result result = net_log_reader_create(NULL, file, self->reporter, &self->reader);
    self->is_damaged = result == NET_ERR_DAMAGED;
    if (!self->reader) return result;
    const char* game = self->config->game;
    net_module_default_path(path, sizeof path);
    result = net_module_open(game ? game : net_log_reader_info(self->reader)->game, path,
                             self->reporter, &self->module);
    if (result != NET_OK) return result;
    return net_playback_create(self->reader, self->module, self->reporter, &self->playback);
}

static void close_playback(client_playback* self) {
    net_playback_destroy(self->playback);
    if (self->module) net_module_close(self->module);
    net_log_reader_destroy(self->reader);
}

// ---- hashes alone ----

static bool is_at_end(const client_playback* self) {
    return net_playback_tick(self->playback) >= (double)net_playback_tick_last(self->playback);
}

/// @return false when the user stopped it or there is no going on.
static bool run_fast(client_playback* self) {
    do {
        if (net_loop_wait(self->loop, net_loop_now_us())) return false;
        double tick = net_playback_tick(self->playback) + CHUNK_TICKS;
        if (!client_playback_note(self, net_playback_seek(self->playback, tick))) return false;
    } while (!is_at_end(self));
    return true;
}

static bool run_paced(client_playback* self) {
    double per_us = self->config->speed * net_log_reader_info(self->reader)->tick_rate_hz * 1e-6;
    uint64_t last_us = net_loop_now_us();
    while (!is_at_end(self)) {
        if (net_loop_wait(self->loop, last_us + WAKE_US)) return false;
        uint64_t now_us = net_loop_now_us();
        double ticks = (double)(now_us - last_us) * per_us;
        last_us = now_us;
        if (!client_playback_note(self, net_playback_advance(self->playback, ticks))) return false;
    }
    return true;
}

static int play_headless(client_playback* self) {
    const net_log_info* info = net_log_reader_info(self->reader);
    if (!client_playback_note(self, net_playback_seek(self->playback, self->config->at)))
        return FILM_FAILURE;
    bool is_whole = self->config->speed > 0.0 ? run_paced(self) : run_fast(self);
    net_match* match = net_playback_match(self->playback);
    if (!match) return FILM_FAILURE;
    const ecs_world* world = net_match_world(match);
    if (self->is_diverged)
        printf("diverged tick=%" PRIu64 "\n", net_playback_diverged(self->playback));
    printf("replayed ticks=%" PRIu64 " state_hash=%016" PRIx64 " world_hash=%016" PRIx64
           " tail=%s lost_bytes=%" PRIu64 "\n",
           net_match_tick(match), ecs_world_state_hash(world), ecs_world_hash(world),
           info->is_cut ? "cut" : "whole", info->lost_bytes);
    return is_whole ? FILM_OK : FILM_FAILURE;
}

static int play(client_playback* self) {
    if (!self->config->is_rendering) return play_headless(self);
#if SHOAL_HAS_WINDOW
    return client_playback_show(self);
#else
    base_report(self->reporter, NULL, 0, "this client was built without a window");
    return FILM_USAGE;
#endif
}

int client_playback_play(const client_config* config, const base_reporter* reporter,
                         net_loop* loop) {
    client_playback self = {.config = config, .reporter = reporter, .loop = loop};
    loop->socket_count = 0;
    net_result result = open_playback(&self);
    int code = code_of(result);
    if (result == NET_OK) code = play(&self);
    if (code == FILM_OK && self.is_diverged) code = FILM_DIVERGED;
    if (code == FILM_OK && self.is_damaged) code = FILM_FAILURE;
    close_playback(&self);
    return code;
}
