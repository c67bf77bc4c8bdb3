// SPDX-License-Identifier: MIT
// Where all bits of a server went, by client, component and cause.
//
// Invariant: the bits of all accounts and of `rest` are 8 times the bytes that the server gave to
// the transport. The transport's own total minus that is what the transport added.
#include "explain/explain.h"

#define GONE_MAX 4096u ///< clients with an account of their own; later ones count in `rest`

static size_t account_bytes(const net_server* server) {
    return net_explain_of(server)->component_count * NET_COST_COUNT * sizeof(uint64_t);
}

bool net_accounts_open(net_server* server) {
    net_explain* explain = net_explain_of(server);
    const size_t bytes = server->session_count * sizeof *explain->accounts;
    explain->accounts = base_allocate_zero(server->allocator, bytes);
    explain->rest.bits = base_allocate_zero(server->allocator, account_bytes(server));
    return explain->accounts && explain->rest.bits;
}

net_account* net_account_of(const net_server* server, const net_session* session) {
    net_explain* explain = net_explain_of(server);
    if (!explain->accounts) return NULL;
    if (!session->out.repl) return &explain->rest;
    net_account* account = &explain->accounts[session->place];
    if (!account->bits) {
        account->client = session->client;
        account->bits = base_allocate_zero(server->allocator, account_bytes(server));
    }
    return account->bits ? account : NULL;
}

static void add_bits(const net_server* server, uint64_t (*to)[NET_COST_COUNT],
                     const net_account* from) {
    if (!from->bits) return;
    for (uint32_t i = 0; i < net_explain_of(server)->component_count; i++)
        for (uint32_t k = 0; k < NET_COST_COUNT; k++)
            to[i][k] += from->bits[i][k];
}

void net_account_end(void* context, const net_session* session) {
    const net_server* server = context;
    net_explain* explain = net_explain_of(server);
    net_account* account = explain->accounts ? &explain->accounts[session->place] : NULL;
    if (!account || !account->bits) return;
    if (explain->gone_count < GONE_MAX &&
        BASE_ARRAY_RESERVE(server->allocator, explain->gone, explain->gone_capacity,
                           explain->gone_count + 1)) {
        explain->gone[explain->gone_count++] = *account;
    } else {
        add_bits(server, explain->rest.bits, account);
        base_release(server->allocator, account->bits, account_bytes(server));
    }
    *account = (net_account){.bits = NULL};
}

void net_accounts_close(net_server* server) {
    net_explain* explain = net_explain_of(server);
    const size_t bytes = account_bytes(server);
    for (uint32_t i = 0; explain->accounts && i < server->session_count; i++)
        base_release(server->allocator, explain->accounts[i].bits, bytes);
    for (uint32_t i = 0; i < explain->gone_count; i++)
        base_release(server->allocator, explain->gone[i].bits, bytes);
    base_release(server->allocator, explain->rest.bits, bytes);
    base_release(server->allocator, explain->accounts,
                 server->session_count * sizeof *explain->accounts);
    BASE_ARRAY_RELEASE(server->allocator, explain->gone, explain->gone_capacity);
}

// All accounts together, and the bytes that the transport added.
static void sum_up(const net_server* server, uint64_t (*all)[NET_COST_COUNT]) {
    const net_explain* explain = net_explain_of(server);
    add_bits(server, all, &explain->rest);
    for (uint32_t i = 0; i < server->session_count; i++)
        add_bits(server, all, &explain->accounts[i]);
    for (uint32_t i = 0; i < explain->gone_count; i++)
        add_bits(server, all, &explain->gone[i]);
    net_transport_stats stats;
    server->config.transport->ops->stats(server->config.transport, &stats);
    uint64_t ours = 0;
    for (uint32_t i = 0; i < explain->component_count * NET_COST_COUNT; i++)
        ours += all[i / NET_COST_COUNT][i % NET_COST_COUNT];
    if (8 * stats.sent_bytes > ours) all[0][NET_COST_TRANSPORT] += 8 * stats.sent_bytes - ours;
}

bool net_server_accounts(net_server* server, uint32_t client_lines_max, net_ledger_line_fn line,
                         void* context) {
    net_server_collect(server);
    const net_explain* explain = net_explain_of(server);
    if (!explain || !explain->accounts) return true;
    uint64_t(*all)[NET_COST_COUNT] = base_allocate_zero(server->allocator, account_bytes(server));
    if (!all) return false;
    sum_up(server, all);
    bool ok = net_ledger_list_account(server, all, 0, UINT32_MAX, line, context);
    for (uint32_t i = 0; ok && i < server->session_count + explain->gone_count; i++) {
        const net_account* one = i < server->session_count
                                     ? &explain->accounts[i]
                                     : &explain->gone[i - server->session_count];
        if (one->bits)
            ok = net_ledger_list_account(server, one->bits, one->client, client_lines_max, line,
                                         context);
    }
    base_release(server->allocator, all, account_bytes(server));
    return ok;
}
