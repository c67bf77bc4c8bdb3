// SPDX-License-Identifier: MIT
#include "logtools/log_values.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

#define WHOLE_MAX (INT64_C(1) << 53) ///< beyond it JSON readers lose digits

void net_log_number_text(const ecs_number* value, char text[NET_LOG_NUMBER_BYTES]) {
    char plain[NET_LOG_NUMBER_BYTES - 2];
    const ecs_entity entity = (ecs_entity)value->natural;
    switch (value->kind) {
    case ECS_FIELD_BOOL:
        (void)base_text_copy(text, NET_LOG_NUMBER_BYTES, value->natural ? "true" : "false");
        return;
    case ECS_FIELD_F32:
    case ECS_FIELD_F64:
        (void)base_text_copy(text, NET_LOG_NUMBER_BYTES, "null");
        if (isfinite(value->real)) ecs_number_text(value, text, NET_LOG_NUMBER_BYTES);
        return;
    case ECS_FIELD_ENTITY:
        (void)base_text_format(text, NET_LOG_NUMBER_BYTES, "\"%u:%u\"", ecs_entity_index(entity),
                               ecs_entity_generation(entity));
        return;
    default:
        ecs_number_text(value, plain, sizeof plain);
        (void)base_text_format(text, NET_LOG_NUMBER_BYTES,
                               fabsl(ecs_number_value(value)) > WHOLE_MAX ? "\"%s\"" : "%s", plain);
    }
}

// ---- where an entity is ----

enum { RANK_NONE, RANK_PLAIN, RANK_NAMED = NET_LOG_WHERE_NAMED, RANK_RULE };

net_log_component net_log_component_make(const ecs_world* world, ecs_component_id id,
                                         net_log_field* fields) {
    const ecs_component* component = ecs_component_get(world, id);
    const ecs_type* type = ecs_type_get(world, component->type);
    net_log_component made = {.id = component->id,
                              .name = component->name,
                              .type = type->name,
                              .is_varsize = type->ops && type->field_count == 0,
                              .field_count = type->field_count,
                              .fields = fields};
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        fields[i] = (net_log_field){.name = field->name,
                                    .kind = field->kind,
                                    .count = field->count,
                                    .is_angle = ecs_quant_is_angle(&field->quant)};
        made.value_count += field->count;
    }
    return made;
}

static bool is(const char* name, const char* other) {
    return strcmp(name, other) == 0;
}

// "pos", "position": 2 or 3 numbers.
static bool is_place(const char* name, uint32_t count) {
    return count >= 2 && count <= 3 && (is(name, "pos") || is(name, "position"));
}

// Of a component that is nothing else. @return how many; 0: it has others.
static uint32_t count_reals(const net_log_component* component, bool* has_angle) {
    *has_angle = false;
    for (uint32_t i = 0; i < component->field_count; i++) {
        if (!ecs_field_kind_is_real(component->fields[i].kind)) return 0;
        *has_angle = *has_angle || component->fields[i].is_angle;
    }
    return component->value_count;
}

// By the name of a field, else by that of a component that has no other numbers. They are real.
static bool find_named_place(const net_log_component* component, net_log_numbers* part) {
    bool has_angle;
    for (uint32_t i = 0, first = 0; i < component->field_count; i++) {
        const net_log_field* field = &component->fields[i];
        if (ecs_field_kind_is_real(field->kind) && is_place(field->name, field->count)) {
            *part = (net_log_numbers){i, first, field->count};
            return true;
        }
        first += field->count;
    }
    const uint32_t count = count_reals(component, &has_angle);
    if (!is_place(component->name, count)) return false;
    *part = (net_log_numbers){0, 0, count};
    return true;
}

bool net_log_where_add(net_log_where* place, const net_log_component* component, const char* rule,
                       bool is_replicated) {
    net_log_numbers part = {0};
    bool has_angle = false;
    uint32_t rank = RANK_NONE;
    if (component->is_varsize) return false;
    if (find_named_place(component, &part)) {
        rank = RANK_NAMED;
    } else {
        part.count = count_reals(component, &has_angle);
        if (part.count < 2 || part.count > 3 || has_angle) return false;
        if (is_replicated) rank = RANK_PLAIN;
    }
    if (is(component->name, rule ? rule : "pos")) rank = RANK_RULE;
    if (rank > place->rank)
        *place = (net_log_where){.component = component->id, .part = part, .rank = rank};
    return true;
}
