// SPDX-License-Identifier: MIT
// Entities: those that a query finds, one with its family, and where all of them are.
//
// The language knows no world (query.h); here its names become components and fields. A walk goes
// over all entities by rising index and ends with its time, at the limit, or when the answer is
// full; the handle with which it ended is where the next one goes on.
#include "query.h"
#include "view.h"

#include "base/text.h"

#include <string.h>

enum {
    ROWS_MAX = 1000,
    ROWS_DEFAULT = 100,
    WALK_STEPS = 64, ///< entities between two looks at the time
    CHILDREN_MAX = 256,
    FAMILY_MAX = 64, ///< generations above an entity
};

/// A query whose names are bound to a world.
typedef struct bound_query {
    server_query query;
    ecs_component_id components[SERVER_QUERY_TERMS_MAX];
    ecs_template_id templates[SERVER_QUERY_TERMS_MAX];
    ecs_component_id tested[SERVER_QUERY_CONDITIONS_MAX];
    const ecs_field* fields[SERVER_QUERY_CONDITIONS_MAX]; ///< NULL: a text
} bound_query;

// ---- binding ----

static bool bind_component(const ecs_world* world, const char* name, size_t name_bytes,
                           uint32_t column, ecs_component_id* id, const server_request* request) {
    char hint[BASE_HINT_BYTES];
    base_nearest nearest = base_nearest_begin(name);
    *id = view_find_component(world, name, name_bytes, &nearest);
    if (*id != ECS_COMPONENT_NONE) return true;
    return server_refuse(request, 400, "column %u: no component \"%s\"%s", column, name,
                         base_nearest_hint(&nearest, hint));
}

static ecs_template_id find_template(const ecs_world* world, const char* name,
                                     base_nearest* nearest) {
    for (uint32_t id = 1; id <= ecs_template_count(world); id++) {
        const char* known = ecs_template_get(world, (ecs_template_id)id)->name;
        if (strcmp(known, name) == 0) return (ecs_template_id)id;
        base_nearest_offer(nearest, known);
    }
    return ECS_TEMPLATE_NONE;
}

static bool bind_terms(const ecs_world* world, bound_query* bound, const server_request* request) {
    for (uint32_t i = 0; i < bound->query.term_count; i++) {
        const server_query_term* term = &bound->query.terms[i];
        if (term->use != SERVER_QUERY_TEMPLATE) {
            if (!bind_component(world, term->name, strlen(term->name), term->column,
                                &bound->components[i], request))
                return false;
            continue;
        }
        char hint[BASE_HINT_BYTES];
        base_nearest nearest = base_nearest_begin(term->name);
        bound->templates[i] = find_template(world, term->name, &nearest);
        if (bound->templates[i] != ECS_TEMPLATE_NONE) continue;
        return server_refuse(request, 400, "column %u: no template \"%s\"%s", term->column,
                             term->name, base_nearest_hint(&nearest, hint));
    }
    return true;
}

static bool is_comparable(const ecs_field* field, server_query_kind kind) {
    if (field->kind == ECS_FIELD_ENTITY) return kind == SERVER_QUERY_ENTITY;
    return kind == SERVER_QUERY_NUMBER || kind == SERVER_QUERY_BOOL;
}

// "pos.x", or a component with one number. Names of components may have points too.
static bool bind_condition(const ecs_world* world, bound_query* bound, uint32_t i,
                           const server_request* request) {
    const server_query_condition* condition = &bound->query.conditions[i];
    const char* name = condition->name;
    const char* point = strrchr(name, '.');
    const ecs_component_id whole = view_find_component(world, name, strlen(name), NULL);
    const size_t size = whole || !point ? strlen(name) : (size_t)(point - name);
    if (!bind_component(world, name, size, condition->column, &bound->tested[i], request))
        return false;
    const ecs_component* component = ecs_component_get(world, bound->tested[i]);
    const ecs_type* type = ecs_type_get(world, component->type);
    const char* wanted = name[size] ? point + 1 : NULL;
    if (strcmp(type->name, "t") == 0 && !wanted && condition->kind == SERVER_QUERY_TEXT)
        return true;
    const ecs_field* found = NULL;
    const uint32_t count = ecs_type_is_varsize(type) ? 0 : type->field_count;
    for (uint32_t k = 0; k < count; k++)
        if (wanted ? strcmp(type->fields[k].name, wanted) == 0 : count == 1)
            found = &type->fields[k];
    if (!found && count > 1)
        server_refuse(request, 400, "column %u: %s has %u fields: name one, as %s.%s",
                      condition->column, component->name, count, component->name,
                      type->fields[0].name);
    else if (!found || found->count != 1 || !is_comparable(found, condition->kind))
        server_refuse(request, 400, "column %u: %s cannot be compared with that", condition->column,
                      name);
    else
        bound->fields[i] = found;
    return bound->fields[i] != NULL;
}

static bool bind(const ecs_world* world, const char* text, bound_query* bound,
                 const server_request* request) {
    char fault[SERVER_QUERY_FAULT_BYTES];
    *bound = (bound_query){.query.term_count = 0};
    if (!server_query_parse(text, &bound->query, fault))
        return server_refuse(request, 400, "%s", fault);
    if (!bind_terms(world, bound, request)) return false;
    for (uint32_t i = 0; i < bound->query.condition_count; i++)
        if (!bind_condition(world, bound, i, request)) return false;
    return true;
}

// ---- matching ----

static bool is_seen(const server_request* request, const ecs_template* is_a, ecs_component_id id) {
    const ecs_template_component* component = ecs_template_find_component(is_a, id);
    return component && view_may_see(request, component);
}

static bool has_terms(const bound_query* bound, const server_request* request,
                      const ecs_template* is_a) {
    for (uint32_t i = 0; i < bound->query.term_count; i++) {
        switch (bound->query.terms[i].use) {
        case SERVER_QUERY_HAS:
            if (!is_seen(request, is_a, bound->components[i])) return false;
            break;
        case SERVER_QUERY_HAS_NOT:
            if (is_seen(request, is_a, bound->components[i])) return false;
            break;
        case SERVER_QUERY_TEMPLATE:
            if (is_a->id != bound->templates[i]) return false;
            break;
        case SERVER_QUERY_MAY_HAVE:
            break;
        }
    }
    for (uint32_t i = 0; i < bound->query.condition_count; i++)
        if (!is_seen(request, is_a, bound->tested[i])) return false;
    return true;
}

static bool holds(const ecs_world* world, const bound_query* bound, ecs_entity entity) {
    for (uint32_t i = 0; i < bound->query.condition_count; i++) {
        const server_query_condition* condition = &bound->query.conditions[i];
        const ecs_type* type =
            ecs_type_get(world, ecs_component_get(world, bound->tested[i])->type);
        const uint8_t* value = ecs_type_object(type, ecs_get(world, entity, bound->tested[i]));
        const ecs_field* field = bound->fields[i];
        const bool is_equal = condition->order == SERVER_QUERY_EQUAL;
        if (!field) {
            const char* text = ecs_string_text((const ecs_string*)(const void*)value);
            if ((strcmp(text, condition->text) == 0) != is_equal) return false;
            continue;
        }
        const long double right =
            condition->kind == SERVER_QUERY_ENTITY ? condition->entity : condition->number;
        const ecs_number left = ecs_number_get(field->kind, value + field->offset);
        if (!server_query_holds(condition->order, ecs_number_value(&left), right)) return false;
    }
    return true;
}

// ---- the answer ----

static bool is_column(const server_query_term* term) {
    return term->use == SERVER_QUERY_HAS || term->use == SERVER_QUERY_MAY_HAVE;
}

static bool read_cursor(const ecs_world* world, const server_request* request, ecs_entity* after) {
    const char* text = server_request_find(request, "after");
    *after = ECS_ENTITY_NONE;
    if (!text || !text[0] || view_read_entity(world, text, after)) return true;
    return server_refuse(request, 400,
                         "'after' must be an entity as the answer before has it, not '%s'", text);
}

static void run_query(server_subject* subject, const server_request* request) {
    const ecs_world* world = net_match_world(subject->match);
    const char* text = server_request_find(request, "q");
    bound_query bound;
    uint64_t limit = ROWS_DEFAULT, rows = 0, steps = 0;
    ecs_entity at;
    if (!view_may_look(subject, request) ||
        !server_request_number(request, "limit", 1, ROWS_MAX, &limit) ||
        !read_cursor(world, request, &at) || !bind(world, text ? text : "", &bound, request))
        return;
    base_bytes* json = request->answer->json;
    base_json_write(json, "{q=%s tick='%ju'", text, view_tick_of(subject, request));
    base_json_write(json, "columns=[");
    for (uint32_t i = 0; i < bound.query.term_count; i++) {
        if (!is_column(&bound.query.terms[i])) continue;
        const ecs_component* component = ecs_component_get(world, bound.components[i]);
        base_json_write(json, "{name=%s type=%s", component->name,
                        ecs_type_get(world, component->type)->name);
        view_first_remarks(json, world, bound.components[i]);
        base_json_write(json, "}");
    }
    base_json_write(json, "]");
    base_json_write(json, "rows=[");
    ecs_entity cut = ECS_ENTITY_NONE;
    for (ecs_entity next; (next = ecs_entity_next(world, at)) != ECS_ENTITY_NONE; at = next) {
        const bool is_full = rows == limit || json->size > VIEW_BYTES_MAX;
        if (is_full || (++steps % WALK_STEPS == 0 && view_is_late(request))) {
            cut = at;
            break;
        }
        const ecs_template* is_a = ecs_template_get(world, ecs_entity_template(world, next));
        if (!has_terms(&bound, request, is_a) || !holds(world, &bound, next)) continue;
        base_json_write(json, "{entity=%s template=%s values=[", VIEW_ENTITY(next), is_a->name);
        for (uint32_t i = 0; i < bound.query.term_count; i++) {
            if (!is_column(&bound.query.terms[i])) continue;
            const ecs_component_id id = bound.components[i];
            view_value(json, world, id,
                       is_seen(request, is_a, id) ? ecs_find(world, next, id) : NULL);
        }
        base_json_write(json, "]}");
        rows++;
    }
    base_json_write(json, "]");
    base_json_write(json, "cut=%i", cut != ECS_ENTITY_NONE);
    if (cut != ECS_ENTITY_NONE) base_json_write(json, "next=%s", VIEW_ENTITY(cut));
    base_json_write(json, "}");
}

// ---- one entity ----

static void put_member(base_bytes* json, const ecs_world* world, ecs_entity entity) {
    base_json_write(json, "{entity=%s template=%s}", VIEW_ENTITY(entity),
                    ecs_entity_template_name(world, entity));
}

static void put_family(base_bytes* json, ecs_world* world, ecs_entity entity) {
    ecs_entity path[FAMILY_MAX];
    uint32_t depth = 0, children = 0;
    ecs_entity above = ecs_hierarchy_parent(world, entity);
    base_json_write(json, "parent=%s", VIEW_ENTITY(above));
    for (; above != ECS_ENTITY_NONE && depth < FAMILY_MAX;
         above = ecs_hierarchy_parent(world, above))
        path[depth++] = above;
    base_json_write(json, "path=[");
    while (depth > 0)
        put_member(json, world, path[--depth]);
    base_json_write(json, "] children=[");
    ecs_entity child = ecs_hierarchy_first(world, entity);
    for (; child != ECS_ENTITY_NONE && children < CHILDREN_MAX; children++) {
        put_member(json, world, child);
        child = ecs_hierarchy_next(world, child);
    }
    base_json_write(json, "] children_cut=%i", child != ECS_ENTITY_NONE);
}

static void run_entity(server_subject* subject, const server_request* request) {
    ecs_world* world = net_match_world(subject->match);
    ecs_entity entity;
    if (!view_may_look(subject, request) ||
        !view_find_entity(subject, request, "id", true, &entity))
        return;
    base_bytes* json = request->answer->json;
    const ecs_template* is_a = ecs_template_get(world, ecs_entity_template(world, entity));
    base_json_write(json, "{entity=%s template=%s tick='%ju' is_replicated=%i", VIEW_ENTITY(entity),
                    is_a->name, view_tick_of(subject, request), is_a->is_replicated);
    put_family(json, world, entity);
    base_json_write(json, "components=[");
    for (uint32_t i = 0; i < is_a->component_count; i++) {
        const ecs_template_component* component = &is_a->components[i];
        if (!view_may_see(request, component)) continue;
        const ecs_component* known = ecs_component_get(world, component->component);
        const ecs_type* type = ecs_type_get(world, known->type);
        const void* value = ecs_get(world, entity, component->component);
        base_json_write(json, "{name=%s type=%s", known->name, type->name);
        (void)view_remarks(json, world, is_a->id, component->component);
        base_json_write(json,
                        "tracked=%i replicated=%i text=", component->flags & ECS_COMPONENT_TRACKED,
                        component->flags & ECS_COMPONENT_REPLICATED);
        view_formatted(json, world, component->component, value);
        base_json_write(json, "fields=[");
        const uint8_t* object = ecs_type_object(type, value);
        const uint32_t count = ecs_type_is_varsize(type) ? 0 : type->field_count;
        for (uint32_t k = 0; k < count; k++) {
            const ecs_field* field = &type->fields[k];
            base_json_write(json, "{name=%s kind=%s value=", field->name,
                            ecs_field_kind_name(field->kind));
            view_field(json, field, object);
            base_json_write(json, "}");
        }
        base_json_write(json, "]");
        base_json_write(json, "}");
    }
    base_json_write(json, "]}");
}

static const server_verb verbs[] = {
    {"query", "[q...] [limit] [after]", "entities by components: pos, !dead where hits < 3",
     SERVER_READER, false, 0, run_query},
    {"entities", "id", "all values of one entity, and its family", SERVER_READER, false, 0,
     run_entity},
};
const server_verb_set server_query_verbs = {verbs, BASE_COUNT(verbs)};
