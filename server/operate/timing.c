// SPDX-License-Identifier: MIT
// A log-linear histogram: 32 buckets per power of two, so that p99 costs no memory and no sorting.
#include "timing.h"

#include "base/assert.h"

#define SUB_BITS 5u
#define SUB_COUNT (1u << SUB_BITS)

static uint32_t bucket_of(uint64_t us) {
    if (us < SUB_COUNT) return (uint32_t)us;
    uint32_t power = 63u - (uint32_t)__builtin_clzll(us);
    uint32_t sub = (uint32_t)(us >> (power - SUB_BITS)) & (SUB_COUNT - 1);
    uint32_t bucket = (power - SUB_BITS + 1) * SUB_COUNT + sub;
    return bucket < SERVER_TIMING_BUCKETS ? bucket : SERVER_TIMING_BUCKETS - 1;
}

static uint64_t upper_edge(uint32_t bucket) {
    BASE_ASSERT(bucket < SERVER_TIMING_BUCKETS);
    if (bucket < SUB_COUNT) return bucket;
    uint32_t power = bucket / SUB_COUNT + SUB_BITS - 1;
    uint64_t sub = bucket % SUB_COUNT;
    return ((SUB_COUNT + sub + 1) << (power - SUB_BITS)) - 1;
}

void server_timing_add(server_timing* timing, uint64_t us) {
    timing->buckets[bucket_of(us)]++;
    timing->count++;
}

void server_timing_remove(server_timing* timing, uint64_t us) {
    BASE_ASSERT(timing->count > 0 && timing->buckets[bucket_of(us)] > 0);
    timing->buckets[bucket_of(us)]--;
    timing->count--;
}

uint64_t server_timing_percentile(const server_timing* timing, double percent) {
    BASE_ASSERT(percent >= 0.0 && percent <= 100.0);
    uint64_t wanted = (uint64_t)((double)timing->count * percent / 100.0 + 0.5);
    if (wanted == 0) wanted = 1;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < SERVER_TIMING_BUCKETS; i++) {
        seen += timing->buckets[i];
        if (seen >= wanted && timing->count > 0) return upper_edge(i);
    }
    return 0;
}
