// SPDX-License-Identifier: MIT
// Functions with the same bits on every machine. IEEE 754 fixes the results of + - * /, sqrt and
// conversions; it does not fix sin. So everything here uses only those operations, in an order that
// C fixes.
//
// The work is done in double and rounded to float once, at the end. That leaves 29 spare bits: with
// plain Taylor polynomials and pi/2 in two pieces the result is nearly always the nearest float,
// and the code is short enough to check by reading. A NaN result is always the same bit pattern,
// since processors differ there, and world hashes would differ with them.
#include "base/math.h"

#include <float.h>

_Static_assert(FLT_EVAL_METHOD == 0, "doubles are computed as doubles");

#define HALF_PI 1.57079632679489661923
#define TWO_PI 6.28318530717958647692
#define TWO_OVER_PI 0.63661977236758134308
// pi/2 in two pieces (W. J. Cody and W. Waite, 1980). The first has 33 bits, so that its product
// with a quadrant number below 2^20 is exact.
#define HALF_PI_HIGH 0x1.921fb544p+0
#define HALF_PI_LOW 0x1.0b4611a626331p-34
// Above it the two pieces lose precision, and a float has no digits left for an angle.
#define ANGLE_DIRECT_MAX 1048576.0

static const float not_a_number = __builtin_nanf("");

static bool is_finite(double value) {
    return value - value == 0;
}

float base_sqrt(float value) {
    return value >= 0 ? __builtin_sqrtf(value) : not_a_number;
}

// value modulo TWO_PI by long division. Exact: each difference is at most the number subtracted.
static double fold(double value) {
    double rest = value < 0 ? -value : value;
    double step = TWO_PI;
    while (step * 2 <= rest)
        step *= 2;
    for (; step >= TWO_PI; step /= 2)
        if (rest >= step) rest -= step;
    return value < 0 ? -rest : rest;
}

// Both for |x| <= pi/4. The first term left out is below 1e-12 of the result.
static double sin_near_zero(double x) {
    double z = x * x;
    double series = -1.0 / 39916800 + z * (1.0 / 6227020800);
    series = 1.0 / 362880 + z * series;
    series = -1.0 / 5040 + z * series;
    series = 1.0 / 120 + z * series;
    series = -1.0 / 6 + z * series;
    return x + x * z * series;
}

static double cos_near_zero(double x) {
    double z = x * x;
    double series = -1.0 / 3628800 + z * (1.0 / 479001600);
    series = 1.0 / 40320 + z * series;
    series = -1.0 / 720 + z * series;
    series = 1.0 / 24 + z * series;
    series = -1.0 / 2 + z * series;
    return 1 + z * series;
}

// sin(angle + quadrants * pi/2).
static float sin_shifted(float angle, int64_t quadrants) {
    double value = angle;
    if (!is_finite(value)) return not_a_number;
    if (value > ANGLE_DIRECT_MAX || value < -ANGLE_DIRECT_MAX) value = fold(value);
    int64_t nearest = base_round_i64(value * TWO_OVER_PI);
    double rest = value - (double)nearest * HALF_PI_HIGH - (double)nearest * HALF_PI_LOW;
    switch ((uint64_t)(nearest + quadrants) % 4) {
    case 0:
        return (float)sin_near_zero(rest);
    case 1:
        return (float)cos_near_zero(rest);
    case 2:
        return (float)-sin_near_zero(rest);
    default:
        return (float)-cos_near_zero(rest);
    }
}

float base_sin(float angle) {
    return sin_shifted(angle, 0);
}

float base_cos(float angle) {
    return sin_shifted(angle, 1);
}

// For 0 <= t <= 1: atan(t) = atan(c) + atan((t - c) / (1 + t * c)) with c the nearest quarter,
// which leaves the series an argument of at most 1/8.
static double atan_unit(double t) {
    static const double atan_of_quarters[5] = {0, 0.24497866312686415417, 0.46364760900080611621,
                                               0.64350110879328438680, 0.78539816339744830962};
    int64_t quarter = base_round_i64(t * 4);
    double c = (double)quarter / 4;
    double u = (t - c) / (1 + t * c);
    double z = u * u;
    double series = 1.0 / 9 - z * (1.0 / 11);
    series = 1.0 / 7 - z * series;
    series = 1.0 / 5 - z * series;
    series = 1.0 / 3 - z * series;
    return atan_of_quarters[quarter] + (u - u * z * series);
}

float base_atan2(float y, float x) {
    if (!is_finite(y) || !is_finite(x)) return not_a_number;
    double rise = __builtin_fabsf(y), run = __builtin_fabsf(x);
    double angle = 0;
    if (rise > run)
        angle = HALF_PI - atan_unit(run / rise);
    else if (run > 0)
        angle = atan_unit(rise / run);
    if (__builtin_signbit(x)) angle = 2 * HALF_PI - angle;
    return (float)(__builtin_signbit(y) ? -angle : angle);
}

int64_t base_round_i64(double value) {
    if (value != value) return 0;
    if (value >= 0x1p63) return INT64_MAX;
    if (value <= -0x1p63) return INT64_MIN;
    int64_t whole = (int64_t)value;
    // Exact: from 2^52 on there is no fraction, below it both have room for it.
    double fraction = value - (double)whole;
    return whole + (fraction >= 0.5) - (fraction <= -0.5);
}
