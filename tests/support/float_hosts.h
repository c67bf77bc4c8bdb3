// SPDX-License-Identifier: MIT
/// What hosts leave in the register of a thread that computes with floats.
#pragma once

#include "base/float_mode.h"

static const base_float_mode float_hosts[] = {
    BASE_FLOAT_MODE_STANDARD,
#if defined(__x86_64__)
    BASE_FLOAT_MODE_STANDARD | 0x8040, // denormal numbers are zero
    BASE_FLOAT_MODE_STANDARD | 0x6000, // rounds to zero
    BASE_FLOAT_MODE_STANDARD | 0xc040, // rounds up, and denormal numbers are zero
#elif defined(__aarch64__)
    UINT64_C(1) << 24,
    UINT64_C(3) << 22,
    UINT64_C(5) << 22,
#endif
};

/// Has this thread the mode of its host? Have the standard mode from here on, as tests have.
static inline bool float_hosts_end(base_float_mode host) {
    return !((base_float_mode_set() ^ host) & BASE_FLOAT_MODE_BITS);
}
