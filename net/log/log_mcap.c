// SPDX-License-Identifier: MIT
// A log as MCAP, for tools that show messages over time (Foxglove, Lichtblick, PlotJuggler).
// Topics:
//
//     /inputs, /players            what clients sent; joins and leaves
//     /control                     what operators did: set, put, mark, say...
//     /events/NAME                 the game's events, with its own message
//     /components/NAME             all entities that have the component, once per tick
//     /scene                       foxglove.SceneUpdate: a ball or a box where each entity is
//
// Schemas are made: of the game's messages from their descriptors, of components from their
// fields. Records first, then values: a reader of the file sorts by time.
#include "log/log_mcap.h"
#include "log/log_read.h"
#include "log/log_record.h"
#include "log/mcap.h"

#include "net/log_tools.h"
#include "net/match.h"
#include "proto/codec.h"
#include "proto/pb_wire.h"

#include "base/assert.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum {
    SCHEMA_BYTES_MAX = 1 << 18,
    NAME_BYTES = NET_LOG_MCAP_NAME_BYTES,
    TEXT_MAX = 8192,
    FIELD_FIRST = 16, // of a component's own fields
    TOPICS_MAX = 1024,
};

typedef struct exporter {
    net_log_reader* reader;
    const net_module* module;
    const net_log_export_config* config;
    const base_reporter* reporter;
    net_log_exported* exported;
    const base_allocator* allocator;
    net_mcap* mcap;
    net_log_source* source;
    net_result failure;                 // of the channel that could not be added
    uint32_t inputs, players, controls; // channels; 0: not yet
    uint32_t events[TOPICS_MAX];        // [message]
    uint32_t component_count;
    uint32_t *chosen, chosen_count; // positions of components
    uint32_t* channels;             // [chosen]
    net_log_scene scene;
    uint32_t scene_channel;
    ecs_number* values; // of one component
    uint32_t values_max;
    char* text;
    uint8_t* schema; // a FileDescriptorSet
    uint8_t* entry;  // one entity in a message
    size_t entry_bytes;
    base_bytes message;
} exporter;

// ---- topics

static proto_pb_writer begin_schema(exporter* self) {
    return (proto_pb_writer){.data = self->schema, .capacity = SCHEMA_BYTES_MAX};
}

// @return the channel; 0: `failure` says why.
static uint32_t add_channel(exporter* self, const char* topic, const char* type,
                            const proto_pb_writer* pb) {
    const char* file = net_log_reader_file(self->reader);
    const uint32_t channel =
        pb->failed ? 0 : net_mcap_channel(self->mcap, topic, type, pb->data, pb->size);
    if (pb->failed || (channel == 0 && net_mcap_is_full(self->mcap))) {
        self->failure = NET_ERR_FULL;
        base_report(self->reporter, file, 0,
                    pb->failed ? "%s: its schema has more than %u bytes: choose other --components"
                               : "%s: MCAP has room for %u topics: choose fewer --components",
                    topic, pb->failed ? SCHEMA_BYTES_MAX : NET_MCAP_CHANNELS_MAX - 1);
    }
    return channel;
}

// ---- records

static const net_message* message_of(const exporter* self, const net_log_item* item) {
    if (!self->module) return NULL;
    const net_game_module* game = self->module->game;
    if (item->kind != NET_LOG_ITEM_INPUT)
        return item->message - 1 < game->message_count ? &game->messages[item->message - 1] : NULL;
    for (uint32_t i = 0; i < game->message_count; i++)
        if (game->messages[i].kind == NET_MESSAGE_INPUT) return &game->messages[i];
    return NULL;
}

enum { ITEM_PAYLOAD = 14, ITEM_MESSAGE = 15 };

// The message around the game's own, with a channel for it.
static uint32_t add_item_channel(exporter* self, const net_log_item* item, const char* topic) {
    proto_pb_writer pb = begin_schema(self);
    const net_message* message = message_of(self, item);
    char full[2 * NAME_BYTES];
    const bool has_type =
        message && net_log_mcap_game_file(&pb, message->descriptor, full, sizeof full);
    const size_t file = net_log_mcap_begin_file(&pb, "shoal.proto", "shoal");
    if (has_type) proto_pb_write_text(&pb, 3, "game.proto");
    const size_t mark = net_log_mcap_begin_message(&pb, "Item");
    net_log_mcap_field(&pb, "tick", 1, NET_LOG_MCAP_UINT64, false, NULL);
    net_log_mcap_field(&pb, "client", 2, NET_LOG_MCAP_UINT32, false, NULL);
    net_log_mcap_field(&pb, "kind", 3, NET_LOG_MCAP_STRING, false, NULL);
    net_log_mcap_field(&pb, "number", 4, NET_LOG_MCAP_UINT32, false, NULL);
    net_log_mcap_field(&pb, "view", 5, NET_LOG_MCAP_UINT64, false, NULL);
    net_log_mcap_field(&pb, "is_repeat", 6, NET_LOG_MCAP_BOOL, false, NULL);
    net_log_mcap_field(&pb, "target", 7, NET_LOG_MCAP_STRING, false, NULL);
    net_log_mcap_field(&pb, "name", 8, NET_LOG_MCAP_STRING, false, NULL);
    net_log_mcap_field(&pb, "is_bot", 9, NET_LOG_MCAP_BOOL, false, NULL);
    net_log_mcap_field(&pb, "reason", 10, NET_LOG_MCAP_UINT32, false, NULL);
    net_log_mcap_field(&pb, "payload", ITEM_PAYLOAD, NET_LOG_MCAP_BYTES, false, NULL);
    if (has_type)
        net_log_mcap_field(&pb, "message", ITEM_MESSAGE, NET_LOG_MCAP_MESSAGE, false, full);
    net_log_mcap_end_message(&pb, mark);
    net_log_mcap_end_file(&pb, file);
    return add_channel(self, topic, "shoal.Item", &pb);
}

static uint32_t channel_of(exporter* self, const net_log_item* item) {
    const net_message* message = message_of(self, item);
    char topic[NAME_BYTES + 16];
    uint32_t* channel = &self->players;
    (void)base_text_copy(topic, sizeof topic, "/players");
    if (item->kind == NET_LOG_ITEM_INPUT) {
        channel = &self->inputs;
        (void)base_text_copy(topic, sizeof topic, "/inputs");
    } else if (item->kind == NET_LOG_ITEM_EVENT || item->kind == NET_LOG_ITEM_SERVER_EVENT) {
        channel = &self->events[item->message < TOPICS_MAX ? item->message : 0];
        if (message)
            (void)base_text_format(topic, sizeof topic, "/events/%s", message->name);
        else
            (void)base_text_format(topic, sizeof topic, "/events/%u", item->message);
    }
    if (*channel == 0) *channel = add_item_channel(self, item, topic);
    return *channel;
}

static uint64_t time_of(const exporter* self, ecs_tick tick) {
    const net_log_info* info = net_log_reader_info(self->reader);
    const uint64_t rate = info->tick_rate_hz ? info->tick_rate_hz : 1;
    return info->started_unix_ms * UINT64_C(1000000) + tick / rate * UINT64_C(1000000000) +
           tick % rate * UINT64_C(1000000000) / rate;
}

static void put_handle(proto_pb_writer* pb, uint32_t field, ecs_entity entity) {
    char text[32];
    if (entity == ECS_ENTITY_NONE) return;
    (void)base_text_format(text, sizeof text, "%u:%u", ecs_entity_index(entity),
                           ecs_entity_generation(entity));
    proto_pb_write_text(pb, field, text);
}

static bool write_item(exporter* self, ecs_tick tick, const net_log_item* item) {
    static const char* const kinds[NET_LOG_ITEM_KINDS] = {
        [NET_LOG_ITEM_LEAVE] = "leave",
        [NET_LOG_ITEM_JOIN] = "join",
        [NET_LOG_ITEM_EVENT] = "client_event",
        [NET_LOG_ITEM_INPUT] = "input",
        [NET_LOG_ITEM_SERVER_EVENT] = "server_event",
    };
    const uint32_t channel = channel_of(self, item);
    if (channel == 0) return false;
    proto_pb_writer pb = {.data = self->entry, .capacity = self->entry_bytes};
    proto_pb_write_number(&pb, 1, tick);
    proto_pb_write_number(&pb, 2, item->client);
    proto_pb_write_text(&pb, 3, kinds[item->kind]);
    proto_pb_write_number(&pb, 4, item->number);
    proto_pb_write_number(&pb, 5, item->seen);
    proto_pb_write_number(&pb, 6, item->is_repeat);
    put_handle(&pb, 7, item->target);
    proto_pb_write_text(&pb, 8, item->name);
    proto_pb_write_number(&pb, 9, item->is_bot);
    proto_pb_write_number(&pb, 10, item->reason);
    const net_message* message = message_of(self, item);
    const bool is_game = item->kind != NET_LOG_ITEM_JOIN && item->kind != NET_LOG_ITEM_LEAVE &&
                         message && !item->is_repeat &&
                         proto_wire_check(message->descriptor, item->payload, item->payload_bytes);
    if (is_game || item->payload_bytes > 0)
        proto_pb_write_bytes(&pb, is_game ? ITEM_MESSAGE : ITEM_PAYLOAD, item->payload,
                             item->payload_bytes);
    self->exported->rows++;
    return !pb.failed &&
           net_mcap_message(self->mcap, channel, time_of(self, tick), pb.data, pb.size);
}

// ---- controls

static uint32_t add_control_channel(exporter* self) {
    proto_pb_writer pb = begin_schema(self);
    const size_t file = net_log_mcap_begin_file(&pb, "shoal.proto", "shoal");
    const size_t mark = net_log_mcap_begin_message(&pb, "Control");
    net_log_mcap_field(&pb, "tick", 1, NET_LOG_MCAP_UINT64, false, NULL);
    net_log_mcap_field(&pb, "verb", 2, NET_LOG_MCAP_STRING, false, NULL);
    net_log_mcap_field(&pb, "arguments", 3, NET_LOG_MCAP_STRING, true, NULL);
    net_log_mcap_end_message(&pb, mark);
    net_log_mcap_end_file(&pb, file);
    return add_channel(self, "/control", "shoal.Control", &pb);
}

// Bytes that are no text are hexadecimal digits.
static void put_argument(exporter* self, const net_match_argument* argument) {
    char text[ECS_STRING_BYTES_MAX + 1];
    const uint8_t* data = argument->data;
    const bool is_text = net_log_argument_text(argument, text);
    const size_t size = is_text ? argument->size : 2 * argument->size;
    uint8_t* head = base_bytes_extend(&self->message, 1 + base_varint_bytes(size));
    if (!head) return;
    head[0] = 3 << 3 | 2;
    base_varint_put(head + 1, size);
    if (is_text) base_bytes_write(&self->message, text, size);
    for (size_t i = 0; !is_text && i < argument->size; i++) {
        base_bytes_write_u8(&self->message, (uint8_t) "0123456789abcdef"[data[i] >> 4]);
        base_bytes_write_u8(&self->message, (uint8_t) "0123456789abcdef"[data[i] & 15]);
    }
}

static bool write_control(exporter* self, const net_log_record* record) {
    proto_pb_writer pb = {.data = self->entry, .capacity = self->entry_bytes};
    proto_pb_write_number(&pb, 1, record->tick);
    proto_pb_write_text(&pb, 2, record->verb);
    base_bytes_clear(&self->message);
    base_bytes_write(&self->message, pb.data, pb.size);
    size_t offset = 0;
    net_match_argument argument;
    while (net_log_argument_next(record, &offset, &argument))
        put_argument(self, &argument);
    if (self->controls == 0) self->controls = add_control_channel(self);
    self->exported->rows++;
    return self->controls > 0 && !self->message.failed &&
           net_mcap_message(self->mcap, self->controls, time_of(self, record->tick),
                            self->message.data, self->message.size);
}

static bool write_items(exporter* self, const net_log_record* record) {
    for (net_log_item_kind kind = NET_LOG_ITEM_LEAVE; kind < NET_LOG_ITEM_KINDS; kind++) {
        size_t offset = 0;
        net_log_item item;
        while (net_log_item_next(record, kind, &offset, &item))
            if (!write_item(self, record->tick, &item)) return false;
    }
    return true;
}

// What the failed write of a message means.
static net_result failure_of(const exporter* self) {
    return self->failure != NET_OK ? self->failure : NET_ERR_MEMORY;
}

static net_result write_records(exporter* self) {
    net_log_cursor cursor = net_log_cursor_begin(self->reader);
    net_log_record record;
    while (net_log_cursor_next(self->reader, &cursor, &record)) {
        const bool is_control = record.kind == NET_LOG_KIND_CONTROL;
        if (!is_control && record.kind != NET_LOG_KIND_BEGIN && record.kind != NET_LOG_KIND_END)
            continue;
        if (record.tick < self->config->first) continue;
        if (self->config->last > 0 && record.tick > self->config->last) break;
        if (is_control ? !write_control(self, &record) : !write_items(self, &record))
            return failure_of(self);
    }
    return cursor.has_failed ? NET_ERR_DAMAGED : NET_OK;
}

// ---- components

static uint32_t type_of_kind(ecs_field_kind kind) {
    if (kind == ECS_FIELD_BOOL) return NET_LOG_MCAP_BOOL;
    if (kind == ECS_FIELD_F32) return NET_LOG_MCAP_FLOAT;
    if (kind == ECS_FIELD_F64) return NET_LOG_MCAP_DOUBLE;
    if (kind == ECS_FIELD_ENTITY) return NET_LOG_MCAP_STRING;
    return kind <= ECS_FIELD_I64 ? NET_LOG_MCAP_SINT64 : NET_LOG_MCAP_UINT64;
}

static uint32_t add_component_channel(exporter* self, const net_log_component* component) {
    proto_pb_writer pb = begin_schema(self);
    char name[NAME_BYTES], full[2 * NAME_BYTES], topic[NAME_BYTES + 16];
    net_log_mcap_clean(component->name, name);
    const size_t file = net_log_mcap_begin_file(&pb, "shoal.proto", "shoal");
    const size_t outer = net_log_mcap_begin_message(&pb, name);
    net_log_mcap_field(&pb, "tick", 1, NET_LOG_MCAP_UINT64, false, NULL);
    (void)base_text_format(full, sizeof full, ".shoal.%s.Entity", name);
    net_log_mcap_field(&pb, "entities", 2, NET_LOG_MCAP_MESSAGE, true, full);
    const size_t inner = net_log_mcap_begin_message(&pb, "Entity");
    net_log_mcap_field(&pb, "entity", 1, NET_LOG_MCAP_STRING, false, NULL);
    net_log_mcap_field(&pb, "template", 2, NET_LOG_MCAP_STRING, false, NULL);
    if (component->is_varsize)
        net_log_mcap_field(&pb, "value", FIELD_FIRST, NET_LOG_MCAP_STRING, false, NULL);
    for (uint32_t i = 0; i < component->field_count; i++)
        net_log_mcap_field(&pb, component->fields[i].name, FIELD_FIRST + i,
                           type_of_kind(component->fields[i].kind), component->fields[i].count > 1,
                           NULL);
    proto_pb_write_end(&pb, inner, 3); // DescriptorProto.nested_type
    net_log_mcap_end_message(&pb, outer);
    net_log_mcap_end_file(&pb, file);
    (void)base_text_format(full, sizeof full, "shoal.%s", name);
    (void)base_text_format(topic, sizeof topic, "/components/%s", component->name);
    return add_channel(self, topic, full, &pb);
}

static void put_raw(proto_pb_writer* pb, const ecs_number* value) {
    uint32_t small;
    uint64_t large;
    const float as_float = (float)value->real;
    switch (value->kind) {
    case ECS_FIELD_F32:
        memcpy(&small, &as_float, sizeof small);
        proto_pb_write_raw(pb, small, sizeof small);
        break;
    case ECS_FIELD_F64:
        memcpy(&large, &value->real, sizeof large);
        proto_pb_write_raw(pb, large, sizeof large);
        break;
    default:
        if (type_of_kind(value->kind) == NET_LOG_MCAP_SINT64)
            proto_pb_write_varint(pb, (uint64_t)value->whole << 1 ^
                                          (uint64_t)(value->whole < 0 ? -1 : 0));
        else
            proto_pb_write_varint(pb, value->natural);
    }
}

static uint32_t wire_type(ecs_field_kind kind) {
    return kind == ECS_FIELD_F32 ? 5 : kind == ECS_FIELD_F64 ? 1 : 0;
}

// One after the other, in one field when there may be several.
static void put_values(proto_pb_writer* pb, uint32_t number, const net_log_field* field,
                       const ecs_number* values) {
    const size_t mark = pb->size;
    for (uint32_t i = 0; i < field->count; i++) {
        if (field->kind == ECS_FIELD_ENTITY) {
            put_handle(pb, number, (ecs_entity)values[i].natural);
            continue;
        }
        if (field->count == 1) proto_pb_write_varint(pb, number << 3 | wire_type(field->kind));
        put_raw(pb, &values[i]);
    }
    if (field->count > 1 && field->kind != ECS_FIELD_ENTITY) proto_pb_write_end(pb, mark, number);
}

static void put_entity(exporter* self, proto_pb_writer* pb, ecs_entity entity, uint32_t position) {
    const net_log_component* component = net_log_source_component(self->source, position);
    put_handle(pb, 1, entity);
    proto_pb_write_text(pb, 2, net_log_source_template(self->source, entity));
    if (component->is_varsize) {
        net_log_source_text(self->source, entity, position, self->text, TEXT_MAX);
        proto_pb_write_text(pb, FIELD_FIRST, self->text);
    } else if (component->value_count > 0) {
        net_log_source_read(self->source, entity, position, self->values);
        const ecs_number* values = self->values;
        for (uint32_t i = 0; i < component->field_count; i++) {
            put_values(pb, FIELD_FIRST + i, &component->fields[i], values);
            values += component->fields[i].count;
        }
    }
}

// Append the entry as a field of the message. @return false when memory ran out.
static bool end_entry(exporter* self, proto_pb_writer* pb, uint32_t field) {
    proto_pb_write_end(pb, 0, field);
    if (pb->failed) return false;
    base_bytes_write(&self->message, pb->data, pb->size);
    return !self->message.failed;
}

static bool write_component(exporter* self, ecs_tick tick, uint32_t at) {
    const uint32_t position = self->chosen[at];
    proto_pb_writer pb = {.data = self->entry, .capacity = self->entry_bytes};
    base_bytes_clear(&self->message);
    proto_pb_write_number(&pb, 1, tick);
    base_bytes_write(&self->message, pb.data, pb.size);
    const size_t empty = self->message.size;
    for (ecs_entity entity = net_log_source_next(self->source, ECS_ENTITY_NONE);
         entity != ECS_ENTITY_NONE; entity = net_log_source_next(self->source, entity)) {
        if (!net_log_source_has(self->source, entity, position)) continue;
        pb.size = 0;
        put_entity(self, &pb, entity, position);
        if (!end_entry(self, &pb, 2)) return false;
        self->exported->rows++;
    }
    if (self->message.size == empty) return true;
    if (self->channels[at] == 0)
        self->channels[at] =
            add_component_channel(self, net_log_source_component(self->source, position));
    return self->channels[at] > 0 &&
           net_mcap_message(self->mcap, self->channels[at], time_of(self, tick), self->message.data,
                            self->message.size);
}

// ---- values

static bool write_scene(exporter* self, ecs_tick tick) {
    if (!self->scene.has_place) return true;
    const uint64_t time_ns = time_of(self, tick);
    if (!net_log_scene_write(&self->scene, self->source, time_ns, self->values, &self->message))
        return false;
    if (self->scene_channel == 0) {
        proto_pb_writer pb = begin_schema(self);
        net_log_scene_schema(&pb);
        self->scene_channel = add_channel(self, "/scene", "foxglove.SceneUpdate", &pb);
    }
    return self->scene_channel > 0 && net_mcap_message(self->mcap, self->scene_channel, time_ns,
                                                       self->message.data, self->message.size);
}

static net_result choose(exporter* self) {
    const uint32_t count = net_log_source_component_count(self->source);
    self->component_count = count;
    self->chosen = base_allocate(self->allocator, (count + 1) * sizeof *self->chosen);
    self->channels = base_allocate_zero(self->allocator, (count + 1) * sizeof *self->channels);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t values = net_log_source_component(self->source, i)->value_count;
        if (values > self->values_max) self->values_max = values;
    }
    // A value takes at most ten bytes, or a handle and its length; names and a text beside them.
    self->entry_bytes =
        (size_t)self->values_max * 32 + TEXT_MAX + NET_EVENT_PAYLOAD_BYTES_MAX + 4 * NAME_BYTES;
    self->values = base_allocate(self->allocator, (self->values_max + 1) * sizeof *self->values);
    self->entry = base_allocate(self->allocator, self->entry_bytes);
    if (!self->chosen || !self->channels || !self->values || !self->entry) return NET_ERR_MEMORY;
    const net_interest_rules* rules = self->module ? self->module->game->interest : NULL;
    net_log_scene_init(&self->scene, self->source, rules ? rules->position : NULL);
    return net_log_source_choose(self->source, self->reader, self->config->components,
                                 self->reporter, self->chosen, &self->chosen_count);
}

static net_result write_tick(exporter* self, ecs_tick tick) {
    for (uint32_t i = 0; i < self->chosen_count; i++)
        if (!write_component(self, tick, i)) return failure_of(self);
    return write_scene(self, tick) ? NET_OK : failure_of(self);
}

static net_result write_values(exporter* self) {
    const net_log_export_config* config = self->config;
    const uint64_t every = config->every > 0 ? config->every : 1;
    ecs_tick last = net_log_reader_info(self->reader)->last_tick;
    if (config->last > 0 && config->last < last) last = config->last;
    net_result result = NET_OK;
    while (result == NET_OK && net_log_source_tick(self->source) < last) {
        result = net_log_source_step(self->source);
        const ecs_tick tick = net_log_source_tick(self->source);
        if (tick > last) break;
        self->exported->diverged_tick = net_log_source_diverged(self->source);
        if (result != NET_OK || tick < config->first) continue;
        self->exported->ticks++;
        if (tick % every != 0) continue;
        if (net_log_source_is_whole(self->source))
            result = write_tick(self, tick);
        else
            self->exported->ticks_lacking++;
    }
    return result == NET_ERR_CLOSED ? NET_OK : result;
}

// The source is made before the records are walked, since it may refuse, and again behind them:
// a reader serves one walk at a time.
static net_result open_source(exporter* self) {
    net_log_source_destroy(self->source);
    self->source = NULL;
    return net_log_source_create(self->reader, self->module, self->config->first, self->reporter,
                                 &self->source);
}

net_result net_log_export_mcap(net_log_reader* reader, const net_module* module,
                               const net_log_export_config* config, net_log_bytes_fn write,
                               void* context, const base_reporter* reporter,
                               net_log_exported* exported) {
    BASE_ASSERT(reader && config && write && exported);
    const base_allocator* allocator = net_log_reader_allocator(reader);
    *exported = (net_log_exported){0};
    exporter* self = base_allocate_zero(allocator, sizeof *self);
    if (!self) return NET_ERR_MEMORY;
    *self = (exporter){.reader = reader,
                       .module = module,
                       .config = config,
                       .reporter = reporter,
                       .exported = exported,
                       .allocator = allocator};
    base_bytes_init(&self->message, allocator);
    self->schema = base_allocate(allocator, SCHEMA_BYTES_MAX);
    self->text = base_allocate(allocator, TEXT_MAX);
    net_result result = self->schema && self->text ? open_source(self) : NET_ERR_MEMORY;
    if (result == NET_OK) result = choose(self);
    if (result == NET_OK) {
        self->mcap = net_mcap_create(allocator, write, context);
        result = self->mcap ? write_records(self) : NET_ERR_MEMORY;
    }
    // Damage takes nothing from the values in front of it, and what was written is a whole file.
    const bool is_damaged = result == NET_ERR_DAMAGED;
    if (result == NET_OK || is_damaged) result = open_source(self);
    if (result == NET_OK) result = write_values(self);
    if (result == NET_OK && is_damaged) result = NET_ERR_DAMAGED;
    if (self->mcap && !net_mcap_end(self->mcap)) result = NET_ERR_IO;
    net_mcap_destroy(self->mcap);
    net_log_source_destroy(self->source);
    base_release(allocator, self->chosen, (self->component_count + 1) * sizeof *self->chosen);
    base_release(allocator, self->channels, (self->component_count + 1) * sizeof *self->channels);
    base_release(allocator, self->values, (self->values_max + 1) * sizeof *self->values);
    base_release(allocator, self->entry, self->entry_bytes);
    base_release(allocator, self->text, TEXT_MAX);
    base_release(allocator, self->schema, SCHEMA_BYTES_MAX);
    base_bytes_deinit(&self->message);
    base_release(allocator, self, sizeof *self);
    return result;
}
