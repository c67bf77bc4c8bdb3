// SPDX-License-Identifier: MIT
// The public functions of list<T>. Elements are packed, so a list of p2 is an array of ecs_vec2.
#include "type/container.h"

#include "base/assert.h"

#include <string.h>

static const ecs_container_body* body_of(const ecs_list* list) {
    return list->own.body;
}

// Get the body for writing; it is created with the type of the list.
static ecs_container_body* open_list(const base_allocator* allocator, ecs_list* list) {
    return ecs_container_open(allocator, &list->own, (ecs_element_type)list->own.type);
}

void ecs_list_init(ecs_list* list, ecs_element_type element) {
    BASE_ASSERT(element > ECS_ELEMENT_NONE && element < ECS_ELEMENT_LIST);
    *list = (ecs_list){{.type = ecs_element_list_of(element)}};
}

uint64_t ecs_list_version(const ecs_list* list) {
    return body_of(list) ? body_of(list)->version : 0;
}

ecs_element_type ecs_list_element(const ecs_list* list) {
    return (ecs_element_type)(list->own.type - ECS_ELEMENT_LIST);
}

uint32_t ecs_list_count(const ecs_list* list) {
    return body_of(list) ? body_of(list)->count : 0;
}

const void* ecs_list_data(const ecs_list* list) {
    return ecs_list_count(list) ? body_of(list)->items : NULL;
}

void* ecs_list_data_mut(ecs_list* list) {
    BASE_ASSERT(ecs_list_element(list) != ECS_ELEMENT_T);
    if (ecs_list_count(list) == 0) return NULL;
    ecs_container_touch(list->own.body, 0);
    return list->own.body->items;
}

const void* ecs_list_get(const ecs_list* list, uint32_t index) {
    BASE_ASSERT(index < ecs_list_count(list));
    return ecs_container_item(body_of(list), index);
}

ecs_result ecs_list_set(const base_allocator* allocator, ecs_list* list, uint32_t index,
                        const void* value) {
    if (index >= ecs_list_count(list)) return ECS_ERR_MISSING;
    return ecs_container_replace(allocator, list->own.body, index, ecs_list_element(list), value);
}

ecs_result ecs_list_insert(const base_allocator* allocator, ecs_list* list, uint32_t index,
                           const void* value) {
    if (index > ecs_list_count(list)) return ECS_ERR_MISSING;
    ecs_container_body* body = open_list(allocator, list);
    if (!body) return ECS_ERR_MEMORY;
    return ecs_container_insert(allocator, body, index, NULL, ecs_list_element(list), value);
}

ecs_result ecs_list_push(const base_allocator* allocator, ecs_list* list, const void* value) {
    return ecs_list_insert(allocator, list, ecs_list_count(list), value);
}

ecs_result ecs_list_push_text(const base_allocator* allocator, ecs_list* list, const char* text,
                              uint32_t size) {
    ecs_string string = ecs_element_text(text, size);
    return ecs_list_push(allocator, list, &string);
}

ecs_result ecs_list_resize(const base_allocator* allocator, ecs_list* list, uint32_t count) {
    uint32_t old = ecs_list_count(list);
    if (count == old) return ECS_OK;
    ecs_container_body* body = open_list(allocator, list);
    if (!body) return ECS_ERR_MEMORY;
    ecs_element_type element = ecs_list_element(list);
    if (count < old) {
        int64_t weight = 0;
        for (uint32_t i = count; i < old; i++) {
            weight += ecs_element_weight(element, ecs_container_item(body, i));
            ecs_element_unmake(allocator, element, ecs_container_item(body, i));
        }
        body->count = count;
        ecs_container_touch(body, -weight);
        return ECS_OK;
    }
    static const ecs_string empty = {0};
    size_t size = ecs_element_bytes(element);
    int64_t each = element == ECS_ELEMENT_T ? ecs_element_weight(element, &empty) : (int64_t)size;
    if (!ecs_container_fits(body, 0, each * (count - old))) return ECS_ERR_FULL;
    ecs_result result = ecs_container_reserve(allocator, body, count);
    if (result != ECS_OK) return result;
    memset(ecs_container_item(body, old), 0, size * (count - old));
    body->count = count;
    ecs_container_touch(body, each * (count - old));
    return ECS_OK;
}

ecs_result ecs_list_remove(const base_allocator* allocator, ecs_list* list, uint32_t index) {
    if (index >= ecs_list_count(list)) return ECS_ERR_MISSING;
    ecs_container_remove(allocator, list->own.body, index);
    return ECS_OK;
}

void ecs_list_clear(const base_allocator* allocator, ecs_list* list) {
    ecs_container_clear(allocator, list->own.body);
}

void ecs_list_deinit(const base_allocator* allocator, ecs_list* list) {
    BASE_ASSERT(!list->own.body || !list->own.body->parent);
    ecs_container_body_destroy(allocator, list->own.body);
    list->own.body = NULL;
}
