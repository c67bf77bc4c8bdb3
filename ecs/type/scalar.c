// SPDX-License-Identifier: MIT
// The built-in types that are no containers, b to tag, as rows of a table. Components of these
// types and elements of containers use the same rows.
#include "type/type_registry.h"

#include "base/assert.h"

#define FIELD(struct_name, member, field_kind, elements)                                           \
    {                                                                                              \
        .name = #member, .offset = (uint32_t)offsetof(struct_name, member), .kind = field_kind,    \
        .count = elements                                                                          \
    }
#define SCALAR(field_kind)                                                                         \
    { .name = "value", .kind = field_kind, .count = 1 }

static const ecs_field field_b[] = {SCALAR(ECS_FIELD_BOOL)};
static const ecs_field field_i[] = {SCALAR(ECS_FIELD_I32)};
static const ecs_field field_i64[] = {SCALAR(ECS_FIELD_I64)};
static const ecs_field field_u8[] = {SCALAR(ECS_FIELD_U8)};
static const ecs_field field_u16[] = {SCALAR(ECS_FIELD_U16)};
static const ecs_field field_u32[] = {SCALAR(ECS_FIELD_U32)};
static const ecs_field field_u64[] = {SCALAR(ECS_FIELD_U64)};
static const ecs_field field_r[] = {SCALAR(ECS_FIELD_F32)};
static const ecs_field field_eid[] = {SCALAR(ECS_FIELD_ENTITY)};
static const ecs_field field_p2[] = {FIELD(ecs_vec2, x, ECS_FIELD_F32, 1),
                                     FIELD(ecs_vec2, y, ECS_FIELD_F32, 1)};
static const ecs_field field_p3[] = {FIELD(ecs_vec3, x, ECS_FIELD_F32, 1),
                                     FIELD(ecs_vec3, y, ECS_FIELD_F32, 1),
                                     FIELD(ecs_vec3, z, ECS_FIELD_F32, 1)};
static const ecs_field field_p4[] = {
    FIELD(ecs_vec4, x, ECS_FIELD_F32, 1), FIELD(ecs_vec4, y, ECS_FIELD_F32, 1),
    FIELD(ecs_vec4, z, ECS_FIELD_F32, 1), FIELD(ecs_vec4, w, ECS_FIELD_F32, 1)};
static const ecs_field field_ip2[] = {FIELD(ecs_ivec2, x, ECS_FIELD_I32, 1),
                                      FIELD(ecs_ivec2, y, ECS_FIELD_I32, 1)};
static const ecs_field field_ip3[] = {FIELD(ecs_ivec3, x, ECS_FIELD_I32, 1),
                                      FIELD(ecs_ivec3, y, ECS_FIELD_I32, 1),
                                      FIELD(ecs_ivec3, z, ECS_FIELD_I32, 1)};
static const ecs_field field_ip4[] = {
    FIELD(ecs_ivec4, x, ECS_FIELD_I32, 1), FIELD(ecs_ivec4, y, ECS_FIELD_I32, 1),
    FIELD(ecs_ivec4, z, ECS_FIELD_I32, 1), FIELD(ecs_ivec4, w, ECS_FIELD_I32, 1)};
static const ecs_field field_c[] = {
    FIELD(ecs_color, r, ECS_FIELD_U8, 1), FIELD(ecs_color, g, ECS_FIELD_U8, 1),
    FIELD(ecs_color, b, ECS_FIELD_U8, 1), FIELD(ecs_color, a, ECS_FIELD_U8, 1)};
static const ecs_field field_m[] = {FIELD(ecs_matrix, m, ECS_FIELD_F32, 12)};

// Rows lie at their id.
#define TYPE(number, type_name, c_type, table)                                                     \
    [number] = {.name = type_name,                                                                 \
                .id = number,                                                                      \
                .size = sizeof(c_type),                                                            \
                .align = _Alignof(c_type),                                                         \
                .object_size = sizeof(c_type),                                                     \
                .fields = table,                                                                   \
                .field_count = BASE_COUNT(table),                                                  \
                .is_dense = true}
static const ecs_type scalars[ECS_BUILTIN_TAG + 1] = {
    TYPE(ECS_BUILTIN_B, "b", bool, field_b),
    TYPE(ECS_BUILTIN_I, "i", int32_t, field_i),
    TYPE(ECS_BUILTIN_I64, "i64", int64_t, field_i64),
    TYPE(ECS_BUILTIN_U8, "u8", uint8_t, field_u8),
    TYPE(ECS_BUILTIN_U16, "u16", uint16_t, field_u16),
    TYPE(ECS_BUILTIN_U32, "u32", uint32_t, field_u32),
    TYPE(ECS_BUILTIN_U64, "u64", uint64_t, field_u64),
    TYPE(ECS_BUILTIN_R, "r", float, field_r),
    TYPE(ECS_BUILTIN_P2, "p2", ecs_vec2, field_p2),
    TYPE(ECS_BUILTIN_P3, "p3", ecs_vec3, field_p3),
    TYPE(ECS_BUILTIN_P4, "p4", ecs_vec4, field_p4),
    TYPE(ECS_BUILTIN_IP2, "ip2", ecs_ivec2, field_ip2),
    TYPE(ECS_BUILTIN_IP3, "ip3", ecs_ivec3, field_ip3),
    TYPE(ECS_BUILTIN_IP4, "ip4", ecs_ivec4, field_ip4),
    TYPE(ECS_BUILTIN_C, "c", ecs_color, field_c),
    TYPE(ECS_BUILTIN_M, "m", ecs_matrix, field_m),
    [ECS_BUILTIN_T] = {.name = "t",
                       .id = ECS_BUILTIN_T,
                       .size = sizeof(ecs_string),
                       .align = _Alignof(ecs_string),
                       .object_size = sizeof(ecs_string),
                       .ops = &ecs_string_ops},
    TYPE(ECS_BUILTIN_EID, "eid", ecs_entity, field_eid),
    [ECS_BUILTIN_TAG] = {.name = "tag", .id = ECS_BUILTIN_TAG, .align = 1, .is_dense = true},
};

const ecs_type* ecs_scalar_type(ecs_type_id id) {
    BASE_ASSERT(id > ECS_BUILTIN_NONE && id <= ECS_BUILTIN_TAG);
    return &scalars[id];
}
