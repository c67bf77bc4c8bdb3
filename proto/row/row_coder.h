// SPDX-License-Identifier: MIT
/// Private: the state of one row's coding, and what the files of this room share (ROWS.md).
///
/// The same functions write and read, so that what both must agree on is written once. A function
/// gets the value to write and returns the value that was written or read.
#pragma once

#include "base/assert.h"
#include "base/bytes.h"
#include "proto/layout.h"
#include "proto/tables.h"

#include <string.h>

enum {
    ROW_CODE_BITS_MAX = 12,
    ROW_RESERVED_BITS = 5,
    ROW_BARE_BITS = 7, ///< before the first symbol of a bare row
    ROW_BARE = 1 << (ROW_BARE_BITS - 1),
    ROW_TICKS_MAX = 32, ///< a line is not continued further
    ROW_TICKS2_MAX = 255,
    ROW_TICKS_SHORT = 2,  ///< a base that is hardly older than the row
    ROW_WARM_MAX = 2,     ///< components in one symbol of the head
    ROW_CLASS_COUNT = 6,  ///< of warm components
    ROW_CLASS_SOURCE = 0, ///< that rest: over a short time, the next one over a long time
    ROW_CLASS_REST = 2,
    ROW_CLASS_MIXED = 3,
    ROW_CLASS_LIVE = 6,   ///< no warm one
    ROW_DRIVE_FIELDS = 3, ///< fields in one symbol of an integral
    ROW_DRIVE_OTHER =
        1, ///< scale of a driven field with neither its expected word nor the next one
    ROW_VECTOR_MORE = 3,    ///< more scale for several fields that rested
    ROW_SOURCE_LESS = 4,    ///< less scale for the fields of a source after its first coded one
    ROW_SIGNED_SYMBOLS = 7, ///< of a number: sizes up to 3 with their sign
    ROW_SMALL_SYMBOLS = 11, ///< and sizes up to 7
};

typedef enum row_shape {
    SHAPE_EMPTY,
    SHAPE_LINEAR,
    SHAPE_ROTATION,
    SHAPE_MIXED,
    SHAPE_ELASTIC
} row_shape;

typedef enum row_kind { ROW_LIVE, ROW_DRIVEN, ROW_WARM, ROW_QUIET } row_kind;

/// What both sides know of a component before its bits.
typedef struct row_plan {
    uint8_t kind;   ///< row_kind
    uint8_t class_; ///< of a warm component, below ROW_CLASS_COUNT
    int8_t scale;   ///< expected size of its numbers; < 0: unknown
    bool is_coded;  ///< the row has bits of it
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
    bool is_any_certain;    ///< a component is live or driven
    uint64_t active; ///< a bit per component by its place in the order: it is coded, or has not
                     ///< the words of the base
    uint32_t warm_count;
    uint8_t warm[ROW_WARM_MAX]; ///< components, by rising class
    row_plan plans[PROTO_ROW_COMPONENTS_MAX];
} row_coder;

/// One step of a field, in the units of row_drive.
#define ROW_STEP_BITS 20
#define ROW_STEP (INT64_C(1) << ROW_STEP_BITS)

/// The expected word of a field whose component has a source.
typedef struct row_drive_guess {
    uint64_t word;
    bool is_down;    ///< the next word is the one below, not the one above
    uint32_t class_; ///< 0: `word` is nearly certain .. 3: the next word is as likely
    int64_t rest;    ///< how far it really is from `word`, without its sign; in 1 / ROW_STEP steps
    int64_t doubt;   ///< of that
} row_drive_guess;

/// What the guess depends on.
typedef struct row_drive_words {
    int64_t ticks, ticks2;
    bool has_base2;
    int64_t pace; ///< base - base2
    uint64_t base;
    uint64_t source_row, source_base, source_base2;
    int64_t source_pace; ///< source_base - source_base2
} row_drive_words;

// ---- row.c ----

/// Set every member of a coder except the plans; neither reader nor writer.
void proto_row_begin(row_coder* coder, const proto_layout* layout, const proto_row_base* base);

// ---- rotation.c: unit quaternions as "smallest three" (WIRE.md, "Rotations") ----

// A rotation has the words {largest, a, b, c}. `largest` is which of x, y, z, w is the largest in
// magnitude (0..3). a, b, c are the other three in their order, with the sign that makes the
// largest positive: value = (2 a - q_max) / q_max / sqrt(2). q_max is even, 14..32766.
//
// Invariants: quantise(dequantise(q)) == q for every canonical q; proto_rotation_quantise gives
// canonical words.

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

// ---- elastic.c: exact floats whose code each value chooses (ROWS.md, "Elastic fields") ----

enum {
    ROW_STEPS_BITS = 24, ///< of a number of steps of a grid, with its sign
    ROW_STEPS_LIMIT = 1 << (ROW_STEPS_BITS - 2),
    ROW_EXPONENTS = 15, ///< usual exponents of a whole float; more is none of them
    ROW_EXPONENT_BITS = 4,
    ROW_ANY_SIZES = 33, ///< symbols of PROTO_NUMBER_ANY: bits of the difference
    ROW_ANY_SIGN = 33,  ///< the sign is the other one
};
#define ROW_ELASTIC_NO_SIZE UINT64_MAX

/// A component with elastic fields and its bases; base2 is base when there is no second row.
typedef struct row_elastic {
    const proto_row_field* fields;
    uint32_t count;
    const uint64_t *base, *base2;
    uint32_t ticks, ticks2;
} row_elastic;

/// What both sides know of an elastic word before its bits.
typedef struct row_elastic_word {
    const proto_quant* quant;
    uint32_t grid;
    bool is_on_grid;   ///< as its base is: a number of steps is expected
    int64_t steps;     ///< expected, the nearest ones when the expected word is between steps
    uint64_t expected; ///< word
} row_elastic_word;

/// Find the steps of a word on a grid of 2^-grid. @return false: it is between them, too far, -0.
bool proto_elastic_steps(const proto_quant* quant, uint64_t word, uint32_t grid, int64_t* steps);
/// The word of `steps`, which are within the limit.
uint64_t proto_elastic_word(const proto_quant* quant, int64_t steps, uint32_t grid);
/// The grid of a component: the finest that an elastic word of its bases is on.
uint32_t proto_elastic_grid(const row_elastic* own);
/// Get the expected words of a component with two bases. @return the steps between the bases,
///         summed over the fields that have steps; *is_wild: another field moved.
uint64_t proto_elastic_expect(const row_elastic* own, uint64_t* expected, bool* is_wild);
row_elastic_word proto_elastic_word_of(const proto_quant* quant, uint32_t grid, uint64_t base,
                                       uint64_t expected);

/// How a float kind has its bits.
typedef struct row_float {
    uint64_t sign, least; ///< least: the first of the usual exponents, 2^-4
    uint32_t fraction_bits;
} row_float;
static inline row_float row_float_of(const proto_quant* quant) {
    const bool is_single = quant->kind == PROTO_F32;
    return (row_float){UINT64_C(1) << (quant->bits - 1), is_single ? 127 - 4 : 1023 - 4,
                       is_single ? 23 : 52};
}
/// A symbol of PROTO_NUMBER_ANY has one size of floats of 32 bits, and two of those of 64.
static inline uint32_t row_any_bits_per(const proto_quant* quant) {
    return quant->bits / 32;
}
/// Bits of the size after its sign.
static inline uint32_t row_any_low_bits(const proto_quant* quant, uint32_t symbol) {
    return row_any_bits_per(quant) > 1 ? 2 * symbol : symbol - 1;
}

/// Bits of a field that are not written yet, the first ones lowest, up to 128.
typedef struct row_code {
    uint64_t bits[2];
    uint32_t counts[2];
} row_code;

static inline void row_code_add(row_code* code, uint64_t bits, uint32_t count) {
    const uint32_t at = code->counts[1] > 0 || code->counts[0] + count > 64;
    code->bits[at] |= bits << code->counts[at];
    code->counts[at] += count;
}

static inline void row_code_symbol(row_code* code, const uint16_t* codes, uint32_t symbol) {
    row_code_add(code, codes[symbol] >> 4, codes[symbol] & 15);
}

// ---- row_plan.c ----

/// Fill the plans from the bases. Only is_coded depends on the row, and only when writing.
void proto_row_plan(row_coder* coder);
/// The same for a reader, by the plan of the layout; it sets `active` as far as it is known.
/// `moved`: a bit per word that differs between the bases.
void proto_row_plan_reader(row_coder* coder, uint64_t moved);
uint64_t proto_row_moved(const row_coder* coder);
/// Get the expected words of all fields of a component. If it has a source, the row has the
/// source's words.
void proto_row_expect(const row_coder* coder, uint32_t component, uint64_t* expected);

/// The bases of a component for elastic.c.
static inline row_elastic row_elastic_of(const row_coder* coder, uint32_t component) {
    const proto_row_component* own = &coder->layout->components[component];
    const uint32_t first = own->field_first;
    return (row_elastic){&coder->layout->fields[first],
                         own->field_count,
                         coder->base + first,
                         (coder->has_base2 ? coder->base2 : coder->base) + first,
                         coder->ticks,
                         coder->ticks2};
}

/// Half octaves of `value` >= 1: 1, 2, 3, 4, 6, 8, 12... give 0, 2, 3, 4, 5, 6, 7...
static inline uint32_t row_log(uint64_t value) {
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(value);
    return 2 * octave + ((uint32_t)(value << 1 >> octave) & 1);
}

/// The lowest `bits` bits, 1..64.
static inline uint64_t row_mask(uint32_t bits) {
    return UINT64_MAX >> (64 - bits);
}

/// a - b as a signed number, modulo 2^bits.
static inline int64_t row_difference(uint64_t a, uint64_t b, uint32_t bits) {
    return (int64_t)((a - b) << (64 - bits)) >> (64 - bits);
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

/// How far a change of the source from base to row moves its integral, in 1 / ROW_STEP steps. The
/// model: the source goes on changing as it did before the base until it has the row's word, then
/// it stays. If the row's word is not on that way, the source changes evenly. Each tick moves by
/// the source's value after that tick.
static inline int64_t row_drive_change(const row_drive_words* words, int64_t change) {
    if (change == 0) return 0;
    int64_t ticks = words->ticks, until = ticks * 256, pace = words->source_pace;
    if (pace != 0) {
        int64_t step = (int64_t)words->source_row - (int64_t)words->source_base;
        int64_t needed = step * 256 * (int64_t)words->ticks2 / pace;
        if (needed > 0 && needed < until) until = needed;
    }
    return (change * (512 * ticks + 256 - until)) >> 9;
}

/// The expected word of a field of an integral. Inline: a call with all these words costs as much
/// as the guess.
static inline __attribute__((always_inline)) row_drive_guess
row_drive_guess_of(const proto_row_field* field, const row_drive_words* words) {
    int64_t at_base = row_drive(field, words->source_base);
    int64_t at_row = row_drive(field, words->source_row);
    int64_t way = words->ticks * at_base + row_drive_change(words, at_row - at_base);
    int64_t doubt = ROW_STEP, shift = 0;
    if (words->has_base2) {
        // Both bases were rounded. The real position is where both roundings agree.
        int64_t before = words->ticks2;
        int64_t at_base2 = row_drive(field, words->source_base2);
        int64_t came = ((before - 1) * at_base2 + (before + 1) * at_base) >> 1;
        int64_t off = came - words->pace * ROW_STEP;
        int64_t size = off < 0 ? -off : off;
        if (size <= ROW_STEP + ROW_STEP / 8) {
            shift = off >> 1;
            doubt = size < ROW_STEP - ROW_STEP / 8 ? ROW_STEP - size : ROW_STEP / 8;
        }
    }
    way += shift;
    int64_t whole = (way + ROW_STEP / 2) >> ROW_STEP_BITS;
    int64_t rest = way - whole * ROW_STEP;
    row_drive_guess guess = {.word = (words->base + (uint64_t)whole) & row_mask(field->quant.bits)};
    guess.is_down = rest < 0;
    if (rest < 0) rest = -rest;
    // `over` is the part of the doubt beyond the edge of the rounding.
    int64_t over = rest + doubt / 2 - ROW_STEP / 2;
    guess.class_ = over <= 0 ? 0 : over * 8 <= doubt ? 1 : over * 8 <= 3 * doubt ? 2 : 3;
    guess.rest = rest;
    guess.doubt = doubt;
    return guess;
}

/// Get the expected word of field i of a component with a source. The row has the source's words.
static inline __attribute__((always_inline)) row_drive_guess
row_drive_of(const row_coder* coder, uint32_t component, uint32_t i) {
    const proto_row_component* own = &coder->layout->components[component];
    BASE_VALIDATE(own->is_driven && i < own->field_count);
    uint32_t f = own->field_first + i;
    uint32_t source = coder->layout->components[own->integral - 1].field_first + i;
    const proto_row_field* fields = coder->layout->fields;
    row_drive_words words = {
        .ticks = coder->ticks,
        .ticks2 = coder->ticks2,
        .has_base2 = coder->has_base2,
        .base = coder->base[f],
        .pace = row_difference(coder->base[f], coder->base2[f], fields[f].quant.bits),
        .source_row = coder->row[source],
        .source_base = coder->base[source],
        .source_base2 = coder->base2[source],
        .source_pace =
            row_difference(coder->base[source], coder->base2[source], fields[source].quant.bits),
    };
    return row_drive_guess_of(&fields[f], &words);
}

/// The scale of a component that moved by `motion` steps between the bases, summed over its fields.
static inline uint32_t row_line_scale(uint32_t ticks, uint32_t ticks2, uint64_t motion) {
    BASE_VALIDATE(ticks >= 1 && ticks <= ROW_TICKS_MAX && ticks2 >= 1);
    static const uint8_t logs[ROW_TICKS_MAX + 1] = {0, 0, 2, 3, 4, 4, 5, 5, 6, 6, 6,
                                                    6, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8,
                                                    8, 8, 9, 9, 9, 9, 9, 9, 9, 9, 10}; // row_log
    uint32_t scale = logs[ticks];
    if (motion > 0) {
        motion += ticks2 - 1;
        if (ticks2 > 1) // mostly small: the division of 32 bits is the faster one
            motion = motion <= UINT32_MAX ? (uint32_t)motion / ticks2 : motion / ticks2;
        uint32_t speed = row_log(motion) + 1;
        scale += ticks <= ROW_TICKS_SHORT ? speed / 5 : speed / 3;
    }
    return scale < PROTO_NUMBER_SCALES ? scale : PROTO_NUMBER_SCALES - 1;
}

/// The class of a moving component, higher when it is less likely exactly on its line;
/// ROW_CLASS_LIVE: hardly ever.
static inline uint8_t row_line_class(uint32_t fields, uint32_t scale) {
    enum { FIELDS = 3, SCALES = 7, LIVE = ROW_CLASS_LIVE };
    static const uint8_t classes[FIELDS][SCALES] = {
        {3, 3, 4, 4, 5, 5, 5},
        {4, 4, 5, LIVE, LIVE, LIVE, LIVE},
        {5, LIVE, LIVE, LIVE, LIVE, LIVE, LIVE},
    };
    return fields <= FIELDS && scale < SCALES ? classes[fields - 1][scale] : (uint8_t)LIVE;
}

/// The class and the scale of a component that rests.
static inline uint8_t row_rest_class(bool is_source, uint32_t ticks) {
    bool is_long = ticks > ROW_TICKS_SHORT;
    return (uint8_t)((is_source ? ROW_CLASS_SOURCE : ROW_CLASS_REST) + is_long);
}
static inline int32_t row_rest_scale(uint32_t ticks, uint32_t fields) {
    return (int32_t)row_line_scale(ticks, 1, 0) + (fields > 1 ? ROW_VECTOR_MORE : 0);
}

/// The row of `head` for two rising classes.
static inline uint32_t row_head_pair(uint32_t a, uint32_t b) {
    static const uint8_t pairs[ROW_CLASS_COUNT] = {6, 11, 15, 18, 20, 21};
    return pairs[a] + b;
}

/// The row of `head` for up to ROW_WARM_MAX rising classes.
static inline uint32_t row_head_row(const uint32_t* classes, uint32_t count) {
    BASE_ASSERT(count >= 1 && count <= ROW_WARM_MAX && classes[count - 1] < ROW_CLASS_COUNT);
    return count == 1 ? classes[0] : row_head_pair(classes[0], classes[1]);
}

/// Fields of an integral that share a symbol: class * 4 + number, rising; UINT32_MAX: none.
static inline void row_drive_sort(uint32_t keys[ROW_DRIVE_FIELDS]) {
    const uint32_t a = keys[0] < keys[1] ? keys[0] : keys[1];
    const uint32_t b = keys[0] < keys[1] ? keys[1] : keys[0], c = keys[2];
    keys[0] = c < a ? c : a;
    keys[1] = c < a ? a : c < b ? c : b;
    keys[2] = c < b ? b : c;
}

/// The row of `drive` for their keys.
static inline uint32_t row_drive_row(const uint32_t keys[ROW_DRIVE_FIELDS], uint32_t count) {
    static const uint8_t pairs[4] = {0, 4, 7, 9}, triples[4] = {0, 10, 16, 19};
    const uint32_t a = keys[0] >> 2, b = keys[1] >> 2;
    if (count == 1) return a;
    if (count == 2) return 4u + pairs[a] + b - a;
    return 14u + triples[a] + pairs[b] - pairs[a] + (keys[2] >> 2) - b;
}

/// The scale of an integral with so much doubt (sixteenths of a step); -1: each field mostly has
/// its expected word or the next one.
static inline int32_t row_drive_scale(uint64_t sixteenths) {
    enum { SIXTEENTHS_MIN = 5, SIXTEENTHS_LOG = 8 /* row_log of the sixteenths of scale 0 */ };
    if (sixteenths < SIXTEENTHS_MIN) return -1;
    uint32_t scale = row_log(sixteenths);
    scale = scale > SIXTEENTHS_LOG ? scale - SIXTEENTHS_LOG : 0;
    return (int32_t)(scale < PROTO_NUMBER_SCALES ? scale : PROTO_NUMBER_SCALES - 1);
}

static inline uint64_t row_magnitude(int64_t value) {
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

/// The symbol of a number, without the choice of its whole word for a shorter code.
static inline uint32_t row_number_symbol(int64_t difference) {
    uint64_t size = row_magnitude(difference);
    if (size < 4) return (uint32_t)(2 * size) - (difference > 0);
    if (size < 8) return (uint32_t)size + 3;
    if (size >= 1 << 16) return PROTO_NUMBER_WHOLE;
    return row_log(size) + 5;
}

/// Low bits of the size that follow the symbol, before the sign.
static inline uint32_t row_number_low_bits(uint32_t symbol) {
    return symbol < ROW_SMALL_SYMBOLS ? 0 : (symbol - ROW_SMALL_SYMBOLS) / 2 + 2;
}

/// Add a number: `difference`, of `word` of `bits` bits. @return its size.
static inline uint64_t row_code_number(row_code* code, const uint16_t* codes, int64_t difference,
                                       uint64_t word, uint32_t bits) {
    const uint64_t size = row_magnitude(difference);
    const uint32_t symbol = row_number_symbol(difference), own = codes[symbol];
    const uint32_t whole = codes[PROTO_NUMBER_WHOLE];
    if (symbol < ROW_SIGNED_SYMBOLS) {
        row_code_symbol(code, codes, symbol);
        return size;
    }
    const uint32_t low = row_number_low_bits(symbol);
    const bool is_whole = symbol >= ROW_SMALL_SYMBOLS && (whole & 15) + bits < (own & 15) + low + 1;
    if (is_whole || symbol == PROTO_NUMBER_WHOLE) {
        row_code_symbol(code, codes, PROTO_NUMBER_WHOLE);
        row_code_add(code, word, bits);
        return size;
    }
    row_code_symbol(code, codes, symbol);
    row_code_add(code, (size & (row_mask(low + 1) >> 1)) << 1 | (uint64_t)(difference < 0),
                 low + 1);
    return size;
}

/// Add an elastic word by `codes`, a row of a table of numbers. @return the size of the difference
///         in steps; ROW_ELASTIC_NO_SIZE: it has none.
uint64_t proto_elastic_write(row_code* code, const proto_tables* tables, const uint16_t* codes,
                             const row_elastic_word* own, uint64_t word);

/// How far a number of this size, by this row of a table, changes what is expected of the next
/// ones. `size` < 2^32.
static inline int32_t row_number_surprise(uint64_t size, uint32_t row) {
    enum { USUAL = 8, USUAL_PER_ROW = 3 };
    return (4 * (int32_t)row_log(2 * size + 1) - (int32_t)(USUAL_PER_ROW * row + USUAL)) / 2;
}

/// The row of the table for `scale`, with the correction of the numbers so far.
static inline int32_t row_number_row(int32_t scale, int32_t surprise) {
    int32_t row = (scale * 4 + surprise + 2) >> 2;
    if ((uint32_t)row < PROTO_NUMBER_SCALES) return row;
    return row < 0 ? 0 : (int32_t)PROTO_NUMBER_SCALES - 1;
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

/// The same as row_peek near the end of the bits.
uint32_t proto_row_peek_end(const proto_bit_reader* reader);

/// Get the next bits, at least 17, without reading them. Bits after the end are 0.
static inline uint32_t row_peek(const proto_bit_reader* reader) {
    if (reader->size_bits - reader->offset_bits < 64) return proto_row_peek_end(reader);
    const uint64_t word = base_load_le64(reader->data + (reader->offset_bits >> 3));
    return (uint32_t)(word >> (reader->offset_bits & 7));
}

/// Read `count` bits that row_peek returned.
static inline void row_skip(proto_bit_reader* reader, uint32_t count) {
    if (reader->failed || count > reader->size_bits - reader->offset_bits) {
        reader->failed = true;
    } else {
        reader->offset_bits += count;
    }
}

/// Write one code of the tables.
static inline void row_put_code(row_coder* coder, const uint16_t* code) {
    row_put(coder, *code >> 4, *code & 15);
}

/// Code a symbol below `count` with one row of a table. @return the symbol; any symbol below
/// `count` when the reader has failed.
static inline uint32_t row_symbol(row_coder* coder, const uint16_t* codes, uint32_t count,
                                  uint32_t symbol) {
    if (coder->writer) {
        row_put_code(coder, &codes[symbol]);
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

// ---- line ----

// Private: how far the straight line through two rows goes on (ROWS.md, "Expected words"), without
// a division for each word.
//
// A way is pace * ticks / ticks2, rounded to the nearest whole number, up when two are as near.
// Doubles give the same on every machine: what is no whole number is 1/510 away from one or more,
// and the error of a double of this size is far less.

/// The way of a pace of 32 bits; the times are usual.
static inline int64_t row_line_way(const proto_row_times* times, int32_t pace) {
    // The sum is positive, so the conversion rounds down.
    const double above = 137438953472.0 /* 2^37 */, half = 0.5 + 1.0 / 1024;
    return (int64_t)((double)pace * times->factor + (above + half)) - (int64_t)above;
}

/// The scale of a component that moved by `motion` > 0 steps, as row_line_scale.
static inline uint32_t row_line_scale_of(const proto_row_times* times, uint32_t motion) {
    uint32_t pace = motion;
    if (times->ticks2 > 1) {
        int64_t most = (int64_t)motion + times->ticks2 - 1;
        pace = (uint32_t)(int64_t)((double)most * times->inverse + 1.0 / 1024);
    }
    uint32_t scale = times->log + ((row_log(pace) + 1) * times->speed_share >> 16);
    return scale < PROTO_NUMBER_SCALES ? scale : PROTO_NUMBER_SCALES - 1;
}
