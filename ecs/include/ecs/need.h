// SPDX-License-Identifier: MIT
/// Look-ups of names that must exist. A missing one is reported with its kind, the name, the place
/// and the nearest name, and is counted, so that a module looks up all its names and returns one
/// result:
///
///     ecs_need need = {.world = world, .reporter = reporter, .place = "breakout"};
///     game->pos = ecs_component_need(&need, "pos");
///     game->ball = ecs_template_need(&need, "ball");
///     return ecs_need_result(&need);
///
/// Threads: the thread that owns the world, outside of stages.
#pragma once

#include "ecs/event.h"
#include "ecs/template.h"
#include "ecs/type.h"

BASE_C_BEGIN

typedef struct ecs_need {
    ecs_world* world;
    const base_reporter* reporter; ///< may be NULL
    const char* place;             ///< what needs the names: a module, a file; NULL: not named
    uint32_t missing;              ///< names that were not found
} ecs_need;

/// As ecs_component_find, ecs_template_find and ecs_event_find. @return the none of its kind after
/// a report: "breakout: there is no component 'velo', did you mean 'vel'?".
ecs_component_id ecs_component_need(ecs_need* need, const char* name);
ecs_template_id ecs_template_need(ecs_need* need, const char* name);
ecs_event_type ecs_event_need(ecs_need* need, const char* name);
/// The default that a template has for a component: a value that a level designer changes. `bytes`
/// is the size of the C type that the caller reads. @return NULL after a report, also when the
/// template has no such component, or its type another size.
const void* ecs_value_need(ecs_need* need, const char* template_name, const char* component,
                           size_t bytes);
/// @return ECS_OK: every name was found; ECS_ERR_UNKNOWN (reported).
BASE_MUST_USE ecs_result ecs_need_result(const ecs_need* need);

BASE_C_END
