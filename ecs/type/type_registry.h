// SPDX-License-Identifier: MIT
/// Private: the registries of types and components, and what storage does with single values.
#pragma once

#include "type/box.h"
#include "ecs/type.h"
#include "base/table.h"

/// The built-in types, registered first in every world, in this order: their ids never differ.
typedef enum ecs_builtin {
    ECS_BUILTIN_NONE,
    ECS_BUILTIN_B,
    ECS_BUILTIN_I,
    ECS_BUILTIN_I64,
    ECS_BUILTIN_U8,
    ECS_BUILTIN_U16,
    ECS_BUILTIN_U32,
    ECS_BUILTIN_U64,
    ECS_BUILTIN_R,
    ECS_BUILTIN_P2,
    ECS_BUILTIN_P3,
    ECS_BUILTIN_P4,
    ECS_BUILTIN_IP2,
    ECS_BUILTIN_IP3,
    ECS_BUILTIN_IP4,
    ECS_BUILTIN_C,
    ECS_BUILTIN_M,
    ECS_BUILTIN_T,
    ECS_BUILTIN_EID,
    ECS_BUILTIN_TAG,
    ECS_BUILTIN_LIST = ECS_BUILTIN_TAG, ///< list<T> is this + T, for T from b to eid
    ECS_BUILTIN_ARRAY = ECS_BUILTIN_LIST + ECS_BUILTIN_EID + 1,
    ECS_BUILTIN_OBJECT,
    ECS_BUILTIN_END,
} ecs_builtin;

#define ECS_BUILTIN_COUNT ((uint32_t)ECS_BUILTIN_END - 1u)

/// Both arrays are made once at their limit, so pointers to entries live as long as the world.
typedef struct ecs_types {
    ecs_type* types; ///< [ECS_TYPES_MAX]; id - 1
    uint32_t type_count;
    ecs_component* components; ///< [ECS_COMPONENTS_MAX]; id - 1
    uint32_t component_count;
    base_table component_names;
} ecs_types;

/// Plain data: memcpy, memset to zero and memcmp by fields are all there is to it.
static inline bool ecs_type_is_plain(const ecs_type* type) {
    return type->ops == NULL;
}
/// memcpy moves it.
static inline bool ecs_type_is_relocatable(const ecs_type* type) {
    return type->ops == NULL || type->box != NULL || type->ops->move == NULL;
}

/// A name that a component, template, type, tag or system may carry: 1..127 of [A-Za-z0-9_.-].
bool ecs_name_is_valid(const char* name);

/// ecs_field_kind_bytes as a table, for loops over fields.
extern const uint8_t ecs_field_kind_table[ECS_FIELD_KIND_COUNT];
/// bits, min and step make sense for a field of this kind.
bool ecs_quant_is_valid(const ecs_quant* quant, ecs_field_kind kind);
/// Register the built-in types (ecs_types_init calls it).
BASE_MUST_USE ecs_result ecs_builtin_register(ecs_world* world);
/// ecs_component_find without counting, for registration; `name_hash` is base_hash64_text(name).
ecs_component_id ecs_component_seek(const ecs_world* world, const char* name, uint64_t name_hash);

// Single values with every fallback of ecs_type_ops in one place. Plain types and tags are fine too.
// `context` may have a NULL allocator (the heap).
//
// Shadows: a shadow copy of a value is made by ecs_value_copy and kept by ecs_value_compare only.
// Then the early-out of types with versions (t) is sound.

/// Uncreated memory -> the type's default (zero for plain data). @return false when memory ran out for a
/// boxed object: the cell is NULL then, and may be destroyed like any other.
BASE_MUST_USE bool ecs_value_create(const ecs_type* type, const ecs_type_context* context,
                                    void* value);
void ecs_value_destroy(const ecs_type* type, const ecs_type_context* context, void* value);
/// Uncreated `target` becomes a copy. @return false when memory ran out; `target` stays uncreated.
BASE_MUST_USE bool ecs_value_copy(const ecs_type* type, const ecs_type_context* context,
                                  void* target, const void* source);
/// Created `target` becomes equal. @return false when memory ran out; `target` stays created.
BASE_MUST_USE bool ecs_value_assign(const ecs_type* type, const ecs_type_context* context,
                                    void* target, const void* source);
/// Uncreated `target` takes over; `source` becomes uncreated.
void ecs_value_move(const ecs_type* type, const ecs_type_context* context, void* target,
                    void* source);
/// The versions say that nobody changed the value since the shadow was brought up to date. Types without
/// versions never say so.
static inline bool ecs_value_is_untouched(const ecs_type* type, const void* shadow,
                                          const void* current) {
    if (!type->ops || !type->ops->version) return false;
    return type->ops->version(ecs_type_object(type, shadow)) ==
           type->ops->version(ecs_type_object(type, current));
}
/// Make `shadow` equal to `current`. @return true when they differed (also when memory ran out half-way).
bool ecs_value_compare(const ecs_type* type, const ecs_type_context* context, void* shadow,
                       const void* current);

/// The row of a built-in type that is no container: b to tag (asserted). Lives forever.
const ecs_type* ecs_scalar_type(ecs_type_id id);
/// The row of any built-in type: every world has it under this id. Lives forever.
const ecs_type* ecs_builtin_type(ecs_type_id id);
/// Add a type whose description is known to be right, whatever its name.
BASE_MUST_USE ecs_result ecs_type_add(ecs_world* world, const ecs_type_desc* desc, uint32_t flags,
                                      const base_reporter* reporter, ecs_type_id* id);

/// Bytes of the canonical form of a plain type: the sum of its fields.
uint32_t ecs_type_canonical_bytes(const ecs_type* type);
extern const ecs_type_ops ecs_string_ops; ///< of the type t
