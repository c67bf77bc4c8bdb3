// SPDX-License-Identifier: MIT
/// Mathematics for simulations: IEEE basic operations and our own polynomials, never libm. So a log
/// that one machine wrote verifies on every other CPU, compiler and libc.
///
/// Errors are below 2 ulp of the result for |angle| <= 8192 (float); outside, results stay defined,
/// repeatable and within [-1, 1]. Sin, cos and atan2 of NaN and infinities give NaN, the others NaN
/// for NaN; it is always the same NaN. -ffp-contract=off is part of the contract.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

#define BASE_PI 3.14159265358979323846f

/// Angles are in radians.
float base_sqrt(float value); ///< Correctly rounded (the hardware's), negative gives NaN.
float base_sin(float angle);
float base_cos(float angle);
float base_atan2(float y, float x);
/// Round half away from zero to a 64-bit integer, saturating; NaN gives 0.
int64_t base_round_i64(double value);

// These are here because a game calls them for each of its entities in each tick: a call through
// its library's table costs more than they do.

/// The next whole number below, or the value itself.
static inline float base_floor(float value) {
    if (value != value) return __builtin_nanf("");
    // From 2^23 on every float is whole. Zero keeps its sign.
    if (value == 0 || __builtin_fabsf(value) >= 0x1p23f) return value;
    float whole = (float)(int32_t)value;
    return whole > value ? whole - 1 : whole;
}

/// Get the absolute value.
static inline float base_abs(float value) {
    return value != value ? __builtin_nanf("") : __builtin_fabsf(value);
}

/// The smaller one.
static inline float base_min(float a, float b) {
    if (a != a || b != b) return __builtin_nanf("");
    return b < a ? b : a;
}

/// The larger one.
static inline float base_max(float a, float b) {
    if (a != a || b != b) return __builtin_nanf("");
    return b > a ? b : a;
}

/// The nearest value within [low, high].
static inline float base_clamp(float value, float low, float high) {
    return base_min(base_max(value, low), high);
}

BASE_C_END
