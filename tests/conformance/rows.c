// SPDX-License-Identifier: MIT
// WIRE.md: "Row code". One pass over a row that reads or writes; what it says is said in the page's order.
#include "rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- symbols ----

static uint32_t symbol_count(const char* row) {
    return (uint32_t)strcspn(row, " ");
}

static uint32_t length_of(const char* row, uint32_t symbol) {
    char digit = row[symbol];
    return (uint32_t)(digit >= 'a' ? digit - 'a' + 10 : digit - '0');
}

// The code of a symbol, highest bit first on the wire. @return its length, 0: it does not occur.
static uint32_t code_of(const char* row, uint32_t wanted, uint32_t* code) {
    uint32_t place = 4096, count = symbol_count(row);
    for (uint32_t length = 1; length <= 12; length++) {
        for (uint32_t s = 0; s < count; s++) {
            if (length_of(row, s) != length) continue;
            place -= 4096u >> length;
            *code = place / (4096u >> length);
            if (s == wanted) return length;
        }
    }
    return 0;
}

static uint64_t pass_bits(row_pass* p, uint64_t value, uint32_t count) {
    if (!p->is_writing) return bits_read(p->bits, count);
    bits_write(p->bits, value, count);
    return value;
}

static uint32_t pass_symbol(row_pass* p, const char* row, uint32_t symbol) {
    uint32_t code = 0, count = symbol_count(row);
    if (p->is_writing) {
        uint32_t length = code_of(row, symbol, &code);
        if (length == 0) abort(); // the page leaves out what does not occur
        while (length-- > 0)
            bits_write(p->bits, code >> length & 1, 1);
        return symbol;
    }
    uint32_t got = 0;
    for (uint32_t length = 1; length <= 12; length++) {
        got = got << 1 | (uint32_t)bits_read(p->bits, 1);
        for (uint32_t s = 0; s < count; s++)
            if (code_of(row, s, &code) == length && code == got) return s;
    }
    p->bits->failed = true;
    return 0;
}

// A table that has a form for the row's first symbol.
static const char* table_of(row_pass* p, const char* plain, const char* first, uint32_t row) {
    const char* name = p->is_first ? first : plain;
    p->is_first = false;
    return table_row(name, row);
}

// ---- masks ----

static uint64_t pass_mask(row_pass* p, uint64_t mask, uint32_t n, bool may_be_none) {
    if (n <= 4) {
        if (may_be_none) {
            mask = pass_symbol(p, table_row("mask_first", n > 0 ? n - 1 : 0), (uint32_t)mask);
            if (n == 0 && mask != 0) p->bits->failed = true;
            return mask;
        }
        return n == 1 ? 1 : pass_symbol(p, table_row("mask_other", n - 2), (uint32_t)mask);
    }
    uint32_t groups = (n + 3) / 4;
    uint64_t set = 0, result = 0;
    for (uint32_t g = 0; g < groups; g++)
        set |= (uint64_t)((mask >> (4 * g) & 15) != 0) << g;
    set = pass_mask(p, set, groups, may_be_none);
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t size = n - 4 * g < 4 ? n - 4 * g : 4;
        if (set >> g & 1) result |= pass_mask(p, mask >> (4 * g) & 15, size, false) << (4 * g);
    }
    return result;
}

// ---- numbers ----

static uint32_t symbol_of(int64_t d) {
    uint64_t size = (uint64_t)absolute(d);
    if (size < 4) return (uint32_t)(2 * size) - (d > 0);
    if (size < 8) return (uint32_t)size + 3;
    if (size >= 1 << 16) return SYMBOL_WHOLE;
    return (uint32_t)half_octaves(size) - 6 + 11;
}

// @return the size of the difference; of symbol 38, which must be allowed, UINT64_MAX.
static uint64_t pass_number(row_pass* p, const char* row, const cf_element* element,
                            uint64_t expected, uint64_t* word, bool is_other) {
    uint32_t symbol = 0;
    int64_t d = difference(*word, expected, element->bits);
    if (p->is_writing) {
        symbol = is_other ? SYMBOL_OTHER : symbol_of(d);
        uint32_t low = symbol >= 11 ? (symbol - 11) / 2 + 2 : 0;
        if (symbol >= 11 && symbol < SYMBOL_WHOLE &&
            length_of(row, SYMBOL_WHOLE) + element->bits < length_of(row, symbol) + 1 + low)
            symbol = SYMBOL_WHOLE;
    }
    symbol = pass_symbol(p, row, symbol);
    if (symbol == SYMBOL_OTHER) return UINT64_MAX;
    if (symbol == SYMBOL_WHOLE) {
        uint64_t whole = pass_bits(p, *word, element->bits);
        if (!p->is_writing) *word = element_canonical(element, whole);
        return (uint64_t)absolute(difference(*word, expected, element->bits));
    }
    uint64_t size = (symbol + 1) / 2;
    bool is_negative = symbol % 2 == 0;
    if (symbol >= 7) {
        uint32_t low = symbol >= 11 ? (symbol - 11) / 2 + 2 : 0;
        is_negative = pass_bits(p, d < 0, 1);
        uint64_t rest = pass_bits(p, (uint64_t)absolute(d) & mask_of(low), low);
        size = symbol < 11 ? symbol - 3 : ((UINT64_C(2) + (symbol - 11) % 2) << low) + rest;
    }
    if (!p->is_writing) {
        uint64_t value = is_negative ? expected - size : expected + size;
        *word = size == 0 ? expected : element_canonical(element, value & mask_of(element->bits));
    }
    return size;
}

// @return as pass_number.
static uint64_t pass_scaled(row_pass* p, int scale, const cf_element* element, uint64_t expected,
                            uint64_t* word, bool is_other) {
    int64_t t = divide(4 * scale + p->surprise + 2, 4);
    t = scale < 0 ? 28 : t < 0 ? 0 : t > 27 ? 27 : t;
    const char* row = table_of(p, "number_plain", "number_first", (uint32_t)t);
    uint64_t size = pass_number(p, row, element, expected, word, is_other);
    if (scale >= 0 && size != UINT64_MAX) {
        if (size > UINT32_MAX) size = UINT32_MAX;
        p->surprise += (4 * half_octaves(2 * size + 1) - table_expected[t]) / 2;
    }
    return size;
}

// ---- the head ----

// Of tables whose rows are by rising classes below `limit`: all of one, then all pairs, then all triples.
static uint32_t row_of_classes(const int* classes, uint32_t count, int limit) {
    uint32_t row = 0;
    for (uint32_t n = 1; n <= 3; n++)
        for (int a = 0; a < limit; a++)
            for (int b = n > 1 ? a : 0; b < (n > 1 ? limit : 1); b++)
                for (int c = n > 2 ? b : 0; c < (n > 2 ? limit : 1); c++, row++)
                    if (n == count && classes[0] == a && (n < 2 || classes[1] == b) &&
                        (n < 3 || classes[2] == c))
                        return row;
    abort();
}

static bool follows_source(const row_pass* p, uint32_t c) {
    return p->h > 0 && p->plans[c].source != NO_SOURCE && p->plans[p->plans[c].source].is_coded;
}

static void pass_quiet(row_pass* p, bool may_be_none) {
    uint32_t members[COMPONENTS_MAX], count = 0;
    uint64_t mask = 0;
    for (uint32_t c = 0; c < p->layout->component_count; c++) {
        if (p->plans[c].kind != QUIET || p->plans[c].shape == EMPTY) continue;
        mask |= (uint64_t)p->plans[c].is_coded << count;
        members[count++] = c;
    }
    if (count == 0 && !may_be_none) {
        p->bits->failed = true;
        return;
    }
    mask = pass_mask(p, mask, count, may_be_none);
    for (uint32_t i = 0; i < count; i++)
        p->plans[members[i]].is_coded = mask >> i & 1;
}

static bool pass_exception(row_pass* p) {
    bool is_one = false;
    for (uint32_t c = 0; c < p->layout->component_count; c++)
        is_one = is_one || (p->plans[c].kind == QUIET && p->plans[c].is_coded &&
                            p->plans[c].shape != EMPTY && !follows_source(p, c));
    if (p->is_writing) {
        if (is_one) bits_write(p->bits, 0, RESERVED + 1);
        return is_one;
    }
    bit_stream ahead = *p->bits;
    if (bits_read(&ahead, RESERVED) != 0 || ahead.failed) return false;
    if (bits_read(p->bits, RESERVED + 1) != 0) p->bits->failed = true;
    return true;
}

static void pass_lead(row_pass* p, bool does_move) {
    uint32_t c = (uint32_t)p->lead, f = p->layout->first[c];
    const cf_element* element = &p->layout->elements[f];
    uint64_t expected = expected_of(p, c, 0);
    int64_t d = difference(p->row[f], expected, element->bits);
    plan* beside = p->warm_count > 0 ? &p->plans[p->warm[0]] : NULL;
    uint32_t table = (uint32_t)p->plans[c].scale;
    if (beside) table += 12 * ((uint32_t)beside->class_ + 1);
    uint32_t symbol = absolute(d) < 4 ? (uint32_t)absolute(d) : 4;
    if (beside && beside->is_coded) symbol += 5;
    symbol = pass_symbol(p, table_row(does_move ? "lead" : "lead_rest", table), symbol);
    if (beside) beside->is_coded = symbol >= 5;
    p->is_first = false;
    if (symbol % 5 == 4) {
        uint64_t word = expected + (uint64_t)(d > 0 ? d - 4 : d + 3);
        const char* row = table_row("number_plain", (uint32_t)p->plans[c].scale);
        word &= mask_of(element->bits);
        if (pass_number(p, row, element, expected, &word, false) == UINT64_MAX)
            p->bits->failed = true;
        d = difference(word, expected, element->bits);
        d += d >= 0 ? 4 : -3;
    } else {
        bool is_negative = symbol % 5 > 0 && pass_bits(p, d < 0, 1);
        d = is_negative ? -(int64_t)(symbol % 5) : (int64_t)(symbol % 5);
    }
    if (!p->is_writing) p->row[f] = (expected + (uint64_t)d) & mask_of(element->bits);
}

static void pass_head(row_pass* p) {
    bool is_certain = p->lead >= 0 || p->warm_count > 0, does_move = false;
    for (uint32_t c = 0; c < p->layout->component_count; c++) {
        is_certain = is_certain || p->plans[c].kind == LIVE || p->plans[c].kind == DRIVEN;
        does_move = does_move || p->plans[c].moves;
    }
    if (!is_certain) {
        pass_quiet(p, true);
        p->is_first = false;
        return;
    }
    if (pass_exception(p)) pass_quiet(p, false);
    uint32_t first = 0;
    if (p->lead >= 0) {
        pass_lead(p, does_move);
        first = p->warm_count > 0;
    }
    uint32_t count = p->warm_count - first, symbol = 0;
    if (count > 0) {
        int classes[3] = {0};
        for (uint32_t i = 0; i < count; i++) {
            classes[i] = p->plans[p->warm[first + i]].class_;
            symbol |= (uint32_t)p->plans[p->warm[first + i]].is_coded << i;
        }
        uint32_t table = row_of_classes(classes, count, 6);
        symbol = pass_symbol(p, table_row(does_move ? "head" : "head_rest", table), symbol);
        for (uint32_t i = 0; i < count; i++)
            p->plans[p->warm[first + i]].is_coded = symbol >> i & 1;
        p->is_first = false;
    }
    for (uint32_t c = 0; c < p->layout->component_count; c++) {
        if (p->plans[c].kind != QUIET || !follows_source(p, c)) continue;
        p->plans[c].kind = DRIVEN;
        p->plans[c].is_coded = true;
    }
}

// ---- components ----

static uint64_t pass_entity(row_pass* p, uint64_t word) {
    if (pass_bits(p, word == 0, 1)) return 0;
    uint64_t index = word & 0x3fffff, generation = word >> 22;
    if (p->is_writing)
        golomb_write(p->bits, 7, (uint32_t)index);
    else
        index = golomb_read(p->bits, 7);
    if (index >> 22) p->bits->failed = true;
    generation = pass_bits(p, generation == 1, 1) ? 1 : pass_bits(p, generation, 10);
    return generation << 22 | (index & 0x3fffff);
}

static void pass_field(row_pass* p, int scale, uint32_t f, uint64_t expected) {
    const cf_element* element = &p->layout->elements[f];
    bool is_float = element->kind == K_F32 || element->kind == K_F64;
    uint64_t word = p->row[f];
    if (element->bits == 1) {
        word = expected ^ 1;
    } else if (element->kind == K_ENTITY) {
        word = pass_entity(p, word);
    } else {
        int row = !is_float ? 29 : element->is_exact ? 30 : scale < 0 ? 28 : scale;
        const char* table = table_row("number_other", (uint32_t)row);
        if (pass_number(p, table, element, expected, &word, false) == UINT64_MAX)
            p->bits->failed = true;
    }
    if (!p->is_writing) p->row[f] = word;
}

static void pass_fields(row_pass* p, uint32_t c) {
    uint32_t first = p->layout->first[c], count = p->layout->count[c];
    bool differs[ELEMENTS_MAX];
    uint64_t expected[ELEMENTS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        expected[i] = expected_of(p, c, i);
        differs[i] = p->row[first + i] != expected[i];
    }
    for (uint32_t from = 0; from < count; from += 64) {
        uint32_t n = count - from < 64 ? count - from : 64;
        uint64_t mask = 0;
        for (uint32_t i = 0; i < n; i++)
            mask |= (uint64_t)differs[from + i] << i;
        if (count > 64 && !pass_bits(p, mask != 0, 1))
            mask = 0;
        else if (count >= 2 && count <= 4)
            mask = pass_symbol(p, table_row("field", count - 2), (uint32_t)mask);
        else
            mask = pass_mask(p, mask, n, false);
        for (uint32_t i = 0; i < n; i++)
            differs[from + i] = mask >> i & 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (differs[i])
            pass_field(p, p->plans[c].scale, first + i, expected[i]);
        else if (!p->is_writing)
            p->row[first + i] = expected[i];
    }
}

static void fail_if_other(row_pass* p, uint64_t size) {
    if (size == UINT64_MAX) p->bits->failed = true;
}

static void pass_live(row_pass* p, uint32_t c) {
    uint32_t first = p->layout->first[c], count = p->layout->count[c], most = 0;
    const cf_element* elements = &p->layout->elements[first];
    uint64_t expected[ELEMENTS_MAX];
    int64_t pace = 0, own[ELEMENTS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        expected[i] = expected_of(p, c, i);
        own[i] = difference(p->base[first + i], p->base2[first + i], elements[i].bits);
        if (absolute(own[i]) > absolute(pace)) {
            most = i;
            pace = own[i];
        }
    }
    int scale = p->plans[c].scale;
    if (!p->plans[c].is_source) {
        for (uint32_t i = 0; i < count; i++)
            fail_if_other(
                p, pass_scaled(p, scale, &elements[i], expected[i], &p->row[first + i], false));
        return;
    }
    fail_if_other(
        p, pass_scaled(p, scale, &elements[most], expected[most], &p->row[first + most], false));
    int64_t r = difference(p->row[first + most], expected[most], elements[most].bits);
    for (uint32_t i = 0; i < count; i++) {
        if (i == most) continue;
        int64_t further = 2 * r * (pace < 0 ? -own[i] : own[i]) + absolute(pace);
        uint64_t word = expected[i] + (uint64_t)divide(further, 2 * absolute(pace));
        p->surprise = 0;
        fail_if_other(p, pass_scaled(p, scale > 4 ? scale - 4 : 0, &elements[i],
                                     word & mask_of(elements[i].bits), &p->row[first + i], false));
    }
}

// ---- rotations ----

static int64_t root_of(int64_t square) {
    int64_t root = (int64_t)sqrt((double)square);
    while (root * root > square)
        root--;
    while ((root + 1) * (root + 1) <= square)
        root++;
    return root;
}

static int64_t rest_of(uint64_t q_max, const uint64_t* words) {
    int64_t rest = 2 * (int64_t)(q_max * q_max);
    for (uint32_t i = 1; i < 4; i++) {
        int64_t part = 2 * (int64_t)words[i] - (int64_t)q_max;
        rest -= part * part;
    }
    return rest;
}

static bool is_rotation_canonical(uint64_t q_max, const uint64_t* words) {
    int64_t most = 6;
    for (uint32_t i = 1; i < 4; i++) {
        int64_t part = absolute(2 * (int64_t)words[i] - (int64_t)q_max);
        if (words[i] > q_max) return false;
        if (part > most) most = part;
    }
    return rest_of(q_max, words) >= (most - 6) * (most - 6);
}

static void spread(uint64_t q_max, const uint64_t* words, int64_t* parts) {
    int64_t rest = rest_of(q_max, words);
    for (uint32_t i = 0, n = 1; i < 4; i++)
        parts[i] = i == words[0] ? root_of((rest > 0 ? rest : 0) * 256)
                                 : 16 * (2 * (int64_t)words[n++] - (int64_t)q_max);
}

static void expect_parts(const int64_t* parts, uint64_t q_max, uint32_t largest,
                         uint64_t* expected) {
    int64_t square = 0, q = (int64_t)q_max;
    for (uint32_t i = 0; i < 4; i++)
        square += parts[i] * parts[i];
    int64_t n = root_of(square), u = root_of(512 * q * q);
    if (n < 1) n = 1;
    if (parts[largest] < 0) u = -u;
    for (uint32_t i = 0, at = 0; i < 4; i++) {
        if (i == largest) continue;
        int64_t word = divide(parts[i] * u / n + 16 * (q + 1), 32);
        expected[at++] = (uint64_t)(word < 0 ? 0 : word > q ? q : word);
    }
}

static void pass_rotation(row_pass* p, uint32_t c) {
    uint32_t first = p->layout->first[c];
    const cf_element* element = &p->layout->elements[first + 1];
    const uint64_t *base = p->base + first, *base2 = p->base2 + first;
    uint64_t *words = p->row + first, q_max = element->q_max, expected[3], sum = 0;
    int64_t parts[4], other[4], most = 0, product = 0;
    spread(q_max, base, parts);
    if (memcmp(base, base2, 4 * sizeof *base) != 0) {
        spread(q_max, base2, other);
        for (uint32_t i = 0; i < 4; i++)
            product += parts[i] * other[i];
        for (uint32_t i = 0; i < 4; i++) {
            int64_t step = parts[i] - (product < 0 ? -other[i] : other[i]);
            sum += (uint64_t)absolute(step);
            parts[i] = parts[i] * p->d + step * p->h;
        }
        sum /= 32;
    }
    uint32_t largest = (uint32_t)base[0];
    for (uint32_t i = 0; i < 4; i++)
        if (absolute(parts[i]) > most) most = absolute(parts[i]);
    if (absolute(parts[largest]) < most - most / 32)
        for (largest = 0; absolute(parts[largest]) != most;)
            largest++;
    int scale = p->h > 0 ? scale_of_motion(p, sum) : -1;
    expect_parts(parts, q_max, largest, expected);
    bool is_other = p->is_writing && words[0] != largest;
    uint64_t size = pass_scaled(p, scale, element, expected[0], &words[1], is_other);
    if (size == UINT64_MAX) {
        largest = (uint32_t)pass_bits(p, words[0], 2);
        expect_parts(parts, q_max, largest, expected);
        fail_if_other(p, pass_scaled(p, scale, element, expected[0], &words[1], false));
    }
    if (!p->is_writing) words[0] = largest;
    for (uint32_t i = 1; i < 3; i++)
        fail_if_other(p, pass_scaled(p, scale, element, expected[i], &words[i + 1], false));
    if (!p->is_writing && !is_rotation_canonical(q_max, words)) p->bits->failed = true;
}

// ---- driven components ----

static void pass_guessed(row_pass* p, uint32_t c, uint32_t first, uint32_t count) {
    driven_guess guesses[3];
    uint32_t fields[3], symbol = 0, other = 1u << count;
    int classes[3] = {0};
    for (uint32_t i = 0; i < count; i++) {
        driven_guess guess = guess_driven(p, c, first + i);
        uint32_t at = i;
        for (; at > 0 && guesses[at - 1].class_ > guess.class_; at--) {
            guesses[at] = guesses[at - 1];
            fields[at] = fields[at - 1];
        }
        guesses[at] = guess;
        fields[at] = p->layout->first[c] + first + i;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t word = p->row[fields[i]];
        classes[i] = guesses[i].class_;
        if (word == guesses[i].next)
            symbol |= 1u << i;
        else if (word != guesses[i].word)
            symbol |= other;
    }
    if (symbol & other) symbol = other;
    uint32_t row = row_of_classes(classes, count, 4);
    symbol = pass_symbol(p, table_of(p, "drive_plain", "drive_first", row), symbol);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t* word = &p->row[fields[i]];
        if (symbol == other)
            fail_if_other(p, pass_scaled(p, 1, &p->layout->elements[fields[i]], guesses[i].word,
                                         word, false));
        else if (!p->is_writing)
            *word = symbol >> i & 1 ? guesses[i].next : guesses[i].word;
    }
}

static void pass_driven(row_pass* p, uint32_t c) {
    uint32_t first = p->layout->first[c], count = p->layout->count[c];
    uint32_t source = (uint32_t)p->plans[c].source;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t q = p->row[p->layout->first[source] + i], then = expected_of(p, source, i);
        sum += (q > then ? q - then : then - q) * (uint64_t)p->k[first + i];
    }
    uint64_t y = sum * (uint64_t)(p->h - 1) / (8 * count) >> 16;
    if (y >= 5) {
        int scale = half_octaves(y) - 8;
        scale = scale < 0 ? 0 : scale > 27 ? 27 : scale;
        for (uint32_t i = 0; i < count; i++)
            fail_if_other(p, pass_scaled(p, scale, &p->layout->elements[first + i],
                                         guess_driven(p, c, i).word, &p->row[first + i], false));
    } else if (count <= 3) {
        pass_guessed(p, c, 0, count);
    } else {
        for (uint32_t i = 0; i < count; i++)
            pass_guessed(p, c, i, 1);
    }
}

// ---- rows ----

static void pass_component(row_pass* p, uint32_t c) {
    const plan* at = &p->plans[c];
    if (at->kind == LEAD) return;
    if (!at->is_coded) {
        for (uint32_t i = 0; !p->is_writing && i < p->layout->count[c]; i++)
            p->row[p->layout->first[c] + i] = expected_of(p, c, i);
    } else if (at->shape == ROTATION) {
        pass_rotation(p, c);
    } else if (at->kind == LIVE) {
        pass_live(p, c);
    } else if (at->kind == DRIVEN) {
        pass_driven(p, c);
    } else {
        pass_fields(p, c);
    }
    p->surprise /= 2;
}

static void pass_row(row_pass* p, const cf_bases* bases) {
    p->base = p->base2 = bases->base;
    p->d = 1;
    p->is_first = true;
    p->h = bases->ticks <= H_MAX ? bases->ticks : 0;
    if (p->h > 0 && bases->base2 && bases->ticks2 >= 1 && bases->ticks2 <= D_MAX) {
        p->has_base2 = true;
        p->base2 = bases->base2;
        p->d = bases->ticks2;
    }
    make_plans(p);
    pass_head(p);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t c = 0; c < p->layout->component_count; c++)
            if ((p->plans[c].source != NO_SOURCE) == (pass == 1)) pass_component(p, c);
}

void row_read(const cf_layout* layout, const cf_bases* bases, uint64_t* row, bit_stream* bits) {
    static row_pass p;
    p = (row_pass){.layout = layout, .row = row, .bits = bits};
    memcpy(row, bases->base, layout->element_count * sizeof *row);
    pass_row(&p, bases);
}

void row_write(const cf_layout* layout, const cf_bases* bases, const uint64_t* row,
               bit_stream* bits) {
    static row_pass p;
    uint64_t words[ELEMENTS_MAX];
    memcpy(words, row, layout->element_count * sizeof *row);
    p = (row_pass){.layout = layout, .row = words, .bits = bits, .is_writing = true};
    pass_row(&p, bases);
}

bool row_read_absent(bit_stream* bits) {
    bit_stream ahead = *bits;
    if (bits_read(&ahead, RESERVED) != 0 || bits_read(&ahead, 1) != 1) return false;
    *bits = ahead;
    return true;
}

void row_write_absent(bit_stream* bits) {
    bits_write(bits, 0, RESERVED);
    bits_write(bits, 1, 1);
}
