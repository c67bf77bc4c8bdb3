// SPDX-License-Identifier: MIT
// Properties of a message type: whether its nesting has an end, and its hash.
//
// The hash (WIRE.md, "Schema hash") gets the fields in the order of their ids. So moving lines in a
// .proto file does not change it, and renaming, renumbering or retyping a field does.
#include "proto/codec.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

// `depth` bounds the recursion: a type that contains itself would nest without end.
static bool nests_within(const ProtobufCMessageDescriptor* descriptor, uint32_t depth) {
    if (depth > PROTO_DEPTH_MAX) return false;
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor* field = &descriptor->fields[i];
        if (field->type != PROTOBUF_C_TYPE_MESSAGE) continue;
        if (!nests_within(field->descriptor, depth + 1)) return false;
    }
    return true;
}

bool proto_is_flat(const ProtobufCMessageDescriptor* descriptor) {
    BASE_ASSERT(descriptor && descriptor->magic == PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC);
    return nests_within(descriptor, 1);
}

static void add_text(base_hasher* hasher, const char* text) {
    base_hasher_add(hasher, text, strlen(text) + 1);
}

static void add_u32(base_hasher* hasher, uint32_t value) {
    uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                        (uint8_t)(value >> 24)};
    base_hasher_add(hasher, bytes, sizeof bytes);
}

static void add_enum(base_hasher* hasher, const ProtobufCEnumDescriptor* descriptor) {
    add_text(hasher, descriptor->short_name);
    add_u32(hasher, descriptor->n_values);
    for (unsigned i = 0; i < descriptor->n_values; i++) {
        add_u32(hasher, (uint32_t)descriptor->values[i].value);
        add_text(hasher, descriptor->values[i].name);
    }
}

static void add_message(base_hasher* hasher, const ProtobufCMessageDescriptor* descriptor,
                        uint32_t depth) {
    BASE_ASSERT(depth <= PROTO_DEPTH_MAX);
    add_text(hasher, descriptor->short_name);
    add_u32(hasher, descriptor->n_fields);
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor* field = &descriptor->fields[i];
        BASE_ASSERT(i == 0 || descriptor->fields[i - 1].id < field->id);
        add_u32(hasher, field->id);
        add_u32(hasher, (uint32_t)field->label);
        add_u32(hasher, (uint32_t)field->type);
        add_text(hasher, field->name);
        if (field->type == PROTOBUF_C_TYPE_ENUM) add_enum(hasher, field->descriptor);
        if (field->type == PROTOBUF_C_TYPE_MESSAGE)
            add_message(hasher, field->descriptor, depth + 1);
    }
}

uint64_t proto_descriptor_hash(const ProtobufCMessageDescriptor* descriptor) {
    BASE_ASSERT(descriptor && descriptor->magic == PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC);
    base_hasher hasher;
    base_hasher_init(&hasher, 0);
    add_message(&hasher, descriptor, 1);
    return base_hasher_end(&hasher);
}
