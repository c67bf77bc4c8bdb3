// SPDX-License-Identifier: MIT
// Schemas of MCAP: descriptors of protobuf, made of what a log and a game know.
#include "log/log_mcap.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>

enum { TYPES_MAX = 256 }; // of a game's messages, the inner ones too

void net_log_mcap_clean(const char* name, char target[NET_LOG_MCAP_NAME_BYTES]) {
    size_t size = 0;
    if (!isalpha((unsigned char)name[0])) target[size++] = 'n';
    for (; *name && size + 1 < NET_LOG_MCAP_NAME_BYTES; name++)
        target[size++] = isalnum((unsigned char)*name) ? *name : '_';
    target[size] = 0;
}

void net_log_mcap_field(proto_pb_writer* pb, const char* name, uint32_t number, uint32_t type,
                        bool is_list, const char* type_name) {
    const size_t mark = pb->size;
    char text[NET_LOG_MCAP_NAME_BYTES];
    net_log_mcap_clean(name, text);
    proto_pb_write_text(pb, 1, text);
    proto_pb_write_number(pb, 3, number);
    proto_pb_write_number(pb, 4, is_list ? 3 : 1);
    proto_pb_write_number(pb, 5, type);
    if (type_name) proto_pb_write_text(pb, 6, type_name);
    proto_pb_write_end(pb, mark, 2); // DescriptorProto.field
}

size_t net_log_mcap_begin_file(proto_pb_writer* pb, const char* name, const char* package) {
    const size_t mark = pb->size;
    proto_pb_write_text(pb, 1, name);
    proto_pb_write_text(pb, 2, package);
    return mark;
}

void net_log_mcap_end_file(proto_pb_writer* pb, size_t mark) {
    proto_pb_write_text(pb, 12, "proto3");
    proto_pb_write_end(pb, mark, 1); // FileDescriptorSet.file
}

size_t net_log_mcap_begin_message(proto_pb_writer* pb, const char* name) {
    const size_t mark = pb->size;
    proto_pb_write_text(pb, 1, name);
    return mark;
}

void net_log_mcap_end_message(proto_pb_writer* pb, size_t mark) {
    proto_pb_write_end(pb, mark, 4); // FileDescriptorProto.message_type
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
static void type_name(const char* name, const char* package, char target[NET_LOG_MCAP_NAME_BYTES]) {
    const size_t size = strlen(package);
    if (size > 0 && strncmp(name, package, size) == 0 && name[size] == '.') name += size + 1;
    net_log_mcap_clean(name, target);
}

static void put_enum(proto_pb_writer* pb, const ProtobufCEnumDescriptor* type,
                     const char* package) {
    const size_t mark = pb->size;
    char name[NET_LOG_MCAP_NAME_BYTES];
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
    char name[NET_LOG_MCAP_NAME_BYTES], full[2 * NET_LOG_MCAP_NAME_BYTES];
    type_name(type->name, package, name);
    const size_t mark = net_log_mcap_begin_message(pb, name);
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
        net_log_mcap_field(pb, field->name, field->id, types[field->type],
                           field->label == PROTOBUF_C_LABEL_REPEATED, inner ? full : NULL);
    }
    net_log_mcap_end_message(pb, mark);
}

bool net_log_mcap_game_file(proto_pb_writer* pb, const ProtobufCMessageDescriptor* root, char* full,
                            size_t full_bytes) {
    type_list list;
    char name[NET_LOG_MCAP_NAME_BYTES];
    const char* package = root->package_name ? root->package_name : "";
    if (!list_types(root, &list)) return false;
    const size_t file = net_log_mcap_begin_file(pb, "game.proto", package);
    for (uint32_t i = 0; i < list.count; i++) {
        if (list.is_enum[i])
            put_enum(pb, list.types[i], package);
        else
            put_type(pb, list.types[i], package);
    }
    net_log_mcap_end_file(pb, file);
    type_name(root->name, package, name);
    (void)base_text_format(full, full_bytes, ".%s%s%s", package, package[0] ? "." : "", name);
    return true;
}
