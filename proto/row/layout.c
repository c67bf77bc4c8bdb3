// SPDX-License-Identifier: MIT
// The layout of a template's rows: the shape of each component, the source of each integral, the
// size of a coded row in the worst case; and the conversion between a component's memory and its
// words. row.c codes rows. Start reading at proto_layout_finish.
#include "proto/layout.h"

#include "base/assert.h"
#include "base/math.h"
#include "row/rotation.h"
#include "row/row_coder.h"

enum { LINEAR_BITS_MIN = 3, ENTITY_BITS_MAX = 50, SIGN_BITS = 1, DRIVEN_BITS_MAX = 24 };
// A source moves its integral by at most 2^28 steps per tick. In units of 2^-20 steps, 256 ticks of
// this fit 64 bits.
#define DRIVE_MAX 268435456.0

static bool is_linear(const proto_quant* quant) {
    bool is_float = quant->kind == PROTO_F32 || quant->kind == PROTO_F64;
    return is_float && !quant->is_exact && quant->bits >= LINEAR_BITS_MIN;
}

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
    for (uint32_t i = 0; i < component->field_count; i++)
        if (!is_linear(&fields[i].quant)) return SHAPE_MIXED;
    return SHAPE_LINEAR;
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

// Connect a component with its source. @return false: it has none (WIRE.md, "Shapes and sources").
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

// Components without a source first, then those with one; each group in name order.
static void set_order(proto_layout* layout) {
    uint32_t count = 0;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t c = 0; c < layout->component_count; c++)
            if (layout->components[c].is_driven == (pass == 1)) layout->order[count++] = (uint8_t)c;
    BASE_ASSERT(count == layout->component_count);
}

void proto_layout_finish(proto_layout* layout) {
    check_layout(layout);
    for (uint32_t c = 0; c < layout->component_count; c++)
        layout->components[c].is_source = false;
    uint32_t bits =
        ROW_RESERVED_BITS + 1 + ROW_CODE_BITS_MAX + mask_bits_max(layout->component_count);
    for (uint32_t c = 0; c < layout->component_count; c++) {
        proto_row_component* component = &layout->components[c];
        component->shape = (uint8_t)shape_of(layout, component);
        component->is_driven = connect_source(layout, component);
        proto_row_field* first = &layout->fields[component->field_first];
        if (component->is_rotation) first->drive = proto_rotation_unit(first[1].quant.q_max);
        if (component->is_driven) layout->components[component->integral - 1].is_source = true;
        bits += component_bits_max(layout, component);
    }
    layout->bits_max = bits;
    set_order(layout);
    if (!layout->tables) layout->tables = proto_tables_builtin();
    proto_layout_plan_make(layout);
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
        row[i] = proto_quantise(&fields[i].quant, (const uint8_t*)memory + fields[i].offset_bytes);
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
