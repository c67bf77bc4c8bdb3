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

enum {
    CLIENTS = 100,
    EACH = 4, // datagrams of a client in a run
    BATCH_MAX = CLIENTS * EACH,
    RUN_US = 1000000,
    NONCE_AT = 35, // in a request: proto/WIRE.md, "Outer layer"
    SEALED_AT = 59,
    TOKEN_DATA_BYTES = 18,
    TICKS_PER_SECOND = 60,
    OTHERS = 4000 - BENCH_SECURE_BATCH,
};

typedef enum traffic { SEAL, OPEN, BOTH, FORGED, REQUEST_FORGED } traffic;

typedef struct fixture {
    traffic kind;
    size_t size;                  // of the inner datagram
    uint32_t count;               // of datagrams in a run
    uint64_t number;              // of the twin
    uint64_t sum_shoal, sum_best; // bytes that came through, or datagrams refused
    uint8_t key[NET_KEY_BYTES], plain[BENCH_SECURE_ROOM], out[BENCH_SECURE_ROOM];
    uint8_t datagrams[BATCH_MAX][BENCH_SECURE_ROOM], twins[BATCH_MAX][BENCH_SECURE_ROOM];
    bench_secure secure;
} fixture;

static bench_secure_client* client_of(fixture* self, uint32_t i) {
    return &self->secure.clients[i % CLIENTS];
}

// ---- Shoal

static void write_request(fixture* self, uint32_t i) {
    net_secure_client* end = &client_of(self, i)->end;
    net_address to;
    net_secure_client_begin(end, &self->secure.clock, &self->secure.server_address, 1);
    (void)net_secure_client_service(end, &self->secure.clock, self->datagrams[i], &to);
    self->datagrams[i][SEALED_AT] ^= 1;
}

static void prepare_shoal(void* memory) {
    fixture* self = memory;
    bench_secure* secure = &self->secure;
    net_address to;
    secure->clock.now_us += RUN_US;
    if (self->kind == SEAL || self->kind == REQUEST_FORGED) return;
    for (uint32_t i = 0; i < self->count; i++) {
        size_t size = net_secure_client_send(&client_of(self, i)->end, secure->clock.now_us,
                                             self->plain, self->size, self->datagrams[i], &to);
        if (self->kind == FORGED) self->datagrams[i][size - 1] ^= 1;
    }
}

static void receive_all(fixture* self) {
    bench_secure* secure = &self->secure;
    size_t size = self->kind == REQUEST_FORGED ? (size_t)NET_OUTER_HELLO_BYTES
                                               : self->size + NET_SECURE_OVERHEAD_BYTES;
    net_secure_received received;
    for (uint32_t i = 0; i < self->count; i++) {
        net_secure_server_receive(secure->server, &secure->clock, &client_of(self, i)->address,
                                  self->datagrams[i], size, &received);
        self->sum_shoal += received.inner_size;
    }
}

static void send_all(fixture* self) {
    bench_secure* secure = &self->secure;
    net_address to;
    for (uint32_t i = 0; i < self->count; i++)
        self->sum_shoal +=
            net_secure_server_send(secure->server, secure->clock.now_us, client_of(self, i)->peer,
                                   self->plain, self->size, self->out, &to);
}

static void run_shoal(void* memory) {
    fixture* self = memory;
    if (self->kind != SEAL) receive_all(self);
    if (self->kind == SEAL || self->kind == BOTH) send_all(self);
}

// ---- the twin

static size_t seal(fixture* self, uint8_t* out) {
    uint8_t nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES] = {0};
    unsigned long long size;
    self->number++;
    memcpy(nonce, &self->number, sizeof self->number);
    (void)crypto_aead_chacha20poly1305_ietf_encrypt(out + NET_OUTER_HEAD_BYTES, &size, self->plain,
                                                    self->size, out, NET_OUTER_HEAD_BYTES, NULL,
                                                    nonce, self->key);
    return NET_OUTER_HEAD_BYTES + (size_t)size;
}

static size_t open(fixture* self, uint64_t number, uint8_t* bytes) {
    uint8_t nonce[crypto_aead_chacha20poly1305_IETF_NPUBBYTES] = {0};
    unsigned long long size;
    memcpy(nonce, &number, sizeof number);
    int result = crypto_aead_chacha20poly1305_ietf_decrypt(
        bytes + NET_OUTER_HEAD_BYTES, &size, NULL, bytes + NET_OUTER_HEAD_BYTES,
        self->size + crypto_aead_chacha20poly1305_IETF_ABYTES, bytes, NET_OUTER_HEAD_BYTES, nonce,
        self->key);
    return result == 0 ? (size_t)size : 0;
}

static bool open_token(fixture* self, const uint8_t* bytes) {
    uint8_t opened[NET_TOKEN_SEALED_BYTES];
    unsigned long long size;
    return crypto_aead_xchacha20poly1305_ietf_decrypt(
               opened, &size, NULL, bytes + SEALED_AT, NET_TOKEN_SEALED_BYTES, bytes,
               TOKEN_DATA_BYTES, bytes + NONCE_AT, self->key) == 0;
}

static void prepare_best(void* memory) {
    fixture* self = memory;
    if (self->kind == SEAL || self->kind == REQUEST_FORGED) return;
    for (uint32_t i = 0; i < self->count; i++) {
        size_t size = seal(self, self->twins[i]);
        if (self->kind == FORGED) self->twins[i][size - 1] ^= 1;
    }
}

static void run_best(void* memory) {
    fixture* self = memory;
    uint64_t number = self->number - self->count;
    for (uint32_t i = 0; i < self->count && self->kind != SEAL; i++) {
        if (self->kind == REQUEST_FORGED)
            self->sum_best += !open_token(self, self->datagrams[i]);
        else if (self->kind == FORGED)
            self->sum_best += open(self, ++number, self->twins[i]) == 0;
        else
            self->sum_best += open(self, ++number, self->twins[i]);
    }
    for (uint32_t i = 0; i < self->count && (self->kind == SEAL || self->kind == BOTH); i++)
        self->sum_best += seal(self, self->out);
}

// ---- rows

static fixture* create(traffic kind, size_t size, uint32_t each) {
    fixture* self = bench_allocate(sizeof *self);
    self->kind = kind;
    self->size = size;
    self->count = CLIENTS * each;
    randombytes_buf(self->key, sizeof self->key);
    randombytes_buf(self->plain, sizeof self->plain);
    bench_secure_create(&self->secure, CLIENTS, CLIENTS);
    bench_secure_connect_all(&self->secure);
    for (uint32_t i = 0; kind == REQUEST_FORGED && i < self->count; i++)
        write_request(self, i);
    return self;
}

static void destroy(void* memory) {
    fixture* self = memory;
    bench_secure_destroy(&self->secure);
}

static bool is_equal(void* memory) {
    fixture* self = memory;
    const uint64_t* counts = net_secure_server_stats(self->secure.server)->counts;
    if (self->kind == FORGED) return counts[NET_SECURE_DATA_FORGED] == self->sum_best;
    if (self->kind == REQUEST_FORGED) return counts[NET_SECURE_TOKEN_FORGED] == self->sum_best;
    return self->sum_shoal == self->sum_best;
}

BENCH_CREATE(create_seal_64, create(SEAL, 64, EACH))
BENCH_CREATE(create_seal_256, create(SEAL, 256, EACH))
BENCH_CREATE(create_seal_1200, create(SEAL, 1200, EACH))
BENCH_CREATE(create_open_64, create(OPEN, 64, EACH))
BENCH_CREATE(create_open_256, create(OPEN, 256, EACH))
BENCH_CREATE(create_open_1200, create(OPEN, 1200, EACH))
BENCH_CREATE(create_forged_64, create(FORGED, 64, EACH))
BENCH_CREATE(create_forged_1200, create(FORGED, 1200, EACH))
BENCH_CREATE(create_request_forged, create(REQUEST_FORGED, 0, EACH))
BENCH_CREATE(create_100x60, create(BOTH, 1200, 1))

// Clients connect and leave, while the other places of the server are taken.
static void print_handshake(const bench_row* row, uint32_t rounds) {
    uint32_t others = (uint32_t)row->work;
    double all_us[BENCH_ROUNDS_MAX], server_us[BENCH_ROUNDS_MAX];
    bench_secure* secure = bench_allocate(sizeof *secure);
    bench_secure_create(secure, others + BENCH_SECURE_BATCH, others + BENCH_SECURE_BATCH);
    bench_secure_connect_all(secure);
    for (uint32_t i = 0; i < BENCH_ROUNDS_WARM + rounds; i++) {
        double all_ns, server_ns;
        uint32_t at = i < BENCH_ROUNDS_WARM ? 0 : i - BENCH_ROUNDS_WARM;
        bench_secure_close(secure, others, BENCH_SECURE_BATCH);
        bench_secure_connect(secure, others, BENCH_SECURE_BATCH, &all_ns, &server_ns);
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
    static const bench_job job = {.destroy = destroy,
                                  .prepare = {prepare_shoal, prepare_best},
                                  .run = {run_shoal, run_best},
                                  .is_equal = is_equal};
    static const bench_job handshake = {.print = print_handshake};
    static const char unit[] = "ns_per_datagram", connect[] = "us_per_handshake";
    static const double percent_ns = 1e7 / TICKS_PER_SECOND; // a tick of a core, over 100
    static const bench_row rows[] = {
        {"net_secure_seal_64", unit, BATCH_MAX, 1, 1, false, create_seal_64, &job, NULL},
        {"net_secure_seal_256", unit, BATCH_MAX, 1, 1, false, create_seal_256, &job, NULL},
        {"net_secure_seal_1200", unit, BATCH_MAX, 1, 1, false, create_seal_1200, &job, NULL},
        {"net_secure_open_64", unit, BATCH_MAX, 1, 1, false, create_open_64, &job, NULL},
        {"net_secure_open_256", unit, BATCH_MAX, 1, 1, false, create_open_256, &job, NULL},
        {"net_secure_open_1200", unit, BATCH_MAX, 1, 1, false, create_open_1200, &job, NULL},
        {"net_secure_forged_64", unit, BATCH_MAX, 1, 1, false, create_forged_64, &job, NULL},
        {"net_secure_forged_1200", unit, BATCH_MAX, 1, 1, false, create_forged_1200, &job, NULL},
        {"net_secure_request_forged", unit, BATCH_MAX, 1, 1, false, create_request_forged, &job,
         NULL},
        {"net_secure_100x60", "percent_of_core", 1, percent_ns, 1, false, create_100x60, &job,
         NULL},
        {"net_secure_handshake", connect, 0, 1000, 1, false, NULL, &handshake, NULL},
        {"net_secure_handshake_4000", connect, OTHERS, 1000, 1, false, NULL, &handshake, NULL},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
