// SPDX-License-Identifier: MIT
// The cost of the outer layer on the server's side, without socket and ENet. The twin is libsodium
// alone on the same bytes. So the ratio is the price of sessions, numbers, replay windows, budgets.
//
// The datagrams of 100 clients come in turn. The clock is virtual, and goes fast enough that no
// budget refuses anything.
#include "bench.h"
#include "secure/secure_client.h"
#include "secure/secure_server.h"

#include <sodium.h>

#include <stdio.h>
#include <string.h>

// ---- a server of the outer layer and clients with public addresses, joined by function calls

enum {
    SECURE_BATCH = 64, // clients that connect at a time: no budget of the server is reached
    SECURE_ROOM = NET_OUTER_HELLO_BYTES + 64, // bytes for any datagram
};

typedef struct secure_client {
    net_secure_client end;
    net_address address;
    net_secure_peer peer; // how the server calls it
} secure_client;

typedef struct secure_ends {
    net_key_ring ring;
    net_secure_clock clock; // virtual
    net_address server_address;
    net_secure_server* server;
    secure_client* clients;
    uint32_t count;
    uint8_t datagrams[SECURE_BATCH][SECURE_ROOM];
    net_secure_received received[SECURE_BATCH];
} secure_ends;

enum { KEY_ID = 7, TOKEN_LIFE_S = 45, UNIX_S = 1800000000, ANSWER_US = 1000 };

static void create_secure(secure_ends* secure, uint32_t count) {
    net_key_make(KEY_ID, net_entropy_system(), &secure->ring.keys[0]);
    secure->ring.count = 1;
    secure->clock = (net_secure_clock){.now_us = 1000000, .unix_s = UNIX_S};
    net_secure_server_config config = {
        .sessions_max = count,
        .security = {.keys = &secure->ring, .entropy = net_entropy_system()},
        .now_us = secure->clock.now_us};
    secure->server = net_secure_server_create(&config);
    bench_ok(net_address_parse("198.51.100.1:7777", &secure->server_address), "address");
    secure->clients = bench_allocate(count * sizeof *secure->clients);
    secure->count = count;
    for (uint32_t i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof text, "203.0.%u.%u:5000", i >> 8 & 255, i & 255);
        bench_ok(net_address_parse(text, &secure->clients[i].address), "address");
    }
}

static void destroy_secure(secure_ends* secure) {
    for (uint32_t i = 0; i < secure->count; i++)
        net_secure_client_deinit(&secure->clients[i].end);
    net_secure_server_destroy(secure->server);
    bench_release(secure->clients);
}

// What a back end does before a client may come.
static void give_token(secure_ends* secure, secure_client* client) {
    const net_token_claims claims = {.player_id = (uint64_t)(client - secure->clients) + 1,
                                     .expiry_unix_s = secure->clock.unix_s + TOKEN_LIFE_S};
    net_token token;
    net_security security = {.entropy = net_entropy_system(), .token = &token};
    bench_ok(net_token_make(&secure->ring.keys[0], &claims, security.entropy, &token), "token");
    net_secure_client_init(&client->end, &security);
}

// @return the CPU time.
static double serve(secure_ends* secure, uint32_t first, uint32_t count) {
    double begin_ns = bench_now_ns();
    for (uint32_t i = 0; i < count; i++)
        net_secure_server_receive(secure->server, &secure->clock,
                                  &secure->clients[first + i].address, secure->datagrams[i],
                                  NET_OUTER_HELLO_BYTES, &secure->received[i]);
    return bench_now_ns() - begin_ns;
}

// The clients take what the server answered; what they answer is in `datagrams`.
static void answer(secure_ends* secure, uint32_t first, uint32_t count) {
    net_secure_answer got;
    for (uint32_t i = 0; i < count; i++) {
        net_secure_received* received = &secure->received[i];
        net_secure_client_receive(&secure->clients[first + i].end, &secure->clock,
                                  &secure->server_address, received->reply, received->reply_size,
                                  &got);
        memcpy(secure->datagrams[i], got.reply, got.reply_size);
    }
}

// The server's name of a session is known with the first datagram in it.
static void greet(secure_ends* secure, secure_client* client) {
    net_secure_received received;
    net_address to;
    size_t size = net_secure_client_send(&client->end, secure->clock.now_us, NET_OUTER_DATA,
                                         "hello", 5, secure->datagrams[0], &to);
    net_secure_server_receive(secure->server, &secure->clock, &client->address,
                              secure->datagrams[0], size, &received);
    bench_require(received.inner_size == 5, "a client did not connect");
    client->peer = received.peer;
}

static void connect_clients(secure_ends* secure, uint32_t first, uint32_t count, double* all_ns,
                            double* server_ns) {
    bench_require(count <= SECURE_BATCH, "batch");
    secure->clock.now_us += 1000000;
    secure->clock.unix_s++;
    for (uint32_t i = 0; i < count; i++)
        give_token(secure, &secure->clients[first + i]);
    double begin_ns = bench_now_ns();
    for (uint32_t i = 0; i < count; i++) {
        net_secure_client* end = &secure->clients[first + i].end;
        net_address to;
        net_secure_client_begin(end, &secure->clock, &secure->server_address, 1);
        (void)net_secure_client_service(end, &secure->clock, secure->datagrams[i], &to);
    }
    *server_ns = serve(secure, first, count);
    secure->clock.now_us += ANSWER_US;
    answer(secure, first, count);
    *server_ns += serve(secure, first, count);
    answer(secure, first, count);
    *all_ns = bench_now_ns() - begin_ns;
    for (uint32_t i = 0; i < count; i++)
        greet(secure, &secure->clients[first + i]);
}

static void close_clients(secure_ends* secure, uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        secure_client* client = &secure->clients[first + i];
        net_secure_received received;
        net_address to;
        const uint8_t why = NET_SECURE_END_CLOSED;
        size_t size = net_secure_client_send(&client->end, secure->clock.now_us, NET_OUTER_CLOSE,
                                             &why, sizeof why, secure->datagrams[0], &to);
        net_secure_server_receive(secure->server, &secure->clock, &client->address,
                                  secure->datagrams[0], size, &received);
    }
}

static void connect_all(secure_ends* secure) {
    double all_ns, server_ns;
    for (uint32_t i = 0; i < secure->count; i += SECURE_BATCH) {
        uint32_t left = secure->count - i;
        connect_clients(secure, i, left < SECURE_BATCH ? left : SECURE_BATCH, &all_ns, &server_ns);
    }
    bench_require(net_secure_server_count(secure->server) == secure->count, "sessions");
}

// ---- the datagrams of a tick

enum { CLIENTS = 100, BYTES = 1200, RUN_US = 1000000, TICKS_PER_SECOND = 60 };

typedef struct fixture {
    uint64_t number;              // of the twin
    uint64_t sum_shoal, sum_best; // bytes that came through
    uint8_t key[NET_KEY_BYTES], plain[SECURE_ROOM], out[SECURE_ROOM];
    uint8_t datagrams[CLIENTS][SECURE_ROOM], twins[CLIENTS][SECURE_ROOM];
    secure_ends secure;
} fixture;

// ---- Shoal

static void prepare_shoal(void* memory) {
    fixture* self = memory;
    secure_ends* secure = &self->secure;
    net_address to;
    secure->clock.now_us += RUN_US;
    for (uint32_t i = 0; i < CLIENTS; i++)
        (void)net_secure_client_send(&secure->clients[i].end, secure->clock.now_us, NET_OUTER_DATA,
                                     self->plain, BYTES, self->datagrams[i], &to);
}

static void run_shoal(void* memory) {
    fixture* self = memory;
    secure_ends* secure = &self->secure;
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
                                   NET_OUTER_DATA, self->plain, BYTES, self->out, &to);
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
    create_secure(&self->secure, CLIENTS);
    connect_all(&self->secure);
    return self;
}

static void destroy(void* memory) {
    destroy_secure(&((fixture*)memory)->secure);
}

static bool is_equal(void* memory) {
    const fixture* self = memory;
    return self->sum_shoal == self->sum_best;
}

// Clients connect and leave.
static void print_handshake(const bench_row* row, uint32_t rounds) {
    double all_us[BENCH_ROUNDS_MAX], server_us[BENCH_ROUNDS_MAX];
    secure_ends* secure = bench_allocate(sizeof *secure);
    create_secure(secure, SECURE_BATCH);
    connect_all(secure);
    for (uint32_t i = 0; i < BENCH_ROUNDS_WARM + rounds; i++) {
        double all_ns, server_ns;
        uint32_t at = i < BENCH_ROUNDS_WARM ? 0 : i - BENCH_ROUNDS_WARM;
        close_clients(secure, 0, SECURE_BATCH);
        connect_clients(secure, 0, SECURE_BATCH, &all_ns, &server_ns);
        all_us[at] = all_ns / row->unit_ns / SECURE_BATCH;
        server_us[at] = server_ns / row->unit_ns / SECURE_BATCH;
    }
    double all = bench_median(all_us, rounds), server = bench_median(server_us, rounds);
    printf("bench=%s unit=%s shoal=%.4g rounds=%u server_us=%.4g per_second=%.0f"
           " server_per_second=%.0f",
           row->name, row->unit, all, rounds, server, 1e6 / all, 1e6 / server);
    bench_print_least(all_us);
    destroy_secure(secure);
}

bench_rows bench_rows_net_secure(void) {
    static const bench_job job = {
        {prepare_shoal, prepare_best}, {run_shoal, run_best}, is_equal, destroy, NULL};
    static const bench_job handshake = {.print = print_handshake};
    static const double percent_ns = 1e7 / TICKS_PER_SECOND; // a tick of a core, over 100
    static const bench_row rows[] = {
        {"net_secure_100x60", "percent_of_core", 1, percent_ns, 1, false, create, &job},
        {"net_secure_handshake", "us_per_handshake", 0, 1000, 1, false, NULL, &handshake},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
