// SPDX-License-Identifier: MIT
/// Values inside a value: list<T>, array and object, nested.
///
/// Shape: a list holds elements of one type, packed as C sees them (value.h); an array holds values
/// that each say their type; an object holds the same under names, in the order of strcmp, each
/// name once. Arrays and objects may hold lists, arrays and objects again.
///
/// Values are passed in the memory form of their type: `const int32_t*` for i, `const ecs_vec2*`
/// for p2, `const ecs_string*` for t, `const ecs_list*`, `const ecs_array*`, `const ecs_object*`.
/// What is passed is copied, and it may come from inside the same container. NULL means zero or
/// empty.
///
/// Memory: `allocator` is the one that the value began with; for components it is
/// ecs_world_allocator(world). Pointers to what is inside are borrowed until the next change of the
/// container that holds it, at the latest until the next structural change or step of the world.
///
/// Versions: every change raises the version of the container and of all around it. Tracking
/// compares versions first and looks inside only when they differ. So what a container holds is
/// changed through these functions only; of nested containers ask find_mut and change what it
/// returns.
///
/// Limits, each an ECS_ERR_FULL: ECS_CONTAINER_COUNT_MAX values directly in a container,
/// ECS_CONTAINER_DEPTH_MAX containers inside one another, ECS_CONTAINER_NAME_BYTES_MAX for a name,
/// ECS_STRING_BYTES_MAX for a text, and ECS_CONTAINER_BYTES_MAX for all that is inside the
/// outermost one: numbers count their size, texts and names their length, each value of an array or
/// object one more.
///
/// An error code means that nothing changed.
#pragma once

#include "ecs/entity.h"
#include "ecs/limits.h"
#include "ecs/result.h"
#include "ecs/value.h"

/// Types of values inside. The numbers are the ids of the same types in every world
/// (ecs_type_find).
typedef enum ecs_element_type {
    ECS_ELEMENT_NONE,
    ECS_ELEMENT_B,
    ECS_ELEMENT_I,
    ECS_ELEMENT_I64,
    ECS_ELEMENT_U8,
    ECS_ELEMENT_U16,
    ECS_ELEMENT_U32,
    ECS_ELEMENT_U64,
    ECS_ELEMENT_R,
    ECS_ELEMENT_P2,
    ECS_ELEMENT_P3,
    ECS_ELEMENT_P4,
    ECS_ELEMENT_IP2,
    ECS_ELEMENT_IP3,
    ECS_ELEMENT_IP4,
    ECS_ELEMENT_C,
    ECS_ELEMENT_M,
    ECS_ELEMENT_T,
    ECS_ELEMENT_EID,
    ECS_ELEMENT_LIST, ///< list<T> is ECS_ELEMENT_LIST + T, see ecs_element_list_of
    ECS_ELEMENT_ARRAY = ECS_ELEMENT_LIST + ECS_ELEMENT_EID + 1,
    ECS_ELEMENT_OBJECT,
    ECS_ELEMENT_TYPE_END,
} ecs_element_type;

/// The type list<T> of an element type, ECS_ELEMENT_B to ECS_ELEMENT_EID.
static inline ecs_element_type ecs_element_list_of(ecs_element_type element) {
    return (ecs_element_type)(ECS_ELEMENT_LIST + element);
}

/// A value of an array or object. Read it; change it through its container.
typedef struct ecs_element {
    ecs_element_type type;
    union {
        bool b;
        int32_t i;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float r;
        ecs_vec2 p2;
        ecs_vec3 p3;
        ecs_vec4 p4;
        ecs_ivec2 ip2;
        ecs_ivec3 ip3;
        ecs_ivec4 ip4;
        ecs_color c;
        ecs_matrix m;
        ecs_string t;
        ecs_entity eid;
        ecs_list list;
        ecs_array array;
        ecs_object object;
    } as;
} ecs_element;

/// How often it changed, by whatever way; 0 for one that was never written.
uint64_t ecs_list_version(const ecs_list* list);
uint64_t ecs_array_version(const ecs_array* array);
uint64_t ecs_object_version(const ecs_object* object);

/// An empty list that is no component (those are made by the world). Arrays and objects start as
/// {0}.
void ecs_list_init(ecs_list* list, ecs_element_type element);
ecs_element_type ecs_list_element(const ecs_list* list);
uint32_t ecs_list_count(const ecs_list* list);
/// All elements, as an array of the element's C type. NULL when there are none.
const void* ecs_list_data(const ecs_list* list);
/// The same for writing: counts as a change. Not for lists of t (asserted).
void* ecs_list_data_mut(ecs_list* list);
/// One element; it must exist (asserted).
const void* ecs_list_get(const ecs_list* list, uint32_t index);
/// @return ECS_OK; ECS_ERR_MISSING (index); ECS_ERR_FULL (texts); ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_list_set(const base_allocator* allocator, ecs_list* list,
                                      uint32_t index, const void* value);
/// Put a value in front of `index`; at the count: behind all.
/// @return ECS_OK; ECS_ERR_MISSING (index over the count); ECS_ERR_FULL; ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_list_insert(const base_allocator* allocator, ecs_list* list,
                                         uint32_t index, const void* value);
/// Behind all. @return ECS_OK; ECS_ERR_FULL; ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_list_push(const base_allocator* allocator, ecs_list* list,
                                       const void* value);
BASE_MUST_USE ecs_result ecs_list_push_text(const base_allocator* allocator, ecs_list* list,
                                            const char* text, uint32_t size);
/// Exactly `count` elements; new ones are zero. @return ECS_OK; ECS_ERR_FULL; ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_list_resize(const base_allocator* allocator, ecs_list* list,
                                         uint32_t count);
/// Take one out, the order of the others stays. @return ECS_OK; ECS_ERR_MISSING (index).
BASE_MUST_USE ecs_result ecs_list_remove(const base_allocator* allocator, ecs_list* list,
                                         uint32_t index);
/// No elements; keeps the memory.
void ecs_list_clear(const base_allocator* allocator, ecs_list* list);
/// Give all memory back. For values that are no components.
void ecs_list_deinit(const base_allocator* allocator, ecs_list* list);

uint32_t ecs_array_count(const ecs_array* array);
/// One value; it must exist (asserted).
const ecs_element* ecs_array_get(const ecs_array* array, uint32_t index);
/// One value in memory form; NULL when the index is over the end or the type another.
const void* ecs_array_find(const ecs_array* array, uint32_t index, ecs_element_type type);
/// A nested container for changing: ecs_list*, ecs_array* or ecs_object*; NULL as above. Values
/// that are no containers are changed by set (asserted).
void* ecs_array_find_mut(ecs_array* array, uint32_t index, ecs_element_type type);
/// Codes of these as of lists; ECS_ERR_TYPE: not a type of values inside.
BASE_MUST_USE ecs_result ecs_array_set(const base_allocator* allocator, ecs_array* array,
                                       uint32_t index, ecs_element_type type, const void* value);
BASE_MUST_USE ecs_result ecs_array_insert(const base_allocator* allocator, ecs_array* array,
                                          uint32_t index, ecs_element_type type, const void* value);
BASE_MUST_USE ecs_result ecs_array_push(const base_allocator* allocator, ecs_array* array,
                                        ecs_element_type type, const void* value);
BASE_MUST_USE ecs_result ecs_array_push_text(const base_allocator* allocator, ecs_array* array,
                                             const char* text, uint32_t size);
BASE_MUST_USE ecs_result ecs_array_remove(const base_allocator* allocator, ecs_array* array,
                                          uint32_t index);
void ecs_array_clear(const base_allocator* allocator, ecs_array* array);
void ecs_array_deinit(const base_allocator* allocator, ecs_array* array);

uint32_t ecs_object_count(const ecs_object* object);
/// Walk by index 0..count-1, in the order of names (strcmp). The index must be below the count
/// (asserted).
const char* ecs_object_name(const ecs_object* object, uint32_t index);
const ecs_element* ecs_object_get(const ecs_object* object, uint32_t index);
/// A value by name; NULL when there is none.
const ecs_element* ecs_object_find_element(const ecs_object* object, const char* name);
/// The same in memory form; NULL also when the type is another.
const void* ecs_object_find(const ecs_object* object, const char* name, ecs_element_type type);
/// A nested container for changing, as of arrays.
void* ecs_object_find_mut(ecs_object* object, const char* name, ecs_element_type type);
/// Set or replace a value, its type too. Names are 1 to ECS_CONTAINER_NAME_BYTES_MAX - 1 bytes.
/// @return ECS_OK; ECS_ERR_TYPE (not a type of values inside); ECS_ERR_FULL (a limit, an empty
///         name); ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_object_set(const base_allocator* allocator, ecs_object* object,
                                        const char* name, ecs_element_type type, const void* value);
BASE_MUST_USE ecs_result ecs_object_set_text(const base_allocator* allocator, ecs_object* object,
                                             const char* name, const char* text, uint32_t size);
/// @return ECS_OK; ECS_ERR_MISSING.
BASE_MUST_USE ecs_result ecs_object_remove(const base_allocator* allocator, ecs_object* object,
                                           const char* name);
void ecs_object_clear(const base_allocator* allocator, ecs_object* object);
void ecs_object_deinit(const base_allocator* allocator, ecs_object* object);
