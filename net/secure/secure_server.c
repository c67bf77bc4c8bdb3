// SPDX-License-Identifier: MIT
// Where a datagram goes: secure_server_hello.c has the handshake, secure_server_session.c what
// belongs to sessions.
//
// A session's number says its slot, so there is no table that an attacker could fill or search.
// What is checked comes in the order of its cost: size, type, number, replay window, then the
// decryption, then the budget of the session. Only then the datagram may reach ENet.
#include "secure/secure_server_state.h"

#include "base/assert.h"

#include <sodium.h>

#include <string.h>

// The lowest slot of each lane on top.
static void fill_free(net_secure_server* made) {
    uint32_t at = 0;
    for (uint32_t lane = 0; lane < made->lanes; lane++) {
        uint32_t count = (made->session_max - lane + made->lanes - 1) / made->lanes;
        made->first_free[lane] = at;
        made->free_counts[lane] = count;
        for (uint32_t i = count; i > 0; i--)
            made->free[at++] = (uint16_t)(lane + (i - 1) * made->lanes);
    }
}

static net_result create_parts(net_secure_server* made, const net_secure_server_config* config) {
    uint8_t key[16];
    made->entropy.fill(made->entropy.context, key, sizeof key);
    made->sessions =
        base_allocate_zero(made->allocator, made->session_max * sizeof *made->sessions);
    made->free = base_allocate_zero(made->allocator, made->session_max * sizeof *made->free);
    made->cookie_names =
        base_allocate_zero(made->allocator, made->session_max * sizeof *made->cookie_names);
    made->origin_names =
        base_allocate_zero(made->allocator, made->session_max * sizeof *made->origin_names);
    made->unopened_us =
        base_allocate_zero(made->allocator, made->session_max * sizeof *made->unopened_us);
    if (!made->sessions || !made->free || !made->cookie_names || !made->origin_names ||
        !made->unopened_us)
        return NET_ERR_MEMORY;
    fill_free(made);
    uint32_t uses_max = config->token_uses_max ? config->token_uses_max : NET_TOKEN_USES_MAX;
    return net_token_uses_create(made->allocator, uses_max, key, &made->uses);
}

// Of one match with one key: another process goes on with it, at any address, and its players come
// back.
static void make_resume_key(net_secure_server* server, uint64_t identity) {
    if (server->keys.count > 0 && identity != 0)
        net_key_derive(&server->keys.keys[0], "shoal resume tokens", identity, 1,
                       server->resume_key, sizeof server->resume_key);
    else
        server->entropy.fill(server->entropy.context, server->resume_key,
                             sizeof server->resume_key);
}

net_result net_secure_server_create(const net_secure_server_config* config,
                                    net_secure_server** server) {
    const net_security* security = &config->security;
    BASE_ASSERT(security->entropy && security->address_count <= NET_TOKEN_ADDRESSES_MAX);
    BASE_ASSERT(config->sessions_max >= 1 && config->sessions_max <= NET_SECURE_SESSIONS_MAX);
    BASE_ASSERT(config->lanes <= NET_LANES_MAX && config->lanes <= config->sessions_max);
    BASE_ASSERT(sodium_init() >= 0);
    net_secure_server* made = base_allocate_zero(config->allocator, sizeof *made);
    if (!made) return NET_ERR_MEMORY;
    // Keys that tokens are sealed with must not reach a swap file. Without the right to lock memory
    // the server runs all the same.
    (void)sodium_mlock(&made->keys, sizeof made->keys);
    (void)sodium_mlock(made->resume_key, sizeof made->resume_key);
    made->allocator = config->allocator;
    made->entropy = *security->entropy;
    made->protocol = security->protocol ? security->protocol : NET_TOKEN_PROTOCOL;
    made->allow_dev_key = security->allow_dev_key;
    made->session_max = config->sessions_max;
    made->lanes = config->lanes ? config->lanes : 1;
    made->per_address_max = config->per_address_max;
    made->send = config->send;
    made->send_context = config->send_context;
    made->address_count = security->address_count;
    if (security->address_count > 0)
        memcpy(made->addresses, security->addresses,
               security->address_count * sizeof *made->addresses);
    net_secure_server_keys_set(made, security->keys);
    make_resume_key(made, security->identity);
    made->entropy.fill(made->entropy.context, made->unproved.key, sizeof made->unproved.key);
    net_cookie_keys_init(&made->cookies, &made->entropy, config->now_us);
    net_spent_init(&made->spent, &made->entropy);
    net_result result = create_parts(made, config);
    if (result != NET_OK) {
        net_secure_server_destroy(made);
        return result;
    }
    *server = made;
    return NET_OK;
}

void net_secure_server_destroy(net_secure_server* server) {
    if (!server) return;
    const base_allocator* allocator = server->allocator;
    size_t bytes = server->session_max * sizeof *server->sessions;
    net_token_uses_destroy(server->uses);
    if (server->sessions) sodium_memzero(server->sessions, bytes);
    base_release(allocator, server->sessions, bytes);
    base_release(allocator, server->cookie_names,
                 server->session_max * sizeof *server->cookie_names);
    base_release(allocator, server->origin_names,
                 server->session_max * sizeof *server->origin_names);
    base_release(allocator, server->unopened_us, server->session_max * sizeof *server->unopened_us);
    base_release(allocator, server->free, server->session_max * sizeof *server->free);
    (void)sodium_munlock(server->resume_key, sizeof server->resume_key);
    (void)sodium_munlock(&server->keys, sizeof server->keys);
    sodium_memzero(server, sizeof *server);
    base_release(allocator, server, sizeof *server);
}

void net_secure_server_keys_set(net_secure_server* server, const net_key_ring* keys) {
    net_key_ring_wipe(&server->keys);
    if (keys) server->keys = *keys;
}

void net_secure_server_set_standby(net_secure_server* server, bool is_standby) {
    server->is_standby = is_standby;
}

// ---- datagrams of sessions

static uint32_t slot_of(const net_secure_server* server, const net_secure_session* session) {
    return (uint32_t)(session - server->sessions);
}

// Its address is another one than before. The new one must prove that it receives what we send,
// since the sender may have made it up.
static void ask_for_proof(net_secure_server* server, uint64_t now_us, net_secure_session* session,
                          const net_address* from, net_secure_received* received) {
    if (!net_budget_take(&session->moves, net_secure_move_rate, now_us)) {
        net_secure_count_of(server, slot_of(server, session), NET_SECURE_MOVE_BUDGET);
        return;
    }
    session->candidate = *from;
    session->is_candidate = true;
    server->entropy.fill(server->entropy.context, session->path, sizeof session->path);
    net_crypt_plain plain = {.type = NET_OUTER_PATH,
                             .session = session->id,
                             .bytes = session->path,
                             .size = sizeof session->path};
    received->reply_size = net_crypt_seal(&session->sender, now_us, &plain, received->reply);
    received->reply_to = *from;
}

static void take_path(net_secure_server* server, net_secure_session* session,
                      const net_address* from, const uint8_t* inner, size_t size) {
    if (!session->is_candidate || size != sizeof session->path ||
        !net_address_equal(from, &session->candidate) ||
        sodium_memcmp(inner, session->path, sizeof session->path) != 0)
        return;
    session->address = *from;
    session->is_candidate = false;
    net_secure_count_of(server, slot_of(server, session), NET_SECURE_MOVED);
}

static void take_opened(net_secure_server* server, uint64_t now_us, net_secure_session* session,
                        net_outer_type type, const net_address* from, bool is_newest,
                        net_secure_received* received, const uint8_t* inner, size_t size) {
    session->heard_us = now_us;
    if (!net_budget_take(&session->data, net_secure_data_rate, now_us)) {
        net_secure_count_of(server, slot_of(server, session), NET_SECURE_DATA_BUDGET);
        return;
    }
    if (type == NET_OUTER_CLOSE) {
        net_secure_session_end(server, session, NET_SECURE_CLOSED);
        return;
    }
    if (type == NET_OUTER_PATH) {
        take_path(server, session, from, inner, size);
        return;
    }
    if (is_newest && !net_address_equal(from, &session->address))
        ask_for_proof(server, now_us, session, from, received);
    received->peer = net_secure_session_peer(server, session);
    received->inner = inner;
    received->inner_size = size;
    received->is_packet = type == NET_OUTER_INPUT;
}

// The session that a datagram names: an INPUT by the low half of its id.
static net_secure_session* find_addressed(net_secure_server* server, const uint8_t* bytes) {
    uint32_t id = net_crypt_session(bytes);
    const uint32_t slot = NET_SECURE_PEER_SLOT(id);
    if ((bytes[0] & NET_OUTER_TYPE_MASK) == NET_OUTER_INPUT) {
        if (slot >= server->session_max || (uint16_t)server->sessions[slot].id != id) return NULL;
        id = server->sessions[slot].id;
    }
    return net_secure_session_find(server, id);
}

static void receive_inside(net_secure_server* server, uint64_t now_us, const net_address* from,
                           uint8_t* bytes, size_t size, net_secure_received* received) {
    net_secure_session* session = find_addressed(server, bytes);
    BASE_ASSERT(session); // it was routed here
    uint8_t* inner = NULL;
    size_t inner_size = 0;
    bool is_newest = false;
    net_outer_type type = (net_outer_type)(bytes[0] & NET_OUTER_TYPE_MASK);
    net_crypt_result result =
        net_crypt_open(&session->receiver, now_us, bytes, size, 0, &inner, &inner_size, &is_newest);
    if (result == NET_CRYPT_OK)
        take_opened(server, now_us, session, type, from, is_newest, received, inner, inner_size);
    else if (result == NET_CRYPT_REPLAYED)
        net_secure_count_of(server, slot_of(server, session), NET_SECURE_REPLAYED);
    else if (result == NET_CRYPT_FORGED)
        net_secure_count_of(server, slot_of(server, session), NET_SECURE_DATA_FORGED);
    else // without a CLOSE: the client takes it for a lost connection, and comes back
        net_secure_session_end(server, session, NET_SECURE_FORGERY_LIMIT);
}

static uint32_t route_inside(net_secure_server* server, const uint8_t* bytes) {
    const net_secure_session* session = find_addressed(server, bytes);
    if (session) return slot_of(server, session);
    net_secure_count_of(server, NET_SECURE_PEER_SLOT(net_crypt_session(bytes)),
                        NET_SECURE_SESSION_UNKNOWN);
    return NET_SECURE_NOWHERE;
}

uint32_t net_secure_server_route(net_secure_server* server, const uint8_t* bytes, size_t size) {
    net_secure_count fault = NET_SECURE_BAD_SIZE;
    const size_t least = net_crypt_head_bytes(bytes[0]) + NET_OUTER_TAG_BYTES;
    switch (size < least ? NET_OUTER_REQUEST : bytes[0]) {
    case NET_OUTER_REQUEST:
    case NET_OUTER_RESPONSE:
        if (size == NET_OUTER_HELLO_BYTES) return NET_SECURE_HELLO;
        break;
    case NET_OUTER_DATA:
    case NET_OUTER_CLOSE:
    case NET_OUTER_PATH:
    case NET_OUTER_DATA | NET_OUTER_PHASE:
    case NET_OUTER_CLOSE | NET_OUTER_PHASE:
    case NET_OUTER_PATH | NET_OUTER_PHASE:
    case NET_OUTER_INPUT:
    case NET_OUTER_INPUT | NET_OUTER_PHASE:
        return route_inside(server, bytes);
    default:
        fault = NET_SECURE_BAD_TYPE;
    }
    net_secure_count_one(server, fault);
    return NET_SECURE_NOWHERE;
}

void net_secure_server_receive(net_secure_server* server, const net_secure_clock* clock,
                               const net_address* from, uint8_t* bytes, size_t size,
                               net_secure_received* received) {
    received->inner_size = received->reply_size = 0;
    received->peer = 0;
    received->is_packet = false;
    uint32_t slot = net_secure_server_route(server, bytes, size);
    if (slot == NET_SECURE_HELLO)
        net_secure_server_hello(server, clock, from, bytes, received);
    else if (slot != NET_SECURE_NOWHERE)
        receive_inside(server, clock->now_us, from, bytes, size, received);
}

const net_secure_stats* net_secure_server_stats(net_secure_server* server) {
    server->sum = (net_secure_stats){{0}};
    for (uint32_t lane = 0; lane < server->lanes; lane++)
        for (uint32_t i = 0; i < NET_SECURE_COUNTS; i++)
            server->sum.counts[i] += server->stats[lane].stats.counts[i];
    return &server->sum;
}
