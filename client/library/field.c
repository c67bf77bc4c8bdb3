// SPDX-License-Identifier: MIT
// Fields of components and messages as numbers: every kind as double or int64_t.
//
// Numbers from outside are clamped to what a field can hold, so that no conversion is undefined.
#include "library.h"

#include <float.h>
#include <string.h>

// Below 2^63 and exact as a double.
#define WHOLE_MAX 9223372036854774784.0

int32_t shoal_shape_field(const shoal_shape* shape, const char* name) {
    for (uint32_t i = 0; shape && name && i < shape->count; i++)
        if (strcmp(shape->fields[i].name, name) == 0) return (int32_t)i;
    return -1;
}

static const ecs_field* find_field(const shoal_shape* shape, int32_t field) {
    if (!shape || field < 0 || (uint32_t)field >= shape->count) return NULL;
    return &shape->fields[field];
}

uint32_t shoal_shape_field_count(const shoal_shape* shape) {
    return shape ? shape->count : 0;
}

const char* shoal_shape_field_name(const shoal_shape* shape, int32_t field) {
    const ecs_field* found = find_field(shape, field);
    return found ? found->name : NULL;
}

int32_t shoal_shape_field_kind(const shoal_shape* shape, int32_t field) {
    BASE_STATIC_ASSERT(
        (int)SHOAL_BOOL == (int)ECS_FIELD_BOOL && (int)SHOAL_I8 == (int)ECS_FIELD_I8 &&
            (int)SHOAL_U8 == (int)ECS_FIELD_U8 && (int)SHOAL_F32 == (int)ECS_FIELD_F32 &&
            (int)SHOAL_HANDLE == (int)ECS_FIELD_ENTITY,
        "the ABI's kinds are those of the ECS");
    const ecs_field* found = find_field(shape, field);
    return found ? (int32_t)found->kind : -1;
}

uint32_t shoal_shape_field_elements(const shoal_shape* shape, int32_t field) {
    const ecs_field* found = find_field(shape, field);
    return found ? found->count : 0;
}

static double clamp(double value, double min, double max) {
    if (!(value == value)) return 0.0;
    return value < min ? min : value > max ? max : value;
}

static uint32_t elements_of(const ecs_field* field, const void* value, uint32_t capacity) {
    if (!field || !value) return 0;
    return capacity < field->count ? capacity : field->count;
}

uint32_t library_field_read(const shoal_shape* shape, int32_t field, const void* value,
                            double* values, uint32_t capacity) {
    const ecs_field* found = find_field(shape, field);
    const uint32_t count = elements_of(found, value, values ? capacity : 0);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t* at = (const uint8_t*)value + found->offset;
        const size_t offset = (size_t)i * ecs_field_kind_bytes(found->kind);
        const ecs_number one = ecs_number_get(found->kind, at + offset);
        values[i] = (double)ecs_number_value(&one);
    }
    return count;
}

uint32_t library_field_read_whole(const shoal_shape* shape, int32_t field, const void* value,
                                  int64_t* values, uint32_t capacity) {
    const ecs_field* found = find_field(shape, field);
    const uint32_t count = elements_of(found, value, values ? capacity : 0);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t* at = (const uint8_t*)value + found->offset;
        const size_t offset = (size_t)i * ecs_field_kind_bytes(found->kind);
        const ecs_number one = ecs_number_get(found->kind, at + offset);
        const bool is_real = found->kind == ECS_FIELD_F32 || found->kind == ECS_FIELD_F64;
        values[i] = is_real ? (int64_t)clamp(one.real, -WHOLE_MAX, WHOLE_MAX) : one.whole;
    }
    return count;
}

bool library_field_write(const shoal_shape* shape, int32_t field, void* value, const double* values,
                         uint32_t count) {
    const ecs_field* found = find_field(shape, field);
    if (!found || !values || count > found->count) return false;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t* at = (uint8_t*)value + found->offset;
        const ecs_number one = {.kind = ECS_FIELD_F64, .real = clamp(values[i], -DBL_MAX, DBL_MAX)};
        (void)ecs_number_put(found->kind, at + (size_t)i * ecs_field_kind_bytes(found->kind), &one);
    }
    return true;
}
