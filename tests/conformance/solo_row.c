// SPDX-License-Identifier: MIT
// SOLO.md, "Rows" and "Another guess".
#include "solo.h"

#include <string.h>

enum { STATE = 256, PARTS = 4 };

typedef struct solo_coder {
    solo_body* body;
    row_coder row, by_third; ///< by_third: as if the third row were base2
    uint32_t name, d3;
    const uint64_t* third;
    solo_guide guide;
    uint64_t active, flags, bases;
    int64_t offs[SOLO_OFFS];
} solo_coder;

static uint32_t bits_of(const solo_coder* r, uint32_t f) {
    return r->row.layout->elements[f].bits;
}

static uint32_t component_of(const cf_layout* layout, uint32_t f) {
    uint32_t c = 0;
    while (f < layout->first[c] || f >= layout->first[c] + layout->count[c])
        c++;
    return c;
}

// What a difference of elastic words without steps counts.
static int64_t counted(int64_t words) {
    uint32_t length = 0;
    while (length < 64 && solo_size(words) >> length)
        length++;
    int64_t size = words == 0 ? 0 : INT64_C(1) << length / 4;
    return words < 0 ? -size : size;
}

// A difference of words: of elastic ones in steps, or by its length.
static int64_t apart(const solo_coder* r, uint32_t f, uint64_t a, uint64_t b) {
    const cf_element* element = &r->row.layout->elements[f];
    int64_t words = words_apart(a, b, element->bits), steps, steps_b;
    if (!element->is_elastic) return words;
    int grid = r->row.elastic[component_of(r->row.layout, f)].grid;
    bool has = elastic_steps(element, a, grid, &steps);
    bool has_b = elastic_steps(element, b, grid, &steps_b);
    if (has && has_b) return steps - steps_b;
    return counted(words);
}

static int64_t motion(const solo_coder* r, uint32_t f) {
    return r->row.base2 ? apart(r, f, r->row.base[f], r->row.base2[f]) : 0;
}

static int64_t motions(const solo_coder* r, uint32_t c) {
    const cf_layout* layout = r->row.layout;
    uint64_t sum = 0;
    for (uint32_t f = layout->first[c]; f < layout->first[c] + layout->count[c]; f++)
        sum += solo_size(motion(r, f));
    return (int64_t)sum;
}

static bool is_mixed_or_elastic(const cf_layout* layout, uint32_t c) {
    return layout->shape[c] == SHAPE_MIXED || layout->shape[c] == SHAPE_ELASTIC;
}

static int64_t near_of(const solo_coder* r, uint32_t f) {
    return r->guide.near && f < SOLO_OFFS ? r->guide.near->offs[f] : 0;
}

static uint64_t active(const solo_coder* r) {
    return r->active < 31 ? r->active : 31;
}

static uint64_t lower(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t common(const solo_coder* r) {
    return r->bases + 8 * (r->flags & 3);
}

static void keep_off(solo_coder* r, uint32_t f, int64_t off) {
    if (f < SOLO_OFFS) r->offs[f] = off > 32767 ? 32767 : off < -32768 ? -32768 : off;
}

static void count(solo_coder* r, uint32_t f, int64_t off) {
    keep_off(r, f, off);
    if (off != 0) r->active += (uint64_t)log_halves(solo_size(off)) + 1;
}

// ---- elastic fields ----

typedef struct elastic_field {
    uint32_t f, number;
    const cf_element* element;
    int grid;
    uint64_t about[SOLO_FEATURES]; ///< of its flags
} elastic_field;

static bool code_flag(solo_coder* r, const elastic_field* e, uint64_t number, bool is_set) {
    uint64_t about[SOLO_FEATURES];
    memcpy(about, e->about, sizeof about);
    about[7] = number;
    int64_t value = solo_number(r->body, STATE + e->number, about, is_set);
    if (value < 0 || value > 1) r->body->failed = true;
    return value != 0;
}

static void code_steps(solo_coder* r, const elastic_field* e, const uint64_t* features,
                       uint64_t expected, int64_t sign) {
    int64_t nearest = elastic_nearest(e->element, expected, e->grid), steps;
    (void)elastic_steps(e->element, r->row.row[e->f], e->grid, &steps);
    int64_t off = sign * solo_number(r->body, e->number, features, sign * (steps - nearest));
    steps = (int64_t)((uint64_t)nearest + (uint64_t)off);
    if (steps >= ELASTIC_STEPS_END || steps <= -ELASTIC_STEPS_END) r->body->failed = true;
    if (!r->body->is_recorded) r->row.row[e->f] = elastic_word(e->element, steps, e->grid);
    count(r, e->f, off);
}

// The bits of a word without steps.
static void code_bits_of(solo_coder* r, const elastic_field* e, const uint64_t* features,
                         uint64_t expected) {
    enum { LARGE = 1 << 12, WITHOUT_STEPS = 28 };
    uint64_t turned = UINT64_C(1) << (e->element->bits - 1);
    uint32_t low = e->element->kind == K_F64 ? 39 : 10;
    if (code_flag(r, e, 2, (expected ^ r->row.row[e->f]) & turned)) expected ^= turned;
    int64_t off = words_apart(r->row.row[e->f], expected, e->element->bits);
    uint64_t is_large = code_flag(r, e, 3, solo_size(off) >= LARGE), about[SOLO_FEATURES];
    memcpy(about, features, sizeof about);
    about[0] = WITHOUT_STEPS + is_large;
    int64_t upper = is_large ? off >> low : off;
    upper = solo_number(r->body, (e->number + 128) % 256, about, upper);
    if (is_large) {
        int64_t end = INT64_C(1) << low;
        const uint64_t about_low[SOLO_FEATURES] = {low & 31, low >> 5};
        int64_t rest =
            solo_number(r->body, (e->number + 192) % 256, about_low, end + (off & (end - 1)));
        off = (int64_t)(((uint64_t)upper << low) + ((uint64_t)rest & (uint64_t)(end - 1)));
    } else {
        off = upper;
    }
    if (!r->body->is_recorded)
        r->row.row[e->f] =
            element_canonical(e->element, words_add(expected, off, e->element->bits));
    off = words_apart(r->row.row[e->f], expected, e->element->bits); // it may be canonical now
    count(r, e->f, counted(off));
}

static int64_t code_elastic_off(solo_coder* r, uint32_t f, const uint64_t* features,
                                uint64_t expected, int64_t sign) {
    elastic_field e = {.f = f,
                       .number = (67 * r->name + f) % 256,
                       .element = &r->row.layout->elements[f],
                       .grid = r->row.elastic[component_of(r->row.layout, f)].grid};
    int64_t steps;
    bool has_base = elastic_steps(e.element, r->row.base[f], e.grid, &steps);
    bool has = elastic_steps(e.element, r->row.row[f], e.grid, &steps);
    const uint64_t about[SOLO_FEATURES] = {has_base ? 1 + (uint64_t)e.grid : 0,
                                           solo_bucket(apart(r, f, r->row.base[f], expected)),
                                           active(r),
                                           0,
                                           0,
                                           r->bases};
    memcpy(e.about, about, sizeof e.about);
    if (code_flag(r, &e, 1, has != has_base) != has_base)
        code_steps(r, &e, features, expected, sign);
    else
        code_bits_of(r, &e, features, expected);
    return apart(r, f, r->row.row[f], expected);
}

// The word of a field, `expected` plus what is read. @return its off.
static int64_t code_off(solo_coder* r, uint32_t f, const uint64_t* features, uint64_t expected,
                        int64_t sign) {
    const cf_element* element = &r->row.layout->elements[f];
    if (element->is_elastic) return code_elastic_off(r, f, features, expected, sign);
    int64_t off = words_apart(r->row.row[f], expected, element->bits);
    off = sign * solo_number(r->body, (67 * r->name + f) % 256, features, sign * off);
    if (!r->body->is_recorded)
        r->row.row[f] = element_canonical(element, words_add(expected, off, element->bits));
    count(r, f, off);
    return words_apart(r->row.row[f], expected, element->bits);
}

// ---- what is expected ----

typedef struct guesses {
    uint64_t words[ELEMENTS_MAX], other[ELEMENTS_MAX]; // of one component
    bool has_other, is_swapped;
    uint64_t about[SOLO_FEATURES];
} guesses;

static void rotation_parts(const solo_coder* r, uint32_t c, bool is_by_third, int64_t* parts,
                           uint64_t* sum) {
    uint32_t first = r->row.layout->first[c];
    int64_t q = (int64_t)r->row.layout->elements[first + 1].q_max;
    *sum = 0;
    if (is_by_third && r->d3 == 0) {
        rotation_spread(r->third + first, q, parts);
        return;
    }
    rotation_line(is_by_third ? &r->by_third : &r->row, c, parts, sum);
    if (r->guide.is_along && (int)c == r->guide.turn && *sum > 0)
        solo_turn_along(&r->row, &r->guide, parts);
}

static uint64_t rotation_l(const solo_coder* r, uint32_t c, bool is_by_third,
                           const int64_t* parts) {
    const uint64_t* base = is_by_third && r->d3 == 0 ? r->third : r->row.base;
    return rotation_largest(parts, base[r->row.layout->first[c]]);
}

static void expect(const solo_coder* r, uint32_t c, bool is_by_third, uint64_t* words) {
    const cf_layout* layout = r->row.layout;
    uint32_t first = layout->first[c];
    const uint64_t* simple = is_by_third ? r->by_third.expected : r->row.expected;
    if (is_by_third && r->d3 == 0) simple = r->third;
    memcpy(words, simple + first, layout->count[c] * sizeof *words);
    if (layout->shape[c] != SHAPE_ROTATION || r->row.h == 0 || !r->row.base2) return;
    int64_t parts[PARTS];
    uint64_t sum;
    rotation_parts(r, c, is_by_third, parts, &sum);
    words[0] = rotation_l(r, c, is_by_third, parts);
    rotation_words(parts, words[0], (int64_t)layout->elements[first + 1].q_max, words + 1);
}

static uint64_t far(const solo_coder* r, uint32_t c, const uint64_t* a, const uint64_t* b) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->row.layout->count[c]; i++)
        sum += solo_size(apart(r, r->row.layout->first[c] + i, a[i], b[i]));
    return sum;
}

static void guess(solo_coder* r, uint32_t c, guesses* g) {
    *g = (guesses){.has_other = false};
    expect(r, c, false, g->words);
    bool is_known = r->third && (r->d3 == 0 || !is_mixed_or_elastic(r->row.layout, c));
    if (!is_known || (r->guide.is_along && (int)c == r->guide.turn)) return;
    expect(r, c, true, g->other);
    uint64_t misses = far(r, c, g->other, g->words);
    if (misses == 0) return;
    g->has_other = true;
    g->about[0] = (67 * r->name + c) % 256;
    g->about[1] = solo_bucket((int64_t)misses);
    g->about[2] = solo_bucket(motions(r, c));
    g->about[3] = solo_bucket(r->row.h);
    g->is_swapped = solo_is_likely(r->body, SOLO_OTHER, g->about);
    if (!g->is_swapped) return;
    uint64_t words[ELEMENTS_MAX];
    memcpy(words, g->words, sizeof words);
    memcpy(g->words, g->other, sizeof words);
    memcpy(g->other, words, sizeof words);
}

static void check(solo_coder* r, uint32_t c, const guesses* g) {
    if (!g->has_other) return;
    const uint64_t* row = r->row.row + r->row.layout->first[c];
    uint64_t taken = far(r, c, row, g->words), left = far(r, c, row, g->other);
    if (taken != left)
        solo_fact(r->body, SOLO_OTHER, g->about, g->is_swapped ? taken < left : left < taken);
}

// ---- components ----

static uint64_t along_scale(const solo_coder* r) {
    return lower(31, 24 + r->guide.misfit);
}

// `replaced`: the words that a neighbour's replaced; NULL: none.
static void code_plain(solo_coder* r, uint32_t c, const guesses* g, const uint64_t* expected,
                       const uint64_t* replaced) {
    const cf_layout* layout = r->row.layout;
    int64_t before = 0;
    for (uint32_t i = 0; i < layout->count[c]; i++) {
        uint32_t f = layout->first[c] + i, bits = bits_of(r, f);
        uint64_t base = r->row.base[f];
        int64_t sign = motion(r, f) < 0 ? -1 : 1;
        int64_t near = replaced ? apart(r, f, replaced[i], expected[i]) : near_of(r, f);
        int64_t other = g->has_other ? apart(r, f, g->other[i], expected[i]) : 0;
        const uint64_t features[SOLO_FEATURES] = {
            replaced ? along_scale(r) : (uint64_t)(r->row.plans[c].scale + 1),
            solo_bucket(sign * before),
            solo_bucket(sign * apart(r, f, base, expected[i])),
            solo_bucket(sign * near),
            active(r),
            common(r),
            layout->shape[c] == SHAPE_MIXED ? base : i,
            g->has_other ? solo_bucket(sign * other) : base >> (bits > 5 ? bits - 5 : 0)};
        before = code_off(r, f, features, expected[i], sign);
    }
}

static void code_turn(solo_coder* r, uint32_t c, bool is_by_third) {
    uint32_t first = r->row.layout->first[c];
    int64_t q = (int64_t)r->row.layout->elements[first + 1].q_max, parts[PARTS];
    uint64_t sum, words[PARTS - 1], *row = r->row.row + first;
    rotation_parts(r, c, is_by_third, parts, &sum);
    uint64_t largest = rotation_l(r, c, is_by_third, parts);
    uint64_t scale = r->row.h > 0 ? (uint64_t)scale_of_motion(&r->row, sum) + 1 : 0;
    if (is_by_third && r->d3 > 0) scale = (uint64_t)scale_of_motion(&r->row, sum) + 1;
    if (r->guide.is_along && (int)c == r->guide.turn) scale = along_scale(r);
    const uint64_t about[SOLO_FEATURES] = {scale, 0, largest, 0, 0, common(r)};
    int64_t step = (int64_t)((row[0] - largest) & 3);
    step = solo_number(r->body, (67 * r->name + first) % 256, about, step);
    row[0] = (largest + (uint64_t)step) & 3;
    rotation_words(parts, row[0], q, words);
    int64_t before = 0, before_that = 0;
    for (uint32_t i = 0; i < PARTS - 1; i++) {
        uint32_t f = first + 1 + i;
        int64_t way = row[0] == r->row.base[first] ? motion(r, f) : 0, sign = way < 0 ? -1 : 1;
        const uint64_t features[SOLO_FEATURES] = {scale,
                                                  solo_bucket(sign * before),
                                                  solo_bucket(sign * way),
                                                  solo_bucket(sign * near_of(r, f)),
                                                  active(r),
                                                  common(r),
                                                  i,
                                                  solo_bucket(sign * before_that)};
        before_that = before;
        before = code_off(r, f, features, words[i], sign);
    }
}

// What o of "Driven components", step 3, is with another row and its distance.
static int64_t lag(const solo_coder* r, uint32_t f, uint32_t source, const uint64_t* row,
                   int64_t d) {
    const cf_layout* layout = r->row.layout;
    int64_t k = layout->drive[f], z = layout->drive_zero[f];
    int64_t v1 = (int64_t)r->row.base[source] * k + z, v2 = (int64_t)row[source] * k + z;
    return divide_down((d - 1) * v2 + (d + 1) * v1, 2) -
           words_apart(r->row.base[f], row[f], bits_of(r, f)) * (1 << 20);
}

static void code_drive(solo_coder* r, uint32_t c) {
    const cf_layout* layout = r->row.layout;
    int64_t before = 0;
    for (uint32_t i = 0; i < layout->count[c]; i++) {
        uint32_t f = layout->first[c] + i, source = layout->first[layout->source[c]] + i;
        driven_guess look = driven_at(&r->row, c, i);
        int64_t sign = look.f < 0 ? -1 : 1;
        int64_t off = words_apart(r->row.row[source], r->row.expected[source], bits_of(r, source));
        int64_t doubt = off * layout->drive[f] * r->row.h / (1 << 16);
        uint64_t last = solo_bucket(sign * motion(r, f));
        if (r->third && r->d3 > 0) {
            int64_t more =
                lag(r, f, source, r->third, r->d3) - lag(r, f, source, r->row.base2, r->row.d);
            int64_t x = divide_down(sign * more * 8, 1 << 20);
            last = lower(15, solo_size(x)) + (x < 0 ? 16 : 0);
        }
        const uint64_t features[SOLO_FEATURES] = {4 * lower(7, solo_size(look.f) * 8 >> 20) +
                                                      lower(3, (uint64_t)look.doubt * 4 >> 20),
                                                  solo_bucket(sign * doubt),
                                                  solo_bucket(r->row.h),
                                                  solo_bucket(sign * near_of(r, f)),
                                                  active(r),
                                                  common(r),
                                                  solo_bucket(sign * before),
                                                  last};
        before = code_off(r, f, features, look.word, sign);
    }
}

static int64_t code_state(solo_coder* r, uint32_t c, const uint64_t* expected, bool is_still) {
    const cf_layout* layout = r->row.layout;
    uint32_t first = layout->first[c];
    size_t bytes = layout->count[c] * sizeof *expected;
    uint64_t near = 0;
    for (uint32_t i = 0; i < layout->count[c]; i++)
        near |= solo_size(near_of(r, first + i));
    int64_t state = 1;
    if (memcmp(r->row.row + first, expected, bytes) == 0)
        state = 0;
    else if (memcmp(r->row.row + first, r->row.base + first, bytes) == 0)
        state = -1;
    const uint64_t features[SOLO_FEATURES] = {(uint64_t)(r->row.plans[c].scale + 1),
                                              solo_bucket(motions(r, c)),
                                              r->flags,
                                              solo_bucket((int64_t)near),
                                              active(r),
                                              r->bases,
                                              is_still,
                                              r->row.base[first]};
    state = solo_number(r->body, STATE + (67 * r->name + c) % 256, features, state);
    if (state < -1 || state > 1) r->body->failed = true;
    return state;
}

static void code_component(solo_coder* r, uint32_t c) {
    const cf_layout* layout = r->row.layout;
    uint32_t first = layout->first[c], count = layout->count[c];
    if (layout->source[c] >= 0 && r->row.h > 0) {
        code_drive(r, c);
        return;
    }
    guesses g;
    guess(r, c, &g);
    uint64_t expected[ELEMENTS_MAX];
    memcpy(expected, g.words, count * sizeof *expected);
    bool is_along = r->guide.is_along && (int)c == r->guide.place;
    for (uint32_t i = 0; is_along && i < count; i++) {
        int64_t most = (int64_t)layout->elements[first + i].q_max, word = r->guide.along[i];
        expected[i] = (uint64_t)(word < 0 ? 0 : word > most ? most : word);
    }
    bool is_still = memcmp(r->row.base + first, expected, count * sizeof *expected) == 0;
    bool is_one = count == 1 && !layout->elements[first].is_elastic && is_still;
    int64_t state = is_one ? 1 : code_state(r, c, expected, is_still);
    r->flags = (r->flags << 1 | (!is_one && state != 0)) & 31;
    if (state <= 0) {
        memcpy(r->row.row + first, state == 0 ? expected : r->row.base + first,
               count * sizeof *expected);
        if (state < 0) r->active += 2;
    } else if (layout->shape[c] == SHAPE_ROTATION) {
        code_turn(r, c, g.is_swapped);
    } else {
        code_plain(r, c, &g, expected, is_along ? g.words : NULL);
        if (is_one) r->flags |= r->row.row[first] != expected[0];
    }
    if (layout->shape[c] == SHAPE_ROTATION &&
        !rotation_is_canonical(r->row.row + first, layout->elements[first + 1].q_max))
        r->body->failed = true;
    check(r, c, &g);
}

// @return true: all quiet components have their base's words.
static bool code_quiet(solo_coder* r, const bool* is_quiet) {
    const cf_layout* layout = r->row.layout;
    uint64_t fold = 0, count = 0;
    int64_t moved = 0, differ = 0;
    for (uint32_t c = 0; c < layout->component_count; c++) {
        moved += motions(r, c);
        if (!is_quiet[c]) continue;
        fold ^= UINT64_C(1) << c % 5;
        count++;
        if (memcmp(r->row.row + layout->first[c], r->row.base + layout->first[c],
                   layout->count[c] * sizeof(uint64_t)) != 0)
            differ = 1;
    }
    if (count < 2) return false;
    const uint64_t features[SOLO_FEATURES] = {
        common(r), solo_bucket(moved), active(r), solo_bucket(r->row.h),
        r->name,   r->flags,           fold,      r->name};
    differ = solo_number(r->body, SOLO_QUIET, features, differ);
    if (differ < 0 || differ > 1) r->body->failed = true;
    r->flags = (r->flags << 1 | (differ != 0)) & 31;
    for (uint32_t c = 0; c < layout->component_count; c++)
        if (is_quiet[c] && differ == 0)
            memcpy(r->row.row + layout->first[c], r->row.base + layout->first[c],
                   layout->count[c] * sizeof(uint64_t));
    return differ == 0;
}

static void code_components(solo_coder* r) {
    const cf_layout* layout = r->row.layout;
    bool is_quiet[COMPONENTS_MAX], is_asked = false, is_kept = false;
    for (uint32_t c = 0; c < layout->component_count; c++)
        is_quiet[c] = is_mixed_or_elastic(layout, c) && motions(r, c) == 0;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t c = 0; c < layout->component_count; c++) {
            if (layout->count[c] == 0 || (layout->source[c] >= 0) != (pass == 1)) continue;
            if (is_quiet[c] && !is_asked) is_kept = code_quiet(r, is_quiet);
            is_asked |= is_quiet[c];
            if (!is_quiet[c] || !is_kept) code_component(r, c);
        }
}

void solo_row(solo_body* body, uint32_t name, const cf_layout* layout, const cf_bases* bases,
              const uint64_t* third, uint32_t d3, uint64_t* row) {
    solo_coder r = {.body = body, .name = name, .third = third, .d3 = d3};
    row_begin(&r.row, layout, bases, NULL);
    if (body->is_recorded) memcpy(r.row.row, row, layout->element_count * sizeof *row);
    if (third && (r.row.h == 0 ? d3 != 0 : !r.row.base2 || d3 == 0)) r.third = NULL;
    r.by_third = r.row;
    if (r.third && d3 > 0) {
        r.by_third.base2 = third;
        r.by_third.d = d3;
        plan_row(&r.by_third);
    }
    r.bases = r.row.h == 0 ? 0 : 1 + (r.row.base2 ? 2u : 0u) + (r.row.h > 2);
    solo_find_near(body, &r.row, name, &r.guide);
    code_components(&r);
    solo_keep(body, &r.row, name, &r.guide, r.offs);
    memcpy(row, r.row.row, layout->element_count * sizeof *row);
}
