// SPDX-License-Identifier: MIT
/// The prefix codes of rows (ROWS.md, "Tables"): likely symbols have short codes. The build makes
/// them from the page (row/tables.py).
///
/// Shape:   A code is one number: its length in the low 4 bits (1..12; 0: the symbol cannot occur),
///          and above them its bits, the first one on the wire lowest.
/// Threads: Tables may be read by several threads.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

/// Symbols of a number: 0, 1, -1, 2, -2, 3, -3; then sizes without their sign: 4..7, and two
/// symbols per octave up to 2^16; then PROTO_NUMBER_WHOLE and PROTO_NUMBER_OTHER.
#define PROTO_NUMBER_SYMBOLS 39u
#define PROTO_NUMBER_WHOLE 37u ///< the word follows in the field's bits
#define PROTO_NUMBER_OTHER 38u ///< rotations: another largest part than expected
/// Rows of a table of numbers: PROTO_NUMBER_SCALES rows by the expected size, two per octave, then
/// three rows for numbers without a scale.
#define PROTO_NUMBER_SCALES 28u
#define PROTO_NUMBER_WIDE 28u  ///< quantised floats without a scale
#define PROTO_NUMBER_INT 29u   ///< whole numbers
#define PROTO_NUMBER_FLOAT 30u ///< exact floats
/// Of number_plain, in place of the last two: elastic fields, steps without a scale, other floats.
#define PROTO_NUMBER_STEPS 29u
#define PROTO_NUMBER_ANY 30u
#define PROTO_NUMBER_ROWS 31u
#define PROTO_HEAD_ROWS 27u  ///< 1 or 2 components by their classes 0..5, rising: 6 + 21
#define PROTO_DRIVE_ROWS 34u ///< 1, 2 or 3 fields by their classes 0..3, rising: 4 + 10 + 20

typedef uint16_t proto_number_codes[PROTO_NUMBER_SYMBOLS];

/// Small differences, -PROTO_SMALL..PROTO_SMALL - 1, have their whole code in one number: its bits
/// in the low PROTO_SMALL_CODE_BITS, above them its length, above it the signed change of the
/// expected size.
#define PROTO_SMALL 128
#define PROTO_SMALL_CODE_BITS 20u
#define PROTO_SMALL_LENGTH_BITS 5u

/// A reader finds a number's symbol by the next PROTO_QUICK_BITS bits, if its code is no longer.
#define PROTO_QUICK_BITS 6u
#define PROTO_QUICK_ROWS (2u * PROTO_NUMBER_ROWS)

/// All tables. Those of heads leave the code 00000 free.
typedef struct proto_tables {
    proto_number_codes number_plain[PROTO_NUMBER_ROWS];
    proto_number_codes number_other[PROTO_NUMBER_ROWS]; ///< numbers that are not 0
    uint16_t head[PROTO_HEAD_ROWS][4];                  ///< 00000 is free
    uint16_t drive[PROTO_DRIVE_ROWS][9];                ///< 00000 is free
    uint16_t mask_first[4][16];                         ///< masks of 1..4 members; 00000 is free
    uint16_t mask_other[3][16];                         ///< masks of 2..4 members that are not 0
    uint16_t field[3][16];                              ///< which of 2..4 fields differ; not none
    /// Made from number_plain: the differences of scaled numbers.
    uint32_t small[PROTO_NUMBER_SCALES][2 * PROTO_SMALL];
    uint32_t small_bits_min; ///< a field with fewer bits may have shorter codes than `small` says
    /// Made from the two tables of numbers, row by row: symbol + 1; 0: a longer code, or none.
    uint8_t quick[PROTO_QUICK_ROWS][1u << PROTO_QUICK_BITS];
} proto_tables;

/// Get the tables that ROWS.md lists. They are constant and are never freed.
const proto_tables* proto_tables_builtin(void);

BASE_C_END
