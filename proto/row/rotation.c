// SPDX-License-Identifier: MIT
// Rotations as "smallest three" (Glenn Fiedler, "Snapshot Compression", 2015), and their
// extrapolation.
//
// The largest part is not sent. It follows from the length 1 and is at least 1/2, so its error is
// small. Rounding may make one of the other parts a little larger than the rest that is left for
// the largest. Such words stay canonical within a margin. Dequantising raises the largest part
// above them, so that quantising finds the same words again. The quaternion is then longer than 1
// by a few steps, and quantising accepts lengths near 1 as they are.
//
// Extrapolation is linear: it continues the straight line through both bases in four dimensions and
// scales the result to length 1. It uses only integers, so that every reader expects the same
// words.
#include "row/row_coder.h"

#include "base/assert.h"
#include "base/math.h"

#include <string.h>

// Parts are in half steps (2 a - q_max), with PART_SHIFT more bits of precision for the largest.
enum {
    PART_SHIFT = 4,
    MARGIN_HALF_STEPS = 6,
    Q_MAX_LEAST = (1 << PROTO_ROTATION_BITS_MIN) - 2,
    Q_MAX_MOST = (1 << PROTO_ROTATION_BITS_MAX) - 2,
};
#define SQRT_2 1.4142135623730951
// The largest part is at least RAISE times the others: more than a float's rounding, less than half
// a step.
#define RAISE 1.000001

// IEEE 754 defines the result exactly. With -fno-math-errno it is one instruction.
static double square_root(double value) {
    return __builtin_sqrt(value);
}

// The whole root, rounded down.
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

// The square that is left for the largest part, in half steps. It is negative for some untrusted
// words. `most` gets the largest magnitude of the other parts.
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

// The words of parts * factor.
static void round_parts(uint64_t q_max, const double* parts, double factor, uint64_t* words) {
    uint32_t largest = 0;
    for (uint32_t i = 1; i < 4; i++)
        if (__builtin_fabs(parts[i]) > __builtin_fabs(parts[largest])) largest = i;
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
    BASE_ASSERT(q_max >= Q_MAX_LEAST && q_max <= Q_MAX_MOST);
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
        if (__builtin_fabs(parts[i]) > most) most = __builtin_fabs(parts[i]);
    }
    double largest = left > 0 ? square_root(left) : 0;
    if (largest < most * RAISE) largest = most * RAISE;
    for (uint32_t i = 0, n = 0; i < 4; i++) {
        float part = (float)(i == (words[0] & 3) ? largest : parts[n++]);
        memcpy((uint8_t*)memory + fields[i].offset_bytes, &part, sizeof part);
    }
}

// The four parts of words, in half steps << PART_SHIFT.
void proto_rotation_parts(uint64_t q_max, const uint64_t* words, int64_t* parts) {
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
    BASE_ASSERT(base[0] < 4 && (!base2 || base2[0] < 4));
    proto_rotation_guess guess = {.largest = (uint32_t)base[0]};
    proto_rotation_parts(q_max, base, guess.parts);
    if (base2 && memcmp(base, base2, PROTO_ROTATION_WORDS * sizeof *base) != 0) {
        int64_t older[4], dot = 0, motion = 0;
        proto_rotation_parts(q_max, base2, older);
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
        // When two parts are nearly equal, the largest part of the base is the better guess.
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
    BASE_ASSERT(q_max >= Q_MAX_LEAST && q_max <= Q_MAX_MOST);
    return (int64_t)root(2 * q_max * q_max << 2 * PART_SHIFT);
}

void proto_rotation_words(const proto_rotation_guess* guess, uint64_t q_max, int64_t unit,
                          uint32_t largest, uint64_t* three) {
    BASE_ASSERT(largest < 4 && unit > 0);
    int64_t length = guess->length > 0 ? guess->length : 1;
    if (guess->parts[largest] < 0) unit = -unit;
    for (uint32_t i = 0, n = 0; i < 4; i++) {
        if (i == largest) continue;
        int64_t part = guess->parts[i] * unit / length;
        int64_t word = (part + (((int64_t)q_max + 1) << PART_SHIFT)) >> (PART_SHIFT + 1);
        three[n++] = (uint64_t)(word < 0 ? 0 : word > (int64_t)q_max ? (int64_t)q_max : word);
    }
}
