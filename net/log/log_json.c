// SPDX-License-Identifier: MIT
// With the game's module messages are decoded, without it they are hex. 64-bit hashes are text:
// JSON numbers have 53 bits.
#include "base/assert.h"
#include "base/bytes.h"
#include "base/json.h"
#include "base/text.h"
#include "log/log_read.h"
#include "log/log_record.h"
#include "log/log_source.h"
#include "net/log_tools.h"
#include "net/match.h"
#include "proto/codec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Lines of JSON about a log: texts, entities, messages, and the items of its records.

// A line while it is written. What fails for lack of memory shows in json_end.
typedef struct net_log_json {
    const net_module* module; ///< NULL: messages are hex
    proto_codec codec;
    bool has_codec;
    base_bytes text; ///< of the line so far
} net_log_json;

// @return false when memory ran out; json_deinit is needed in both cases.
static bool json_init(net_log_json* self, const base_allocator* allocator,
                      const net_module* module) {
    *self = (net_log_json){.module = module};
    base_bytes_init(&self->text, allocator);
    self->has_codec = proto_codec_init(&self->codec, allocator, PROTO_UNPACK_BYTES_MAX);
    return self->has_codec;
}

static void json_deinit(net_log_json* self) {
    if (self->has_codec) proto_codec_deinit(&self->codec);
    base_bytes_deinit(&self->text);
}

// Give the line to `line` and begin the next one. @return false when memory ran out.
static bool json_end(net_log_json* self, ecs_line_fn line, void* context) {
    base_bytes_write_u8(&self->text, 0);
    if (self->text.failed) return false;
    line(context, (const char*)self->text.data);
    base_bytes_clear(&self->text);
    return true;
}

// Append as it is; at most 255 bytes.
static void json_put(net_log_json* self, const char* format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size > 0) base_bytes_write(&self->text, text, strlen(text));
}

static void json_text(net_log_json* self, const char* text) {
    base_json_text(&self->text, text);
}

// Append "INDEX:GENERATION" with quotes.
static void json_entity(net_log_json* self, ecs_entity entity) {
    json_put(self, "\"%u:%u\"", ecs_entity_index(entity), ecs_entity_generation(entity));
}

static void json_hex(net_log_json* self, const uint8_t* data, size_t size) {
    base_json_hex(&self->text, data, size);
}

// Position of the message in the module's table; UINT32_MAX for none.
static uint32_t position_of(const net_log_json* self, const net_log_item* item) {
    if (!self->module) return UINT32_MAX;
    const net_game_module* game = self->module->game;
    if (item->kind != NET_LOG_ITEM_INPUT)
        return item->message - 1 < game->message_count ? item->message - 1 : UINT32_MAX;
    for (uint32_t i = 0; i < game->message_count; i++)
        if (game->messages[i].kind == NET_MESSAGE_INPUT) return i;
    return UINT32_MAX;
}

static const net_message* message_of(const net_log_json* self, const net_log_item* item) {
    const uint32_t position = position_of(self, item);
    return position == UINT32_MAX ? NULL : &self->module->game->messages[position];
}

// @return false when the message cannot be decoded: nothing was written.
static bool put_decoded(net_log_json* self, const net_log_item* item, const char* key) {
    const net_message* message = message_of(self, item);
    const ProtobufCMessage* decoded =
        message ? proto_codec_decode(&self->codec, message->descriptor, item->payload,
                                     item->payload_bytes, NET_EVENT_PAYLOAD_BYTES_MAX)
                : NULL;
    if (!decoded) return false;
    json_put(self, "%s", key);
    proto_json(decoded, &self->text);
    return true;
}

// Append the message of an input or event as an object, or as hex.
static void json_message(net_log_json* self, const net_log_item* item) {
    if (!put_decoded(self, item, "")) json_hex(self, item->payload, item->payload_bytes);
}

// Append ,"name":NAME,"value":OBJECT, or ,"payload":HEX for what cannot be decoded.
static void net_log_json_payload(net_log_json* self, const net_log_item* item) {
    const net_message* message = message_of(self, item);
    if (message) {
        json_put(self, ",\"name\":");
        json_text(self, message->name);
    }
    if (put_decoded(self, item, ",\"value\":")) return;
    json_put(self, ",\"payload\":");
    json_hex(self, item->payload, item->payload_bytes);
}

// Append a whole item as an object.
static void json_item(net_log_json* self, const net_log_item* item) {
    json_put(self, "{");
    if (item->kind != NET_LOG_ITEM_SERVER_EVENT) json_put(self, "\"client\":%u", item->client);
    switch (item->kind) {
    case NET_LOG_ITEM_LEAVE:
        json_put(self, ",\"reason\":%u", item->reason);
        break;
    case NET_LOG_ITEM_JOIN:
        json_put(self, ",\"name\":");
        json_text(self, item->name);
        json_put(self, ",\"is_bot\":%s", item->is_bot ? "true" : "false");
        if (item->player_id != 0) json_put(self, ",\"player_id\":%" PRIu64, item->player_id);
        if (item->payload_bytes > 0) {
            json_put(self, ",\"user_data\":");
            json_hex(self, item->payload, item->payload_bytes);
        }
        break;
    case NET_LOG_ITEM_INPUT:
        json_put(self, ",\"number\":%u", item->number);
        if (item->seen > 0) json_put(self, ",\"view\":%" PRIu64, item->seen);
        if (item->is_repeat) json_put(self, ",\"is_repeat\":true");
        if (!item->is_repeat) net_log_json_payload(self, item);
        break;
    default:
        if (item->kind == NET_LOG_ITEM_EVENT) json_put(self, ",");
        if (item->number > 0) json_put(self, "\"number\":%u,", item->number);
        json_put(self, "\"message\":%u,\"target\":", item->message);
        json_entity(self, item->target);
        net_log_json_payload(self, item);
    }
    json_put(self, "}");
}

// ---- a whole log ----

// A log as lines of JSON, for people and for tools. It reads the records and replays nothing.

typedef struct dump {
    net_log_reader* reader;
    ecs_line_fn line;
    void* context;
    net_log_json json;
} dump;

static void put_items(dump* self, const net_log_record* record, net_log_item_kind kind,
                      const char* name) {
    if (record->item_count[kind] == 0) return;
    json_put(&self->json, ",\"%s\":[", name);
    size_t offset = 0;
    net_log_item item;
    for (bool is_first = true; net_log_item_next(record, kind, &offset, &item); is_first = false) {
        if (!is_first) json_put(&self->json, ",");
        json_item(&self->json, &item);
    }
    json_put(&self->json, "]");
}

static void put_hashes(dump* self, const net_log_record* record) {
    json_put(&self->json, ",\"state_hash\":\"%016" PRIx64 "\"", record->state_hash);
    if (record->has_world_hash)
        json_put(&self->json, ",\"world_hash\":\"%016" PRIx64 "\"", record->world_hash);
}

// Bytes that are no text are hexadecimal digits.
static void put_argument(net_log_json* json, const net_match_argument* argument) {
    char text[ECS_STRING_BYTES_MAX + 1];
    if (net_log_argument_text(argument, text))
        json_text(json, text);
    else
        json_hex(json, argument->data, argument->size);
}

static void put_control(dump* self, const net_log_record* record) {
    json_put(&self->json, ",\"verb\":\"%s\",\"arguments\":[", record->verb);
    size_t offset = 0;
    net_match_argument argument;
    for (bool is_first = true; net_log_argument_next(record, &offset, &argument);
         is_first = false) {
        if (!is_first) json_put(&self->json, ",");
        put_argument(&self->json, &argument);
    }
    json_put(&self->json, "]");
}

// Records of kinds that this version does not know: one line for all that stand together.
static bool put_others(dump* self, uint64_t* count, uint64_t* bytes) {
    json_put(&self->json, "{\"other\":{\"records\":%" PRIu64 ",\"bytes\":%" PRIu64 "}}", *count,
             *bytes);
    *count = *bytes = 0;
    return json_end(&self->json, self->line, self->context);
}

static void put_record(dump* self, const net_log_record* record) {
    static const char* const names[] = {"other", "begin",   "end",  "close",
                                        "state", "control", "alive"};
    json_put(&self->json, "{\"%s\":{\"tick\":%" PRIu64, names[record->kind], record->tick);
    if (record->kind == NET_LOG_KIND_BEGIN) {
        put_items(self, record, NET_LOG_ITEM_LEAVE, "leaves");
        put_items(self, record, NET_LOG_ITEM_JOIN, "joins");
        put_items(self, record, NET_LOG_ITEM_EVENT, "events");
        put_items(self, record, NET_LOG_ITEM_INPUT, "inputs");
    } else if (record->kind == NET_LOG_KIND_END) {
        put_hashes(self, record);
        put_items(self, record, NET_LOG_ITEM_SERVER_EVENT, "events");
        if (record->events_left_out > 0)
            json_put(&self->json, ",\"events_left_out\":%u", record->events_left_out);
    } else if (record->kind == NET_LOG_KIND_CLOSE) {
        put_hashes(self, record);
    } else if (record->kind == NET_LOG_KIND_CONTROL) {
        put_control(self, record);
    } else if (record->kind == NET_LOG_KIND_ALIVE) {
        json_put(&self->json, ",\"reason\":%u", record->reason);
    } else {
        json_put(&self->json, ",\"bytes\":%u", record->changes_bytes);
    }
    json_put(&self->json, "}}");
}

static void put_header(dump* self) {
    const net_log_info* info = net_log_reader_info(self->reader);
    json_put(&self->json, "{\"header\":{\"game\":");
    json_text(&self->json, info->game);
    json_put(&self->json, ",\"build\":");
    json_text(&self->json, info->build);
    json_put(&self->json,
             ",\"identity\":\"%016" PRIx64 "\",\"content_hash\":\"%016" PRIx64
             "\",\"schema_hash\":\"%016" PRIx64 "\"",
             info->identity, info->content_hash, info->schema_hash);
    json_put(&self->json, ",\"seed\":%" PRIu64 ",\"tick_rate_hz\":%u,\"replicated_index_max\":%u",
             info->seed, info->tick_rate_hz, info->replicated_index_max);
    json_put(&self->json, ",\"started_unix_ms\":%" PRIu64 ",\"settings\":[", info->started_unix_ms);
    for (uint32_t i = 0; i < info->setting_count; i++) {
        if (i > 0) json_put(&self->json, ",");
        json_text(&self->json, info->settings[i]);
    }
    json_put(&self->json, "]}}");
}

static net_result walk_records(dump* self) {
    put_header(self);
    if (!json_end(&self->json, self->line, self->context)) return NET_ERR_MEMORY;
    net_log_cursor cursor = net_log_cursor_begin(self->reader);
    net_log_record record;
    uint64_t others = 0, other_bytes = 0;
    while (net_log_cursor_next(self->reader, &cursor, &record)) {
        if (record.kind == NET_LOG_KIND_OTHER) {
            others++;
            other_bytes += record.size;
            continue;
        }
        if (others > 0 && !put_others(self, &others, &other_bytes)) return NET_ERR_MEMORY;
        put_record(self, &record);
        if (!json_end(&self->json, self->line, self->context)) return NET_ERR_MEMORY;
    }
    if (others > 0 && !put_others(self, &others, &other_bytes)) return NET_ERR_MEMORY;
    return cursor.has_failed ? NET_ERR_DAMAGED : NET_OK;
}

net_result net_log_dump(net_log_reader* reader, const net_module* module, ecs_line_fn line,
                        void* context) {
    BASE_ASSERT(reader && line);
    dump self = {.reader = reader, .line = line, .context = context};
    net_result result = NET_ERR_MEMORY;
    if (json_init(&self.json, net_log_reader_allocator(reader), module))
        result = walk_records(&self);
    json_deinit(&self.json);
    return result;
}

// ---- tables of values, inputs and events ----

// Values are one table: a row for each entity and tick, a column for each element of a field. A
// field that is alone in its component has the component's name. Inputs and events are a table
// each; their messages are JSON in one column, because every message has other fields.

enum { TEXT_BYTES_MAX = 8192 };

typedef struct export {
    net_log_reader* reader;
    const net_module* module;
    const net_log_export_config* config;
    const base_reporter* reporter;
    net_log_exported* exported;
    ecs_line_fn line;
    void* context;
    net_log_json row;
    net_log_json cell; // a message, before it becomes a cell of CSV
    net_log_source* source;
    uint32_t* chosen; // positions of components
    uint32_t chosen_count;
    ecs_number* values; // of one component
    uint32_t values_max;
    char* text;
    bool is_csv;
    bool has_cells; // the row has some
}
export;

static bool end_row(export* self) {
    self->exported->rows++;
    return json_end(&self->row, self->line, self->context);
}

// ---- cells of CSV

static void put_comma(export* self) {
    if (self->has_cells) json_put(&self->row, ",");
    self->has_cells = true;
}

// RFC 4180: quotes around what has a comma, a quote or a line end; quotes are doubled.
static void put_csv(export* self, const char* text) {
    put_comma(self);
    if (!strpbrk(text, ",\"\r\n")) {
        base_bytes_write(&self->row.text, text, strlen(text));
        return;
    }
    base_bytes_write_u8(&self->row.text, '"');
    for (const char* at = text; *at; at++) {
        if (*at == '"') base_bytes_write_u8(&self->row.text, '"');
        base_bytes_write_u8(&self->row.text, (uint8_t)*at);
    }
    base_bytes_write_u8(&self->row.text, '"');
}

// A number of JSON as a cell: no quotes, and nothing for null.
static void put_csv_number(export* self, const char* number) {
    size_t size = strlen(number);
    put_comma(self);
    if (strcmp(number, "null") == 0) return;
    if (number[0] == '"')
        base_bytes_write(&self->row.text, number + 1, size - 2);
    else
        base_bytes_write(&self->row.text, number, size);
}

// ---- values

static net_result choose(export* self) {
    const uint32_t count = net_log_source_component_count(self->source);
    const base_allocator* allocator = net_log_reader_allocator(self->reader);
    self->chosen = base_allocate(allocator, (count + 1) * sizeof *self->chosen);
    self->text = base_allocate(allocator, TEXT_BYTES_MAX);
    if (!self->chosen || !self->text) return NET_ERR_MEMORY;
    net_result result = net_log_source_choose(self->source, self->reader, self->config->components,
                                              self->reporter, self->chosen, &self->chosen_count);
    for (uint32_t i = 0; i < self->chosen_count; i++) {
        const net_log_component* component =
            net_log_source_component(self->source, self->chosen[i]);
        if (component->value_count > self->values_max) self->values_max = component->value_count;
    }
    self->values = base_allocate(allocator, (self->values_max + 1) * sizeof *self->values);
    return self->values ? result : NET_ERR_MEMORY;
}

// "pos.x", "scores.points.3", or "health".
static void put_column_name(export* self, const net_log_component* component,
                            const net_log_field* field, uint32_t element) {
    char name[2 * ECS_NAME_BYTES_MAX + 16];
    if (component->field_count == 1 && field->count == 1)
        snprintf(name, sizeof name, "%s", component->name);
    else if (field->count == 1)
        snprintf(name, sizeof name, "%s.%s", component->name, field->name);
    else
        snprintf(name, sizeof name, "%s.%s.%u", component->name, field->name, element);
    put_csv(self, name);
}

static bool write_value_names(export* self) {
    json_put(&self->row, "tick,entity,template");
    self->has_cells = true;
    for (uint32_t i = 0; i < self->chosen_count; i++) {
        const net_log_component* component =
            net_log_source_component(self->source, self->chosen[i]);
        if (component->value_count == 0) put_csv(self, component->name);
        for (uint32_t f = 0; f < component->field_count; f++)
            for (uint32_t k = 0; k < component->fields[f].count; k++)
                put_column_name(self, component, &component->fields[f], k);
    }
    return json_end(&self->row, self->line, self->context);
}

static void put_csv_component(export* self, ecs_entity entity, uint32_t position) {
    const net_log_component* component = net_log_source_component(self->source, position);
    const bool is_there = net_log_source_has(self->source, entity, position);
    char number[NET_LOG_NUMBER_BYTES];
    if (component->value_count == 0) {
        self->text[0] = 0;
        if (is_there && component->is_varsize)
            net_log_source_text(self->source, entity, position, self->text, TEXT_BYTES_MAX);
        else if (is_there)
            (void)base_text_copy(self->text, TEXT_BYTES_MAX, "true"); // a tag
        put_csv(self, self->text);
        return;
    }
    if (is_there) net_log_source_read(self->source, entity, position, self->values);
    for (uint32_t i = 0; i < component->value_count; i++) {
        (void)base_text_copy(number, sizeof number, "null");
        if (is_there) net_log_source_number(&self->values[i], number);
        put_csv_number(self, number);
    }
}

static void put_json_fields(export* self, const net_log_component* component) {
    const ecs_number* value = self->values;
    const bool is_alone = component->field_count == 1;
    char number[NET_LOG_NUMBER_BYTES];
    if (!is_alone) json_put(&self->row, "{");
    for (uint32_t f = 0; f < component->field_count; f++) {
        const net_log_field* field = &component->fields[f];
        if (f > 0) json_put(&self->row, ",");
        if (!is_alone) {
            json_text(&self->row, field->name);
            json_put(&self->row, ":");
        }
        if (field->count > 1) json_put(&self->row, "[");
        for (uint32_t k = 0; k < field->count; k++) {
            net_log_source_number(value++, number);
            json_put(&self->row, "%s%s", k > 0 ? "," : "", number);
        }
        if (field->count > 1) json_put(&self->row, "]");
    }
    if (!is_alone) json_put(&self->row, "}");
}

static void put_json_component(export* self, ecs_entity entity, uint32_t position) {
    const net_log_component* component = net_log_source_component(self->source, position);
    json_put(&self->row, ",");
    json_text(&self->row, component->name);
    json_put(&self->row, ":");
    if (component->is_varsize) {
        net_log_source_text(self->source, entity, position, self->text, TEXT_BYTES_MAX);
        json_text(&self->row, self->text);
    } else if (component->value_count == 0) {
        json_put(&self->row, "true"); // a tag
    } else {
        net_log_source_read(self->source, entity, position, self->values);
        put_json_fields(self, component);
    }
}

static bool write_entity(export* self, ecs_tick tick, ecs_entity entity) {
    bool has_any = false;
    for (uint32_t i = 0; i < self->chosen_count && !has_any; i++)
        has_any = net_log_source_has(self->source, entity, self->chosen[i]);
    if (!has_any) return true;
    const char* name = net_log_source_template(self->source, entity);
    if (self->is_csv) {
        json_put(&self->row, "%" PRIu64 ",%u:%u", tick, ecs_entity_index(entity),
                 ecs_entity_generation(entity));
        self->has_cells = true;
        put_csv(self, name);
    } else {
        json_put(&self->row, "{\"tick\":%" PRIu64 ",\"entity\":", tick);
        json_entity(&self->row, entity);
        json_put(&self->row, ",\"template\":");
        json_text(&self->row, name);
    }
    for (uint32_t i = 0; i < self->chosen_count; i++) {
        if (self->is_csv)
            put_csv_component(self, entity, self->chosen[i]);
        else if (net_log_source_has(self->source, entity, self->chosen[i]))
            put_json_component(self, entity, self->chosen[i]);
    }
    if (!self->is_csv) json_put(&self->row, "}");
    return end_row(self);
}

static net_result write_values(export* self) {
    const net_log_export_config* config = self->config;
    const uint64_t every = config->every > 0 ? config->every : 1;
    ecs_tick last = net_log_reader_info(self->reader)->last_tick;
    if (config->last > 0 && config->last < last) last = config->last;
    net_result result = net_log_source_create(self->reader, self->module, config->first,
                                              self->reporter, &self->source);
    if (result == NET_OK) result = choose(self);
    if (result == NET_OK && self->is_csv && !write_value_names(self)) result = NET_ERR_MEMORY;
    while (result == NET_OK) {
        if (net_log_source_tick(self->source) >= last) break;
        result = net_log_source_step(self->source);
        // Behind damage, and in a part of a log, the next tick is a later one.
        const ecs_tick tick = net_log_source_tick(self->source);
        if (tick > last) break;
        self->exported->diverged_tick = net_log_source_diverged(self->source);
        if (result != NET_OK || tick < config->first) continue;
        self->exported->ticks++;
        if (tick % every != 0) continue;
        if (!net_log_source_is_whole(self->source)) {
            self->exported->ticks_lacking++;
            continue;
        }
        for (ecs_entity at = net_log_source_next(self->source, ECS_ENTITY_NONE);
             at != ECS_ENTITY_NONE && result == NET_OK; at = net_log_source_next(self->source, at))
            if (!write_entity(self, tick, at)) result = NET_ERR_MEMORY;
    }
    return result == NET_ERR_CLOSED ? NET_OK : result;
}

// ---- inputs and events

static const char* const item_names[NET_LOG_ITEM_KINDS] = {
    [NET_LOG_ITEM_LEAVE] = "leave",
    [NET_LOG_ITEM_JOIN] = "join",
    [NET_LOG_ITEM_EVENT] = "client_event",
    [NET_LOG_ITEM_SERVER_EVENT] = "server_event",
};

static bool write_json_item(export* self, ecs_tick tick, const net_log_item* item) {
    json_put(&self->row, "{\"tick\":%" PRIu64 ",", tick);
    if (self->config->what == NET_LOG_EXPORT_EVENTS)
        json_put(&self->row, "\"kind\":\"%s\",", item_names[item->kind]);
    const size_t brace = self->row.text.size;
    json_item(&self->row, item);
    if (!self->row.text.failed) // an object's brace: its fields go on behind those above
        memmove(self->row.text.data + brace, self->row.text.data + brace + 1,
                --self->row.text.size - brace);
    return end_row(self);
}

// One cell with JSON: an event with all its fields; of an input, whose numbers have columns of
// their own, the message.
static bool put_item_cell(export* self, const net_log_item* item) {
    if (item->kind != NET_LOG_ITEM_INPUT)
        json_item(&self->cell, item);
    else if (!item->is_repeat)
        json_message(&self->cell, item);
    base_bytes_write_u8(&self->cell.text, 0);
    if (self->cell.text.failed) return false;
    put_csv(self, (const char*)self->cell.text.data);
    base_bytes_clear(&self->cell.text);
    return true;
}

static bool write_csv_item(export* self, ecs_tick tick, const net_log_item* item) {
    json_put(&self->row, "%" PRIu64 ",%u", tick, item->client);
    self->has_cells = true;
    if (self->config->what == NET_LOG_EXPORT_EVENTS)
        put_csv(self, item_names[item->kind]);
    else
        json_put(&self->row, ",%u,%s,%" PRIu64, item->number, item->is_repeat ? "true" : "false",
                 item->seen);
    return put_item_cell(self, item) && end_row(self);
}

static net_result write_items_of(export* self, const net_log_record* record) {
    for (net_log_item_kind kind = NET_LOG_ITEM_LEAVE; kind < NET_LOG_ITEM_KINDS; kind++) {
        const bool is_input = kind == NET_LOG_ITEM_INPUT;
        if (is_input != (self->config->what == NET_LOG_EXPORT_INPUTS)) continue;
        size_t offset = 0;
        net_log_item item;
        while (net_log_item_next(record, kind, &offset, &item)) {
            bool is_written = self->is_csv ? write_csv_item(self, record->tick, &item)
                                           : write_json_item(self, record->tick, &item);
            if (!is_written) return NET_ERR_MEMORY;
        }
    }
    return NET_OK;
}

static net_result write_items(export* self) {
    const net_log_export_config* config = self->config;
    net_result result = NET_OK;
    if (self->is_csv) {
        json_put(&self->row, config->what == NET_LOG_EXPORT_INPUTS
                                 ? "tick,client,number,is_repeat,view,input"
                                 : "tick,client,kind,event");
        if (!json_end(&self->row, self->line, self->context)) return NET_ERR_MEMORY;
    }
    net_log_cursor cursor = net_log_cursor_begin(self->reader);
    net_log_record record;
    while (result == NET_OK && net_log_cursor_next(self->reader, &cursor, &record)) {
        if (record.kind != NET_LOG_KIND_BEGIN && record.kind != NET_LOG_KIND_END) continue;
        if (record.tick < config->first) continue;
        if (config->last > 0 && record.tick > config->last) break;
        self->exported->ticks += record.kind == NET_LOG_KIND_END;
        result = write_items_of(self, &record);
    }
    return cursor.has_failed ? NET_ERR_DAMAGED : result;
}

net_result net_log_export(net_log_reader* reader, const net_module* module,
                          const net_log_export_config* config, ecs_line_fn line, void* context,
                          const base_reporter* reporter, net_log_exported* exported) {
    BASE_ASSERT(reader && config && line && exported);
    const base_allocator* allocator = net_log_reader_allocator(reader);
    *exported = (net_log_exported){0};
    export self = {.reader = reader,
                   .module = module,
                   .config = config,
                   .reporter = reporter,
                   .exported = exported,
                   .line = line,
                   .context = context,
                   .is_csv = config->format == NET_LOG_EXPORT_CSV};
    net_result result = NET_ERR_MEMORY;
    bool is_ready = json_init(&self.row, allocator, module);
    if (json_init(&self.cell, allocator, module) && is_ready)
        result = config->what == NET_LOG_EXPORT_VALUES ? write_values(&self) : write_items(&self);
    const uint32_t count = self.source ? net_log_source_component_count(self.source) : 0;
    if (self.chosen) base_release(allocator, self.chosen, (count + 1) * sizeof *self.chosen);
    if (self.values)
        base_release(allocator, self.values, (self.values_max + 1) * sizeof *self.values);
    if (self.text) base_release(allocator, self.text, TEXT_BYTES_MAX);
    net_log_source_destroy(self.source);
    json_deinit(&self.cell);
    json_deinit(&self.row);
    return result;
}
