// SPDX-License-Identifier: MIT
// Names of components. A name has one type in a world, for templates, systems and modules alike.
// Ids follow the order of registration, so the same files give the same ids on every machine.
#include "type/type_registry.h"

#include "core/world_internal.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"

#include <string.h>

ecs_component_id ecs_component_seek(const ecs_world* world, const char* name, uint64_t name_hash) {
    BASE_ASSERT(name);
    uint32_t cursor = 0;
    for (;;) {
        uint32_t id = base_table_next(&world->types->component_names, name_hash, &cursor);
        if (id == BASE_TABLE_NONE) return ECS_COMPONENT_NONE;
        if (strcmp(ecs_component_at(world->types, id)->name, name) == 0)
            return (ecs_component_id)id;
    }
}

bool ecs_components_reserve(ecs_world* world, uint32_t more) {
    ecs_types* types = world->types;
    const uint32_t count = types->component_count + more;
    BASE_ASSERT(count <= ECS_COMPONENTS_MAX);
    for (uint32_t i = 0; i * ECS_TYPE_PAGE < count; i++) {
        ecs_component** page = &types->component_pages[i];
        if (!*page) *page = base_allocate(world->allocator, ECS_TYPE_PAGE * sizeof **page);
        if (!*page) return false;
    }
    return base_table_reserve(&types->component_names, world->allocator, count);
}

ecs_result ecs_component_register(ecs_world* world, const char* name, ecs_type_id type,
                                  ecs_component_id* id) {
    BASE_ASSERT(world && name);
    if (id) *id = ECS_COMPONENT_NONE;
    if (world->is_sealed) return ECS_ERR_SEALED;
    if (!ecs_type_get(world, type) || !ecs_name_is_valid(name)) return ECS_ERR_UNKNOWN;
    ecs_types* types = world->types;
    uint64_t hash = base_hash64_text(name);
    ecs_component_id found = ecs_component_seek(world, name, hash);
    if (found != ECS_COMPONENT_NONE) {
        if (ecs_component_at(types, found)->type != type) return ECS_ERR_TYPE;
        if (id) *id = found;
        return ECS_OK;
    }
    if (types->component_count == ECS_COMPONENTS_MAX) return ECS_ERR_FULL;
    if (!ecs_components_reserve(world, 1)) return ECS_ERR_MEMORY;
    ecs_component* component = ecs_component_at(types, ++types->component_count);
    *component = (ecs_component){
        .id = (ecs_component_id)types->component_count, .type = type, .name_hash = hash};
    (void)base_text_copy(component->name, sizeof component->name, name);
    base_table_add(&types->component_names, hash, component->id);
    if (id) *id = component->id;
    return ECS_OK;
}

const char* ecs_component_hint(const ecs_world* world, const char* name,
                               char hint[BASE_HINT_BYTES]) {
    base_nearest nearest = base_nearest_begin(name);
    for (uint32_t id = 1; id <= ecs_component_count(world); id++)
        base_nearest_offer(&nearest, ecs_component_get(world, (ecs_component_id)id)->name);
    return base_nearest_hint(&nearest, hint);
}

ecs_component_id ecs_component_find(ecs_world* world, const char* name) {
    BASE_ASSERT(world && name);
    world->counters.name_lookups++;
    return ecs_component_seek(world, name, base_hash64_text(name));
}

const ecs_component* ecs_component_get(const ecs_world* world, ecs_component_id id) {
    if (id == ECS_COMPONENT_NONE || id > world->types->component_count) return NULL;
    return ecs_component_at(world->types, id);
}

uint32_t ecs_component_count(const ecs_world* world) {
    return world->types->component_count;
}
