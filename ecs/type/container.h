// SPDX-License-Identifier: MIT
/// Private: bodies of lists, arrays and objects, and the operations that all three share.
///
/// A container in a column, in a list of children or on somebody's stack is a pointer to its body. Bodies
/// never move, so a body knows the one it lies in, and a change is told to all around it.
#pragma once

#include "ecs/container.h"
#include "type/type_registry.h"

#include "base/hash.h"

typedef struct ecs_container_body ecs_container_body;
struct ecs_container_body {
    ecs_container_body*
        parent;  ///< the container it lies in; NULL: a component's, or somebody's own
    void* items; ///< elements, ecs_element or ecs_named_element
    uint64_t version;
    uint32_t count, capacity;
    uint32_t bytes;        ///< weight of all inside, nested ones too
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

/// Type and value of the item at `index`, whatever the container.
ecs_element_type ecs_container_item_type(const ecs_container_body* body, uint32_t index);
void* ecs_container_item(const ecs_container_body* body, uint32_t index);
static inline const ecs_named_element* ecs_container_named_item(const ecs_container_body* body,
                                                                uint32_t index) {
    return &((const ecs_named_element*)body->items)[index];
}
static inline ecs_container_body* ecs_container_body_of(const void* container) {
    return ((const ecs_container*)container)->body;
}

/// Text to copy from, as a value of type t.
static inline ecs_string ecs_element_text(const char* text, uint32_t size) {
    return (ecs_string){.data = (char*)(uintptr_t)text, .size = size};
}

// child.c: whole values. `type` is the container's.

/// NULL when memory ran out.
ecs_container_body* ecs_container_body_create(const base_allocator* allocator,
                                              ecs_element_type type);
/// With all inside; NULL is fine.
void ecs_container_body_destroy(const base_allocator* allocator, ecs_container_body* body);
/// A copy without a parent and with the same version. NULL when memory ran out.
ecs_container_body* ecs_container_body_copy(const base_allocator* allocator,
                                            const ecs_container_body* body);
/// Same type, same values, in full precision; NULL is an empty one.
bool ecs_container_body_equal(const ecs_container_body* a, const ecs_container_body* b);
/// Containers inside one another, this one counts.
uint32_t ecs_container_height(const ecs_container_body* body);
/// What a value counts for ECS_CONTAINER_BYTES_MAX.
uint32_t ecs_element_weight(ecs_element_type type, const void* value);
/// Make uncreated memory a copy of `source` (NULL: zero), with a body if it is a container.
/// @return ECS_OK; ECS_ERR_FULL (text too long); ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_element_make(const base_allocator* allocator, ecs_element_type type,
                                          void* value, const void* source);
void ecs_element_unmake(const base_allocator* allocator, ecs_element_type type, void* value);
/// It changed, and what is inside became heavier by `weight`: told to all around it.
void ecs_container_touch(ecs_container_body* body, int64_t weight);
/// Replace every handle inside by what `map` says.
void ecs_container_map_entities(ecs_container_body* body,
                                ecs_entity (*map)(const void* context, ecs_entity entity),
                                const void* context);
/// Room for `count` items. @return ECS_OK; ECS_ERR_FULL; ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_container_reserve(const base_allocator* allocator,
                                               ecs_container_body* body, uint32_t count);

// child_edit.c: one item at a time.

/// The body, made when there is none. NULL when memory ran out.
ecs_container_body* ecs_container_open(const base_allocator* allocator, ecs_container* container,
                                       ecs_element_type type);
/// May something this high and heavy lie in the body?
bool ecs_container_fits(const ecs_container_body* body, uint32_t height, int64_t weight);
/// Put a copy of `value` in front of `index`; `name` (owned copy made) for objects only.
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
/// Where a name is, or where it would stand. @return true when it is there.
bool ecs_container_seek(const ecs_container_body* body, const char* name, uint32_t* index);

// child_io.c: canonical bytes.
//
//   list    varint count, elements
//   array   varint count, then each: u8 type, value
//   object  varint count, then each: varint name bytes, name, u8 type, value; names rise strictly
//
// Values are written as their types write them (field.c); types are the numbers of ecs_element_type.

void ecs_container_write(const ecs_container_body* body, base_bytes* bytes);
/// Hash of these bytes, without all of them at once.
uint64_t ecs_container_hash(const ecs_container_body* body, uint64_t seed);
/// A new body. @return NULL: damaged or beyond a limit (reader->failed), or memory ran out (it is not).
ecs_container_body* ecs_container_read(const base_allocator* allocator, ecs_element_type type,
                                       base_reader* reader);

// child_ops.c: containers as component types.
extern const ecs_type_ops ecs_element_ops[ECS_ELEMENT_TYPE_END]; ///< by type
