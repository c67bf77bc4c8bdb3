// SPDX-License-Identifier: MIT
/// shoal-bench --match GAME: what a match of full bots costs on the wire, in virtual time.
#pragma once

#include "base/macros.h"
#include "net/server.h"

#define BENCH_MATCH_CLIENTS_MAX 512u

typedef struct bench_match_config {
    const char* game; ///< name or file of a module
    const char* net;  ///< line of each client, as for --net; NULL: 3 %, 60 ms and 15 ms of jitter
    const char* coder;
    uint32_t clients;
    uint32_t seconds;      ///< that are measured, after the joins
    uint32_t tick_rate_hz; ///< 0: the game's
    uint64_t seed;
} bench_match_config;

/// Play and print the line. @return the program's exit code.
int bench_match(const bench_match_config* config);
