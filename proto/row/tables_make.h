// SPDX-License-Identifier: MIT
/// Codes of rows from their lengths. The build uses it (tables_main.c), the library does not.
#pragma once

#include "proto/tables.h"

/// Bytes of a whole set of lengths: one per symbol in the order of the members of proto_tables,
/// then `expected`.
#define PROTO_TABLES_LENGTHS                                                                       \
    (3u * PROTO_NUMBER_ROWS * PROTO_NUMBER_SYMBOLS + 2u * PROTO_HEAD_ROWS * 8u +                   \
     2u * PROTO_LEAD_ROWS * 10u + 2u * PROTO_DRIVE_ROWS * 9u + 4u * 16u + 3u * 16u + 3u * 16u +    \
     PROTO_NUMBER_SCALES)
/// Make tables from lengths.
/// @return true; false when the lengths give no prefix codes: a length above 12, more codes than
///         there is room for, 00000 not free where it must be, or a symbol without a code that can
///         occur. `tables` is not usable then.
BASE_MUST_USE bool proto_tables_make(const uint8_t lengths[PROTO_TABLES_LENGTHS],
                                     proto_tables* tables);
