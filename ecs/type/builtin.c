// SPDX-License-Identifier: MIT
// The datablock's own types as rows of a table, for worlds and for values inside containers.
#include "type/container.h"

#include "world/world_internal.h"

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

/// Rows lie at their id.
#define TYPE(number, type_name, c_type, table)                                                     \
    [number] = {.name = type_name,                                                                 \
                .id = number,                                                                      \
                .size = sizeof(c_type),                                                            \
                .align = _Alignof(c_type),                                                         \
                .object_size = sizeof(c_type),                                                     \
                .fields = table,                                                                   \
                .field_count = BASE_COUNT(table),                                                  \
                .is_dense = true}
#define OWNING(number, type_name, c_type, functions)                                               \
    [number] = {.name = type_name,                                                                 \
                .id = number,                                                                      \
                .size = sizeof(c_type),                                                            \
                .align = _Alignof(c_type),                                                         \
                .object_size = sizeof(c_type),                                                     \
                .ops = functions}
#define CONTAINER(number, type_name, c_type)                                                       \
    OWNING(number, type_name, c_type, &ecs_element_ops[number])
#define LIST(element, type_name) CONTAINER(ECS_BUILTIN_LIST + element, type_name, ecs_list)

static const ecs_type table[ECS_BUILTIN_END] = {
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
    OWNING(ECS_BUILTIN_T, "t", ecs_string, &ecs_string_ops),
    TYPE(ECS_BUILTIN_EID, "eid", ecs_entity, field_eid),
    [ECS_BUILTIN_TAG] = {.name = "tag", .id = ECS_BUILTIN_TAG, .align = 1, .is_dense = true},
    LIST(ECS_BUILTIN_B, "list<b>"),
    LIST(ECS_BUILTIN_I, "list<i>"),
    LIST(ECS_BUILTIN_I64, "list<i64>"),
    LIST(ECS_BUILTIN_U8, "list<u8>"),
    LIST(ECS_BUILTIN_U16, "list<u16>"),
    LIST(ECS_BUILTIN_U32, "list<u32>"),
    LIST(ECS_BUILTIN_U64, "list<u64>"),
    LIST(ECS_BUILTIN_R, "list<r>"),
    LIST(ECS_BUILTIN_P2, "list<p2>"),
    LIST(ECS_BUILTIN_P3, "list<p3>"),
    LIST(ECS_BUILTIN_P4, "list<p4>"),
    LIST(ECS_BUILTIN_IP2, "list<ip2>"),
    LIST(ECS_BUILTIN_IP3, "list<ip3>"),
    LIST(ECS_BUILTIN_IP4, "list<ip4>"),
    LIST(ECS_BUILTIN_C, "list<c>"),
    LIST(ECS_BUILTIN_M, "list<m>"),
    LIST(ECS_BUILTIN_T, "list<t>"),
    LIST(ECS_BUILTIN_EID, "list<eid>"),
    CONTAINER(ECS_BUILTIN_ARRAY, "array", ecs_array),
    CONTAINER(ECS_BUILTIN_OBJECT, "object", ecs_object),
};

const ecs_type* ecs_builtin_type(ecs_type_id id) {
    BASE_ASSERT(id > ECS_BUILTIN_NONE && id < ECS_BUILTIN_END);
    return &table[id];
}

ecs_result ecs_builtin_register(ecs_world* world) {
    _Static_assert(sizeof(bool) == 1, "b is one byte");
    _Static_assert((uint32_t)ECS_BUILTIN_LIST == (uint32_t)ECS_ELEMENT_LIST &&
                       (uint32_t)ECS_BUILTIN_ARRAY == (uint32_t)ECS_ELEMENT_ARRAY &&
                       (uint32_t)ECS_BUILTIN_OBJECT == (uint32_t)ECS_ELEMENT_OBJECT &&
                       (uint32_t)ECS_BUILTIN_EID == (uint32_t)ECS_ELEMENT_EID,
                   "values inside have the ids of types");
    for (ecs_type_id id = 1; id < ECS_BUILTIN_END; id++) {
        ecs_type_desc desc = {.name = table[id].name,
                              .size = table[id].size,
                              .align = table[id].align,
                              .fields = table[id].fields,
                              .field_count = table[id].field_count,
                              .ops = table[id].ops};
        ecs_result result = ecs_type_add(world, &desc, 0, NULL, NULL);
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
        !base_table_reserve(&types->component_names, world->allocator, ECS_COMPONENTS_MAX) ||
        ecs_builtin_register(world) != ECS_OK) {
        ecs_types_deinit(world);
        return false;
    }
    return true;
}
