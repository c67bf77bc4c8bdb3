// SPDX-License-Identifier: MIT
// Bandwidth accounts of sessions that are over.
//
// Invariant: the bits of all accounts, open and closed, and of bandwidth_rest are 8 times the bytes
// that the server gave to the transport. The transport's own total minus that is what the transport
// added.
#include "server/server_state.h"

#include "replicate/repl_state.h"

#include "net/match.h"

#include "base/assert.h"

#include <string.h>

#define ACCOUNTS_MAX 4096u ///< of the first so many clients; further ones count in the total only

void net_server_keep_account(net_server* server, const net_session* session) {
    BASE_ASSERT(session->out.repl);
    if (!server->has_bandwidth || server->bandwidth_client_count == ACCOUNTS_MAX) return;
    void* clients = server->bandwidth_clients;
    if (!base_array_reserve(server->allocator, &clients, &server->bandwidth_client_capacity,
                            server->bandwidth_client_count + 1, sizeof(net_server_account)))
        return;
    server->bandwidth_clients = clients;
    net_server_account* kept = &server->bandwidth_clients[server->bandwidth_client_count];
    kept->client = session->client;
    if (!net_bandwidth_open(&server->bandwidth, &kept->account)) return;
    net_bandwidth_sum_into(&kept->account, net_repl_state_account(session->out.repl));
    server->bandwidth_client_count++;
}

void net_server_close_accounts(net_server* server) {
    for (uint32_t i = 0; i < server->bandwidth_client_count; i++)
        net_bandwidth_close(&server->bandwidth, &server->bandwidth_clients[i].account);
    base_release(server->allocator, server->bandwidth_clients,
                 server->bandwidth_client_capacity * sizeof(net_server_account));
    if (!server->has_bandwidth) return;
    net_bandwidth_close(&server->bandwidth, &server->bandwidth_rest);
    net_bandwidth_deinit(&server->bandwidth);
}

// Joins and leaves walk the world: a client's scope is gathered, and hashed for the report. Who
// connects and leaves again and again must not slow the tick down, so each of these is rationed in
// entities, not in time: a tick does the same on any machine.
//
// A replication state that is left behind is abandoned at once (nothing is written for it). Few are
// destroyed per tick, since a large one releases much memory. There is a place for each session;
// when more leave than were destroyed, the oldest goes at once.

enum { DESTROYED_PER_TICK = 2 };

static void destroy_first(net_server* server) {
    BASE_ASSERT(server->leaver_count > 0);
    net_repl_state_destroy(server->leavers[0]);
    server->leaver_count--;
    memmove(server->leavers, server->leavers + 1, server->leaver_count * sizeof *server->leavers);
}

void net_server_take_leaver(net_server* server, net_session* session) {
    BASE_ASSERT(session->out.repl && !server->out.is_uncollected);
    if (server->leaver_count == server->session_count) destroy_first(server);
    net_repl_state_abandon(session->out.repl);
    server->leavers[server->leaver_count++] = session->out.repl;
    session->out.repl = NULL;
}

void net_server_destroy_leavers(net_server* server) {
    BASE_ASSERT(!server->out.is_uncollected);
    for (uint32_t i = 0; i < DESTROYED_PER_TICK && server->leaver_count > 0; i++)
        destroy_first(server);
}

void net_server_close_leavers(net_server* server) {
    while (server->leaver_count > 0)
        destroy_first(server);
}

bool net_server_may_walk(net_server* server, uint32_t entities) {
    // At the end of a match every client is reported, and no tick waits.
    if (server->phase != NET_SERVER_RUNNING) return true;
    uint64_t tick = net_match_tick(server->config.match);
    uint64_t credit = server->walk_credit + (tick - server->walk_tick) * NET_WALK_PER_TICK;
    server->walk_credit = credit < NET_WALK_BURST ? credit : NET_WALK_BURST;
    server->walk_tick = tick;
    if (server->walk_credit < entities && entities < NET_WALK_BURST) return false;
    server->walk_credit -= entities < server->walk_credit ? entities : server->walk_credit;
    return true;
}
