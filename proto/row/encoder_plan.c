// SPDX-License-Identifier: MIT
// The plan of a layout: all that the encoder would otherwise find out again for every row.
#include "row/encoder.h"

enum { STILL = ROW_STEP / 16, PLAIN_FIELDS_MAX = 4 };

// The words of the source that count as still; no word is between `first` and `last` when there is
// none. A step of the source moves the field by at least one unit, so they are neighbours.
static void plan_still(const proto_row_field* field, uint32_t source_bits,
                       proto_layout_still* still) {
    int64_t most = (int64_t)row_mask(source_bits);
    int64_t first = row_divide(-STILL - field->drive_zero, field->drive) + 1;
    int64_t last = row_divide(STILL - 1 - field->drive_zero, field->drive);
    if (first < 0) first = 0;
    if (last > most) last = most;
    bool is_any = first <= last;
    still->first = is_any ? (uint32_t)first : 1;
    still->last = is_any ? (uint32_t)last : 0;
}

static void plan_word(proto_layout* layout, uint32_t c, uint32_t f) {
    const proto_quant* quant = &layout->fields[f].quant;
    bool is_float = quant->kind == PROTO_F32 || quant->kind == PROTO_F64;
    proto_layout_word* word = &layout->plan.words[f];
    *word = (proto_layout_word){.shift = (uint8_t)(32 - quant->bits), .component = (uint8_t)c};
    if (quant->bits >= layout->tables->small_bits_min) word->small_count = 2 * PROTO_SMALL;
    word->codes = quant->bits == 1              ? ENCODER_BIT
                  : quant->kind == PROTO_ENTITY ? ENCODER_ENTITY
                  : !is_float                   ? PROTO_NUMBER_INT
                  : quant->is_exact             ? PROTO_NUMBER_FLOAT
                                                : ENCODER_SCALED;
    const proto_row_component* component = &layout->components[c];
    if (!component->is_driven) return;
    uint32_t i = f - component->field_first;
    const proto_row_component* source = &layout->components[component->integral - 1];
    plan_still(&layout->fields[f], layout->fields[source->field_first + i].quant.bits,
               &layout->plan.still[f]);
}

static void plan_part(proto_layout* layout, uint32_t c) {
    proto_layout_plan* plan = &layout->plan;
    const proto_row_component* component = &layout->components[c];
    uint32_t first = component->field_first, count = component->field_count;
    proto_layout_part* part = &plan->parts[c];
    *part = (proto_layout_part){
        .first = (uint8_t)first,
        .count = (uint8_t)count,
        .shape = component->shape,
        .source = (uint8_t)(component->is_driven ? component->integral - 1 : 0),
        .is_driven = component->is_driven,
        .is_source = component->is_source,
    };
    if (component->is_driven) plan->is_driven = true;
    if (count > 0) part->words = row_mask(count) << first;
    if (component->shape == SHAPE_MIXED) plan->mixed_words |= part->words;
    if (component->shape == SHAPE_LINEAR || component->shape == SHAPE_ROTATION)
        plan->steps[plan->step_count++] = (uint8_t)c;
    part->is_vector = count == 3;
    for (uint32_t f = first; f < first + count; f++) {
        plan_word(layout, c, f);
        if (plan->words[f].small_count == 0) part->is_vector = false;
    }
}

// No sources, no rotations, few fields in each component, no references, few bits in what moves.
static bool is_plain(const proto_layout* layout) {
    const proto_layout_plan* plan = &layout->plan;
    if (plan->is_driven || layout->component_count > PROTO_PLAIN_COMPONENTS_MAX ||
        layout->packed_count > PROTO_PLAIN_WORDS_MAX)
        return false;
    for (uint32_t c = 0; c < layout->component_count; c++)
        if (plan->parts[c].shape == SHAPE_ROTATION || plan->parts[c].count > PLAIN_FIELDS_MAX ||
            layout->order[c] != c)
            return false;
    for (uint32_t f = 0; f < layout->field_count; f++)
        if (plan->words[f].codes == ENCODER_ENTITY ||
            (plan->parts[plan->words[f].component].shape == SHAPE_LINEAR &&
             layout->fields[f].quant.bits > PROTO_PLAIN_LINE_BITS_MAX))
            return false;
    return true;
}

static void plan_plain(proto_layout* layout) {
    proto_layout_plan* plan = &layout->plan;
    plan->is_plain = true;
    for (uint32_t f = 0; f < layout->field_count; f++) {
        plan->masks[f] = UINT32_MAX >> plan->words[f].shift;
        plan->lines[f] = plan->mixed_words >> f & 1 ? 0 : UINT32_MAX;
    }
    for (uint32_t c = 0; c < layout->component_count; c++)
        if (plan->parts[c].shape == SHAPE_MIXED) plan->mixed |= 1u << c;
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const proto_layout_part* part = &plan->parts[plan->steps[i]];
        plan->plain_steps[i] =
            (proto_plain_step){(uint32_t)part->words, part->first, part->count, plan->steps[i]};
    }
}

void proto_layout_plan_make(proto_layout* layout) {
    proto_layout_plan* plan = &layout->plan;
    memset(plan, 0, sizeof *plan);
    uint32_t words = 0;
    for (uint32_t c = 0; c < layout->component_count; c++) {
        proto_row_component* component = &layout->components[c];
        uint32_t first = component->field_first;
        component->packed_first = (uint16_t)words;
        for (uint32_t f = first; f < first + component->field_count; f++)
            words += layout->fields[f].quant.bits > 32 ? 2 : 1;
        component->packed_count = (uint16_t)(words - component->packed_first);
    }
    layout->packed_count = (words + 1) & ~1u;
    if (words > layout->field_count || words > PROTO_ROW_PLANNED_MAX) return;
    plan->is_made = true;
    for (uint32_t c = 0; c < layout->component_count; c++)
        plan_part(layout, c);
    for (uint32_t i = 0; i < layout->component_count; i++)
        plan->parts[layout->order[i]].place = (uint8_t)i;
    if (is_plain(layout)) plan_plain(layout);
}
