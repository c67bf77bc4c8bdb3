// SPDX-License-Identifier: MIT
/// How long ticks take: a histogram of microseconds with a resolution of 3 % and a fixed size.
#pragma once

#include "base/macros.h"

#define SERVER_TIMING_BUCKETS 1024u

typedef struct server_timing {
    uint64_t buckets[SERVER_TIMING_BUCKETS];
    uint64_t count;
} server_timing;

/// Count one tick that took `us`. Times above the last bucket count in the last bucket.
void server_timing_add(server_timing* timing, uint64_t us);
/// Forget one that was counted (asserted).
void server_timing_remove(server_timing* timing, uint64_t us);
/// The value below which `percent` of the samples lie (upper edge of its bucket); 0 without
/// samples.
uint64_t server_timing_percentile(const server_timing* timing, double percent);
