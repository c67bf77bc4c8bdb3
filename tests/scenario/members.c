// SPDX-License-Identifier: MIT
// The clients of a match. They join, send events, leave, lose their line for a while, and the world
// of one may be corrupted.
#include "internal.h"
#include "net/solo.h"

enum { MEMBER_HASH_STEPS = 16 };

static net_link_pair link_of(const scenario* self, uint32_t index) {
    net_link_pair link = {.up = self->config.link, .down = self->config.link};
    link.up.seed += index * 31;
    link.down.seed = link.up.seed;
    if (self->config.way == SCENARIO_UP) link.down.loss_percent = 0;
    if (self->config.way == SCENARIO_DOWN) link.up.loss_percent = 0;
    return link;
}

static void open_member(scenario* self, uint32_t index, trace_target* target) {
    member* one = &self->members[index];
    base_reporter reporter = base_reporter_stderr();
    net_match_config config = net_match_config_default(self->module);
    config.role = NET_ROLE_MIRROR;
    BASE_ASSERT(net_match_create(&config, &reporter, &one->match) == NET_OK);
    swarm_context* context = net_match_context(one->match);
    context->has_trails = self->config.has_worlds;
    net_link_pair link = link_of(self, index);
    one->transport = net_sim_client(self->sim, &link.up);
    net_sim_link_set_pair(one->transport, &link);
    net_client_config client = {
        .match = one->match,
        .transport = one->transport,
        .address = "sim",
        .name = "member",
        .is_bot = true,
        .seed = self->config.seed * 100 + index,
        .trace = check_update,
        .trace_context = target,
        .solo = self->config.has_solo && index % 2 == 0 ? &net_solo_part : NULL,
        .is_spectator = index >= SCENARIO_CLIENTS_MAX,
        .rate_bytes_max = index == 1 ? self->config.rate_max / 2 : 0,
    };
    one->client = net_client_create(&client);
    one->rng = base_rng_make(self->config.seed, 50 + index);
    one->is_started = true;
}

void close_member(member* one) {
    if (one->client) net_client_destroy(one->client);
    if (one->transport) one->transport->ops->destroy(one->transport);
    if (one->match) net_match_destroy(one->match);
    memset(one, 0, sizeof *one);
}

// They come and go.
static void draw_spectators(scenario* self) {
    base_rng rng = base_rng_make(self->config.seed, 7);
    for (uint32_t i = SCENARIO_CLIENTS_MAX; i < MEMBERS_MAX; i++) {
        member* one = &self->members[i];
        one->join_step = 1 + base_rng_below(&rng, self->config.ticks / 2);
        if (base_rng_chance(&rng, 0.3))
            one->leave_step = one->join_step + 30 + base_rng_below(&rng, self->config.ticks);
    }
}

void draw_members(scenario* self) {
    draw_spectators(self);
    base_rng rng = base_rng_make(self->config.seed, 2);
    for (uint32_t i = 0; i < self->config.clients; i++) {
        member* one = &self->members[i];
        one->join_step = 1;
        one->has_cut = self->config.cut_tick != 0 && i % 2 == 0;
        // A client whose line will be cut has joined by then, and stays until the line returns.
        if (self->config.has_churn && !one->has_cut) {
            one->join_step = 1 + base_rng_below(&rng, self->config.ticks * 2 / 3);
            // The time of a goodbye depends on everything before it, and the other clients would
            // see it.
            if (base_rng_chance(&rng, 0.3) && self->config.grants != 2) {
                one->leave_step = one->join_step + 30 + base_rng_below(&rng, self->config.ticks);
            }
        }
    }
}

static void set_line(scenario* self, member* one, uint32_t index, uint32_t step) {
    net_link_pair link = link_of(self, index);
    if (step == self->config.cut_tick) {
        link.up.loss_percent = link.down.loss_percent = 100;
        net_sim_link_set_pair(one->transport, &link);
        net_client_report report = net_client_get_report(one->client);
        if (report.tick > 0) one->cut_client = report.client;
    } else if (step == self->config.cut_tick + self->config.cut_ticks) {
        net_sim_link_set_pair(one->transport, &link);
    }
}

// Corrupt a value that the server would never send again by itself.
static void corrupt_world(member* one) {
    ecs_world* world = net_match_world(one->match);
    const swarm_context* context = net_match_context(one->match);
    ecs_query_iter iter = ecs_query_begin(world, context->movers);
    while (ecs_query_next(&iter)) {
        ecs_vec2* pos = iter.rows.columns[0];
        for (uint32_t i = 0; i < iter.rows.count; i += 7) {
            pos[i].x = pos[i].x > 0 ? pos[i].x - 9 : pos[i].x + 9;
            one->is_corrupted = true;
        }
    }
}

static void watch_another(scenario* self, member* one) {
    if (!base_rng_chance(&one->rng, 0.02)) return;
    net_client_watch(one->client, base_rng_below(&one->rng, self->config.clients + 2));
}

static void shout(scenario* self, member* one) {
    if (net_client_get_phase(one->client) != NET_CLIENT_PLAYING ||
        net_client_player(one->client) == ECS_ENTITY_NONE || one->shouts >= 40 ||
        !base_rng_chance(&one->rng, 0.1))
        return;
    uint32_t number = one->shouts + 1;
    net_result result = net_client_send_event(one->client, 4, &number);
    if (result == NET_OK) one->shouts++;
    // Closed: the server sent a goodbye. The phase changes when the connection has ended.
    else if (result != NET_ERR_CLOSED)
        scenario_fail(self, "event check: a shout was refused");
}

// What came meanwhile is read at once.
static bool stands_still(const scenario* self, member* one, uint32_t step) {
    const scenario_config* config = &self->config;
    if (config->stall_ticks == 0 || step >= config->ticks) return false;
    if (step >= one->stall_end && base_rng_chance(&one->rng, 0.02))
        one->stall_end = step + 1 + base_rng_below(&one->rng, config->stall_ticks);
    return step < one->stall_end;
}

void step_member(scenario* self, uint32_t index, uint32_t step, trace_target* target) {
    member* one = &self->members[index];
    if (one->is_done || step < one->join_step) return;
    if (!one->is_started) open_member(self, index, target);
    if (one->has_cut) set_line(self, one, index, step);
    if (stands_still(self, one, step)) return;
    net_client_service(one->client, self->now_us);
    if (index == 0 && self->config.corrupt_tick && step == self->config.corrupt_tick)
        corrupt_world(one);
    check_groups(self, one);
    net_client_tick(one->client, self->now_us);
    if (step % MEMBER_HASH_STEPS == index) hash_world(self, one->match);
    if (index < SCENARIO_CLIENTS_MAX)
        shout(self, one);
    else
        watch_another(self, one);
    if (one->leave_step && step == one->leave_step) net_client_leave(one->client, self->now_us);
    if (net_client_get_phase(one->client) != NET_CLIENT_ENDED) return;
    check_member(self, one);
    net_transport_stats stats;
    one->transport->ops->stats(one->transport, &stats);
    self->result.counts.datagrams_lost += stats.sim_dropped;
    one->is_done = true;
}
