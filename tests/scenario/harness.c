// SPDX-License-Identifier: MIT
// The scenario's loop: one virtual clock, one step per server tick, everyone serviced in a fixed order.
#include "harness.h"

#include "swarm.h"

#include "base/assert.h"
#include "base/text.h"
#include "net/client.h"
#include "net/server.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_US 16667u
#define THREADED_EVERY 8u // seeds whose server has a thread of its own
#define TICKS_PER_SECOND 60u
#define SETTLE_TICKS_MAX 1500u
#define INDEX_MAX 4096u

typedef struct row_record {
    ecs_entity entity;
    uint64_t hash;
} row_record;

typedef struct tick_rows {
    row_record* rows; // by rising index
    uint32_t count;
} tick_rows;

typedef struct member {
    net_match* match;
    net_transport* transport;
    net_client* client;
    uint32_t join_tick;
    uint32_t leave_tick; // 0: stays
    bool is_started, is_done;
    bool goes_dark;
    uint32_t dark_client;     // its number when it went dark, 0: it did not play yet
    net_client_report report; // when it was done
    uint32_t shouts;
    base_rng rng;
    ecs_tick entity_ticks[INDEX_MAX];
    ecs_entity entity_handles[INDEX_MAX];
} member;

typedef struct scenario {
    scenario_config config;
    scenario_result result;
    net_module* module;
    net_match* match;
    net_sim* sim;
    net_transport* transport;
    net_server* server;
    member members[SCENARIO_CLIENTS_MAX];
    tick_rows* history; // by tick
    uint32_t history_count;
    uint64_t now_us;
} scenario;

static void fail(scenario* self, const char* format, ...) BASE_PRINTF(2, 3);
static void fail(scenario* self, const char* format, ...) {
    if (self->result.failure[0]) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(self->result.failure, sizeof self->result.failure, format, arguments);
    va_end(arguments);
}

// Five to twenty-five seconds; less where greeting again takes long, for a session waits thirty.
static void draw_darkness(scenario_config* config, base_rng* rng) {
    bool is_good = config->link.loss_percent < 10 && config->link.delay_ms < 100;
    config->dark_tick = 90 + base_rng_below(rng, 60);
    config->dark_ticks =
        TICKS_PER_SECOND * 5 + base_rng_below(rng, TICKS_PER_SECOND * (is_good ? 20 : 12));
    config->ticks += config->dark_tick + config->dark_ticks + TICKS_PER_SECOND * 8;
}

scenario_config scenario_config_draw(uint64_t seed) {
    base_rng rng = base_rng_make(seed, 1);
    scenario_config config = {.seed = seed};
    config.clients = 1 + base_rng_below(&rng, SCENARIO_CLIENTS_MAX);
    config.ticks = 120 + base_rng_below(&rng, 240);
    config.link.loss_percent = base_rng_chance(&rng, 0.2) ? 0 : base_rng_float(&rng) * 30.0f;
    config.link.delay_ms = base_rng_float(&rng) * 300.0f;
    config.link.jitter_ms = base_rng_float(&rng) * 100.0f;
    config.link.duplicate_percent = base_rng_float(&rng) * 5.0f;
    config.link.reorder_percent = base_rng_float(&rng) * 5.0f;
    config.link.seed = base_rng_u64(&rng);
    config.has_churn = base_rng_chance(&rng, 0.7);
    if (base_rng_chance(&rng, 0.2)) config.stop_tick = 1 + base_rng_below(&rng, config.ticks);
    if (!config.stop_tick && base_rng_chance(&rng, 0.15)) draw_darkness(&config, &rng);
    return config;
}

// What the server's rows are at this tick, for the row check.
static void record_history(scenario* self) {
    ecs_tick tick = net_match_tick(self->match);
    if (tick >= self->history_count || self->history[tick].rows) return;
    ecs_world* world = net_match_world(self->match);
    const net_schema* schema = net_match_schema(self->match);
    uint32_t capacity = ecs_world_entity_count(world);
    tick_rows* rows = &self->history[tick];
    rows->rows = malloc((capacity + 1) * sizeof(row_record));
    BASE_ASSERT(rows->rows);
    for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
         entity = ecs_entity_next(world, entity)) {
        uint64_t hash = net_scope_row_hash(schema, world, entity);
        if (hash == 0) continue;
        rows->rows[rows->count++] = (row_record){entity, hash};
    }
}

static const row_record* find_row(const tick_rows* rows, ecs_entity entity) {
    uint32_t low = 0, high = rows->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (ecs_entity_index(rows->rows[middle].entity) < ecs_entity_index(entity)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < rows->count && rows->rows[low].entity == entity ? &rows->rows[low] : NULL;
}

typedef struct trace_target {
    scenario* self;
    member* one;
} trace_target;

static trace_target trace_target_make(scenario* self, uint32_t index) {
    return (trace_target){self, &self->members[index]};
}

static void check_update(void* context, uint32_t client, ecs_entity entity, ecs_tick tick,
                         uint64_t row_hash) {
    trace_target* target = context;
    scenario* self = target->self;
    self->result.rows_checked++;
    if (tick >= self->history_count || !self->history[tick].rows) {
        fail(self,
             "row check: client %" PRIu32 " applied tick %" PRIu64 " that the server never had",
             client, tick);
        return;
    }
    const row_record* row = find_row(&self->history[tick], entity);
    if (!row) {
        fail(self,
             "row check: client %" PRIu32 " has entity %" PRIu32 ":%" PRIu32 " at tick %" PRIu64
             ", the server had none",
             client, ecs_entity_index(entity), ecs_entity_generation(entity), tick);
    } else if (row->hash != row_hash) {
        fail(self,
             "row check: client %" PRIu32 " entity %" PRIu32 ":%" PRIu32 " tick %" PRIu64
             " differs from the server's history",
             client, ecs_entity_index(entity), ecs_entity_generation(entity), tick);
    }
    uint32_t index = ecs_entity_index(entity);
    BASE_ASSERT(index < INDEX_MAX);
    if (target->one->entity_handles[index] == entity && tick < target->one->entity_ticks[index]) {
        fail(self, "tick check: entity %" PRIu32 " fell from tick %" PRIu64 " to %" PRIu64, index,
             target->one->entity_ticks[index], tick);
    }
    target->one->entity_handles[index] = entity;
    target->one->entity_ticks[index] = tick;
}

static bool open_server(scenario* self) {
    base_reporter reporter = base_reporter_stderr();
    if (net_module_wrap(swarm_module_get(), swarm_templates(), "swarm.blk", &reporter,
                        &self->module) != NET_OK) {
        return false;
    }
    net_match_config config = net_match_config_default(self->module);
    config.role = NET_ROLE_SERVER;
    config.seed = self->config.seed;
    config.settings[0] = (double)(self->config.ticks * 2 / 3);
    if (net_match_create(&config, &reporter, &self->match) != NET_OK) return false;
    if (net_sim_create(NULL, self->config.seed, &self->sim) != NET_OK) return false;
    if (net_sim_server(self->sim, SCENARIO_CLIENTS_MAX + 2, &self->transport) != NET_OK) {
        return false;
    }
    net_server_config server = {
        .match = self->match,
        .transport = self->transport,
        .clients_max = SCENARIO_CLIENTS_MAX,
        .ticks_max = self->config.ticks,
        // What goes out is the same; the golden datagrams say so.
        .is_threaded = self->config.seed % THREADED_EVERY == 0,
        .has_ledger = true,
    };
    return net_server_create(&server, &self->server) == NET_OK;
}

static net_link_config link_of(const scenario* self, uint32_t index) {
    net_link_config link = self->config.link;
    link.seed += index * 31;
    return link;
}

static void open_member(scenario* self, uint32_t index, trace_target* target) {
    member* one = &self->members[index];
    base_reporter reporter = base_reporter_stderr();
    net_match_config config = net_match_config_default(self->module);
    config.role = NET_ROLE_MIRROR;
    BASE_ASSERT(net_match_create(&config, &reporter, &one->match) == NET_OK);
    net_link_config link = link_of(self, index);
    BASE_ASSERT(net_sim_client(self->sim, &link, &one->transport) == NET_OK);
    net_client_config client = {
        .match = one->match,
        .transport = one->transport,
        .address = "sim",
        .name = "member",
        .is_bot = true,
        .seed = self->config.seed * 100 + index,
        .trace = check_update,
        .trace_context = target,
    };
    BASE_ASSERT(net_client_create(&client, &one->client) == NET_OK);
    one->rng = base_rng_make(self->config.seed, 50 + index);
    one->is_started = true;
}

static void close_member(member* one) {
    if (one->client) net_client_destroy(one->client);
    if (one->transport) one->transport->ops->destroy(one->transport);
    if (one->match) net_match_destroy(one->match);
    memset(one, 0, sizeof *one);
}

static void draw_members(scenario* self) {
    base_rng rng = base_rng_make(self->config.seed, 2);
    for (uint32_t i = 0; i < self->config.clients; i++) {
        member* one = &self->members[i];
        one->join_tick = 1;
        one->goes_dark = self->config.dark_tick != 0 && i % 2 == 0;
        // Whoever goes dark plays by then, and is there when the light comes back.
        if (self->config.has_churn && !one->goes_dark) {
            one->join_tick = 1 + base_rng_below(&rng, self->config.ticks * 2 / 3);
            if (base_rng_chance(&rng, 0.3)) {
                one->leave_tick = one->join_tick + 30 + base_rng_below(&rng, self->config.ticks);
            }
        }
    }
}

// References to what is not there must be exactly the handles that are held.
static uint32_t count_dangling(member* one) {
    swarm_context* context = net_match_context(one->match);
    ecs_world* world = net_match_world(one->match);
    ecs_entity seen[256];
    uint32_t count = 0;
    ecs_query_iter iter = ecs_query_begin(world, context->targets);
    while (ecs_query_next(&iter)) {
        const ecs_entity* targets = iter.rows.columns[0];
        for (uint32_t i = 0; i < iter.rows.count; i++) {
            if (targets[i] == ECS_ENTITY_NONE || ecs_is_alive(world, targets[i])) continue;
            bool is_new = true;
            for (uint32_t k = 0; k < count && is_new; k++)
                is_new = seen[k] != targets[i];
            if (is_new && count < BASE_COUNT(seen)) seen[count++] = targets[i];
        }
    }
    return count;
}

static const net_peer_report* find_report(const scenario* self, uint32_t client) {
    for (uint32_t i = 0; i < net_server_report_count(self->server); i++) {
        const net_peer_report* report = net_server_report(self->server, i);
        if (report->client == client) return report;
    }
    return NULL;
}

static void check_member(scenario* self, member* one) {
    net_client_report report = net_client_get_report(one->client);
    self->result.updates += report.updates;
    one->report = report;
    switch (report.end) {
    case NET_CLIENT_END_UNREACHABLE:
    case NET_CLIENT_END_REFUSED:
        self->result.unreachable++;
        return;
    case NET_CLIENT_END_LEFT:
        self->result.sessions++;
        break;
    case NET_CLIENT_END_GOODBYE:
        self->result.sessions++;
        break;
    default:
        fail(self, "session check: client %" PRIu32 " was lost", report.client);
        return;
    }
    if (one->dark_client && report.client != one->dark_client) {
        fail(self, "session check: client %" PRIu32 " came back as client %" PRIu32,
             one->dark_client, report.client);
    }
    net_client_meter meter;
    net_client_get_meter(one->client, &meter);
    self->result.resumes += meter.resumes;
    if (one->dark_client && report.end == NET_CLIENT_END_GOODBYE && meter.resumes == 0)
        fail(self, "session check: client %" PRIu32 " never noticed the dark", report.client);
    swarm_context* context = net_match_context(one->match);
    if (context->ping_faults) {
        fail(self, "event check: client %" PRIu32 " missed or doubled a reliable event",
             report.client);
    }
    if (report.samples_differing) {
        fail(self, "checksum check: %" PRIu64 " of %" PRIu64 " samples differ",
             report.samples_differing, report.samples);
    }
    if (report.bad_transitions)
        fail(self, "state check: %" PRIu64 " bad transitions", report.bad_transitions);
    if (report.packets_malformed) {
        fail(self, "decode check: client %" PRIu32 " could not decode %" PRIu64 " packets",
             report.client, report.packets_malformed);
    }
    if (report.end != NET_CLIENT_END_GOODBYE) return;
    if (report.tick == 0) {
        // Welcomed in the last tick: the match stood still before it joined.
        self->result.unreachable++;
        return;
    }
    const net_peer_report* peer = find_report(self, report.client);
    // After a stop there is not always time for everything; what is said then is checked pair by pair.
    if (peer && self->config.stop_tick && !peer->is_caught_up) return;
    if (!peer || peer->end != NET_END_GOODBYE || !peer->is_caught_up) {
        fail(self, "settle check: client %" PRIu32 " had not caught up", report.client);
        return;
    }
    if (peer->tick != report.tick) {
        fail(self,
             "settle check: client %" PRIu32 " ends at tick %" PRIu64 ", the server at %" PRIu64,
             report.client, report.tick, peer->tick);
    }
    if (peer->scope.hash != report.scope.hash || peer->scope.entities != report.scope.entities) {
        fail(self,
             "hash check: client %" PRIu32 " holds %" PRIu32 " entities, the server %" PRIu32
             ", hashes differ",
             report.client, report.scope.entities, peer->scope.entities);
    }
    if (report.loading != 0)
        fail(self, "state check: %" PRIu32 " entities still load", report.loading);
    uint32_t dangling = count_dangling(one);
    if (report.allocated != dangling) {
        fail(self, "reference check: %" PRIu32 " handles held, %" PRIu32 " dangling references",
             report.allocated, dangling);
    }
}

static void set_light(scenario* self, member* one, uint32_t index, uint32_t step) {
    net_link_config link = link_of(self, index);
    if (step == self->config.dark_tick) {
        link.loss_percent = 100;
        net_sim_link_set(one->transport, &link);
        net_client_report report = net_client_get_report(one->client);
        if (report.tick > 0) one->dark_client = report.client;
    } else if (step == self->config.dark_tick + self->config.dark_ticks) {
        net_sim_link_set(one->transport, &link);
    }
}

static void step_member(scenario* self, uint32_t index, uint32_t step, trace_target* target) {
    member* one = &self->members[index];
    if (one->is_done || step < one->join_tick) return;
    if (!one->is_started) open_member(self, index, target);
    if (one->goes_dark) set_light(self, one, index, step);
    net_client_service(one->client, self->now_us);
    net_client_tick(one->client, self->now_us, NULL);
    if (net_client_get_phase(one->client) == NET_CLIENT_PLAYING &&
        net_client_player(one->client) != ECS_ENTITY_NONE && base_rng_chance(&one->rng, 0.1) &&
        one->shouts < 40) {
        uint32_t number = one->shouts + 1;
        net_result result = net_client_send_event(one->client, 4, &number);
        if (result == NET_OK) one->shouts++;
        // Closed: the server said goodbye, the phase follows when the connection has ended.
        else if (result != NET_ERR_CLOSED)
            fail(self, "event check: a shout was refused");
    }
    if (one->leave_tick && step == one->leave_tick) net_client_leave(one->client, self->now_us);
    if (net_client_get_phase(one->client) == NET_CLIENT_ENDED) {
        check_member(self, one);
        net_transport_stats stats;
        one->transport->ops->stats(one->transport, &stats);
        self->result.datagrams_lost += stats.sim_dropped;
        one->is_done = true;
    }
}

static bool is_everyone_done(const scenario* self) {
    for (uint32_t i = 0; i < self->config.clients; i++) {
        if (!self->members[i].is_done && self->members[i].is_started) return false;
    }
    return net_server_get_phase(self->server) == NET_SERVER_ENDED;
}

// Whoever compares the last lines of both sides joins them on (client, tick): such a pair must be one.
static void check_pairs(scenario* self) {
    for (uint32_t i = 0; i < self->config.clients; i++) {
        const net_client_report* report = &self->members[i].report;
        const net_peer_report* peer = report->client ? find_report(self, report->client) : NULL;
        if (!peer || peer->tick != report->tick) continue;
        if (peer->scope.hash == report->scope.hash) continue;
        fail(self,
             "pair check: client %" PRIu32 " and server both say tick %" PRIu64
             " and mean different worlds",
             report->client, report->tick);
    }
}

static void add_bits(void* context, const net_ledger_line* line) {
    uint64_t* bits = context;
    if (line->client == 0 && strcmp(line->cause, "transport") != 0) *bits += line->bits;
}

// Every bit of every datagram was accounted by whoever wrote it.
static void check_ledger(scenario* self) {
    uint64_t bits = 0;
    if (!net_server_ledger(self->server, 0, add_bits, &bits))
        fail(self, "ledger check: out of memory");
    net_transport_stats stats;
    self->transport->ops->stats(self->transport, &stats);
    if (bits != 8 * stats.sent_bytes)
        fail(self, "ledger check: %" PRIu64 " bits are accounted, %" PRIu64 " were sent", bits,
             8 * stats.sent_bytes);
}

scenario_result scenario_run(const scenario_config* config) {
    scenario* self = calloc(1, sizeof *self);
    BASE_ASSERT(self);
    self->config = *config;
    self->history_count = config->ticks + 2;
    self->history = calloc(self->history_count, sizeof(tick_rows));
    BASE_ASSERT(self->history);
    if (!open_server(self)) fail(self, "the server could not be made");
    trace_target targets[SCENARIO_CLIENTS_MAX];
    draw_members(self);
    for (uint32_t i = 0; i < SCENARIO_CLIENTS_MAX; i++)
        targets[i] = trace_target_make(self, i);
    uint32_t step_max = config->ticks + SETTLE_TICKS_MAX;
    uint32_t step = 0;
    for (; self->server && step < step_max && !self->result.failure[0]; step++) {
        self->now_us += TICK_US;
        if (config->stop_tick && step == config->stop_tick) {
            net_server_stop(self->server, self->now_us);
        }
        net_server_service(self->server, self->now_us);
        net_server_tick(self->server, self->now_us);
        // The simulated network is one thread's.
        (void)net_server_wait_sent(self->server, UINT64_MAX);
        record_history(self);
        for (uint32_t i = 0; i < config->clients; i++)
            step_member(self, i, step, &targets[i]);
        if (is_everyone_done(self)) break;
    }
    if (step == step_max) fail(self, "settle check: the match did not end");
    if (self->server) check_pairs(self);
    if (self->server) check_ledger(self);
    if (self->match) {
        swarm_context* context = net_match_context(self->match);
        if (context->shout_faults) fail(self, "event check: the server missed or doubled a shout");
        self->result.state_hash = ecs_world_state_hash(net_match_world(self->match));
        if (self->result.state_hash != ecs_world_state_hash_walk(net_match_world(self->match))) {
            fail(self, "state hash check: the incremental hash differs from the walk");
        }
    }
    if (self->sim) self->result.datagram_hash = net_sim_datagram_hash(self->sim);
    for (uint32_t i = 0; i < SCENARIO_CLIENTS_MAX; i++)
        close_member(&self->members[i]);
    if (self->server) net_server_destroy(self->server);
    if (self->transport) self->transport->ops->destroy(self->transport);
    if (self->sim) net_sim_destroy(self->sim);
    if (self->match) net_match_destroy(self->match);
    if (self->module) net_module_close(self->module);
    for (uint32_t i = 0; i < self->history_count; i++)
        free(self->history[i].rows);
    free(self->history);
    scenario_result result = self->result;
    result.is_passed = result.failure[0] == '\0';
    free(self);
    return result;
}
