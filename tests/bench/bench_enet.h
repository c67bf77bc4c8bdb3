// SPDX-License-Identifier: MIT
/// What both sides of the net_tick rows move, and what they say to the processes of bench_enet.c.
#pragma once

/// What a client sends per tick, what a server sends to each.
#define BENCH_ENET_IN_BYTES 32u
#define BENCH_ENET_OUT_BYTES 1172u
#define BENCH_ENET_MTU_BYTES 1200u
#define BENCH_ENET_SOCKET_BYTES (4 << 20)

enum { BENCH_ENET_CONNECT = 'c', BENCH_ENET_TICK = 't' };

/// Answer to BENCH_ENET_TICK: of a server, in this tick; of a swarm, since it was asked before.
typedef struct bench_enet_answer {
    double spent_ns;
    unsigned received;
    unsigned unused;
} bench_enet_answer;
