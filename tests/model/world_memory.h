// SPDX-License-Identifier: MIT
/// Values of the twin in the memory form of the real world.
#pragma once

#include "world_twin.h"

/// Room for one value. Texts borrow from the twin's value; lists and objects own their content.
typedef struct twin_memory {
    const void* box; // boxed component: a pointer to its value
    ecs_string string;
    ecs_list list;
    ecs_object object;
} twin_memory;

/// @return the value in memory form; good until deinit. With is_boxed, bodies are boxed.
const void* twin_memory_init(twin_memory* memory, uint32_t component, bool is_boxed,
                             twin_value* value);
void twin_memory_deinit(twin_memory* memory);
/// Make a component's list or object equal to the twin's, value by value, in place.
void twin_memory_edit(const base_allocator* allocator, uint32_t component, void* place,
                      const twin_value* value);
