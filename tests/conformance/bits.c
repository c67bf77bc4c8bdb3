// SPDX-License-Identifier: MIT
// WIRE.md: "Bits", "Quantisation" and "Row", as the page says them and as slowly as it says them.
#include "conform.h"

#include <math.h>
#include <string.h>

bit_stream bits_over(uint8_t* data, size_t bytes) {
    return (bit_stream){.data = data, .size_bits = bytes * 8};
}

uint64_t bits_read(bit_stream* bits, uint32_t count) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < count; i++, bits->at++) {
        if (bits->at >= bits->size_bits) {
            bits->failed = true;
            return 0;
        }
        value |= (uint64_t)(bits->data[bits->at / 8] >> (bits->at % 8) & 1) << i;
    }
    return value;
}

void bits_write(bit_stream* bits, uint64_t value, uint32_t count) {
    for (uint32_t i = 0; i < count; i++, bits->at++) {
        if (bits->at >= bits->size_bits) {
            bits->failed = true;
            return;
        }
        if (bits->at % 8 == 0) bits->data[bits->at / 8] = 0;
        bits->data[bits->at / 8] |= (uint8_t)((value >> i & 1) << (bits->at % 8));
    }
}

uint32_t golomb_read(bit_stream* bits, uint32_t order) {
    uint32_t n = order;
    while (!bits->failed && bits_read(bits, 1) == 0)
        n++;
    if (n > 32) bits->failed = true;
    if (bits->failed) return 0;
    uint64_t u = (UINT64_C(1) << n) | bits_read(bits, n);
    uint64_t v = u - (UINT64_C(1) << order);
    if (v > UINT32_MAX) bits->failed = true;
    return bits->failed ? 0 : (uint32_t)v;
}

static uint32_t highest_bit(uint64_t u) {
    uint32_t n = 0;
    while (u >> n > 1)
        n++;
    return n;
}

void golomb_write(bit_stream* bits, uint32_t order, uint32_t value) {
    uint64_t u = (uint64_t)value + (UINT64_C(1) << order);
    uint32_t n = highest_bit(u);
    bits_write(bits, 0, n - order);
    bits_write(bits, 1, 1);
    bits_write(bits, u, n);
}

static const uint32_t kind_bits[] = {1, 8, 16, 32, 64, 8, 16, 32, 64, 32, 64, 32};

static bool is_float(int kind) {
    return kind == K_F32 || kind == K_F64;
}

static uint64_t mask(uint32_t bits) {
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

bool element_make(cf_element* made, int kind, uint32_t bits, double min, double step) {
    *made = (cf_element){.kind = kind, .bits = bits, .min = min, .step = step};
    if (bits == 0 || kind == K_BOOL || kind == K_ENTITY) {
        *made = (cf_element){.kind = kind, .bits = kind_bits[kind], .is_exact = true};
        made->q_max = mask(made->bits);
        return true;
    }
    made->q_max = mask(bits);
    if (is_float(kind)) {
        double most = fmax(fabs(min), fabs(min + (double)made->q_max * step));
        return step > 0 && most * (kind == K_F32 ? 0x1p-24 : 0x1p-50) <= 0.49 * step;
    }
    bool is_signed = kind <= K_I64;
    uint64_t largest = mask(kind_bits[kind] - (is_signed ? 1 : 0));
    uint64_t lowest = min < 0 ? (uint64_t)(int64_t)min : (uint64_t)min;
    if (largest - lowest < made->q_max) made->q_max = largest - lowest;
    return step == 1;
}

static uint64_t canonical(const cf_element* element, uint64_t word) {
    if (!element->is_exact) return word > element->q_max ? element->q_max : word;
    uint64_t infinity = element->kind == K_F32 ? 0x7f800000 : 0x7ff0000000000000;
    uint64_t magnitude = word & (element->kind == K_F32 ? 0x7fffffff : 0x7fffffffffffffff);
    if (!is_float(element->kind) || magnitude <= infinity) return word;
    return element->kind == K_F32 ? 0x7fc00000 : 0x7ff8000000000000;
}

uint64_t element_of_number(const cf_element* element, double number) {
    if (element->is_exact) {
        float narrow = (float)number;
        uint32_t bits32;
        uint64_t bits64;
        memcpy(&bits32, &narrow, sizeof bits32);
        memcpy(&bits64, &number, sizeof bits64);
        if (element->kind == K_F32) return canonical(element, bits32);
        if (element->kind == K_F64) return canonical(element, bits64);
        return (number < 0 ? (uint64_t)(int64_t)number : (uint64_t)number) & mask(element->bits);
    }
    double q = round((number - element->min) / element->step);
    if (!(q > 0)) return 0;
    return q >= (double)element->q_max ? element->q_max : (uint64_t)q;
}

uint64_t element_quantise_f32(const cf_element* element, uint32_t float_bits) {
    float value;
    memcpy(&value, &float_bits, sizeof value);
    return element->is_exact ? canonical(element, float_bits)
                             : element_of_number(element, (double)value);
}

uint32_t element_restore_f32(const cf_element* element, uint64_t word) {
    if (element->is_exact) return (uint32_t)word;
    double product = (double)word * element->step;
    float value = (float)(element->min + product);
    uint32_t float_bits;
    memcpy(&float_bits, &value, sizeof float_bits);
    return float_bits;
}

static uint32_t order_of(const cf_element* element) {
    return element->bits / 4 < 6 ? element->bits / 4 : 6;
}

static bool is_whole_only(const cf_element* element) {
    return element->bits == 2 || (element->is_exact && is_float(element->kind));
}

static uint64_t value_read(const cf_element* element, uint64_t base, bit_stream* bits) {
    if (element->bits == 1) return base ^ 1;
    if (is_whole_only(element) || bits_read(bits, 1))
        return canonical(element, bits_read(bits, element->bits));
    uint64_t z = (uint64_t)golomb_read(bits, order_of(element)) + 1;
    if (z > mask(element->bits)) bits->failed = true;
    uint64_t d = z % 2 == 0 ? z / 2 : 0 - (z / 2 + 1);
    return canonical(element, (base + d) & mask(element->bits));
}

static void value_write(const cf_element* element, uint64_t base, uint64_t word, bit_stream* bits) {
    if (element->bits == 1) return;
    if (is_whole_only(element)) {
        bits_write(bits, word, element->bits);
        return;
    }
    uint64_t d = (word - base) & mask(element->bits);
    bool is_negative = d >> (element->bits - 1) & 1;
    uint64_t z = is_negative ? 2 * ((0 - d) & mask(element->bits)) - 1 : 2 * d;
    uint32_t order = order_of(element);
    uint64_t n = z - 1 <= UINT32_MAX ? highest_bit(z - 1 + (UINT64_C(1) << order)) : 64;
    bool is_short = n - order + 1 + n < element->bits;
    bits_write(bits, !is_short, 1);
    if (is_short)
        golomb_write(bits, order, (uint32_t)(z - 1));
    else
        bits_write(bits, word, element->bits);
}

void row_read(const cf_layout* layout, const cf_bases* bases, bool is_listed, uint64_t* row,
              bit_stream* bits) {
    const uint64_t* base = bases->base;
    if (is_listed && bits_read(bits, 1)) bits->failed = true;
    memcpy(row, base, layout->element_count * sizeof *row);
    for (uint32_t c = 0; c < layout->component_count; c++) {
        uint32_t count = layout->count[c];
        if (count > 1 && layout->component_count > 1 && !bits_read(bits, 1)) continue;
        for (uint32_t i = layout->first[c]; i < layout->first[c] + count; i++)
            if (bits_read(bits, 1)) row[i] = value_read(&layout->elements[i], base[i], bits);
    }
}

void row_write(const cf_layout* layout, const cf_bases* bases, bool is_listed, const uint64_t* row,
               bit_stream* bits) {
    const uint64_t* base = bases->base;
    if (is_listed) bits_write(bits, 0, 1);
    for (uint32_t c = 0; c < layout->component_count; c++) {
        uint32_t first = layout->first[c], count = layout->count[c];
        bool differs = memcmp(base + first, row + first, count * sizeof *row) != 0;
        if (count > 1 && layout->component_count > 1) {
            bits_write(bits, differs, 1);
            if (!differs) continue;
        }
        for (uint32_t i = first; i < first + count; i++) {
            bits_write(bits, row[i] != base[i], 1);
            if (row[i] != base[i]) value_write(&layout->elements[i], base[i], row[i], bits);
        }
    }
}

bool row_read_absent(bit_stream* bits) {
    bit_stream ahead = *bits;
    if (!bits_read(&ahead, 1)) return false;
    *bits = ahead;
    return true;
}

void row_write_absent(bit_stream* bits) {
    bits_write(bits, 1, 1);
}
