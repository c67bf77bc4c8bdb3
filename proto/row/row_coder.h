// SPDX-License-Identifier: MIT
/// Private: the state of one row's coding, and what the files of this room share (WIRE.md, "Row
/// code").
///
/// The same functions write and read, so that what both must agree on is written once. A function
/// gets the value to write and returns the value that was written or read.
#pragma once

#include "proto/layout.h"
#include "proto/tables.h"

#include "base/assert.h"

#include <string.h>

enum {
    ROW_CODE_BITS_MAX = 12,
    ROW_RESERVED_BITS = 5,
    ROW_TICKS_MAX = 32, ///< a line is not continued further
    ROW_TICKS2_MAX = 255,
    ROW_WARM_MAX = 3,    ///< components in one symbol of the head
    ROW_CLASS_COUNT = 6, ///< of warm components
    ROW_DRIVE_CLASS_COUNT = 4,
};

typedef enum row_shape { SHAPE_EMPTY, SHAPE_LINEAR, SHAPE_ROTATION, SHAPE_MIXED } row_shape;

typedef enum row_kind { ROW_LIVE, ROW_DRIVEN, ROW_WARM, ROW_QUIET, ROW_LEAD } row_kind;

/// What both sides know of a component before its bits.
typedef struct row_plan {
    uint8_t kind;   ///< row_kind
    uint8_t class_; ///< of a warm component, below ROW_CLASS_COUNT
    int8_t scale;   ///< expected size of its numbers; < 0: unknown
    bool is_coded;  ///< the row has bits of it
    bool is_moving; ///< it moved between the bases
} row_plan;

/// Exactly one of `writer` and `reader` is set. A writer only reads `row`; a reader fills it.
typedef struct row_coder {
    const proto_layout* layout;
    const proto_tables* tables;
    const uint64_t* base;
    const uint64_t* base2; ///< NULL: ticks are unknown; `base` when there is no second row
    uint64_t* row;
    bool has_base2;
    proto_bit_writer* writer;
    proto_bit_reader* reader;
    uint64_t pending; ///< bits that are not in the writer yet
    uint32_t pending_bits;
    uint32_t ticks, ticks2; ///< ticks 0: unknown
    int32_t surprise;       ///< in quarters of a scale
    bool is_first;          ///< no symbol was coded yet
    bool is_any_certain;    ///< a component is live or driven
    bool is_moving;         ///< a component moved between the bases
    bool has_lead;
    uint8_t lead; ///< the component that is coded with the head; valid with has_lead
    uint32_t warm_count;
    uint8_t warm[ROW_WARM_MAX]; ///< components, by rising class
    row_plan plans[PROTO_ROW_COMPONENTS_MAX];
} row_coder;

/// One step of a field, in the units of row_drive.
#define ROW_STEP (INT64_C(1) << 20)

/// The expected word of a field whose component has a source.
typedef struct row_drive_guess {
    uint64_t word;
    bool is_down;    ///< the next word is the one below, not the one above
    uint32_t class_; ///< 0: `word` is nearly certain .. 3: the next word is as likely
} row_drive_guess;

// ---- row_number.c ----

/// Code the difference of `word` from `expected` with `codes`, one row of a table of numbers.
/// `is_other` (NULL: not allowed) is set when the symbol is PROTO_NUMBER_OTHER; the word has no
/// other bits then.
/// @return the size of the difference.
uint64_t proto_row_number(row_coder* coder, const uint16_t* codes, const proto_quant* quant,
                          uint64_t expected, uint64_t* word, bool* is_other);
/// Code a scaled number. Its size corrects the expected size of the next ones. `scale` < 0: the
/// size is unknown, and nothing is corrected. `is_other` as above.
void proto_row_scaled(row_coder* coder, int32_t scale, const proto_quant* quant, uint64_t expected,
                      uint64_t* word, bool* is_other);
/// Code a value in exponential Golomb code, as in proto/bits.h.
uint32_t proto_row_golomb(row_coder* coder, uint32_t value, uint32_t order);

// ---- row_head.c ----

/// Code which of `count` fields differ: `masks` has a bit per field, and at least one is set.
void proto_row_field_masks(row_coder* coder, uint64_t* masks, uint32_t count);
/// Code the head: which components are coded, and the number of the lead.
void proto_row_head(row_coder* coder);

// ---- row_plan.c ----

/// Fill the plans from the bases. Only is_coded depends on the row, and only when writing.
void proto_row_plan(row_coder* coder);
/// Get the scale of a component that moved by `motion` steps, summed over its fields, between the
/// bases.
uint32_t proto_row_line_scale(const row_coder* coder, uint64_t motion);
/// Get the expected word of field i of a component with a source. The row has the source's words.
row_drive_guess proto_row_drive(const row_coder* coder, uint32_t component, uint32_t i);
/// Get the expected words of all fields of a component. If it has a source, the row has the
/// source's words.
void proto_row_expect(const row_coder* coder, uint32_t component, uint64_t* expected);

/// The lowest `bits` bits, 1..64.
static inline uint64_t row_mask(uint32_t bits) {
    return UINT64_MAX >> (64 - bits);
}

/// a - b as a signed number, modulo 2^bits.
static inline int64_t row_difference(uint64_t a, uint64_t b, uint32_t bits) {
    uint64_t top = UINT64_C(1) << (bits - 1);
    return (int64_t)((((a - b) & row_mask(bits)) ^ top) - top);
}

/// Compare word by word. The words are few, and wider reads of words that were just written are
/// slow.
static inline bool row_differs(const uint64_t* a, const uint64_t* b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (a[i] != b[i]) return true;
    }
    return false;
}

/// Divide and round down. `divisor` > 0.
static inline int64_t row_divide(int64_t value, int64_t divisor) {
    int64_t quotient = value / divisor;
    return quotient - (value % divisor < 0);
}

/// How far a field moves per tick, in units of 1 / ROW_STEP steps, when its source has the word
/// `source`.
static inline int64_t row_drive(const proto_row_field* field, uint64_t source) {
    return (int64_t)source * field->drive + field->drive_zero;
}

/// Half octaves of `value` >= 1: 1, 2, 3, 4, 6, 8, 12... give 0, 2, 3, 4, 5, 6, 7...
static inline uint32_t row_log(uint64_t value) {
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(value);
    return 2 * octave + (octave ? (uint32_t)(value >> (octave - 1)) & 1 : 0);
}

/// Move the pending bits to the writer.
static inline void row_flush(row_coder* coder) {
    if (!coder->writer || coder->pending_bits == 0) return;
    proto_bits_write(coder->writer, coder->pending, coder->pending_bits);
    coder->pending = 0;
    coder->pending_bits = 0;
}

/// Bits written or read so far.
static inline uint64_t row_position(const row_coder* coder) {
    return coder->writer ? coder->writer->size_bits + coder->pending_bits
                         : coder->reader->offset_bits;
}

/// Write `count` bits, at most 32.
static inline void row_put(row_coder* coder, uint64_t value, uint32_t count) {
    if (coder->pending_bits + count > 64) row_flush(coder);
    coder->pending |= value << coder->pending_bits;
    coder->pending_bits += count;
}

/// Code `count` bits, 0..64.
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

/// Get the next bits, at least 17, without reading them. Bits after the end are 0.
static inline uint32_t row_peek(const proto_bit_reader* reader) {
    size_t byte = (size_t)(reader->offset_bits >> 3);
    size_t bytes = (size_t)(reader->size_bits + 7) / 8;
    uint32_t word = 0;
    for (uint32_t i = 0; i < 3 && byte + i < bytes; i++)
        word |= (uint32_t)reader->data[byte + i] << (8 * i);
    return word >> (reader->offset_bits & 7);
}

/// Read `count` bits that row_peek returned.
static inline void row_skip(proto_bit_reader* reader, uint32_t count) {
    if (reader->failed || count > reader->size_bits - reader->offset_bits) {
        reader->failed = true;
    } else {
        reader->offset_bits += count;
    }
}

/// Code a symbol below `count` with one row of a table. @return the symbol; any symbol below
/// `count` when the reader has failed.
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
