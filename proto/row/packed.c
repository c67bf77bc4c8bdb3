// SPDX-License-Identifier: MIT
// Packed rows: words of 32 bits.
#include "proto/layout.h"

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

void proto_row_read_packed(const proto_layout* layout, uint32_t component, const void* memory,
                           uint32_t* packed) {
    BASE_ASSERT(component < layout->component_count);
    const proto_row_component* own = &layout->components[component];
    uint32_t first = own->field_first, count = own->field_count;
    packed += own->packed_first;
    if (own->packed_count != count || own->is_rotation) {
        uint64_t row[PROTO_ROW_FIELDS_MAX];
        proto_row_read_component(layout, component, memory, row);
        for (uint32_t f = first; f < first + count; f++) {
            *packed++ = (uint32_t)row[f];
            if (layout->fields[f].quant.bits > 32) *packed++ = (uint32_t)(row[f] >> 32);
        }
        return;
    }
    const proto_row_field* fields = &layout->fields[first];
    for (uint32_t i = 0; i < count; i++)
        packed[i] = (uint32_t)proto_quantise(&fields[i].quant,
                                             (const uint8_t*)memory + fields[i].offset_bytes);
}
