// SPDX-License-Identifier: MIT
// Packed rows: words of 32 bits.
#include "row/row_coder.h"

#include "base/assert.h"

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
    for (const uint32_t* end = packed + count; packed < end; field++) {
        const void* from = bytes + field->offset_bytes;
        if (field->quant.kind == PROTO_F32 && !field->quant.is_exact) { // most fields of a world
            float value;
            memcpy(&value, from, sizeof value);
            *packed++ = (uint32_t)proto_quantise_double(&field->quant, (double)value);
        } else {
            *packed++ = (uint32_t)proto_quantise(&field->quant, from);
        }
    }
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
