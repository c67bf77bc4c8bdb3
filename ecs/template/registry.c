// SPDX-License-Identifier: MIT
// Reading the registry of templates, by id and by name. template.c fills it.
#include "template/template_registry.h"

#include "core/world_internal.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"

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

const void* ecs_template_default(const ecs_world* world, ecs_template_id id,
                                 ecs_component_id component) {
    const ecs_template* from = ecs_template_get(world, id);
    const ecs_template_component* found =
        from ? ecs_template_find_component(from, component) : NULL;
    return found ? found->value : NULL;
}

bool ecs_template_quant(ecs_world* world, const char* name, const char* component,
                        ecs_quant* quant) {
    const ecs_template* from = ecs_template_get(world, ecs_template_find(world, name));
    ecs_component_id id = ecs_component_find(world, component);
    char owner[ECS_NAME_BYTES_MAX];
    const char* field = NULL;
    if (id == ECS_COMPONENT_NONE && base_text_copy(owner, sizeof owner, component)) {
        char* dot = strrchr(owner, '.');
        if (!dot) return false;
        *dot = '\0';
        field = dot + 1;
        id = ecs_component_find(world, owner);
    }
    const ecs_template_component* found =
        from && id != ECS_COMPONENT_NONE ? ecs_template_find_component(from, id) : NULL;
    if (!found) return false;
    *quant = found->quant;
    const ecs_type* type = ecs_type_get(world, ecs_component_get(world, id)->type);
    for (uint32_t i = 0; i < type->field_count && found->quant.bits == 0; i++) {
        bool is_wanted = !field || strcmp(type->fields[i].name, field) == 0;
        if (is_wanted && quant->bits == 0) *quant = type->fields[i].quant;
    }
    return quant->bits > 0;
}
