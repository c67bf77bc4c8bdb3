// SPDX-License-Identifier: MIT
// Questions of tools about systems: linear walks over what was registered.
#include "ecs/inspect.h"

#include "base/assert.h"
#include "ecs/template.h"
#include "system/system_registry.h"
#include "table/query_cache.h"
#include "type/world.h"

#include <string.h>

bool ecs_inspect_handler(const ecs_world* world, ecs_event_type type, ecs_user* user) {
    BASE_ASSERT(type != ECS_EVENT_NONE && type <= ECS_EVENT_TYPES_MAX);
    const ecs_system_order* handlers = &world->systems->handlers[type];
    if (user->next >= handlers->count) return false;
    user->name = world->systems->list[handlers->systems[user->next++]]->name;
    return true;
}

static bool is_named(const ecs_names* names, const char* name) {
    for (uint32_t i = 0; i < names->count; i++)
        if (strcmp(names->names[i], name) == 0) return true;
    return false;
}

static bool is_access(ecs_access access, ecs_use use) {
    if (use == ECS_USE_WRITE) return ecs_access_is_write(access);
    return access == ECS_READ || access == ECS_OPTIONAL_READ;
}

static bool is_user(const ecs_world* world, const ecs_system* system, ecs_component_id component,
                    ecs_use use) {
    const ecs_query* query = system->query;
    for (uint32_t i = 0; query && i < query->term_count; i++)
        if (query->components[i] == component && is_access(query->access[i], use)) return true;
    const char* name = ecs_component_get(world, component)->name;
    return is_named(use == ECS_USE_WRITE ? &system->writes : &system->reads, name);
}

bool ecs_inspect_user(const ecs_world* world, ecs_component_id component, ecs_use use,
                      ecs_user* user) {
    BASE_ASSERT(component != ECS_COMPONENT_NONE);
    while (user->next < world->systems->count) {
        const ecs_system* system = world->systems->list[user->next++];
        if (!system->is_present || system->is_sync_point) continue;
        if (!is_user(world, system, component, use)) continue;
        user->name = system->name;
        return true;
    }
    return false;
}

bool ecs_inspect_system(const ecs_world* world, ecs_user* user, bool* is_present) {
    while (user->next < world->systems->count) {
        const ecs_system* system = world->systems->list[user->next++];
        if (system->is_sync_point) continue;
        user->name = system->name;
        *is_present = system->is_present;
        return true;
    }
    return false;
}

static bool has(const ecs_template* source, ecs_component_id component) {
    for (uint32_t i = 0; i < source->component_count; i++)
        if (source->components[i].component == component) return true;
    return false;
}

bool ecs_inspect_matches(const ecs_world* world, const char* system, ecs_template_id template_id) {
    const ecs_template* source = ecs_template_get(world, template_id);
    const uint32_t index = ecs_system_index(world, system);
    if (!source || index == UINT32_MAX) return false;
    const ecs_query* query = world->systems->list[index]->query;
    if (!query) return false;
    for (uint32_t i = 0; i < query->term_count; i++) {
        const ecs_access access = query->access[i];
        const bool is_here = has(source, query->components[i]);
        if ((access == ECS_READ || access == ECS_WRITE || access == ECS_REQUIRE) && !is_here)
            return false;
        if (access == ECS_REQUIRE_NOT && is_here) return false;
    }
    return true;
}

void ecs_inspect_writes(ecs_world* world, const base_reporter* reporter) {
    world->write_reporter = reporter;
}
