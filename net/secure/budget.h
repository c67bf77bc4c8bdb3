// SPDX-License-Identifier: MIT
/// A budget in events a second with a burst, refilled by the clock that the caller gives. Its whole
/// state is one time: when the bucket would be full again. Zero is a full bucket.
#pragma once

#include "base/macros.h"

typedef struct net_budget {
    uint64_t full_us;
} net_budget;

typedef struct net_budget_rate {
    uint32_t every_us; ///< one event comes back after this time
    uint32_t burst;    ///< events that a full bucket holds
} net_budget_rate;

/// Is there room for one event?
static inline bool net_budget_has(const net_budget* budget, net_budget_rate rate, uint64_t now_us) {
    uint64_t span_us = (uint64_t)rate.every_us * rate.burst;
    uint64_t full_us = budget->full_us > now_us ? budget->full_us : now_us;
    return full_us + rate.every_us <= now_us + span_us;
}

/// Take one event. @return false when there is none; nothing changed then.
static inline bool net_budget_take(net_budget* budget, net_budget_rate rate, uint64_t now_us) {
    if (!net_budget_has(budget, rate, now_us)) return false;
    if (budget->full_us < now_us) budget->full_us = now_us;
    budget->full_us += rate.every_us;
    return true;
}
