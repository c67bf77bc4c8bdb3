// SPDX-License-Identifier: MIT
// Each CHANGE_S seconds one bot leaves and another one comes, so that a log has joins and leaves
// all the way.
#include "make_log_parts.h"

#include "host/output.h"
#include "host/setup.h"

#include "base/assert.h"
#include "base/text.h"
#include "ecs/save.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define LINE_DEFAULT "delay=20,jitter=3,seed=1"
#define CHANGE_S 300u
#define PROGRESS_S 60u ///< of the match
#define SETTLE_STEPS_MAX 20000u

void make_log_name(uint32_t client, char name[NET_PLAYER_NAME_BYTES_MAX]) {
    base_text_format(name, NET_PLAYER_NAME_BYTES_MAX, "bot %u", client);
}

static net_result join(maker* self) {
    char name[NET_PLAYER_NAME_BYTES_MAX];
    self->named++;
    make_log_name(self->named, name);
    return net_sim_match_join(
        self->sim, &(net_game_player){.client = self->named, .name = name, .is_bot = true});
}

static net_result open_sim(maker* self, ecs_tick ticks) {
    const net_sim_match_config sim = {.module = self->module,
                                      .match = self->match,
                                      .observer = net_log_observer(self->log),
                                      .clients_max = self->config->clients + 1,
                                      .ticks_max = ticks,
                                      .link = self->link};
    net_result result = net_sim_match_create(&sim, &self->sim);
    for (uint32_t i = 0; i < self->config->clients && result == NET_OK; i++)
        result = join(self);
    return result;
}

static net_result open_all(maker* self, ecs_tick ticks) {
    const make_log_config* config = self->config;
    net_result result = net_link_config_parse(config->net ? config->net : LINE_DEFAULT,
                                              &self->reporter, &self->link);
    if (result == NET_OK)
        result = net_host_open_module(config->game, &self->reporter, &self->module);
    if (result != NET_OK) return result;
    net_match_config match = net_match_config_default(self->module);
    match.role = NET_ROLE_SERVER;
    match.seed = config->seed;
    match.tick_rate_hz = config->tick_rate_hz;
    result = net_match_create(&match, &self->reporter, &self->match);
    if (result == NET_OK)
        result = net_log_writer_create(NULL, config->output, self->match, net_build_id(), 0,
                                       &self->reporter, &self->log);
    if (result == NET_OK)
        result = config->is_local ? make_log_local_open(self, &self->local) : open_sim(self, ticks);
    return result;
}

static net_result step(maker* self, bool is_change) {
    if (self->local) return make_log_local_step(self->local, is_change) ? NET_OK : NET_ERR_MEMORY;
    net_result result = NET_OK;
    if (is_change) {
        net_sim_match_leave(self->sim, self->named + 1 - self->config->clients);
        result = join(self);
    }
    net_sim_match_step(self->sim);
    return result;
}

static net_result play(maker* self, ecs_tick ticks) {
    const uint32_t rate = self->config->tick_rate_hz;
    const bool has_progress = isatty(STDERR_FILENO);
    net_result result = NET_OK;
    for (ecs_tick tick = 1; tick <= ticks && result == NET_OK; tick++) {
        result = step(self, tick > 1 && (tick - 1) % (rate * CHANGE_S) == 0);
        net_log_wait_room(self->log);
        if (has_progress && tick % (rate * PROGRESS_S) == 0)
            fprintf(stderr, "\rmade %" PRIu64 " of %" PRIu64 " ticks", tick, ticks);
    }
    if (has_progress) fprintf(stderr, "\n");
    for (uint32_t i = 0; self->sim && i < SETTLE_STEPS_MAX; i++) {
        if (net_server_get_phase(net_sim_match_server(self->sim)) == NET_SERVER_ENDED) break;
        net_sim_match_step(self->sim);
    }
    return result;
}

static net_result close_log(maker* self) {
    char text[256];
    net_log_append_close(self->log, self->match);
    net_result result = net_log_writer_finish(self->log);
    if (result != NET_OK && net_log_take_failure(self->log, text, sizeof text))
        base_report(&self->reporter, self->config->output, 0, "%s", text);
    return result;
}

static void print(maker* self) {
    const net_sim_match_sent sent =
        self->sim ? net_sim_match_get_sent(self->sim) : (net_sim_match_sent){0};
    printf("made log=%s ticks=%" PRIu64 " clients=%u datagrams=%" PRIu64 " bytes=%" PRIu64
           " lost=%" PRIu64 " hash=%016" PRIx64 " state_hash=%016" PRIx64 "\n",
           self->config->output, net_match_tick(self->match), self->named, sent.datagrams,
           sent.bytes, sent.lost, sent.hash, ecs_world_state_hash(net_match_world(self->match)));
}

int make_log(const make_log_config* config) {
    maker self = {.config = config, .reporter = base_reporter_stderr()};
    ecs_tick ticks = (ecs_tick)(config->hours * 3600.0 * config->tick_rate_hz);
    net_result result = open_all(&self, ticks);
    if (result == NET_OK) result = play(&self, ticks);
    if (result == NET_OK) result = close_log(&self);
    if (result == NET_OK)
        print(&self);
    else
        base_report(&self.reporter, NULL, 0, "--make-log: %s", net_result_text(result));
    make_log_local_close(self.local);
    net_sim_match_destroy(self.sim);
    if (self.log) (void)!net_log_writer_destroy(self.log);
    net_match_destroy(self.match);
    if (self.module) net_module_close(self.module);
    return net_exit_of_setup(result);
}
