// SPDX-License-Identifier: MIT
// Angles between two ticks: the short way, within a turn.

#include "test.h"

#include "base/math.h"
#include "game/rewind.h"
#include "state/steps.h"

static bool is_near(double a, double b) {
    return a - b < 1e-9 && b - a < 1e-9;
}

CASE(a_step_of_an_angle_is_the_short_way) {
    const double turn = -2 * ECS_ANGLE_MIN;
    assert_true(is_near(net_angle_step(true, 3.0, -3.0), turn - 6));
    assert_true(is_near(net_angle_step(true, -3.0, 3.0), 6 - turn));
    assert_true(net_angle_step(true, 0.5, -0.5) == -1);
    assert_true(net_angle_step(false, 3.0, -3.0) == -6);
    for (int32_t i = -31; i <= 31; i++) {
        for (int32_t k = -31; k <= 31; k++) {
            double from = i * 0.1, to = k * 0.1;
            double step = net_angle_step(true, from, to);
            assert_true(step >= ECS_ANGLE_MIN && step <= -ECS_ANGLE_MIN);
            double end = net_angle_within(true, from + step);
            assert_true(end >= ECS_ANGLE_MIN && end < -ECS_ANGLE_MIN);
            assert_true(is_near(end, to));
        }
    }
    assert_true(net_angle_within(false, 7.0) == 7);
}

// What lag compensation answers between two ticks.
CASE(the_past_of_an_angle_goes_the_short_way) {
    static proto_layout layout = {.field_count = 1, .component_count = 1};
    layout.components[0] = (proto_row_component){.field_count = 1};
    assert_true(proto_quant_make(&layout.fields[0].quant, PROTO_F32, 16, ECS_ANGLE_MIN,
                                 ECS_ANGLE_STEP(16)));
    const net_rewind_component turn = {.layout = &layout, .component = 0, .teleport = 0.5f};
    const float from = 3.1f, to = -3.1f; // 0.083 apart, so no jump
    float value = 0;
    net_rewind_value(&turn, (const uint8_t*)&from, (const uint8_t*)&to, 0.25f, (uint8_t*)&value);
    assert_float_equal(value, 3.1f + 0.25f * (2.0f * BASE_PI - 6.2f), 1e-3f);
    net_rewind_value(&turn, (const uint8_t*)&from, (const uint8_t*)&to, 0.75f, (uint8_t*)&value);
    assert_float_equal(value, -3.1f - 0.25f * (2.0f * BASE_PI - 6.2f), 1e-3f);
    const float far = 1.0f; // a jump: the older value holds
    net_rewind_value(&turn, (const uint8_t*)&from, (const uint8_t*)&far, 0.75f, (uint8_t*)&value);
    assert_float_equal(value, 3.1f, 1e-3f);
}
