// SPDX-License-Identifier: MIT
// The life of sessions; secure_server_receive.c has what comes in.
//
// A session's number says its slot, so there is no table that an attacker could fill or search.
#include "secure/secure_server_state.h"

#include "base/assert.h"
#include "base/text.h"

#include <sodium.h>

#include <string.h>

#define SWEEP_US UINT64_C(100000)

static void create_parts(net_secure_server* made, const net_secure_server_config* config) {
    const base_allocator* allocator = &made->owner.allocator;
    uint8_t key[16];
    made->entropy.fill(made->entropy.context, key, sizeof key);
    made->sessions = base_allocate_zero(allocator, made->session_max * sizeof *made->sessions);
    made->free = base_allocate_zero(allocator, made->session_max * sizeof *made->free);
    made->cookie_names =
        base_allocate_zero(allocator, made->session_max * sizeof *made->cookie_names);
    made->origin_names =
        base_allocate_zero(allocator, made->session_max * sizeof *made->origin_names);
    made->unopened_us =
        base_allocate_zero(allocator, made->session_max * sizeof *made->unopened_us);
    // The lowest slot of each lane on top.
    uint32_t at = 0;
    for (uint32_t lane = 0; lane < made->lanes; lane++) {
        uint32_t count = (made->session_max - lane + made->lanes - 1) / made->lanes;
        made->first_free[lane] = at;
        made->free_counts[lane] = count;
        for (uint32_t i = count; i > 0; i--)
            made->free[at++] = (uint16_t)(lane + (i - 1) * made->lanes);
    }
    uint32_t uses_max = config->token_uses_max ? config->token_uses_max : NET_TOKEN_USES_MAX;
    made->uses = net_token_uses_create(allocator, uses_max, key);
}

// Of one match with one key: another process goes on with it, at any address, and its players come
// back.
static void make_resume_keys(net_secure_server* server, const net_security* security) {
    const uint64_t identity = security->identity;
    server->again_s = server->keys.count > 0 ? security->again_s : 0;
    if (server->again_s > 0)
        net_key_derive(&server->keys.keys[0], "shoal later matches", 0, 0, server->again_key,
                       sizeof server->again_key);
    if (server->keys.count > 0 && identity != 0)
        net_key_derive(&server->keys.keys[0], "shoal resume tokens", identity, 1,
                       server->resume_key, sizeof server->resume_key);
    else
        server->entropy.fill(server->entropy.context, server->resume_key,
                             sizeof server->resume_key);
}

net_secure_server* net_secure_server_create(const net_secure_server_config* config) {
    const net_security* security = &config->security;
    BASE_ASSERT(security->entropy && security->address_count <= NET_TOKEN_ADDRESSES_MAX);
    BASE_ASSERT(config->sessions_max >= 1 && config->sessions_max <= NET_SECURE_SESSIONS_MAX);
    BASE_ASSERT(config->lanes <= NET_LANES_MAX && config->lanes <= config->sessions_max);
    BASE_ASSERT(sodium_init() >= 0);
    net_secure_server* made = base_owner_create(config->allocator, sizeof *made);
    // Keys that tokens are sealed with must not reach a swap file. Without the right to lock memory
    // the server runs all the same.
    (void)sodium_mlock(&made->keys, sizeof made->keys);
    (void)sodium_mlock(made->resume_key, sizeof made->resume_key + sizeof made->again_key);
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
    make_resume_keys(made, security);
    made->entropy.fill(made->entropy.context, made->unproved.key, sizeof made->unproved.key);
    net_cookie_keys_init(&made->cookies, &made->entropy, config->now_us);
    net_spent_init(&made->spent, &made->entropy);
    create_parts(made, config);
    return made;
}

void net_secure_server_destroy(net_secure_server* server) {
    if (!server) return;
    sodium_memzero(server->sessions, server->session_max * sizeof *server->sessions);
    (void)sodium_munlock(server->resume_key, sizeof server->resume_key + sizeof server->again_key);
    (void)sodium_munlock(&server->keys, sizeof server->keys);
    sodium_memzero(&server->owner + 1, sizeof *server - sizeof server->owner);
    base_owner_destroy(server);
}

void net_secure_server_keys_set(net_secure_server* server, const net_key_ring* keys) {
    net_key_ring_wipe(&server->keys);
    if (keys) server->keys = *keys;
}

void net_secure_server_set_standby(net_secure_server* server, bool is_standby) {
    server->is_standby = is_standby;
}

// ---- the life of sessions

net_secure_session* net_secure_session_find(net_secure_server* server, uint32_t id) {
    uint32_t slot = id & ((1u << NET_SECURE_SLOT_BITS) - 1);
    if (id == 0 || slot >= server->session_max || server->sessions[slot].id != id) return NULL;
    return &server->sessions[slot];
}

static net_secure_session* find_peer(const net_secure_server* server, net_secure_peer peer) {
    uint32_t slot = NET_SECURE_PEER_SLOT(peer);
    if (slot >= server->session_max) return NULL;
    net_secure_session* session = &server->sessions[slot];
    bool is_it = session->id != 0 && session->generation == NET_SECURE_PEER_GENERATION(peer);
    return is_it ? session : NULL;
}

void net_secure_spend(net_secure_server* server, uint64_t now_us,
                      const uint8_t name[NET_SPENT_NAME_BYTES], uint64_t cookie_us) {
    if (net_spent_add(&server->spent, now_us, name, cookie_us)) return;
    // With other secrets no cookie of before counts, and there is nothing to remember.
    net_cookie_keys_init(&server->cookies, &server->entropy, now_us);
    net_spent_init(&server->spent, &server->entropy);
    net_secure_count_one(server, NET_SECURE_SPENT_FULL);
}

net_secure_session* net_secure_session_unopened(const net_secure_server* server) {
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < server->session_max; i++) {
        const uint64_t ends_us = server->unopened_us[i], least_us = server->unopened_us[oldest];
        if (ends_us != 0 && (least_us == 0 || ends_us < least_us)) oldest = i;
    }
    return server->unopened_us[oldest] != 0 ? &server->sessions[oldest] : NULL;
}

net_secure_session* net_secure_session_begin(net_secure_server* server, uint64_t now_us) {
    if (net_secure_server_count(server) == server->session_max) {
        net_secure_session* oldest = net_secure_session_unopened(server);
        if (oldest && now_us + NET_SECURE_UNOPENED_US >= oldest->lease_us + NET_SECURE_OPENING_US)
            net_secure_session_close(server, now_us, oldest, NET_SECURE_UNOPENED,
                                     NET_SECURE_END_FULL);
    }
    // The lane with most room, so that lanes stay even.
    uint32_t lane = 0, chance = 0;
    for (uint32_t i = 1; i < server->lanes; i++)
        if (server->free_counts[i] > server->free_counts[lane]) lane = i;
    if (server->free_counts[lane] == 0) return NULL;
    const uint32_t slot = server->free[server->first_free[lane] + --server->free_counts[lane]];
    net_secure_session* begun = &server->sessions[slot];
    if (server->origin_names[slot] != 0)
        net_secure_spend(server, now_us, begun->origin_tag, begun->cookie_us);
    uint16_t generation = (uint16_t)(begun->generation + 1);
    memset(begun, 0, sizeof *begun);
    begun->generation = generation ? generation : 1;
    while (chance >> NET_SECURE_SLOT_BITS == 0)
        server->entropy.fill(server->entropy.context, &chance, sizeof chance);
    begun->id = (chance & ~((1u << NET_SECURE_SLOT_BITS) - 1)) | slot;
    begun->heard_us = now_us;
    begun->lease_us = server->unopened_us[slot] = now_us + NET_SECURE_UNOPENED_US;
    server->entropy.fill(server->entropy.context, begun->random, sizeof begun->random);
    return begun;
}

void net_secure_session_end(net_secure_server* server, net_secure_session* session,
                            net_secure_count why) {
    net_secure_session kept = {.generation = session->generation, .cookie_us = session->cookie_us};
    memcpy(kept.origin_tag, session->origin_tag, sizeof kept.origin_tag);
    const uint32_t slot = net_secure_slot(server, session), lane = net_secure_lane(server, slot);
    net_secure_count_of(server, slot, why);
    sodium_memzero(session, sizeof *session);
    *session = kept;
    server->cookie_names[slot] = 0;
    server->unopened_us[slot] = 0;
    server->free[server->first_free[lane] + server->free_counts[lane]++] = (uint16_t)slot;
}

void net_secure_session_close(net_secure_server* server, uint64_t now_us,
                              net_secure_session* session, net_secure_count why,
                              net_secure_end reason) {
    uint8_t out[NET_OUTER_CLOSE_BYTES], said = (uint8_t)reason;
    net_crypt_plain plain = {
        .type = NET_OUTER_CLOSE, .session = session->id, .bytes = &said, .size = sizeof said};
    const size_t size = net_crypt_seal(&session->sender, now_us, &plain, out);
    if (server->send && size > 0) server->send(server->send_context, &session->address, out, size);
    net_secure_session_end(server, session, why);
}

// Sessions end as of `held_us`.
static void sweep(net_secure_server* server, uint64_t now_us, uint64_t held_us) {
    if (held_us - server->swept_us < SWEEP_US || net_secure_server_count(server) == 0) return;
    server->swept_us = held_us;
    for (uint32_t i = 0; i < server->session_max; i++) {
        net_secure_session* session = &server->sessions[i];
        if (session->id == 0) continue;
        const bool is_silent = held_us >= session->heard_us + NET_SECURE_SILENT_US;
        if (is_silent || held_us >= session->lease_us)
            net_secure_session_close(server, now_us, session,
                                     is_silent          ? NET_SECURE_SILENT
                                     : session->is_held ? NET_SECURE_LINGERED
                                                        : NET_SECURE_UNOPENED,
                                     NET_SECURE_END_CLOSED);
    }
}

void net_secure_server_stop(net_secure_server* server, uint64_t now_us) {
    for (uint32_t i = 0; i < server->session_max; i++)
        if (server->sessions[i].id != 0)
            net_secure_session_close(server, now_us, &server->sessions[i], NET_SECURE_CLOSED,
                                     NET_SECURE_END_CLOSED);
}

void net_secure_server_service(net_secure_server* server, uint64_t now_us, uint64_t held_us) {
    net_cookie_keys_service(&server->cookies, &server->entropy, now_us);
    sweep(server, now_us, held_us);
}

bool net_secure_server_hold(net_secure_server* server, uint64_t now_us, net_secure_peer peer) {
    net_secure_session* session = find_peer(server, peer);
    if (!session) return false;
    if (!session->is_held) server->unopened_us[NET_SECURE_PEER_SLOT(peer)] = 0;
    session->is_held = true;
    session->lease_us = now_us + NET_SECURE_LINGER_US;
    return true;
}

size_t net_secure_server_send(net_secure_server* server, uint64_t now_us, net_secure_peer peer,
                              net_outer_type type, const void* bytes, size_t size, uint8_t* out,
                              net_address* to) {
    net_secure_session* session = find_peer(server, peer);
    if (!session) return 0;
    net_crypt_plain plain = {.type = type, .session = session->id, .bytes = bytes, .size = size};
    *to = session->address;
    return net_crypt_seal(&session->sender, now_us, &plain, out);
}

net_peer_identity net_secure_identity(const net_address* address, uint64_t player, uint32_t key,
                                      const uint8_t user[NET_TOKEN_USER_BYTES]) {
    net_peer_identity identity = {
        .address = *address, .player = player, .key = key, .user_bytes = NET_TOKEN_USER_BYTES};
    while (identity.user_bytes > 0 && user[identity.user_bytes - 1] == 0)
        identity.user_bytes--;
    memcpy(identity.user, user, sizeof identity.user);
    return identity;
}

bool net_secure_server_identity(const net_secure_server* server, net_secure_peer peer,
                                net_peer_identity* identity) {
    const net_secure_session* session = find_peer(server, peer);
    if (session)
        *identity = net_secure_identity(&session->address, session->player_id, session->key_id,
                                        session->user_data);
    return session != NULL;
}

uint32_t net_secure_server_count(const net_secure_server* server) {
    uint32_t count = server->session_max;
    for (uint32_t lane = 0; lane < server->lanes; lane++)
        count -= server->free_counts[lane];
    return count;
}

const net_secure_stats* net_secure_server_stats(net_secure_server* server) {
    server->sum = (net_secure_stats){{0}};
    for (uint32_t lane = 0; lane < server->lanes; lane++)
        for (uint32_t i = 0; i < NET_SECURE_COUNTS; i++)
            server->sum.counts[i] += server->stats[lane].stats.counts[i];
    return &server->sum;
}

// Names of counts and reasons.

// "challenges", "token_used"...
static const char* count_name(net_secure_count count) {
    static const char* const names[NET_SECURE_COUNTS] = {
#define NET_SECURE_COUNT_NAME(name, text) text,
        NET_SECURE_COUNT_LIST(NET_SECURE_COUNT_NAME)
#undef NET_SECURE_COUNT_NAME
    };
    BASE_ASSERT(count < NET_SECURE_COUNTS);
    return names[count];
}

void net_secure_stats_text(const net_secure_stats* stats, char* text, size_t text_bytes) {
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < NET_SECURE_COUNTS; i++) {
        if (stats->counts[i] == 0) continue;
        if (!base_text_format(text + used, text_bytes - used, " %s=%llu",
                              count_name((net_secure_count)i),
                              (unsigned long long)stats->counts[i]))
            return;
        used += strlen(text + used);
    }
}
