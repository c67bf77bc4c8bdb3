// SPDX-License-Identifier: MIT
// Smallest three, as in Glenn Fiedler, "Snapshot Compression" (2015), and where a rotation goes next.
//
// The largest part is not sent: it follows from the length 1 and is at least 1/2, so it is exact where it
// matters. Rounding the others may make one of them a little larger than what is left for the largest; such words
// stay canonical within a margin, and dequantising raises the largest above them, so that quantising finds the same
// words again. That makes the quaternion longer than 1 by a few steps: quantising leaves lengths near 1 as they are.
//
// Expecting is linear: the straight line through both bases goes on in four dimensions and is brought back to
// length 1. All of it in integers, so that every reader expects the same.
#include "row/rotation.h"

#include "base/assert.h"
#include "base/math.h"

#include <string.h>

// Parts are in half steps (2 a - q_max), with 4 more bits below for the largest.
enum { PART_SHIFT = 4, MARGIN_HALF_STEPS = 6 };
#define SQRT_2 1.4142135623730951
#define RAISE                                                                                      \
    1.000001 // so much above the others: more than a float's rounding, less than half a step

// IEEE 754 fixes its result; with -fno-math-errno it is one instruction.
static double square_root(double value) {
    return __builtin_sqrt(value);
}

static double magnitude_f64(double value) {
    return value < 0 ? -value : value;
}

static uint64_t root(uint64_t square) {
    uint64_t low = (uint64_t)square_root((double)square);
    while (low * low > square)
        low--;
    while ((low + 1) * (low + 1) <= square)
        low++;
    return low;
}

static int64_t half_steps(uint64_t q_max, uint64_t word) {
    return 2 * (int64_t)word - (int64_t)q_max;
}

// What is left for the largest, squared, in half steps; may be negative for words that are none.
static int64_t rest(uint64_t q_max, const uint64_t* words, int64_t* most) {
    int64_t left = 2 * (int64_t)(q_max * q_max);
    *most = 0;
    for (uint32_t i = 1; i < PROTO_ROTATION_WORDS; i++) {
        int64_t part = half_steps(q_max, words[i]);
        left -= part * part;
        if (part < 0) part = -part;
        if (part > *most) *most = part;
    }
    return left;
}

bool proto_rotation_is_canonical(uint64_t q_max, const uint64_t* words) {
    int64_t most;
    int64_t left = rest(q_max, words, &most);
    most = most > MARGIN_HALF_STEPS ? most - MARGIN_HALF_STEPS : 0;
    return words[0] < 4 && words[1] <= q_max && words[2] <= q_max && words[3] <= q_max &&
           left >= most * most;
}

static void round_parts(uint64_t q_max, const double* parts, double factor, uint64_t* words) {
    uint32_t largest = 0;
    for (uint32_t i = 1; i < 4; i++)
        if (magnitude_f64(parts[i]) > magnitude_f64(parts[largest])) largest = i;
    double sign = parts[largest] < 0 ? -1 : 1;
    words[0] = largest;
    for (uint32_t i = 0, n = 1; i < 4; i++) {
        if (i == largest) continue;
        double q = (parts[i] * sign * factor * SQRT_2 + 1) * (double)q_max * 0.5;
        int64_t whole = base_round_i64(q);
        words[n++] = (uint64_t)(whole < 0 ? 0 : whole > (int64_t)q_max ? (int64_t)q_max : whole);
    }
}

void proto_rotation_quantise(const proto_row_field* fields, const void* memory, uint64_t* words) {
    uint64_t q_max = fields[1].quant.q_max;
    double parts[4], square = 0;
    for (uint32_t i = 0; i < 4; i++) {
        float part;
        memcpy(&part, (const uint8_t*)memory + fields[i].offset_bytes, sizeof part);
        parts[i] = (double)part;
        square += parts[i] * parts[i];
    }
    if (!(square > 1e-12 && square < 1e12)) {
        memset(parts, 0, sizeof parts);
        parts[3] = square = 1;
    }
    double off = square - 1;
    if (off * (double)q_max < 8 && off * (double)q_max > -8) {
        round_parts(q_max, parts, 1, words);
        if (proto_rotation_is_canonical(q_max, words)) return;
    }
    round_parts(q_max, parts, 1 / square_root(square), words);
}

void proto_rotation_dequantise(const proto_row_field* fields, const uint64_t* words, void* memory) {
    uint64_t q_max = fields[1].quant.q_max;
    double parts[3], left = 1, most = 0;
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t word = words[i + 1] < q_max ? words[i + 1] : q_max;
        parts[i] = (double)half_steps(q_max, word) / (double)q_max / SQRT_2;
        left -= parts[i] * parts[i];
        if (magnitude_f64(parts[i]) > most) most = magnitude_f64(parts[i]);
    }
    double largest = left > 0 ? square_root(left) : 0;
    if (largest < most * RAISE) largest = most * RAISE;
    for (uint32_t i = 0, n = 0; i < 4; i++) {
        float part = (float)(i == (words[0] & 3) ? largest : parts[n++]);
        memcpy((uint8_t*)memory + fields[i].offset_bytes, &part, sizeof part);
    }
}

static void spread(uint64_t q_max, const uint64_t* words, int64_t* parts) {
    int64_t most;
    int64_t left = rest(q_max, words, &most);
    for (uint32_t i = 0, n = 1; i < 4; i++) {
        parts[i] = i == words[0] ? (int64_t)root((uint64_t)(left > 0 ? left : 0) << 2 * PART_SHIFT)
                                 : half_steps(q_max, words[n++]) * (1 << PART_SHIFT);
    }
}

static int64_t magnitude(int64_t value) {
    return value < 0 ? -value : value;
}

proto_rotation_guess proto_rotation_expect(uint64_t q_max, const uint64_t* base,
                                           const uint64_t* base2, uint32_t ticks, uint32_t ticks2) {
    proto_rotation_guess guess = {.largest = (uint32_t)base[0]};
    spread(q_max, base, guess.parts);
    if (base2 && memcmp(base, base2, PROTO_ROTATION_WORDS * sizeof *base) != 0) {
        int64_t older[4], dot = 0, motion = 0;
        spread(q_max, base2, older);
        for (uint32_t i = 0; i < 4; i++)
            dot += guess.parts[i] * older[i];
        for (uint32_t i = 0; i < 4; i++) {
            if (dot < 0) older[i] = -older[i];
            int64_t step = guess.parts[i] - older[i];
            motion += magnitude(step);
            guess.parts[i] = guess.parts[i] * ticks2 + step * ticks;
        }
        guess.motion = (uint32_t)(motion >> (PART_SHIFT + 1));
        uint32_t largest = 0;
        for (uint32_t i = 1; i < 4; i++)
            if (magnitude(guess.parts[i]) > magnitude(guess.parts[largest])) largest = i;
        // Near a tie the largest is rather what it was.
        int64_t most = magnitude(guess.parts[largest]);
        if (magnitude(guess.parts[base[0]]) < most - most / 32) guess.largest = largest;
    }
    uint64_t square = 0;
    for (uint32_t i = 0; i < 4; i++)
        square += (uint64_t)(guess.parts[i] * guess.parts[i]);
    guess.length = (int64_t)root(square);
    return guess;
}

int64_t proto_rotation_unit(uint64_t q_max) {
    return (int64_t)root(2 * q_max * q_max << 2 * PART_SHIFT);
}

void proto_rotation_words(const proto_rotation_guess* guess, uint64_t q_max, int64_t unit,
                          uint32_t largest, uint64_t* three) {
    int64_t length = guess->length > 0 ? guess->length : 1;
    if (guess->parts[largest] < 0) unit = -unit;
    for (uint32_t i = 0, n = 0; i < 4; i++) {
        if (i == largest) continue;
        int64_t part = guess->parts[i] * unit / length;
        int64_t word = (part + (((int64_t)q_max + 1) << PART_SHIFT)) >> (PART_SHIFT + 1);
        three[n++] = (uint64_t)(word < 0 ? 0 : word > (int64_t)q_max ? (int64_t)q_max : word);
    }
}
