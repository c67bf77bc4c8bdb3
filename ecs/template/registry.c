// SPDX-License-Identifier: MIT
// Reading the registry of templates, by id and by name. template.c fills it.
#include "template/template_registry.h"

#include "type/world.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

ecs_template_id ecs_template_seek(const ecs_world* world, const char* name) {
    BASE_ASSERT(name);
    uint64_t hash = base_hash64_text(name);
    uint32_t cursor = 0;
    for (;;) {
        uint32_t id = base_table_next(&world->templates->index, hash, &cursor);
        if (id == BASE_TABLE_NONE) return ECS_TEMPLATE_NONE;
        const ecs_template* template_ = &world->templates->rows[id - 1]->public;
        if (template_->part_count == 1 && strcmp(template_->name, name) == 0)
            return (ecs_template_id)id;
    }
}

const ecs_template* ecs_template_get(const ecs_world* world, ecs_template_id id) {
    if (id == ECS_TEMPLATE_NONE || id > world->templates->count) return NULL;
    return &world->templates->rows[id - 1]->public;
}

uint32_t ecs_template_count(const ecs_world* world) {
    return world->templates->count;
}

const ecs_template_component* ecs_template_find_component(const ecs_template* template_,
                                                          ecs_component_id component) {
    BASE_ASSERT(template_);
    for (uint32_t i = 0; i < template_->component_count; i++)
        if (template_->components[i].component == component) return &template_->components[i];
    return NULL;
}
