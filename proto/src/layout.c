// SPDX-License-Identifier: MIT
// Rows of a template and how one is coded against another (WIRE.md, "Row").
//
// A bit says that a component differs, a bit says that a field in it differs; what follows is a value
// that is known to differ from the base, so a field of one bit needs nothing more and a difference of
// zero has no code. Differences are taken modulo the field's width, folded (0, -1, 1, -2, ...) and written
// as exponential Golomb when that is shorter than the field itself; one bit says which.
//
// The decoder accepts both forms whatever their length: that is cheaper than proving the sender's
// choice, and the row is the same.
#include "proto/layout.h"

#include "base/assert.h"

#include <string.h>

enum { WHOLE_BITS_MAX = 2, GOLOMB_ORDER_MAX = 6 };

static uint64_t low_mask(uint32_t bits) {
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

// Without a choice: too narrow for one to pay, or floats whose bits are no number line.
static bool is_always_whole(const proto_quant* quant) {
    bool is_float = quant->kind == PROTO_F32 || quant->kind == PROTO_F64;
    return quant->bits <= WHOLE_BITS_MAX || (quant->is_exact && is_float);
}

static uint32_t golomb_order(uint32_t bits) {
    return bits / 4 < GOLOMB_ORDER_MAX ? bits / 4 : GOLOMB_ORDER_MAX;
}

static uint32_t golomb_bits(uint64_t value, uint32_t order) {
    uint64_t u = value + (UINT64_C(1) << order);
    return 2 * (63 - (uint32_t)__builtin_clzll(u)) + 1 - order;
}

// A component without fields cannot differ. The only component of a row is not asked about when its
// fields are: a row is coded because something in it differs.
static bool has_component_bit(const proto_layout* layout, const proto_row_component* component) {
    return component->field_count == 1 ||
           (component->field_count > 1 && layout->component_count > 1);
}

void proto_layout_finish(proto_layout* layout) {
    BASE_ASSERT(layout->field_count <= PROTO_ROW_FIELDS_MAX);
    BASE_ASSERT(layout->component_count <= PROTO_ROW_COMPONENTS_MAX);
    uint32_t bits = 1, next = 0; // the one of a listed row
    for (uint32_t c = 0; c < layout->component_count; c++) {
        const proto_row_component* component = &layout->components[c];
        BASE_ASSERT(component->field_first == next);
        next += component->field_count;
        if (has_component_bit(layout, component)) bits += 1;
        if (component->field_count > 1) bits += component->field_count;
    }
    BASE_ASSERT(next == layout->field_count);
    for (uint32_t f = 0; f < layout->field_count; f++) {
        const proto_quant* quant = &layout->fields[f].quant;
        BASE_ASSERT(quant->bits >= 1 && quant->bits <= 64);
        if (quant->bits > 1) bits += quant->bits;
        if (!is_always_whole(quant)) bits += 1;
    }
    layout->bits_max = bits;
}

void proto_row_read_component(const proto_layout* layout, uint32_t component, const void* memory,
                              uint64_t* row) {
    BASE_ASSERT(component < layout->component_count);
    uint32_t first = layout->components[component].field_first;
    uint32_t end = first + layout->components[component].field_count;
    for (uint32_t f = first; f < end; f++) {
        const proto_row_field* field = &layout->fields[f];
        row[f] = proto_quantise(&field->quant, (const uint8_t*)memory + field->offset_bytes);
    }
}

void proto_row_write_component(const proto_layout* layout, uint32_t component, const uint64_t* row,
                               void* memory) {
    BASE_ASSERT(component < layout->component_count);
    uint32_t first = layout->components[component].field_first;
    uint32_t end = first + layout->components[component].field_count;
    for (uint32_t f = first; f < end; f++) {
        const proto_row_field* field = &layout->fields[f];
        proto_dequantise(&field->quant, row[f], (uint8_t*)memory + field->offset_bytes);
    }
}

// Signed difference folded to unsigned: 0, -1, 1, -2, 2... become 0, 1, 2, 3, 4...
static uint64_t fold(uint64_t difference, uint32_t bits) {
    bool is_negative = difference >> (bits - 1) & 1;
    return ((difference << 1) ^ (is_negative ? UINT64_MAX : 0)) & low_mask(bits);
}

static uint64_t unfold(uint64_t folded, uint32_t bits) {
    return ((folded >> 1) ^ (folded & 1 ? UINT64_MAX : 0)) & low_mask(bits);
}

static void encode_value(const proto_quant* quant, uint64_t base, uint64_t value,
                         proto_bit_writer* writer) {
    uint32_t bits = quant->bits;
    if (bits == 1) return; // it differs, so it is the other one
    if (is_always_whole(quant)) {
        proto_bits_write(writer, value, bits);
        return;
    }
    uint64_t code = fold((value - base) & low_mask(bits), bits) - 1;
    uint32_t order = golomb_order(bits);
    if (code <= UINT32_MAX && golomb_bits(code, order) < bits) {
        proto_bits_write(writer, 0, 1);
        proto_bits_write_golomb(writer, (uint32_t)code, order);
    } else {
        proto_bits_write(writer, 1, 1);
        proto_bits_write(writer, value, bits);
    }
}

static uint64_t decode_value(const proto_quant* quant, uint64_t base, proto_bit_reader* reader) {
    uint32_t bits = quant->bits;
    if (bits == 1) return proto_quant_canonical(quant, base ^ 1);
    if (is_always_whole(quant) || proto_bits_read(reader, 1))
        return proto_quant_canonical(quant, proto_bits_read(reader, bits));
    uint64_t folded = (uint64_t)proto_bits_read_golomb(reader, golomb_order(bits)) + 1;
    if (folded > low_mask(bits)) reader->failed = true;
    uint64_t value = (base + unfold(folded & low_mask(bits), bits)) & low_mask(bits);
    return proto_quant_canonical(quant, value);
}

void proto_row_encode(const proto_layout* layout, const uint64_t* base, const uint64_t* row,
                      proto_bit_writer* writer) {
    for (uint32_t c = 0; c < layout->component_count; c++) {
        const proto_row_component* component = &layout->components[c];
        uint32_t first = component->field_first, count = component->field_count;
        if (count == 0) continue;
        bool differs = memcmp(base + first, row + first, count * sizeof *row) != 0;
        if (has_component_bit(layout, component)) {
            proto_bits_write(writer, differs, 1);
            if (!differs) continue;
        }
        for (uint32_t f = first; f < first + count; f++) {
            if (count > 1) proto_bits_write(writer, base[f] != row[f], 1);
            if (base[f] != row[f]) encode_value(&layout->fields[f].quant, base[f], row[f], writer);
        }
    }
}

// @return whether the component differs.
static bool decode_component(const proto_layout* layout, const proto_row_component* component,
                             const uint64_t* base, uint64_t* row, proto_bit_reader* reader) {
    uint32_t first = component->field_first, count = component->field_count;
    bool differs = false;
    for (uint32_t f = first; f < first + count; f++) {
        uint64_t value = base[f];
        if (count == 1 || proto_bits_read(reader, 1))
            value = decode_value(&layout->fields[f].quant, base[f], reader);
        if (reader->failed) value = base[f];
        differs = differs || value != base[f];
        row[f] = value;
    }
    return differs;
}

static void decode_row(const proto_layout* layout, const uint64_t* base, uint64_t* row,
                       proto_bit_reader* reader, uint64_t* changed, uint32_t* bits) {
    for (uint32_t c = 0; c < layout->component_count; c++) {
        const proto_row_component* component = &layout->components[c];
        bool is_coded = has_component_bit(layout, component) ? proto_bits_read(reader, 1) : true;
        uint64_t before = reader->offset_bits;
        if (!is_coded) {
            memmove(row + component->field_first, base + component->field_first,
                    component->field_count * sizeof *row);
        } else if (decode_component(layout, component, base, row, reader)) {
            *changed |= UINT64_C(1) << c;
        }
        if (bits) bits[c] = (uint32_t)(reader->offset_bits - before);
    }
}

void proto_row_decode(const proto_layout* layout, const uint64_t* base, uint64_t* row,
                      proto_bit_reader* reader, uint64_t* changed) {
    uint64_t changed_bits = 0;
    decode_row(layout, base, row, reader, &changed_bits, NULL);
    if (changed) *changed = changed_bits;
}

void proto_row_decode_counted(const proto_layout* layout, const uint64_t* base, uint64_t* row,
                              proto_bit_reader* reader, uint32_t* bits) {
    uint64_t changed_bits = 0;
    decode_row(layout, base, row, reader, &changed_bits, bits);
}

void proto_row_write(const proto_layout* layout, const proto_row_base* base, const uint64_t* row,
                     bool is_listed, proto_bit_writer* writer, uint32_t* component_bits) {
    if (is_listed) proto_bits_write(writer, 0, 1);
    uint64_t before = writer->size_bits;
    proto_row_encode(layout, base->base, row, writer);
    if (component_bits) {
        proto_bit_reader reader = {.data = writer->data, .size_bits = writer->size_bits};
        uint64_t back[PROTO_ROW_FIELDS_MAX];
        reader.offset_bits = before;
        proto_row_decode_counted(layout, base->base, back, &reader, component_bits);
    }
}

void proto_row_write_absent(proto_bit_writer* writer) {
    proto_bits_write(writer, 1, 1);
}

bool proto_row_read_absent(proto_bit_reader* reader) {
    proto_bit_reader ahead = *reader;
    if (proto_bits_read(&ahead, 1) == 0) return false;
    *reader = ahead;
    return true;
}

void proto_row_read(const proto_layout* layout, const proto_row_base* base, bool is_listed,
                    uint64_t* row, proto_bit_reader* reader, uint32_t* component_bits) {
    uint32_t bits[PROTO_ROW_COMPONENTS_MAX];
    if (is_listed && proto_bits_read(reader, 1)) reader->failed = true;
    proto_row_decode_counted(layout, base->base, row, reader,
                             component_bits ? component_bits : bits);
}
