// SPDX-License-Identifier: MIT The built-in types of every world: the scalars (scalar.c), then
// lists, arrays and objects of them. Registering them is the first step of a world, so their ids
// are the same in every world.
#include "type/container.h"

#include "core/world_internal.h"

#include "base/assert.h"

static uint64_t hash_container(const void* value, uint64_t seed) {
    return ecs_container_hash(ecs_container_body_of(value), seed);
}

#define CONTAINER(number, type_name, c_type)                                                       \
    [number - ECS_BUILTIN_TAG] = {.name = type_name,                                               \
                                  .id = number,                                                    \
                                  .size = sizeof(c_type),                                          \
                                  .align = _Alignof(c_type),                                       \
                                  .object_size = sizeof(c_type),                                   \
                                  .ops = &ecs_element_ops[number],                                 \
                                  .hash = hash_container}
#define LIST(element, type_name) CONTAINER(ECS_BUILTIN_LIST + element, type_name, ecs_list)

// Rows lie at their id - ECS_BUILTIN_TAG.
static const ecs_type containers[ECS_BUILTIN_END - ECS_BUILTIN_TAG] = {
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
    return id <= ECS_BUILTIN_TAG ? ecs_scalar_type(id) : &containers[id - ECS_BUILTIN_TAG];
}

ecs_result ecs_builtin_register(ecs_world* world) {
    _Static_assert(sizeof(bool) == 1, "b is one byte");
    _Static_assert((uint32_t)ECS_BUILTIN_LIST == (uint32_t)ECS_ELEMENT_LIST &&
                       (uint32_t)ECS_BUILTIN_ARRAY == (uint32_t)ECS_ELEMENT_ARRAY &&
                       (uint32_t)ECS_BUILTIN_OBJECT == (uint32_t)ECS_ELEMENT_OBJECT &&
                       (uint32_t)ECS_BUILTIN_EID == (uint32_t)ECS_ELEMENT_EID,
                   "values inside have the ids of types");
    for (ecs_type_id id = 1; id < ECS_BUILTIN_END; id++) {
        const ecs_type* row = ecs_builtin_type(id);
        ecs_type_desc desc = {.name = row->name,
                              .size = row->size,
                              .align = row->align,
                              .fields = row->fields,
                              .field_count = row->field_count,
                              .ops = row->ops};
        ecs_type_id added;
        ecs_result result = ecs_type_add(world, &desc, 0, NULL, &added);
        if (result != ECS_OK) return result;
        BASE_ASSERT(added == id);
        ecs_type_at(world->types, id)->hash = row->hash;
    }
    return ECS_OK;
}

bool ecs_types_init(ecs_world* world) {
    ecs_types* types = world->types;
    *types = (ecs_types){0};
    if (ecs_builtin_register(world) == ECS_OK) return true;
    ecs_types_deinit(world);
    return false;
}
