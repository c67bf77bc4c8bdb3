// SPDX-License-Identifier: MIT
// WIRE.md, "Bits" and "Quantisation": the page's text as code, without any optimisation.
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

uint64_t element_canonical(const cf_element* element, uint64_t word) {
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
        if (element->kind == K_F32) return element_canonical(element, bits32);
        if (element->kind == K_F64) return element_canonical(element, bits64);
        return (number < 0 ? (uint64_t)(int64_t)number : (uint64_t)number) & mask(element->bits);
    }
    double q = round((number - element->min) / element->step);
    if (!(q > 0)) return 0;
    return q >= (double)element->q_max ? element->q_max : (uint64_t)q;
}

uint64_t element_quantise_f32(const cf_element* element, uint32_t float_bits) {
    float value;
    memcpy(&value, &float_bits, sizeof value);
    return element->is_exact ? element_canonical(element, float_bits)
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

// ---- rotations ----

bool rotation_is_canonical(const uint64_t words[4], uint64_t q_max) {
    int64_t q = (int64_t)q_max, most = 6, rest = 2 * q * q;
    for (int i = 1; i < 4; i++) {
        int64_t part = 2 * (int64_t)words[i] - q, size = part < 0 ? -part : part;
        if (words[i] > q_max) return false;
        if (size > most) most = size;
        rest -= part * part;
    }
    return rest >= (most - 6) * (most - 6);
}

static void rotation_words(const double parts[4], double length, uint64_t q, uint64_t words[4]) {
    words[0] = 0;
    for (uint64_t i = 1; i < 4; i++)
        if (fabs(parts[i]) > fabs(parts[words[0]])) words[0] = i;
    double sign = parts[words[0]] < 0 ? -1 : 1;
    for (uint64_t i = 0, w = 1; i < 4; i++) {
        if (i == words[0]) continue;
        double word = round((sign * parts[i] / length * sqrt(2) + 1) * (double)q / 2);
        words[w++] = word <= 0 ? 0 : word >= (double)q ? q : (uint64_t)word;
    }
}

void rotation_quantise(const float parts[4], uint32_t bits, uint64_t words[4]) {
    double wide[4], square = 0;
    uint64_t q = (UINT64_C(1) << bits) - 2;
    for (int i = 0; i < 4; i++) {
        wide[i] = (double)parts[i];
        square += wide[i] * wide[i];
    }
    if (!(square > 1e-12 && square < 1e12)) {
        wide[0] = wide[1] = wide[2] = 0;
        wide[3] = square = 1;
    }
    rotation_words(wide, 1, q, words);
    if (fabs(square - 1) * (double)q < 8 && rotation_is_canonical(words, q)) return;
    rotation_words(wide, sqrt(square), q, words);
}

void rotation_restore(const uint64_t words[4], uint32_t bits, float parts[4]) {
    double q = (double)((UINT64_C(1) << bits) - 2), rest = 1, most = 0;
    for (uint64_t i = 0, w = 1; i < 4; i++) {
        if (i == words[0]) continue;
        double part = (2 * (double)words[w++] - q) / q / sqrt(2);
        rest -= part * part;
        most = fmax(most, fabs(part));
        parts[i] = (float)part;
    }
    parts[words[0]] = (float)fmax(rest > 0 ? sqrt(rest) : 0, 1.000001 * most);
}
