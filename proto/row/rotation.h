// SPDX-License-Identifier: MIT
/// Private: unit quaternions as "smallest three" (WIRE.md, "Rotations").
///
/// A rotation has the words {largest, a, b, c}. `largest` is which of x, y, z, w is the largest in
/// magnitude (0..3). a, b, c are the other three in their order, with the sign that makes the
/// largest positive: value = (2 a - q_max) / q_max / sqrt(2). q_max is even, 14..32766.
///
/// Invariants: quantise(dequantise(q)) == q for every canonical q; proto_rotation_quantise gives
/// canonical words.
#pragma once

#include "proto/layout.h"

/// Get the four words of the four floats at the fields' offsets in `memory`. A quaternion that is
/// no rotation (NaN, zero) becomes the identity.
void proto_rotation_quantise(const proto_row_field* fields, const void* memory, uint64_t* words);
/// Write the four floats of the words to `memory`. Any words give defined floats.
void proto_rotation_dequantise(const proto_row_field* fields, const uint64_t* words, void* memory);
/// Check that words of any origin stand for a quaternion of length 1.
bool proto_rotation_is_canonical(uint64_t q_max, const uint64_t* words);

/// An expected rotation: x, y, z, w as integers.
typedef struct proto_rotation_guess {
    int64_t parts[4];
    int64_t length;   ///< of the four parts as a vector; any length is possible
    uint32_t largest; ///< the part that is expected to be the largest
    uint32_t motion;  ///< between the two bases, summed over the parts, in steps
} proto_rotation_guess;

/// Extrapolate the bases by `ticks` ticks. `base2` is `ticks2` ticks older than `base`; NULL: the
/// guess is `base` itself. `ticks` 0 also gives `base`.
proto_rotation_guess proto_rotation_expect(uint64_t q_max, const uint64_t* base,
                                           const uint64_t* base2, uint32_t ticks, uint32_t ticks2);
/// Get the unit of the parts of a guess: the length of a quaternion with the words' resolution.
int64_t proto_rotation_unit(uint64_t q_max);
/// Get the four parts of words, in units of which proto_rotation_unit makes a length of 1.
void proto_rotation_parts(uint64_t q_max, const uint64_t* words, int64_t* parts);
/// Get the three expected words that follow `largest`, if `largest` is the row's largest part.
/// `unit` is proto_rotation_unit(q_max).
void proto_rotation_words(const proto_rotation_guess* guess, uint64_t q_max, int64_t unit,
                          uint32_t largest, uint64_t* three);
