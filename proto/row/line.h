// SPDX-License-Identifier: MIT
/// Private: how far the straight line through two rows goes on (WIRE.md, "Expected words"), without
/// a division for each word.
///
/// A way is pace * ticks / ticks2, rounded to the nearest whole number, up when two are as near.
/// Doubles give the same on every machine: what is no whole number is 1/510 away from one or more,
/// and the error of a double of this size is far less.
#pragma once

#include "row/row_coder.h"

/// The way of a pace of 32 bits; the times are usual.
static inline int64_t row_line_way(const proto_row_times* times, int32_t pace) {
    // The sum is positive, so the conversion rounds down.
    const double above = 137438953472.0 /* 2^37 */, half = 0.5 + 1.0 / 1024;
    return (int64_t)((double)pace * times->factor + (above + half)) - (int64_t)above;
}

/// The scale of a component that moved by `motion` > 0 steps, as row_line_scale.
static inline uint32_t row_line_scale_of(const proto_row_times* times, uint32_t motion) {
    uint32_t pace = motion;
    if (times->ticks2 > 1) {
        int64_t most = (int64_t)motion + times->ticks2 - 1;
        pace = (uint32_t)(int64_t)((double)most * times->inverse + 1.0 / 1024);
    }
    uint32_t scale = times->log + ((row_log(pace) + 1) * times->speed_share >> 16);
    return scale < PROTO_NUMBER_SCALES ? scale : PROTO_NUMBER_SCALES - 1;
}
