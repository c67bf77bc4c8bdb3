// SPDX-License-Identifier: MIT
#include "view.h"

#include "base/text.h"
#include "ecs/inspect.h"
#include "net/socket.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// ---- JSON ----

static void begin_object(base_bytes* json, const char* key) {
    const char last = json->size > 0 ? (char)json->data[json->size - 1] : '{';
    if (!strchr("{[: \n", last)) base_bytes_write_u8(json, ',');
    if (!key) return;
    base_json_text(json, key);
    base_bytes_write_u8(json, ':');
}

void view_open(base_bytes* json, const char* key, char bracket) {
    begin_object(json, key);
    base_bytes_write_u8(json, (uint8_t)bracket);
}

void view_close(base_bytes* json, const char* brackets) {
    base_bytes_write(json, brackets, strlen(brackets));
}

void view_text(base_bytes* json, const char* key, const char* text) {
    begin_object(json, key);
    base_json_text(json, text);
}

void view_bool(base_bytes* json, const char* key, bool value) {
    begin_object(json, key);
    base_bytes_write(json, value ? "true" : "false", value ? 4 : 5);
}

void view_u32(base_bytes* json, const char* key, uint32_t value) {
    begin_object(json, key);
    base_json_put(json, "%" PRIu32, value);
}

void view_u64(base_bytes* json, const char* key, uint64_t value) {
    begin_object(json, key);
    base_json_put(json, "\"%" PRIu64 "\"", value);
}

void view_f64(base_bytes* json, const char* key, double value) {
    begin_object(json, key);
    if (!(value > -1e12 && value < 1e12)) {
        base_json_f64(json, value);
        return;
    }
    const int64_t milli = (int64_t)(value * 1000.0 + (value < 0 ? -0.5 : 0.5));
    const uint64_t size = milli < 0 ? (uint64_t)-milli : (uint64_t)milli;
    base_json_put(json, size % 1000 ? "%s%" PRIu64 ".%03u" : "%s%" PRIu64, milli < 0 ? "-" : "",
                  size / 1000, (unsigned)(size % 1000));
}

void view_number(base_bytes* json, const char* key, double value) {
    begin_object(json, key);
    base_json_f64(json, value);
}

static void put_entity(base_bytes* json, ecs_entity entity) {
    if (entity == ECS_ENTITY_NONE)
        base_json_put(json, "\"none\"");
    else
        base_json_put(json, "\"%" PRIu32 ":%" PRIu32 "\"", ecs_entity_index(entity),
                      ecs_entity_generation(entity));
}

void view_entity(base_bytes* json, const char* key, ecs_entity entity) {
    begin_object(json, key);
    put_entity(json, entity);
}

void view_tick(base_bytes* json, const server_subject* subject, const server_request* request) {
    view_u64(json, "tick", view_tick_of(subject, request));
}

// ---- values ----

static void put_element(base_bytes* json, const char* key, ecs_field_kind kind,
                        const void* element) {
    const ecs_number number = ecs_number_get(kind, element);
    begin_object(json, key);
    switch (kind) {
    case ECS_FIELD_BOOL:
        base_json_put(json, number.natural ? "true" : "false");
        return;
    case ECS_FIELD_I8:
    case ECS_FIELD_I16:
    case ECS_FIELD_I32:
        base_json_put(json, "%" PRId64, number.whole);
        return;
    case ECS_FIELD_I64:
        base_json_put(json, "\"%" PRId64 "\"", number.whole);
        return;
    case ECS_FIELD_U64:
        base_json_put(json, "\"%" PRIu64 "\"", number.natural);
        return;
    case ECS_FIELD_F32:
        base_json_put(json, isfinite(number.real) ? "%.9g" : "null", number.real);
        return;
    case ECS_FIELD_F64:
        base_json_f64(json, number.real);
        return;
    case ECS_FIELD_ENTITY:
        put_entity(json, (ecs_entity)number.natural);
        return;
    default:
        base_json_put(json, "%" PRIu64, number.natural);
    }
}

void view_field(base_bytes* json, const char* key, const ecs_field* field, const uint8_t* object) {
    const uint32_t bytes = ecs_field_kind_bytes(field->kind);
    const uint8_t* element = object + field->offset;
    if (field->count == 1) {
        put_element(json, key, field->kind, element);
        return;
    }
    view_open(json, key, '[');
    for (uint32_t i = 0; i < field->count; i++)
        put_element(json, NULL, field->kind, element + (size_t)i * bytes);
    view_close(json, "]");
}

// Of a t the text itself, of other such values what a dump writes.
static void put_varsize(base_bytes* json, const char* key, const ecs_type* type,
                        const void* value) {
    char text[VIEW_TEXT_BYTES];
    if (strcmp(type->name, "t") == 0)
        (void)base_text_copy(text, sizeof text, ecs_string_text(value));
    else
        (void)ecs_type_format(type, value, text, sizeof text);
    view_text(json, key, text);
}

void view_value(base_bytes* json, const char* key, const ecs_world* world, ecs_component_id id,
                const void* value) {
    const ecs_type* type = ecs_type_get(world, ecs_component_get(world, id)->type);
    if (!value) {
        begin_object(json, key);
        base_json_put(json, "null");
    } else if (type->size == 0) {
        view_bool(json, key, true); // a tag
    } else if (type->field_count == 0 || ecs_type_is_varsize(type)) {
        put_varsize(json, key, type, value);
    } else if (type->field_count == 1) {
        view_field(json, key, &type->fields[0], ecs_type_object(type, value));
    } else {
        view_open(json, key, '[');
        for (uint32_t i = 0; i < type->field_count; i++)
            view_field(json, NULL, &type->fields[i], ecs_type_object(type, value));
        view_close(json, "]");
    }
}

void view_formatted(base_bytes* json, const char* key, const ecs_world* world, ecs_component_id id,
                    const void* value) {
    char text[VIEW_TEXT_BYTES];
    const ecs_type* type = ecs_type_get(world, ecs_component_get(world, id)->type);
    (void)ecs_type_format(type, value, text, sizeof text);
    view_text(json, key, text);
}

bool view_remarks(base_bytes* json, const ecs_world* world, ecs_template_id template_id,
                  ecs_component_id component) {
    const ecs_template_remarks remarks = ecs_template_remark(world, template_id, component);
    if (remarks.unit[0]) view_text(json, "unit", remarks.unit);
    if (remarks.about[0]) view_text(json, "comment", remarks.about);
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
    view_open(json, NULL, '{');
    if (of) view_text(json, "of", of);
    view_text(json, "figure", figures);
    view_text(json, "text", text);
    view_text(json, "remedy", remedy);
    view_close(json, "}");
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
                      const char* name, bool must_live, ecs_entity* entity, server_answer* answer) {
    const ecs_world* world = net_match_world(subject->match);
    const char* text = server_request_find(request, name);
    const bool is_read = text && view_read_entity(world, text, entity);
    if (is_read && (!must_live || ecs_is_alive(world, *entity))) return true;
    if (is_read)
        server_answer_error(answer, 404, "entity %s does not live", text);
    else
        server_answer_error(answer, 400, "an entity is INDEX:GENERATION, as 17:1, not '%s'",
                            text ? text : "");
    return false;
}

bool view_find_client(const server_subject* subject, const server_request* request,
                      const char* name, net_live_peer* peer, server_answer* answer) {
    uint64_t client = 0;
    if (!server_request_number(request, name, 1, UINT32_MAX, &client, answer)) return false;
    if (net_server_find_client(subject->server, (uint32_t)client, peer)) return true;
    return server_answer_error(answer, 404, "there is no client %" PRIu64, client);
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

bool view_may_look(const server_subject* subject, const server_request* request,
                   server_answer* answer) {
    if (view_may_see_now(subject, request->right)) return true;
    if (hides(subject))
        server_answer_error(answer, 403,
                            "this game hides things from players: only an operator may look into "
                            "its world");
    else
        server_answer_error(answer, 403,
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

void view_cut(base_bytes* json, const char* next) {
    view_bool(json, "cut", next != NULL);
    if (next) view_text(json, "next", next);
}

void view_cut_at(base_bytes* json, bool is_cut, uint64_t next) {
    char text[24];
    (void)base_text_format(text, sizeof text, "%" PRIu64, next);
    view_cut(json, is_cut ? text : NULL);
}
