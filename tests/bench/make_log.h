// SPDX-License-Identifier: MIT
/// shoal-bench --make-log GAME: the whole log of a long match of bots, made in virtual time.
#pragma once

#include "base/macros.h"

#define MAKE_LOG_HOURS_MIN 0.001
#define MAKE_LOG_HOURS_MAX 1000.0
#define MAKE_LOG_CLIENTS_MAX 64u

typedef struct make_log_config {
    const char* game;   ///< name or file of a module
    const char* output; ///< the log
    const char* net;    ///< line of each client, as for --net; NULL: 20 ms and 3 ms of jitter
    uint32_t clients;
    double hours;
    uint32_t tick_rate_hz;
    uint64_t seed;
    bool is_local; ///< without network and mirrors: bots look at the server's world
} make_log_config;

/// Make the log; print a line when it is there. @return the program's exit code.
int make_log(const make_log_config* config);
