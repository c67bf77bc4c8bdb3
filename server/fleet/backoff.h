// SPDX-License-Identifier: MIT
/// How long a connection waits before it is made again. Each failure doubles the wait: no answer, a
/// refusal, an end at once, a login that fails. A connection that lasted resets it: a broker that
/// starts over in a second is found again in about two.
#pragma once

#include <stdint.h>

#define SERVER_BACKOFF_MS 150u
#define SERVER_BACKOFF_MS_MAX 30000u
#define SERVER_BACKOFF_LASTED_US UINT64_C(10000000) ///< a connection that was there for so long

typedef struct server_backoff {
    uint32_t failures; ///< one after the other
    uint64_t up_us;    ///< since when there is a connection; 0: there is none
} server_backoff;

/// There is a connection.
static inline void server_backoff_up(server_backoff* backoff, uint64_t now_us) {
    backoff->up_us = now_us;
}

/// The connection ended, or an attempt failed.
/// @return milliseconds until the next attempt: by `chance`, from a half of the wait to all of it,
/// so that those who lost one broker do not come back at once.
static inline uint32_t server_backoff_failed(server_backoff* backoff, uint64_t now_us,
                                             uint32_t chance) {
    const uint64_t up_us = backoff->up_us;
    if (up_us > 0 && now_us - up_us >= SERVER_BACKOFF_LASTED_US) backoff->failures = 0;
    backoff->up_us = 0;
    uint32_t ms = SERVER_BACKOFF_MS << (backoff->failures < 8 ? backoff->failures : 8);
    if (ms > SERVER_BACKOFF_MS_MAX) ms = SERVER_BACKOFF_MS_MAX;
    backoff->failures++;
    return ms - chance % (ms / 2 + 1);
}
