// SPDX-License-Identifier: MIT
// ROWS.md, "Components" and "Numbers": symbols, numbers, and the coded components. row_write and
// row_read are the same walk.
#include "row.h"

#include <string.h>

enum { SYMBOL_SIGN = 7, SYMBOL_GROUPS = 11, SYMBOL_WORD = 37, SYMBOL_OTHER = 38 };
enum { ROW_UNSCALED = 28, ROW_WHOLE = 29, ROW_EXACT = 30 };

void code_bits(row_coder* coder, uint64_t* value, uint32_t count) {
    if (coder->is_writing)
        bits_write(coder->bits, *value, count);
    else
        *value = bits_read(coder->bits, count);
}

void code_symbol(row_coder* coder, const cf_prefix* prefix, uint32_t* symbol) {
    if (coder->is_writing) {
        prefix_write(prefix, *symbol, coder->bits);
        return;
    }
    *symbol = prefix_read(prefix, coder->bits);
}

static uint32_t bit_length(uint64_t value) {
    uint32_t length = 0;
    while (length < 64 && value >> length)
        length++;
    return length;
}

static uint64_t size_of(int64_t difference) {
    return difference < 0 ? 0 - (uint64_t)difference : (uint64_t)difference;
}

// Symbols 7..10 are sizes 4..7. Then each octave has two symbols, followed by `low` bits.
static uint32_t symbol_of(uint64_t size, uint32_t* low) {
    *low = 0;
    if (size < 8) return SYMBOL_SIGN + (uint32_t)size - 4;
    uint32_t k = bit_length(size) - 4;
    *low = k + 2;
    return SYMBOL_GROUPS + 2 * k + (size >> (k + 2) & 1);
}

static uint32_t choose_symbol(const cf_prefix* prefix, uint32_t bits, const cf_number* number) {
    uint64_t size = size_of(number->difference);
    uint32_t low;
    if (number->is_other) return SYMBOL_OTHER;
    if (size < 4) return size == 0 ? 0 : (uint32_t)(2 * size - (number->difference > 0));
    if (size >= 1 << 16) return SYMBOL_WORD;
    uint32_t symbol = symbol_of(size, &low);
    bool is_shorter = symbol >= SYMBOL_GROUPS &&
                      prefix->lengths[SYMBOL_WORD] + bits < prefix->lengths[symbol] + 1 + low;
    return is_shorter ? SYMBOL_WORD : symbol;
}

void code_number(row_coder* coder, const cf_prefix* prefix, uint32_t bits, cf_number* number) {
    uint32_t symbol = coder->is_writing ? choose_symbol(prefix, bits, number) : 0;
    code_symbol(coder, prefix, &symbol);
    uint64_t size = size_of(number->difference), is_negative = number->difference < 0;
    number->is_other = symbol == SYMBOL_OTHER;
    number->is_word = symbol == SYMBOL_WORD;
    if (number->is_other) return;
    if (number->is_word) {
        code_bits(coder, &number->word, bits);
        return;
    }
    if (symbol < SYMBOL_SIGN) {
        size = (symbol + 1) / 2;
        is_negative = symbol > 0 && symbol % 2 == 0;
    } else if (symbol < SYMBOL_GROUPS) {
        size = symbol - SYMBOL_SIGN + 4;
        code_bits(coder, &is_negative, 1);
    } else {
        uint32_t k = (symbol - SYMBOL_GROUPS) / 2, j = (symbol - SYMBOL_GROUPS) % 2;
        code_bits(coder, &is_negative, 1);
        uint64_t low = size & ((UINT64_C(1) << (k + 2)) - 1);
        code_bits(coder, &low, k + 2);
        size = ((uint64_t)(2 + j) << (k + 2)) + low;
    }
    number->difference = is_negative ? -(int64_t)size : (int64_t)size;
}

int row_of_scale(const row_coder* coder, int scale) {
    int t = (int)divide_down(4 * scale + coder->surprise + 2, 4);
    return t < 0 ? 0 : t > SCALE_MAX ? SCALE_MAX : t;
}

void change_surprise(row_coder* coder, int t, int64_t difference) {
    coder->surprise += (4 * log_halves(2 * size_of(difference) + 1) - (3 * t + 8)) / 2;
}

void code_scaled(row_coder* coder, uint32_t field, uint64_t expected, int scale, bool* is_other) {
    const cf_tables* tables = coder->layout->tables;
    const cf_element* element = &coder->layout->elements[field];
    int t = scale != SCALE_NONE ? row_of_scale(coder, scale) : ROW_UNSCALED;
    cf_number number = {.difference = words_apart(coder->row[field], expected, element->bits),
                        .word = coder->row[field],
                        .is_other = is_other && *is_other};
    code_number(coder, &tables->rows[TABLE_NUMBER_PLAIN][t], element->bits, &number);
    if (number.is_other && !is_other) coder->bits->failed = true;
    if (is_other) *is_other = number.is_other;
    if (number.is_other) return;
    if (!number.is_word) number.word = words_add(expected, number.difference, element->bits);
    if (!coder->is_writing) coder->row[field] = element_canonical(element, number.word);
    if (number.is_word) number.difference = words_apart(coder->row[field], expected, element->bits);
    if (scale != SCALE_NONE) change_surprise(coder, t, number.difference);
}

// ---- warm and quiet components ----

static void code_entity(row_coder* coder, uint64_t* handle) {
    uint64_t is_none = *handle == 0, generation = *handle >> 22, is_young = generation == 1;
    code_bits(coder, &is_none, 1);
    uint32_t index = (uint32_t)(*handle & 0x3fffff);
    *handle = 0;
    if (is_none) return;
    if (coder->is_writing)
        golomb_write(coder->bits, 7, index);
    else
        index = golomb_read(coder->bits, 7);
    if (index > 0x3fffff) coder->bits->failed = true;
    code_bits(coder, &is_young, 1);
    if (is_young)
        generation = 1;
    else
        code_bits(coder, &generation, 10);
    *handle = generation << 22 | index;
}

static void code_field(row_coder* coder, uint32_t c, uint32_t field) {
    int scale = coder->plans[c].scale;
    const cf_element* element = &coder->layout->elements[field];
    uint64_t expected = coder->expected[field], *word = &coder->row[field];
    if (element->bits == 1) {
        *word = expected ^ 1;
        return;
    }
    if (element->kind == K_ENTITY) {
        code_entity(coder, word);
        return;
    }
    if (element->is_elastic) {
        code_elastic(coder, c, field);
        return;
    }
    bool is_float = element->kind == K_F32 || element->kind == K_F64;
    int place = !is_float             ? ROW_WHOLE
                : element->is_exact   ? ROW_EXACT
                : scale != SCALE_NONE ? scale
                                      : ROW_UNSCALED;
    cf_number number = {.difference = words_apart(*word, expected, element->bits), .word = *word};
    code_number(coder, &coder->layout->tables->rows[TABLE_NUMBER_OTHER][place], element->bits,
                &number);
    if (number.is_other) coder->bits->failed = true;
    if (coder->is_writing) return;
    *word = number.is_word ? number.word : words_add(expected, number.difference, element->bits);
    *word = element_canonical(element, *word);
}

// Up to 64 fields from `first`, at least one of which differs.
static void code_which(row_coder* coder, uint32_t first, uint32_t count, uint64_t* differs) {
    for (uint32_t i = 0; i < count; i++)
        if (coder->row[first + i] != coder->expected[first + i]) *differs |= UINT64_C(1) << i;
    if (count == 1) {
        *differs = 1;
    } else if (count <= 4) {
        uint32_t symbol = (uint32_t)*differs;
        code_symbol(coder, &coder->layout->tables->rows[TABLE_FIELD][count - 2], &symbol);
        *differs = symbol;
    } else {
        code_mask(coder, count, differs, false);
    }
}

static void code_fields(row_coder* coder, uint32_t c) {
    uint32_t first = coder->layout->first[c], count = coder->layout->count[c];
    uint64_t differs[ELEMENTS_MAX / 64] = {0};
    for (uint32_t i = 0; i < count && !coder->is_writing; i++)
        coder->row[first + i] = coder->expected[first + i];
    if (count <= 64) code_which(coder, first, count, differs);
    for (uint32_t g = 0; count > 64 && g * 64 < count; g++) {
        uint32_t rest = count - g * 64 < 64 ? count - g * 64 : 64;
        uint64_t is_any = memcmp(coder->row + first + g * 64, coder->expected + first + g * 64,
                                 rest * sizeof *coder->row) != 0;
        code_bits(coder, &is_any, 1);
        if (!is_any) continue;
        uint64_t* mask = &differs[g];
        for (uint32_t i = 0; i < rest; i++)
            if (coder->row[first + g * 64 + i] != coder->expected[first + g * 64 + i])
                *mask |= UINT64_C(1) << i;
        code_mask(coder, rest, mask, false);
    }
    for (uint32_t i = 0; i < count && !coder->bits->failed; i++)
        if (differs[i / 64] >> (i % 64) & 1) code_field(coder, c, first + i);
}

// ---- live components ----

static void code_live_source(row_coder* coder, uint32_t c) {
    const cf_layout* layout = coder->layout;
    uint32_t first = layout->first[c], count = layout->count[c], best = first;
    int scale = coder->plans[c].scale;
    int64_t steps[ELEMENTS_MAX];
    for (uint32_t i = first; i < first + count; i++) {
        steps[i] = words_apart(coder->base[i], coder->base2[i], layout->elements[i].bits);
        if (size_of(steps[i]) > size_of(steps[best])) best = i;
    }
    code_scaled(coder, best, coder->expected[best], scale, NULL);
    int64_t p = steps[best];
    int64_t r = words_apart(coder->row[best], coder->expected[best], layout->elements[best].bits);
    for (uint32_t i = first; i < first + count; i++) {
        if (i == best) continue;
        int64_t way = 2 * r * steps[i] + p;
        uint64_t expected =
            words_add(coder->expected[i], divide_down(way, 2 * p), layout->elements[i].bits);
        coder->surprise = 0;
        code_scaled(coder, i, expected, scale > 4 ? scale - 4 : 0, NULL);
    }
}

static void code_live(row_coder* coder, uint32_t c) {
    const cf_layout* layout = coder->layout;
    if (layout->is_source[c]) {
        code_live_source(coder, c);
        return;
    }
    for (uint32_t i = layout->first[c]; i < layout->first[c] + layout->count[c]; i++)
        if (layout->shape[c] == SHAPE_ELASTIC)
            code_elastic(coder, c, i);
        else
            code_scaled(coder, i, coder->expected[i], coder->plans[c].scale, NULL);
}

// ---- the walk ----

static void code_part(row_coder* coder, uint32_t c) {
    const cf_layout* layout = coder->layout;
    if (layout->source[c] >= 0 && coder->h > 0) expect_driven(coder, c);
    if (!coder->is_coded[c])
        memcpy(coder->row + layout->first[c], coder->expected + layout->first[c],
               layout->count[c] * sizeof *coder->row);
    else if (layout->shape[c] == SHAPE_ROTATION)
        code_rotation(coder, c);
    else if (coder->plans[c].kind == PART_LIVE)
        code_live(coder, c);
    else if (coder->plans[c].kind == PART_DRIVEN)
        code_driven(coder, c);
    else
        code_fields(coder, c);
}

void code_parts(row_coder* coder) {
    const cf_layout* layout = coder->layout;
    for (int is_driven = 0; is_driven < 2; is_driven++)
        for (uint32_t c = 0; c < layout->component_count && !coder->bits->failed; c++) {
            if ((layout->source[c] >= 0) != is_driven) continue;
            code_part(coder, c);
            coder->surprise /= 2;
        }
}

void row_begin(row_coder* coder, const cf_layout* layout, const cf_bases* bases, bit_stream* bits) {
    *coder = (row_coder){.layout = layout, .base = bases->base, .bits = bits};
    coder->h = bases->ticks > 32 ? 0 : bases->ticks;
    if (coder->h > 0 && bases->base2 && bases->ticks2 >= 1 && bases->ticks2 <= 255) {
        coder->base2 = bases->base2;
        coder->d = bases->ticks2;
    }
    plan_row(coder);
}

// A writer codes the components that differ from their expected words.
static void compare(row_coder* coder) {
    const cf_layout* layout = coder->layout;
    for (uint32_t c = 0; c < layout->component_count; c++) {
        if (layout->source[c] >= 0 && coder->h > 0) expect_driven(coder, c);
        coder->is_coded[c] =
            memcmp(coder->row + layout->first[c], coder->expected + layout->first[c],
                   layout->count[c] * sizeof *coder->row) != 0;
    }
}

void row_write(const cf_layout* layout, const cf_bases* bases, const uint64_t* row,
               bit_stream* bits) {
    row_coder coder;
    row_begin(&coder, layout, bases, bits);
    coder.is_writing = true;
    memcpy(coder.row, row, layout->element_count * sizeof *row);
    compare(&coder);
    bit_stream before = *bits;
    code_head(&coder);
    code_parts(&coder);
    if (!row_is_hidden(&coder, before)) return;
    *bits = before;
    if (bits->at % 8 > 0) bits->data[bits->at / 8] &= (uint8_t)((1u << bits->at % 8) - 1);
    row_begin(&coder, layout, bases, bits);
    coder.is_writing = true;
    memcpy(coder.row, row, layout->element_count * sizeof *row);
    compare(&coder);
    uint64_t mark = 1 << 6;
    code_bits(&coder, &mark, 7);
    code_head(&coder);
    code_parts(&coder);
}

void row_read(const cf_layout* layout, const cf_bases* bases, uint64_t* row, bit_stream* bits) {
    row_coder coder;
    row_begin(&coder, layout, bases, bits);
    code_head(&coder);
    code_parts(&coder);
    memcpy(row, bits->failed ? bases->base : coder.row, layout->element_count * sizeof *row);
}

bool row_read_absent(bit_stream* bits) {
    bit_stream ahead = *bits;
    for (int i = 0; i < 6; i++)
        if (bits_read(&ahead, 1) != (i == 5) || ahead.failed) return false;
    *bits = ahead;
    return true;
}

void row_write_absent(bit_stream* bits) {
    bits_write(bits, 1 << 5, 6);
}
