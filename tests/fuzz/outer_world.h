// SPDX-License-Identifier: MIT
// For fuzz targets of the outer layer: a server with one member, joined by function calls.
#pragma once

#include "fuzz.h"

#include "secure/secure_client.h"
#include "secure/secure_server.h"

#include "base/rng.h"

#define OUTER_UNIX_S UINT64_C(1800000000)

enum { OUTER_BYTES_MAX = 1300 };

typedef struct outer_world {
    base_rng rng;
    net_entropy entropy;
    net_key_ring ring;
    net_secure_clock clock;
    net_secure_server* server;
    net_secure_client member;
    net_address member_address;
    net_secure_peer peer;                                                    // of the member
    uint8_t request[NET_OUTER_HELLO_BYTES], response[NET_OUTER_HELLO_BYTES]; // of the member
} outer_world;

static inline void outer_fill(void* context, void* bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        ((uint8_t*)bytes)[i] = (uint8_t)base_rng_u32(context);
}

static inline net_token outer_token(outer_world* at) {
    net_token_claims claims = {.player_id = 7, .expiry_unix_s = OUTER_UNIX_S + 1000};
    net_token token;
    FUZZ_CHECK(net_token_make(&at->ring.keys[0], &claims, &at->entropy, &token) == NET_OK);
    return token;
}

// The seed gives all keys.
static inline void outer_world_init(outer_world* made, uint64_t seed) {
    net_secure_received received;
    net_secure_answer answer;
    net_address to;
    uint8_t first[OUTER_BYTES_MAX];
    memset(made, 0, sizeof *made);
    made->rng = base_rng_make(seed, 0);
    made->entropy = (net_entropy){outer_fill, &made->rng};
    made->clock = (net_secure_clock){1000000, OUTER_UNIX_S};
    net_key_make(1, &made->entropy, &made->ring.keys[0]);
    made->ring.count = 1;
    net_secure_server_config config = {.sessions_max = 2,
                                       .token_uses_max = 16,
                                       .security = {.keys = &made->ring, .entropy = &made->entropy},
                                       .now_us = made->clock.now_us};
    made->server = net_secure_server_create(&config);
    FUZZ_CHECK(net_address_parse("203.0.113.8:5000", &made->member_address) == NET_OK);
    net_token token = outer_token(made);
    net_security security = {.token = &token, .entropy = &made->entropy};
    net_secure_client_init(&made->member, &security);
    net_secure_client_begin(&made->member, &made->clock, &made->member_address, 1);
    size_t size = net_secure_client_service(&made->member, &made->clock, made->request, &to);
    FUZZ_CHECK(size == NET_OUTER_HELLO_BYTES);
    net_secure_server_receive(made->server, &made->clock, &made->member_address, made->request,
                              size, &received);
    net_secure_client_receive(&made->member, &made->clock, &to, received.reply, received.reply_size,
                              &answer);
    memcpy(made->response, answer.reply, sizeof made->response);
    net_secure_server_receive(made->server, &made->clock, &made->member_address, answer.reply,
                              answer.reply_size, &received);
    net_secure_client_receive(&made->member, &made->clock, &to, received.reply, received.reply_size,
                              &answer);
    FUZZ_CHECK(made->member.state == NET_SECURE_CLIENT_OPEN);
    size = net_secure_client_send(&made->member, made->clock.now_us, NET_OUTER_DATA, "x", 1, first,
                                  &to);
    net_secure_server_receive(made->server, &made->clock, &made->member_address, first, size,
                              &received);
    FUZZ_CHECK(received.inner_size == 1);
    made->peer = received.peer;
}

static inline void outer_world_deinit(outer_world* old) {
    net_secure_client_deinit(&old->member);
    net_secure_server_destroy(old->server);
}
