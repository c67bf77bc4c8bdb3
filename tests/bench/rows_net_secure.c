// SPDX-License-Identifier: MIT
// The cost of the outer layer on the server's side, without socket and ENet. The twin is libsodium
// alone on the same bytes. So the ratio is the price of sessions, numbers, replay windows, budgets.
//
// The datagrams of 100 clients come in turn. The clock is virtual, and goes fast enough that no
// budget refuses anything.
#include "bench.h"
#include "bench_secure.h"

#include <sodium.h>

#include <stdio.h>
#include <string.h>

enum { CLIENTS = 100, BYTES = 1200, RUN_US = 1000000, TICKS_PER_SECOND = 60 };

typedef struct fixture {
    uint64_t number;              // of the twin
    uint64_t sum_shoal, sum_best; // bytes that came through
    uint8_t key[NET_KEY_BYTES], plain[BENCH_SECURE_ROOM], out[BENCH_SECURE_ROOM];
    uint8_t datagrams[CLIENTS][BENCH_SECURE_ROOM], twins[CLIENTS][BENCH_SECURE_ROOM];
    bench_secure secure;
} fixture;

// ---- Shoal

static void prepare_shoal(void* memory) {
    fixture* self = memory;
    bench_secure* secure = &self->secure;
    net_address to;
    secure->clock.now_us += RUN_US;
    for (uint32_t i = 0; i < CLIENTS; i++)
        (void)net_secure_client_send(&secure->clients[i].end, secure->clock.now_us, self->plain,
                                     BYTES, self->datagrams[i], &to);
}

static void run_shoal(void* memory) {
    fixture* self = memory;
    bench_secure* secure = &self->secure;
    net_secure_received received;
    net_address to;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        net_secure_server_receive(secure->server, &secure->clock, &secure->clients[i].address,
                                  self->datagrams[i], BYTES + NET_SECURE_OVERHEAD_BYTES, &received);
        self->sum_shoal += received.inner_size;
    }
    for (uint32_t i = 0; i < CLIENTS; i++)
        self->sum_shoal +=
            net_secure_server_send(secure->server, secure->clock.now_us, secure->clients[i].peer,
                                   self->plain, BYTES, self->out, &to);
}

// ---- the twin

static size_t seal(fixture* self, uint8_t* out) {
    uint8_t nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES] = {0};
    unsigned long long size;
    self->number++;
    memcpy(nonce, &self->number, sizeof self->number);
    (void)crypto_aead_chacha20poly1305_ietf_encrypt(out + NET_OUTER_HEAD_BYTES, &size, self->plain,
                                                    BYTES, out, NET_OUTER_HEAD_BYTES, NULL, nonce,
                                                    self->key);
    return NET_OUTER_HEAD_BYTES + (size_t)size;
}

static size_t open(fixture* self, uint64_t number, uint8_t* bytes) {
    uint8_t nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES] = {0};
    unsigned long long size;
    memcpy(nonce, &number, sizeof number);
    int result = crypto_aead_chacha20poly1305_ietf_decrypt(
        bytes + NET_OUTER_HEAD_BYTES, &size, NULL, bytes + NET_OUTER_HEAD_BYTES,
        BYTES + crypto_aead_chacha20poly1305_IETF_ABYTES, bytes, NET_OUTER_HEAD_BYTES, nonce,
        self->key);
    return result == 0 ? (size_t)size : 0;
}

static void prepare_best(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < CLIENTS; i++)
        (void)seal(self, self->twins[i]);
}

static void run_best(void* memory) {
    fixture* self = memory;
    uint64_t number = self->number - CLIENTS;
    for (uint32_t i = 0; i < CLIENTS; i++)
        self->sum_best += open(self, ++number, self->twins[i]);
    for (uint32_t i = 0; i < CLIENTS; i++)
        self->sum_best += seal(self, self->out);
}

// ---- rows

static void* create(void) {
    fixture* self = bench_allocate(sizeof *self);
    randombytes_buf(self->key, sizeof self->key);
    randombytes_buf(self->plain, sizeof self->plain);
    bench_secure_create(&self->secure, CLIENTS);
    bench_secure_connect_all(&self->secure);
    return self;
}

static void destroy(void* memory) {
    bench_secure_destroy(&((fixture*)memory)->secure);
}

static bool is_equal(void* memory) {
    const fixture* self = memory;
    return self->sum_shoal == self->sum_best;
}

// Clients connect and leave.
static void print_handshake(const bench_row* row, uint32_t rounds) {
    double all_us[BENCH_ROUNDS_MAX], server_us[BENCH_ROUNDS_MAX];
    bench_secure* secure = bench_allocate(sizeof *secure);
    bench_secure_create(secure, BENCH_SECURE_BATCH);
    bench_secure_connect_all(secure);
    for (uint32_t i = 0; i < BENCH_ROUNDS_WARM + rounds; i++) {
        double all_ns, server_ns;
        uint32_t at = i < BENCH_ROUNDS_WARM ? 0 : i - BENCH_ROUNDS_WARM;
        bench_secure_close(secure, 0, BENCH_SECURE_BATCH);
        bench_secure_connect(secure, 0, BENCH_SECURE_BATCH, &all_ns, &server_ns);
        all_us[at] = all_ns / row->unit_ns / BENCH_SECURE_BATCH;
        server_us[at] = server_ns / row->unit_ns / BENCH_SECURE_BATCH;
    }
    double all = bench_median(all_us, rounds), server = bench_median(server_us, rounds);
    printf("bench=%s unit=%s shoal=%.4g rounds=%u server_us=%.4g per_second=%.0f"
           " server_per_second=%.0f\n",
           row->name, row->unit, all, rounds, server, 1e6 / all, 1e6 / server);
    bench_secure_destroy(secure);
}

bench_rows bench_rows_net_secure(void) {
    static const bench_job job = {
        {prepare_shoal, prepare_best}, {run_shoal, run_best}, is_equal, destroy, NULL};
    static const bench_job handshake = {.print = print_handshake};
    static const double percent_ns = 1e7 / TICKS_PER_SECOND; // a tick of a core, over 100
    static const bench_row rows[] = {
        {"net_secure_100x60", "percent_of_core", 1, percent_ns, 1, false, create, &job, NULL},
        {"net_secure_handshake", "us_per_handshake", 0, 1000, 1, false, NULL, &handshake, NULL},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
