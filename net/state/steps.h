// SPDX-License-Identifier: MIT
/// Steps of an angle: what a client shows between two rows, and what lag compensation rewinds to.
#pragma once

#include "proto/layout.h"

#include "ecs/type.h"

#include "base/math.h"

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

/// @return the number of a quantised float.
static inline double net_quant_number(const proto_quant* quant, uint64_t word) {
    double value = 0;
    float single;
    proto_dequantise(quant, word, quant->kind == PROTO_F32 ? (void*)&single : (void*)&value);
    return quant->kind == PROTO_F32 ? (double)single : value;
}

/// One step of a rotation: what a client shows between two rows, and what lag compensation rewinds
/// to.

/// Turn `parts` by `factor` of the way from `from` to `to`: a straight line in four dimensions, the
/// short way, brought back to length 1. Near enough to a turn between two rows.
static inline void net_rotation_step(float parts[PROTO_ROTATION_WORDS],
                                     const float from[PROTO_ROTATION_WORDS],
                                     const float to[PROTO_ROTATION_WORDS], float factor) {
    float from_dot = 0, to_dot = 0, square = 0;
    for (uint32_t i = 0; i < PROTO_ROTATION_WORDS; i++) {
        from_dot += parts[i] * from[i];
        to_dot += parts[i] * to[i];
    }
    // A rotation and its negative are the same rotation: take the one on the side of `parts`.
    for (uint32_t i = 0; i < PROTO_ROTATION_WORDS; i++) {
        float start = from_dot < 0 ? -from[i] : from[i];
        float end = to_dot < 0 ? -to[i] : to[i];
        parts[i] += (end - start) * factor;
        square += parts[i] * parts[i];
    }
    for (uint32_t i = 0; square > 0 && i < PROTO_ROTATION_WORDS; i++)
        parts[i] /= base_sqrt(square);
}
