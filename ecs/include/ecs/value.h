// SPDX-License-Identifier: MIT
/// Plain values that components are made of, as C sees them.
#pragma once

#include "base/alloc.h"
#include "base/bytes.h"

typedef struct ecs_vec2 { float x, y; } ecs_vec2;          ///< p2
typedef struct ecs_vec3 { float x, y, z; } ecs_vec3;       ///< p3
typedef struct ecs_vec4 { float x, y, z, w; } ecs_vec4;    ///< p4
typedef struct ecs_ivec2 { int32_t x, y; } ecs_ivec2;      ///< ip2
typedef struct ecs_ivec3 { int32_t x, y, z; } ecs_ivec3;   ///< ip3
typedef struct ecs_ivec4 { int32_t x, y, z, w; } ecs_ivec4;///< ip4
typedef struct ecs_color { uint8_t r, g, b, a; } ecs_color;///< c
typedef struct ecs_matrix { float m[4][3]; } ecs_matrix;   ///< m, four columns: right, up, look, position

/// t: text of at most ECS_STRING_BYTES_MAX bytes, owned by the value. `data` is NUL-terminated,
/// NULL when empty. Change it through ecs_string_set only.
typedef struct ecs_string {
    char* data;
    uint32_t size; ///< without the NUL
    uint32_t version; ///< rises with each change: the early-out of replicateCompare
} ecs_string;

/// @return false when memory ran out or the text is too long; the old value stays.
BASE_MUST_USE bool ecs_string_set(const base_allocator* allocator, ecs_string* string,
                                  const char* text, uint32_t size);
void ecs_string_clear(const base_allocator* allocator, ecs_string* string);
/// Never NULL.
const char* ecs_string_text(const ecs_string* string);
