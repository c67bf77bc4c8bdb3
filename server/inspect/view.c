// SPDX-License-Identifier: MIT
#include "view.h"

#include "ecs/inspect.h"
#include "net/socket.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char* view_entity(ecs_entity entity, char text[VIEW_ENTITY_BYTES]) {
    if (entity == ECS_ENTITY_NONE) return "none";
    (void)base_text_format(text, VIEW_ENTITY_BYTES, "%" PRIu32 ":%" PRIu32,
                           ecs_entity_index(entity), ecs_entity_generation(entity));
    return text;
}

// ---- values ----

static void write_element(base_bytes* json, ecs_field_kind kind, const void* element) {
    const ecs_number number = ecs_number_get(kind, element);
    switch (kind) {
    case ECS_FIELD_BOOL:
        base_json_write(json, "%i", number.natural != 0);
        return;
    case ECS_FIELD_I8:
    case ECS_FIELD_I16:
    case ECS_FIELD_I32:
        base_json_write(json, "%jd", (intmax_t)number.whole);
        return;
    case ECS_FIELD_I64:
        base_json_write(json, "'%jd'", (intmax_t)number.whole);
        return;
    case ECS_FIELD_U64:
        base_json_write(json, "'%ju'", number.natural);
        return;
    case ECS_FIELD_F32:
        base_json_write(json, isfinite(number.real) ? "%.9g" : "%a", number.real);
        return;
    case ECS_FIELD_F64:
        base_json_write(json, "%a", number.real);
        return;
    case ECS_FIELD_ENTITY:
        base_json_write(json, "%s", VIEW_ENTITY((ecs_entity)number.natural));
        return;
    default:
        base_json_write(json, "%ju", number.natural);
    }
}

void view_field(base_bytes* json, const ecs_field* field, const uint8_t* object) {
    const uint32_t bytes = ecs_field_kind_bytes(field->kind);
    const uint8_t* element = object + field->offset;
    if (field->count > 1) base_json_write(json, "[");
    for (uint32_t i = 0; i < field->count; i++)
        write_element(json, field->kind, element + (size_t)i * bytes);
    if (field->count > 1) base_json_write(json, "]");
}

void view_value(base_bytes* json, const ecs_world* world, ecs_component_id id, const void* value) {
    const ecs_type* type = ecs_type_get(world, ecs_component_get(world, id)->type);
    if (!value) {
        base_json_write(json, "null");
    } else if (type->size == 0) {
        base_json_write(json, "%i", true); // a tag
    } else if (strcmp(type->name, "t") == 0) {
        char text[VIEW_TEXT_BYTES];
        (void)base_text_copy(text, sizeof text, ecs_string_text(value));
        base_json_write(json, "%s", text);
    } else if (type->field_count == 0 || ecs_type_is_varsize(type)) {
        view_formatted(json, world, id, value);
    } else {
        if (type->field_count > 1) base_json_write(json, "[");
        for (uint32_t i = 0; i < type->field_count; i++)
            view_field(json, &type->fields[i], ecs_type_object(type, value));
        if (type->field_count > 1) base_json_write(json, "]");
    }
}

void view_formatted(base_bytes* json, const ecs_world* world, ecs_component_id id,
                    const void* value) {
    char text[VIEW_TEXT_BYTES];
    (void)ecs_type_format(ecs_type_get(world, ecs_component_get(world, id)->type), value, text,
                          sizeof text);
    base_json_write(json, "%s", text);
}

bool view_remarks(base_bytes* json, const ecs_world* world, ecs_template_id template_id,
                  ecs_component_id component) {
    const ecs_template_remarks remarks = ecs_template_remark(world, template_id, component);
    if (remarks.unit[0]) base_json_write(json, "unit=%s", remarks.unit);
    if (remarks.about[0]) base_json_write(json, "comment=%s", remarks.about);
    return remarks.unit[0] || remarks.about[0];
}

void view_first_remarks(base_bytes* json, const ecs_world* world, ecs_component_id component) {
    for (uint32_t i = 1; i <= ecs_template_count(world); i++)
        if (view_remarks(json, world, (ecs_template_id)i, component)) return;
}

void view_warn(base_bytes* json, const char* of, const char* text, const char* remedy,
               const char* figure, ...) {
    char figures[256];
    va_list arguments;
    va_start(arguments, figure);
    (void)base_text_vformat(figures, sizeof figures, figure, arguments);
    va_end(arguments);
    base_json_write(json, "{");
    if (of) base_json_write(json, "of=%s", of);
    base_json_write(json, "figure=%s text=%s remedy=%s}", figures, text, remedy);
}

// ---- names from outside ----

bool view_read_entity(const ecs_world* world, const char* text, ecs_entity* entity) {
    uint64_t index;
    if (strchr(text, ':')) return ecs_entity_parse(text, entity) && ecs_entity_index(*entity) > 0;
    if (!base_text_parse_u64(text, &index) || index == 0 || index > ECS_INDEX_MAX) return false;
    const ecs_entity next = ecs_entity_next(world, ecs_entity_make((uint32_t)index - 1, 1));
    *entity = ecs_entity_index(next) == index ? next : ecs_entity_make((uint32_t)index, 1);
    return true;
}

bool view_find_entity(const server_subject* subject, const server_request* request,
                      const char* name, bool must_live, ecs_entity* entity) {
    const ecs_world* world = net_match_world(subject->match);
    const char* text = server_request_find(request, name);
    const bool is_read = text && view_read_entity(world, text, entity);
    if (is_read && (!must_live || ecs_is_alive(world, *entity))) return true;
    if (is_read)
        server_refuse(request, 404, "entity %s does not live", text);
    else
        server_refuse(request, 400, "an entity is INDEX:GENERATION, as 17:1, not '%s'",
                      text ? text : "");
    return false;
}

bool view_find_client(const server_subject* subject, const server_request* request,
                      const char* name, net_live_peer* peer) {
    uint64_t client = 0;
    if (!server_request_number(request, name, 1, UINT32_MAX, &client)) return false;
    if (net_server_find_client(subject->server, (uint32_t)client, peer)) return true;
    return server_refuse(request, 404, "there is no client %" PRIu64, client);
}

ecs_component_id view_find_component(const ecs_world* world, const char* name, size_t name_bytes,
                                     base_nearest* nearest) {
    for (uint32_t id = 1; id <= ecs_component_count(world); id++) {
        const ecs_component* component = ecs_component_get(world, (ecs_component_id)id);
        if (strlen(component->name) == name_bytes && memcmp(component->name, name, name_bytes) == 0)
            return (ecs_component_id)id;
        if (nearest) base_nearest_offer(nearest, component->name);
    }
    return ECS_COMPONENT_NONE;
}

// ---- rights and limits ----

static bool hides(const server_subject* subject) {
    return net_match_get_config(subject->match)->module->game->interest ||
           net_schema_hides(net_match_schema(subject->match));
}

bool view_may_see_now(const server_subject* subject, server_right right) {
    return right == SERVER_OPERATOR || (subject->reader_delay_s == 0 && !hides(subject));
}

ecs_tick view_tick_of(const server_subject* subject, const server_request* request) {
    const ecs_tick tick = net_match_tick(subject->match);
    const uint64_t delay = subject->reader_delay_s * subject->tick_rate_hz;
    if (request->right == SERVER_OPERATOR) return tick;
    return tick > delay ? tick - delay : 0;
}

bool view_may_look(const server_subject* subject, const server_request* request) {
    if (view_may_see_now(subject, request->right)) return true;
    if (hides(subject))
        server_refuse(request, 403,
                      "this game hides things from players: only an operator may look into "
                      "its world");
    else
        server_refuse(request, 403,
                      "readers see this match %" PRIu64 " s late: only an operator may look "
                      "into its world",
                      subject->reader_delay_s);
    return false;
}

bool view_may_see(const server_request* request, const ecs_template_component* component) {
    return request->right == SERVER_OPERATOR ||
           ((component->flags & ECS_COMPONENT_REPLICATED) && !component->visible);
}

bool view_is_late(const server_request* request) {
    const bool is_late = net_loop_now_us() >= request->until_us;
    if (is_late && request->is_cut) *request->is_cut = true;
    return is_late;
}

void view_cut_at(base_bytes* json, bool is_cut, uint64_t next) {
    base_json_write(json, "cut=%i", is_cut);
    if (is_cut) base_json_write(json, "next='%ju'", next);
}
