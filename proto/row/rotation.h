// SPDX-License-Identifier: MIT
/// Private: unit quaternions as "smallest three" (WIRE.md, "Rotations").
///
/// Words {largest, a, b, c}: which of x, y, z, w is the largest in magnitude (0..3), and the other three in their
/// order, made positive-largest: value = (2 a - q_max) / q_max / sqrt(2). quantise(dequantise(q)) == q for every
/// canonical q; what proto_rotation_quantise gives is canonical.
#pragma once

#include "proto/layout.h"

/// Four floats at the fields' offsets. What is no rotation (NaN, zero) is the one that turns nothing.
void proto_rotation_quantise(const proto_row_field* fields, const void* memory, uint64_t* words);
void proto_rotation_dequantise(const proto_row_field* fields, const uint64_t* words, void* memory);
bool proto_rotation_is_canonical(uint64_t q_max, const uint64_t* words);

/// Where a rotation is expected: x, y, z, w in integers, of any length.
typedef struct proto_rotation_guess {
    int64_t parts[4];
    int64_t length;
    uint32_t largest; ///< of the row, most likely
    uint32_t motion;  ///< between the two bases, summed over the parts, in steps
} proto_rotation_guess;

/// `base2` may be NULL; `ticks` 0: as base.
proto_rotation_guess proto_rotation_expect(uint64_t q_max, const uint64_t* base,
                                           const uint64_t* base2, uint32_t ticks, uint32_t ticks2);
/// The length 1 in the parts of a guess.
int64_t proto_rotation_unit(uint64_t q_max);
/// The three words after `largest`, when that is the largest.
void proto_rotation_words(const proto_rotation_guess* guess, uint64_t q_max, int64_t unit,
                          uint32_t largest, uint64_t* three);
