// SPDX-License-Identifier: MIT
/// Containers: values that hold elements. list<T>, array and object, also nested.
///
/// Shape: a list holds elements of one type, packed as C sees them (value.h). An array holds
/// elements that each have a type of their own. An object holds such elements under names, in the
/// order of strcmp, each name once. Arrays and objects may hold lists, arrays and objects again.
///
/// Values are passed in the memory form of their type: `const int32_t*` for i, `const ecs_vec2*`
/// for p2, `const ecs_string*` for t, `const ecs_list*`, `const ecs_array*`, `const ecs_object*`.
/// The value is copied; it may lie inside the same container. NULL means zero or empty.
///
/// Memory: `allocator` is the one that the container was first written with; for components it is
/// ecs_world_allocator(world). A pointer to an element is borrowed until the next change of its
/// container, at the latest until the next structural change or step of the world.
///
/// Versions: every change raises the version of the container and of all containers around it.
/// Tracking compares versions first and reads the elements only when they differ. So elements are
/// changed through these functions only. To change a nested container, get it with find_mut.
///
/// Limits, each an ECS_ERR_FULL: ECS_CONTAINER_COUNT_MAX elements directly in a container,
/// ECS_CONTAINER_DEPTH_MAX containers inside one another, ECS_CONTAINER_NAME_BYTES_MAX for a name,
/// and ECS_CONTAINER_BYTES_MAX for everything inside the outermost container: a number counts its
/// size, a text or name its length, each element of an array or object one byte more. A text that
/// no value may be (ecs_string_is_valid) is an ECS_ERR_TEXT.
///
/// After every error code the container is unchanged.
#pragma once

#include "ecs/entity.h"
#include "ecs/limits.h"
#include "ecs/result.h"
#include "ecs/value.h"

BASE_C_BEGIN

/// Types of elements. The numbers are the ids of the same types in every world (ecs_type_find).
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

/// An element of an array or object. Read it; change it through its container only.
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

/// Make an empty list that is no component (the world makes those). Arrays and objects begin as
/// {0}. `element` is ECS_ELEMENT_B to ECS_ELEMENT_EID (asserted).
void ecs_list_init(ecs_list* list, ecs_element_type element);
/// The type of its elements, and their count.
ecs_element_type ecs_list_element(const ecs_list* list);
uint32_t ecs_list_count(const ecs_list* list);
/// Get one element, borrowed; `index` is below the count (asserted). The elements after it follow,
/// as an array of the element's C type.
const void* ecs_list_get(const ecs_list* list, uint32_t index);
/// Replace one element. @return ECS_OK; ECS_ERR_MISSING (`index` is not below the count);
/// ECS_ERR_FULL (all texts are too long).
BASE_MUST_USE ecs_result ecs_list_set(const base_allocator* allocator, ecs_list* list,
                                      uint32_t index, const void* value);
/// Insert an element before `index`; with the count as index, after the last.
/// @return ECS_OK; ECS_ERR_MISSING (`index` is above the count); ECS_ERR_FULL (a limit above).
BASE_MUST_USE ecs_result ecs_list_insert(const base_allocator* allocator, ecs_list* list,
                                         uint32_t index, const void* value);
/// Append one element; push_text appends `size` bytes of text to a list of t.
/// @return ECS_OK; ECS_ERR_FULL (a limit above).
BASE_MUST_USE ecs_result ecs_list_push(const base_allocator* allocator, ecs_list* list,
                                       const void* value);
BASE_MUST_USE ecs_result ecs_list_push_text(const base_allocator* allocator, ecs_list* list,
                                            const char* text, uint32_t size);
/// Remove one element; the others keep their order. @return ECS_OK; ECS_ERR_MISSING (`index` is not
/// below the count).
BASE_MUST_USE ecs_result ecs_list_remove(const base_allocator* allocator, ecs_list* list,
                                         uint32_t index);
/// Remove all elements, keep the memory.
void ecs_list_clear(const base_allocator* allocator, ecs_list* list);
/// Give all memory back. For lists that are no components (the world frees those).
void ecs_list_deinit(const base_allocator* allocator, ecs_list* list);

/// How many elements it has.
uint32_t ecs_array_count(const ecs_array* array);
/// Get one element, borrowed; `index` is below the count (asserted).
const ecs_element* ecs_array_get(const ecs_array* array, uint32_t index);
/// Find the value of one element, in memory form, borrowed. @return NULL when `index` is not below
/// the count or the element has another type.
const void* ecs_array_find(const ecs_array* array, uint32_t index, ecs_element_type type);
/// Find a nested container to change it: ecs_list*, ecs_array* or ecs_object*. `type` is a
/// container type (asserted); other elements are changed by set. @return NULL when `index` is
/// not below the count or the element has another type.
void* ecs_array_find_mut(ecs_array* array, uint32_t index, ecs_element_type type);
/// Replace, insert, append or remove one element, as the functions of lists do. push_text appends a
/// text.
/// @return ECS_OK; ECS_ERR_MISSING (`index` is not below the count; for insert, above it);
///         ECS_ERR_TYPE (`type` is no type of elements); ECS_ERR_FULL (a limit above).
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
/// Remove all elements, or give all memory back, as for lists.
void ecs_array_clear(const base_allocator* allocator, ecs_array* array);
void ecs_array_deinit(const base_allocator* allocator, ecs_array* array);

/// How many elements it has.
uint32_t ecs_object_count(const ecs_object* object);
/// Get the name or the element at an index, borrowed; elements are in the order of their names
/// (strcmp). `index` is below the count (asserted).
const char* ecs_object_name(const ecs_object* object, uint32_t index);
const ecs_element* ecs_object_get(const ecs_object* object, uint32_t index);
/// Find an element by name, borrowed. @return NULL when there is none.
const ecs_element* ecs_object_find_element(const ecs_object* object, const char* name);
/// Find the value of an element, in memory form, borrowed. @return NULL when there is no such name
/// or the element has another type.
const void* ecs_object_find(const ecs_object* object, const char* name, ecs_element_type type);
/// Find a nested container to change it, as ecs_array_find_mut.
void* ecs_object_find_mut(ecs_object* object, const char* name, ecs_element_type type);
/// Add an element, or replace the one of this name and its type. set_text does so with a text. A
/// name has 1 to ECS_CONTAINER_NAME_BYTES_MAX - 1 bytes.
/// @return ECS_OK; ECS_ERR_TYPE (`type` is no type of elements); ECS_ERR_FULL (a limit above, or an
///         empty name).
BASE_MUST_USE ecs_result ecs_object_set(const base_allocator* allocator, ecs_object* object,
                                        const char* name, ecs_element_type type, const void* value);
BASE_MUST_USE ecs_result ecs_object_set_text(const base_allocator* allocator, ecs_object* object,
                                             const char* name, const char* text, uint32_t size);
/// Remove an element by name. @return ECS_OK; ECS_ERR_MISSING (no such name).
BASE_MUST_USE ecs_result ecs_object_remove(const base_allocator* allocator, ecs_object* object,
                                           const char* name);
/// Remove all elements, or give all memory back, as for lists.
void ecs_object_clear(const base_allocator* allocator, ecs_object* object);
void ecs_object_deinit(const base_allocator* allocator, ecs_object* object);

BASE_C_END
