// SPDX-License-Identifier: MIT
/// Steps of an angle: what a client shows between two rows, and what lag compensation rewinds to.
#pragma once

#include "ecs/type.h"

/// @return the step from one value to another; of angles the short way.
static inline double net_angle_step(bool is_angle, double from, double to) {
    double step = to - from;
    if (!is_angle) return step;
    if (step > -ECS_ANGLE_MIN) return step + 2 * ECS_ANGLE_MIN;
    return step < ECS_ANGLE_MIN ? step - 2 * ECS_ANGLE_MIN : step;
}

/// @return an angle that is at most a turn outside of [-pi, pi), within it; other values as they
///         are.
static inline double net_angle_within(bool is_angle, double value) {
    if (!is_angle) return value;
    if (value >= -ECS_ANGLE_MIN) return value + 2 * ECS_ANGLE_MIN;
    return value < ECS_ANGLE_MIN ? value - 2 * ECS_ANGLE_MIN : value;
}
