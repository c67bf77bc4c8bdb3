// SPDX-License-Identifier: MIT
// A server and clients of the outer layer, joined by function calls: no socket, no ENet, one seed.
#pragma once

#include "secure/secure_client.h"
#include "secure/secure_server.h"

#include "address_of.h"

#define UNIX_S UINT64_C(1800000000)

#define SWEEP_SLACK_US UINT64_C(100001) // sessions are looked at ten times a second

enum { KEY_ID = 7, DATAGRAM_BYTES_MAX = 1300 };

typedef struct chance {
    base_rng rng;
    net_entropy entropy;
} chance;

static inline void chance_fill(void* context, void* bytes, size_t size) {
    chance* from = context;
    for (size_t i = 0; i < size; i++)
        ((uint8_t*)bytes)[i] = (uint8_t)base_rng_u32(&from->rng);
}

// `made` must not move.
static inline void chance_init(chance* made, uint64_t seed) {
    made->rng = base_rng_make(seed, 0);
    made->entropy = (net_entropy){chance_fill, made};
}

// What the server sent by itself.
typedef struct closes {
    uint32_t count;
    net_address to; // of the last one
    uint8_t bytes[DATAGRAM_BYTES_MAX];
    size_t size;
} closes;

static inline void closes_take(void* context, const net_address* to, const uint8_t* bytes,
                               size_t size) {
    closes* taken = context;
    taken->count++;
    taken->to = *to;
    taken->size = size;
    memcpy(taken->bytes, bytes, size);
}

/// A client with a token and an address of its own. It must not move.
typedef struct guest {
    net_token token;
    net_secure_client client;
    net_address address;
} guest;

typedef struct secure_world {
    chance from;
    closes closed;
    net_key_ring ring;
    net_secure_clock clock;
    uint64_t client_ahead_s; // wall clock of the clients, against the server's; may be negative
    net_secure_server* server;
    net_address server_address;
    guest me;
    uint64_t client_bytes, server_bytes; // sent
    net_secure_peer peer;                // of the last datagram that had something inside
    uint8_t inner[DATAGRAM_BYTES_MAX];   // of it
    size_t inner_size;
    uint8_t client_inner[DATAGRAM_BYTES_MAX];
    size_t client_inner_size;
    net_secure_received received; // what the server made of the last datagram
    net_secure_answer answer;     // what a client made of the last one
    net_address sent_to;          // where the last datagram of either side went
} secure_world;

static inline net_token make_token(secure_world* at, uint64_t player_id) {
    net_token_claims claims = {.player_id = player_id, .expiry_unix_s = UNIX_S + 45};
    net_token token;
    snprintf((char*)claims.user_data, sizeof claims.user_data, "team %u", (unsigned)player_id);
    assert_ok(net_token_make(&at->ring.keys[0], &claims, &at->from.entropy, &token));
    return token;
}

/// `token` may be NULL.
static inline void guest_init(secure_world* at, guest* made, const net_token* token,
                              const char* address) {
    net_security security = {.entropy = &at->from.entropy, .token = token};
    if (token) made->token = *token;
    if (token) security.protocol = token->protocol;
    made->address = address_of(address);
    net_secure_client_init(&made->client, &security);
}

/// A player at the address of the world's.
static inline void player_init(secure_world* at, guest* made, uint64_t player_id) {
    const net_token token = make_token(at, player_id);
    guest_init(at, made, &token, "203.0.113.9:5000");
}

/// The world's player as another client, at the same address.
static inline void again_init(secure_world* at, guest* made) {
    guest_init(at, made, &at->me.token, "203.0.113.9:5000");
}

static inline void server_make(secure_world* at, net_security security, uint32_t sessions_max) {
    security.entropy = &at->from.entropy;
    const net_secure_server_config config = {.sessions_max = sessions_max,
                                             .security = security,
                                             .now_us = at->clock.now_us,
                                             .send = closes_take,
                                             .send_context = &at->closed};
    at->server = net_secure_server_create(&config);
}

/// `security` is the server's, without entropy; its keys are those of the world when `has_keys`.
static inline void world_begin(secure_world* at, net_security security, bool has_keys,
                               uint32_t sessions_max) {
    memset(at, 0, sizeof *at);
    chance_init(&at->from, 1);
    net_key_make(KEY_ID, &at->from.entropy, &at->ring.keys[0]);
    at->ring.count = 1;
    at->clock = (net_secure_clock){1000000, UNIX_S};
    if (has_keys) security.keys = &at->ring;
    server_make(at, security, sessions_max);
    at->server_address = address_of("198.51.100.1:7777");
    player_init(at, &at->me, 42);
    if (!has_keys) guest_init(at, &at->me, NULL, "203.0.113.9:5000");
}

static inline void world_deinit(secure_world* at) {
    net_secure_client_deinit(&at->me.client);
    net_secure_server_destroy(at->server);
}

#define WORLD_CASE_FOR(name, sessions_max)                                                         \
    CASE_WITH(secure_world, at, world_begin(at, (net_security){0}, true, sessions_max),            \
              world_deinit(at), name)
#define WORLD_CASE(name) WORLD_CASE_FOR(name, 4)

static inline uint64_t count_of(const secure_world* at, net_secure_count count) {
    return net_secure_server_stats(at->server)->counts[count];
}

static inline void pass_us(secure_world* at, uint64_t us) {
    at->clock.now_us += us;
    net_secure_server_service(at->server, at->clock.now_us, at->clock.now_us);
}

/// The server takes a copy of a datagram: at->received. @return the size of its reply.
static inline size_t to_server(secure_world* at, const net_address* from, const uint8_t* bytes,
                               size_t size) {
    uint8_t copy[DATAGRAM_BYTES_MAX];
    net_secure_received* received = &at->received;
    memcpy(copy, bytes, size);
    at->client_bytes += size;
    net_secure_server_receive(at->server, &at->clock, from, copy, size, received);
    at->server_bytes += received->reply_size;
    if (received->inner_size > 0) {
        at->peer = received->peer;
        at->inner_size = received->inner_size;
        memcpy(at->inner, received->inner, received->inner_size);
    }
    return received->reply_size;
}

/// A request or response of the world's client.
static inline size_t give(secure_world* at, const uint8_t hello[NET_OUTER_HELLO_BYTES]) {
    return to_server(at, &at->me.address, hello, NET_OUTER_HELLO_BYTES);
}

static inline const net_secure_clock* client_clock(const secure_world* at) {
    static net_secure_clock clock;
    clock = at->clock;
    clock.unix_s += at->client_ahead_s;
    return &clock;
}

/// A client takes a copy of a datagram of the server: at->answer. @return the size of its answer.
static inline size_t to_client(secure_world* at, guest* to, const uint8_t* bytes, size_t size) {
    uint8_t copy[DATAGRAM_BYTES_MAX];
    memcpy(copy, bytes, size);
    net_secure_client_receive(&to->client, client_clock(at), &at->server_address, copy, size,
                              &at->answer);
    if (at->answer.inner_size > 0) {
        at->client_inner_size = at->answer.inner_size;
        memcpy(at->client_inner, at->answer.inner, at->answer.inner_size);
    }
    return at->answer.reply_size;
}

/// A client takes the server's last reply, and the server the client's last answer.
static inline size_t take_reply(secure_world* at, guest* to) {
    return to_client(at, to, at->received.reply, at->received.reply_size);
}

static inline size_t take_answer(secure_world* at, const guest* of) {
    return to_server(at, &of->address, at->answer.reply, at->answer.reply_size);
}

/// Carry a datagram of a client to the server, and answers back and forth until there is none.
static inline net_secure_client_state carry(secure_world* at, guest* of, const uint8_t* bytes,
                                            size_t size) {
    size = to_server(at, &of->address, bytes, size);
    while (size > 0 && take_reply(at, of) > 0)
        size = take_answer(at, of);
    return of->client.state;
}

/// No two attempts begin at the same time: of two cookies with one time the first counts.
static inline void begin_client(secure_world* at, guest* of) {
    at->clock.now_us++;
    net_secure_client_begin(&of->client, client_clock(at), &at->server_address, 1);
}

/// The client's next request or response, which is not carried.
static inline size_t next_hello(secure_world* at, guest* of, uint8_t out[NET_OUTER_HELLO_BYTES]) {
    return net_secure_client_service(&of->client, client_clock(at), out, &at->sent_to);
}

/// An attempt of a client up to its request.
static inline void request_of(secure_world* at, guest* of, uint8_t out[NET_OUTER_HELLO_BYTES]) {
    begin_client(at, of);
    assert_int_equal(next_hello(at, of, out), NET_OUTER_HELLO_BYTES);
}

/// An attempt of a client up to its response.
static inline void response_of(secure_world* at, guest* of, uint8_t out[NET_OUTER_HELLO_BYTES]) {
    request_of(at, of, out);
    assert_int_equal(to_server(at, &of->address, out, NET_OUTER_HELLO_BYTES),
                     NET_OUTER_CHALLENGE_BYTES);
    assert_int_equal(take_reply(at, of), NET_OUTER_HELLO_BYTES);
    memcpy(out, at->answer.reply, NET_OUTER_HELLO_BYTES);
}

/// One service of a client, with a wire that carries at once.
static inline net_secure_client_state serve_client(secure_world* at, guest* of) {
    uint8_t out[NET_OUTER_HELLO_BYTES];
    const size_t size = next_hello(at, of, out);
    return size > 0 ? carry(at, of, out, size) : of->client.state;
}

static inline net_secure_client_state try_client(secure_world* at, guest* of) {
    begin_client(at, of);
    return serve_client(at, of);
}

static inline void connect_client(secure_world* at, guest* of) {
    assert_int_equal(try_client(at, of), NET_SECURE_CLIENT_OPEN);
}

/// Seal one datagram of a client, or of the server for the last peer.
static inline size_t seal_by(secure_world* at, guest* of, const void* bytes, size_t size,
                             uint8_t out[DATAGRAM_BYTES_MAX]) {
    return net_secure_client_send(&of->client, at->clock.now_us, NET_OUTER_DATA, bytes, size, out,
                                  &at->sent_to);
}

static inline size_t seal_from_server(secure_world* at, uint8_t* out) {
    return net_secure_server_send(at->server, at->clock.now_us, at->peer, NET_OUTER_DATA, "state",
                                  5, out, &at->sent_to);
}

/// A client says one byte inside of its session. @return whether the server hears it.
static inline bool is_heard(secure_world* at, guest* of) {
    uint8_t out[DATAGRAM_BYTES_MAX];
    (void)to_server(at, &of->address, out, seal_by(at, of, "x", 1, out));
    return at->received.inner_size == 1;
}

/// The world's client connects, and its first datagram tells the server's name of the session.
static inline void connect_world(secure_world* at) {
    connect_client(at, &at->me);
    assert_true(is_heard(at, &at->me));
    assert_memory_equal(at->inner, "x", 1);
}

static inline size_t close_client(secure_world* at, guest* of, uint8_t out[DATAGRAM_BYTES_MAX]) {
    const uint8_t why = NET_SECURE_END_CLOSED;
    return net_secure_client_send(&of->client, at->clock.now_us, NET_OUTER_CLOSE, &why, sizeof why,
                                  out, &at->sent_to);
}

/// The user of the last session holds it.
static inline bool hold(secure_world* at) {
    return net_secure_server_hold(at->server, at->clock.now_us, at->peer);
}

/// The users of all sessions hold them.
static inline void hold_all(secure_world* at) {
    for (uint32_t slot = 0; slot < 4; slot++)
        for (uint32_t generation = 1; generation < 100; generation++)
            (void)net_secure_server_hold(at->server, at->clock.now_us, generation << 12 | slot);
}
