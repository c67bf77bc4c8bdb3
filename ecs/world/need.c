// SPDX-License-Identifier: MIT
// Look-ups of names that must exist.
#include "ecs/need.h"

#include "base/assert.h"
#include "base/text.h"
#include "event/systems.h"
#include "type/type_registry.h"

static void miss(ecs_need* need, const char* kind, const char* name, const char* hint) {
    need->missing++;
    base_report(need->reporter, NULL, 0, "%s%sthere is no %s '%.80s'%s",
                need->place ? need->place : "", need->place ? ": " : "", kind, name, hint);
}

ecs_component_id ecs_component_need(ecs_need* need, const char* name) {
    BASE_ASSERT(need->world && name);
    const ecs_component_id found = ecs_component_find(need->world, name);
    char hint[BASE_HINT_BYTES];
    if (found == ECS_COMPONENT_NONE)
        miss(need, "component", name, ecs_component_hint(need->world, name, hint));
    return found;
}

ecs_template_id ecs_template_need(ecs_need* need, const char* name) {
    BASE_ASSERT(need->world && name);
    const ecs_template_id found = ecs_template_find(need->world, name);
    if (found != ECS_TEMPLATE_NONE) return found;
    base_nearest nearest = base_nearest_begin(name);
    for (uint32_t id = 1; id <= ecs_template_count(need->world); id++)
        base_nearest_offer(&nearest, ecs_template_get(need->world, (ecs_template_id)id)->name);
    char hint[BASE_HINT_BYTES];
    miss(need, "template", name, base_nearest_hint(&nearest, hint));
    return found;
}

ecs_event_type ecs_event_need(ecs_need* need, const char* name) {
    BASE_ASSERT(need->world && name);
    const ecs_event_type found = ecs_event_find(need->world, name);
    char hint[BASE_HINT_BYTES];
    if (found == ECS_EVENT_NONE) miss(need, "event", name, ecs_event_hint(need->world, name, hint));
    return found;
}

const void* ecs_value_need(ecs_need* need, const char* template_name, const char* component,
                           size_t bytes) {
    const ecs_template_id template_ = ecs_template_need(need, template_name);
    const ecs_component_id id = ecs_component_need(need, component);
    if (template_ == ECS_TEMPLATE_NONE || id == ECS_COMPONENT_NONE) return NULL;
    const void* value = ecs_template_default(need->world, template_, id);
    const ecs_type* type = ecs_type_get(need->world, ecs_component_get(need->world, id)->type);
    if (value && type->size == bytes) return value;
    need->missing++;
    base_report(need->reporter, NULL, 0,
                value ? "%s%stemplate '%s': component '%s' has another type than its reader"
                      : "%s%stemplate '%s' has no component '%s'",
                need->place ? need->place : "", need->place ? ": " : "", template_name, component);
    return NULL;
}

ecs_result ecs_need_result(const ecs_need* need) {
    return need->missing > 0 ? ECS_ERR_UNKNOWN : ECS_OK;
}
