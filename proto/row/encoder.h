// SPDX-License-Identifier: MIT
/// Private: the encoder of packed rows, shared by encoder.c and encoder_plain.c.
///
/// It writes what the coder of row_coder.h writes, by the plan of the layout (layout.c), and
/// it cannot read. A test compares both, bit for bit.
#pragma once

#include "row/row_coder.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/// Codes of a field that differs: a row of number_other, or one of these.
enum { ENCODER_SCALED = 0x80, ENCODER_BIT, ENCODER_ENTITY, ENCODER_ELASTIC };

typedef struct row_encoder {
    const proto_layout* layout;
    const proto_tables* tables;
    const uint32_t *row, *base;
    const uint32_t* base2; ///< `base` when there is no second row
    uint32_t ticks, ticks2;
    bool has_base2;
    bool is_certain;   ///< a component is live or driven
    bool is_exception; ///< a quiet component is coded
    uint8_t warm_count;
    uint16_t warm[ROW_WARM_MAX]; ///< class * 256 + component, rising
    int32_t surprise;
    uint64_t differ; ///< a bit per word that differs from the base
    uint64_t moved;  ///< a bit per word that differs between the bases
    uint64_t coded;  ///< a bit per component by its place in the order
    uint64_t cooled; ///< a bit per component: it would be warm, but others are warmer
    uint64_t bits;   ///< not stored yet
    uint32_t fill;
    uint8_t* at; ///< where they go
    /// Words less expected words; of elastic components that move, expected words.
    int32_t off[PROTO_ROW_PLANNED_MAX];
    row_plan plans[PROTO_ROW_COMPONENTS_MAX]; ///< of linear components and rotations
} row_encoder;

/// Write the low `count` bits, at most 32, of `value`, which has no others.
static inline void encoder_put(row_encoder* e, uint64_t value, uint32_t count) {
    e->bits |= value << e->fill;
    uint32_t end = e->fill + count;
    if (end >= 64) {
        base_store_le64(e->at, e->bits);
        e->at += 8;
        end -= 64;
        e->bits = value >> (count - end);
    }
    e->fill = end;
}

static inline void encoder_code(row_encoder* e, uint32_t code) {
    encoder_put(e, code >> 4, code & 15);
}

/// Write the code of an element of proto_tables.small.
static inline void encoder_small(row_encoder* e, uint32_t small) {
    encoder_put(e, small & ((1u << PROTO_SMALL_CODE_BITS) - 1),
                small >> PROTO_SMALL_CODE_BITS & ((1u << PROTO_SMALL_LENGTH_BITS) - 1));
}

/// a - b of two words of 32 - `shift` bits, as a signed number of as many.
static inline int32_t encoder_difference(uint32_t a, uint32_t b, uint32_t shift) {
    return (int32_t)((a - b) << shift) >> shift;
}

static inline const proto_layout_word* encoder_word(const row_encoder* e, uint32_t f) {
    return &e->layout->plan.words[f];
}

/// A bit per word in which two rows differ; `count` is even.
static inline uint64_t encoder_differing(const uint32_t* a, const uint32_t* b, uint32_t count) {
    uint64_t mask = 0;
    uint32_t i = 0;
#ifdef __SSE2__
    for (; i + 4 <= count; i += 4) {
        __m128i same = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i*)(const void*)(a + i)),
                                       _mm_loadu_si128((const __m128i*)(const void*)(b + i)));
        mask |= (uint64_t)(uint32_t)(_mm_movemask_ps(_mm_castsi128_ps(same)) ^ 15) << i;
    }
#endif
    for (; i < count; i += 2) {
        uint64_t left, right;
        memcpy(&left, a + i, sizeof left);
        memcpy(&right, b + i, sizeof right);
        if (left == right) continue;
        mask |= (uint64_t)(a[i] != b[i]) << i | (uint64_t)(a[i + 1] != b[i + 1]) << (i + 1);
    }
    return mask;
}

// ---- encoder_plain.c ----

/// The same as proto_row_encode_many for a plain layout. @return the rows that are done: the next
///         one is none of the usual ones.
uint32_t proto_encoder_plain(const proto_layout* layout, const proto_row_job* jobs, uint32_t count,
                             uint8_t* bytes, uint32_t* bits);

// ---- encoder.c ----

/// Write a scaled number of a word whose small codes are of no use.
void proto_encoder_scaled_any(row_encoder* e, uint32_t row, uint32_t f, int32_t off);

/// Write a scaled number, as the coder of row.c.
static inline void encoder_scaled(row_encoder* e, int32_t scale, uint32_t f, int32_t off) {
    uint32_t row = (uint32_t)row_number_row(scale, e->surprise);
    uint32_t at = (uint32_t)off + PROTO_SMALL;
    if (at >= encoder_word(e, f)->small_count) {
        proto_encoder_scaled_any(e, row, f, off);
        return;
    }
    uint32_t small = e->tables->small[row][at];
    encoder_small(e, small);
    e->surprise += (int32_t)small >> (PROTO_SMALL_CODE_BITS + PROTO_SMALL_LENGTH_BITS);
}
