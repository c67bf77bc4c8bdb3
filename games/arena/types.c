// SPDX-License-Identifier: MIT
// Registers the structs of arena.h. shoal-esgen finds most of them; the boxed one is registered by
// hand.

#include "arena.h"
#include "types.es.h"

#include <stddef.h>
#include <string.h>

ES_REGISTER_TYPES

static void clear_route(const ecs_type_context* context, void* value) {
    (void)context;
    memset(value, 0, sizeof(arena_route));
}

static ecs_result register_route(ecs_world* world, const base_reporter* reporter) {
    static const ecs_field fields[] = {
        {"at", offsetof(arena_route, at), ECS_FIELD_U32, 1, {0, 0, 0}},
        {"points", offsetof(arena_route, points), ECS_FIELD_F32, 2 * ARENA_ROUTE_POINTS, {0, 0, 0}},
    };
    // A route owns no memory, so create, reset and destroy are the same.
    static const ecs_type_ops ops = {
        .create = clear_route, .reset = clear_route, .destroy = clear_route};
    const ecs_type_desc route = {"ArenaRoute", sizeof(arena_route), _Alignof(arena_route),
                                 fields,       BASE_COUNT(fields),  &ops};
    ecs_type_id id;
    return ecs_type_register_as(world, &route, ECS_TYPE_BOXED, reporter, &id);
}

ecs_result arena_register_types(ecs_world* world, const base_reporter* reporter) {
    ecs_result result = types_register_types(world, reporter);
    return result ? result : register_route(world, reporter);
}
