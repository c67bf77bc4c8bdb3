// SPDX-License-Identifier: MIT
// Breakout's structs as the core sees them: what shoal-esgen finds in breakout.h.

#include "breakout.h"
#include "types.es.h"

ES_REGISTER_TYPES

ecs_result breakout_register_types(ecs_world* world, const base_reporter* reporter) {
    return types_register_types(world, reporter);
}
