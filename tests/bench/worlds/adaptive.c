// SPDX-License-Identifier: MIT
#include "adaptive.h"

#include "../bench.h"

#include <math.h>
#include <stdlib.h>

enum { MOTIONS = 12, LENGTHS = 34, BASES = 3 /* none, one, two */ };
#define RATE (1.0 / 32)

// The probability that a bit is 1.
typedef struct chance {
    float of_one;
} chance;

// A number: how many bits it has, its sign, its highest bits.
typedef struct number_model {
    chance length[LENGTHS], sign, high[LENGTHS][3];
} number_model;

typedef struct field_model {
    chance differs[BASES][2][4]; // of the component with the field's number
    number_model numbers[BASES][MOTIONS];
} field_model;

struct adaptive {
    uint32_t field_count; // of each template
    chance absent;
    field_model fields[]; // [template][field]
};

static double code(chance* model, bool bit) {
    double p = (double)model->of_one;
    double bits = -log2(bit ? p : 1 - p);
    p += ((bit ? 1.0 : 0.0) - p) * RATE;
    model->of_one = (float)(p < 0.002 ? 0.002 : p > 0.998 ? 0.998 : p);
    return bits;
}

adaptive* adaptive_create(uint32_t templates, uint32_t fields) {
    size_t bytes = (size_t)templates * fields * sizeof(field_model);
    adaptive* self = bench_allocate(sizeof *self + bytes);
    chance* all = (chance*)(void*)self->fields;
    for (size_t i = 0; i < bytes / sizeof *all; i++)
        all[i].of_one = 0.5F;
    self->field_count = fields;
    self->absent.of_one = 0.5F;
    return self;
}

void adaptive_destroy(adaptive* self) {
    bench_release(self);
}

static int64_t apart(uint64_t a, uint64_t b, uint32_t bits) {
    uint64_t difference = (a - b) << (64 - bits);
    return (int64_t)difference >> (64 - bits);
}

static uint32_t length_of(uint64_t size) {
    return size == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(size);
}

static double code_number(number_model* model, int64_t value) {
    uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
    uint32_t length = length_of(size), i = 0;
    if (length >= LENGTHS - 1) return 70;
    double bits = 0;
    for (; i < length; i++)
        bits += code(&model->length[i], true);
    bits += code(&model->length[i], false);
    if (length == 0) return bits;
    bits += code(&model->sign, value < 0);
    for (uint32_t k = 1, node = 0; k < length; k++) { // the bits below the highest one
        bool bit = size >> (length - 1 - k) & 1;
        if (k > 2) {
            bits += 1;
            continue;
        }
        bits += code(&model->high[length][node], bit);
        node = 1 + bit;
    }
    return bits;
}

static bool is_linear(const proto_row_component* component, const proto_row_field* field) {
    return !component->is_rotation && field->quant.kind == PROTO_F32 && !field->quant.is_exact;
}

// The word that a straight line through the bases, or the source's mean, leads to.
static uint64_t expect(const proto_layout* layout, const proto_row_component* component, uint32_t i,
                       const proto_row_base* against, const uint64_t* row) {
    uint32_t f = component->field_first + i;
    const proto_row_field* field = &layout->fields[f];
    double h = against->ticks;
    if (component->is_driven && h > 0) {
        uint32_t s = layout->components[component->integral - 1].field_first + i;
        double pace = ((double)against->base[s] + (double)row[s]) / 2 * (double)field->drive +
                      (double)field->drive_zero;
        return against->base[f] + (uint64_t)(int64_t)floor(h * pace / (1 << 20) + 0.5);
    }
    if (!against->base2 || h == 0 || (!is_linear(component, field) && !component->is_rotation))
        return against->base[f];
    double step = (double)apart(against->base[f], against->base2[f], field->quant.bits);
    return against->base[f] + (uint64_t)(int64_t)floor(step * h / against->ticks2 + 0.5);
}

static double code_component(field_model* models, const proto_layout* layout, uint32_t c,
                             const proto_row_base* against, const uint64_t* row, uint32_t* before) {
    const proto_row_component* component = &layout->components[c];
    uint32_t bases = against->ticks == 0 ? 0 : against->base2 ? 2 : 1, motion = 0;
    bool differs = false, has_moved = false;
    for (uint32_t i = 0; i < component->field_count; i++) {
        uint32_t f = component->field_first + i, bits = layout->fields[f].quant.bits;
        uint64_t expected = expect(layout, component, i, against, row);
        if (apart(row[f], expected, bits) != 0) differs = true;
        if (bases < 2 || against->base[f] == against->base2[f]) continue;
        has_moved = true;
        motion += (uint32_t)llabs(apart(against->base[f], against->base2[f], bits)) & 0xffff;
    }
    uint32_t context = length_of(motion);
    if (context >= MOTIONS) context = MOTIONS - 1;
    double bits = code(&models[c].differs[bases][has_moved][*before & 3], differs);
    *before = *before << 1 | differs;
    for (uint32_t i = 0; differs && i < component->field_count; i++) {
        uint32_t f = component->field_first + i;
        uint64_t expected = expect(layout, component, i, against, row);
        int64_t off = apart(row[f], expected, layout->fields[f].quant.bits);
        bits += code_number(&models[f].numbers[bases][context], off);
    }
    return bits;
}

double adaptive_row(adaptive* self, uint32_t template_, const proto_layout* layout,
                    const proto_row_base* against, const uint64_t* row) {
    double bits = 0;
    uint32_t before = 0;
    field_model* models = &self->fields[(size_t)template_ * self->field_count];
    for (uint32_t i = 0; i < layout->component_count; i++) {
        uint32_t c = layout->order[i];
        bits += code_component(models, layout, c, against, row, &before);
    }
    return bits;
}

double adaptive_absent(adaptive* self, bool is_absent) {
    return code(&self->absent, is_absent);
}
