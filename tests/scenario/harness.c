// SPDX-License-Identifier: MIT
// The loop of a scenario: one virtual clock, one step per server tick, server and clients in a
// fixed order.
#include "internal.h"

#include "net/explain.h"
#include "net/solo.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// A hash of the world costs about as much as its tick. What went wrong once stays so: a trail
// follows from the one before.
enum { SERVER_HASH_STEPS = 4 };

void scenario_fail(scenario* self, const char* format, ...) {
    if (self->result.failure[0]) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(self->result.failure, sizeof self->result.failure, format, arguments);
    va_end(arguments);
}

static bool open_match(scenario* self, const base_reporter* reporter) {
    const scenario_config* config = &self->config;
    const net_game_module* game =
        config->is_wild ? swarm_wild_make(&self->wild, config->rules) : swarm_module_get();
    const char* templates = config->is_wild ? swarm_wild_templates() : swarm_templates();
    if (net_module_wrap(game, templates, "swarm.blk", reporter, &self->module) != NET_OK)
        return false;
    self->module->workers = self->workers;
    net_match_config match = net_match_config_default(self->module);
    match.role = NET_ROLE_SERVER;
    match.seed = config->seed;
    match.settings[0] = (double)config->quiet_ticks;
    match.settings[2] = config->is_salted;
    match.settings[3] = (double)config->load;
    match.settings[4] = (double)config->grants;
    if (net_match_create(&match, reporter, &self->match) != NET_OK) return false;
    swarm_context* context = net_match_context(self->match);
    context->tick_zero = config->tick_zero;
    context->has_trails = config->has_worlds;
    if (config->tick_zero) net_match_step_at(self->match, config->tick_zero);
    return true;
}

static bool open_server(scenario* self) {
    const scenario_config* config = &self->config;
    base_reporter reporter = base_reporter_stderr();
    if (!open_match(self, &reporter)) return false;
    self->sim = net_sim_create(NULL, config->seed);
    if (net_sim_server(self->sim, MEMBERS_MAX + 2, &self->transport) != NET_OK) return false;
    if (config->lanes) net_sim_lanes_set(self->transport, config->lanes);
    open_tap(self);
    net_server_config server = {
        .match = self->match,
        .transport = self->transport,
        .solo = &net_solo_part,
        .clients_max = SCENARIO_CLIENTS_MAX,
        .spectators_max = config->spectator_places,
        .ticks_max = config->tick_zero + config->ticks,
        .rate_bytes_max = config->rate_max,
        .send_divisor = config->send_divisor,
        .is_threaded = config->is_threaded,
        .tap = config->has_accounts ? &net_account_tap : &net_explain_tap,
        .coder = NET_CODER_SOLO,
    };
    if (net_server_create(&server, &self->server) != NET_OK) return false;
    self->server->seq_first = config->seq_first;
    if (config->is_threaded) self->server->little = 0;
    for (uint32_t i = 0; i < self->server->replicator->lane_count; i++)
        self->server->replicator->lanes[i].encoded_rows.is_solo = config->is_solo;
    return true;
}

void hash_world(scenario* self, net_match* match) {
    if (!self->config.has_worlds) return;
    const uint64_t hash = ecs_world_hash(net_match_world(match));
    self->result.worlds_hash = base_hash64_mix(self->result.worlds_hash, hash);
}

static bool is_everyone_done(const scenario* self) {
    for (uint32_t i = 0; i < MEMBERS_MAX; i++) {
        if (!self->members[i].is_done && self->members[i].is_started) return false;
    }
    return net_server_get_phase(self->server) == NET_SERVER_ENDED;
}

static void play(scenario* self) {
    const scenario_config* config = &self->config;
    trace_target targets[MEMBERS_MAX];
    for (uint32_t i = 0; i < MEMBERS_MAX; i++)
        targets[i] = (trace_target){self, &self->members[i]};
    uint32_t step_max = config->ticks + SETTLE_TICKS_MAX;
    for (uint32_t step = 0; step < step_max && !self->result.failure[0]; step++) {
        self->now_us += TICK_US;
        if (config->stop_tick && step == config->stop_tick)
            net_server_stop(self->server, self->now_us);
        net_server_service(self->server, self->now_us);
        net_server_tick(self->server, self->now_us);
        (void)net_server_wait_sent(self->server, UINT64_MAX);
        if (step % SERVER_HASH_STEPS == 0) hash_world(self, self->match);
        record_history(self);
        check_views(self);
        check_asked(self);
        for (uint32_t i = 0; i < config->clients; i++)
            step_member(self, i, step, &targets[i]);
        for (uint32_t i = 0; i < config->spectators; i++)
            step_member(self, SCENARIO_CLIENTS_MAX + i, step, &targets[SCENARIO_CLIENTS_MAX + i]);
        if (is_everyone_done(self)) return;
    }
    scenario_fail(self, "settle check: the match did not end");
}

static void close_all(scenario* self) {
    for (uint32_t i = 0; i < MEMBERS_MAX; i++)
        close_member(&self->members[i]);
    if (self->server) net_server_destroy(self->server);
    if (self->transport) self->transport->ops->destroy(self->transport);
    if (self->sim) net_sim_destroy(self->sim);
    if (self->match) net_match_destroy(self->match);
    if (self->module) net_module_close(self->module);
    base_workers_destroy(self->workers);
    free_history(self);
    free_watched(self);
}

scenario_result scenario_run(const scenario_config* config) {
    scenario* self = calloc(1, sizeof *self);
    BASE_ASSERT(self);
    self->config = *config;
    self->history_count = config->ticks + 2;
    self->history = calloc(self->history_count, sizeof(tick_rows));
    BASE_ASSERT(self->history);
    draw_members(self);
    if (config->threads) {
        self->workers = base_workers_create(NULL, config->threads);
        BASE_ASSERT(self->workers);
        base_workers_set_eager(self->workers);
    }
    if (open_server(self)) {
        play(self);
        check_server(self);
        self->result.datagram_hash = net_sim_datagram_hash(self->sim);
    } else {
        scenario_fail(self, "the server could not be made");
    }
    close_all(self);
    scenario_result result = self->result;
    result.is_passed = result.failure[0] == '\0';
    free(self);
    return result;
}
