// SPDX-License-Identifier: MIT
// Who may come in.
//
// When the server is full, the least active member gives its place to a new client. A member is
// active when it acknowledges something new and sends inputs. A member that plays does both, so it
// is never evicted. Neither is one in a blackout of ten seconds.
#include "server/server_admission.h"

#include "server/server_send.h"
#include "server/server_state.h"
#include "server/session_origin.h"

#include "base/assert.h"
#include "base/text.h"
#include "net/bans.h"
#include "net/match.h"

#define GREETING_MS_MIN 1000u // a connection has at least this time for its hello, in any crowd

// ---- places

static bool is_greeting(const net_session* session) {
    return session->state == NET_SESSION_GREETING || session->state == NET_SESSION_ASKED;
}

static uint32_t count_origin(const net_server* server, uint64_t origin,
                             bool (*is_counted)(const net_session* session)) {
    uint32_t count = 0;
    for (uint32_t i = 0; origin != 0 && i < server->session_count; i++) {
        const net_session* other = server->sessions[i];
        count += other && other->origin == origin && is_counted(other);
    }
    return count;
}

bool net_server_is_crowded(const net_server* server, const net_session* session) {
    return count_origin(server, session->origin, is_greeting) >
           server->config.clients_per_address_max;
}

bool net_server_free_greeting(net_server* server) {
    net_session* oldest = NULL;
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (!session || !is_greeting(session) ||
            !net_server_is_older(server, session->since_us, GREETING_MS_MIN))
            continue;
        if (!oldest || session->since_us < oldest->since_us) oldest = session;
    }
    if (!oldest) return false;
    net_server_drop(server, NET_DROP_GREETING_LATE, 1);
    net_session_end(server, oldest, NET_END_TIMEOUT);
    return true;
}

// ---- life

static uint64_t age_us(const net_server* server, uint64_t since_us) {
    return server->now_us > since_us ? server->now_us - since_us : 0;
}

static uint64_t beyond(uint64_t us, uint32_t ms, uint64_t rank) {
    return us >= ms * UINT64_C(1000) ? rank << 56 | us : 0;
}

// The lifeless get the highest numbers: those that never acknowledged anything, then by how long
// nothing new was acknowledged, then those that never sent an input. 0: it plays.
static uint64_t lifelessness(const net_server* server, const net_session* session) {
    const net_ack_sender* sent = &session->out.sent;
    uint64_t joined_us = age_us(server, session->joined_us);
    if (!net_session_is_in_match(session)) return 0;
    if (!sent->has_ack) return beyond(joined_us, NET_LIFE_FIRST_MS, 3);
    uint64_t silent = beyond(age_us(server, sent->last_ack_us), NET_LIFE_SILENT_MS, 2);
    if (silent || session->inputs.received > 0) return silent;
    return beyond(joined_us, NET_LIFE_INPUT_MS, 1);
}

static bool evict(net_server* server) {
    net_session* victim = NULL;
    uint64_t most = 0;
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        uint64_t rank = session ? lifelessness(server, session) : 0;
        if (rank <= most) continue;
        most = rank;
        victim = session;
    }
    if (!victim) return false;
    net_server_drop(server, NET_DROP_EVICTED, 1);
    net_session_end(server, victim, NET_END_EVICTED);
    return true;
}

// ---- checks

void net_server_check_ban(net_server* server, const net_session* session, net_refusal* refusal) {
    const net_peer_identity* who = &session->identity;
    const net_ban* ban = net_bans_find(server->config.bans, &who->address, who->player, who->key);
    if (!ban) return;
    net_server_drop(server, NET_DROP_BANNED, 1);
    refusal->reason = SHOAL__WIRE__REFUSED_REASON__REFUSED_BANNED;
    (void)base_text_format(refusal->text, sizeof refusal->text,
                           "you are banned from this server%s%s", ban->reason[0] ? ": " : "",
                           ban->reason);
}

void net_server_check_join(net_server* server, const net_session* session, net_refusal* refusal) {
    const uint32_t here = count_origin(server, session->origin, net_session_is_player);
    const uint64_t wait_us = net_session_take_pace(server, session);
    if (wait_us > 0) {
        net_server_drop(server, NET_DROP_JOIN_FLOOD, 1);
        (void)base_text_format(refusal->text, sizeof refusal->text,
                               "too many sessions in a short time: try again in %u s",
                               (uint32_t)(wait_us / 1000000u) + 1);
    } else if (session->origin != 0 && here >= server->config.clients_per_address_max) {
        net_server_drop(server, NET_DROP_ADDRESS_FULL, 1);
        (void)base_text_format(refusal->text, sizeof refusal->text,
                               "%u players of your address are here already", here);
    } else if (server->player_count >= server->config.clients_max && !evict(server)) {
        (void)base_text_format(refusal->text, sizeof refusal->text,
                               "the server is full (%u players): try later",
                               server->config.clients_max);
    } else {
        return;
    }
    refusal->reason = SHOAL__WIRE__REFUSED_REASON__REFUSED_FULL;
}

// ---- bans while the server runs

uint32_t net_server_enforce_bans(net_server* server) {
    net_server_collect(server);
    uint32_t ended = 0;
    for (uint32_t i = 0; i < server->session_count; i++) {
        net_session* session = server->sessions[i];
        if (!session || session->state == NET_SESSION_FREE || session->state == NET_SESSION_CLOSING)
            continue;
        const net_peer_identity* who = &session->identity;
        if (!net_bans_find(server->config.bans, &who->address, who->player, who->key)) continue;
        net_server_drop(server, NET_DROP_BANNED, 1);
        net_session_end(server, session, NET_END_BANNED);
        ended++;
    }
    return ended;
}

net_result net_server_ban(net_server* server, const net_ban* ban, uint32_t* ended) {
    *ended = 0;
    if (!server->config.bans) return NET_ERR_CLOSED;
    net_result result = net_bans_add(server->config.bans, ban);
    if (result == NET_OK) *ended = net_server_enforce_bans(server);
    return result;
}
