// SPDX-License-Identifier: MIT
/// Layouts of rows as texts, and rows whose values move at random.
#pragma once

#include "test.h"

#include "proto/layout.h"
#include "row/row_coder.h"

enum { WORDS_MAX = 72, BYTES_MAX = 1024, STEPS = 15, SPEED_NONE = 2048 };

// Make a layout from a text: a word per component, a letter per field.
//   b bool, x exact float, X exact double, q 16-bit float, p 3-bit float, i exact i32, l exact i64,
//   u u8 from 1, e entity,
//   y elastic float, Y elastic double,
//   f, g, h floats of 22, 23 and 24 bits,
//   n 9-bit integer; "r" alone is a rotation of 9 bits, "R" one of 15; a word beginning with 'v' is
//   a velocity of 12-bit floats, one with 's' a position of 16-bit floats that is the integral of
//   the component before it.
static inline void add_field(proto_layout* layout, char letter) {
    proto_row_field* field = &layout->fields[layout->field_count++];
    field->offset_bytes = 8u * layout->components[layout->component_count - 1].field_count++;
    proto_quant* quant = &field->quant;
    bool is_made = letter == 'b'                    ? proto_quant_make(quant, PROTO_BOOL, 0, 0, 0)
                   : letter == 'x' || letter == 'y' ? proto_quant_make(quant, PROTO_F32, 0, 0, 0)
                   : letter == 'X' || letter == 'Y' ? proto_quant_make(quant, PROTO_F64, 0, 0, 0)
                   : letter == 'q' ? proto_quant_make(quant, PROTO_F32, 16, -3.3, 0.01)
                   : letter == 'f' ? proto_quant_make(quant, PROTO_F64, 22, 0, 1)
                   : letter == 'g' ? proto_quant_make(quant, PROTO_F64, 23, 0, 1)
                   : letter == 'h' ? proto_quant_make(quant, PROTO_F64, 24, 0, 1)
                   : letter == 'p' ? proto_quant_make(quant, PROTO_F32, 3, 0, 1)
                   : letter == 'v' ? proto_quant_make(quant, PROTO_F32, 12, -64, 1.0 / 32)
                   : letter == 's' ? proto_quant_make(quant, PROTO_F32, 16, 0, 1.0 / 128)
                   : letter == 'i' ? proto_quant_make(quant, PROTO_I32, 0, 0, 0)
                   : letter == 'l' ? proto_quant_make(quant, PROTO_I64, 0, 0, 0)
                   : letter == 'u' ? proto_quant_make(quant, PROTO_U8, 8, 1, 1)
                   : letter == 'n' ? proto_quant_make(quant, PROTO_I16, 9, -9, 1)
                   : letter == 'w' ? proto_quant_make(quant, PROTO_U8, 2, 0, 1)
                   : letter == 'r' ? proto_quant_make(quant, PROTO_U16, 9, 0, 1)
                   : letter == 'R' ? proto_quant_make(quant, PROTO_U16, 15, 0, 1)
                                   : proto_quant_make(quant, PROTO_ENTITY, 0, 0, 0);
    assert_true(is_made);
    quant->is_elastic = letter == 'y' || letter == 'Y';
}

static inline void build(proto_layout* layout, const char* text, uint32_t tick_rate_hz) {
    memset(layout, 0, sizeof *layout);
    layout->tick_rate_hz = tick_rate_hz;
    for (const char* at = text; *at && *at != '|'; at++) {
        if (*at == ' ') continue;
        if (at == text || at[-1] == ' ') {
            layout->components[layout->component_count++] = (proto_row_component){
                .key = layout->component_count + 1, .field_first = (uint16_t)layout->field_count};
        }
        proto_row_component* own = &layout->components[layout->component_count - 1];
        own->is_rotation = *at == 'r' || *at == 'R';
        if (own->is_rotation) add_field(layout, 'w');
        for (uint32_t i = 0; own->is_rotation && i < 2; i++)
            add_field(layout, *at);
        add_field(layout, *at);
        if (*at == 's') own->integral = (uint8_t)(layout->component_count - 1);
        if (!own->is_rotation) continue;
        proto_row_field* fields = &layout->fields[own->field_first];
        for (uint32_t i = 1; i < PROTO_ROTATION_WORDS; i++)
            fields[i].quant.q_max = (*at == 'r' ? 510 : 32766);
    }
    proto_layout_finish(layout);
}

// Layouts, with | between them: the first has no component.
static const char texts[] =
    "|bbbbbbbb q|ll ll ll|q|qq|qqq|qqqq|p|r|R|vv ss|vvv sss|v s|b|e|i|u|x|X|b r qqq|u q b"
    "|u n q u|vv ss b|q q q q q|qq qq|bb ii ee|u vv ss q u"
    "|b b b b b b b b b b b b b b b b b b b b b|qlxXuebn|y|Y|yyy|YY y|u yyy yy y|yq b yy"
    "|y yyy yyy yyy vv ss|yyyyyyyyyyyyyyyyyyyy u|qqqqqqqqqqqqqqqqqqqq|q vv ss r u u e b qq qq"
    "|v s u q vv ss n|r qqq vvvv ssss b u"
    // Plain ones, and the limits of these: 4 fields, 16 components, 32 words, 23 bits.
    "|f fff gg|g u ggg|h u ggg|q u qqq u|qqq uu b bbbb qq n i u|qqqq q bbbb|qqqqq q bbbb"
    "|q u q b q n q i q u q u q u u|q u q b q n q i q u q u q u q u"
    "|q u q b q n q i q u q u q u q u u|qqqq qqqq qqqq bbbb qqqq uuuu qqqq qqq"
    "|qqqq qqqq qqqq bbbb qqqq uuuu qqqq qqqq|qqqq qqqq qqqq bbbb qqqq uuuu qqqq qqqq u"
    // 63, 64 and 65 fields: the encoder has a plan for PROTO_ROW_PLANNED_MAX
    "|qqqqqqqqqq uuuuuuuuuu r vv ss bbbbbbbbbb i e x n q qqq qqqqqqqqqq uuuuuuuuuu"
    "|qqqqqqqqqq uuuuuuuuuu r vv ss bbbbbbbbbb i e x n q qqq qqqqqqqqqq uuuuuuuuuuu"
    "|qqqqqqqqqq uuuuuuuuuu r vv ss bbbbbbbbbb i e x n q qqq qqqqqqqqqq uuuuuuuuuuuu";

// @return NULL: it was the last one.
static inline const char* next_text(const char* text) {
    const char* end = strchr(text, '|');
    return end ? end + 1 : NULL;
}

_Static_assert(PROTO_ROW_PLANNED_MAX == 64, "the texts above are at this limit");
_Static_assert(PROTO_PLAIN_COMPONENTS_MAX == 16 && PROTO_PLAIN_WORDS_MAX == 32 &&
                   PROTO_PLAIN_LINE_BITS_MAX == 23,
               "and at these");

static inline uint64_t all_bits(const proto_quant* quant) {
    return quant->bits == 64 ? UINT64_MAX : (UINT64_C(1) << quant->bits) - 1;
}

static inline void random_rotation(const proto_layout* layout, uint32_t c, base_rng* rng,
                                   uint64_t* row) {
    double memory[4];
    for (uint32_t i = 0; i < 4; i++) {
        float part = (float)base_rng_u32(rng) / 2147483648.0f - 1.0f;
        memcpy((uint8_t*)memory + 8 * i, &part, sizeof part);
    }
    proto_row_read_component(layout, c, memory, row);
}

// The next value of an elastic field: a step of a grid, a bit pattern near by, any.
static inline uint64_t step_elastic(const proto_quant* quant, base_rng* rng, uint64_t before,
                                    int32_t pace) {
    double value = 0;
    if (base_rng_chance(rng, 0.1)) return before + base_rng_below(rng, 1000);
    if (base_rng_chance(rng, 0.1)) return before ^ (UINT64_C(1) << (quant->bits - 1));
    proto_dequantise(quant, before, &value);
    if (quant->kind == PROTO_F32) {
        float single;
        memcpy(&single, &value, sizeof single);
        value = (double)single;
    }
    if (!(value > -1e9 && value < 1e9)) value = 0;
    value += base_rng_chance(rng, 0.8) ? pace : pace * 0.125;
    if (base_rng_chance(rng, 0.1)) value *= 0.7;
    if (base_rng_chance(rng, 0.2)) value = (double)(int64_t)value;
    if (quant->kind == PROTO_F32) {
        float single = (float)value;
        return proto_quantise(quant, &single);
    }
    return proto_quantise(quant, &value);
}

// Make the next row of an entity: moving values continue, resting ones sometimes jump.
static inline void step_row(const proto_layout* layout, base_rng* rng, const uint64_t* before,
                            int32_t* pace, uint64_t* row) {
    for (uint32_t c = 0; c < layout->component_count; c++) {
        const proto_row_component* own = &layout->components[c];
        bool is_stirred = base_rng_chance(rng, 0.4);
        for (uint32_t i = 0; i < own->field_count; i++) {
            uint32_t f = own->field_first + i;
            const proto_quant* quant = &layout->fields[f].quant;
            if (base_rng_chance(rng, 0.05)) pace[f] = (int32_t)base_rng_below(rng, 200) - 100;
            if (base_rng_chance(rng, 0.1)) pace[f] = 0;
            uint64_t word = before[f] + (uint64_t)(int64_t)pace[f];
            if (quant->is_elastic)
                word = pace[f] ? step_elastic(quant, rng, before[f], pace[f]) : before[f];
            if (is_stirred && base_rng_chance(rng, 0.5)) word += base_rng_below(rng, 7) - 3;
            if (base_rng_chance(rng, 0.02)) word = base_rng_u64(rng);
            if (own->is_source && base_rng_chance(rng, 0.15)) word = SPEED_NONE;
            if (own->is_source && base_rng_chance(rng, 0.1))
                word = SPEED_NONE - 4 + base_rng_below(rng, 9);
            row[f] = proto_quant_canonical(quant, word & all_bits(quant));
        }
        if (!own->is_rotation) continue;
        memcpy(row + own->field_first, before + own->field_first, 4 * sizeof *row);
        if (base_rng_chance(rng, 0.1)) {
            random_rotation(layout, c, rng, row);
        } else if (is_stirred) {
            double memory[4];
            proto_row_write_component(layout, c, before, memory);
            float part;
            memcpy(&part, memory, sizeof part);
            part += 0.05f;
            memcpy(memory, &part, sizeof part);
            proto_row_read_component(layout, c, memory, row);
        }
    }
}

// The rows of an entity, each made of the one before it; the last three are of any words.
static inline void random_rows(const proto_layout* layout, base_rng* rng,
                               uint64_t (*rows)[WORDS_MAX]) {
    int32_t pace[WORDS_MAX] = {0};
    memset(rows, 0, STEPS * sizeof *rows);
    for (uint32_t c = 0; c < layout->component_count; c++)
        if (layout->components[c].is_rotation) random_rotation(layout, c, rng, rows[0]);
    for (uint32_t f = 0; f < layout->field_count; f++)
        rows[0][f] = proto_quant_canonical(&layout->fields[f].quant, rows[0][f]);
    for (uint32_t i = 1; i < STEPS - 3; i++)
        step_row(layout, rng, rows[i - 1], pace, rows[i]);
    for (uint32_t i = STEPS - 3; i < STEPS; i++) {
        for (uint32_t f = 0; f < layout->field_count; f++) {
            const uint64_t all = all_bits(&layout->fields[f].quant);
            const uint64_t word = base_rng_chance(rng, 0.2) ? all >> 1 : base_rng_u64(rng);
            rows[i][f] = proto_quant_canonical(&layout->fields[f].quant, word & all);
        }
        for (uint32_t c = 0; c < layout->component_count; c++)
            if (layout->components[c].is_rotation) random_rotation(layout, c, rng, rows[i]);
    }
}

static inline bool are_all(const uint8_t* bytes, size_t first, size_t end, uint8_t value) {
    for (; first < end; first++)
        if (bytes[first] != value) return false;
    return true;
}
