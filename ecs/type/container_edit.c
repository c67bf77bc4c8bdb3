// SPDX-License-Identifier: MIT
// Changing a container: insert, replace or remove one item.
//
// Everything that may fail is done first, outside of the container: copy the value, copy the name,
// make room. The steps after that cannot fail. The value is copied before room is made, since it
// may lie inside the container that grows, or be that container.
#include "type/container.h"

#include "base/assert.h"
#include "base/search.h"

#include <string.h>

ecs_container_body* ecs_container_open(const base_allocator* allocator, ecs_container* container,
                                       ecs_element_type type) {
    BASE_ASSERT(ecs_element_is_container(type) && "a list starts with ecs_list_init");
    if (!container->body) {
        container->body = ecs_container_body_create(allocator, type);
        container->type = type;
    }
    BASE_ASSERT(!container->body || container->body->type == type);
    return container->body;
}

bool ecs_container_fits(const ecs_container_body* body, uint32_t height, int64_t weight) {
    uint32_t depth = height;
    const ecs_container_body* root = body;
    for (const ecs_container_body* at = body; at; at = at->parent) {
        root = at;
        depth++;
    }
    return depth <= ECS_CONTAINER_DEPTH_MAX && root->bytes + weight <= ECS_CONTAINER_BYTES_MAX;
}

// The weight of an item without its value.
static uint32_t item_weight(ecs_element_type container, uint32_t name_bytes) {
    return ecs_element_is_list(container) ? 0 : 1 + name_bytes;
}

// Make a copy of `value` that may replace an item of weight `old_weight`.
static ecs_result make_fitting(const base_allocator* allocator, const ecs_container_body* body,
                               ecs_element_type type, const void* value, int64_t old_weight,
                               ecs_element* made) {
    if (!ecs_element_is_type(type)) return ECS_ERR_TYPE;
    BASE_ASSERT(!ecs_element_is_list(body->type) || body->type == ecs_element_list_of(type));
    ecs_result result = ecs_element_make(allocator, type, &made->as, value);
    if (result != ECS_OK) return result;
    made->type = type;
    const ecs_container_body* inner =
        ecs_element_is_container(type) ? ecs_container_body_of(&made->as) : NULL;
    uint32_t height = inner ? ecs_container_height(inner) : 0;
    if (ecs_container_fits(body, height, (int64_t)ecs_element_weight(type, &made->as) - old_weight))
        return ECS_OK;
    ecs_element_unmake(allocator, type, &made->as);
    return ECS_ERR_FULL;
}

// Move a created value to its item.
static void settle(ecs_container_body* body, uint32_t index, const ecs_element* made) {
    BASE_ASSERT(index < body->capacity);
    if (body->type == ECS_ELEMENT_ARRAY)
        ((ecs_element*)body->items)[index].type = made->type;
    else if (body->type == ECS_ELEMENT_OBJECT)
        ((ecs_named_element*)body->items)[index].child.type = made->type;
    void* item = ecs_container_item(body, index);
    memcpy(item, &made->as, ecs_element_bytes(made->type));
    if (ecs_element_is_container(made->type)) ecs_container_body_of(item)->parent = body;
}

// Move the items from `index` on by one place, up or down.
static void shift(ecs_container_body* body, uint32_t index, int direction) {
    size_t stride = body->type == ECS_ELEMENT_ARRAY ? sizeof(ecs_element)
                    : body->type == ECS_ELEMENT_OBJECT
                        ? sizeof(ecs_named_element)
                        : ecs_element_bytes((ecs_element_type)(body->type - ECS_ELEMENT_LIST));
    uint8_t* at = (uint8_t*)body->items + stride * index;
    if (direction > 0)
        memmove(at + stride, at, stride * (body->count - index));
    else
        memmove(at, at + stride, stride * (body->count - index - 1));
}

ecs_result ecs_container_insert(const base_allocator* allocator, ecs_container_body* body,
                                uint32_t index, const char* name, ecs_element_type type,
                                const void* value) {
    BASE_ASSERT(index <= body->count && (name != NULL) == (body->type == ECS_ELEMENT_OBJECT));
    size_t name_bytes = name ? strlen(name) : 0;
    if (name && (name_bytes == 0 || name_bytes >= ECS_CONTAINER_NAME_BYTES_MAX))
        return ECS_ERR_FULL;
    uint32_t own = item_weight(body->type, (uint32_t)name_bytes);
    ecs_element made;
    ecs_result result = make_fitting(allocator, body, type, value, -(int64_t)own, &made);
    if (result != ECS_OK) return result;
    char* copy = name ? base_allocate(allocator, name_bytes + 1) : NULL;
    result = name && !copy ? ECS_ERR_MEMORY : ECS_OK;
    // Copied before the items move: the name may lie in one of them.
    if (copy) memcpy(copy, name, name_bytes + 1);
    if (result == ECS_OK) result = ecs_container_reserve(allocator, body, body->count + 1);
    if (result != ECS_OK) {
        if (copy) base_release(allocator, copy, name_bytes + 1);
        ecs_element_unmake(allocator, type, &made.as);
        return result;
    }
    shift(body, index, 1);
    body->count++;
    if (copy) {
        ecs_named_element* member = &((ecs_named_element*)body->items)[index];
        member->name = copy;
        member->name_bytes = (uint32_t)name_bytes;
    }
    settle(body, index, &made);
    ecs_container_touch(body, (int64_t)ecs_element_weight(type, &made.as) + own);
    return ECS_OK;
}

ecs_result ecs_container_replace(const base_allocator* allocator, ecs_container_body* body,
                                 uint32_t index, ecs_element_type type, const void* value) {
    BASE_ASSERT(body && index < body->count);
    BASE_ASSERT(index < body->count);
    ecs_element_type old_type = ecs_container_item_type(body, index);
    void* item = ecs_container_item(body, index);
    int64_t old_weight = ecs_element_weight(old_type, item);
    ecs_element made;
    ecs_result result = make_fitting(allocator, body, type, value, old_weight, &made);
    if (result != ECS_OK) return result;
    ecs_element_unmake(allocator, old_type, item);
    settle(body, index, &made);
    ecs_container_touch(body, (int64_t)ecs_element_weight(type, &made.as) - old_weight);
    return ECS_OK;
}

void ecs_container_remove(const base_allocator* allocator, ecs_container_body* body,
                          uint32_t index) {
    BASE_ASSERT(body && index < body->count);
    BASE_ASSERT(index < body->count);
    ecs_element_type type = ecs_container_item_type(body, index);
    void* item = ecs_container_item(body, index);
    uint32_t name_bytes =
        body->type == ECS_ELEMENT_OBJECT ? ecs_container_named_item(body, index)->name_bytes : 0;
    int64_t weight = (int64_t)ecs_element_weight(type, item) + item_weight(body->type, name_bytes);
    ecs_element_unmake(allocator, type, item);
    if (body->type == ECS_ELEMENT_OBJECT)
        base_release(allocator, ecs_container_named_item(body, index)->name,
                     (size_t)name_bytes + 1);
    shift(body, index, -1);
    body->count--;
    ecs_container_touch(body, -weight);
}

void ecs_container_clear(const base_allocator* allocator, ecs_container_body* body) {
    if (!body || body->count == 0) return;
    int64_t weight = body->bytes;
    for (uint32_t i = 0; i < body->count; i++) {
        ecs_element_unmake(allocator, ecs_container_item_type(body, i),
                           ecs_container_item(body, i));
        if (body->type == ECS_ELEMENT_OBJECT)
            base_release(allocator, ecs_container_named_item(body, i)->name,
                         (size_t)ecs_container_named_item(body, i)->name_bytes + 1);
    }
    body->count = 0;
    ecs_container_touch(body, -weight);
}

bool ecs_container_seek(const ecs_container_body* body, const char* name, uint32_t* index) {
    BASE_ASSERT(name && index);
    base_search search = base_search_begin(body ? body->count : 0);
    while (base_search_next(&search)) {
        const char* middle = ecs_container_named_item(body, search.middle)->name;
        base_search_step(&search, strcmp(middle, name) < 0);
    }
    *index = search.low;
    return body && search.low < body->count &&
           strcmp(ecs_container_named_item(body, search.low)->name, name) == 0;
}
