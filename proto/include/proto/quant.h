// SPDX-License-Identifier: MIT
/// Rounding of field values for the wire. quantise(dequantise(q)) == q for every canonical q.
#pragma once

#include "base/macros.h"

/// Field kinds by number: the same numbers as ecs_field_kind (net asserts it), so that proto knows no
/// world.
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

typedef struct proto_quant {
    proto_kind kind;
    uint8_t bits;   ///< on the wire, 1..64
    bool is_exact;  ///< the value's own bits
    uint64_t q_max; ///< no value of the kind gives a larger q
    double min;     ///< value = min + q * step
    double step;
} proto_quant;

/// Fill from a declaration: bits 0 means exact. @return false when it is out of range: bits > 32; step
/// <= 0; min or step not finite; bool or entity with bits > 0; a whole-number kind with step != 1, a min
/// that is not whole or no value of the kind; a float kind whose storage is coarser than half
/// a step somewhere in the range (ask for fewer bits or a larger step).
BASE_MUST_USE bool proto_quant_make(proto_quant* quant, proto_kind kind, uint32_t bits, double min,
                                    double step);
/// From the field's memory (size by kind) to q. Clamps; NaN becomes min. Exact floats: NaN canonical.
uint64_t proto_quantise(const proto_quant* quant, const void* value);
/// From q to the field's memory. Any q that fits the bits gives a defined value.
void proto_dequantise(const proto_quant* quant, uint64_t q, void* value);
/// The q that stands for these bits: an exact float's NaNs are all one, q above q_max is q_max.
uint64_t proto_quant_canonical(const proto_quant* quant, uint64_t q);
uint32_t proto_kind_bytes(proto_kind kind);
