// SPDX-License-Identifier: MIT
/// Quantisation: field values as words of few bits (WIRE.md, "Quantisation").
///
/// Invariant: quantise(dequantise(q)) == q for every canonical q.
/// Memory:    Allocates nothing. Threads: any.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

/// Kinds of fields. The numbers are those of ecs_field_kind (net asserts it), so that proto does
/// not need to know ecs.
typedef enum proto_kind {
    PROTO_BOOL,
    PROTO_I8,
    PROTO_I16,
    PROTO_I32,
    PROTO_I64,
    PROTO_U8,
    PROTO_U16,
    PROTO_U32,
    PROTO_U64,
    PROTO_F32,
    PROTO_F64,
    PROTO_ENTITY,
    PROTO_KIND_COUNT
} proto_kind;

/// How the values of one field become words.
typedef struct proto_quant {
    proto_kind kind;
    uint8_t bits;  ///< of a word, 1..64
    bool is_exact; ///< a word is the value's own bits
    /// It is exact, and the row code chooses for each value how many bits it takes (ROWS.md,
    /// "Elastic fields"). Set by the caller after proto_quant_make.
    bool is_elastic;
    bool is_angle;  ///< the range is a whole turn: a value outside of it wraps
    uint64_t q_max; ///< the largest canonical word
    double min;     ///< value = min + q * step
    double step;
} proto_quant;

/// Fill `quant` from a declaration. `bits` 0 means exact; `min` and `step` have no meaning then.
/// @return true; false when the declaration is refused: bits > 32; step <= 0; min or step not
///         finite; bool or entity with bits > 0; a whole-number kind with step != 1, with a min
///         that is not whole or with a min that is no value of the kind; a float kind whose memory
///         is coarser than half a step somewhere in the range (use fewer bits or a larger step).
BASE_MUST_USE bool proto_quant_make(proto_quant* quant, proto_kind kind, uint32_t bits, double min,
                                    double step);
/// Get the word of a value. `value` has proto_kind_bytes bytes and needs no alignment. Values
/// outside of the range are clamped, NaN gives min; exact fields have one canonical NaN.
uint64_t proto_quantise(const proto_quant* quant, const void* value);
/// The word of a number of steps from the smallest value of an angle.
uint64_t proto_quant_wrap(const proto_quant* quant, double q);
/// The word of a value on the grid, for a quant that is not exact. It rounds half away from zero,
/// within the grid. A number below the grid gives 0 in any case (unless it is an angle), so only
/// positive numbers are rounded, by their exact fraction. NaN gives 0.
static inline uint64_t proto_quantise_double(const proto_quant* quant, double value) {
    double q = (value - quant->min) / quant->step;
    if (!(q > 0)) return quant->is_angle ? proto_quant_wrap(quant, q) : 0;
    if (q >= (double)(int64_t)quant->q_max) // at most 32 bits
        return quant->is_angle ? proto_quant_wrap(quant, q) : quant->q_max;
    int64_t whole = (int64_t)q;
    return (uint64_t)whole + (q - (double)whole >= 0.5);
}
/// Write the value of word `q` to `value`. Every q that fits the bits gives a defined value.
void proto_dequantise(const proto_quant* quant, uint64_t q, void* value);
/// Get the canonical word for `q`: words above q_max become q_max, every NaN of an exact float
/// becomes the canonical NaN.
uint64_t proto_quant_canonical(const proto_quant* quant, uint64_t q);
/// Get the size of a value in memory, in bytes.
uint32_t proto_kind_bytes(proto_kind kind);

BASE_C_END
