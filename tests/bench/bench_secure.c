// SPDX-License-Identifier: MIT
#include "bench_secure.h"

#include "bench.h"

#include <stdio.h>
#include <string.h>

enum { KEY_ID = 7, TOKEN_LIFE_S = 45, UNIX_S = 1800000000, ANSWER_US = 1000 };

void bench_secure_create(bench_secure* secure, uint32_t count) {
    net_key_make(KEY_ID, net_entropy_system(), &secure->ring.keys[0]);
    secure->ring.count = 1;
    secure->clock = (net_secure_clock){.now_us = 1000000, .unix_s = UNIX_S};
    net_secure_server_config config = {
        .sessions_max = count,
        .security = {.keys = &secure->ring, .entropy = net_entropy_system()},
        .now_us = secure->clock.now_us};
    bench_ok(net_secure_server_create(&config, &secure->server), "secure server");
    bench_ok(net_address_parse("198.51.100.1:7777", &secure->server_address), "address");
    secure->clients = bench_allocate(count * sizeof *secure->clients);
    secure->count = count;
    for (uint32_t i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof text, "203.0.%u.%u:5000", i >> 8 & 255, i & 255);
        bench_ok(net_address_parse(text, &secure->clients[i].address), "address");
    }
}

void bench_secure_destroy(bench_secure* secure) {
    for (uint32_t i = 0; i < secure->count; i++)
        net_secure_client_deinit(&secure->clients[i].end);
    net_secure_server_destroy(secure->server);
    bench_release(secure->clients);
}

// What a back end does before a client may come.
static void give_token(bench_secure* secure, bench_secure_client* client) {
    const net_token_claims claims = {.player_id = (uint64_t)(client - secure->clients) + 1,
                                     .expiry_unix_s = secure->clock.unix_s + TOKEN_LIFE_S};
    net_token token;
    net_security security = {.entropy = net_entropy_system(), .token = &token};
    bench_ok(net_token_make(&secure->ring.keys[0], &claims, security.entropy, &token), "token");
    net_secure_client_init(&client->end, &security);
}

// @return the CPU time.
static double serve(bench_secure* secure, uint32_t first, uint32_t count) {
    double begin_ns = bench_now_ns();
    for (uint32_t i = 0; i < count; i++)
        net_secure_server_receive(secure->server, &secure->clock,
                                  &secure->clients[first + i].address, secure->datagrams[i],
                                  NET_OUTER_HELLO_BYTES, &secure->received[i]);
    return bench_now_ns() - begin_ns;
}

// The clients take what the server answered; what they answer is in `datagrams`.
static void answer(bench_secure* secure, uint32_t first, uint32_t count) {
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
static void greet(bench_secure* secure, bench_secure_client* client) {
    net_secure_received received;
    net_address to;
    size_t size = net_secure_client_send(&client->end, secure->clock.now_us, "hello", 5,
                                         secure->datagrams[0], &to);
    net_secure_server_receive(secure->server, &secure->clock, &client->address,
                              secure->datagrams[0], size, &received);
    bench_require(received.inner_size == 5, "a client did not connect");
    client->peer = received.peer;
}

void bench_secure_connect(bench_secure* secure, uint32_t first, uint32_t count, double* all_ns,
                          double* server_ns) {
    bench_require(count <= BENCH_SECURE_BATCH, "batch");
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

void bench_secure_close(bench_secure* secure, uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        bench_secure_client* client = &secure->clients[first + i];
        net_secure_received received;
        net_address to;
        size_t size =
            net_secure_client_close(&client->end, secure->clock.now_us, secure->datagrams[0], &to);
        net_secure_server_receive(secure->server, &secure->clock, &client->address,
                                  secure->datagrams[0], size, &received);
    }
}

void bench_secure_connect_all(bench_secure* secure) {
    double all_ns, server_ns;
    for (uint32_t i = 0; i < secure->count; i += BENCH_SECURE_BATCH) {
        uint32_t left = secure->count - i;
        bench_secure_connect(secure, i, left < BENCH_SECURE_BATCH ? left : BENCH_SECURE_BATCH,
                             &all_ns, &server_ns);
    }
    bench_require(net_secure_server_count(secure->server) == secure->count, "sessions");
}
