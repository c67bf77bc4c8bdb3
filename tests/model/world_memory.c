// SPDX-License-Identifier: MIT
/// Builds lists and objects by pushing and setting. Editing in place uses other calls, and both
/// ways must give the same result.
#include "world_memory.h"

#include <stdio.h>

static void check(ecs_result result) {
    BASE_ASSERT(result == ECS_OK);
}

static void fill_list(ecs_list* list, const twin_value* value) {
    for (uint32_t i = 0; i < value->as.path.count; i++) {
        int32_t number = value->as.path.numbers[i];
        check(ecs_list_push(NULL, list, &number));
    }
}

static void fill_object(ecs_object* object, const twin_value* value) {
    const twin_props* props = &value->as.props;
    for (uint32_t i = TWIN_PROPS_NAMES; i-- > 0;) {
        char name[2] = {(char)('a' + i), '\0'};
        int32_t number = props->numbers[i];
        if (props->has[i]) check(ecs_object_set(NULL, object, name, ECS_ELEMENT_I, &number));
    }
    check(ecs_object_set(NULL, object, "inside", ECS_ELEMENT_ARRAY, NULL));
    ecs_array* inside = ecs_object_find_mut(object, "inside", ECS_ELEMENT_ARRAY);
    for (uint32_t i = 0; i < props->inside; i++) {
        char text[2] = {(char)('A' + i), '\0'};
        check(ecs_array_push_text(NULL, inside, text, 1));
    }
}

const void* twin_memory_init(twin_memory* memory, uint32_t component, bool is_boxed,
                             twin_value* value) {
    memset(memory, 0, sizeof(*memory));
    ecs_list_init(&memory->list, ECS_ELEMENT_I);
    if (component == TWIN_TITLE) {
        uint32_t size = (uint32_t)strlen(value->as.text);
        memory->string = (ecs_string){.data = size > 0 ? value->as.text : NULL, .size = size};
        return &memory->string;
    }
    if (component == TWIN_PATH) {
        fill_list(&memory->list, value);
        return &memory->list;
    }
    if (component == TWIN_PROPS) {
        fill_object(&memory->object, value);
        return &memory->object;
    }
    if (component == TWIN_BODY && is_boxed) {
        memory->box = &value->as.body;
        return &memory->box;
    }
    return &value->as;
}

void twin_memory_deinit(twin_memory* memory) {
    ecs_list_deinit(NULL, &memory->list);
    ecs_object_deinit(NULL, &memory->object);
}

static void edit_list(const base_allocator* allocator, ecs_list* list, const twin_value* value) {
    uint32_t count = value->as.path.count;
    while (ecs_list_count(list) > count)
        check(ecs_list_remove(allocator, list, ecs_list_count(list) - 1));
    while (ecs_list_count(list) < count)
        check(ecs_list_push(allocator, list, NULL));
    for (uint32_t i = 0; i < count; i++) {
        int32_t number = value->as.path.numbers[i];
        if (i % 2 == 0) {
            check(ecs_list_set(allocator, list, i, &number));
        } else {
            check(ecs_list_remove(allocator, list, i));
            check(ecs_list_insert(allocator, list, i, &number));
        }
    }
}

static void edit_object(const base_allocator* allocator, ecs_object* object,
                        const twin_value* value) {
    const twin_props* props = &value->as.props;
    for (uint32_t i = 0; i < TWIN_PROPS_NAMES; i++) {
        char name[2] = {(char)('a' + i), '\0'};
        int32_t number = props->numbers[i];
        if (props->has[i])
            check(ecs_object_set(allocator, object, name, ECS_ELEMENT_I, &number));
        else if (ecs_object_find_element(object, name))
            check(ecs_object_remove(allocator, object, name));
    }
    ecs_array* inside = ecs_object_find_mut(object, "inside", ECS_ELEMENT_ARRAY);
    BASE_ASSERT(inside);
    while (ecs_array_count(inside) > props->inside)
        check(ecs_array_remove(allocator, inside, ecs_array_count(inside) - 1));
    while (ecs_array_count(inside) < props->inside) {
        char text[2] = {(char)('A' + ecs_array_count(inside)), '\0'};
        check(ecs_array_push_text(allocator, inside, text, 1));
    }
}

void twin_memory_edit(const base_allocator* allocator, uint32_t component, void* place,
                      const twin_value* value) {
    if (component == TWIN_PATH) {
        edit_list(allocator, place, value);
    } else {
        BASE_ASSERT(component == TWIN_PROPS);
        edit_object(allocator, place, value);
    }
}
