// SPDX-License-Identifier: MIT
// Bandwidth accounts of sessions that are over.
//
// Invariant: the bits of all accounts, open and closed, and of bandwidth_rest are 8 times the bytes
// that the server gave to the transport. The transport's own total minus that is what the transport
// added.
#include "server/server_accounts.h"

#include "replicate/repl_state.h"
#include "server/server_state.h"

#include "base/assert.h"

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
