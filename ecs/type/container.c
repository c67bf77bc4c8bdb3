// SPDX-License-Identifier: MIT
// Bodies of containers: create, destroy, copy, compare.
//
// Lists, arrays and objects differ in the stride of their items and in where an item keeps its type
// and value. Everything else is one walk over items. Elements that are no containers go through the
// functions that components use (value.c, field.c).
//
// Recursion is as deep as containers are nested, at most ECS_CONTAINER_DEPTH_MAX: every way to make
// one checks that.
//
// Invariants: `bytes` is the sum of the weights of all items. The body of a nested container is
// never NULL, and its parent is the body it lies in. Names rise strictly.
#include "type/container.h"

#include "base/assert.h"

#include <string.h>

static size_t stride_of(ecs_element_type type) {
    if (type == ECS_ELEMENT_ARRAY) return sizeof(ecs_element);
    if (type == ECS_ELEMENT_OBJECT) return sizeof(ecs_named_element);
    return ecs_element_bytes((ecs_element_type)(type - ECS_ELEMENT_LIST));
}

ecs_element_type ecs_container_item_type(const ecs_container_body* body, uint32_t index) {
    if (body->type == ECS_ELEMENT_ARRAY) return ((const ecs_element*)body->items)[index].type;
    if (body->type == ECS_ELEMENT_OBJECT) return ecs_container_named_item(body, index)->child.type;
    return (ecs_element_type)(body->type - ECS_ELEMENT_LIST);
}

void* ecs_container_item(const ecs_container_body* body, uint32_t index) {
    if (body->type == ECS_ELEMENT_ARRAY) return &((ecs_element*)body->items)[index].as;
    if (body->type == ECS_ELEMENT_OBJECT) return &((ecs_named_element*)body->items)[index].child.as;
    return (uint8_t*)body->items + stride_of(body->type) * index;
}

static bool owns_memory(ecs_element_type type) {
    return type == ECS_ELEMENT_T || ecs_element_is_container(type);
}

// Is it a list of elements without memory of their own? Then memcpy and memcmp work on its items.
static bool is_plain_list(ecs_element_type type) {
    return ecs_element_is_list(type) && !owns_memory((ecs_element_type)(type - ECS_ELEMENT_LIST));
}

ecs_container_body* ecs_container_body_create(const base_allocator* allocator,
                                              ecs_element_type type) {
    BASE_ASSERT(ecs_element_is_container(type));
    ecs_container_body* body = base_allocate_zero(allocator, sizeof *body);
    if (body) body->type = type;
    return body;
}

void ecs_element_unmake(const base_allocator* allocator, ecs_element_type type, void* value) {
    BASE_ASSERT(ecs_element_is_type(type));
    if (ecs_element_is_container(type)) {
        ecs_container_body_destroy(allocator, ecs_container_body_of(value));
    } else if (type == ECS_ELEMENT_T) {
        ecs_type_context context = {allocator};
        ecs_string_ops.destroy(&context, value);
    }
}

static void destroy_items(const base_allocator* allocator, ecs_container_body* body) {
    for (uint32_t i = 0; i < body->count && !is_plain_list(body->type); i++) {
        ecs_element_unmake(allocator, ecs_container_item_type(body, i),
                           ecs_container_item(body, i));
        if (body->type == ECS_ELEMENT_OBJECT) {
            const ecs_named_element* member = ecs_container_named_item(body, i);
            base_release(allocator, member->name, (size_t)member->name_bytes + 1);
        }
    }
}

void ecs_container_body_destroy(const base_allocator* allocator, ecs_container_body* body) {
    if (!body) return;
    destroy_items(allocator, body);
    base_release(allocator, body->items, body->capacity * stride_of(body->type));
    base_release(allocator, body, sizeof *body);
}

ecs_result ecs_container_reserve(const base_allocator* allocator, ecs_container_body* body,
                                 uint32_t count) {
    if (count > ECS_CONTAINER_COUNT_MAX) return ECS_ERR_FULL;
    if (count == 0) return ECS_OK;
    return base_array_reserve(allocator, &body->items, &body->capacity, count,
                              stride_of(body->type))
               ? ECS_OK
               : ECS_ERR_MEMORY;
}

ecs_result ecs_element_make(const base_allocator* allocator, ecs_element_type type, void* value,
                            const void* source) {
    BASE_ASSERT(ecs_element_is_type(type));
    if (ecs_element_is_container(type)) {
        const ecs_container_body* from = source ? ecs_container_body_of(source) : NULL;
        BASE_ASSERT(!from || from->type == type);
        ecs_container made = {.body = from ? ecs_container_body_copy(allocator, from)
                                           : ecs_container_body_create(allocator, type),
                              .type = type};
        memcpy(value, &made, sizeof made);
        return made.body ? ECS_OK : ECS_ERR_MEMORY;
    }
    const ecs_type* info = ecs_scalar_type((ecs_type_id)type);
    if (!source) {
        memset(value, 0, info->size);
        return ECS_OK;
    }
    if (type == ECS_ELEMENT_T && ((const ecs_string*)source)->size > ECS_STRING_BYTES_MAX)
        return ECS_ERR_FULL;
    ecs_type_context context = {allocator};
    return ecs_value_copy(info, &context, value, source) ? ECS_OK : ECS_ERR_MEMORY;
}

// Copy item `index`. The copy has room for it, and its count is `index`.
static bool copy_item(const base_allocator* allocator, ecs_container_body* copy,
                      const ecs_container_body* body, uint32_t index) {
    BASE_ASSERT(copy->count == index && index < copy->capacity);
    char* name = NULL;
    if (body->type == ECS_ELEMENT_OBJECT) {
        const ecs_named_element* from = ecs_container_named_item(body, index);
        name = base_allocate(allocator, (size_t)from->name_bytes + 1);
        if (!name) return false;
        memcpy(name, from->name, (size_t)from->name_bytes + 1);
    }
    ecs_element_type type = ecs_container_item_type(body, index);
    void* value = ecs_container_item(copy, index);
    if (ecs_element_make(allocator, type, value, ecs_container_item(body, index)) != ECS_OK) {
        if (name)
            base_release(allocator, name, ecs_container_named_item(body, index)->name_bytes + 1u);
        return false;
    }
    if (ecs_element_is_container(type)) ecs_container_body_of(value)->parent = copy;
    if (body->type == ECS_ELEMENT_ARRAY) {
        ((ecs_element*)copy->items)[index].type = type;
    } else if (body->type == ECS_ELEMENT_OBJECT) {
        ecs_named_element* member = &((ecs_named_element*)copy->items)[index];
        member->child.type = type;
        member->name = name;
        member->name_bytes = ecs_container_named_item(body, index)->name_bytes;
    }
    return true;
}

ecs_container_body* ecs_container_body_copy(const base_allocator* allocator,
                                            const ecs_container_body* body) {
    ecs_container_body* copy = ecs_container_body_create(allocator, body->type);
    if (!copy) return NULL;
    bool is_copied = ecs_container_reserve(allocator, copy, body->count) == ECS_OK;
    if (is_copied && is_plain_list(body->type)) {
        if (body->count) memcpy(copy->items, body->items, body->count * stride_of(body->type));
        copy->count = body->count;
    }
    while (is_copied && copy->count < body->count) {
        is_copied = copy_item(allocator, copy, body, copy->count);
        copy->count += is_copied;
    }
    if (!is_copied) {
        ecs_container_body_destroy(allocator, copy);
        return NULL;
    }
    copy->bytes = body->bytes;
    copy->version = body->version;
    return copy;
}

static bool item_equal(const ecs_container_body* a, const ecs_container_body* b, uint32_t index) {
    ecs_element_type type = ecs_container_item_type(a, index);
    if (type != ecs_container_item_type(b, index)) return false;
    if (a->type == ECS_ELEMENT_OBJECT && strcmp(ecs_container_named_item(a, index)->name,
                                                ecs_container_named_item(b, index)->name) != 0)
        return false;
    const void* left = ecs_container_item(a, index);
    const void* right = ecs_container_item(b, index);
    if (ecs_element_is_container(type))
        return ecs_container_body_equal(ecs_container_body_of(left), ecs_container_body_of(right));
    return ecs_type_equal(ecs_scalar_type((ecs_type_id)type), left, right);
}

bool ecs_container_body_equal(const ecs_container_body* a, const ecs_container_body* b) {
    uint32_t count = a ? a->count : 0;
    if (count != (b ? b->count : 0)) return false;
    if (count == 0) return !a || !b || a->type == b->type;
    if (a->type != b->type || a->bytes != b->bytes) return false;
    if (is_plain_list(a->type) && memcmp(a->items, b->items, count * stride_of(a->type)) == 0)
        return true;
    for (uint32_t i = 0; i < count; i++)
        if (!item_equal(a, b, i)) return false;
    return true;
}

uint32_t ecs_container_height(const ecs_container_body* body) {
    BASE_ASSERT(body);
    uint32_t inside = 0;
    for (uint32_t i = 0; i < body->count && !ecs_element_is_list(body->type); i++) {
        if (!ecs_element_is_container(ecs_container_item_type(body, i))) continue;
        uint32_t height = ecs_container_height(ecs_container_body_of(ecs_container_item(body, i)));
        if (height > inside) inside = height;
    }
    return inside + 1;
}

uint32_t ecs_element_weight(ecs_element_type type, const void* value) {
    if (ecs_element_is_container(type)) {
        const ecs_container_body* body = ecs_container_body_of(value);
        return body ? body->bytes : 0;
    }
    if (type == ECS_ELEMENT_T) return ((const ecs_string*)value)->size;
    return ecs_element_bytes((ecs_element_type)type);
}

void ecs_container_touch(ecs_container_body* body, int64_t weight) {
    for (; body; body = body->parent) {
        body->version++;
        body->bytes = (uint32_t)(body->bytes + weight);
    }
}

void ecs_container_map_entities(ecs_container_body* body,
                                ecs_entity (*map)(const void* context, ecs_entity entity),
                                const void* context) {
    for (uint32_t i = 0; body && i < body->count; i++) {
        ecs_element_type type = ecs_container_item_type(body, i);
        void* item = ecs_container_item(body, i);
        if (ecs_element_is_container(type)) {
            ecs_container_map_entities(ecs_container_body_of(item), map, context);
        } else if (type == ECS_ELEMENT_EID) {
            ecs_entity* entity = item;
            ecs_entity mapped = map(context, *entity);
            if (mapped == *entity) continue;
            *entity = mapped;
            ecs_container_touch(body, 0);
        } else if (ecs_element_is_list(body->type)) {
            return; // a list of another type holds no handles
        }
    }
}
