// SPDX-License-Identifier: MIT
// A message as one JSON object, for people and for jq. Every scalar is written, also a default, so
// that all lines of a dump have the same keys. Absent sub-messages and the other members of a oneof
// are left out. Like snprintf, the output counts its full length and writes what fits.
#include "proto/codec.h"

#include "base/assert.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct json_out {
    char* target;
    size_t capacity;
    size_t size;
} json_out;

static void put(json_out* out, const char* text, size_t size) {
    if (out->size < out->capacity) {
        size_t room = out->capacity - out->size;
        memcpy(out->target + out->size, text, size < room ? size : room);
    }
    out->size += size;
}

static void put_text(json_out* out, const char* text) {
    put(out, text, strlen(text));
}

static void put_string(json_out* out, const char* text) {
    put(out, "\"", 1);
    for (const char* at = text; *at; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == '"' || c == '\\') {
            put(out, "\\", 1);
            put(out, at, 1);
        } else if (c < 0x20) {
            char escaped[8];
            snprintf(escaped, sizeof escaped, "\\u%04x", c);
            put_text(out, escaped);
        } else {
            put(out, at, 1);
        }
    }
    put(out, "\"", 1);
}

static void put_bytes(json_out* out, const ProtobufCBinaryData* bytes) {
    static const char digits[] = "0123456789abcdef";
    put(out, "\"", 1);
    for (size_t i = 0; i < bytes->len; i++) {
        char pair[2] = {digits[bytes->data[i] >> 4], digits[bytes->data[i] & 15]};
        put(out, pair, 2);
    }
    put(out, "\"", 1);
}

// JSON has no infinity and no NaN. Both become null.
static void put_double(json_out* out, double value, int digits) {
    char text[40];
    (void)base_text_format(text, sizeof text, "%.*g", digits, value);
    put_text(out, value - value == 0 ? text : "null");
}

static void put_integer(json_out* out, bool is_signed, uint64_t value) {
    char text[24];
    if (is_signed)
        snprintf(text, sizeof text, "%" PRId64, (int64_t)value);
    else
        snprintf(text, sizeof text, "%" PRIu64, value);
    put_text(out, text);
}

static void put_enum(json_out* out, const ProtobufCEnumDescriptor* descriptor, int value) {
    const ProtobufCEnumValue* known = protobuf_c_enum_descriptor_get_value(descriptor, value);
    if (known)
        put_string(out, known->name);
    else
        put_integer(out, true, (uint64_t)(int64_t)value);
}

static void put_message(json_out* out, const ProtobufCMessage* message, uint32_t depth);

static size_t element_bytes(ProtobufCType type) {
    switch (type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void*);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    default:
        return 4;
    }
}

static void put_value(json_out* out, const ProtobufCFieldDescriptor* field, const void* value,
                      uint32_t depth) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        put_integer(out, true, (uint64_t)(int64_t) * (const int32_t*)value);
        break;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        put_integer(out, false, *(const uint32_t*)value);
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        put_integer(out, true, *(const uint64_t*)value);
        break;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        put_integer(out, false, *(const uint64_t*)value);
        break;
    case PROTOBUF_C_TYPE_FLOAT:
        put_double(out, (double)*(const float*)value, 9);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        put_double(out, *(const double*)value, 17);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        put_text(out, *(const protobuf_c_boolean*)value ? "true" : "false");
        break;
    case PROTOBUF_C_TYPE_ENUM:
        put_enum(out, field->descriptor, *(const int*)value);
        break;
    case PROTOBUF_C_TYPE_STRING:
        put_string(out, *(char* const*)value ? *(char* const*)value : "");
        break;
    case PROTOBUF_C_TYPE_BYTES:
        put_bytes(out, value);
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        put_message(out, *(ProtobufCMessage* const*)value, depth + 1);
        break;
    }
}

static void put_array(json_out* out, const ProtobufCFieldDescriptor* field,
                      const ProtobufCMessage* message, uint32_t depth) {
    const uint8_t* start = (const uint8_t*)message;
    size_t count;
    const uint8_t* values;
    memcpy(&count, start + field->quantifier_offset, sizeof count);
    memcpy(&values, start + field->offset, sizeof values);
    put(out, "[", 1);
    for (size_t i = 0; i < count; i++) {
        if (i) put(out, ",", 1);
        put_value(out, field, values + i * element_bytes(field->type), depth);
    }
    put(out, "]", 1);
}

static bool is_present(const ProtobufCFieldDescriptor* field, const ProtobufCMessage* message) {
    const uint8_t* start = (const uint8_t*)message;
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        uint32_t which;
        memcpy(&which, start + field->quantifier_offset, sizeof which);
        if (which != field->id) return false;
    } else if (field->label == PROTOBUF_C_LABEL_OPTIONAL && field->quantifier_offset) {
        protobuf_c_boolean has;
        memcpy(&has, start + field->quantifier_offset, sizeof has);
        if (!has) return false;
    }
    if (field->type != PROTOBUF_C_TYPE_MESSAGE || field->label == PROTOBUF_C_LABEL_REPEATED)
        return true;
    const ProtobufCMessage* child = *(ProtobufCMessage* const*)(const void*)(start + field->offset);
    return child;
}

static void put_message(json_out* out, const ProtobufCMessage* message, uint32_t depth) {
    const ProtobufCMessageDescriptor* descriptor = message->descriptor;
    if (depth > PROTO_DEPTH_MAX) { // a decoded message is never so deep; one that code built may be
        put_text(out, "null");
        return;
    }
    bool is_first = true;
    put(out, "{", 1);
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor* field = &descriptor->fields[i];
        if (!is_present(field, message)) continue;
        if (!is_first) put(out, ",", 1);
        is_first = false;
        put_string(out, field->name);
        put(out, ":", 1);
        if (field->label == PROTOBUF_C_LABEL_REPEATED)
            put_array(out, field, message, depth);
        else
            put_value(out, field, (const uint8_t*)message + field->offset, depth);
    }
    put(out, "}", 1);
}

size_t proto_json(const ProtobufCMessage* message, char* target, size_t capacity) {
    BASE_ASSERT(message && (target || capacity == 0));
    json_out out = {target, capacity, 0};
    put_message(&out, message, 1);
    if (capacity > 0) target[out.size < capacity ? out.size : capacity - 1] = 0;
    return out.size;
}
