// SPDX-License-Identifier: MIT
// Registers the structs of cubes.h that shoal-esgen finds.

#include "cubes.h"
#include "types.es.h"

ES_REGISTER_TYPES

ecs_result cubes_register_types(ecs_world* world, const base_reporter* reporter) {
    return types_register_types(world, reporter);
}
