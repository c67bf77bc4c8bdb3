// SPDX-License-Identifier: MIT
#include "test.h"

#include "ecs/type.h"
#include "proto/quant.h"

#include <math.h>

static proto_quant make(proto_kind kind, uint32_t bits, double min, double step) {
    proto_quant quant;
    assert_true(proto_quant_make(&quant, kind, bits, min, step));
    return quant;
}

static uint64_t quantise_f32(const proto_quant* quant, float value) {
    return proto_quantise(quant, &value);
}

static float dequantise_f32(const proto_quant* quant, uint64_t q) {
    float value = 0;
    proto_dequantise(quant, q, &value);
    return value;
}

static void check_trip(const proto_quant* quant, uint64_t q) {
    uint64_t memory = 0;
    proto_dequantise(quant, q, &memory);
    assert_true(proto_quantise(quant, &memory) == q);
}

static void check_all(const proto_quant* quant, base_rng* rng) {
    if (quant->bits <= 16) {
        for (uint64_t q = 0; q <= quant->q_max; q++)
            check_trip(quant, q);
        return;
    }
    for (int i = 0; i < 50000; i++)
        check_trip(quant, base_rng_u64(rng) % (quant->q_max + (quant->q_max != UINT64_MAX)));
    for (uint64_t i = 0; i < 1000; i++) {
        check_trip(quant, i);
        check_trip(quant, quant->q_max - i);
    }
}

CASE(every_word_survives_the_trip_through_memory) {
    static const struct {
        double min, step;
    } grids[] = {{0, 1},         {-3.3, 0.01},    {-1000, 0.1},    {0.1, 0.7},
                 {1e-3, 1e-6},   {-512, 1. / 64}, {3.14159, 1e-3}, {-1. / 3, 1. / 7},
                 {1e6, 33.3333}, {-1e-30, 1e-33}, {-2e37, 1.3e33}};
    base_rng rng = test_rng(3, 1);
    uint32_t accepted = 0;
    for (size_t g = 0; g < BASE_COUNT(grids); g++) {
        for (uint32_t bits = 1; bits <= 32; bits++) {
            for (int wide = 0; wide < 2; wide++) {
                proto_quant quant;
                if (!proto_quant_make(&quant, wide ? PROTO_F64 : PROTO_F32, bits, grids[g].min,
                                      grids[g].step))
                    continue;
                accepted++;
                check_all(&quant, &rng);
            }
        }
    }
    assert_true(accepted > 400);
}

CASE(whole_numbers_survive_within_their_kind) {
    base_rng rng = test_rng(5, 1);
    static const proto_kind kinds[] = {PROTO_I8, PROTO_I16, PROTO_I32, PROTO_I64,
                                       PROTO_U8, PROTO_U16, PROTO_U32, PROTO_U64};
    static const double mins[] = {0, 1, -1, -128, 100, -32768, -2147483648.0, 9007199254740992.0};
    for (size_t k = 0; k < BASE_COUNT(kinds); k++) {
        for (size_t m = 0; m < BASE_COUNT(mins); m++) {
            for (uint32_t bits = 1; bits <= 32; bits++) {
                proto_quant quant;
                if (!proto_quant_make(&quant, kinds[k], bits, mins[m], 1)) continue;
                check_all(&quant, &rng);
            }
        }
    }
}

CASE(a_range_beyond_the_kind_ends_with_the_kind) {
    proto_quant quant = make(PROTO_U8, 8, 1, 1);
    assert_int_equal(quant.q_max, 254);
    uint8_t value = 0;
    proto_dequantise(&quant, 255, &value);
    assert_int_equal(value, 255);
    assert_int_equal(proto_quant_canonical(&quant, 255), 254);
    quant = make(PROTO_I8, 8, 0, 1);
    int8_t small = 0;
    proto_dequantise(&quant, 200, &small);
    assert_int_equal(small, 127);
}

CASE(values_round_to_the_nearest_half_away_from_zero) {
    proto_quant quant = make(PROTO_F32, 8, -10, 0.5);
    assert_int_equal(quantise_f32(&quant, -10.0f), 0);
    assert_int_equal(quantise_f32(&quant, -9.76f), 0);
    assert_int_equal(quantise_f32(&quant, -9.75f), 1);
    assert_int_equal(quantise_f32(&quant, 0.0f), 20);
    assert_int_equal(quantise_f32(&quant, 0.249f), 20);
    assert_int_equal(quantise_f32(&quant, 0.25f), 21);
}

CASE(values_outside_the_range_are_clamped) {
    proto_quant quant = make(PROTO_F32, 8, -10, 0.5);
    assert_int_equal(quantise_f32(&quant, -11.0f), 0);
    assert_int_equal(quantise_f32(&quant, -1.0f / 0.0f), 0);
    assert_int_equal(quantise_f32(&quant, 1e30f), 255);
    assert_int_equal(quantise_f32(&quant, 1.0f / 0.0f), 255);
    assert_int_equal(quantise_f32(&quant, 0.0f / 0.0f), 0);
    proto_quant whole = make(PROTO_I32, 4, -5, 1);
    assert_int_equal(proto_quantise(&whole, &(int32_t){-6}), 0);
    assert_int_equal(proto_quantise(&whole, &(int32_t){INT32_MIN}), 0);
    assert_int_equal(proto_quantise(&whole, &(int32_t){INT32_MAX}), 15);
    assert_int_equal(proto_quantise(&whole, &(int32_t){3}), 8);
}

CASE(wide_whole_numbers_keep_their_low_bits) {
    proto_quant quant = make(PROTO_I64, 32, -9007199254740992.0, 1);
    int64_t value = INT64_C(-9007199254740992) + 12345677;
    assert_int_equal(proto_quantise(&quant, &value), 12345677);
    quant = make(PROTO_U64, 8, 0, 1);
    uint64_t varsize = UINT64_MAX;
    assert_int_equal(proto_quantise(&quant, &varsize), 255);
    quant = make(PROTO_I64, 8, -8, 1);
    value = INT64_MIN;
    assert_int_equal(proto_quantise(&quant, &value), 0);
    value = INT64_MAX;
    assert_int_equal(proto_quantise(&quant, &value), 255);
}

CASE(exact_fields_keep_their_bits) {
    proto_quant f32 = make(PROTO_F32, 0, 0, 0);
    assert_int_equal(f32.bits, 32);
    assert_int_equal(quantise_f32(&f32, -0.0f), 0x80000000u);
    float minus_zero = dequantise_f32(&f32, 0x80000000u);
    assert_memory_equal(&minus_zero, &(float){-0.0f}, 4);
    check_trip(&f32, 0x7f800000);
    check_trip(&f32, 1);
    proto_quant i16 = make(PROTO_I16, 0, 0, 0);
    assert_int_equal(i16.bits, 16);
    assert_int_equal(proto_quantise(&i16, &(int16_t){-1}), 0xffff);
    proto_quant u64 = make(PROTO_U64, 0, 0, 0);
    assert_int_equal(u64.bits, 64);
    check_trip(&u64, UINT64_MAX);
    proto_quant flag = make(PROTO_BOOL, 0, 0, 0);
    assert_int_equal(flag.bits, 1);
    assert_int_equal(proto_quantise(&flag, &(uint8_t){7}), 1);
}

CASE(all_nans_are_one) {
    proto_quant f32 = make(PROTO_F32, 0, 0, 0);
    static const uint32_t nans[] = {0x7fc00000, 0xffc00001, 0x7f800001, 0xffffffff};
    for (size_t i = 0; i < BASE_COUNT(nans); i++) {
        assert_true(proto_quantise(&f32, &nans[i]) == 0x7fc00000);
        uint32_t memory = 0;
        proto_dequantise(&f32, nans[i], &memory);
        assert_int_equal(memory, 0x7fc00000);
    }
    proto_quant f64 = make(PROTO_F64, 0, 0, 0);
    uint64_t nan = UINT64_C(0xfff0000000000001);
    assert_true(proto_quantise(&f64, &nan) == UINT64_C(0x7ff8000000000000));
    assert_true(proto_quant_canonical(&f64, UINT64_C(0x7ff0000000000000)) ==
                UINT64_C(0x7ff0000000000000));
}

CASE(words_wider_than_an_exact_field_are_not_canonical) {
    for (int kind = PROTO_BOOL; kind < PROTO_KIND_COUNT; kind++) {
        proto_quant quant = make((proto_kind)kind, 0, 0, 0);
        if (quant.bits == 64) continue;
        uint64_t wide = UINT64_C(1) << quant.bits | 1;
        uint64_t canonical = proto_quant_canonical(&quant, wide);
        assert_true(canonical != wide);
        assert_true(canonical >> quant.bits == 0);
    }
}

CASE(declarations_out_of_range_are_refused) {
    proto_quant quant;
    const double infinity = 1.0 / 0.0;
    assert_false(proto_quant_make(&quant, PROTO_F32, 33, 0, 1));
    assert_false(proto_quant_make(&quant, PROTO_F32, 8, 0, 0));
    assert_false(proto_quant_make(&quant, PROTO_F32, 8, 0, -1));
    assert_false(proto_quant_make(&quant, PROTO_F32, 8, 0, infinity));
    assert_false(proto_quant_make(&quant, PROTO_F32, 8, infinity - infinity, 1));
    assert_false(proto_quant_make(&quant, PROTO_F32, 8, -infinity, 1));
    assert_false(proto_quant_make(&quant, PROTO_F64, 32, 1e308, 1e300));
    assert_false(proto_quant_make(&quant, PROTO_F32, 8, 1e39, 1e36));
    assert_false(proto_quant_make(&quant, PROTO_I32, 8, 0, 2));
    assert_false(proto_quant_make(&quant, PROTO_I32, 8, 0.5, 1));
    assert_false(proto_quant_make(&quant, PROTO_U32, 8, -1, 1));
    assert_false(proto_quant_make(&quant, PROTO_I8, 8, -129, 1));
    assert_false(proto_quant_make(&quant, PROTO_U8, 9, 0, 1));
    assert_false(proto_quant_make(&quant, PROTO_BOOL, 1, 0, 1));
    assert_false(proto_quant_make(&quant, PROTO_ENTITY, 8, 0, 1));
    assert_false(proto_quant_make(&quant, PROTO_KIND_COUNT, 0, 0, 0));
}

CASE(grids_finer_than_float_are_refused) {
    proto_quant quant;
    // Around 1000 floats lie 6e-5 apart.
    assert_false(proto_quant_make(&quant, PROTO_F32, 8, 1000, 1e-5));
    assert_true(proto_quant_make(&quant, PROTO_F64, 8, 1000, 1e-5));
    assert_true(proto_quant_make(&quant, PROTO_F32, 8, 1000, 1e-3));
    assert_false(proto_quant_make(&quant, PROTO_F32, 32, 0, 1));
    assert_true(proto_quant_make(&quant, PROTO_F32, 22, 0, 1));
}

// ecs_quantise gives a game what a client will have, so both must be the same function.
CASE(a_game_rounds_as_the_wire_does) {
    base_rng rng = base_rng_make(20261122, 7);
    for (uint32_t round = 0; round < 2000; round++) {
        ecs_quant own = {.bits = (uint8_t)(1 + base_rng_below(&rng, 14))};
        own.min = round % 3 ? (double)base_rng_float(&rng) * 200 - 100 : ECS_ANGLE_MIN;
        own.step = round % 3 ? 0.01 + (double)base_rng_float(&rng) : ECS_ANGLE_STEP(own.bits);
        proto_quant quant = make(PROTO_F32, own.bits, own.min, own.step);
        assert_int_equal(quant.is_angle, ecs_quant_is_angle(&own));
        for (uint32_t i = 0; i < 50; i++) {
            float value = (base_rng_float(&rng) - 0.5f) * (i % 10 ? 30.0f : 1e12f);
            if (i == 20) value = (float)own.min;
            if (i == 30) value = (float)(own.min + own.step * (double)quant.q_max);
            float there = dequantise_f32(&quant, quantise_f32(&quant, value));
            float here = ecs_quantise(&own, value);
            assert_memory_equal(&there, &here, sizeof here);
        }
    }
    const ecs_quant exact = {0};
    assert_true(ecs_quantise(&exact, 0.3f) == 0.3f);
}

CASE(an_angle_wraps) {
    enum { BITS = 10, WORDS = 1 << BITS };
    proto_quant quant = make(PROTO_F32, BITS, ECS_ANGLE_MIN, ECS_ANGLE_STEP(BITS));
    assert_true(quant.is_angle);
    assert_true(dequantise_f32(&quant, WORDS / 2) == 0.0f);
    for (int32_t i = -3 * WORDS; i <= 3 * WORDS; i++) {
        double value = ECS_ANGLE_MIN + ((double)i + 0.2) * quant.step;
        assert_int_equal(quantise_f32(&quant, (float)value), (uint32_t)i % WORDS);
    }
    // The end of the range is its beginning; just below, the nearest word is the first.
    assert_int_equal(quantise_f32(&quant, 3.14159265f), 0);
    assert_int_equal(quantise_f32(&quant, 3.1415f), 0);
    assert_int_equal(quantise_f32(&quant, (float)(-ECS_ANGLE_MIN - quant.step)), WORDS - 1);
    assert_int_equal(quantise_f32(&quant, 1e30f), 0);
    assert_int_equal(quantise_f32(&quant, (float)NAN), 0);
    assert_int_equal(quantise_f32(&quant, (float)-INFINITY), 0);
    // Another range, however near, is no angle.
    quant = make(PROTO_F32, BITS, -3.1415926, ECS_ANGLE_STEP(BITS));
    assert_false(quant.is_angle);
    assert_int_equal(quantise_f32(&quant, 4.0f), WORDS - 1);
    assert_false(make(PROTO_U16, BITS, 0, 1).is_angle);
}

CASE(kinds_have_their_sizes) {
    static const uint32_t bytes[PROTO_KIND_COUNT] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 4};
    for (uint32_t kind = 0; kind < PROTO_KIND_COUNT; kind++)
        assert_int_equal(proto_kind_bytes((proto_kind)kind), bytes[kind]);
    expect_assert_failure((void)proto_kind_bytes(PROTO_KIND_COUNT));
}
