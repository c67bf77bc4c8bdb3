// SPDX-License-Identifier: MIT
/// The C types of the datablock's own values.
#pragma once

#include "base/alloc.h"
#include "base/bytes.h"
#include "ecs/result.h"

BASE_C_BEGIN

typedef struct ecs_vec2 {
    float x, y;
} ecs_vec2; ///< p2
typedef struct ecs_vec3 {
    float x, y, z;
} ecs_vec3; ///< p3
typedef struct ecs_vec4 {
    float x, y, z, w;
} ecs_vec4; ///< p4
typedef struct ecs_ivec2 {
    int32_t x, y;
} ecs_ivec2; ///< ip2
typedef struct ecs_ivec3 {
    int32_t x, y, z;
} ecs_ivec3; ///< ip3
typedef struct ecs_ivec4 {
    int32_t x, y, z, w;
} ecs_ivec4; ///< ip4
typedef struct ecs_color {
    uint8_t r, g, b, a;
} ecs_color; ///< c
typedef struct ecs_matrix {
    float m[4][3];
} ecs_matrix; ///< m, four columns: right, up, look, position

/// t: text of at most ECS_STRING_BYTES_MAX bytes without a NUL, owned by the value. `data` is
/// NUL-terminated, NULL when empty. Change it through ecs_string_set only.
typedef struct ecs_string {
    char* data;
    uint32_t size;    ///< without the NUL
    uint32_t version; ///< rises with each change, so that tracking can skip the compare
} ecs_string;

/// Replace the text by a copy of `size` bytes, of none: give its memory back. Used for components
/// with ecs_world_allocator(world).
/// @return ECS_OK; ECS_ERR_TEXT (ecs_string_is_valid): the old text stays.
BASE_MUST_USE ecs_result ecs_string_set(const base_allocator* allocator, ecs_string* string,
                                        const char* text, uint32_t size);
/// May a value be this text? It has at most ECS_STRING_BYTES_MAX bytes, none of them a NUL: what
/// all readers of snapshots and logs take.
bool ecs_string_is_valid(const void* text, size_t size);
/// The text with its NUL, "" when empty; never NULL. Borrowed until the next change of the value.
const char* ecs_string_text(const ecs_string* string);

/// A container: a pointer that the value owns, NULL while nothing was written. memcpy moves it; an
/// assignment in C must not copy it. Elements are read and changed through ecs/container.h only.
typedef struct ecs_container {
    struct ecs_container_body* body;
    uint32_t type; ///< a list<T>: its ecs_element_type; array and object: that or 0
} ecs_container;

typedef struct ecs_list {
    ecs_container own;
} ecs_list; ///< list<T>: elements of one type, packed
typedef struct ecs_array {
    ecs_container own;
} ecs_array; ///< array: values of any types
typedef struct ecs_object {
    ecs_container own;
} ecs_object; ///< object: named values, in order of names

BASE_C_END
