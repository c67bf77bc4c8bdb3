// SPDX-License-Identifier: MIT
/// Sizes of the net_tick rows, and the commands to the processes of bench_enet.c.
#pragma once

/// Bytes that a client sends per tick, and that a server sends to each client.
#define BENCH_ENET_IN_BYTES 32u
#define BENCH_ENET_OUT_BYTES 1172u
#define BENCH_ENET_MTU_BYTES 1200u
#define BENCH_ENET_SOCKET_BYTES (4 << 20)

enum { BENCH_ENET_CONNECT = 'c', BENCH_ENET_TICK = 't' };

/// Answer to BENCH_ENET_TICK: from a server for this tick, from a swarm since its previous answer.
typedef struct bench_enet_answer {
    double spent_ns;
    unsigned received;
    unsigned unused;
} bench_enet_answer;
