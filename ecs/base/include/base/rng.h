// SPDX-License-Identifier: MIT
/// Chance as an argument: a small seeded generator with its whole state in 16 bytes (PCG32 XSH-RR,
/// M. E. O'Neill 2014). Same seed, same numbers, on every machine.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

/// The whole state; copy it to save it.
typedef struct base_rng {
    uint64_t state;
    uint64_t stream; // odd
} base_rng;

/// A generator for `seed`; different `stream` values give independent sequences.
base_rng base_rng_make(uint64_t seed, uint64_t stream);
/// The next number, uniform over all values of its type.
uint32_t base_rng_u32(base_rng* rng);
uint64_t base_rng_u64(base_rng* rng);
/// Uniform in [0, bound), without bias. bound >= 1 (asserted).
uint32_t base_rng_below(base_rng* rng, uint32_t bound);
/// Uniform in [low, high], both included. low <= high (asserted).
int32_t base_rng_range(base_rng* rng, int32_t low, int32_t high);
/// Uniform in [0, 1), with 24 bits of precision.
float base_rng_float(base_rng* rng);
/// True with the given probability: 0 is never, 1 is always.
bool base_rng_chance(base_rng* rng, double probability);

BASE_C_END
