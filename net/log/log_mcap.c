// SPDX-License-Identifier: MIT
// A log as MCAP, for tools that show messages over time (Foxglove, Lichtblick, PlotJuggler).
// Topics:
//
//     /inputs, /players            what clients sent; joins and leaves
//     /events/NAME                 the game's events, with its own message
//     /components/NAME             all entities that have the component, once per tick
//     /scene                       foxglove.SceneUpdate: a ball where each entity is
//
// Schemas are made here: of the game's messages from their descriptors, of components from their
// fields. Records first, then values: a reader of the file sorts by time.
#include "log/log_read.h"
#include "log/log_record.h"
#include "log/log_source.h"
#include "log/mcap.h"

#include "net/log.h"
#include "net/match.h"
#include "proto/codec.h"
#include "proto/pb_wire.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
    SCHEMA_BYTES_MAX = 1 << 18,
    TYPES_MAX = 256, // of a game's messages, the inner ones too
    NAME_BYTES = 160,
    TEXT_MAX = 8192,
    FIELD_FIRST = 16, // of a component's own fields
    TOPICS_MAX = 1024,
    REAL_MAX = 3, // of a place or a size
    NONE = -1,
};

// Numbers of FieldDescriptorProto.Type.
enum {
    TYPE_DOUBLE = 1,
    TYPE_FLOAT = 2,
    TYPE_INT64 = 3,
    TYPE_UINT64 = 4,
    TYPE_INT32 = 5,
    TYPE_BOOL = 8,
    TYPE_STRING = 9,
    TYPE_MESSAGE = 11,
    TYPE_BYTES = 12,
    TYPE_UINT32 = 13,
    TYPE_SINT64 = 18,
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
    uint32_t inputs, players;    // channels; 0: not yet
    uint32_t events[TOPICS_MAX]; // [message]
    uint32_t component_count;
    uint32_t *chosen, chosen_count; // positions of components
    uint32_t* channels;             // [chosen]
    int32_t place, size;            // positions of components of the scene; NONE
    uint32_t scene;
    net_log_value* values; // of one component
    uint32_t values_max;
    char* text;
    uint8_t* schema; // a FileDescriptorSet
    uint8_t* entry;  // one entity in a message
    size_t entry_bytes;
    base_bytes message;
} exporter;

// ---- schemas

// A name of protobuf: letters, digits and _, and no digit first.
static void clean(const char* name, char target[NAME_BYTES]) {
    size_t size = 0;
    if (!isalpha((unsigned char)name[0])) target[size++] = 'n';
    for (; *name && size + 1 < NAME_BYTES; name++)
        target[size++] = isalnum((unsigned char)*name) ? *name : '_';
    target[size] = 0;
}

static void put_field(proto_pb_writer* pb, const char* name, uint32_t number, uint32_t type,
                      bool is_list, const char* type_name) {
    const size_t mark = pb->size;
    char text[NAME_BYTES];
    clean(name, text);
    proto_pb_write_text(pb, 1, text);
    proto_pb_write_number(pb, 3, number);
    proto_pb_write_number(pb, 4, is_list ? 3 : 1);
    proto_pb_write_number(pb, 5, type);
    if (type_name) proto_pb_write_text(pb, 6, type_name);
    proto_pb_write_end(pb, mark, 2); // DescriptorProto.field
}

static size_t begin_file(proto_pb_writer* pb, const char* name, const char* package) {
    const size_t mark = pb->size;
    proto_pb_write_text(pb, 1, name);
    proto_pb_write_text(pb, 2, package);
    return mark;
}

static void end_file(proto_pb_writer* pb, size_t mark) {
    proto_pb_write_text(pb, 12, "proto3");
    proto_pb_write_end(pb, mark, 1); // FileDescriptorSet.file
}

static size_t begin_message(proto_pb_writer* pb, const char* name) {
    const size_t mark = pb->size;
    proto_pb_write_text(pb, 1, name);
    return mark;
}

static void end_message(proto_pb_writer* pb, size_t mark) {
    proto_pb_write_end(pb, mark, 4); // FileDescriptorProto.message_type
}

static proto_pb_writer begin_schema(exporter* self) {
    return (proto_pb_writer){.data = self->schema, .capacity = SCHEMA_BYTES_MAX};
}

// @return the channel; 0: it failed, or there is no room.
static uint32_t add_channel(exporter* self, const char* topic, const char* type,
                            const proto_pb_writer* pb) {
    if (pb->failed) return 0;
    return net_mcap_channel(self->mcap, topic, type, pb->data, pb->size);
}

// ---- the game's messages, by their descriptors

typedef struct type_list {
    const void* types[TYPES_MAX];
    bool is_enum[TYPES_MAX];
    uint32_t count;
} type_list;

static bool add_type(type_list* list, const void* type, bool is_enum) {
    for (uint32_t i = 0; i < list->count; i++)
        if (list->types[i] == type) return true;
    if (list->count == TYPES_MAX) return false;
    list->types[list->count] = type;
    list->is_enum[list->count++] = is_enum;
    return true;
}

// All types that a message needs, itself first.
static bool list_types(const ProtobufCMessageDescriptor* root, type_list* list) {
    list->count = 0;
    bool ok = add_type(list, root, false);
    for (uint32_t i = 0; ok && i < list->count; i++) {
        const ProtobufCMessageDescriptor* at = list->types[i];
        for (unsigned k = 0; ok && !list->is_enum[i] && k < at->n_fields; k++) {
            const ProtobufCFieldDescriptor* field = &at->fields[k];
            const bool is_enum = field->type == PROTOBUF_C_TYPE_ENUM;
            if (is_enum || field->type == PROTOBUF_C_TYPE_MESSAGE)
                ok = add_type(list, field->descriptor, is_enum);
        }
    }
    return ok;
}

// "game.Outer.Inner" in package "game" is Outer_Inner.
static void type_name(const char* name, const char* package, char target[NAME_BYTES]) {
    const size_t size = strlen(package);
    if (size > 0 && strncmp(name, package, size) == 0 && name[size] == '.') name += size + 1;
    clean(name, target);
}

static void put_enum(proto_pb_writer* pb, const ProtobufCEnumDescriptor* type,
                     const char* package) {
    const size_t mark = pb->size;
    char name[NAME_BYTES];
    type_name(type->name, package, name);
    proto_pb_write_text(pb, 1, name);
    for (unsigned i = 0; i < type->n_values; i++) {
        const size_t value = pb->size;
        proto_pb_write_text(pb, 1, type->values[i].name);
        proto_pb_write_number(pb, 2, (uint64_t)(int64_t)type->values[i].value);
        proto_pb_write_end(pb, value, 2);
    }
    proto_pb_write_end(pb, mark, 5); // FileDescriptorProto.enum_type
}

static void put_type(proto_pb_writer* pb, const ProtobufCMessageDescriptor* type,
                     const char* package) {
    static const uint8_t types[] = {
        [PROTOBUF_C_TYPE_INT32] = 5,     [PROTOBUF_C_TYPE_SINT32] = 17,
        [PROTOBUF_C_TYPE_SFIXED32] = 15, [PROTOBUF_C_TYPE_INT64] = 3,
        [PROTOBUF_C_TYPE_SINT64] = 18,   [PROTOBUF_C_TYPE_SFIXED64] = 16,
        [PROTOBUF_C_TYPE_UINT32] = 13,   [PROTOBUF_C_TYPE_FIXED32] = 7,
        [PROTOBUF_C_TYPE_UINT64] = 4,    [PROTOBUF_C_TYPE_FIXED64] = 6,
        [PROTOBUF_C_TYPE_FLOAT] = 2,     [PROTOBUF_C_TYPE_DOUBLE] = 1,
        [PROTOBUF_C_TYPE_BOOL] = 8,      [PROTOBUF_C_TYPE_ENUM] = 14,
        [PROTOBUF_C_TYPE_STRING] = 9,    [PROTOBUF_C_TYPE_BYTES] = 12,
        [PROTOBUF_C_TYPE_MESSAGE] = 11,
    };
    char name[NAME_BYTES], full[2 * NAME_BYTES];
    type_name(type->name, package, name);
    const size_t mark = begin_message(pb, name);
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor* field = &type->fields[i];
        const char* inner = NULL;
        if (field->type == PROTOBUF_C_TYPE_ENUM)
            inner = ((const ProtobufCEnumDescriptor*)field->descriptor)->name;
        if (field->type == PROTOBUF_C_TYPE_MESSAGE)
            inner = ((const ProtobufCMessageDescriptor*)field->descriptor)->name;
        if (inner) {
            type_name(inner, package, name);
            (void)base_text_format(full, sizeof full, ".%s%s%s", package, package[0] ? "." : "",
                                   name);
        }
        put_field(pb, field->name, field->id, types[field->type],
                  field->label == PROTOBUF_C_LABEL_REPEATED, inner ? full : NULL);
    }
    end_message(pb, mark);
}

// The file of a message, and its full name with a dot in front. @return false: too many types.
static bool put_game_file(proto_pb_writer* pb, const ProtobufCMessageDescriptor* root, char* full,
                          size_t full_bytes) {
    type_list list;
    char name[NAME_BYTES];
    const char* package = root->package_name ? root->package_name : "";
    if (!list_types(root, &list)) return false;
    const size_t file = begin_file(pb, "game.proto", package);
    for (uint32_t i = 0; i < list.count; i++) {
        if (list.is_enum[i])
            put_enum(pb, list.types[i], package);
        else
            put_type(pb, list.types[i], package);
    }
    end_file(pb, file);
    type_name(root->name, package, name);
    (void)base_text_format(full, full_bytes, ".%s%s%s", package, package[0] ? "." : "", name);
    return true;
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
    const bool has_type = message && put_game_file(&pb, message->descriptor, full, sizeof full);
    const size_t file = begin_file(&pb, "shoal.proto", "shoal");
    if (has_type) proto_pb_write_text(&pb, 3, "game.proto");
    const size_t mark = begin_message(&pb, "Item");
    put_field(&pb, "tick", 1, TYPE_UINT64, false, NULL);
    put_field(&pb, "client", 2, TYPE_UINT32, false, NULL);
    put_field(&pb, "kind", 3, TYPE_STRING, false, NULL);
    put_field(&pb, "number", 4, TYPE_UINT32, false, NULL);
    put_field(&pb, "view", 5, TYPE_UINT64, false, NULL);
    put_field(&pb, "is_repeat", 6, TYPE_BOOL, false, NULL);
    put_field(&pb, "target", 7, TYPE_STRING, false, NULL);
    put_field(&pb, "name", 8, TYPE_STRING, false, NULL);
    put_field(&pb, "is_bot", 9, TYPE_BOOL, false, NULL);
    put_field(&pb, "reason", 10, TYPE_UINT32, false, NULL);
    put_field(&pb, "payload", ITEM_PAYLOAD, TYPE_BYTES, false, NULL);
    if (has_type) put_field(&pb, "message", ITEM_MESSAGE, TYPE_MESSAGE, false, full);
    end_message(&pb, mark);
    end_file(&pb, file);
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

static net_result write_records(exporter* self) {
    net_log_cursor cursor = net_log_cursor_begin(self->reader);
    net_log_record record;
    while (net_log_cursor_next(self->reader, &cursor, &record)) {
        if (record.kind != NET_LOG_KIND_BEGIN && record.kind != NET_LOG_KIND_END) continue;
        if (record.tick < self->config->first) continue;
        if (self->config->last > 0 && record.tick > self->config->last) break;
        for (net_log_item_kind kind = NET_LOG_ITEM_LEAVE; kind < NET_LOG_ITEM_KINDS; kind++) {
            size_t offset = 0;
            net_log_item item;
            while (net_log_item_next(&record, kind, &offset, &item))
                if (!write_item(self, record.tick, &item)) return NET_ERR_MEMORY;
        }
    }
    return cursor.has_failed ? NET_ERR_DAMAGED : NET_OK;
}

// ---- components

static uint32_t type_of_kind(ecs_field_kind kind) {
    if (kind == ECS_FIELD_BOOL) return TYPE_BOOL;
    if (kind == ECS_FIELD_F32) return TYPE_FLOAT;
    if (kind == ECS_FIELD_F64) return TYPE_DOUBLE;
    if (kind == ECS_FIELD_ENTITY) return TYPE_STRING;
    return kind <= ECS_FIELD_I64 ? TYPE_SINT64 : TYPE_UINT64;
}

static uint32_t add_component_channel(exporter* self, const net_log_component* component) {
    proto_pb_writer pb = begin_schema(self);
    char name[NAME_BYTES], full[2 * NAME_BYTES], topic[NAME_BYTES + 16];
    clean(component->name, name);
    const size_t file = begin_file(&pb, "shoal.proto", "shoal");
    const size_t outer = begin_message(&pb, name);
    put_field(&pb, "tick", 1, TYPE_UINT64, false, NULL);
    (void)base_text_format(full, sizeof full, ".shoal.%s.Entity", name);
    put_field(&pb, "entities", 2, TYPE_MESSAGE, true, full);
    const size_t inner = begin_message(&pb, "Entity");
    put_field(&pb, "entity", 1, TYPE_STRING, false, NULL);
    put_field(&pb, "template", 2, TYPE_STRING, false, NULL);
    if (component->is_varsize) put_field(&pb, "value", FIELD_FIRST, TYPE_STRING, false, NULL);
    for (uint32_t i = 0; i < component->field_count; i++)
        put_field(&pb, component->fields[i].name, FIELD_FIRST + i,
                  type_of_kind(component->fields[i].kind), component->fields[i].count > 1, NULL);
    proto_pb_write_end(&pb, inner, 3); // DescriptorProto.nested_type
    end_message(&pb, outer);
    end_file(&pb, file);
    (void)base_text_format(full, sizeof full, "shoal.%s", name);
    (void)base_text_format(topic, sizeof topic, "/components/%s", component->name);
    return add_channel(self, topic, full, &pb);
}

static void put_raw(proto_pb_writer* pb, const net_log_value* value) {
    uint32_t small;
    uint64_t large;
    const float as_float = (float)value->real;
    switch (value->kind) {
    case ECS_FIELD_BOOL:
        proto_pb_write_varint(pb, value->truth);
        break;
    case ECS_FIELD_F32:
        memcpy(&small, &as_float, sizeof small);
        proto_pb_write_raw(pb, small, sizeof small);
        break;
    case ECS_FIELD_F64:
        memcpy(&large, &value->real, sizeof large);
        proto_pb_write_raw(pb, large, sizeof large);
        break;
    default:
        if (type_of_kind(value->kind) == TYPE_SINT64)
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
                       const net_log_value* values) {
    const size_t mark = pb->size;
    for (uint32_t i = 0; i < field->count; i++) {
        if (field->kind == ECS_FIELD_ENTITY) {
            put_handle(pb, number, values[i].entity);
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
        const net_log_value* values = self->values;
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

// ---- the scene

static void put_doubles(proto_pb_writer* pb, const char* const* names, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        put_field(pb, names[i], i + 1, TYPE_DOUBLE, false, NULL);
}

// The part of Foxglove's schema that is written (github.com/foxglove/foxglove-sdk, MIT).
static uint32_t add_scene_channel(exporter* self) {
    static const char* const axes[] = {"x", "y", "z", "w"};
    static const char* const colors[] = {"r", "g", "b", "a"};
    proto_pb_writer pb = begin_schema(self);
    size_t file = begin_file(&pb, "google/protobuf/timestamp.proto", "google.protobuf");
    size_t mark = begin_message(&pb, "Timestamp");
    put_field(&pb, "seconds", 1, TYPE_INT64, false, NULL);
    put_field(&pb, "nanos", 2, TYPE_INT32, false, NULL);
    end_message(&pb, mark);
    end_file(&pb, file);
    file = begin_file(&pb, "foxglove/SceneUpdate.proto", "foxglove");
    proto_pb_write_text(&pb, 3, "google/protobuf/timestamp.proto");
    mark = begin_message(&pb, "Vector3");
    put_doubles(&pb, axes, 3);
    end_message(&pb, mark);
    mark = begin_message(&pb, "Quaternion");
    put_doubles(&pb, axes, 4);
    end_message(&pb, mark);
    mark = begin_message(&pb, "Color");
    put_doubles(&pb, colors, 4);
    end_message(&pb, mark);
    mark = begin_message(&pb, "Pose");
    put_field(&pb, "position", 1, TYPE_MESSAGE, false, ".foxglove.Vector3");
    put_field(&pb, "orientation", 2, TYPE_MESSAGE, false, ".foxglove.Quaternion");
    end_message(&pb, mark);
    mark = begin_message(&pb, "SpherePrimitive");
    put_field(&pb, "pose", 1, TYPE_MESSAGE, false, ".foxglove.Pose");
    put_field(&pb, "size", 2, TYPE_MESSAGE, false, ".foxglove.Vector3");
    put_field(&pb, "color", 3, TYPE_MESSAGE, false, ".foxglove.Color");
    end_message(&pb, mark);
    mark = begin_message(&pb, "SceneEntity");
    put_field(&pb, "timestamp", 1, TYPE_MESSAGE, false, ".google.protobuf.Timestamp");
    put_field(&pb, "frame_id", 2, TYPE_STRING, false, NULL);
    put_field(&pb, "id", 3, TYPE_STRING, false, NULL);
    put_field(&pb, "spheres", 9, TYPE_MESSAGE, true, ".foxglove.SpherePrimitive");
    end_message(&pb, mark);
    mark = begin_message(&pb, "SceneUpdate");
    put_field(&pb, "entities", 2, TYPE_MESSAGE, true, ".foxglove.SceneEntity");
    end_message(&pb, mark);
    end_file(&pb, file);
    return add_channel(self, "/scene", "foxglove.SceneUpdate", &pb);
}

// The first real numbers of a component, up to three. @return how many.
static uint32_t read_reals(exporter* self, ecs_entity entity, int32_t position,
                           double reals[REAL_MAX]) {
    if (position == NONE || !net_log_source_has(self->source, entity, (uint32_t)position)) return 0;
    const net_log_component* component = net_log_source_component(self->source, (uint32_t)position);
    uint32_t count = 0;
    net_log_source_read(self->source, entity, (uint32_t)position, self->values);
    for (; count < component->value_count && count < REAL_MAX; count++) {
        if (wire_type(self->values[count].kind) == 0) break;
        reals[count] = self->values[count].real;
    }
    return count;
}

static void put_vector(proto_pb_writer* pb, uint32_t field, const double* values, uint32_t count) {
    const size_t mark = pb->size;
    for (uint32_t i = 0; i < count; i++)
        proto_pb_write_double(pb, i + 1, values[i]);
    proto_pb_write_end(pb, mark, field);
}

static void put_sphere(exporter* self, proto_pb_writer* pb, ecs_entity entity,
                       const double place[REAL_MAX]) {
    const char* template_ = net_log_source_template(self->source, entity);
    const uint64_t hash = base_hash64(template_, strlen(template_), 0);
    const double upright[4] = {0, 0, 0, 1};
    const double color[4] = {(double)(hash & 255) / 255, (double)(hash >> 8 & 255) / 255,
                             (double)(hash >> 16 & 255) / 255, 1};
    double size[REAL_MAX] = {1, 1, 1};
    const uint32_t count = read_reals(self, entity, self->size, size);
    for (uint32_t i = count; count > 0 && i < REAL_MAX; i++)
        size[i] = size[0];
    size_t mark = pb->size;
    put_vector(pb, 1, place, REAL_MAX);
    put_vector(pb, 2, upright, 4);
    proto_pb_write_end(pb, mark, 1);
    put_vector(pb, 2, size, REAL_MAX);
    put_vector(pb, 3, color, 4);
}

static bool write_scene(exporter* self, ecs_tick tick) {
    if (self->place == NONE) return true;
    const uint64_t time_ns = time_of(self, tick);
    proto_pb_writer pb = {.data = self->entry, .capacity = self->entry_bytes};
    base_bytes_clear(&self->message);
    size_t mark = pb.size;
    proto_pb_write_number(&pb, 1, time_ns / UINT64_C(1000000000));
    proto_pb_write_number(&pb, 2, time_ns % UINT64_C(1000000000));
    proto_pb_write_end(&pb, mark, 1);
    proto_pb_write_text(&pb, 2, "match");
    proto_pb_write_text(&pb, 3, "entities");
    base_bytes_write(&self->message, pb.data, pb.size);
    for (ecs_entity entity = net_log_source_next(self->source, ECS_ENTITY_NONE);
         entity != ECS_ENTITY_NONE; entity = net_log_source_next(self->source, entity)) {
        double place[REAL_MAX] = {0};
        if (read_reals(self, entity, self->place, place) < 2) continue;
        pb.size = 0;
        put_sphere(self, &pb, entity, place);
        if (!end_entry(self, &pb, 9)) return false;
    }
    // Around it the update: its one field.
    const size_t size = self->message.size;
    uint8_t* more = base_bytes_extend(&self->message, 1 + 10);
    if (!more) return false;
    const uint32_t head = 1 + base_varint_bytes(size);
    memmove(self->message.data + head, self->message.data, size);
    self->message.data[0] = 2 << 3 | 2;
    base_varint_put(self->message.data + 1, size);
    if (self->scene == 0) self->scene = add_scene_channel(self);
    return self->scene > 0 &&
           net_mcap_message(self->mcap, self->scene, time_ns, self->message.data, head + size);
}

// ---- values

static int32_t find_component(const exporter* self, const char* name) {
    for (uint32_t i = 0; i < net_log_source_component_count(self->source); i++) {
        const net_log_component* component = net_log_source_component(self->source, i);
        if (strcmp(component->name, name) == 0 && !component->is_varsize &&
            component->value_count > 0)
            return (int32_t)i;
    }
    return NONE;
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
    self->place = find_component(self, rules && rules->position ? rules->position : "pos");
    self->size = find_component(self, "size");
    return net_log_source_choose(self->source, self->reader, self->config->components,
                                 self->reporter, self->chosen, &self->chosen_count);
}

static net_result write_tick(exporter* self, ecs_tick tick) {
    for (uint32_t i = 0; i < self->chosen_count; i++)
        if (!write_component(self, tick, i)) return NET_ERR_MEMORY;
    return write_scene(self, tick) ? NET_OK : NET_ERR_MEMORY;
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
    if (result == NET_OK) result = open_source(self);
    if (result == NET_OK) result = write_values(self);
    // What was written before damage is a whole file.
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
