// SPDX-License-Identifier: MIT
/// Private: the registries of types and components, and operations on single values.
#pragma once

#include "base/table.h"
#include "base/text.h"
#include "ecs/container.h"
#include "ecs/type.h"

#include <stdatomic.h>

// The memory of boxed types. A cell holds a pointer; the object never moves.

#define ECS_BOX_SLABS_MAX 32u

typedef struct ecs_box_slab {
    uint8_t* memory;
    uint32_t count;
} ecs_box_slab;

/// Each slab is twice as large as the previous one, so few blocks are allocated and no object
/// moves. Returned objects wait in `free`; the last one is given out first. With a reset hook they
/// wait as created objects, otherwise as bare memory.
typedef struct ecs_box {
    const base_allocator* allocator;
    const ecs_type_ops* ops; ///< as registered; NULL: plain data
    uint32_t size;           ///< bytes of an object
    uint32_t stride;
    atomic_flag lock; ///< several jobs may record values of commands at the same time
    ecs_box_slab slabs[ECS_BOX_SLABS_MAX];
    uint32_t slab_count;
    uint32_t fresh; ///< objects of the last slab that were given out at least once
    void** free;    ///< room for every object of the pool, so ecs_box_return cannot fail
    uint32_t free_count, free_capacity;
    uint32_t live;
    uint32_t room; ///< objects in all slabs
} ecs_box;

/// Get memory for an object. With *is_made it holds a created object. Any thread.
void* ecs_box_take(ecs_box* box, bool* is_made);
/// Give memory back: with a reset hook it holds a created object, else none. Any thread.
void ecs_box_return(ecs_box* box, void* memory);
static inline bool ecs_box_keeps_objects(const ecs_box* box) {
    return box->ops && box->ops->reset;
}

// The built-in types have the numbers of elements (ecs_element_type) in every world, and `tag`,
// which no container holds, that of ECS_ELEMENT_LIST.
#define ECS_BUILTIN_TAG ((uint32_t)ECS_ELEMENT_LIST)
#define ECS_BUILTIN_COUNT ((uint32_t)ECS_ELEMENT_TYPE_END - 1u)

#define ECS_TYPE_PAGE 32u ///< types or components of a page

/// Both lie in pages by id - 1, so pointers to entries are valid as long as the world.
typedef struct ecs_types {
    ecs_type* type_pages[ECS_TYPES_MAX / ECS_TYPE_PAGE];
    uint32_t type_count;
    ecs_component* component_pages[ECS_COMPONENTS_MAX / ECS_TYPE_PAGE];
    uint32_t component_count;
    base_table component_names;
} ecs_types;
_Static_assert(ECS_TYPES_MAX % ECS_TYPE_PAGE == 0 && ECS_COMPONENTS_MAX % ECS_TYPE_PAGE == 0,
               "the last page is whole");

/// The type or the component of an id that exists.
static inline ecs_type* ecs_type_at(const ecs_types* types, uint32_t id) {
    return &types->type_pages[(id - 1) / ECS_TYPE_PAGE][(id - 1) % ECS_TYPE_PAGE];
}
static inline ecs_component* ecs_component_at(const ecs_types* types, uint32_t id) {
    return &types->component_pages[(id - 1) / ECS_TYPE_PAGE][(id - 1) % ECS_TYPE_PAGE];
}

/// Is it plain data? Then memcpy copies a value and zero bytes create one.
static inline bool ecs_type_is_plain(const ecs_type* type) {
    return !type->ops;
}
/// Does memcpy move a value?
static inline bool ecs_type_is_relocatable(const ecs_type* type) {
    return !type->ops || type->box || !type->ops->move;
}

/// Is it a name that a component, template, type, tag or system may have: 1..127 bytes of
/// [A-Za-z0-9_.-]?
bool ecs_name_is_valid(const char* name);

/// ecs_field_kind_bytes as a table, for loops over fields.
extern const uint8_t ecs_field_kind_table[ECS_FIELD_KIND_COUNT];
/// Are bits, min and step valid for a field of this kind?
bool ecs_quant_is_valid(const ecs_quant* quant, ecs_field_kind kind);
/// ecs_component_find without counting, for registration. `name_hash` is base_hash64_text(name).
ecs_component_id ecs_component_seek(const ecs_world* world, const char* name, uint64_t name_hash);
/// base_nearest_hint among the components.
const char* ecs_component_hint(const ecs_world* world, const char* name,
                               char hint[BASE_HINT_BYTES]);

// Operations on single values, with all defaults of ecs_type_ops in one place. They accept plain
// types and tags too. `context` may have a NULL allocator (the heap).
//
// Shadows: ecs_value_copy makes the shadow of a value, and only ecs_value_compare changes it. So
// comparing versions is enough for types that have them (t, containers).

/// Create the default value of the type in memory without a value (zero for plain data).
void ecs_value_create(const ecs_type* type, const ecs_type_context* context, void* value);
void ecs_value_destroy(const ecs_type* type, const ecs_type_context* context, void* value);
/// Create a copy in `target`, which holds no value. A text is valid (ecs_inits_check).
void ecs_value_copy(const ecs_type* type, const ecs_type_context* context, void* target,
                    const void* source);
/// Make the value in `target` equal to `source`.
void ecs_value_assign(const ecs_type* type, const ecs_type_context* context, void* target,
                      const void* source);
/// Move a value from `source` to `target`. `target` holds none before, `source` none afterwards.
void ecs_value_move(const ecs_type* type, const ecs_type_context* context, void* target,
                    void* source);
/// Do the versions show that the value did not change since the last compare? Always false for
/// types without versions.
static inline bool ecs_value_is_untouched(const ecs_type* type, const void* shadow,
                                          const void* current) {
    if (!type->ops || !type->ops->version) return false;
    return type->ops->version(ecs_type_object(type, shadow)) ==
           type->ops->version(ecs_type_object(type, current));
}
/// Make `shadow` equal to `current`. @return true when they differed.
bool ecs_value_compare(const ecs_type* type, const ecs_type_context* context, void* shadow,
                       const void* current);

/// The row of a built-in type that is no container: b to tag (asserted). A constant.
const ecs_type* ecs_scalar_type(ecs_type_id id);
/// The row of any built-in type: every world has it under this id. A constant.
const ecs_type* ecs_builtin_type(ecs_type_id id);
/// Fill a type with the name, the size and a copy of the fields of a description.
/// @return the fault of the fields; NULL: they have none.
BASE_MUST_USE const char* ecs_type_make(ecs_world* world, const ecs_type_desc* desc,
                                        ecs_type* type);
/// Names, kinds and counts of fields, mixed into a hash.
uint64_t ecs_fields_hash(uint64_t hash, const ecs_field* fields, uint32_t count);
/// Add a type of which all but the fields is checked. The name is not looked at. @return ECS_OK;
/// ECS_ERR_TYPE (the fields make no sense; reported).
BASE_MUST_USE ecs_result ecs_type_add(ecs_world* world, const ecs_type_desc* desc, uint32_t flags,
                                      const base_reporter* reporter, ecs_type_id* id);

/// For bytes that begin in a buffer on the stack and go on in the heap.
base_allocator ecs_spill_allocator(void* buffer);
/// The size of the canonical bytes of a plain type: the sum of its fields.
uint32_t ecs_type_canonical_bytes(const ecs_type* type);
extern const ecs_type_ops ecs_string_ops; ///< the functions of type t
