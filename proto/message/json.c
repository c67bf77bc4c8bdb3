// SPDX-License-Identifier: MIT
// A message as one JSON object, for people and for jq. Every scalar is written, also a default, so
// that all lines of a dump have the same keys. Absent sub-messages and the other members of a oneof
// are left out.
#include "proto/codec.h"

#include "base/json.h"

#include <string.h>

static void put_enum(base_bytes* out, const ProtobufCEnumDescriptor* descriptor, int value) {
    const ProtobufCEnumValue* known = protobuf_c_enum_descriptor_get_value(descriptor, value);
    if (known)
        base_json_write(out, "%s", known->name);
    else
        base_json_write(out, "%d", value);
}

static void put_message(base_bytes* out, const ProtobufCMessage* message, uint32_t depth);

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

static void put_value(base_bytes* out, const ProtobufCFieldDescriptor* field, const void* value,
                      uint32_t depth) {
    const ProtobufCBinaryData* bytes = value;
    float single;
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        base_json_write(out, "%d", *(const int32_t*)value);
        break;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        base_json_write(out, "%u", *(const uint32_t*)value);
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        base_json_write(out, "%jd", (intmax_t) * (const int64_t*)value);
        break;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        base_json_write(out, "%ju", *(const uint64_t*)value);
        break;
    case PROTOBUF_C_TYPE_FLOAT:
        single = *(const float*)value; // JSON has no infinity and no NaN
        base_json_write(out, single - single == 0 ? "%.9g" : "%a", (double)single);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        base_json_write(out, "%a", *(const double*)value);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        base_json_write(out, "%i", *(const protobuf_c_boolean*)value);
        break;
    case PROTOBUF_C_TYPE_ENUM:
        put_enum(out, field->descriptor, *(const int*)value);
        break;
    case PROTOBUF_C_TYPE_STRING:
        base_json_write(out, "%s", *(char* const*)value);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        base_json_hex(out, bytes->data, bytes->len);
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        put_message(out, *(ProtobufCMessage* const*)value, depth + 1);
        break;
    }
}

static void put_array(base_bytes* out, const ProtobufCFieldDescriptor* field,
                      const ProtobufCMessage* message, uint32_t depth) {
    const uint8_t* start = (const uint8_t*)message;
    size_t count;
    const uint8_t* values;
    memcpy(&count, start + field->quantifier_offset, sizeof count);
    memcpy(&values, start + field->offset, sizeof values);
    base_json_write(out, "[");
    for (size_t i = 0; i < count; i++)
        put_value(out, field, values + i * element_bytes(field->type), depth);
    base_json_write(out, "]");
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

static void put_message(base_bytes* out, const ProtobufCMessage* message, uint32_t depth) {
    const ProtobufCMessageDescriptor* descriptor = message->descriptor;
    if (depth > PROTO_DEPTH_MAX) { // a decoded message is never so deep; one that code built may be
        base_json_write(out, "null");
        return;
    }
    base_json_write(out, "{");
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor* field = &descriptor->fields[i];
        if (!is_present(field, message)) continue;
        base_json_write(out, "%s=", field->name);
        if (field->label == PROTOBUF_C_LABEL_REPEATED)
            put_array(out, field, message, depth);
        else
            put_value(out, field, (const uint8_t*)message + field->offset, depth);
    }
    base_json_write(out, "}");
}

void proto_json(const ProtobufCMessage* message, base_bytes* json) {
    put_message(json, message, 1);
}
