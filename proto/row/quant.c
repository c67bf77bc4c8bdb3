// SPDX-License-Identifier: MIT
// Quantisation. The grid is min + q * step, computed in double and stored in the field's type.
//
// Invariant: a quantised value survives the way through the world's memory, quantise(dequantise(q))
// == q. This cannot hold where float storage is coarser than half a step at the far end of the
// range. Such a declaration is refused; otherwise the value would drift by one step later. The
// margin: storing rounds by at most M * 2^-24 (float) or M * 2^-53 (double), with M the largest
// magnitude in the range. The arithmetic here adds a few M * 2^-53. Together they must stay below
// half a step.
//
// Whole numbers have no such limit. But a range of 2^bits may end beyond the kind (1..255 takes 8
// bits). q_max is where the kind ends. A larger q, which only untrusted input has, means q_max.
//
// A float's range that is exactly [-pi, pi) is an angle: its end is its beginning, so a value
// outside wraps and is not clamped.
//
// Exact fields keep their bits. All NaNs become the same NaN, so that equal worlds have equal rows.
// -0 stays -0.
#include "proto/quant.h"
#include "row/row_coder.h"

#include "base/assert.h"
#include "base/math.h"

#include <float.h>
#include <string.h>

enum { QUANT_BITS_MAX = 32 };
#define PI 3.14159265358979323846
#define NAN_F32 UINT64_C(0x7fc00000)
#define NAN_F64 UINT64_C(0x7ff8000000000000)
#define DOUBLE_WHOLE_MAX 9007199254740992.0 // 2^53: whole numbers are exact up to here

static const uint8_t kind_bytes[PROTO_KIND_COUNT] = {
    [PROTO_BOOL] = 1, [PROTO_I8] = 1,  [PROTO_I16] = 2, [PROTO_I32] = 4,
    [PROTO_I64] = 8,  [PROTO_U8] = 1,  [PROTO_U16] = 2, [PROTO_U32] = 4,
    [PROTO_U64] = 8,  [PROTO_F32] = 4, [PROTO_F64] = 8, [PROTO_ENTITY] = 4,
};

uint32_t proto_kind_bytes(proto_kind kind) {
    BASE_ASSERT((uint32_t)kind < PROTO_KIND_COUNT);
    return kind_bytes[kind];
}

static bool is_float(proto_kind kind) {
    return kind == PROTO_F32 || kind == PROTO_F64;
}

static bool is_signed(proto_kind kind) {
    return kind >= PROTO_I8 && kind <= PROTO_I64;
}

static bool is_finite(double value) {
    return value - value == 0;
}

static bool float_grid_is_stable(proto_kind kind, double min, double max, double step) {
    double largest =
        __builtin_fabs(min) > __builtin_fabs(max) ? __builtin_fabs(min) : __builtin_fabs(max);
    if (!is_finite(largest)) return false;
    if (kind == PROTO_F32) {
        if (largest > FLT_MAX || step < FLT_MIN) return false;
        return largest * 0x1p-24 <= step * 0.49;
    }
    if (step < DBL_MIN) return false;
    return largest * 0x1p-50 <= step * 0.49;
}

// The largest value of a whole-number kind.
static uint64_t kind_max(proto_kind kind) {
    uint32_t width = kind_bytes[kind] * 8u;
    return UINT64_MAX >> (64 - (is_signed(kind) ? width - 1 : width));
}

static bool whole_min_fits(proto_kind kind, double min) {
    if (__builtin_fabs(min) > DOUBLE_WHOLE_MAX || (double)base_round_i64(min) != min) return false;
    double high = (double)kind_max(kind);
    return min <= high && min >= (is_signed(kind) ? -high - 1 : 0);
}

bool proto_quant_make(proto_quant* quant, proto_kind kind, uint32_t bits, double min, double step) {
    if ((uint32_t)kind >= PROTO_KIND_COUNT || bits > QUANT_BITS_MAX) return false;
    if (bits == 0) {
        uint32_t width = kind == PROTO_BOOL ? 1 : kind_bytes[kind] * 8u;
        *quant = (proto_quant){.kind = kind, .bits = (uint8_t)width, .is_exact = true};
        quant->q_max = UINT64_MAX >> (64 - width);
        return true;
    }
    if (kind == PROTO_BOOL || kind == PROTO_ENTITY || bits > kind_bytes[kind] * 8u) return false;
    if (!is_finite(min) || !is_finite(step) || step <= 0) return false;
    uint64_t q_max = (UINT64_C(1) << bits) - 1;
    if (is_float(kind)) {
        if (!float_grid_is_stable(kind, min, min + (double)q_max * step, step)) return false;
    } else {
        if (step != 1 || !whole_min_fits(kind, min)) return false;
        uint64_t room = kind_max(kind) - (uint64_t)(int64_t)min;
        if (room < q_max) q_max = room;
    }
    BASE_ASSERT(q_max > 0 || !is_float(kind));
    *quant = (proto_quant){
        .kind = kind, .bits = (uint8_t)bits, .min = min, .step = step, .q_max = q_max};
    quant->is_angle = is_float(kind) && min == -PI && step == 2 * PI / (double)(q_max + 1);
    return true;
}

uint64_t proto_quant_wrap(const proto_quant* quant, double q) {
    BASE_ASSERT(quant->is_angle);
    const int64_t words = (int64_t)quant->q_max + 1;
    if (!(q > -0x1p60 && q < 0x1p60)) return 0;
    q -= (double)(base_round_i64(q) / words * words);
    if (q < 0) q += (double)words;
    int64_t whole = (int64_t)q;
    whole += q - (double)whole >= 0.5;
    return whole >= words ? 0 : (uint64_t)whole;
}

uint64_t proto_quant_canonical(const proto_quant* quant, uint64_t q) {
    if (q >= quant->q_max) q = quant->q_max;
    if (!quant->is_exact) return q;
    if (quant->kind == PROTO_F32 && (q & 0x7fffffff) > 0x7f800000) return NAN_F32;
    if (quant->kind == PROTO_F64 && (q & INT64_MAX) > UINT64_C(0x7ff0000000000000)) return NAN_F64;
    return q;
}

static uint64_t quantise_float(const proto_quant* quant, uint64_t raw) {
    double value;
    if (quant->kind == PROTO_F32) {
        float narrow;
        memcpy(&narrow, &(uint32_t){(uint32_t)raw}, sizeof narrow);
        value = (double)narrow;
    } else {
        memcpy(&value, &raw, sizeof value);
    }
    return proto_quantise_double(quant, value);
}

// Whole numbers are never converted to double: 64-bit fields would lose their low bits.
static uint64_t quantise_whole(const proto_quant* quant, uint64_t raw) {
    int64_t min = (int64_t)quant->min;
    uint64_t q;
    if (is_signed(quant->kind)) {
        int64_t value = row_difference(raw, 0, kind_bytes[quant->kind] * 8u);
        if (value <= min) return 0;
        q = (uint64_t)value - (uint64_t)min;
    } else {
        if (raw <= (uint64_t)min) return 0;
        q = raw - (uint64_t)min;
    }
    return proto_quant_canonical(quant, q);
}

uint64_t proto_quantise(const proto_quant* quant, const void* value) {
    uint64_t raw = 0;
    memcpy(&raw, value, kind_bytes[quant->kind]);
    if (quant->kind == PROTO_BOOL) return raw != 0;
    if (quant->is_exact) return proto_quant_canonical(quant, raw);
    return is_float(quant->kind) ? quantise_float(quant, raw) : quantise_whole(quant, raw);
}

void proto_dequantise(const proto_quant* quant, uint64_t q, void* value) {
    BASE_ASSERT(quant->bits == 64 || q >> quant->bits == 0);
    if (quant->kind == PROTO_F32 && !quant->is_exact) {
        if (q > quant->q_max) q = quant->q_max;
        float narrow = (float)(quant->min + (double)q * quant->step);
        memcpy(value, &narrow, sizeof narrow);
        return;
    }
    q = proto_quant_canonical(quant, q);
    if (quant->kind == PROTO_F64 && !quant->is_exact) {
        double wide = quant->min + (double)q * quant->step;
        memcpy(value, &wide, sizeof wide);
        return;
    }
    if (!quant->is_exact) q += (uint64_t)(int64_t)quant->min;
    memcpy(value, &q, kind_bytes[quant->kind]);
}
