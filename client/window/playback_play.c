// SPDX-License-Identifier: MIT
// Plays a log to its end: in a window or as a picture (both in playback_window.c), or without
// them.
//
// A log never names a path: the game is found by its name in the module path, or it is given with
// --game. The exit codes are those of shoal-replay.
#include "window/playback_play.h"

#include "host/output.h"
#include "host/setup.h"

#include <inttypes.h>
#include <stdio.h>

#define CHUNK_TICKS 600.0 ///< between two looks at signals
#define WAKE_US 10000u

static net_result open_playback(client_playback* self) {
    const char* file = self->config->replay;
    net_result result = net_log_reader_create(NULL, file, self->reporter, &self->reader);
    if (!self->reader) return result;
    const char* game = self->config->game;
    if (!game) game = net_log_reader_info(self->reader)->game;
    result = net_host_open_game(game, NET_ROLE_SERVER, self->config->threads, self->reporter,
                                &self->module);
    if (result != NET_OK) return result;
    return net_playback_create(self->reader, self->module, self->reporter, &self->playback);
}

static bool is_at_end(const client_playback* self) {
    return net_playback_tick(self->playback) >= (double)net_playback_tick_last(self->playback);
}

// Without --speed as fast as possible; only the end of a log that is still written is waited for.
/// @return false when the user stopped it, or when it cannot continue.
static bool run_playback(client_playback* self) {
    const bool is_paced = self->config->speed > 0.0;
    double per_us = self->config->speed * net_log_reader_info(self->reader)->tick_rate_hz * 1e-6;
    uint64_t last_us = net_loop_now_us();
    do {
        bool is_waiting = is_at_end(self) && client_playback_is_open(self);
        if (net_loop_wait(self->loop, is_paced || is_waiting ? last_us + WAKE_US : last_us))
            return false;
        uint64_t now_us = net_loop_now_us();
        if (is_at_end(self) && !client_playback_record(self, client_playback_refresh(self, now_us)))
            return false;
        double ticks = is_paced ? (double)(now_us - last_us) * per_us : CHUNK_TICKS;
        last_us = now_us;
        net_result result = net_playback_advance(self->playback, ticks);
        if (!client_playback_record(self, result)) return false;
    } while (!is_at_end(self) || client_playback_is_open(self));
    return true;
}

static int play_headless(client_playback* self) {
    if (!client_playback_record(self, net_playback_seek(self->playback, self->config->at)))
        return NET_EXIT_RUNTIME;
    bool is_whole = run_playback(self);
    const net_log_info* info =
        net_log_reader_info(self->reader); // --replay follow=opened another one
    self->has_result = true;
    if (self->is_diverged) {
        printf("diverged tick=%" PRIu64 "\n", net_playback_diverged(self->playback));
        return NET_EXIT_DIVERGED;
    }
    const char* tail = net_log_reader_verdict(self->reader); // before the info is read
    printf("watched ticks=%" PRIu64 " clamped=%" PRIu64 " tail=%s lost_bytes=%" PRIu64 "\n",
           (ecs_tick)net_playback_tick(self->playback), net_playback_clamped(self->playback), tail,
           info->lost_bytes);
    return is_whole ? NET_EXIT_CLEAN : NET_EXIT_RUNTIME;
}

static int play(client_playback* self) {
    if (!self->config->is_rendering) return play_headless(self);
#if SHOAL_HAS_WINDOW
    return client_playback_show(self);
#else
    return net_exit_report(NET_EXIT_USAGE, self->reporter, NULL,
                           "this client was built without a window");
#endif
}

int client_playback_play(const client_config* config, const base_reporter* reporter,
                         net_loop* loop) {
    client_playback self = {.config = config, .reporter = reporter, .loop = loop};
    loop->socket_count = 0;
    net_result result = open_playback(&self);
    int code = net_exit_of_replay(result);
    if (result == NET_OK) code = play(&self);
    if (code == NET_EXIT_CLEAN && self.is_diverged) code = NET_EXIT_DIVERGED;
    if (code == NET_EXIT_CLEAN) self.is_damaged |= net_log_reader_check(self.reader) != NET_OK;
    if (code == NET_EXIT_CLEAN && self.is_damaged) code = NET_EXIT_RUNTIME;
    bool is_silent = config->is_rendering || self.has_result || !self.reader;
    if (!is_silent && code != NET_EXIT_CLEAN && code != NET_EXIT_USAGE) {
        const char* tail = net_log_reader_verdict(self.reader);
        printf("failed exit=%d tail=%s lost_bytes=%" PRIu64 "\n", code, tail,
               net_log_reader_info(self.reader)->lost_bytes);
    }
    net_playback_destroy(self.playback);
    net_host_close_game(self.module);
    net_log_reader_destroy(self.reader);
    return code;
}
