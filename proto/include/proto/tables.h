// SPDX-License-Identifier: MIT
/// The prefix codes of rows (WIRE.md, "Tables"): likely symbols have short codes. The build makes
/// them from the page (row/tables_main.c).
///
/// Shape:   A code is one number: its length in the low 4 bits (1..12; 0: the symbol cannot occur),
///          and above them its bits, the first one on the wire lowest.
/// Threads: Tables may be read by several threads.
#pragma once

#include "base/macros.h"

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
#define PROTO_NUMBER_ROWS 31u
#define PROTO_HEAD_ROWS 83u  ///< 1, 2 or 3 components by their classes 0..5, rising: 6 + 21 + 56
#define PROTO_DRIVE_ROWS 34u ///< 1, 2 or 3 fields by their classes 0..3, rising: 4 + 10 + 20

#define PROTO_LEAD_SCALES 12u
#define PROTO_LEAD_ROWS 84u ///< no warm component, or a first one of class 0..5; each by scale

typedef uint16_t proto_number_codes[PROTO_NUMBER_SYMBOLS];

/// Small differences, -PROTO_SMALL..PROTO_SMALL - 1, have their whole code in one number: its bits
/// in the low PROTO_SMALL_CODE_BITS, above them its length, above it the signed change of the
/// expected size.
#define PROTO_SMALL 128
#define PROTO_SMALL_CODE_BITS 20u
#define PROTO_SMALL_LENGTH_BITS 5u

/// All tables. Tables that may code the first symbol of a row leave the code 00000 free.
typedef struct proto_tables {
    proto_number_codes number_plain[PROTO_NUMBER_ROWS];
    proto_number_codes number_first[PROTO_NUMBER_ROWS]; ///< first symbol of a row; 00000 is free
    proto_number_codes number_other[PROTO_NUMBER_ROWS]; ///< numbers that are not 0
    uint16_t head[PROTO_HEAD_ROWS][8];                  ///< 00000 is free
    uint16_t head_rest[PROTO_HEAD_ROWS][8];             ///< for rows where nothing moved
    uint16_t lead[PROTO_LEAD_ROWS][10];                 ///< 00000 is free
    uint16_t lead_rest[PROTO_LEAD_ROWS][10];            ///< for rows where nothing moved
    uint16_t drive_plain[PROTO_DRIVE_ROWS][9];
    uint16_t drive_first[PROTO_DRIVE_ROWS][9]; ///< first symbol of a row; 00000 is free
    uint16_t mask_first[4][16];                ///< masks of 1..4 members; 00000 is free
    uint16_t mask_other[3][16];                ///< masks of 2..4 members that are not 0
    uint16_t field[3][16];                     ///< which of 2..4 fields differ; not none
    uint8_t expected[PROTO_NUMBER_SCALES];     ///< mean of 4 * log(2n + 1) in half octaves
    /// Made from number_plain and `expected`: the differences of scaled numbers.
    uint32_t small[PROTO_NUMBER_SCALES][2 * PROTO_SMALL];
    uint32_t small_bits_min; ///< a field with fewer bits may have shorter codes than `small` says
} proto_tables;

/// Get the tables that WIRE.md lists. They are constant and are never freed.
const proto_tables* proto_tables_builtin(void);
