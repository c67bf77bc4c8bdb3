// SPDX-License-Identifier: MIT
// ROWS.md: shapes, expected words, kinds and classes.
#include "row.h"

#include <math.h>
#include <string.h>

int log_halves(uint64_t x) {
    int n = 0;
    while (x >> n > 1)
        n++;
    return 2 * n + (n > 0 && x >= UINT64_C(3) << (n - 1));
}

int64_t divide_down(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t words_apart(uint64_t a, uint64_t b, uint32_t bits) {
    uint64_t apart = (a - b) << (64 - bits);
    int64_t is_negative = (int64_t)(apart >> 63);
    apart >>= 64 - bits;
    return is_negative ? (int64_t)(apart - (UINT64_C(2) << (bits - 1))) : (int64_t)apart;
}

uint64_t words_add(uint64_t word, int64_t difference, uint32_t bits) {
    return (word + (uint64_t)difference) & (UINT64_MAX >> (64 - bits));
}

// ---- the layout ----

static part_shape shape_of(const cf_layout* layout, uint32_t c) {
    if (layout->is_rotation[c]) return SHAPE_ROTATION;
    if (layout->count[c] == 0) return SHAPE_EMPTY;
    uint32_t elastic = 0, linear = 0;
    for (uint32_t i = layout->first[c]; i < layout->first[c] + layout->count[c]; i++) {
        const cf_element* element = &layout->elements[i];
        bool is_float = element->kind == K_F32 || element->kind == K_F64;
        elastic += element->is_elastic;
        linear += is_float && !element->is_exact && element->bits >= 3;
    }
    return elastic == layout->count[c]  ? SHAPE_ELASTIC
           : linear == layout->count[c] ? SHAPE_LINEAR
                                        : SHAPE_MIXED;
}

static bool drive_field(cf_layout* layout, uint32_t field, uint32_t source, double rate) {
    const cf_element *own = &layout->elements[field], *from = &layout->elements[source];
    if (own->bits > 24 || from->bits > 24) return false;
    double unit = own->step * rate;
    double k = from->step / unit * 0x1p20, z = from->min / unit * 0x1p20;
    if (!(k >= 1 && k <= ldexp(0x1p48, -(int)from->bits) && fabs(z) <= 0x1p48)) return false;
    layout->drive[field] = (int64_t)round(k);
    layout->drive_zero[field] = (int64_t)round(z);
    return true;
}

static void find_source(cf_layout* layout, uint32_t c, uint32_t rate) {
    layout->source[c] = -1;
    if (!layout->integrals[c] || layout->shape[c] != SHAPE_LINEAR || rate == 0) return;
    for (uint32_t s = 0; s < layout->component_count; s++) {
        if (strcmp(layout->names[s], layout->integrals[c]) != 0) continue;
        if (layout->shape[s] != SHAPE_LINEAR || layout->integrals[s] ||
            layout->count[s] != layout->count[c])
            return;
        for (uint32_t i = 0; i < layout->count[c]; i++)
            if (!drive_field(layout, layout->first[c] + i, layout->first[s] + i, rate)) return;
        layout->source[c] = (int)s;
        layout->is_source[s] = true;
        return;
    }
}

void layout_finish(cf_layout* layout, const cf_tables* tables, uint32_t tick_rate_hz) {
    layout->tables = tables;
    for (uint32_t c = 0; c < layout->component_count; c++) {
        layout->shape[c] = shape_of(layout, c);
        layout->is_source[c] = false;
    }
    for (uint32_t c = 0; c < layout->component_count; c++)
        find_source(layout, c, tick_rate_hz);
}

// ---- the row ----

static bool is_moving(const row_coder* coder, uint32_t c) {
    const cf_layout* layout = coder->layout;
    size_t bytes = layout->count[c] * sizeof *coder->base;
    return coder->base2 &&
           memcmp(coder->base + layout->first[c], coder->base2 + layout->first[c], bytes) != 0;
}

static void expect(row_coder* coder, uint32_t c) {
    const cf_layout* layout = coder->layout;
    for (uint32_t i = layout->first[c]; i < layout->first[c] + layout->count[c]; i++) {
        uint64_t base = coder->base[i];
        uint32_t bits = layout->elements[i].bits;
        coder->expected[i] = base;
        if (layout->shape[c] != SHAPE_LINEAR || !coder->base2) continue;
        int64_t way = 2 * coder->h * words_apart(base, coder->base2[i], bits) + coder->d;
        coder->expected[i] = words_add(base, divide_down(way, 2 * coder->d), bits);
    }
    expect_elastic(coder, c);
}

int scale_of_motion(const row_coder* coder, uint64_t sum) {
    uint64_t d = coder->base2 ? (uint64_t)coder->d : 1, m = (sum + d - 1) / d;
    int scale = log_halves((uint64_t)coder->h);
    if (m > 0) scale += (log_halves(m) + 1) / (coder->h <= 2 ? 5 : 3);
    return scale < SCALE_MAX ? scale : SCALE_MAX;
}

static int moving_scale(const row_coder* coder, uint32_t c) {
    const cf_layout* layout = coder->layout;
    uint64_t sum = coder->elastic[c].sum;
    for (uint32_t i = layout->first[c]; i < layout->first[c] + layout->count[c]; i++) {
        if (layout->shape[c] != SHAPE_LINEAR) break;
        int64_t apart = words_apart(coder->base[i], coder->base2[i], layout->elements[i].bits);
        sum += apart < 0 ? 0 - (uint64_t)apart : (uint64_t)apart;
    }
    return scale_of_motion(coder, sum);
}

static bool source_moves(const row_coder* coder, uint32_t c) {
    const cf_layout* layout = coder->layout;
    uint32_t own = layout->first[c], source = layout->first[layout->source[c]];
    for (uint32_t i = 0; i < layout->count[c]; i++) {
        int64_t v =
            (int64_t)coder->base[source + i] * layout->drive[own + i] + layout->drive_zero[own + i];
        if (v >= 1 << 16 || v <= -(1 << 16)) return true;
    }
    return false;
}

static int moving_class(uint32_t fields, int scale) {
    static const int classes[3][7] = {
        {3, 3, 4, 4, 5, 5, 5}, {4, 4, 5, -1, -1, -1, -1}, {5, -1, -1, -1, -1, -1, -1}};
    return fields <= 3 && scale <= 6 ? classes[fields - 1][scale] : -1;
}

static void plan_moving(const row_coder* coder, uint32_t c, part_plan* plan) {
    part_shape shape = coder->layout->shape[c];
    plan->class = shape == SHAPE_MIXED ? 3 : -1;
    if (shape == SHAPE_LINEAR || shape == SHAPE_ELASTIC) {
        plan->scale = moving_scale(coder, c);
        plan->class = moving_class(coder->layout->count[c], plan->scale);
    }
    if (coder->elastic[c].is_wild) plan->class = -1;
    plan->kind = plan->class < 0 ? PART_LIVE : PART_WARM;
}

static void plan_part(row_coder* coder, uint32_t c) {
    const cf_layout* layout = coder->layout;
    part_shape shape = layout->shape[c];
    part_plan* plan = &coder->plans[c];
    *plan = (part_plan){.kind = PART_QUIET, .scale = SCALE_NONE};
    if (coder->h == 0 || shape == SHAPE_EMPTY) return;
    if (layout->source[c] >= 0) {
        if (source_moves(coder, c)) plan->kind = PART_DRIVEN;
    } else if (is_moving(coder, c)) {
        plan->is_moving = true;
        plan_moving(coder, c, plan);
    } else if (shape != SHAPE_ELASTIC && shape != SHAPE_MIXED) {
        plan->kind = PART_WARM;
        plan->class = (layout->is_source[c] ? 0 : 2) + (coder->h > 2);
        plan->scale = scale_of_motion(coder, 0) + (layout->count[c] == 1 ? 0 : 3);
    }
}

// Sort by rising class, then number. When a third one comes, the first becomes quiet.
static void choose_warm(row_coder* coder) {
    coder->warm_count = 0;
    for (uint32_t c = 0; c < coder->layout->component_count; c++) {
        if (coder->plans[c].kind != PART_WARM) continue;
        uint32_t at = coder->warm_count;
        while (at > 0 && coder->plans[coder->warm[at - 1]].class > coder->plans[c].class)
            at--;
        if (coder->warm_count < WARM_MAX) {
            memmove(coder->warm + at + 1, coder->warm + at,
                    (coder->warm_count++ - at) * sizeof *coder->warm);
            coder->warm[at] = c;
        } else if (at == 0) {
            coder->plans[c].kind = PART_QUIET;
        } else {
            coder->plans[coder->warm[0]].kind = PART_QUIET;
            memmove(coder->warm, coder->warm + 1, (at - 1) * sizeof *coder->warm);
            coder->warm[at - 1] = c;
        }
    }
}

void plan_row(row_coder* coder) {
    for (uint32_t c = 0; c < coder->layout->component_count; c++) {
        expect(coder, c);
        plan_part(coder, c);
    }
    choose_warm(coder);
    coder->quiet_count = 0;
    for (uint32_t c = 0; c < coder->layout->component_count; c++)
        if (coder->plans[c].kind == PART_QUIET && coder->layout->count[c] > 0)
            coder->quiet[coder->quiet_count++] = c;
}
