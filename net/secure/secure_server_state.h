// SPDX-License-Identifier: MIT
/// What the files of secure_server share.
#pragma once

#include "secure/token_uses.h"
#include "secure/cookie.h"
#include "secure/crypt.h"
#include "secure/secure_server.h"

enum { NET_SECURE_SLOT_BITS = 12, NET_SECURE_PATH_BYTES = 8 };

/// Budgets, by the clock of the caller.
static const net_budget_rate net_secure_address_rate = {
    100000, 20}; // requests of one address, and responses
static const net_budget_rate net_secure_request_rate = {50, 2000};     // requests of all
static const net_budget_rate net_secure_reply_rate = {500, 200};       // answers to all
static const net_budget_rate net_secure_reply_one_rate = {100000, 10}; // answers to one address
static const net_budget_rate net_secure_deny_rate = {2000, 100};       // of all, those that say no
static const net_budget_rate net_secure_data_rate = {2083, 960};       // datagrams of a session
static const net_budget_rate net_secure_move_rate = {250000, 1};       // new addresses of a session
static const net_budget_rate net_secure_accept_rate = {100000, 2};     // the same acceptance again

typedef struct net_secure_session {
    uint32_t id; ///< slot and 20 bits of chance; 0: free
    uint16_t generation;
    bool is_held;      ///< a connection inside of it exists or existed
    bool is_candidate; ///< `candidate` was asked to prove itself
    uint64_t heard_us, lease_us;
    net_address address, candidate;
    uint8_t path[NET_SECURE_PATH_BYTES]; ///< what the candidate must send back
    uint64_t player_id;
    uint8_t key_id; ///< of the key that sealed the first token, also after a resumption
    uint8_t user_data[NET_TOKEN_USER_BYTES];
    uint8_t cookie[NET_OUTER_COOKIE_BYTES]; ///< of the response that began it
    /// When that cookie was made, and the tag of the player's first token. They stay when the
    /// session ends, until another one takes its slot.
    uint64_t cookie_us;
    uint8_t origin_tag[NET_TOKEN_TAG_BYTES];
    uint8_t random[NET_OUTER_RANDOM_BYTES];
    net_crypt_sender sender;
    net_crypt_receiver receiver;
    net_budget data, moves, accepts;
} net_secure_session;

/// Lanes count at the same time: none shares a cache line with another.
typedef struct net_secure_lane_stats {
    _Alignas(BASE_CACHE_LINE_BYTES) net_secure_stats stats;
} net_secure_lane_stats;

struct net_secure_server {
    base_owner owner;
    net_entropy entropy;
    uint64_t protocol;
    net_key_ring keys;
    uint8_t resume_key[NET_KEY_BYTES], again_key[NET_KEY_BYTES]; ///< of this match, of all
    uint64_t again_s;
    bool allow_dev_key;
    bool is_standby; ///< for another server: "not now"
    net_address addresses[NET_TOKEN_ADDRESSES_MAX];
    uint32_t address_count;
    net_cookie_keys cookies;
    net_spent spent; ///< what free slots have forgotten, and cookies of no use
    net_budget requests, replies, denials;
    net_address_table unproved;
    net_token_uses* uses;
    net_secure_session* sessions;
    /// By slot: the first bytes of what a session is searched by; 0 without one. Sessions are
    /// large, and a search looks at all. An origin stays as long as that of the session.
    uint64_t *cookie_names, *origin_names;
    uint64_t* unopened_us; ///< by slot: when a session that was never held ends; else 0
    /// Free slots: a stack for each lane. All slots of lane L are L modulo `lanes`, so its stack
    /// begins at free[first_free[L]].
    uint16_t* free;
    uint32_t first_free[NET_LANES_MAX], free_counts[NET_LANES_MAX];
    uint32_t session_max, lanes, per_address_max;
    uint64_t swept_us;
    net_secure_lane_stats stats[NET_LANES_MAX]; ///< by lane; the handshake counts in the first
    net_secure_stats sum;
    void (*send)(void* context, const net_address* to, const uint8_t* bytes, size_t size);
    void* send_context;
};

static inline uint32_t net_secure_slot(const net_secure_server* server,
                                       const net_secure_session* session) {
    return (uint32_t)(session - server->sessions);
}
static inline uint32_t net_secure_lane(const net_secure_server* server, uint32_t slot) {
    return slot % server->lanes;
}
/// Count what concerns a session, which its lane does.
static inline void net_secure_count_of(net_secure_server* server, uint32_t slot,
                                       net_secure_count what) {
    server->stats[net_secure_lane(server, slot)].stats.counts[what]++;
}
/// Count what concerns no session.
static inline void net_secure_count_one(net_secure_server* server, net_secure_count what) {
    server->stats[0].stats.counts[what]++;
}

/// Who the player of a token is.
net_peer_identity net_secure_identity(const net_address* address, uint64_t player, uint32_t key,
                                      const uint8_t user[NET_TOKEN_USER_BYTES]);
/// Cookies of this name (net/secure/cookie.h) count no more when they were made until then.
void net_secure_spend(net_secure_server* server, uint64_t now_us,
                      const uint8_t name[NET_SPENT_NAME_BYTES], uint64_t cookie_us);
/// Begin a session, in the place of an old one that was never held when all are taken.
/// @return NULL when there is no such place.
net_secure_session* net_secure_session_begin(net_secure_server* server, uint64_t now_us);
/// @return the oldest session that was never held; NULL when there is none.
net_secure_session* net_secure_session_unopened(const net_secure_server* server);
/// End it: its keys are overwritten, its slot is free. `why` is counted.
void net_secure_session_end(net_secure_server* server, net_secure_session* session,
                            net_secure_count why);
/// The same, and tell its client why, so that it need not wait for a time-out.
void net_secure_session_close(net_secure_server* server, uint64_t now_us,
                              net_secure_session* session, net_secure_count why,
                              net_secure_end reason);
/// By the number in datagrams, NULL when there is none.
net_secure_session* net_secure_session_find(net_secure_server* server, uint32_t id);
