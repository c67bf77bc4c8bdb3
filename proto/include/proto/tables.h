// SPDX-License-Identifier: MIT
/// The prefix codes of rows (WIRE.md, "Row code"): what is likely is short. Rows of different tables do not understand
/// each other, so tables that are not the built-in ones are a part of the schema.
///
/// A code is packed: its length in the low 4 bits (1..12; 0: the symbol cannot occur), above them its bits, the first
/// one lowest.
#pragma once

#include "base/macros.h"

/// 0, 1, -1, 2, -2, 3, -3; then without the sign 4..7, and two per octave up to 2^16; then PROTO_NUMBER_WHOLE and
/// PROTO_NUMBER_OTHER.
#define PROTO_NUMBER_SYMBOLS 39u
#define PROTO_NUMBER_WHOLE 37u ///< the field's bits follow
#define PROTO_NUMBER_OTHER 38u ///< of a rotation: another largest component than foreseen
/// Tables of numbers: PROTO_NUMBER_SCALES by the expected size, two per octave, then three for what is not foreseen.
#define PROTO_NUMBER_SCALES 28u
#define PROTO_NUMBER_WIDE 28u  ///< rounded numbers without a history
#define PROTO_NUMBER_INT 29u   ///< whole numbers
#define PROTO_NUMBER_FLOAT 30u ///< floats that are sent as they are
#define PROTO_NUMBER_ROWS 31u
#define PROTO_HEAD_ROWS 83u  ///< 1, 2 or 3 components by their classes 0..5, rising: 6 + 21 + 56
#define PROTO_DRIVE_ROWS 34u ///< 1, 2 or 3 fields by their classes 0..3, rising: 4 + 10 + 20

#define PROTO_LEAD_SCALES 12u
#define PROTO_LEAD_ROWS 84u ///< nobody beside, or one of class 0..5; each by the scale

typedef uint16_t proto_number_codes[PROTO_NUMBER_SYMBOLS];

typedef struct proto_tables {
    proto_number_codes number_plain[PROTO_NUMBER_ROWS];
    proto_number_codes
        number_first[PROTO_NUMBER_ROWS]; ///< leaves 00000 free: first symbol of a row
    proto_number_codes number_other[PROTO_NUMBER_ROWS]; ///< of numbers that are not 0
    uint16_t head[PROTO_HEAD_ROWS][8];                  ///< leaves 00000 free
    uint16_t head_rest[PROTO_HEAD_ROWS][8];  ///< the same where nothing moved: hardly none
    uint16_t lead[PROTO_LEAD_ROWS][10];      ///< leaves 00000 free
    uint16_t lead_rest[PROTO_LEAD_ROWS][10]; ///< the same where nothing moved
    uint16_t drive_plain[PROTO_DRIVE_ROWS][9];
    uint16_t drive_first[PROTO_DRIVE_ROWS][9]; ///< leaves 00000 free
    uint16_t mask_first[4][16];                ///< of 1..4 members; leaves 00000 free
    uint16_t mask_other[3][16];                ///< of 2..4 members, not all 0
    uint16_t field[3][16];                     ///< which of 2..4 fields differ, not none
    uint8_t expected[PROTO_NUMBER_SCALES];     ///< mean of 4 * log(2n + 1) in half octaves
} proto_tables;

/// The tables that WIRE.md lists.
const proto_tables* proto_tables_builtin(void);

/// Bytes of a whole set of lengths in the order of the members above; `expected` follows them as it is.
#define PROTO_TABLES_LENGTHS                                                                       \
    (3u * PROTO_NUMBER_ROWS * PROTO_NUMBER_SYMBOLS + 2u * PROTO_HEAD_ROWS * 8u +                   \
     2u * PROTO_LEAD_ROWS * 10u + 2u * PROTO_DRIVE_ROWS * 9u + 4u * 16u + 3u * 16u + 3u * 16u +    \
     PROTO_NUMBER_SCALES)
/// Make tables from lengths, for example trained ones. @return false when they are no prefix codes (a length above
/// 12, more codes than there is room, 00000 not left free, a symbol that can occur without a code).
BASE_MUST_USE bool proto_tables_make(const uint8_t lengths[PROTO_TABLES_LENGTHS],
                                     proto_tables* tables);
/// A hash over all codes: an item of the schema when the tables are not the built-in ones.
uint64_t proto_tables_hash(const proto_tables* tables);
