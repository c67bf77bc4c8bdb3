// SPDX-License-Identifier: MIT
// shoal-replay verify LOG. A run of an hour takes minutes, so it says each second how far it is. A
// second process runs the first minute beside it: replay_again.c.
#include "replay/replay.h"

#include "base/assert.h"
#include "ecs/entity.h"
#include "tools/output.h"
#include "tools/sentry.h"
#include "net/log.h"

#include <inttypes.h>
#include <stdio.h>

#define PROGRESS_US UINT64_C(1000000)

void server_replay_progress(server_replay* self, ecs_tick tick) {
    if (!self->has_progress) return;
    const ecs_tick last = net_log_reader_info(self->reader)->last_tick;
    const uint64_t now_us = net_loop_now_us();
    if (self->progress_us == 0) self->progress_us = now_us;
    BASE_ASSERT(now_us >= self->progress_us && tick >= self->progress_tick);
    const uint64_t passed_us = now_us - self->progress_us;
    if (passed_us < PROGRESS_US && tick != last) return;
    const double rate =
        passed_us > 0 ? (double)(tick - self->progress_tick) * 1e6 / (double)passed_us : 0;
    // On a terminal one line that is written again and again.
    fprintf(stderr, "%sprogress tick=%" PRIu64 " of=%" PRIu64 " ticks_per_s=%.0f%s",
            self->is_terminal ? "\r" : "", tick, last, rate,
            self->is_terminal && tick != last ? "  " : "\n");
    self->progress_us = now_us;
    self->progress_tick = tick;
}

// From the first tick on: a crash of this run says where it is, as in the server.
static bool each_tick(void* context, net_match* match) {
    server_replay* self = context;
    if (self->is_watched && !self->sentry)
        self->sentry = net_sentry_create(&(net_sentry_config){
            .world = net_match_world(match), .loop = &self->loop, .reporter = self->reporter});
    server_replay_progress(self, net_match_tick(match));
    return true;
}

// Where a run left the log: the field with both values where the log has them.
static void print_diverged(const net_verify_result* verified) {
    printf("diverged tick=%" PRIu64 " component=%s entity=%u:%u", verified->diverged_tick,
           verified->component, ecs_entity_index(verified->entity),
           ecs_entity_generation(verified->entity));
    if (verified->field[0])
        printf(" field=%s log=%s run=%s", verified->field, verified->log_value, verified->value);
    if (verified->is_other_schema) printf(" schema=differs");
    printf("\n");
    if (verified->note[0]) printf("note: %s\n", verified->note);
}

int server_replay_verify(server_replay* self) {
    const net_log_info* info = net_log_reader_info(self->reader);
    net_verify_result verified;
    self->is_watched = self->is_through_crash && !info->is_closed;
    if (self->is_through_crash && info->is_closed)
        base_report(&self->reporter, self->file, 0,
                    "note: it has an end record, so no tick of it crashed");
    ecs_tick until = self->is_watched ? info->last_tick + 1 : 0;
    if (self->is_again && info->last_tick - info->first_tick >= SERVER_REPLAY_AGAIN_TICKS_MAX)
        until = info->first_tick + SERVER_REPLAY_AGAIN_TICKS_MAX - 1;
    const bool has_again = !self->is_once && !self->is_again && !self->is_watched;
    if (has_again) server_replay_begin_again(self);
    net_result result = net_log_verify(self->reader, self->module, until, each_tick, self,
                                       &self->reporter, &verified);
    net_sentry_destroy(self->sentry);
    ecs_tick again_ticks = 0;
    int again = server_replay_end_again(self, result == NET_OK, &again_ticks);
    self->has_result = result == NET_OK || result == NET_ERR_DIVERGED;
    if (again != NET_EXIT_CLEAN) return again;
    if (result == NET_ERR_DIVERGED) print_diverged(&verified);
    if (result != NET_OK) return net_exit_of_replay(result);
    const char* tail = self->is_again ? "unknown" : net_log_reader_verdict(self->reader);
    printf("verified ticks=%" PRIu64 " state_hash=%016" PRIx64 " world_hash=%016" PRIx64
           " tail=%s lost_bytes=%" PRIu64,
           verified.ticks, verified.state_hash, verified.world_hash, tail, info->lost_bytes);
    if (has_again && again_ticks < verified.ticks) printf(" again_ticks=%" PRIu64, again_ticks);
    printf("\n");
    return NET_EXIT_CLEAN;
}
