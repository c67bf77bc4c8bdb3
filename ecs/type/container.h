// SPDX-License-Identifier: MIT
/// Private: bodies of lists, arrays and objects, and the operations that all three share.
///
/// A container in a column, inside another container or on a caller's stack is a pointer to its
/// body. Bodies never move. So a body can point at its parent, and a change raises the versions of
/// all bodies around it.
#pragma once

#include "ecs/container.h"
#include "type/type_registry.h"

#include "base/hash.h"

typedef struct ecs_container_body ecs_container_body;
struct ecs_container_body {
    ecs_container_body* parent; ///< the body around it; NULL: a component, or a caller's own value
    void* items;                ///< elements, ecs_element or ecs_named_element
    uint64_t version;
    uint32_t count, capacity;
    uint32_t bytes;        ///< weight of all items, nested ones included
    ecs_element_type type; ///< a list type, ECS_ELEMENT_ARRAY or ECS_ELEMENT_OBJECT
};

typedef struct ecs_named_element {
    char* name;          ///< owned, NUL-terminated
    uint32_t name_bytes; ///< without the NUL
    ecs_element child;
} ecs_named_element;

static inline bool ecs_element_is_container(ecs_element_type type) {
    return type > ECS_ELEMENT_LIST && type < ECS_ELEMENT_TYPE_END;
}
/// A type that an array or object may hold.
static inline bool ecs_element_is_type(uint32_t type) {
    return (type > ECS_ELEMENT_NONE && type < ECS_ELEMENT_LIST) ||
           (type > ECS_ELEMENT_LIST && type < ECS_ELEMENT_TYPE_END);
}
static inline bool ecs_element_is_list(ecs_element_type type) {
    return type > ECS_ELEMENT_LIST && type < ECS_ELEMENT_ARRAY;
}

/// Bytes of one element of this type, in a list or as an item's value.
static inline uint32_t ecs_element_bytes(ecs_element_type type) {
    return ecs_element_is_container(type) ? (uint32_t)sizeof(ecs_container)
                                          : ecs_scalar_type((ecs_type_id)type)->size;
}

/// The type and the value of the item at `index`, for every kind of container.
ecs_element_type ecs_container_item_type(const ecs_container_body* body, uint32_t index);
void* ecs_container_item(const ecs_container_body* body, uint32_t index);
static inline const ecs_named_element* ecs_container_named_item(const ecs_container_body* body,
                                                                uint32_t index) {
    return &((const ecs_named_element*)body->items)[index];
}
static inline ecs_container_body* ecs_container_body_of(const void* container) {
    return ((const ecs_container*)container)->body;
}

/// A value of type t that borrows `text`, to copy from.
static inline ecs_string ecs_element_text(const char* text, uint32_t size) {
    return (ecs_string){.data = (char*)(uintptr_t)text, .size = size};
}

// Whole values. `type` is the container's.

/// Destroy a body and everything in it. NULL is accepted.
void ecs_container_body_destroy(const base_allocator* allocator, ecs_container_body* body);
/// Copy a body: the copy has the same version and no parent.
ecs_container_body* ecs_container_body_copy(const base_allocator* allocator,
                                            const ecs_container_body* body);
/// Do both have the same type and the same values, at full precision? NULL is an empty container.
bool ecs_container_body_equal(const ecs_container_body* a, const ecs_container_body* b);
/// How deep containers are nested in it, itself included.
uint32_t ecs_container_height(const ecs_container_body* body);
/// The weight of a value: what it counts for ECS_CONTAINER_BYTES_MAX.
uint32_t ecs_element_weight(ecs_element_type type, const void* value);
void ecs_element_unmake(const base_allocator* allocator, ecs_element_type type, void* value);
/// Replace every handle in it, nested ones included, by the result of `map`.
void ecs_container_map_entities(ecs_container_body* body,
                                ecs_entity (*map)(const void* context, ecs_entity entity),
                                const void* context);

// One item at a time.

/// Get the body, and create it when there is none.
ecs_container_body* ecs_container_open(const base_allocator* allocator, ecs_container* container,
                                       ecs_element_type type);
/// Insert a copy of `value` before `index`. `name` is for objects only and is copied. @return
/// ECS_OK; ECS_ERR_TYPE; ECS_ERR_FULL; ECS_ERR_TEXT.
BASE_MUST_USE ecs_result ecs_container_insert(const base_allocator* allocator,
                                              ecs_container_body* body, uint32_t index,
                                              const char* name, ecs_element_type type,
                                              const void* value);
BASE_MUST_USE ecs_result ecs_container_replace(const base_allocator* allocator,
                                               ecs_container_body* body, uint32_t index,
                                               ecs_element_type type, const void* value);
void ecs_container_remove(const base_allocator* allocator, ecs_container_body* body,
                          uint32_t index);
void ecs_container_clear(const base_allocator* allocator, ecs_container_body* body);
/// Find the index of a name, or the index where it would be inserted. @return true when the name is
/// there.
bool ecs_container_seek(const ecs_container_body* body, const char* name, uint32_t* index);

// Canonical bytes.
//
//   list    varint count, elements
//   array   varint count, then each: u8 type, value
//   object  varint count, then each: varint name bytes, name, u8 type, value; names rise strictly
//
// Values are written as their types write them (value.c); types are the numbers of
// ecs_element_type.

void ecs_container_write(const ecs_container_body* body, base_bytes* bytes);
/// Hash these bytes in pieces, without memory for all of them.
uint64_t ecs_container_hash(const ecs_container_body* body, uint64_t seed);
/// Read a body. The bytes may be foreign. @return NULL: damaged or beyond a limit (reader->failed
/// is set).
ecs_container_body* ecs_container_read(const base_allocator* allocator, ecs_element_type type,
                                       base_reader* reader);
