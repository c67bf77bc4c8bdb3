// SPDX-License-Identifier: MIT
// A whole server with 1,000 clients on the simulated network: sessions, headers, protobuf, inputs,
// events, history, interest, state packets. Sockets and encryption are left out.
//
// A few clients are real ones, whose worlds are compared before the clock runs. The others read
// headers, acknowledge, and send inputs (support/raw_client.h). Clients and network are not timed,
// except what the server's calls of its transport cost.
#include "bench.h"
#include "flock.h"
#include "flock.pb-c.h"

#include "raw_client.h"

#include "net/client.h"
#include "net/match.h"
#include "net/server.h"
#include "replicate/repl_state.h"
#include "server/server_state.h"

#include <stdio.h>

#define CLIENTS 1000u
#define REAL_CLIENTS 4u
#define TICK_RATE_HZ 30u
#define VERIFY_TICKS 60u
#define SETTLE_TICKS 300u
#define COMPARE_EVERY 10u
#define WARM_TICKS 60u
#define ROUND_TICKS 8u // a multiple of NET_INTEREST_EVERY_TICKS

typedef struct thin_client {
    raw_client raw;
    bool is_greeted;
    uint32_t input_number;
    uint8_t steer[16]; // the input, encoded
    uint32_t steer_bytes;
} thin_client;

typedef struct real_client {
    net_match* match;
    net_client* client;
} real_client;

typedef struct fixture {
    net_module* module;
    net_match* match;
    net_sim* sim;
    net_transport* transport;
    net_transport* lines[CLIENTS]; // of clients; the real ones are the first
    real_client reals[REAL_CLIENTS];
    thin_client thins[CLIENTS - REAL_CLIENTS];
    net_server* server;
    uint64_t now_us, ticks;
    double service_ns, tick_ns;
} fixture;

static void open_server(fixture* self) {
    base_reporter reporter = base_reporter_stderr();
    bench_ok(net_module_wrap(flock_module_get(), flock_templates(), "flock.blk", &reporter,
                             &self->module),
             "module");
    net_match_config match = net_match_config_default(self->module);
    match.tick_rate_hz = TICK_RATE_HZ;
    bench_ok(net_match_create(&match, &reporter, &self->match), "match");
    self->sim = net_sim_create(NULL, 1);
    bench_ok(net_sim_server(self->sim, CLIENTS, &self->transport), "network");
    const net_server_config server = {.match = self->match,
                                      .transport = self->transport,
                                      .clients_max = CLIENTS,
                                      .clients_min = CLIENTS};
    bench_ok(net_server_create(&server, &self->server), "server");
}

static void open_line(fixture* self, uint32_t i) {
    const net_link_config link = {
        .loss_percent = 2, .delay_ms = 20 + 14 * (i % 5), .jitter_ms = 16, .seed = i + 1};
    self->lines[i] = net_sim_client(self->sim, &link);
}

static void open_real(fixture* self, uint32_t i) {
    base_reporter reporter = base_reporter_stderr();
    real_client* one = &self->reals[i];
    net_match_config match = net_match_config_default(self->module);
    match.role = NET_ROLE_MIRROR;
    bench_ok(net_match_create(&match, &reporter, &one->match), "a client's match");
    const net_client_config client = {.match = one->match,
                                      .transport = self->lines[i],
                                      .address = "sim",
                                      .is_bot = true,
                                      .seed = i,
                                      .reporter = &reporter};
    one->client = net_client_create(&client);
}

static void open_thin(fixture* self, uint32_t i) {
    thin_client* one = &self->thins[i];
    raw_client_open(&one->raw, self->lines[REAL_CLIENTS + i]);
    Flock__Steer steer = FLOCK__STEER__INIT;
    steer.dx = (int32_t)(i % 255) - 127;
    steer.dy = (int32_t)(i / 255 % 255) - 127;
    one->steer_bytes = (uint32_t)proto_encode(&steer.base, one->steer, sizeof one->steer);
}

static void run_thin(fixture* self, thin_client* one) {
    raw_client* raw = &one->raw;
    raw_client_service(raw, self->now_us);
    bench_require(!raw->is_refused && !raw->is_gone && raw->unreadable == 0, "a client is refused");
    if (raw->is_connected && !one->is_greeted) {
        raw_client_hello(raw, NET_PROTOCOL_VERSION, net_schema_hash(net_match_schema(self->match)),
                         "flock", "thin");
        one->is_greeted = true;
    }
    if (raw->states > 0) {
        uint32_t number = ++one->input_number;
        uint32_t count = number < NET_INPUT_REDUNDANCY ? number : NET_INPUT_REDUNDANCY;
        raw_client_inputs(raw, raw_client_packet(raw), number - count + 1, count, one->steer,
                          one->steer_bytes);
    }
    raw->transport->ops->flush(raw->transport);
}

static void run_tick(fixture* self) {
    self->now_us += 1000000 / TICK_RATE_HZ;
    double begin_ns = bench_now_ns();
    net_server_service(self->server, self->now_us);
    double tick_ns = bench_now_ns();
    net_server_tick(self->server, self->now_us);
    self->service_ns += tick_ns - begin_ns;
    self->tick_ns += bench_now_ns() - tick_ns;
    self->ticks++;
    for (uint32_t i = 0; i < REAL_CLIENTS; i++) {
        net_client_service(self->reals[i].client, self->now_us);
        if (net_client_get_phase(self->reals[i].client) == NET_CLIENT_PLAYING)
            net_client_tick(self->reals[i].client, self->now_us);
    }
    for (uint32_t i = 0; i < CLIENTS - REAL_CLIENTS; i++)
        run_thin(self, &self->thins[i]);
}

static void open_all(fixture* self) {
    open_server(self);
    for (uint32_t i = 0; i < CLIENTS; i++)
        open_line(self, i);
    for (uint32_t i = 0; i < REAL_CLIENTS; i++)
        open_real(self, i);
    for (uint32_t i = 0; i < CLIENTS - REAL_CLIENTS; i++)
        open_thin(self, i);
    while (net_server_get_phase(self->server) == NET_SERVER_HOLDING) {
        run_tick(self);
        bench_require(self->ticks < SETTLE_TICKS, "clients cannot join");
    }
}

static void close_all(fixture* self) {
    for (uint32_t i = 0; i < CLIENTS - REAL_CLIENTS; i++)
        raw_client_close(&self->thins[i].raw);
    for (uint32_t i = 0; i < REAL_CLIENTS; i++)
        net_client_destroy(self->reals[i].client);
    net_server_destroy(self->server);
    for (uint32_t i = 0; i < CLIENTS; i++)
        self->lines[i]->ops->destroy(self->lines[i]);
    for (uint32_t i = 0; i < REAL_CLIENTS; i++)
        net_match_destroy(self->reals[i].match);
    self->transport->ops->destroy(self->transport);
    net_sim_destroy(self->sim);
    net_match_destroy(self->match);
    net_module_close(self->module);
}

static bool is_equal(const fixture* self, uint32_t i) {
    net_client_report report = net_client_get_report(self->reals[i].client);
    net_world_digest scope = net_server_scope(self->server, report.client, NULL, NULL);
    return report.scope.entities > 0 && report.scope.hash == scope.hash;
}

// Nothing changes any more; after some time the real clients have what they should.
static void verify(fixture* self) {
    flock_context* game = net_match_context(self->match);
    game->is_quiet = true;
    uint32_t equal = 0;
    for (uint32_t tick = 0; tick < SETTLE_TICKS && equal < REAL_CLIENTS; tick++) {
        run_tick(self);
        for (equal = 0; tick % COMPARE_EVERY == 0 && equal < REAL_CLIENTS; equal++)
            if (!is_equal(self, equal)) break;
    }
    bench_require(equal == REAL_CLIENTS, "repl_server: a client has another world than it should");
    game->is_quiet = false;
}

typedef struct sums {
    uint64_t packets, bits, records, entities;
} sums;

static sums sum(const fixture* self) {
    sums all = {0};
    for (uint32_t i = 0; i < self->server->session_count; i++) {
        const net_session* session = self->server->sessions[i];
        if (!session || !session->out.repl) continue;
        const net_repl_state_counters* of = &session->out.repl->counters;
        all.packets += of->packets;
        all.bits += of->bits;
        all.records +=
            of->records_create + of->records_update + of->records_absolute + of->records_destroy;
        all.entities += session->out.repl->member_count;
    }
    return all;
}

static void print(const bench_row* row, uint32_t rounds) {
    fixture* self = bench_allocate(sizeof *self);
    double taken[BENCH_ROUNDS_MAX];
    open_all(self);
    for (uint32_t i = 0; i < VERIFY_TICKS; i++)
        run_tick(self);
    verify(self);
    for (uint32_t i = 0; i < WARM_TICKS; i++)
        run_tick(self);
    flock_context* game = net_match_context(self->match);
    const sums before = sum(self);
    uint64_t bytes = net_server_get_counters(self->server)->state_bytes;
    self->service_ns = self->tick_ns = game->spent_ns = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        double begin_ns = self->service_ns + self->tick_ns - game->spent_ns;
        for (uint32_t i = 0; i < ROUND_TICKS; i++)
            run_tick(self);
        double end_ns = self->service_ns + self->tick_ns - game->spent_ns;
        taken[round] = (end_ns - begin_ns) / ROUND_TICKS / 1000;
    }
    const sums now = sum(self);
    double ticks = rounds * ROUND_TICKS, packets = (double)(now.packets - before.packets);
    double records = (double)(now.records - before.records);
    bytes = net_server_get_counters(self->server)->state_bytes - bytes;
    printf("bench=%s unit=%s shoal=%.4g rounds=%u service_us=%.4g tick_us=%.4g game_us=%.4g"
           " records=%.0f bits_per_record=%.1f packets=%.0f bytes_per_packet=%.0f visible=%.0f",
           row->name, row->unit, bench_median(taken, rounds), rounds,
           self->service_ns / ticks / 1000, self->tick_ns / ticks / 1000,
           game->spent_ns / ticks / 1000, records / ticks,
           (double)(now.bits - before.bits) / records, packets / ticks, (double)bytes / packets,
           (double)now.entities / CLIENTS);
    bench_print_least(taken);
    close_all(self);
}

bench_rows bench_rows_repl_server(void) {
    static const bench_job job = {.print = print};
    static const bench_row rows[] = {
        {"repl_server", "us_per_tick", 1, 1000, 1, false, NULL, &job},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
