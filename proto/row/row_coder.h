// SPDX-License-Identifier: MIT
/// Private: what writing and reading a row share, below the level of components (WIRE.md, "Row code").
#pragma once

#include "proto/layout.h"

#include "base/assert.h"

#include <string.h>

enum {
    ROW_CODE_BITS_MAX = 12,
    ROW_RESERVED_BITS = 5,
    ROW_TICKS_MAX = 32, ///< further no line reaches
    ROW_TICKS2_MAX = 255,
};

typedef enum row_shape { SHAPE_EMPTY, SHAPE_LINEAR, SHAPE_ROTATION, SHAPE_MIXED } row_shape;

typedef enum row_kind { ROW_LIVE, ROW_DRIVEN, ROW_WARM, ROW_QUIET, ROW_LEAD } row_kind;

typedef struct row_plan {
    uint8_t kind;   ///< row_kind
    uint8_t class_; ///< of a warm one
    int8_t scale;   ///< expected size of its numbers; < 0: nothing is known
    bool is_coded;
    bool is_moving; ///< between the bases
} row_plan;

/// Either `writer` or `reader` is there; `row` is only read from when writing.
typedef struct row_coder {
    const proto_layout* layout;
    const proto_tables* tables;
    const uint64_t* base;
    const uint64_t* base2; ///< NULL: ticks are unknown; base where there is none
    uint64_t* row;
    bool has_base2;
    proto_bit_writer* writer;
    proto_bit_reader* reader;
    uint64_t pending; ///< bits that the writer has not got yet
    uint32_t pending_bits;
    uint32_t ticks, ticks2; ///< ticks 0: unknown
    int32_t surprise;       ///< in quarters of a scale
    bool is_first;          ///< no symbol was coded yet
    bool is_any_certain;    ///< a component is live or driven
    bool is_moving;         ///< or a warm one moved between the bases
    bool has_lead;
    uint8_t lead; ///< a component of one number, coded with the head
    uint32_t warm_count;
    uint8_t warm[3]; ///< by rising class
    row_plan plans[PROTO_ROW_COMPONENTS_MAX];
} row_coder;

#define ROW_STEP (INT64_C(1) << 20) ///< one step of a field, where fractions count

typedef struct row_drive_guess {
    uint64_t word;
    bool is_down;    ///< if not this word, rather the one below than the one above
    uint32_t class_; ///< 0: certainly this one .. 3: as well the next
} row_drive_guess;

/// What is left between `expected` and the word, by a table of numbers. `is_other` (may be NULL): instead of it,
/// PROTO_NUMBER_OTHER. @return its size.
uint64_t proto_row_number(row_coder* coder, const uint16_t* codes, const proto_quant* quant,
                          uint64_t expected, uint64_t* word, bool* is_other);
/// A number of a live or driven component, whose size corrects what is expected of the next ones. `scale` < 0: nothing
/// is expected, nothing is learnt. `is_other` as above.
void proto_row_scaled(row_coder* coder, int32_t scale, const proto_quant* quant, uint64_t expected,
                      uint64_t* word, bool* is_other);
/// Exponential Golomb, as in proto/bits.h.
uint32_t proto_row_golomb(row_coder* coder, uint32_t value, uint32_t order);
/// Which of a component's fields differ: `masks` has a bit per field, at least one of them.
void proto_row_field_masks(row_coder* coder, uint64_t* masks, uint32_t count);
/// Which components are coded; the lead's number too.
void proto_row_head(row_coder* coder);
/// Fill the plans: from the bases alone, except is_coded, which a writer takes from the row.
void proto_row_plan(row_coder* coder);
/// Expected size of numbers after so many steps of motion between the bases.
uint32_t proto_row_line_scale(const row_coder* coder, uint64_t motion);
/// Field i of an integral; the row's words of its source are known.
row_drive_guess proto_row_drive(const row_coder* coder, uint32_t component, uint32_t i);
/// What the fields of a component will be if all goes on; integrals want the row's words of their source.
void proto_row_foresee(const row_coder* coder, uint32_t component, uint64_t* expected);

static inline uint64_t row_mask(uint32_t bits) {
    return UINT64_MAX >> (64 - bits); // 1..64
}

/// Signed difference of two words, modulo the field's width.
static inline int64_t row_difference(uint64_t a, uint64_t b, uint32_t bits) {
    uint64_t top = UINT64_C(1) << (bits - 1);
    return (int64_t)((((a - b) & row_mask(bits)) ^ top) - top);
}

/// Word by word: they are few, and what was just written must not be read in wider pieces.
static inline bool row_differs(const uint64_t* a, const uint64_t* b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (a[i] != b[i]) return true;
    }
    return false;
}

/// Rounds down.
static inline int64_t row_divide(int64_t value, int64_t divisor) {
    int64_t quotient = value / divisor;
    return quotient - (value % divisor < 0);
}

/// How much a field changes per tick, in ROW_STEP, when its source has this word.
static inline int64_t row_drive(const proto_row_field* field, uint64_t source) {
    return (int64_t)source * field->drive + field->drive_zero;
}

/// Half octaves: 1, 2, 3, 4, 6, 8, 12... are 0, 2, 3, 4, 5, 6, 7...
static inline uint32_t row_log(uint64_t value) {
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(value);
    return 2 * octave + (octave ? (uint32_t)(value >> (octave - 1)) & 1 : 0);
}

static inline void row_flush(row_coder* coder) {
    if (!coder->writer || coder->pending_bits == 0) return;
    proto_bits_write(coder->writer, coder->pending, coder->pending_bits);
    coder->pending = 0;
    coder->pending_bits = 0;
}

static inline uint64_t row_position(const row_coder* coder) {
    return coder->writer ? coder->writer->size_bits + coder->pending_bits
                         : coder->reader->offset_bits;
}

/// `count` at most 32 when writing.
static inline void row_put(row_coder* coder, uint64_t value, uint32_t count) {
    if (coder->pending_bits + count > 64) row_flush(coder);
    coder->pending |= value << coder->pending_bits;
    coder->pending_bits += count;
}

static inline uint64_t row_bits(row_coder* coder, uint64_t value, uint32_t count) {
    if (!coder->writer) return proto_bits_read(coder->reader, count);
    if (count > 32) {
        row_put(coder, value & UINT32_MAX, 32);
        row_put(coder, value >> 32, count - 32);
    } else if (count > 0) {
        row_put(coder, value, count);
    }
    return value;
}

/// The next bits, without taking them; 0 behind the end.
static inline uint32_t row_peek(const proto_bit_reader* reader) {
    size_t byte = (size_t)(reader->offset_bits >> 3);
    size_t bytes = (size_t)(reader->size_bits + 7) / 8;
    uint32_t word = 0;
    for (uint32_t i = 0; i < 3 && byte + i < bytes; i++)
        word |= (uint32_t)reader->data[byte + i] << (8 * i);
    return word >> (reader->offset_bits & 7);
}

static inline void row_skip(proto_bit_reader* reader, uint32_t count) {
    if (reader->failed || count > reader->size_bits - reader->offset_bits) {
        reader->failed = true;
    } else {
        reader->offset_bits += count;
    }
}

/// @return the symbol; anything below `count` when the reader has failed.
static inline uint32_t row_symbol(row_coder* coder, const uint16_t* codes, uint32_t count,
                                  uint32_t symbol) {
    if (coder->writer) {
        row_put(coder, codes[symbol] >> 4, codes[symbol] & 15);
        return symbol;
    }
    uint32_t bits = row_peek(coder->reader);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t length = codes[i] & 15;
        if (length && (bits & row_mask(length)) == codes[i] >> 4) {
            row_skip(coder->reader, length);
            return i;
        }
    }
    coder->reader->failed = true;
    return count - 1;
}
