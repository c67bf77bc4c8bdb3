// SPDX-License-Identifier: MIT
// What both sides expect of a row from its bases: kinds, scales, lines and integrals (WIRE.md,
// "Expected words", "Kinds" and "Driven components").
//
// The straight line through base2 and base is a good guess for some ticks. Beyond ROW_TICKS_MAX it
// is no better than base, and base2 is not used. The distance of a number from its line grows with
// the ticks and, slowly, with the speed: half an octave per half octave of ticks, and a third of
// that per half octave of speed. This rule and the classes below are choices, the same for every
// game. Coding corrects the scale for a row that behaves differently.
#include "row/row_coder.h"

uint32_t proto_row_line_scale(const row_coder* coder, uint64_t motion) {
    BASE_ASSERT(coder->ticks >= 1 && coder->ticks <= ROW_TICKS_MAX && coder->ticks2 >= 1);
    return row_line_scale(coder->ticks, coder->ticks2, motion);
}

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
    uint32_t scale = proto_row_line_scale(coder, motion_of(coder, component));
    plan->scale = (int8_t)scale;
    plan->class_ = row_line_class(component->field_count, scale);
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
    } else if (is_moving) {
        plan_moving(coder, component, plan);
    } else {
        plan->kind = ROW_WARM;
        plan->class_ = row_rest_class(component->is_source, coder->ticks);
        plan->scale = (int8_t)row_rest_scale(coder->ticks, component->field_count);
    }
}

// Sort the warm components by rising class, then number. Only the last ROW_WARM_MAX stay warm; the
// others become quiet.
static void keep_warm(row_coder* coder) {
    for (uint32_t c = 0; c < coder->layout->component_count; c++) {
        if (coder->plans[c].kind != ROW_WARM) continue;
        uint32_t at = coder->warm_count;
        if (at == ROW_WARM_MAX) {
            if (coder->plans[c].class_ < coder->plans[coder->warm[0]].class_) {
                coder->plans[c].kind = ROW_QUIET;
                continue;
            }
            coder->plans[coder->warm[0]].kind = ROW_QUIET;
            memmove(coder->warm, coder->warm + 1, ROW_WARM_MAX - 1);
            at--;
        } else {
            coder->warm_count++;
        }
        for (; at > 0 && coder->plans[coder->warm[at - 1]].class_ > coder->plans[c].class_; at--)
            coder->warm[at] = coder->warm[at - 1];
        coder->warm[at] = (uint8_t)c;
    }
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
    keep_warm(coder);
    BASE_ASSERT(coder->warm_count <= ROW_WARM_MAX);
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

// How far a change of the source from base to row moves its integral, in 1 / ROW_STEP steps. The
// model: the source goes on changing as it did before the base until it has the row's word, then it
// stays. If the row's word is not on that way, the source changes evenly. Each tick moves by the
// source's value after that tick.
static int64_t drive_change(const row_drive_words* words, int64_t change) {
    if (change == 0) return 0;
    int64_t ticks = words->ticks, until = ticks * 256, pace = words->source_pace;
    if (pace != 0) {
        int64_t step = (int64_t)words->source_row - (int64_t)words->source_base;
        int64_t needed = step * 256 * (int64_t)words->ticks2 / pace;
        if (needed > 0 && needed < until) until = needed;
    }
    return row_divide(change * (512 * ticks + 256 - until), 512);
}

row_drive_guess proto_row_drive_guess(const proto_row_field* field, const row_drive_words* words) {
    int64_t at_base = row_drive(field, words->source_base);
    int64_t at_row = row_drive(field, words->source_row);
    int64_t way = words->ticks * at_base + drive_change(words, at_row - at_base);
    int64_t doubt = ROW_STEP, shift = 0;
    if (words->has_base2) {
        // Both bases were rounded. The real position is where both roundings agree.
        int64_t before = words->ticks2;
        int64_t at_base2 = row_drive(field, words->source_base2);
        int64_t came = row_divide((before - 1) * at_base2 + (before + 1) * at_base, 2);
        int64_t off = came - words->pace * ROW_STEP;
        int64_t size = off < 0 ? -off : off;
        if (size <= ROW_STEP + ROW_STEP / 8) {
            shift = row_divide(off, 2);
            doubt = size < ROW_STEP - ROW_STEP / 8 ? ROW_STEP - size : ROW_STEP / 8;
        }
    }
    way += shift;
    int64_t whole = row_divide(way + ROW_STEP / 2, ROW_STEP);
    int64_t rest = way - whole * ROW_STEP;
    row_drive_guess guess = {.word = (words->base + (uint64_t)whole) & row_mask(field->quant.bits)};
    guess.is_down = rest < 0;
    if (rest < 0) rest = -rest;
    // `over` is the part of the doubt beyond the edge of the rounding.
    int64_t over = rest + doubt / 2 - ROW_STEP / 2;
    guess.class_ = over <= 0 ? 0 : over * 8 <= doubt ? 1 : over * 8 <= 3 * doubt ? 2 : 3;
    guess.rest = rest;
    guess.doubt = doubt;
    return guess;
}

row_drive_guess proto_row_drive(const row_coder* coder, uint32_t component, uint32_t i) {
    const proto_row_component* own = &coder->layout->components[component];
    BASE_VALIDATE(own->is_driven && i < own->field_count);
    uint32_t f = own->field_first + i;
    uint32_t source = coder->layout->components[own->integral - 1].field_first + i;
    const proto_row_field* fields = coder->layout->fields;
    row_drive_words words = {
        .ticks = coder->ticks,
        .ticks2 = coder->ticks2,
        .has_base2 = coder->has_base2,
        .base = coder->base[f],
        .pace = row_difference(coder->base[f], coder->base2[f], fields[f].quant.bits),
        .source_row = coder->row[source],
        .source_base = coder->base[source],
        .source_base2 = coder->base2[source],
        .source_pace =
            row_difference(coder->base[source], coder->base2[source], fields[source].quant.bits),
    };
    return proto_row_drive_guess(&fields[f], &words);
}

void proto_row_expect(const row_coder* coder, uint32_t component, uint64_t* expected) {
    const proto_row_component* own = &coder->layout->components[component];
    bool is_driven = own->is_driven && coder->ticks > 0;
    bool is_line = own->shape == SHAPE_LINEAR && coder->base2;
    for (uint32_t i = 0; i < own->field_count; i++) {
        uint32_t f = own->field_first + i;
        expected[i] = is_driven ? proto_row_drive(coder, component, i).word
                      : is_line ? line(coder, f)
                                : coder->base[f];
    }
}
