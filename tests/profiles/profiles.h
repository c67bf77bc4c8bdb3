// SPDX-License-Identifier: MIT
/// The lines on which Shoal must play: sixteen named network profiles, P0 to P15, and what holds on
/// each. README.md has the table with the measured figures.
#pragma once

#include "base/macros.h"

#define PROFILES 16u
#define PROFILE_NO_LIMIT 0.0

typedef struct profile {
    const char* name; ///< "P0".."P15"
    const char* about;
    const char* even; ///< the line of clients 0, 2, 4..., as for --net
    const char* odd;  ///< NULL: the same
    double way_ms;    ///< mean delay of one way, without queues
    double queue_ms;  ///< a round trip takes so much longer while the line is full
    /// A state may be older than the way by so much, 99 times of 100.
    double stale_ms_max;
    double event_p99_ms_max, event_ms_max; ///< reliable events, from raising to delivery
    bool loses_nothing;                    ///< no datagram is as long as the hole
    bool is_crowded;                       ///< the world is larger than the line
    bool has_blackouts;                    ///< of 1, 3, 10 and 25 s, then one that ends sessions
    bool needs_guard;                      ///< means nothing before datagrams are authenticated
    bool allows_loss;                      ///< sessions may be lost: one in 160 client minutes
} profile;

const profile* profile_at(uint32_t index);
/// @return NULL: there is no such profile.
const profile* profile_find(const char* name);
