// SPDX-License-Identifier: MIT
// Elastic fields (ROWS.md, "Elastic fields"): exact floats, most of which are near to something: a
// whole number, a point of a grid that the bases were on, the line through the bases. The bases say
// whether a word is expected to be a number of steps of a grid, or any float.
#include "row/row_coder.h"

#include "base/math.h"

enum { GRID_MAX = 6, GRID_NONE = GRID_MAX + 1 };

static double value_of(const proto_quant* quant, uint64_t word) {
    double value;
    if (quant->kind == PROTO_F32) {
        float single;
        const uint32_t bits = (uint32_t)word;
        memcpy(&single, &bits, sizeof single);
        return (double)single;
    }
    memcpy(&value, &word, sizeof value);
    return value;
}

static uint64_t word_of(const proto_quant* quant, double value) {
    uint64_t word;
    if (quant->kind == PROTO_F32) {
        const float single = (float)value;
        uint32_t bits;
        memcpy(&bits, &single, sizeof bits);
        return bits;
    }
    memcpy(&word, &value, sizeof word);
    return word;
}

bool proto_elastic_steps(const proto_quant* quant, uint64_t word, uint32_t grid, int64_t* steps) {
    const double value = value_of(quant, word) * (double)(1u << grid);
    if (!(value > -ROW_STEPS_LIMIT && value < ROW_STEPS_LIMIT)) return false;
    *steps = (int64_t)value;
    return (double)*steps == value && (*steps != 0 || word == 0);
}

static int64_t nearest_steps(const proto_quant* quant, uint64_t word, uint32_t grid) {
    const int64_t most = ROW_STEPS_LIMIT - 1;
    const double value = value_of(quant, word) * (double)(1u << grid);
    if (!(value > (double)-most)) return value < 0 ? -most : 0;
    return value < (double)most ? base_round_i64(value) : most;
}

uint64_t proto_elastic_word(const proto_quant* quant, int64_t steps, uint32_t grid) {
    return word_of(quant, (double)steps / (double)(1u << grid));
}

// The grid of one word; GRID_NONE: it is on none. Of a float of the size 2^n, the lowest bit of the
// fraction that is set says how fine it is.
static uint32_t grid_of(const proto_quant* quant, uint64_t word) {
    const row_float of = row_float_of(quant);
    const int32_t bias = of.fraction_bits == 23 ? 127 : 1023;
    const int32_t power = (int32_t)((word & ~of.sign) >> of.fraction_bits) - bias;
    if (power < -GRID_MAX || power >= ROW_STEPS_BITS - 2) return word == 0 ? 0 : GRID_NONE;
    const uint64_t one = UINT64_C(1) << of.fraction_bits;
    const int32_t lowest = __builtin_ctzll((word & (one - 1)) | one);
    const int32_t grid = (int32_t)of.fraction_bits - lowest - power;
    if (grid <= 0) return 0;
    return grid <= GRID_MAX && power + grid < ROW_STEPS_BITS - 2 ? (uint32_t)grid : GRID_NONE;
}

uint32_t proto_elastic_grid(const row_elastic* own) {
    uint32_t finest = 0;
    for (uint32_t i = 0; i < own->count; i++) {
        const proto_quant* quant = &own->fields[i].quant;
        if (!quant->is_elastic) continue;
        const uint32_t grid = grid_of(quant, own->base[i]);
        if (grid > finest && grid != GRID_NONE) finest = grid;
        if (own->base2[i] == own->base[i]) continue;
        const uint32_t grid2 = grid_of(quant, own->base2[i]);
        if (grid2 > finest && grid2 != GRID_NONE) finest = grid2;
    }
    return finest;
}

// The float on the line through two values; `base` when it is none.
static uint64_t float_line(const row_elastic* own, const proto_quant* quant, uint64_t base,
                           uint64_t base2) {
    const double value = value_of(quant, base), pace = value - value_of(quant, base2);
    const uint64_t word = word_of(quant, value + pace * (double)own->ticks / (double)own->ticks2);
    const double line = value_of(quant, word);
    return line - line == 0 ? word : base;
}

uint64_t proto_elastic_expect(const row_elastic* own, uint64_t* expected, bool* is_wild) {
    const int64_t ticks = own->ticks, ticks2 = own->ticks2;
    const uint32_t grid = proto_elastic_grid(own);
    uint64_t motion = 0;
    *is_wild = false;
    for (uint32_t i = 0; i < own->count; i++) {
        const proto_quant* quant = &own->fields[i].quant;
        const uint64_t base = own->base[i], base2 = own->base2[i];
        int64_t steps, steps2;
        expected[i] = base;
        if (base == base2) continue;
        const bool is_on = proto_elastic_steps(quant, base, grid, &steps);
        if (is_on && proto_elastic_steps(quant, base2, grid, &steps2)) {
            motion += row_magnitude(steps - steps2);
            steps += row_divide(2 * (steps - steps2) * ticks + ticks2, 2 * ticks2);
            if (steps > -ROW_STEPS_LIMIT && steps < ROW_STEPS_LIMIT)
                expected[i] = proto_elastic_word(quant, steps, grid);
            continue;
        }
        *is_wild = true;
        if (!is_on) expected[i] = float_line(own, quant, base, base2);
    }
    return motion;
}

// ---- writing ----

// Add a float with all of its bits, those of its exponent in four when it is a usual one.
static void add_float(row_code* code, const proto_quant* quant, uint64_t word) {
    const row_float of = row_float_of(quant);
    const uint64_t exponent = ((word & ~of.sign) >> of.fraction_bits) - of.least;
    row_code_add(code, exponent < ROW_EXPONENTS ? exponent : ROW_EXPONENTS, ROW_EXPONENT_BITS);
    if (exponent >= ROW_EXPONENTS) {
        row_code_add(code, word, quant->bits);
        return;
    }
    const uint64_t fraction = word & row_mask(of.fraction_bits);
    row_code_add(code, fraction << 1 | ((word & of.sign) != 0), of.fraction_bits + 1);
}

static uint64_t add_steps(row_code* code, const uint16_t* codes, const proto_quant* quant,
                          uint32_t grid, int64_t expected, uint64_t word) {
    int64_t steps;
    if (proto_elastic_steps(quant, word, grid, &steps))
        return row_code_number(code, codes, steps - expected,
                               (uint64_t)steps & row_mask(ROW_STEPS_BITS), ROW_STEPS_BITS);
    row_code_symbol(code, codes, PROTO_NUMBER_OTHER);
    add_float(code, quant, word);
    return ROW_ELASTIC_NO_SIZE;
}

uint64_t proto_elastic_write(row_code* code, const proto_tables* tables, const uint16_t* codes,
                             const row_elastic_word* own, uint64_t word) {
    const proto_quant* quant = own->quant;
    const uint16_t* any = tables->number_plain[PROTO_NUMBER_ANY];
    int64_t steps;
    if (own->is_on_grid) return add_steps(code, codes, quant, own->grid, own->steps, word);
    if (proto_elastic_steps(quant, word, own->grid, &steps)) {
        row_code_symbol(code, any, PROTO_NUMBER_OTHER);
        (void)add_steps(code, tables->number_plain[PROTO_NUMBER_STEPS], quant, own->grid,
                        own->steps, word);
        return ROW_ELASTIC_NO_SIZE;
    }
    uint64_t expected = own->expected;
    const uint64_t sign = UINT64_C(1) << (quant->bits - 1);
    if ((word ^ expected) & sign) {
        row_code_symbol(code, any, ROW_ANY_SIGN);
        expected ^= sign;
    }
    const int64_t off = row_difference(word, expected, quant->bits);
    const uint64_t size = row_magnitude(off);
    const uint32_t per = row_any_bits_per(quant);
    const uint32_t bits = size ? 64 - (uint32_t)__builtin_clzll(size) : 0;
    const uint32_t symbol = (bits + per - 1) / per;
    row_code_symbol(code, any, symbol);
    if (size == 0) return ROW_ELASTIC_NO_SIZE;
    row_code_add(code, off < 0, 1);
    row_code_add(code, per > 1 ? size : size & ~(UINT64_C(1) << (bits - 1)),
                 row_any_low_bits(quant, symbol));
    return ROW_ELASTIC_NO_SIZE;
}

row_elastic_word proto_elastic_word_of(const proto_quant* quant, uint32_t grid, uint64_t base,
                                       uint64_t expected) {
    row_elastic_word own = {.quant = quant, .grid = grid, .expected = expected};
    own.is_on_grid = proto_elastic_steps(quant, base, grid, &own.steps);
    if (!own.is_on_grid || !proto_elastic_steps(quant, expected, grid, &own.steps))
        own.steps = nearest_steps(quant, expected, grid);
    return own;
}
