// SPDX-License-Identifier: MIT
// The structs of arena as the core sees them: what shoal-esgen finds in arena.h.

#include "arena.h"
#include "types.es.h"

ES_REGISTER_TYPES

ecs_result arena_register_types(ecs_world* world, const base_reporter* reporter) {
    return types_register_types(world, reporter);
}
