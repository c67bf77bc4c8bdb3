// SPDX-License-Identifier: MIT
// What a game asks of a template by name when it starts: a default, and how a component is rounded.
#include "ecs/template.h"

#include "base/text.h"

#include <string.h>

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
