// SPDX-License-Identifier: MIT
// PCG32 (XSH-RR), after M. E. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically
// Good Algorithms for Random Number Generation", 2014. The state is two words, so a saved world
// contains it, and a restored or replayed one goes on with the same numbers.
//
// The count of numbers that a call draws is part of its contract: every function draws exactly one
// or two; base_rng_below and base_rng_range draw more only after a (rare) rejection.
#include "base/rng.h"

#include "base/assert.h"

uint64_t base_rng_u64(base_rng* rng) {
    uint64_t high = base_rng_u32(rng);
    return high << 32 | base_rng_u32(rng);
}

int32_t base_rng_range(base_rng* rng, int32_t low, int32_t high) {
    BASE_ASSERT(low <= high);
    uint32_t span = (uint32_t)high - (uint32_t)low;
    uint32_t offset = span == UINT32_MAX ? base_rng_u32(rng) : base_rng_below(rng, span + 1);
    return (int32_t)((int64_t)low + offset);
}

float base_rng_float(base_rng* rng) {
    return (float)(base_rng_u32(rng) >> 8) * 0x1p-24f;
}

bool base_rng_chance(base_rng* rng, double probability) {
    return base_rng_u32(rng) * 0x1p-32 < probability;
}
