// SPDX-License-Identifier: MIT
/// A boxed type: cells are pointers, and what takes a cell must not get an object.
#pragma once

#include "test.h"

#include "ecs/ecs.h"

typedef struct hull {
    uint32_t crew, shots;
} hull;

static inline void hull_create(const ecs_type_context* context, void* value) {
    *(hull*)value = (hull){.crew = 1};
}

static inline void hull_destroy(const ecs_type_context* context, void* value) {}

/// Register it as "hull".
static inline ecs_result hull_register(ecs_world* world, const base_reporter* reporter) {
    static const ecs_type_ops ops = {.create = hull_create, .destroy = hull_destroy};
    static const ecs_field fields[] = {
        {.name = "crew", .kind = ECS_FIELD_U32, .count = 1},
        {.name = "shots", .offset = 4, .kind = ECS_FIELD_U32, .count = 1},
    };
    const ecs_type_desc desc = {.name = "hull",
                                .size = sizeof(hull),
                                .align = _Alignof(hull),
                                .fields = fields,
                                .field_count = 2,
                                .ops = &ops};
    return ecs_type_register_as(world, &desc, ECS_TYPE_BOXED, reporter, NULL);
}
