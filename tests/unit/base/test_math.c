// SPDX-License-Identifier: MIT
#include "test.h"

#include "base/hash.h"
#include "base/math.h"

#include <math.h>

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool is_same(float a, float b) {
    return bits_of(a) == bits_of(b);
}

// Error in units of the last place of the exact result.
static double ulps(float value, double exact) {
    float nearest = fabsf((float)exact);
    double unit = (double)nextafterf(nearest, INFINITY) - (double)nearest;
    return fabs((double)value - exact) / unit;
}

CASE(sin_and_cos_are_within_two_ulp) {
    double worst = 0;
    base_rng rng = test_rng(11, 1);
    for (int i = 0; i < 400000; i++) {
        // Every other angle has a random exponent, so that small ones are tried too.
        float angle = i % 2 ? (base_rng_float(&rng) * 2 - 1) * 8192
                            : float_of(base_rng_u32(&rng) & 0xC5FFFFFF);
        double error = fmax(ulps(base_sin(angle), sin((double)angle)),
                            ulps(base_cos(angle), cos((double)angle)));
        worst = fmax(worst, error);
    }
    print_message("worst error %.4f ulp\n", worst);
    assert_true(worst < 0.51);
}

CASE(near_multiples_of_pi_the_sine_is_still_right) {
    for (int n = 1; n < 5215; n++) {
        float angle = (float)(n * 1.57079632679489661923);
        assert_true(ulps(base_sin(angle), sin((double)angle)) < 0.51);
        assert_true(ulps(base_cos(angle), cos((double)angle)) < 0.51);
    }
}

CASE(varsize_angles_stay_bounded) {
    for (uint32_t exponent = 140; exponent < 255; exponent++)
        for (uint32_t mantissa = 0; mantissa < 1u << 23; mantissa += 99991) {
            float angle = float_of(exponent << 23 | mantissa);
            float sine = base_sin(angle), cosine = base_cos(-angle);
            assert_true(sine >= -1 && sine <= 1 && cosine >= -1 && cosine <= 1);
            assert_true(fabs((double)sine * sine + (double)cosine * cosine - 1) < 1e-6);
        }
    assert_true(ulps(base_sin(1e6f), sin(1e6)) < 0.51);
}

CASE(atan2_is_within_two_ulp) {
    double worst = 0;
    base_rng rng = test_rng(12, 1);
    for (int i = 0; i < 400000; i++) {
        float y = float_of(base_rng_u32(&rng)), x = float_of(base_rng_u32(&rng));
        if (i % 2) {
            y = base_rng_float(&rng) * 2 - 1;
            x = base_rng_float(&rng) * 2 - 1;
        }
        if (!isfinite(y) || !isfinite(x)) continue;
        worst = fmax(worst, ulps(base_atan2(y, x), atan2((double)y, (double)x)));
    }
    print_message("worst error %.4f ulp\n", worst);
    assert_true(worst < 0.51);
}

CASE(atan2_knows_the_axes_and_signed_zeros) {
    const float values[] = {0.0f, -0.0f, 1.0f, -1.0f, 3e38f, -1e-45f};
    for (size_t i = 0; i < BASE_COUNT(values); i++)
        for (size_t j = 0; j < BASE_COUNT(values); j++) {
            float expected = (float)atan2((double)values[i], (double)values[j]);
            assert_true(is_same(base_atan2(values[i], values[j]), expected));
        }
}

CASE(nan_is_always_the_same_nan) {
    const float odd[] = {float_of(0x7FC00000), float_of(0xFFC12345), float_of(0x7F800001), INFINITY,
                         -INFINITY};
    for (size_t i = 0; i < BASE_COUNT(odd); i++) {
        assert_int_equal(bits_of(base_sin(odd[i])), 0x7FC00000);
        assert_int_equal(bits_of(base_cos(odd[i])), 0x7FC00000);
        assert_int_equal(bits_of(base_atan2(odd[i], 1)), 0x7FC00000);
        assert_int_equal(bits_of(base_atan2(1, odd[i])), 0x7FC00000);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(bits_of(base_sqrt(odd[i])), 0x7FC00000);
        assert_int_equal(bits_of(base_floor(odd[i])), 0x7FC00000);
        assert_int_equal(bits_of(base_abs(odd[i])), 0x7FC00000);
        assert_int_equal(bits_of(base_min(odd[i], 1)), 0x7FC00000);
        assert_int_equal(bits_of(base_max(1, odd[i])), 0x7FC00000);
        assert_int_equal(bits_of(base_clamp(odd[i], 0, 1)), 0x7FC00000);
    }
    assert_int_equal(bits_of(base_sqrt(-1)), 0x7FC00000);
    assert_true(is_same(base_sqrt(-0.0f), -0.0f));
    assert_true(is_same(base_sqrt(INFINITY), INFINITY));
}

CASE(simple_functions_agree_with_libm) {
    base_rng rng = test_rng(13, 1);
    for (int i = 0; i < 400000; i++) {
        float value = float_of(base_rng_u32(&rng));
        if (isnan(value)) continue;
        assert_true(is_same(base_floor(value), floorf(value)));
        assert_true(is_same(base_abs(value), fabsf(value)));
        if (value >= 0) assert_true(is_same(base_sqrt(value), sqrtf(value)));
    }
    assert_true(is_same(base_floor(-0.0f), -0.0f));
    assert_true(base_floor(-0.5f) == -1);
    assert_true(base_floor(8388607.5f) == 8388607);
    assert_true(base_min(1, 2) == 1 && base_max(1, 2) == 2);
    assert_true(base_clamp(5, 0, 1) == 1 && base_clamp(-5, 0, 1) == 0 &&
                base_clamp(0.5f, 0, 1) == 0.5f);
}

CASE(rounding_goes_away_from_zero_and_saturates) {
    assert_int_equal(base_round_i64(0.5), 1);
    assert_int_equal(base_round_i64(-0.5), -1);
    assert_int_equal(base_round_i64(0.49999999999999994), 0);
    assert_int_equal(base_round_i64(2.5), 3);
    assert_int_equal(base_round_i64(-2.4), -2);
    assert_true(base_round_i64(4503599627370495.5) == 4503599627370496);
    assert_true(base_round_i64(9007199254740993.0) == 9007199254740992);
    assert_true(base_round_i64(0x1p63) == INT64_MAX);
    assert_true(base_round_i64(-0x1p63) == INT64_MIN);
    assert_true(base_round_i64((double)INFINITY) == INT64_MAX);
    assert_true(base_round_i64((double)-INFINITY) == INT64_MIN);
    assert_true(base_round_i64((double)NAN) == 0);
}

// The bits themselves: a compiler or machine that computes differently changes this number.
CASE(results_have_the_same_bits_everywhere) {
    base_rng rng = base_rng_make(2024, 1);
    base_hasher hasher;
    base_hasher_init(&hasher, 0);
    for (int i = 0; i < 100000; i++) {
        float a = float_of(base_rng_u32(&rng)), b = (base_rng_float(&rng) * 2 - 1) * 1000;
        uint32_t results[] = {bits_of(base_sin(a)),      bits_of(base_sin(b)),
                              bits_of(base_cos(a)),      bits_of(base_cos(b)),
                              bits_of(base_sqrt(a)),     bits_of(base_atan2(a, b)),
                              bits_of(base_atan2(b, 3)), bits_of(base_floor(b))};
        base_hasher_add(&hasher, results, sizeof results);
    }
    uint64_t hash = base_hasher_end(&hasher);
    print_message("hash %016llx\n", (unsigned long long)hash);
    assert_true(hash == UINT64_C(0xF537FAC6A2663749));
}
