// SPDX-License-Identifier: MIT
// Numbers go through the widest number of their sort: whole ones stay exact as long as both kinds
// have them, others are rounded as C does it. A bool is 0 or 1.
#include "log/log_convert.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

// A number of any kind, as far as it is whole: sign and magnitude; and as a double.
typedef struct number {
    double real;
    uint64_t magnitude;
    bool is_negative, is_whole;
} number;

static bool is_entity(ecs_field_kind kind) {
    return kind == ECS_FIELD_ENTITY;
}

static bool is_real(ecs_field_kind kind) {
    return kind == ECS_FIELD_F32 || kind == ECS_FIELD_F64;
}

// ---- plan ----

static const net_log_field* find_field(const net_log_component* from, const char* name,
                                       uint32_t* position) {
    *position = 0;
    for (uint32_t i = 0; i < from->field_count; i++) {
        if (strcmp(from->fields[i].name, name) == 0) return &from->fields[i];
        *position += from->fields[i].count;
    }
    return NULL;
}

static bool has_field(const ecs_field* fields, uint32_t count, const char* name) {
    for (uint32_t i = 0; i < count; i++)
        if (fields[i].name && strcmp(fields[i].name, name) == 0) return true;
    return false;
}

static void tell(net_log_convert_news news, void* context, net_log_convert_news_kind kind,
                 const char* field) {
    if (news) news(context, kind, field);
}

static uint32_t plan_field(const net_log_component* from, const ecs_field* field,
                           const proto_row_field* row, net_log_convert_step* steps,
                           net_log_convert_news news, void* context) {
    uint32_t position;
    const char* name = field->name ? field->name : "";
    const net_log_field* source = find_field(from, name, &position);
    if (!source) {
        tell(news, context, NET_LOG_CONVERT_DEFAULT, name);
        return 0;
    }
    if (is_entity(source->kind) != is_entity(field->kind)) {
        tell(news, context, NET_LOG_CONVERT_NO_WAY, name);
        return 0;
    }
    if (source->kind != field->kind) tell(news, context, NET_LOG_CONVERT_CONVERTED, name);
    if (source->count != field->count) tell(news, context, NET_LOG_CONVERT_COUNT, name);
    const uint32_t count = source->count < field->count ? source->count : field->count;
    for (uint32_t i = 0; i < count; i++)
        steps[i] = (net_log_convert_step){
            .from = (uint16_t)(position + i),
            .offset = field->offset + i * ecs_field_kind_bytes(field->kind),
            .kind = field->kind,
            .quant = row ? &row[i].quant : NULL,
        };
    return count;
}

uint32_t net_log_convert_plan(const net_log_component* from, const ecs_field* fields,
                              uint32_t field_count, const proto_row_field* row,
                              net_log_convert_step* steps, net_log_convert_news news,
                              void* context) {
    BASE_ASSERT(from && (fields || field_count == 0) && from->value_count <= UINT16_MAX);
    uint32_t count = 0;
    for (uint32_t i = 0; i < field_count; i++) {
        count += plan_field(from, &fields[i], row, steps + count, news, context);
        if (row) row += fields[i].count;
    }
    for (uint32_t i = 0; i < from->field_count; i++)
        if (!has_field(fields, field_count, from->fields[i].name))
            tell(news, context, NET_LOG_CONVERT_LEFT_OUT, from->fields[i].name);
    return count;
}

// ---- values ----

static number take(const net_log_value* value) {
    number taken = {.is_whole = true};
    if (value->kind == ECS_FIELD_BOOL) {
        taken.magnitude = value->truth;
    } else if (is_real(value->kind)) {
        taken.is_whole = false;
        taken.real = value->real;
        return taken;
    } else if (value->kind >= ECS_FIELD_I8 && value->kind <= ECS_FIELD_I64) {
        taken.is_negative = value->whole < 0;
        taken.magnitude = taken.is_negative ? 0 - (uint64_t)value->whole : (uint64_t)value->whole;
    } else {
        taken.magnitude = value->natural;
    }
    taken.real = taken.is_negative ? -(double)taken.magnitude : (double)taken.magnitude;
    return taken;
}

// The whole number towards 0. *is_clamped: it is NaN, or too large for any whole number.
static number truncate(number of, bool* is_clamped) {
    if (of.is_whole) return of;
    const double size = fabs(of.real);
    number whole = {.is_negative = of.real < 0, .is_whole = true};
    if (!(size < 18446744073709551616.0)) { // 2^64
        *is_clamped = true;
        whole.magnitude = isnan(of.real) ? 0 : UINT64_MAX;
        return whole;
    }
    whole.magnitude = (uint64_t)size;
    return whole;
}

// Bits of the magnitude of a kind, without its sign.
static uint32_t bits_of(ecs_field_kind kind) {
    const uint32_t bits = 8 * ecs_field_kind_bytes(kind);
    return kind >= ECS_FIELD_I8 && kind <= ECS_FIELD_I64 ? bits - 1 : bits;
}

static bool put_whole(number of, ecs_field_kind kind, void* target) {
    bool is_clamped = false;
    number whole = truncate(of, &is_clamped);
    const uint32_t bits = bits_of(kind);
    const bool has_sign = kind >= ECS_FIELD_I8 && kind <= ECS_FIELD_I64;
    uint64_t most = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    if (whole.is_negative) most = has_sign ? most + 1 : 0;
    if (whole.magnitude > most) {
        whole.magnitude = most;
        is_clamped = true;
    }
    const uint64_t word = whole.is_negative ? 0 - whole.magnitude : whole.magnitude;
    const uint8_t u8 = (uint8_t)word;
    const uint16_t u16 = (uint16_t)word;
    const uint32_t u32 = (uint32_t)word;
    const void* sources[] = {[1] = &u8, [2] = &u16, [4] = &u32, [8] = &word};
    memcpy(target, sources[ecs_field_kind_bytes(kind)], ecs_field_kind_bytes(kind));
    return is_clamped;
}

static bool put_real(number of, ecs_field_kind kind, void* target) {
    if (kind == ECS_FIELD_F64) {
        memcpy(target, &of.real, sizeof of.real);
        return false;
    }
    const double most = 3.4028234663852886e38; // FLT_MAX
    const bool is_clamped = isfinite(of.real) && fabs(of.real) > most;
    const float value = (float)(is_clamped ? copysign(most, of.real) : of.real);
    memcpy(target, &value, sizeof value);
    return is_clamped;
}

// Does the value lie outside of the range of its words, by more than rounding?
static bool is_outside(const proto_quant* quant, double value) {
    if (!quant || quant->is_exact || quant->is_angle) return false;
    const double half = quant->step * 0.5, most = quant->min + (double)quant->q_max * quant->step;
    return !(value >= quant->min - half && value <= most + half);
}

static bool convert(const net_log_convert_step* step, const net_log_value* value, void* object) {
    uint8_t* target = (uint8_t*)object + step->offset;
    if (is_entity(step->kind)) {
        memcpy(target, &value->entity, sizeof value->entity);
        return false;
    }
    const number taken = take(value);
    if (step->kind == ECS_FIELD_BOOL) {
        const bool truth = taken.is_whole ? taken.magnitude != 0 : taken.real != 0;
        memcpy(target, &truth, sizeof truth);
        return false;
    }
    const bool is_clamped = is_real(step->kind) ? put_real(taken, step->kind, target)
                                                : put_whole(taken, step->kind, target);
    return is_clamped || is_outside(step->quant, taken.real);
}

uint32_t net_log_convert_apply(const net_log_convert_step* steps, uint32_t count,
                               const net_log_value* values, void* object) {
    uint32_t clamped = 0;
    for (uint32_t i = 0; i < count; i++)
        clamped += convert(&steps[i], &values[steps[i].from], object);
    return clamped;
}
