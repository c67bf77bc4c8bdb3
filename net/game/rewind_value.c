// SPDX-License-Identifier: MIT
// Values are kept as the server had them and rounded when a module asks: a tick costs a few copies,
// and most of the past is never asked for.
//
// Between two ticks a value moves in a straight line. It does not where a client shows a jump: over
// a step longer than `_teleport` the older value holds until the tick.
#include "game/rewind_value.h"

#include "base/assert.h"
#include "state/angle_step.h"
#include "state/rotation_step.h"

#include <string.h>

// A field as a client has it: written to `target` and returned.
static double read_rounded(const proto_quant* quant, const uint8_t* memory, uint8_t* target) {
    proto_dequantise(quant, proto_quantise(quant, memory), target);
    float single;
    double value;
    if (quant->kind == PROTO_F64) {
        memcpy(&value, target, sizeof value);
        return value;
    }
    memcpy(&single, target, sizeof single);
    return single;
}

static void write_between(const proto_quant* quant, double from, double to, float fraction,
                          uint8_t* target) {
    double step = net_angle_step(quant->is_angle, from, to);
    double value = net_angle_within(quant->is_angle, from + step * (double)fraction);
    float single = (float)value;
    if (quant->kind == PROTO_F64)
        memcpy(target, &value, sizeof value);
    else
        memcpy(target, &single, sizeof single);
}

static void write_rotation(const net_rewind_component* which, const uint8_t* from,
                           const uint8_t* to, float fraction, uint8_t* value) {
    const proto_layout* layout = which->layout;
    uint64_t words[2][PROTO_ROW_FIELDS_MAX];
    uint32_t first = layout->components[which->component].field_first;
    proto_row_read_component(layout, which->component, from, words[0]);
    proto_row_write_component(layout, which->component, words[0], value);
    if (!to) return;
    proto_row_read_component(layout, which->component, to, words[1]);
    if (memcmp(words[0] + first, words[1] + first, PROTO_ROTATION_WORDS * sizeof words[0][0]) == 0)
        return;
    float ends[2][PROTO_ROTATION_WORDS], turned[PROTO_ROTATION_WORDS];
    memcpy(ends[0], value, sizeof ends[0]);
    memcpy(turned, value, sizeof turned);
    proto_row_write_component(layout, which->component, words[1], ends[1]);
    net_rotation_step(turned, ends[0], ends[1], fraction);
    memcpy(value, turned, sizeof turned);
}

void net_rewind_value(const net_rewind_component* which, const uint8_t* from, const uint8_t* to,
                      float fraction, uint8_t* value) {
    BASE_ASSERT(which->component < which->layout->component_count);
    BASE_ASSERT(fraction >= 0.0f && fraction <= 1.0f);
    const proto_row_component* row = &which->layout->components[which->component];
    const proto_row_field* fields = &which->layout->fields[row->field_first];
    if (row->is_rotation) {
        write_rotation(which, from, to, fraction, value);
        return;
    }
    double ends[PROTO_ROW_FIELDS_MAX][2];
    double squares = 0;
    for (uint32_t i = 0; i < row->field_count; i++) {
        uint8_t scratch[8];
        uint32_t offset = fields[i].offset_bytes;
        if (to) ends[i][1] = read_rounded(&fields[i].quant, to + offset, scratch);
        ends[i][0] = read_rounded(&fields[i].quant, from + offset, value + offset);
        double step = to ? net_angle_step(fields[i].quant.is_angle, ends[i][0], ends[i][1]) : 0.0;
        squares += step * step;
    }
    // Written so that a NaN step is a jump.
    double longest = (double)which->teleport * (double)which->teleport;
    if (!to || (which->teleport > 0.0f && !(squares <= longest))) return;
    for (uint32_t i = 0; i < row->field_count; i++)
        write_between(&fields[i].quant, ends[i][0], ends[i][1], fraction,
                      value + fields[i].offset_bytes);
}
