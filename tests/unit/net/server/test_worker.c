// SPDX-License-Identifier: MIT
// The two halves of a server tick on two threads: the server sends the same bytes, and the halves
// really overlap.
#include <time.h>

#include "session_table.h"

#include "float_hosts.h"
#include "server/server_state.h"
#include "core/worker.h"

// ---- the worker alone

typedef struct job {
    uint64_t input, output, runs;
} job;

static void square(void* context) {
    job* work = context;
    work->output = work->input * work->input;
    work->runs++;
}

static uint64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

CASE(work_is_done_once_for_each_start_and_seen_after_the_wait) {
    scarce_memory memory;
    scarce_init(&memory);
    job work = {0};
    net_worker* worker = net_worker_create(&memory.allocator, square, &work);
    assert_non_null(worker);
    net_worker_wait(worker); // no job runs
    assert_true(net_worker_wait_until(worker, 0));
    for (uint64_t i = 1; i <= 2000; i++) {
        work.input = i;
        net_worker_start(worker);
        if (i % 3 == 0)
            while (!net_worker_wait_until(worker, i % 2 ? 0 : now_us() + i % 50)) {
            }
        else
            net_worker_wait(worker);
        assert_true(work.output == i * i);
    }
    net_worker_start(worker);
    net_worker_destroy(worker); // destroy waits for the job
    assert_int_equal(work.runs, 2001);
    assert_int_equal(memory.bytes, 0);
    net_worker_destroy(NULL);
}

// ---- the same datagrams

typedef struct outcome {
    uint64_t datagrams, sent_bytes, sent_count, state_hash, bandwidth_bits, account_hash,
        ledger_hash;
    uint64_t dropped[NET_DROP_COUNT];
    net_server_counters counters;
    uint32_t report_count;
    net_peer_report reports[16];
} outcome;

static void hash_line(void* context, const net_ledger_line* line) {
    uint64_t* hash = context;
    *hash = base_hash64(line->name, strlen(line->name), *hash);
    if (line->cause) *hash = base_hash64(line->cause, strlen(line->cause), *hash);
    *hash = base_hash64_mix(*hash, line->bits ^ (uint64_t)line->client << 48 ^ line->entity);
}

static void take_account(void* context, const net_ledger_line* line) {
    outcome* made = context;
    if (line->client == 0) made->bandwidth_bits += line->bits;
    hash_line(&made->account_hash, line);
}

// `lanes` 0: no thread.
static outcome play(uint64_t seed, uint32_t lanes, uint32_t divisor) {
    const net_link_config bad = {
        .loss_percent = 8, .delay_ms = 35, .jitter_ms = 25, .duplicate_percent = 2, .seed = seed};
    base_rng rng = base_rng_make(seed, 5);
    table at;
    table_open(&at, (table_config){.seed = seed,
                                   .quiet = 1e9,
                                   .ticks_max = 900,
                                   .server.send_divisor = divisor,
                                   .is_threaded = lanes > 0,
                                   .lanes = lanes,
                                   .has_accounts = true});
    at.server->little = 0; // nothing is too little for threads
    table_sit(&at, &bad);
    table_sit(&at, NULL);
    raw_client* raw = NULL;
    uint64_t ledger_hash = 0;
    for (uint32_t i = 0; i < 4000 && net_server_get_phase(at.server) != NET_SERVER_ENDED; i++) {
        if (i == 60) table_sit(&at, &bad);
        if (i == 90) raw = table_raw_client(&at);
        if (raw && raw->is_connected && !raw->is_welcome && i < 110) table_hello(&at, raw, "raw");
        if (raw && raw->is_welcome && !raw->is_gone && i > 150 && i % 40 == 0)
            raw_client_garbage(raw, NET_CHANNEL_REALTIME);
        if (i == 200) net_client_leave(at.seats[1].client, at.now_us);
        if (i == 230) net_sim_link_set(at.seats[0].transport, &DEAD_LINK);
        if (i == 480) net_sim_link_set(at.seats[0].transport, &bad);
        net_ledger_span span;
        if (i % 64 == 0)
            net_server_ledger(at.server, (net_ledger_by)(i / 64 % NET_LEDGER_BY_COUNT), UINT32_MAX,
                              hash_line, &ledger_hash, &span);
        table_step_by(&at, base_rng_chance(&rng, 0.3) ? (uint32_t)base_rng_range(&rng, 0, 3) : 1);
    }
    assert_int_equal(net_server_get_phase(at.server), NET_SERVER_ENDED);
    outcome made;
    memset(&made, 0, sizeof made);
    made.ledger_hash = ledger_hash;
    net_server_dropped(at.server, made.dropped);
    made.counters = *table_counters(&at);
    made.report_count = net_server_report_count(at.server);
    for (uint32_t i = 0; i < made.report_count && i < 16; i++)
        made.reports[i] = *net_server_report(at.server, i);
    net_server_accounts(at.server, UINT32_MAX, take_account, &made);
    net_transport_stats stats;
    at.transport->ops->stats(at.transport, &stats);
    made.sent_bytes = stats.sent_bytes;
    made.sent_count = stats.sent_datagrams;
    made.state_hash = ecs_world_state_hash(net_match_world(at.match));
    made.datagrams = net_sim_datagram_hash(at.sim);
    table_close(&at);
    return made;
}

static void expect_same(const outcome* a, const outcome* b) {
    assert_memory_equal(a, b, offsetof(outcome, reports));
    for (uint32_t i = 0; i < a->report_count && i < 16; i++) {
        const net_peer_report* x = &a->reports[i];
        const net_peer_report* y = &b->reports[i];
        assert_int_equal(x->client, y->client);
        assert_int_equal(x->end, y->end);
        assert_int_equal(x->tick, y->tick);
        assert_true(x->scope.hash == y->scope.hash);
        assert_int_equal(x->packets_sent, y->packets_sent);
        assert_int_equal(x->packets_lost, y->packets_lost);
        assert_int_equal(x->inputs_received, y->inputs_received);
    }
}

CASE(datagrams_are_the_same_with_any_number_of_threads) {
    static const uint32_t lanes[] = {1, 2, 4, 7};
    uint32_t seeds = test_scaled(6, 2);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        printf("seed %llu\n", (unsigned long long)seed);
        uint32_t divisor = seed % 3 == 0 ? 2 : 1;
        outcome alone = play(seed, 0, divisor);
        assert_true(alone.counters.joins >= 3 && alone.counters.resumes >= 1);
        assert_int_equal(alone.bandwidth_bits, 8 * alone.sent_bytes);
        for (size_t i = 0; i < BASE_COUNT(lanes); i++) {
            outcome beside = play(seed, lanes[i], divisor);
            expect_same(&alone, &beside);
        }
    }
}

// ---- they overlap

// A transport whose flush, in the net half, waits until the systems of the next tick run. If the
// systems waited for the flush, neither would continue.
typedef struct gate {
    table_tap tap;
    pthread_t owner;
    pthread_mutex_t mutex;
    pthread_cond_t stepped;
    bool is_armed, is_late;
    uint64_t steps, wanted, met;
} gate;

static gate the_gate;

static void gate_flush(net_transport* transport) {
    gate* self = &the_gate;
    self->tap.below->flush(transport);
    if (pthread_equal(pthread_self(), self->owner)) return;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 300;
    pthread_mutex_lock(&self->mutex);
    int error = 0;
    while (self->is_armed && self->steps < self->wanted && error == 0)
        error = pthread_cond_timedwait(&self->stepped, &self->mutex, &until);
    if (self->is_armed) {
        self->met += self->steps >= self->wanted;
        self->is_late = self->is_late || self->steps < self->wanted;
        self->is_armed = false;
    }
    pthread_mutex_unlock(&self->mutex);
}

static net_transport* gate_wrap(net_transport* transport) {
    memset(&the_gate, 0, sizeof the_gate);
    pthread_mutex_init(&the_gate.mutex, NULL);
    pthread_cond_init(&the_gate.stepped, NULL);
    table_tap_set(&the_gate.tap, transport);
    the_gate.tap.ops.flush = gate_flush;
    the_gate.owner = pthread_self();
    return transport;
}

static void gate_es(const ecs_stage* stage, const ecs_rows* rows) {
    pthread_mutex_lock(&the_gate.mutex);
    the_gate.steps++;
    pthread_cond_broadcast(&the_gate.stepped);
    pthread_mutex_unlock(&the_gate.mutex);
}

TABLE_CASE(the_next_tick_runs_while_datagrams_of_the_last_are_on_their_way_out, .seed = 3,
           .quiet = 1e9, .act = gate_es, .is_threaded = true, .wrap = gate_wrap, .seats = 2,
           .steps = 60) {
    for (uint32_t i = 0; i < 50; i++) {
        at->now_us += TABLE_TICK_US;
        net_server_service(at->server, at->now_us);
        pthread_mutex_lock(&the_gate.mutex);
        the_gate.is_armed =
            true; // in the first of the two ticks: wait until the systems of the second tick run
        the_gate.wanted = the_gate.steps + 2;
        pthread_mutex_unlock(&the_gate.mutex);
        net_server_tick(at->server, at->now_us);
        assert_false(net_server_wait_sent(at->server, 0));
        net_server_tick(at->server, at->now_us);
        table_wait_sent(at);
        table_step(at);
    }
    assert_int_equal(the_gate.met, 50);
    assert_false(the_gate.is_late);
    table_plays(at);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(net_client_get_report(at->seats[i].client).dropped[NET_DROP_MALFORMED], 0);
}

// ---- hosts that compute with floats otherwise

// A transport that looks at the mode in which a server calls it.
typedef struct look {
    table_tap tap;
    _Atomic uint32_t services, flushes, others;
} look;

static look the_look;

static void look_at_mode(void) {
    the_look.others +=
        ((base_float_mode_get() ^ BASE_FLOAT_MODE_STANDARD) & BASE_FLOAT_MODE_BITS) != 0;
}

static void look_service(net_transport* transport, uint64_t now) {
    the_look.services++;
    look_at_mode();
    the_look.tap.below->service(transport, now);
}

static void look_flush(net_transport* transport) {
    the_look.flushes++;
    look_at_mode();
    the_look.tap.below->flush(transport);
}

static net_transport* look_wrap(net_transport* transport) {
    table_tap_set(&the_look.tap, transport);
    the_look.tap.ops.service = look_service;
    the_look.tap.ops.flush = look_flush;
    return transport;
}

CASE(a_server_and_its_threads_round_to_the_nearest_whatever_their_host_does) {
    for (uint32_t i = 0; i < 2 * BASE_COUNT(float_hosts); i++) {
        const base_float_mode host = float_hosts[i / 2];
        table at;
        memset(&the_look, 0, sizeof the_look);
        base_float_mode_restore(&host);
        table_open(&at, (table_config){
                            .seed = 3, .quiet = 1e9, .is_threaded = i % 2 == 1, .wrap = look_wrap});
        table_sit(&at, NULL);
        table_run(&at, 60);
        table_close(&at);
        assert_true(float_hosts_end(host));
        assert_true(the_look.services >= 60 && the_look.flushes >= 60);
        assert_int_equal(the_look.others, 0);
    }
}
