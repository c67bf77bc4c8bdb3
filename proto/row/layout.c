// SPDX-License-Identifier: MIT
// The layout of a template's rows: the shape of each component, the source of each integral, the
// size of a coded row in the worst case; and the conversion between a component's memory and its
// words. row.c codes rows. Start reading at proto_layout_finish.
#include "proto/layout.h"

#include "base/assert.h"
#include "base/math.h"
#include "row/encoder.h"
enum { LINEAR_BITS_MIN = 3, ENTITY_BITS_MAX = 50, SIGN_BITS = 1, DRIVEN_BITS_MAX = 24 };
// A source moves its integral by at most 2^28 steps per tick. In units of 2^-20 steps, 256 ticks of
// this fit 64 bits.
#define DRIVE_MAX 268435456.0

static row_shape shape_of(const proto_layout* layout, const proto_row_component* component) {
    const proto_row_field* fields = &layout->fields[component->field_first];
    if (component->field_count == 0) return SHAPE_EMPTY;
    if (component->is_rotation) {
        BASE_ASSERT(component->field_count == PROTO_ROTATION_WORDS && fields[0].quant.bits == 2);
        for (uint32_t i = 1; i < PROTO_ROTATION_WORDS; i++) {
            BASE_ASSERT(fields[i].quant.bits >= PROTO_ROTATION_BITS_MIN &&
                        fields[i].quant.bits <= PROTO_ROTATION_BITS_MAX &&
                        fields[i].quant.q_max == fields[1].quant.q_max);
        }
        return SHAPE_ROTATION;
    }
    uint32_t linear = 0, elastic = 0, count = component->field_count;
    for (uint32_t i = 0; i < count; i++) {
        const proto_quant* quant = &fields[i].quant;
        linear += (quant->kind == PROTO_F32 || quant->kind == PROTO_F64) && !quant->is_exact &&
                  quant->bits >= LINEAR_BITS_MIN;
        elastic += quant->is_elastic;
    }
    return linear == count ? SHAPE_LINEAR : elastic == count ? SHAPE_ELASTIC : SHAPE_MIXED;
}

// Compute how far one step of the source, and its word 0, move a field per tick, in 2^-20 of the
// field's steps. @return false: the source is too slow or too fast for the field.
static bool set_drive(const proto_quant* own, const proto_quant* source, uint32_t tick_rate_hz,
                      proto_row_field* field) {
    double unit = own->step * (double)tick_rate_hz;
    double step = source->step / unit * (double)ROW_STEP,
           zero = source->min / unit * (double)ROW_STEP;
    if (!(step >= 1 &&
          step * (double)(UINT64_C(1) << source->bits) <= DRIVE_MAX * (double)ROW_STEP))
        return false;
    if (!(zero <= DRIVE_MAX * (double)ROW_STEP && zero >= -DRIVE_MAX * (double)ROW_STEP))
        return false;
    field->drive = base_round_i64(step);
    field->drive_zero = base_round_i64(zero);
    return true;
}

// Connect a component with its source. @return false: it has none (ROWS.md, "Shapes and sources").
static bool connect_source(proto_layout* layout, const proto_row_component* component) {
    if (component->integral == 0 || layout->tick_rate_hz == 0) return false;
    const proto_row_component* source = &layout->components[component->integral - 1];
    if (source == component || source->integral || source->field_count != component->field_count ||
        shape_of(layout, component) != SHAPE_LINEAR || shape_of(layout, source) != SHAPE_LINEAR)
        return false;
    for (uint32_t i = 0; i < component->field_count; i++) {
        proto_row_field* field = &layout->fields[component->field_first + i];
        const proto_quant* from = &layout->fields[source->field_first + i].quant;
        if (field->quant.bits > DRIVEN_BITS_MAX || from->bits > DRIVEN_BITS_MAX ||
            !set_drive(&field->quant, from, layout->tick_rate_hz, field))
            return false;
    }
    return true;
}

// The three functions below give the longest code of a mask, a field and a component, in bits.

static uint32_t mask_bits_max(uint32_t count) {
    if (count <= 4) return ROW_CODE_BITS_MAX;
    uint32_t groups = (count + 3) / 4;
    return mask_bits_max(groups) + groups * ROW_CODE_BITS_MAX;
}

static uint32_t field_bits_max(const proto_quant* quant) {
    if (quant->bits == 1) return 0;
    if (quant->kind == PROTO_ENTITY) return ENTITY_BITS_MAX;
    if (quant->is_elastic) return 2 * ROW_CODE_BITS_MAX + quant->bits + SIGN_BITS;
    return ROW_CODE_BITS_MAX + quant->bits + SIGN_BITS;
}

static uint32_t component_bits_max(const proto_layout* layout,
                                   const proto_row_component* component) {
    uint32_t count = component->field_count;
    uint32_t bits = count > 64 ? 4 + 4 * mask_bits_max(64) : mask_bits_max(count);
    if (component->shape == SHAPE_ROTATION) bits = ROW_CODE_BITS_MAX + 2;
    if (component->is_driven) bits += count * ROW_CODE_BITS_MAX;
    for (uint32_t i = 0; i < count; i++)
        bits += field_bits_max(&layout->fields[component->field_first + i].quant);
    return bits;
}

// What the caller filled in: components without gaps, and fields of a possible width.
static void check_layout(const proto_layout* layout) {
    BASE_ASSERT(layout->field_count <= PROTO_ROW_FIELDS_MAX);
    BASE_ASSERT(layout->component_count <= PROTO_ROW_COMPONENTS_MAX);
    uint32_t next = 0;
    for (uint32_t c = 0; c < layout->component_count; c++) {
        BASE_ASSERT(layout->components[c].field_first == next);
        BASE_ASSERT(layout->components[c].integral <= layout->component_count);
        next += layout->components[c].field_count;
    }
    BASE_ASSERT(next == layout->field_count);
    for (uint32_t f = 0; f < layout->field_count; f++) {
        const proto_quant* quant = &layout->fields[f].quant;
        BASE_ASSERT(quant->bits >= 1 && quant->bits <= 64);
        BASE_ASSERT(quant->q_max <= row_mask(quant->bits));
        BASE_ASSERT(quant->is_exact || quant->step > 0);
    }
}

// ---- the plan of the encoder ----

// The plan of a layout: all that the encoder would otherwise find out again for every row.

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
    if (quant->bits >= proto_tables_builtin()->small_bits_min) word->small_count = 2 * PROTO_SMALL;
    word->codes = quant->bits == 1              ? ENCODER_BIT
                  : quant->kind == PROTO_ENTITY ? ENCODER_ENTITY
                  : !is_float                   ? PROTO_NUMBER_INT
                  : quant->is_elastic           ? ENCODER_ELASTIC
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
    if (count > 0) part->words = row_mask(count) << first;
    if (component->is_driven) plan->driven_words |= part->words;
    if (component->shape == SHAPE_MIXED || component->shape == SHAPE_ELASTIC)
        plan->mixed_words |= part->words;
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
    if (plan->driven_words || layout->component_count > PROTO_PLAIN_COMPONENTS_MAX ||
        layout->packed_count > PROTO_PLAIN_WORDS_MAX)
        return false;
    for (uint32_t c = 0; c < layout->component_count; c++)
        if (plan->parts[c].shape == SHAPE_ROTATION || plan->parts[c].count > PLAIN_FIELDS_MAX ||
            layout->order[c] != c)
            return false;
    for (uint32_t f = 0; f < layout->field_count; f++)
        if (plan->words[f].codes == ENCODER_ENTITY || plan->words[f].codes == ENCODER_ELASTIC ||
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

// The row of `head` where all but integrals rests: those that are no source are the warmest.
static uint8_t rest_head(const proto_layout_plan* plan, uint32_t ticks) {
    uint32_t classes[ROW_WARM_MAX] = {0}, count = 0;
    for (uint32_t is_source = 0; is_source < 2; is_source++)
        for (uint32_t i = 0; i < plan->step_count && count < ROW_WARM_MAX; i++) {
            const proto_layout_part* part = &plan->parts[plan->steps[i]];
            if (part->is_driven || part->is_source != is_source) continue;
            classes[1] = classes[0];
            classes[0] = row_rest_class(is_source, ticks);
            count++;
        }
    return count > 0 ? (uint8_t)row_head_row(classes, count) : 0;
}

static void make_plan(proto_layout* layout) {
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
    plan->rest_heads[0] = rest_head(plan, 1);
    plan->rest_heads[1] = rest_head(plan, ROW_TICKS_SHORT + 1);
    if (is_plain(layout)) plan_plain(layout);
}

// ---- the layout ----

// Where a thing is, in solo code: two or three linear fields that neither lead nor follow.
static bool is_place(const proto_layout* layout, const proto_row_component* component) {
    enum { FIELDS_MAX = 3, BITS_MAX = 28 };
    if (component->shape != SHAPE_LINEAR || component->is_source || component->is_driven ||
        component->field_count < 2 || component->field_count > FIELDS_MAX)
        return false;
    for (uint32_t i = 0; i < component->field_count; i++)
        if (layout->fields[component->field_first + i].quant.bits > BITS_MAX) return false;
    return true;
}

// The first place, and the first rotation when that has three fields.
static void set_place(proto_layout* layout) {
    layout->solo_place = layout->solo_turn = PROTO_SOLO_NO_PLACE;
    for (uint32_t c = layout->component_count; c-- > 0;) {
        if (is_place(layout, &layout->components[c])) layout->solo_place = (uint8_t)c;
        if (layout->components[c].shape == SHAPE_ROTATION) layout->solo_turn = (uint8_t)c;
    }
    if (layout->solo_place == PROTO_SOLO_NO_PLACE ||
        layout->components[layout->solo_place].field_count < 3)
        layout->solo_turn = PROTO_SOLO_NO_PLACE;
}

void proto_layout_finish(proto_layout* layout) {
    check_layout(layout);
    for (uint32_t c = 0; c < layout->component_count; c++)
        layout->components[c].is_source = false;
    uint32_t bits = ROW_BARE_BITS + ROW_CODE_BITS_MAX + mask_bits_max(layout->component_count);
    for (uint32_t c = 0; c < layout->component_count; c++) {
        proto_row_component* component = &layout->components[c];
        component->shape = (uint8_t)shape_of(layout, component);
        component->has_elastic = false;
        for (uint32_t i = 0; i < component->field_count; i++)
            component->has_elastic |= layout->fields[component->field_first + i].quant.is_elastic;
        component->is_driven = connect_source(layout, component);
        proto_row_field* first = &layout->fields[component->field_first];
        if (component->is_rotation) first->drive = proto_rotation_unit(first[1].quant.q_max);
        if (component->is_driven) layout->components[component->integral - 1].is_source = true;
        bits += component_bits_max(layout, component);
    }
    layout->bits_max = bits;
    for (uint32_t f = 0; f < layout->field_count; f++) {
        bits = layout->fields[f].quant.bits;
        layout->word_bytes[f] = bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
    }
    // Components without a source first, then those with one; each group in name order.
    uint32_t count = 0;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t c = 0; c < layout->component_count; c++)
            if (layout->components[c].is_driven == (pass == 1)) layout->order[count++] = (uint8_t)c;
    BASE_ASSERT(count == layout->component_count);
    set_place(layout);
    make_plan(layout);
}

static inline uint64_t quantise(const proto_quant* quant, const void* from) {
    if (quant->kind != PROTO_F32 || quant->is_exact) return proto_quantise(quant, from);
    float value; // most fields of a world
    memcpy(&value, from, sizeof value);
    return proto_quantise_double(quant, (double)value);
}

void proto_row_read_component(const proto_layout* layout, uint32_t component, const void* memory,
                              uint64_t* row) {
    BASE_ASSERT(component < layout->component_count);
    const proto_row_component* own = &layout->components[component];
    const proto_row_field* fields = &layout->fields[own->field_first];
    row += own->field_first;
    if (own->is_rotation) {
        proto_rotation_quantise(fields, memory, row);
        return;
    }
    for (uint32_t i = 0; i < own->field_count; i++)
        row[i] = quantise(&fields[i].quant, (const uint8_t*)memory + fields[i].offset_bytes);
}

void proto_row_write_component(const proto_layout* layout, uint32_t component, const uint64_t* row,
                               void* memory) {
    BASE_ASSERT(component < layout->component_count);
    const proto_row_component* own = &layout->components[component];
    const proto_row_field* fields = &layout->fields[own->field_first];
    row += own->field_first;
    if (own->is_rotation) {
        proto_rotation_dequantise(fields, row, memory);
        return;
    }
    for (uint32_t i = 0; i < own->field_count; i++)
        proto_dequantise(&fields[i].quant, row[i], (uint8_t*)memory + fields[i].offset_bytes);
}

// ---- packed rows: words of 32 bits ----

void proto_row_pack(const proto_layout* layout, const uint64_t* row, uint32_t* packed) {
    uint32_t at = 0;
    for (uint32_t f = 0; f < layout->field_count; f++) {
        packed[at++] = (uint32_t)row[f];
        if (layout->fields[f].quant.bits > 32) packed[at++] = (uint32_t)(row[f] >> 32);
    }
    if (at < layout->packed_count) packed[at] = 0;
}

void proto_row_unpack(const proto_layout* layout, const uint32_t* packed, uint64_t* row) {
    uint32_t at = 0;
    for (uint32_t f = 0; f < layout->field_count; f++) {
        row[f] = packed[at++];
        if (layout->fields[f].quant.bits > 32) row[f] |= (uint64_t)packed[at++] << 32;
    }
}

proto_row_base proto_row_unpack_base(const proto_layout* layout, const proto_packed_base* packed,
                                     uint64_t (*rows)[PROTO_ROW_FIELDS_MAX]) {
    proto_row_base base = {.base = rows[0], .ticks = packed->ticks, .ticks2 = packed->ticks2};
    proto_row_unpack(layout, packed->base, rows[0]);
    if (packed->base2) {
        proto_row_unpack(layout, packed->base2, rows[1]);
        base.base2 = rows[1];
    }
    return base;
}

// A component with words of more than 32 bits, or a rotation.
static BASE_NOINLINE void read_wide(const proto_layout* layout, uint32_t component,
                                    const void* memory, uint32_t* packed) {
    uint64_t row[PROTO_ROW_FIELDS_MAX];
    const proto_row_component* own = &layout->components[component];
    uint32_t end = own->field_first + (uint32_t)own->field_count;
    proto_row_read_component(layout, component, memory, row);
    for (uint32_t f = own->field_first; f < end; f++) {
        *packed++ = (uint32_t)row[f];
        if (layout->fields[f].quant.bits > 32) *packed++ = (uint32_t)(row[f] >> 32);
    }
}

void proto_row_read_packed(const proto_layout* layout, uint32_t component, const void* memory,
                           uint32_t* packed) {
    BASE_ASSERT(component < layout->component_count);
    const proto_row_component* own = &layout->components[component];
    uint32_t count = own->field_count;
    packed += own->packed_first;
    if (own->packed_count != count || own->is_rotation) {
        read_wide(layout, component, memory, packed);
        return;
    }
    const proto_row_field* field = &layout->fields[own->field_first];
    const uint8_t* bytes = memory;
    for (const uint32_t* end = packed + count; packed < end; field++)
        *packed++ = (uint32_t)quantise(&field->quant, bytes + field->offset_bytes);
}

uint64_t proto_row_words(const proto_layout* layout, uint32_t component) {
    const proto_layout_part* part = &layout->plan.parts[component];
    return part->is_driven || part->is_source ? 0 : part->words; // 0 without a plan
}

// ---- expected words ----

// The expected row of packed bases (ROWS.md, "Expected words"): what proto_row_expect gives of each
// component, by the plan of the layout. Most components rest, and their words are those of the
// base.

proto_row_times proto_row_times_make(uint32_t ticks, uint32_t ticks2) {
    enum { THIRD = 21846, FIFTH = 13108 }; // of 2^16, rounded up
    proto_row_times times = {.ticks = ticks, .ticks2 = ticks2};
    if (ticks - 1 >= ROW_TICKS_MAX || ticks2 - 1 >= ROW_TICKS2_MAX) return times;
    times.is_usual = true;
    times.inverse = 1.0 / (double)(int32_t)ticks2;
    times.factor = times.inverse * (double)(int32_t)ticks;
    times.speed_share = ticks <= ROW_TICKS_SHORT ? FIFTH : THIRD;
    times.log = (uint8_t)row_line_scale(ticks, 1, 0);
    times.rest_class = row_rest_class(false, ticks);
    return times;
}
