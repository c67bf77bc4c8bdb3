// SPDX-License-Identifier: MIT
// Rounding for the wire, as a text gives it: a range with a step or a number of bits; for whole
// numbers also bits alone. The result is an ecs_quant: smallest value, step, bits.
#include "template/template_set.h"

#include "type/type_registry.h"

#include "base/assert.h"
#include "base/text.h"

#include <math.h>

static bool refuse(char* message, const char* text) {
    (void)base_text_copy(message, ECS_VALUE_MESSAGE_BYTES, text);
    return false;
}

// The smallest number of bits that can count from 0 to `top`; 0 when it is more than 32.
static uint8_t bits_for(double top) {
    if (!(top >= 0) || top > 4294967295.0) return 0;
    uint64_t whole = (uint64_t)top;
    // With decimal fractions, (max - min) / step is slightly off the intended whole number.
    if (top - (double)whole > 1e-6) whole++;
    uint8_t bits = 1;
    while (bits < 33 && whole >> bits)
        bits++;
    return bits > 32 ? 0 : bits;
}

static bool finish_int(const ecs_quant_draft* draft, ecs_quant* quant, char* message) {
    if (draft->has_step && draft->step != 1)
        return refuse(message, "whole numbers have the step 1");
    if (draft->has_bits == draft->has_max)
        return refuse(message, "whole numbers need either _bits or _max");
    quant->min = draft->has_min ? draft->min : 0;
    quant->step = 1;
    quant->bits = draft->has_bits ? (uint8_t)draft->bits : bits_for(draft->max - quant->min);
    return true;
}

static bool finish_angle(const ecs_quant_draft* draft, ecs_quant* quant, char* message) {
    if (draft->has_min || draft->has_max || draft->has_step)
        return refuse(message, "_angle has its own range: -pi to pi");
    quant->min = ECS_ANGLE_MIN;
    quant->bits = (uint8_t)draft->bits;
    quant->step = ECS_ANGLE_STEP(quant->bits);
    return true;
}

static bool finish_real(const ecs_quant_draft* draft, ecs_quant* quant, char* message) {
    if (draft->is_angle) return finish_angle(draft, quant, message);
    if (!draft->has_min || !draft->has_max || draft->has_step == draft->has_bits)
        return refuse(message, "numbers need _min, _max and either _step or _bits");
    if (draft->has_step && !(draft->step > 0)) return refuse(message, "_step must be above 0");
    quant->min = draft->min;
    quant->bits =
        draft->has_bits ? (uint8_t)draft->bits : bits_for((draft->max - draft->min) / draft->step);
    // An even number of steps over a range that is as long on both sides of 0 has 0 as a value. One
    // bit has no even number.
    const bool is_symmetric = draft->min == -draft->max && quant->bits > 1;
    quant->step = draft->has_step ? draft->step
                                  : (draft->max - draft->min) /
                                        (double)((UINT64_C(1) << quant->bits) - 1 - is_symmetric);
    return true;
}

bool ecs_quant_draft_finish(const ecs_quant_draft* draft, const ecs_type* type, ecs_quant* quant,
                            char* message) {
    BASE_ASSERT(draft && type && quant && message);
    bool has_real = false;
    bool has_int = false;
    for (uint32_t i = 0; i < type->field_count; i++) {
        ecs_field_kind kind = type->fields[i].kind;
        if (kind == ECS_FIELD_F32 || kind == ECS_FIELD_F64)
            has_real = true;
        else if (kind != ECS_FIELD_BOOL && kind != ECS_FIELD_ENTITY)
            has_int = true;
    }
    if (!has_real && !has_int) return refuse(message, "this type has no numbers to quantise");
    if (draft->is_angle && !has_real) return refuse(message, "_angle is for real numbers");
    if (has_real && has_int)
        return refuse(message, "a struct of whole and real numbers is quantised by its fields");
    if (draft->has_bits && (draft->bits < 1 || draft->bits > 32))
        return refuse(message, "_bits must be 1 to 32");
    if (draft->has_min && draft->has_max && !(draft->max > draft->min))
        return refuse(message, "_max must be above _min");
    if (draft->has_max && !draft->has_min && !(draft->max > 0))
        return refuse(message, "_max must be above 0 without _min");
    *quant = (ecs_quant){0};
    if (!(has_real ? finish_real(draft, quant, message) : finish_int(draft, quant, message)))
        return false;
    if (quant->bits == 0) return refuse(message, "the range needs more than 32 bits");
    for (uint32_t i = 0; i < type->field_count; i++) {
        ecs_field_kind kind = type->fields[i].kind;
        if (kind == ECS_FIELD_BOOL || kind == ECS_FIELD_ENTITY) continue;
        if (!ecs_quant_is_valid(quant, kind))
            return refuse(message, "the range does not fit the type");
    }
    return true;
}
