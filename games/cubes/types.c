// SPDX-License-Identifier: MIT
// The structs of cubes as the core sees them: what shoal-esgen finds in cubes.h.

#include "cubes.h"
#include "types.es.h"

ES_REGISTER_TYPES

ecs_result cubes_register_types(ecs_world* world, const base_reporter* reporter) {
    return types_register_types(world, reporter);
}
