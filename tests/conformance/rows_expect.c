// SPDX-License-Identifier: MIT
// WIRE.md: "Row code", shapes, kinds, and what is expected of a row.
#include "rows.h"

#include <math.h>
#include <string.h>

// ---- arithmetic ----

uint64_t mask_of(uint32_t bits) {
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

int64_t difference(uint64_t a, uint64_t b, uint32_t bits) {
    uint64_t d = (a - b) & mask_of(bits);
    bool is_negative = d >> (bits - 1) & 1;
    return is_negative ? -(int64_t)((~d & mask_of(bits)) + 1) : (int64_t)d;
}

int64_t absolute(int64_t value) {
    return value < 0 ? -value : value;
}

int64_t divide(int64_t a, int64_t b) {
    int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

int half_octaves(uint64_t x) {
    int n = 0;
    while (x >> n > 1)
        n++;
    return 2 * n + (n > 0 && x >= UINT64_C(3) << (n - 1));
}

// ---- shapes, and what is expected ----

static shape shape_of(const cf_layout* layout, uint32_t c) {
    if (layout->count[c] == 0) return EMPTY;
    if (layout->is_rotation[c]) return ROTATION;
    for (uint32_t i = layout->first[c]; i < layout->first[c] + layout->count[c]; i++) {
        const cf_element* element = &layout->elements[i];
        bool is_float = element->kind == K_F32 || element->kind == K_F64;
        if (!is_float || element->is_exact || element->bits < 3) return MIXED;
    }
    return LINEAR;
}

static int named(const cf_layout* layout, const char* name) {
    for (uint32_t c = 0; name && c < layout->component_count; c++)
        if (strcmp(layout->names[c], name) == 0) return (int)c;
    return NO_SOURCE;
}

static int source_of(row_pass* p, uint32_t c) {
    const cf_layout* layout = p->layout;
    int s = named(layout, layout->integrals[c]);
    if (s == NO_SOURCE || s == (int)c || layout->tick_rate_hz == 0 || layout->integrals[s])
        return NO_SOURCE;
    if (layout->count[s] != layout->count[c] || shape_of(layout, c) != LINEAR ||
        shape_of(layout, (uint32_t)s) != LINEAR)
        return NO_SOURCE;
    for (uint32_t i = 0; i < layout->count[c]; i++) {
        uint32_t f = layout->first[c] + i;
        const cf_element *own = &layout->elements[f],
                         *source = &layout->elements[layout->first[s] + i];
        double u = own->step * layout->tick_rate_hz;
        double k = source->step / u * 0x1p20, z = source->min / u * 0x1p20;
        if (own->bits > 24 || source->bits > 24 || !(k >= 1) ||
            k > 0x1p48 / (double)(UINT64_C(1) << source->bits) || !(fabs(z) <= 0x1p48))
            return NO_SOURCE;
        p->k[f] = (int64_t)round(k);
        p->z[f] = (int64_t)round(z);
    }
    return s;
}

static int64_t value_of_source(const row_pass* p, uint32_t f, uint64_t q) {
    return (int64_t)q * p->k[f] + p->z[f];
}

driven_guess guess_driven(const row_pass* p, uint32_t c, uint32_t i) {
    uint32_t f = p->layout->first[c] + i;
    uint32_t s = p->layout->first[p->plans[c].source] + i;
    uint32_t own_bits = p->layout->elements[f].bits, bits = p->layout->elements[s].bits;
    uint64_t q = p->row[s], q1 = p->base[s], q2 = p->base2[s];
    int64_t change = value_of_source(p, f, q) - value_of_source(p, f, q1);
    int64_t way = p->h * value_of_source(p, f, q1), doubt = UNIT;
    if (change != 0) {
        int64_t t = 256 * p->h, pace = difference(q1, q2, bits);
        if (pace != 0) {
            int64_t e = ((int64_t)q - (int64_t)q1) * 256 * p->d / pace;
            if (e > 0 && e < t) t = e;
        }
        way += divide(change * (512 * p->h + 256 - t), 512);
    }
    if (p->has_base2) {
        int64_t before = (p->d - 1) * value_of_source(p, f, q2);
        int64_t came = divide(before + (p->d + 1) * value_of_source(p, f, q1), 2);
        int64_t o = came - difference(p->base[f], p->base2[f], own_bits) * UNIT;
        if (absolute(o) <= UNIT + UNIT / 8) {
            way += divide(o, 2);
            doubt = UNIT - absolute(o) > UNIT / 8 ? UNIT - absolute(o) : UNIT / 8;
        }
    }
    int64_t n = divide(way + UNIT / 2, UNIT), rest = way - n * UNIT;
    int64_t x = absolute(rest) + doubt / 2 - UNIT / 2;
    uint64_t word = (p->base[f] + (uint64_t)n) & mask_of(own_bits);
    return (driven_guess){
        .word = word,
        .next = (rest < 0 ? word - 1 : word + 1) & mask_of(own_bits),
        .class_ = x <= 0               ? 0
                  : 8 * x <= doubt     ? 1
                  : 8 * x <= 3 * doubt ? 2
                                       : 3,
    };
}

uint64_t expected_of(const row_pass* p, uint32_t c, uint32_t i) {
    uint32_t f = p->layout->first[c] + i, bits = p->layout->elements[f].bits;
    if (p->h > 0 && p->plans[c].source != NO_SOURCE) return guess_driven(p, c, i).word;
    if (p->h == 0 || p->plans[c].shape != LINEAR) return p->base[f];
    int64_t step = difference(p->base[f], p->base2[f], bits);
    return (p->base[f] + (uint64_t)divide(2 * p->h * step + p->d, 2 * p->d)) & mask_of(bits);
}

static bool is_as_expected(const row_pass* p, uint32_t c) {
    for (uint32_t i = 0; i < p->layout->count[c]; i++)
        if (p->row[p->layout->first[c] + i] != expected_of(p, c, i)) return false;
    return true;
}

// ---- kinds ----

int scale_of_motion(const row_pass* p, uint64_t sum) {
    int scale = half_octaves((uint64_t)p->h);
    uint64_t m = (sum + (uint64_t)p->d - 1) / (uint64_t)p->d;
    if (m > 0) scale += (half_octaves(m) + 1) / (p->h <= 2 ? 5 : 3);
    return scale < 27 ? scale : 27;
}

static void make_linear_plan(const row_pass* p, uint32_t c, plan* made) {
    static const char classes[3][8] = {"3344555", "445----", "5------"};
    uint32_t first = p->layout->first[c], count = p->layout->count[c];
    uint64_t sum = 0;
    for (uint32_t f = first; f < first + count; f++)
        sum += (uint64_t)absolute(difference(p->base[f], p->base2[f], p->layout->elements[f].bits));
    made->scale = scale_of_motion(p, sum);
    char class_ = count <= 3 && made->scale <= 6 ? classes[count - 1][made->scale] : '-';
    made->kind = class_ == '-' ? LIVE : WARM;
    made->class_ = class_ - '0';
}

static void make_plan(row_pass* p, uint32_t c) {
    plan* made = &p->plans[c];
    uint32_t first = p->layout->first[c], count = p->layout->count[c];
    made->kind = QUIET;
    made->scale = -1;
    if (p->h == 0 || made->shape == EMPTY) return;
    if (made->source != NO_SOURCE) {
        for (uint32_t i = 0; i < count; i++) {
            uint64_t q = p->base[p->layout->first[made->source] + i];
            if (absolute(value_of_source(p, first + i, q)) >= 1 << 16) made->kind = DRIVEN;
        }
        made->moves = made->kind == DRIVEN;
        return;
    }
    made->moves = memcmp(p->base + first, p->base2 + first, count * sizeof *p->base) != 0;
    if (made->shape == MIXED) {
        made->kind = made->moves ? WARM : QUIET;
        made->class_ = 3;
    } else if (!made->moves) {
        made->kind = WARM;
        made->class_ = (made->is_source ? 0 : 2) + (p->h > 2);
        made->scale = half_octaves((uint64_t)p->h) + (count != 1 ? 3 : 0);
    } else if (made->shape == ROTATION) {
        made->kind = LIVE;
    } else {
        make_linear_plan(p, c, made);
    }
}

static void choose_lead(row_pass* p) {
    p->lead = -1;
    for (uint32_t c = 0; c < p->layout->component_count && p->lead < 0; c++) {
        plan* at = &p->plans[c];
        if ((at->kind != WARM && at->kind != LIVE) || at->shape != LINEAR ||
            p->layout->count[c] != 1 || at->scale >= 12)
            continue;
        at->kind = LEAD;
        p->lead = (int)c;
    }
}

static void order_warm(row_pass* p) {
    for (uint32_t c = 0; c < p->layout->component_count; c++) {
        if (p->plans[c].kind != WARM) continue;
        uint32_t at = p->warm_count++;
        for (; at > 0 && p->plans[p->warm[at - 1]].class_ > p->plans[c].class_; at--)
            p->warm[at] = p->warm[at - 1];
        p->warm[at] = c;
        if (p->warm_count <= 3) continue;
        p->plans[p->warm[0]].kind = QUIET;
        memmove(p->warm, p->warm + 1, --p->warm_count * sizeof *p->warm);
    }
}

void make_plans(row_pass* p) {
    uint32_t count = p->layout->component_count;
    for (uint32_t c = 0; c < count; c++) {
        p->plans[c].shape = shape_of(p->layout, c);
        p->plans[c].source = source_of(p, c);
    }
    for (uint32_t c = 0; c < count; c++)
        if (p->plans[c].source != NO_SOURCE) p->plans[p->plans[c].source].is_source = true;
    for (uint32_t c = 0; c < count; c++)
        make_plan(p, c);
    choose_lead(p);
    order_warm(p);
    for (uint32_t c = 0; c < count; c++) {
        plan* at = &p->plans[c];
        bool is_certain = at->kind == LIVE || at->kind == DRIVEN || at->kind == LEAD;
        at->is_coded = is_certain || (p->is_writing && !is_as_expected(p, c));
    }
}
