// SPDX-License-Identifier: MIT
// The datablock's own types as rows of a table: the same descriptions that a module would give.
#include "types.h"

#include "world_internal.h"

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

#define TYPE(type_name, c_type, table)                                                             \
    {                                                                                              \
        .name = type_name, .size = sizeof(c_type), .align = _Alignof(c_type), .fields = table,     \
        .field_count = BASE_COUNT(table)                                                           \
    }

ecs_result ecs_builtin_register(ecs_world* world) {
    const ecs_type_desc descs[] = {
        TYPE("b", bool, field_b),
        TYPE("i", int32_t, field_i),
        TYPE("i64", int64_t, field_i64),
        TYPE("u8", uint8_t, field_u8),
        TYPE("u16", uint16_t, field_u16),
        TYPE("u32", uint32_t, field_u32),
        TYPE("u64", uint64_t, field_u64),
        TYPE("r", float, field_r),
        TYPE("p2", ecs_vec2, field_p2),
        TYPE("p3", ecs_vec3, field_p3),
        TYPE("p4", ecs_vec4, field_p4),
        TYPE("ip2", ecs_ivec2, field_ip2),
        TYPE("ip3", ecs_ivec3, field_ip3),
        TYPE("ip4", ecs_ivec4, field_ip4),
        TYPE("c", ecs_color, field_c),
        TYPE("m", ecs_matrix, field_m),
        {.name = "t",
         .size = sizeof(ecs_string),
         .align = _Alignof(ecs_string),
         .ops = ecs_string_ops()},
        TYPE("eid", ecs_entity, field_eid),
        {.name = "tag"},
    };
    _Static_assert(BASE_COUNT(descs) == ECS_BUILTIN_COUNT, "ecs_builtin names another set");
    _Static_assert(sizeof(bool) == 1, "b is one byte");
    for (uint32_t i = 0; i < BASE_COUNT(descs); i++) {
        ecs_result result = ecs_type_register(world, &descs[i], NULL);
        if (result != ECS_OK) return result;
    }
    return ECS_OK;
}

bool ecs_types_init(ecs_world* world) {
    ecs_types* types = &world->types;
    *types = (ecs_types){0};
    types->types = base_allocate_zero(world->allocator, ECS_TYPES_MAX * sizeof *types->types);
    types->components =
        base_allocate_zero(world->allocator, ECS_COMPONENTS_MAX * sizeof *types->components);
    if (!types->types || !types->components ||
        !ecs_name_index_reserve(&types->component_names, world->allocator, ECS_COMPONENTS_MAX) ||
        ecs_builtin_register(world) != ECS_OK) {
        ecs_types_deinit(world);
        return false;
    }
    return true;
}
