// SPDX-License-Identifier: MIT
/// Numbers of a snapshot that are in no row, as a code with statistics names them (SOLO.md).
#pragma once

#include "base/macros.h"

#include <stdint.h>

BASE_C_BEGIN

/// Fields. Those of rows are below 512.
enum {
    PROTO_NUMBER_COUNT = 512,
    PROTO_NUMBER_GAP,
    PROTO_NUMBER_ABSENT,
    PROTO_NUMBER_CREATE,
    PROTO_NUMBER_RUN,
};

/// The situation that two features of 5 bits make.
static inline uint64_t proto_number_situation(uint32_t first, uint32_t second) {
    return (uint64_t)(first & 31) | (uint64_t)(second & 31) << 5;
}

BASE_C_END
