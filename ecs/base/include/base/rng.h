// SPDX-License-Identifier: MIT
/// Chance as an argument: a small seeded generator with its whole state in 16 bytes (PCG32 XSH-RR,
/// M. E. O'Neill 2014). Same seed, same numbers, on every machine.
#pragma once

#include "base/assert.h"

BASE_C_BEGIN

/// The whole state; copy it to save it.
typedef struct base_rng {
    uint64_t state;
    uint64_t stream; // odd
} base_rng;

/// The next number, uniform over all values of its type.
static inline uint32_t base_rng_u32(base_rng* rng) {
    uint64_t old = rng->state;
    rng->state = old * UINT64_C(6364136223846793005) + rng->stream;
    uint32_t shifted = (uint32_t)((old >> 18 ^ old) >> 27);
    uint32_t rotation = (uint32_t)(old >> 59);
    return shifted >> rotation | shifted << (-rotation & 31);
}
uint64_t base_rng_u64(base_rng* rng);

/// A generator for `seed`; different `stream` values give independent sequences.
static inline base_rng base_rng_make(uint64_t seed, uint64_t stream) {
    base_rng rng;
    rng.state = 0;
    rng.stream = stream << 1 | 1;
    (void)base_rng_u32(&rng);
    rng.state += seed;
    (void)base_rng_u32(&rng);
    return rng;
}

/// Uniform in [0, bound), without bias. bound >= 1 (asserted).
static inline uint32_t base_rng_below(base_rng* rng, uint32_t bound) {
    BASE_ASSERT(bound >= 1);
    // The lowest 2^32 mod bound values would make small results more likely: draw again. They are
    // less than bound, so the division is for few numbers only.
    for (;;) {
        uint32_t value = base_rng_u32(rng);
        if (value >= bound || value >= -bound % bound) return value % bound;
    }
}
/// Uniform in [low, high], both included. low <= high (asserted).
int32_t base_rng_range(base_rng* rng, int32_t low, int32_t high);
/// Uniform in [0, 1), with 24 bits of precision.
float base_rng_float(base_rng* rng);
/// True with the given probability: 0 is never, 1 is always.
bool base_rng_chance(base_rng* rng, double probability);

BASE_C_END
