// SPDX-License-Identifier: MIT
// Names are bound once, against all templates. A rule that can never hold, and a rule whose changes
// would not be tracked, is refused when the match begins.
#include "interest/interest_rules.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

typedef struct bind_pass {
    const ecs_world* world;
    const base_reporter* reporter;
    uint32_t faults;
} bind_pass;

static ecs_component_id seek(const ecs_world* world, const char* name) {
    for (uint32_t id = 1; id <= ecs_component_count(world); id++)
        if (strcmp(ecs_component_get(world, (ecs_component_id)id)->name, name) == 0)
            return (ecs_component_id)id;
    return ECS_COMPONENT_NONE;
}

static void refuse_name(bind_pass* pass, const char* rule, const char* name) {
    char hint[BASE_HINT_BYTES];
    base_nearest nearest = base_nearest_begin(name);
    for (uint32_t id = 1; id <= ecs_component_count(pass->world); id++)
        base_nearest_offer(&nearest, ecs_component_get(pass->world, (ecs_component_id)id)->name);
    pass->faults++;
    base_report(pass->reporter, NULL, 0, "interest: %s: there is no component '%.80s'%s", rule,
                name, base_nearest_hint(&nearest, hint));
}

// Changes of an untracked component are not listed.
static void check_tracked(bind_pass* pass, const char* rule, ecs_component_id id) {
    const ecs_component* known = ecs_component_get(pass->world, id);
    if (ecs_type_get(pass->world, known->type)->size == 0) return;
    for (uint32_t i = 1; i <= ecs_template_count(pass->world); i++) {
        const ecs_template* template_ = ecs_template_get(pass->world, (ecs_template_id)i);
        const ecs_template_component* component = ecs_template_find_component(template_, id);
        if (!component || !template_->is_replicated) continue;
        if (component->flags & ECS_COMPONENT_TRACKED) continue;
        pass->faults++;
        base_report(pass->reporter, template_->file, component->line,
                    "interest: %s: component '%s' of '%s' needs _track:b=yes", rule, known->name,
                    template_->name);
        return;
    }
}

static const ecs_type* bind_name(bind_pass* pass, const char* rule, const char* name,
                                 ecs_component_id* id) {
    if (!name) return NULL;
    *id = seek(pass->world, name);
    if (*id == ECS_COMPONENT_NONE) {
        refuse_name(pass, rule, name);
        return NULL;
    }
    check_tracked(pass, rule, *id);
    return ecs_type_get(pass->world, ecs_component_get(pass->world, *id)->type);
}

static void refuse_type(bind_pass* pass, const char* rule, const ecs_type* type,
                        const char* wanted) {
    pass->faults++;
    base_report(pass->reporter, NULL, 0, "interest: %s: a %s is not %s", rule, type->name, wanted);
}

// Floats at the beginning of a type, at most 3.
static uint32_t count_floats(const ecs_type* type) {
    uint32_t count = 0;
    if (type->ops) return 0;
    for (uint32_t i = 0; i < type->field_count && count < 3; i++) {
        const ecs_field* field = &type->fields[i];
        if (field->kind != ECS_FIELD_F32 || field->offset != count * sizeof(float)) break;
        count += field->count;
    }
    return count < 3 ? count : 3;
}

static bool is_scalar(const ecs_type* type, const ecs_field_kind* kinds, uint32_t count) {
    if (type->ops || type->field_count != 1 || type->fields[0].count != 1 ||
        type->fields[0].offset != 0)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (type->fields[0].kind == kinds[i]) return true;
    return false;
}

static void bind_names(bind_pass* pass, const net_interest_rules* rules, net_bound_rules* bound) {
    static const ecs_field_kind numbers[] = {ECS_FIELD_I32, ECS_FIELD_U32};
    static const ecs_field_kind teams[] = {ECS_FIELD_I32, ECS_FIELD_U32, ECS_FIELD_U8,
                                           ECS_FIELD_U16};
    static const ecs_field_kind masks[] = {ECS_FIELD_U64};
    const ecs_type* type = bind_name(pass, "position", rules->position, &bound->position);
    if (type) bound->dimensions = count_floats(type);
    if (type && bound->dimensions < 2) refuse_type(pass, "position", type, "2 or 3 floats");
    type = bind_name(pass, "always", rules->always, &bound->always);
    if (type && type->size > 0) refuse_type(pass, "always", type, "a tag");
    type = bind_name(pass, "owner", rules->owner, &bound->owner);
    if (type && !is_scalar(type, numbers, BASE_COUNT(numbers)))
        refuse_type(pass, "owner", type, "an i or u32");
    type = bind_name(pass, "team", rules->team, &bound->team);
    if (type && !is_scalar(type, teams, BASE_COUNT(teams)))
        refuse_type(pass, "team", type, "an i, u8, u16 or u32");
    if (type) bound->team_bytes = type->size;
    type = bind_name(pass, "groups", rules->groups, &bound->groups);
    if (type && !is_scalar(type, masks, BASE_COUNT(masks)))
        refuse_type(pass, "groups", type, "a u64");
    type = bind_name(pass, "together", rules->together, &bound->together);
    if (type && !is_scalar(type, numbers, BASE_COUNT(numbers)))
        refuse_type(pass, "together", type, "an i or u32");
}

net_result net_bound_rules_bind(const ecs_world* world, const net_interest_rules* rules,
                                const base_reporter* reporter, net_bound_rules* bound) {
    BASE_ASSERT(world && bound);
    bind_pass pass = {.world = world, .reporter = reporter};
    *bound = (net_bound_rules){.dimensions = 2};
    if (!rules) return NET_OK;
    bind_names(&pass, rules, bound);
    // Written so that NaN is refused.
    if (!(rules->radius >= 0.0f && rules->radius <= 1e9f)) {
        pass.faults++;
        base_report(reporter, NULL, 0, "interest: radius is not from 0 to 1e9");
    } else if (rules->radius > 0.0f && !rules->position) {
        pass.faults++;
        base_report(reporter, NULL, 0, "interest: radius without position");
    }
    bound->radius = rules->radius;
    bound->relevance = rules->relevance;
    bound->classes = rules->classes;
    return pass.faults ? NET_ERR_SCHEMA : NET_OK;
}

bool net_interest_position_read(const net_bound_rules* rules, const ecs_world* world,
                                ecs_entity entity, float at[3]) {
    if (rules->position == ECS_COMPONENT_NONE || rules->radius <= 0.0f) return false;
    const void* cell = ecs_find(world, entity, rules->position);
    if (!cell) return false;
    at[2] = 0.0f;
    memcpy(at, cell, rules->dimensions * sizeof(float));
    return true;
}

static uint32_t read_u32(const ecs_world* world, ecs_entity entity, ecs_component_id id,
                         uint32_t bytes) {
    if (id == ECS_COMPONENT_NONE) return 0;
    const void* cell = ecs_find(world, entity, id);
    uint32_t value = 0; // little-endian, as rows are
    if (cell) memcpy(&value, cell, bytes);
    return value;
}

uint32_t net_interest_team_read(const net_bound_rules* rules, const ecs_world* world,
                                ecs_entity entity) {
    return read_u32(world, entity, rules->team, rules->team_bytes);
}

void net_interest_facts_read(const net_bound_rules* rules, const ecs_world* world,
                             ecs_entity entity, net_interest_facts* facts, float at[3]) {
    *facts = (net_interest_facts){0};
    facts->has_position = net_interest_position_read(rules, world, entity, at);
    facts->owner = read_u32(world, entity, rules->owner, sizeof(uint32_t));
    facts->team = net_interest_team_read(rules, world, entity);
    facts->together = read_u32(world, entity, rules->together, sizeof(uint32_t));
    if (rules->groups != ECS_COMPONENT_NONE) {
        const void* cell = ecs_find(world, entity, rules->groups);
        facts->has_groups = cell != NULL;
        if (cell) memcpy(&facts->groups, cell, sizeof facts->groups);
    }
    if (rules->always == ECS_COMPONENT_NONE) return;
    const ecs_template* template_ = ecs_template_get(world, ecs_entity_template(world, entity));
    facts->is_always = template_ && ecs_template_find_component(template_, rules->always);
}
