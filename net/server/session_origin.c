// SPDX-License-Identifier: MIT
// Where a session comes from, and how often one may be opened.
//
// Every limit counts by player when the transport knows one, else by origin: the IPv4 address or
// the IPv6 /64. Loopback has no origin, and with clients_per_address_max 0 no address has one: then
// only players are counted.
//
// A pace is a bucket with one number (as in core/ration.c). The table has a fixed size and 4 ways.
// The bucket that is full first gives its place. A flood has the latest moment, so it is kept.
#include "server/session_origin.h"

#include "server/server_state.h"

#include "base/hash.h"

#include <string.h>

#define PACE_US (NET_SESSIONS_WINDOW_MS * UINT64_C(1000) / NET_SESSIONS_MAX) // for one session
#define PACE_BURST_US (NET_SESSIONS_WINDOW_MS * UINT64_C(1000))

// ---- identity

// 0: not counted.
static uint64_t origin_of(const net_server* server, const net_peer_identity* identity) {
    const net_address* at = &identity->address;
    static const net_address NOWHERE = {.port = 0};
    if (server->config.clients_per_address_max == 0 || net_address_is_loopback(at) ||
        memcmp(at->ip, NOWHERE.ip, sizeof at->ip) == 0)
        return 0;
    uint64_t half = 0; // of IPv6 the network; IPv4 lies in the other half
    memcpy(&half, at->ip + (net_address_is_ipv4(at) ? 8 : 0), sizeof half);
    return base_hash64_mix(half, net_address_is_ipv4(at) ? 4 : 6) | 1;
}

void net_session_identify(net_server* server, net_session* session) {
    (void)net_transport_identity(server->config.transport, session->peer, &session->identity);
    session->origin = origin_of(server, &session->identity);
}

// ---- pace

static uint64_t pace_key(const net_session* session) {
    // With the built-in key a client names itself.
    if (session->identity.player != 0 && session->identity.key != 0)
        return base_hash64_mix(session->identity.player, 1) | 1;
    return session->origin;
}

static net_admission_bucket* find_bucket(net_server* server, uint64_t key) {
    net_admission* admission = server->admission;
    uint64_t hash = base_hash64_mix(admission->salt, key);
    net_admission_bucket* set = admission->buckets[hash % NET_ADMISSION_SETS];
    net_admission_bucket* least = &set[0];
    for (uint32_t i = 0; i < NET_ADMISSION_WAYS; i++) {
        if (set[i].key == key) return &set[i];
        if (set[i].full_us < least->full_us) least = &set[i];
    }
    *least = (net_admission_bucket){.key = key};
    return least;
}

// @return how long to wait; 0: one was taken.
static uint64_t take_pace(uint64_t* full_us, uint64_t now_us) {
    uint64_t from_us = *full_us > now_us ? *full_us : now_us;
    if (from_us - now_us > PACE_BURST_US - PACE_US)
        return from_us - now_us - (PACE_BURST_US - PACE_US);
    *full_us = from_us + PACE_US;
    return 0;
}

bool net_session_may_resume(net_server* server, net_session* session) {
    return take_pace(&session->pace_us, server->now_us) == 0;
}

uint64_t net_session_take_pace(net_server* server, const net_session* session) {
    uint64_t key = pace_key(session);
    return key ? take_pace(&find_bucket(server, key)->full_us, server->now_us) : 0;
}

void net_session_punish(net_server* server, const net_session* session) {
    uint64_t key = pace_key(session);
    if (key != 0) find_bucket(server, key)->full_us = server->now_us + PACE_BURST_US;
}
