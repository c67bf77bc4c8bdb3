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

// The expected row of packed bases (WIRE.md, "Expected words"): what proto_row_expected gives, by
// the plan of the layout. Most components rest, and their words are those of the base.

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

// The older rows as the code sees them: base2 is `base` when there is none.
typedef struct bases {
    const proto_layout* layout;
    const uint32_t *base, *base2;
    uint32_t ticks, ticks2;
    bool has_base2;
} bases;

static int32_t pace_of(const bases* b, uint32_t f) {
    uint32_t shift = b->layout->plan.words[f].shift;
    return (int32_t)((b->base[f] - b->base2[f]) << shift) >> shift;
}

static bool has_moved(const bases* b, const proto_layout_part* part) {
    for (uint32_t f = part->first; f < part->first + (uint32_t)part->count; f++)
        if (b->base[f] != b->base2[f]) return true;
    return false;
}

// Nothing moves, and what the source has is too little for a step.
static bool is_resting(const bases* b, const proto_layout_part* part, uint32_t source) {
    for (uint32_t i = 0; i < part->count; i++) {
        if (b->base[source + i] != b->base2[source + i]) return false;
        int64_t drive = row_drive(&b->layout->fields[part->first + i], b->base[source + i]);
        if (row_magnitude(drive) * (b->ticks + b->ticks2) >= ROW_STEP / 4) return false;
    }
    return !has_moved(b, part);
}

// The row has the source's words already.
static void drive(const bases* b, const proto_layout_part* part, uint32_t* row) {
    uint32_t source = b->layout->plan.parts[part->source].first;
    if (is_resting(b, part, source)) return;
    for (uint32_t i = 0; i < part->count; i++) {
        uint32_t f = part->first + i;
        const row_drive_words words = {
            .ticks = b->ticks,
            .ticks2 = b->ticks2,
            .has_base2 = b->has_base2,
            .base = b->base[f],
            .pace = pace_of(b, f),
            .source_row = row[source + i],
            .source_base = b->base[source + i],
            .source_base2 = b->base2[source + i],
            .source_pace = pace_of(b, source + i),
        };
        row[f] = (uint32_t)proto_row_drive_guess(&b->layout->fields[f], &words).word;
    }
}

static void follow_line(const bases* b, const proto_layout_part* part, uint32_t* row) {
    const proto_row_times times = proto_row_times_make(b->ticks, b->ticks2);
    for (uint32_t f = part->first; f < part->first + (uint32_t)part->count; f++) {
        if (b->base[f] == b->base2[f]) continue;
        int64_t way = row_line_way(&times, pace_of(b, f));
        row[f] = (b->base[f] + (uint32_t)way) & UINT32_MAX >> b->layout->plan.words[f].shift;
    }
}

static void expect_unpacked(const proto_layout* layout, const proto_packed_base* against,
                            uint32_t* row) {
    uint64_t words[3][PROTO_ROW_FIELDS_MAX];
    const proto_row_base base = proto_row_unpack_base(layout, against, &words[1]);
    proto_row_expected(layout, &base, words[0]);
    proto_row_pack(layout, words[0], row);
}

void proto_row_expected_packed(const proto_layout* layout, const proto_packed_base* against,
                               uint32_t* row) {
    BASE_ASSERT(layout->bits_max > 0 && row != against->base && row != against->base2);
    if (!layout->plan.is_made) {
        expect_unpacked(layout, against, row);
        return;
    }
    memcpy(row, against->base, layout->packed_count * sizeof *row);
    bases b = {.layout = layout, .base = against->base, .base2 = against->base, .ticks2 = 1};
    b.ticks = against->ticks <= ROW_TICKS_MAX ? against->ticks : 0;
    if (b.ticks == 0) return;
    b.has_base2 = against->base2 && against->ticks2 >= 1 && against->ticks2 <= ROW_TICKS2_MAX;
    if (b.has_base2) {
        b.base2 = against->base2;
        b.ticks2 = against->ticks2;
    }
    for (uint32_t i = 0; i < layout->component_count; i++) {
        const proto_layout_part* part = &layout->plan.parts[layout->order[i]];
        if (part->is_driven)
            drive(&b, part, row);
        else if (part->shape == SHAPE_LINEAR)
            follow_line(&b, part, row);
    }
}
