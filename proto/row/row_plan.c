// SPDX-License-Identifier: MIT
// What both sides expect of a row from its bases: kinds, scales, lines and integrals (ROWS.md,
// "Expected words", "Kinds" and "Driven components").
//
// The straight line through base2 and base is a good guess for some ticks. Beyond ROW_TICKS_MAX it
// is no better than base, and base2 is not used. The distance of a number from its line grows with
// the ticks and, slowly, with the speed: half an octave per half octave of ticks, and a third of
// that per half octave of speed. This rule and the classes below are choices, the same for every
// game. Coding corrects the scale for a row that behaves differently.
#include "row/row_coder.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

// Check whether the source of this component rests in the base: it moves no field by 1/16 step per
// tick.
static bool is_source_still(const row_coder* coder, const proto_row_component* component) {
    const proto_row_component* source = &coder->layout->components[component->integral - 1];
    for (uint32_t i = 0; i < component->field_count; i++) {
        int64_t drive = row_drive(&coder->layout->fields[component->field_first + i],
                                  coder->base[source->field_first + i]);
        if (drive >= ROW_STEP / 16 || drive <= -ROW_STEP / 16) return false;
    }
    return true;
}

// Steps between the bases, summed over the fields.
static uint64_t motion_of(const row_coder* coder, const proto_row_component* component) {
    uint64_t motion = 0;
    uint32_t end = component->field_first + (uint32_t)component->field_count;
    for (uint32_t f = component->field_first; f < end; f++) {
        int64_t step =
            row_difference(coder->base[f], coder->base2[f], coder->layout->fields[f].quant.bits);
        motion += (uint64_t)(step < 0 ? -step : step);
    }
    return motion;
}

static void plan_moving(const row_coder* coder, const proto_row_component* component,
                        row_plan* plan) {
    plan->kind = ROW_LIVE; // the scale of a rotation is found when it is coded
    if (component->shape == SHAPE_ROTATION) return;
    uint64_t expected[PROTO_ROW_FIELDS_MAX], motion;
    bool is_wild = false;
    if (component->shape == SHAPE_ELASTIC) {
        const row_elastic own =
            row_elastic_of(coder, (uint32_t)(component - coder->layout->components));
        motion = proto_elastic_expect(&own, expected, &is_wild);
    } else {
        motion = motion_of(coder, component);
    }
    uint32_t scale = row_line_scale(coder->ticks, coder->ticks2, motion);
    plan->scale = (int8_t)scale;
    plan->class_ =
        is_wild ? (uint8_t)ROW_CLASS_LIVE : row_line_class(component->field_count, scale);
    if (plan->class_ != ROW_CLASS_LIVE) plan->kind = ROW_WARM;
}

static void plan_component(const row_coder* coder, const proto_row_component* component,
                           row_plan* plan) {
    *plan = (row_plan){.kind = ROW_QUIET, .scale = -1};
    if (component->is_driven && coder->ticks > 0) {
        if (is_source_still(coder, component))
            return; // quiet: it is coded when its source is coded, else it is an exception
        plan->kind = ROW_DRIVEN;
        return;
    }
    if (!coder->base2 || component->shape == SHAPE_EMPTY) return;
    uint32_t first = component->field_first;
    bool is_moving = row_differs(coder->base + first, coder->base2 + first, component->field_count);
    if (component->shape == SHAPE_MIXED) {
        if (is_moving) plan->kind = ROW_WARM;
        plan->class_ = ROW_CLASS_MIXED;
    } else if (component->shape == SHAPE_ELASTIC && !is_moving) {
        return;
    } else if (is_moving) {
        plan_moving(coder, component, plan);
    } else {
        plan->kind = ROW_WARM;
        plan->class_ = row_rest_class(component->is_source, coder->ticks);
        plan->scale = (int8_t)row_rest_scale(coder->ticks, component->field_count);
    }
}

static uint32_t warmth(const row_coder* coder, uint32_t c) {
    return (uint32_t)coder->plans[c].class_ << 8 | c;
}

// Warm components are sorted by rising class, then number. Only the last ROW_WARM_MAX stay warm;
// the others become quiet.
static void add_warm(row_coder* coder, uint32_t c) {
    const uint32_t own = warmth(coder, c);
    uint32_t at = coder->warm_count;
    if (at == ROW_WARM_MAX) {
        if (own < warmth(coder, coder->warm[0])) {
            coder->plans[c].kind = ROW_QUIET;
            return;
        }
        coder->plans[coder->warm[0]].kind = ROW_QUIET;
        memmove(coder->warm, coder->warm + 1, ROW_WARM_MAX - 1);
        at--;
    } else {
        coder->warm_count++;
    }
    for (; at > 0 && warmth(coder, coder->warm[at - 1]) > own; at--)
        coder->warm[at] = coder->warm[at - 1];
    coder->warm[at] = (uint8_t)c;
}

static bool differs(const row_coder* coder, uint32_t c) {
    const proto_row_component* component = &coder->layout->components[c];
    uint64_t expected[PROTO_ROW_FIELDS_MAX];
    proto_row_expect(coder, c, expected);
    return row_differs(coder->row + component->field_first, expected, component->field_count);
}

void proto_row_plan(row_coder* coder) {
    for (uint32_t c = 0; c < coder->layout->component_count; c++) {
        const proto_row_component* component = &coder->layout->components[c];
        row_plan* plan = &coder->plans[c];
        plan_component(coder, component, plan);
        plan->is_coded = plan->kind <= ROW_DRIVEN;
        if (plan->is_coded) coder->is_any_certain = true;
        if (component->shape == SHAPE_EMPTY || plan->is_coded) continue;
        if (coder->writer) plan->is_coded = differs(coder, c);
    }
    for (uint32_t c = 0; c < coder->layout->component_count; c++)
        if (coder->plans[c].kind == ROW_WARM) add_warm(coder, c);
    BASE_ASSERT(coder->warm_count <= ROW_WARM_MAX);
}

uint64_t proto_row_moved(const row_coder* coder) {
    const uint64_t *base = coder->base, *base2 = coder->base2;
    const uint32_t count = coder->has_base2 ? coder->layout->field_count : 0;
    uint64_t moved = 0;
    uint32_t f = 0;
#ifdef __SSE2__
    for (; f < count && count >= 4; f += 4) { // the last four overlap those before
        if (f > count - 4) f = count - 4;
        const __m128i *a = (const void*)(base + f), *b = (const void*)(base2 + f);
        const __m128 low = _mm_castsi128_ps(_mm_xor_si128(_mm_loadu_si128(a), _mm_loadu_si128(b)));
        const __m128 high =
            _mm_castsi128_ps(_mm_xor_si128(_mm_loadu_si128(a + 1), _mm_loadu_si128(b + 1)));
        const __m128i either =
            _mm_castps_si128(_mm_or_ps(_mm_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0)),
                                       _mm_shuffle_ps(low, high, _MM_SHUFFLE(3, 1, 3, 1))));
        const __m128i same = _mm_cmpeq_epi32(either, _mm_setzero_si128());
        moved |= (uint64_t)(_mm_movemask_ps(_mm_castsi128_ps(same)) ^ 15) << f;
    }
#endif
    for (; f < count; f++)
        moved |= (uint64_t)(base[f] != base2[f]) << f;
    return moved;
}

void proto_row_plan_reader(row_coder* coder, uint64_t moved) {
    static const row_plan quiet[2] = {{ROW_QUIET, 0, -1, false}, {ROW_QUIET, 0, -1, false}};
    const proto_layout* layout = coder->layout;
    for (uint32_t c = 0; c < layout->component_count; c += 2)
        memcpy(&coder->plans[c], quiet, sizeof quiet);
    coder->active = 0;
    if (coder->ticks == 0) return;
    for (uint32_t i = 0; i < layout->plan.step_count; i++) {
        const uint32_t c = layout->plan.steps[i];
        const proto_layout_part* part = &layout->plan.parts[c];
        row_plan* plan = &coder->plans[c];
        if (part->is_driven || moved & part->words) {
            coder->active |= UINT64_C(1) << part->place;
            plan_component(coder, &layout->components[c], plan);
            plan->is_coded = plan->kind <= ROW_DRIVEN;
            coder->is_any_certain |= plan->is_coded;
        } else {
            plan->kind = ROW_WARM;
            plan->class_ = row_rest_class(part->is_source, coder->ticks);
            plan->scale = (int8_t)row_rest_scale(coder->ticks, part->count);
        }
        if (plan->kind == ROW_WARM) add_warm(coder, c);
    }
    for (uint64_t left = moved & layout->plan.mixed_words; left;) {
        const uint32_t c = layout->plan.words[__builtin_ctzll(left)].component;
        const proto_layout_part* part = &layout->plan.parts[c];
        left &= ~part->words;
        coder->plans[c].kind = ROW_WARM;
        coder->plans[c].class_ = ROW_CLASS_MIXED;
        if (part->shape == SHAPE_ELASTIC) {
            coder->active |= UINT64_C(1) << part->place;
            plan_component(coder, &layout->components[c], &coder->plans[c]);
            coder->plans[c].is_coded = coder->plans[c].kind == ROW_LIVE;
            coder->is_any_certain |= coder->plans[c].is_coded;
        }
        if (coder->plans[c].kind == ROW_WARM) add_warm(coder, c);
    }
}

// ---- expected words ----

static uint64_t line(const row_coder* coder, uint32_t f) {
    uint32_t bits = coder->layout->fields[f].quant.bits;
    int64_t step = row_difference(coder->base[f], coder->base2[f], bits);
    if (step == 0) return coder->base[f];
    int64_t way = step * (int64_t)coder->ticks;
    if (coder->ticks2 > 1) way = row_divide(2 * way + coder->ticks2, 2 * coder->ticks2);
    return (coder->base[f] + (uint64_t)way) & row_mask(bits);
}

void proto_row_expect(const row_coder* coder, uint32_t component, uint64_t* expected) {
    const proto_row_component* own = &coder->layout->components[component];
    bool is_driven = own->is_driven && coder->ticks > 0;
    bool is_line = own->shape == SHAPE_LINEAR && coder->base2, is_wild;
    if (own->shape == SHAPE_ELASTIC && coder->has_base2) {
        const row_elastic elastic = row_elastic_of(coder, component);
        (void)proto_elastic_expect(&elastic, expected, &is_wild);
        return;
    }
    for (uint32_t i = 0; i < own->field_count; i++) {
        uint32_t f = own->field_first + i;
        expected[i] = is_driven ? row_drive_of(coder, component, i).word
                      : is_line ? line(coder, f)
                                : coder->base[f];
    }
}
