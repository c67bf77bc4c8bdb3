// SPDX-License-Identifier: MIT
// ROWS.md, "Elastic fields": exact floats, coded by their steps on a grid or by the size of what
// differs.
#include "row.h"

#include <math.h>
#include <string.h>

enum { GRID_MAX = 6, STEP_BITS = 24, PLACE_WORD = 15 };
enum { SYMBOL_SIZES = 32, SYMBOL_TURNED = 33, SYMBOL_STEPS = 38, ROW_STEPS = 29, ROW_SIZES = 30 };

static double value_of(const cf_element* element, uint64_t word) {
    if (element->kind == K_F64) {
        double value;
        memcpy(&value, &word, sizeof value);
        return value;
    }
    uint32_t bits = (uint32_t)word;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static uint64_t word_of(const cf_element* element, double value) {
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    if (element->kind == K_F64) return word;
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

bool elastic_steps(const cf_element* element, uint64_t word, int grid, int64_t* steps) {
    double scaled = ldexp(value_of(element, word), grid);
    *steps = 0;
    if (!(fabs(scaled) < ELASTIC_STEPS_END) || scaled != trunc(scaled)) return false;
    *steps = (int64_t)scaled;
    return word != UINT64_C(1) << (element->bits - 1);
}

uint64_t elastic_word(const cf_element* element, int64_t steps, int grid) {
    return word_of(element, ldexp((double)steps, -grid));
}

static int grid_of_word(const cf_element* element, uint64_t word) {
    int64_t steps;
    for (int grid = 0; grid <= GRID_MAX; grid++)
        if (elastic_steps(element, word, grid, &steps)) return grid;
    return 0;
}

static int grid_of(const row_coder* coder, uint32_t c) {
    const cf_layout* layout = coder->layout;
    int grid = 0;
    for (uint32_t i = layout->first[c]; i < layout->first[c] + layout->count[c]; i++) {
        if (!layout->elements[i].is_elastic) continue;
        int own = grid_of_word(&layout->elements[i], coder->base[i]);
        int own2 = coder->base2 ? grid_of_word(&layout->elements[i], coder->base2[i]) : 0;
        grid = own > grid ? own : grid;
        grid = own2 > grid ? own2 : grid;
    }
    return grid;
}

static uint64_t expect_on_line(const row_coder* coder, uint32_t i) {
    const cf_element* element = &coder->layout->elements[i];
    double v = value_of(element, coder->base[i]), v2 = value_of(element, coder->base2[i]);
    double way = (v - v2) * (double)coder->h / (double)coder->d;
    uint64_t word = word_of(element, v + way);
    return isfinite(value_of(element, word)) ? word : coder->base[i];
}

static void expect_field(row_coder* coder, elastic_plan* plan, uint32_t i) {
    const cf_element* element = &coder->layout->elements[i];
    uint64_t base = coder->base[i], base2 = coder->base2[i];
    int64_t k, k2;
    if (base == base2) return;
    bool has = elastic_steps(element, base, plan->grid, &k);
    bool has2 = elastic_steps(element, base2, plan->grid, &k2);
    if (has && has2) {
        int64_t way = 2 * coder->h * (k - k2) + coder->d;
        int64_t steps = k + divide_down(way, 2 * coder->d);
        plan->sum += (uint64_t)(k < k2 ? k2 - k : k - k2);
        if (steps < ELASTIC_STEPS_END && steps > -ELASTIC_STEPS_END)
            coder->expected[i] = elastic_word(element, steps, plan->grid);
        return;
    }
    plan->is_wild = true;
    if (!has) coder->expected[i] = expect_on_line(coder, i);
}

void expect_elastic(row_coder* coder, uint32_t c) {
    const cf_layout* layout = coder->layout;
    elastic_plan* plan = &coder->elastic[c];
    *plan = (elastic_plan){.grid = grid_of(coder, c)};
    if (layout->shape[c] != SHAPE_ELASTIC || !coder->base2) return;
    for (uint32_t i = layout->first[c]; i < layout->first[c] + layout->count[c]; i++)
        expect_field(coder, plan, i);
}

// ---- a field with steps in base ----

// After symbol 38: the parts of a word without steps.
static void code_off_grid(row_coder* coder, uint32_t field) {
    const cf_element* element = &coder->layout->elements[field];
    uint64_t* word = &coder->row[field];
    uint32_t fraction_bits = element->kind == K_F64 ? 52 : 23;
    uint64_t least = element->kind == K_F64 ? 1019 : 123;
    uint64_t sign = *word >> (element->bits - 1),
             fraction = *word & ((UINT64_C(1) << fraction_bits) - 1);
    uint64_t exponent = (*word ^ sign << (element->bits - 1)) >> fraction_bits;
    uint64_t place = exponent - least < PLACE_WORD ? exponent - least : PLACE_WORD;
    code_bits(coder, &place, 4);
    if (place == PLACE_WORD) {
        code_bits(coder, word, element->bits);
        *word = element_canonical(element, *word);
        return;
    }
    code_bits(coder, &sign, 1);
    code_bits(coder, &fraction, fraction_bits);
    *word = sign << (element->bits - 1) | (place + least) << fraction_bits | fraction;
}

// @return false: the word is not one of steps. Otherwise `difference` is how far it is.
static bool code_steps(row_coder* coder, uint32_t c, uint32_t field, int64_t expected,
                       const cf_prefix* prefix, int64_t* difference) {
    const cf_element* element = &coder->layout->elements[field];
    int grid = coder->elastic[c].grid;
    int64_t steps = 0;
    bool has = elastic_steps(element, coder->row[field], grid, &steps);
    cf_number number = {.difference = words_apart((uint64_t)steps, (uint64_t)expected, STEP_BITS),
                        .word = words_add((uint64_t)steps, 0, STEP_BITS),
                        .is_other = !has};
    code_number(coder, prefix, STEP_BITS, &number);
    if (number.is_other) {
        code_off_grid(coder, field);
        return false;
    }
    if (!number.is_word) number.word = words_add((uint64_t)expected, number.difference, STEP_BITS);
    steps = words_apart(number.word, 0, STEP_BITS);
    if (steps >= ELASTIC_STEPS_END || steps <= -ELASTIC_STEPS_END) coder->bits->failed = true;
    coder->row[field] = elastic_word(element, steps, grid);
    *difference = words_apart((uint64_t)steps, (uint64_t)expected, STEP_BITS);
    return true;
}

static void code_known(row_coder* coder, uint32_t c, uint32_t field) {
    const cf_prefix *plain = coder->layout->tables->rows[TABLE_NUMBER_PLAIN],
                    *other = coder->layout->tables->rows[TABLE_NUMBER_OTHER];
    const cf_element* element = &coder->layout->elements[field];
    int grid = coder->elastic[c].grid, scale = coder->plans[c].scale;
    int64_t expected, difference = 0;
    (void)elastic_steps(element, coder->expected[field], grid, &expected);
    if (coder->plans[c].kind == PART_LIVE) {
        int t = row_of_scale(coder, scale);
        if (code_steps(coder, c, field, expected, &plain[t], &difference))
            change_surprise(coder, t, difference);
        return;
    }
    const cf_prefix* prefix = scale == SCALE_NONE ? &plain[ROW_STEPS] : &other[scale];
    (void)code_steps(coder, c, field, expected, prefix, &difference);
}

// ---- a field without steps in base ----

int64_t elastic_nearest(const cf_element* element, uint64_t word, int grid) {
    double most = ELASTIC_STEPS_END - 1, steps = round(ldexp(value_of(element, word), grid));
    return isnan(steps) ? 0 : (int64_t)fmin(fmax(steps, -most), most);
}

static uint64_t size_of(int64_t difference) {
    return difference < 0 ? 0 - (uint64_t)difference : (uint64_t)difference;
}

static uint32_t symbol_of_size(const cf_element* element, uint64_t size) {
    uint32_t length = 0;
    while (length < 64 && size >> length)
        length++;
    return element->kind == K_F64 ? (length + 1) / 2 : length;
}

// After a symbol of 1..32: how far the word is from the expected one.
static void code_size(row_coder* coder, const cf_element* element, uint32_t symbol,
                      int64_t* difference) {
    uint64_t is_negative = *difference < 0, size = size_of(*difference);
    uint32_t count = element->kind == K_F64 ? 2 * symbol : symbol - 1;
    code_bits(coder, &is_negative, 1);
    code_bits(coder, &size, count);
    if (element->kind == K_F32 && !coder->is_writing) size |= UINT64_C(1) << count;
    *difference = (int64_t)(is_negative ? 0 - size : size);
}

static void code_unknown(row_coder* coder, uint32_t c, uint32_t field) {
    const cf_element* element = &coder->layout->elements[field];
    const cf_prefix* plain = coder->layout->tables->rows[TABLE_NUMBER_PLAIN];
    const cf_prefix* prefix = &plain[ROW_SIZES];
    uint64_t expected = coder->expected[field], turned = UINT64_C(1) << (element->bits - 1);
    int64_t steps, difference;
    bool has = elastic_steps(element, coder->row[field], coder->elastic[c].grid, &steps);
    bool is_turned = (expected ^ coder->row[field]) & turned;
    difference =
        words_apart(coder->row[field], is_turned ? expected ^ turned : expected, element->bits);
    uint32_t sizes = symbol_of_size(element, size_of(difference));
    uint32_t symbol = has ? SYMBOL_STEPS : is_turned ? SYMBOL_TURNED : sizes;
    code_symbol(coder, prefix, &symbol);
    if (symbol == SYMBOL_STEPS) {
        int64_t nearest = elastic_nearest(element, expected, coder->elastic[c].grid);
        (void)code_steps(coder, c, field, nearest, &plain[ROW_STEPS], &difference);
        return;
    }
    if (symbol == SYMBOL_TURNED) {
        expected ^= turned;
        symbol = sizes;
        code_symbol(coder, prefix, &symbol);
    }
    if (symbol > SYMBOL_SIZES) coder->bits->failed = true;
    if (coder->bits->failed) return;
    if (symbol == 0) difference = 0;
    if (symbol > 0) code_size(coder, element, symbol, &difference);
    coder->row[field] = element_canonical(element, words_add(expected, difference, element->bits));
}

void code_elastic(row_coder* coder, uint32_t c, uint32_t field) {
    int64_t steps;
    if (elastic_steps(&coder->layout->elements[field], coder->base[field], coder->elastic[c].grid,
                      &steps))
        code_known(coder, c, field);
    else
        code_unknown(coder, c, field);
}
