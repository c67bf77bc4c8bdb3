// SPDX-License-Identifier: MIT
// The public functions of list<T>. Elements are packed, so a list of p2 is an array of ecs_vec2.
#include "type/container.h"

#include "base/assert.h"

static const ecs_container_body* body_of(const ecs_list* list) {
    return list->own.body;
}

void ecs_list_init(ecs_list* list, ecs_element_type element) {
    BASE_ASSERT(element > ECS_ELEMENT_NONE && element < ECS_ELEMENT_LIST);
    *list = (ecs_list){{.type = ecs_element_list_of(element)}};
}

ecs_element_type ecs_list_element(const ecs_list* list) {
    return (ecs_element_type)(list->own.type - ECS_ELEMENT_LIST);
}

uint32_t ecs_list_count(const ecs_list* list) {
    return body_of(list) ? body_of(list)->count : 0;
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
    ecs_container_body* body =
        ecs_container_open(allocator, &list->own, (ecs_element_type)list->own.type);
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

// The public functions of arrays and objects. An array finds its elements by index, an object by
// name, with a binary search. The rest is the same.

static const void* value_of(const ecs_element* child, ecs_element_type type) {
    return child && child->type == type ? &child->as : NULL;
}

// A nested container raises the versions around it itself, so the caller may change it.
static void* container_of(const ecs_element* child, ecs_element_type type) {
    BASE_ASSERT(ecs_element_is_container(type));
    return (void*)(uintptr_t)value_of(child, type);
}

uint32_t ecs_array_count(const ecs_array* array) {
    return array->own.body ? array->own.body->count : 0;
}

const ecs_element* ecs_array_get(const ecs_array* array, uint32_t index) {
    BASE_ASSERT(index < ecs_array_count(array));
    return &((const ecs_element*)array->own.body->items)[index];
}

static const ecs_element* find_in_array(const ecs_array* array, uint32_t index) {
    return index < ecs_array_count(array) ? ecs_array_get(array, index) : NULL;
}

const void* ecs_array_find(const ecs_array* array, uint32_t index, ecs_element_type type) {
    return value_of(find_in_array(array, index), type);
}

void* ecs_array_find_mut(ecs_array* array, uint32_t index, ecs_element_type type) {
    return container_of(find_in_array(array, index), type);
}

ecs_result ecs_array_set(const base_allocator* allocator, ecs_array* array, uint32_t index,
                         ecs_element_type type, const void* value) {
    if (index >= ecs_array_count(array)) return ECS_ERR_MISSING;
    return ecs_container_replace(allocator, array->own.body, index, type, value);
}

ecs_result ecs_array_insert(const base_allocator* allocator, ecs_array* array, uint32_t index,
                            ecs_element_type type, const void* value) {
    if (index > ecs_array_count(array)) return ECS_ERR_MISSING;
    ecs_container_body* body = ecs_container_open(allocator, &array->own, ECS_ELEMENT_ARRAY);
    return ecs_container_insert(allocator, body, index, NULL, type, value);
}

ecs_result ecs_array_push(const base_allocator* allocator, ecs_array* array, ecs_element_type type,
                          const void* value) {
    return ecs_array_insert(allocator, array, ecs_array_count(array), type, value);
}

ecs_result ecs_array_push_text(const base_allocator* allocator, ecs_array* array, const char* text,
                               uint32_t size) {
    ecs_string string = ecs_element_text(text, size);
    return ecs_array_push(allocator, array, ECS_ELEMENT_T, &string);
}

ecs_result ecs_array_remove(const base_allocator* allocator, ecs_array* array, uint32_t index) {
    if (index >= ecs_array_count(array)) return ECS_ERR_MISSING;
    ecs_container_remove(allocator, array->own.body, index);
    return ECS_OK;
}

void ecs_array_clear(const base_allocator* allocator, ecs_array* array) {
    ecs_container_clear(allocator, array->own.body);
}

void ecs_array_deinit(const base_allocator* allocator, ecs_array* array) {
    BASE_ASSERT(!array->own.body || !array->own.body->parent);
    ecs_container_body_destroy(allocator, array->own.body);
    array->own.body = NULL;
}

uint32_t ecs_object_count(const ecs_object* object) {
    return object->own.body ? object->own.body->count : 0;
}

const char* ecs_object_name(const ecs_object* object, uint32_t index) {
    BASE_ASSERT(index < ecs_object_count(object));
    return ecs_container_named_item(object->own.body, index)->name;
}

const ecs_element* ecs_object_get(const ecs_object* object, uint32_t index) {
    BASE_ASSERT(index < ecs_object_count(object));
    return &ecs_container_named_item(object->own.body, index)->child;
}

const ecs_element* ecs_object_find_element(const ecs_object* object, const char* name) {
    uint32_t index;
    if (!ecs_container_seek(object->own.body, name, &index)) return NULL;
    return &ecs_container_named_item(object->own.body, index)->child;
}

const void* ecs_object_find(const ecs_object* object, const char* name, ecs_element_type type) {
    return value_of(ecs_object_find_element(object, name), type);
}

void* ecs_object_find_mut(ecs_object* object, const char* name, ecs_element_type type) {
    return container_of(ecs_object_find_element(object, name), type);
}

ecs_result ecs_object_set(const base_allocator* allocator, ecs_object* object, const char* name,
                          ecs_element_type type, const void* value) {
    BASE_ASSERT(name);
    ecs_container_body* body = ecs_container_open(allocator, &object->own, ECS_ELEMENT_OBJECT);
    uint32_t index;
    if (ecs_container_seek(body, name, &index))
        return ecs_container_replace(allocator, body, index, type, value);
    return ecs_container_insert(allocator, body, index, name, type, value);
}

ecs_result ecs_object_set_text(const base_allocator* allocator, ecs_object* object,
                               const char* name, const char* text, uint32_t size) {
    ecs_string string = ecs_element_text(text, size);
    return ecs_object_set(allocator, object, name, ECS_ELEMENT_T, &string);
}

ecs_result ecs_object_remove(const base_allocator* allocator, ecs_object* object,
                             const char* name) {
    uint32_t index;
    if (!ecs_container_seek(object->own.body, name, &index)) return ECS_ERR_MISSING;
    ecs_container_remove(allocator, object->own.body, index);
    return ECS_OK;
}

void ecs_object_clear(const base_allocator* allocator, ecs_object* object) {
    ecs_container_clear(allocator, object->own.body);
}

void ecs_object_deinit(const base_allocator* allocator, ecs_object* object) {
    BASE_ASSERT(!object->own.body || !object->own.body->parent);
    ecs_container_body_destroy(allocator, object->own.body);
    object->own.body = NULL;
}
