// SPDX-License-Identifier: MIT
// The schema of a game as JSON, for clients in other languages: what WIRE.md takes from "the game's
// own files". One line per type, template, message, setting and item.
#include "game/match_internal.h"

#include "base/json.h"
#include "proto/codec.h"
#include "state/schema_rows.h"
#include "state/varsize_value.h"

#include <inttypes.h>

static const char* kind_name(uint32_t kind) {
    static const char* const names[] = {"bool", "i8",  "i16", "i32", "i64", "u8",
                                        "u16",  "u32", "u64", "f32", "f64", "entity"};
    _Static_assert(BASE_COUNT(names) == ECS_FIELD_KIND_COUNT, "name the new kind");
    return names[kind];
}

static void put_key(base_bytes* json, const char* key, const char* text) {
    base_json_put(json, "\"%s\":", key);
    base_json_text(json, text);
}

// A comma and a line in front of all items but the first.
static void begin_item(base_bytes* json, uint32_t position) {
    base_json_put(json, "%s\n  {", position > 0 ? "," : "");
}

static void put_fields(base_bytes* json, const ecs_field* fields, uint32_t count) {
    base_json_put(json, "\"fields\":[");
    for (uint32_t f = 0; f < count; f++) {
        base_json_put(json, "%s{", f > 0 ? "," : "");
        put_key(json, "name", fields[f].name);
        base_json_put(json, ",\"kind\":\"%s\",\"number\":%d,\"count\":%u}",
                      kind_name((uint32_t)fields[f].kind), (int)fields[f].kind, fields[f].count);
    }
    base_json_put(json, "]");
}

// ---- templates ----

static void put_words(base_bytes* json, const net_row_template* row, uint32_t component) {
    const proto_row_component* part = &row->layout.components[component];
    base_json_put(json, ",\"words\":[");
    for (uint32_t f = part->field_first; f < (uint32_t)part->field_first + part->field_count; f++) {
        const proto_quant* quant = &row->layout.fields[f].quant;
        base_json_put(json, "%s{\"kind\":\"%s\",\"bits\":%u,\"exact\":%s,\"max\":\"%" PRIu64 "\"",
                      f > part->field_first ? "," : "", kind_name((uint32_t)quant->kind),
                      quant->bits, quant->is_exact ? "true" : "false", quant->q_max);
        if (!quant->is_exact) {
            base_json_put(json, ",\"min\":");
            base_json_f64(json, quant->min);
            base_json_put(json, ",\"step\":");
            base_json_f64(json, quant->step);
        }
        base_json_put(json, ",\"default\":\"%" PRIu64 "\"}", row->defaults[f]);
    }
    base_json_put(json, "]");
}

static void put_component(base_bytes* json, const ecs_world* world, const net_row_template* row,
                          uint32_t component) {
    const ecs_component_id id = (ecs_component_id)row->layout.components[component].key;
    const ecs_component* known = ecs_component_get(world, id);
    const ecs_template_component* declared =
        ecs_template_find_component(ecs_template_get(world, row->id), id);
    put_key(json, "name", known->name);
    base_json_put(json, ",");
    put_key(json, "type", ecs_type_get(world, known->type)->name);
    base_json_put(json, ",\"rotation\":%s,", declared->is_rotation ? "true" : "false");
    put_key(json, "integral_of", declared->integral ? declared->integral : "");
    base_json_put(json, ",");
    put_key(json, "visible", declared->visible ? declared->visible : "public");
    put_words(json, row, component);
}

static void put_varsize(base_bytes* json, const ecs_world* world, const net_row_template* row,
                        uint32_t position) {
    const net_row_varsize* varsize = &row->varsizes[position];
    const ecs_component* known = ecs_component_get(world, varsize->component);
    base_bytes value;
    base_bytes_init(&value, json->allocator);
    net_varsize_write_default(world, row, varsize->component, &value);
    put_key(json, "name", known->name);
    base_json_put(json, ",");
    put_key(json, "type", ecs_type_get(world, known->type)->name);
    base_json_put(json, ",\"number\":%u,\"default\":", varsize->number);
    base_json_hex(json, value.data, value.size);
    json->failed |= value.failed;
    base_bytes_deinit(&value);
}

static void put_template(base_bytes* json, const ecs_world* world, const net_row_template* row,
                         uint32_t number) {
    const ecs_template* source = ecs_template_get(world, row->id);
    put_key(json, "name", source->name);
    base_json_put(json, ",\"number\":%u,\"singleton\":%s,\"components\":[", number,
                  source->is_singleton ? "true" : "false");
    for (uint32_t c = 0; c < row->layout.component_count; c++) {
        base_json_put(json, "%s\n    {", c > 0 ? "," : "");
        put_component(json, world, row, c);
        base_json_put(json, "}");
    }
    base_json_put(json, "],\"varsizes\":[");
    for (uint32_t i = 0; i < row->varsize_count; i++) {
        base_json_put(json, "%s{", i > 0 ? "," : "");
        put_varsize(json, world, row, i);
        base_json_put(json, "}");
    }
    base_json_put(json, "]}");
}

static void put_templates(base_bytes* json, const net_match* match) {
    const net_rows* rows = net_schema_rows(match->schema);
    base_json_put(json, "\"templates\":[");
    for (uint32_t n = 0; n < net_rows_number_count(rows); n++) {
        begin_item(json, n);
        put_template(json, match->world, net_rows_by_number(rows, n), n);
    }
    base_json_put(json, "\n]");
}

// ---- types, messages, settings, items ----

static void put_types(base_bytes* json, const net_match* match) {
    const ecs_type* type;
    base_json_put(json, "\"types\":[");
    for (uint32_t id = 1; (type = ecs_type_get(match->world, (ecs_type_id)id)) != NULL; id++) {
        begin_item(json, id - 1);
        put_key(json, "name", type->name);
        base_json_put(json, ",");
        put_fields(json, type->fields, type->field_count);
        base_json_put(json, "}");
    }
    base_json_put(json, "\n]");
}

static void put_messages(base_bytes* json, const net_match* match) {
    static const char* const kinds[] = {"input", "to_server", "to_clients"};
    base_json_put(json, "\"messages\":[");
    for (uint32_t m = 0; m < match->game->message_count; m++) {
        const net_message* message = &match->game->messages[m];
        const ecs_event_desc* event = ecs_event_get(match->world, match->events[m]);
        begin_item(json, m);
        put_key(json, "name", message->name);
        base_json_put(json, ",\"number\":%u,\"kind\":\"%s\",\"reliable\":%s,\"alone\":%s,", m + 1,
                      kinds[message->kind], message->is_reliable ? "true" : "false",
                      message->is_delivered_late ? "true" : "false");
        put_key(json, "protobuf", message->descriptor->name);
        base_json_put(json, ",\"descriptor\":\"%016" PRIx64 "\",",
                      proto_descriptor_hash(message->descriptor));
        put_fields(json, event->fields, event->field_count);
        base_json_put(json, "}");
    }
    base_json_put(json, "\n]");
}

static void put_settings(base_bytes* json, const net_game_module* game) {
    base_json_put(json, "\"settings\":[");
    for (uint32_t i = 0; i < game->setting_count; i++) {
        const net_setting* setting = &game->settings[i];
        begin_item(json, i);
        put_key(json, "key", setting->key);
        base_json_put(json, ",\"default\":");
        base_json_f64(json, setting->value_default);
        base_json_put(json, ",\"min\":");
        base_json_f64(json, setting->min);
        base_json_put(json, ",\"max\":");
        base_json_f64(json, setting->max);
        base_json_put(json, ",");
        put_key(json, "help", setting->help ? setting->help : "");
        base_json_put(json, "}");
    }
    base_json_put(json, "\n]");
}

static void put_items(base_bytes* json, const net_schema* schema) {
    uint32_t count;
    const net_schema_item* items = net_schema_items(schema, &count);
    base_json_put(json, "\"items\":[");
    for (uint32_t i = 0; i < count; i++) {
        begin_item(json, i);
        put_key(json, "name", items[i].name);
        base_json_put(json, ",\"hash\":\"%016" PRIx64 "\"}", items[i].hash);
    }
    base_json_put(json, "\n]");
}

net_result net_match_print_schema(const net_match* match, base_bytes* json) {
    base_json_put(json, "{");
    put_key(json, "game", match->game->name);
    base_json_put(json, ",\"protocol\":%u,\"schema_hash\":\"%016" PRIx64 "\",\n",
                  NET_PROTOCOL_VERSION, net_schema_hash(match->schema));
    put_types(json, match);
    base_json_put(json, ",\n");
    put_templates(json, match);
    base_json_put(json, ",\n");
    put_messages(json, match);
    base_json_put(json, ",\n");
    put_settings(json, match->game);
    base_json_put(json, ",\n");
    put_items(json, match->schema);
    base_json_put(json, "}\n");
    return json->failed ? NET_ERR_MEMORY : NET_OK;
}
