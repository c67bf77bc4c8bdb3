// SPDX-License-Identifier: MIT
// One element of a field as the widest number of its family: read, written into a field of another
// kind, as text. Whole numbers stay exact as long as both kinds have them, others are rounded as C
// does it.
#include "ecs/type.h"

#include "base/bytes.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool is_whole(ecs_field_kind kind) {
    return kind >= ECS_FIELD_I8 && kind <= ECS_FIELD_I64;
}

ecs_number ecs_number_get(ecs_field_kind kind, const void* memory) {
    const uint32_t bytes = ecs_field_kind_bytes(kind), unused = 64 - 8 * bytes;
    ecs_number number = {.kind = kind, .natural = 0};
    uint64_t bits = 0;
    memcpy((uint8_t*)&bits + (BASE_IS_BIG_ENDIAN ? sizeof bits - bytes : 0), memory, bytes);
    if (kind == ECS_FIELD_F32) {
        float single;
        memcpy(&single, memory, sizeof single);
        number.real = (double)single;
    } else if (kind == ECS_FIELD_F64) {
        memcpy(&number.real, memory, sizeof number.real);
    } else if (is_whole(kind)) {
        number.whole = (int64_t)(bits << unused) >> unused;
    } else {
        number.natural = kind == ECS_FIELD_BOOL ? bits != 0 : bits;
    }
    return number;
}

long double ecs_number_value(const ecs_number* number) {
    if (ecs_field_kind_is_real(number->kind)) return (long double)number->real;
    return is_whole(number->kind) ? (long double)number->whole : (long double)number->natural;
}

static bool put_real(double value, bool is_single, void* memory) {
    const double most = 3.4028234663852886e38; // FLT_MAX
    const bool is_clamped = is_single && isfinite(value) && fabs(value) > most;
    const float single = (float)(is_clamped ? copysign(most, value) : value);
    if (is_single)
        memcpy(memory, &single, sizeof single);
    else
        memcpy(memory, &value, sizeof value);
    return is_clamped;
}

// The whole number towards 0.
static bool put_whole(const ecs_number* number, ecs_field_kind kind, void* memory) {
    const uint32_t bytes = ecs_field_kind_bytes(kind), bits = 8 * bytes - is_whole(kind);
    bool is_negative = false, is_clamped = false;
    uint64_t size = number->natural, most = UINT64_MAX >> (64 - bits);
    if (ecs_field_kind_is_real(number->kind)) {
        const double real = fabs(number->real);
        is_negative = number->real < 0;
        is_clamped = !(real < 18446744073709551616.0); // 2^64
        size = isnan(real) ? 0 : is_clamped ? UINT64_MAX : (uint64_t)real;
    } else if (is_whole(number->kind)) {
        is_negative = number->whole < 0;
        size = is_negative ? 0 - number->natural : number->natural;
    }
    if (is_negative) most = is_whole(kind) ? most + 1 : 0;
    if (size > most) {
        size = most;
        is_clamped = true;
    }
    const uint64_t word = is_negative ? 0 - size : size;
    memcpy(memory, (const uint8_t*)&word + (BASE_IS_BIG_ENDIAN ? sizeof word - bytes : 0), bytes);
    return is_clamped;
}

bool ecs_number_put(ecs_field_kind kind, void* memory, const ecs_number* number) {
    if (ecs_field_kind_is_real(kind))
        return put_real((double)ecs_number_value(number), kind == ECS_FIELD_F32, memory);
    if (kind != ECS_FIELD_BOOL) return put_whole(number, kind, memory);
    const bool truth = ecs_number_value(number) != 0;
    memcpy(memory, &truth, sizeof truth);
    return false;
}

bool ecs_number_equal(const ecs_number* a, const ecs_number* b) {
    if (a->kind != b->kind) return false;
    return a->natural == b->natural ||
           (ecs_field_kind_is_real(a->kind) && isnan(a->real) && isnan(b->real));
}

static void format_real(double value, bool is_single, char* text, size_t text_bytes) {
    for (int digits = is_single ? 6 : 15; digits <= (is_single ? 9 : 17); digits++) {
        (void)base_text_format(text, text_bytes, "%.*g", digits, value);
        const char* next;
        double back = base_text_read_f64(text, text + strlen(text), &next);
        if (is_single ? (float)back == (float)value : back == value) break;
    }
}

void ecs_number_text(const ecs_number* number, char* text, size_t text_bytes) {
    const ecs_entity entity = (ecs_entity)number->natural;
    if (ecs_field_kind_is_real(number->kind))
        format_real(number->real, number->kind == ECS_FIELD_F32, text, text_bytes);
    else if (is_whole(number->kind))
        (void)base_text_format(text, text_bytes, "%" PRId64, number->whole);
    else if (number->kind == ECS_FIELD_BOOL)
        (void)base_text_copy(text, text_bytes, number->natural ? "yes" : "no");
    else if (number->kind != ECS_FIELD_ENTITY)
        (void)base_text_format(text, text_bytes, "%" PRIu64, number->natural);
    else if (entity == ECS_ENTITY_NONE)
        (void)base_text_copy(text, text_bytes, "none");
    else
        (void)base_text_format(text, text_bytes, "%u:%u", ecs_entity_index(entity),
                               ecs_entity_generation(entity));
}
