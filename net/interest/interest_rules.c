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

// One number of a kind of `kinds`, a set of bits; `wanted` names them. @return its type, as
// bind_name.
static const ecs_type* bind_scalar(bind_pass* pass, const char* rule, const char* name,
                                   uint32_t kinds, const char* wanted, ecs_component_id* id) {
    const ecs_type* type = bind_name(pass, rule, name, id);
    if (type && (type->ops || type->field_count != 1 || type->fields[0].count != 1 ||
                 type->fields[0].offset != 0 || !(kinds >> type->fields[0].kind & 1)))
        refuse_type(pass, rule, type, wanted);
    return type;
}

static void bind_names(bind_pass* pass, const net_interest_rules* rules, net_bound_rules* bound) {
    const uint32_t numbers = 1u << ECS_FIELD_I32 | 1u << ECS_FIELD_U32;
    const uint32_t teams = numbers | 1u << ECS_FIELD_U8 | 1u << ECS_FIELD_U16;
    const ecs_type* type = bind_name(pass, "position", rules->position, &bound->position);
    if (type) bound->dimensions = count_floats(type);
    if (type && bound->dimensions < 2) refuse_type(pass, "position", type, "2 or 3 floats");
    type = bind_name(pass, "always", rules->always, &bound->always);
    if (type && type->size > 0) refuse_type(pass, "always", type, "a tag");
    (void)bind_scalar(pass, "owner", rules->owner, numbers, "an i or u32", &bound->owner);
    type = bind_scalar(pass, "team", rules->team, teams, "an i, u8, u16 or u32", &bound->team);
    if (type) bound->team_bytes = type->size;
    (void)bind_scalar(pass, "groups", rules->groups, 1u << ECS_FIELD_U64, "a u64", &bound->groups);
    (void)bind_scalar(pass, "together", rules->together, numbers, "an i or u32", &bound->together);
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
