// SPDX-License-Identifier: MIT
/// A server of the outer layer and clients with public addresses, joined by function calls.
#pragma once

#include "secure/secure_client.h"
#include "secure/secure_server.h"

enum {
    BENCH_SECURE_BATCH = 64, ///< clients that connect at a time: no budget of the server is reached
    BENCH_SECURE_ROOM = NET_OUTER_HELLO_BYTES + 64, ///< bytes for any datagram
};

typedef struct bench_secure_client {
    net_secure_client end;
    net_address address;
    net_secure_peer peer; ///< how the server calls it
} bench_secure_client;

typedef struct bench_secure {
    net_key_ring ring;
    net_secure_clock clock; ///< virtual
    net_address server_address;
    net_secure_server* server;
    bench_secure_client* clients;
    uint32_t count;
    uint8_t datagrams[BENCH_SECURE_BATCH][BENCH_SECURE_ROOM];
    net_secure_received received[BENCH_SECURE_BATCH];
} bench_secure;

/// A server with `count` places, and as many clients that have not connected.
void bench_secure_create(bench_secure* secure, uint32_t count);
void bench_secure_destroy(bench_secure* secure);
/// Connect the clients first..first + count - 1, each with a new token. count is at most
/// BENCH_SECURE_BATCH. *all_ns, *server_ns: CPU time of both ends, and of the server alone.
void bench_secure_connect(bench_secure* secure, uint32_t first, uint32_t count, double* all_ns,
                          double* server_ns);
/// The same clients close their sessions.
void bench_secure_close(bench_secure* secure, uint32_t first, uint32_t count);
/// Connect all clients.
void bench_secure_connect_all(bench_secure* secure);
