// SPDX-License-Identifier: MIT
// ROWS.md, "Driven components": fields that follow the component that they are the integral of.
// Values are in units of 2^-20 steps.
#include "row.h"

enum { DRIVE_CLASSES = 4, AT_ONCE = 3, ERROR_LEAST = 5 };
static const int64_t unit = INT64_C(1) << 20, eighth = INT64_C(1) << 17;

static int64_t size_of(int64_t value) {
    return value < 0 ? -value : value;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

driven_guess driven_at(const row_coder* coder, uint32_t component, uint32_t i) {
    const cf_layout* layout = coder->layout;
    uint32_t field = layout->first[component] + i;
    uint32_t source = layout->first[layout->source[component]] + i;
    uint32_t bits = layout->elements[field].bits;
    int64_t k = layout->drive[field], z = layout->drive_zero[field], h = coder->h, d = coder->d;
    int64_t q = (int64_t)coder->row[source], q1 = (int64_t)coder->base[source];
    int64_t q2 = coder->base2 ? (int64_t)coder->base2[source] : q1;
    int64_t v1 = q1 * k + z, v2 = q2 * k + z, c = (q - q1) * k, t = 256 * h, doubt = unit;
    if (q1 != q2) {
        int64_t e = (q - q1) * 256 * d /
                    words_apart((uint64_t)q1, (uint64_t)q2, layout->elements[source].bits);
        if (e > 0 && e < t) t = e;
    }
    int64_t way = h * v1 + divide_down(c * (512 * h + 256 - t), 512);
    if (coder->base2) {
        int64_t came = words_apart(coder->base[field], coder->base2[field], bits) * unit;
        int64_t o = divide_down((d - 1) * v2 + (d + 1) * v1, 2) - came;
        if (size_of(o) <= unit + eighth) {
            way += divide_down(o, 2);
            doubt = larger(unit - size_of(o), eighth);
        }
    }
    int64_t n = divide_down(way + unit / 2, unit), f = way - n * unit;
    int64_t x = size_of(f) + doubt / 2 - unit / 2;
    uint64_t word = words_add(coder->base[field], n, bits);
    return (driven_guess){.field = field,
                          .word = word,
                          .next = words_add(word, f < 0 ? -1 : 1, bits),
                          .f = f,
                          .doubt = doubt,
                          .class = x <= 0               ? 0
                                   : 8 * x <= doubt     ? 1
                                   : 8 * x <= 3 * doubt ? 2
                                                        : 3};
}

void expect_driven(row_coder* coder, uint32_t component) {
    for (uint32_t i = 0; i < coder->layout->count[component]; i++) {
        driven_guess guessed = driven_at(coder, component, i);
        coder->expected[guessed.field] = guessed.word;
    }
}

// y of the page: how far the source is from its expected words.
static uint64_t source_error(const row_coder* coder, uint32_t component) {
    const cf_layout* layout = coder->layout;
    uint32_t field = layout->first[component], count = layout->count[component];
    uint32_t source = layout->first[layout->source[component]];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t off = (int64_t)coder->row[source + i] - (int64_t)coder->expected[source + i];
        sum += (uint64_t)size_of(off) * (uint64_t)layout->drive[field + i];
    }
    return sum * (uint64_t)(coder->h - 1) / (8 * count) >> 16;
}

static void code_together(row_coder* coder, const driven_guess* guesses, uint32_t count) {
    const cf_tables* tables = coder->layout->tables;
    uint32_t symbol = 0, other = 1u << count;
    int classes[AT_ONCE] = {0};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t word = coder->row[guesses[i].field];
        classes[i] = guesses[i].class;
        if (word == guesses[i].next) symbol |= 1u << i;
        if (word != guesses[i].next && word != guesses[i].word) symbol |= other;
    }
    if (symbol & other) symbol = other;
    code_symbol(coder, &tables->rows[TABLE_DRIVE][row_of_classes(classes, count, DRIVE_CLASSES)],
                &symbol);
    for (uint32_t i = 0; i < count; i++) {
        if (symbol == other)
            code_scaled(coder, guesses[i].field, guesses[i].word, 1, NULL);
        else if (!coder->is_writing)
            coder->row[guesses[i].field] = symbol >> i & 1 ? guesses[i].next : guesses[i].word;
    }
}

void code_driven(row_coder* coder, uint32_t component) {
    uint32_t first = coder->layout->first[component], count = coder->layout->count[component];
    driven_guess guesses[ELEMENTS_MAX];
    uint64_t y = source_error(coder, component);
    if (y >= ERROR_LEAST) {
        int scale = (int)larger(log_halves(y) - 8, 0);
        for (uint32_t i = first; i < first + count; i++)
            code_scaled(coder, i, coder->expected[i], scale < SCALE_MAX ? scale : SCALE_MAX, NULL);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        driven_guess guessed = driven_at(coder, component, i);
        uint32_t at = count <= AT_ONCE ? i : 0; // fields of one symbol are in order of class
        for (; at > 0 && guesses[at - 1].class > guessed.class; at--)
            guesses[at] = guesses[at - 1];
        guesses[at] = guessed;
        if (count > AT_ONCE) code_together(coder, guesses, 1);
    }
    if (count <= AT_ONCE) code_together(coder, guesses, count);
}
