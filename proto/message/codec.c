// SPDX-License-Identifier: MIT
// The only place where untrusted input becomes protobuf messages.
//
// protobuf-c allocates for everything that it finds, recurses as deep as the bytes require, keeps
// unknown fields and does not check strings and enums. So walk_message goes through the bytes
// first, with the descriptor: wire types, lengths, depth, number of values, UTF-8, enum values. The
// walk allocates nothing, reads each byte a bounded number of times and refuses what our own
// encoder never writes. Then decode unpacks the message into an arena of bounded size. The next
// decode resets the arena; nothing is freed before.
//
// Invariant: a walk never leaves [at, end). The meaning of fields is left to net.
// Start reading at proto_codec_decode.
#include "proto/codec.h"

#include "base/assert.h"
#include "base/text.h"

enum {
    WIRE_VARINT = 0,
    WIRE_64BIT = 1,
    WIRE_LENGTH = 2,
    WIRE_32BIT = 5,
    TAG_BYTES_MAX = 5,
    LENGTH_BYTES_MAX = 5,
    VARINT_BYTES_MAX = 10,
    ARENA_BYTES_MIN = 1024,
    ARENA_GROWTH = 2,
};

// A position in untrusted bytes.
typedef struct walk {
    const uint8_t* at;
    const uint8_t* end;
} walk;

// What the rest of the message may have, and the field whose text was none.
typedef struct walk_budget {
    uint32_t fields_left;
    uint32_t unknown_left;
    const ProtobufCFieldDescriptor* bad_text;
} walk_budget;

// Every function below returns false when the bytes are malformed or a limit is reached.

static bool walk_varint(walk* w, uint32_t bytes_max, uint64_t* value) {
    uint64_t result = 0;
    for (uint32_t i = 0; i < bytes_max && w->at < w->end; i++) {
        uint8_t byte = *w->at++;
        result |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte & 0x80) continue;
        *value = result;
        return true;
    }
    return false;
}

static bool walk_skip(walk* w, uint64_t size) {
    if (size > (uint64_t)(w->end - w->at)) return false;
    w->at += size;
    return true;
}

// Read a length and pass that many bytes; `inside` is a walk over them.
static bool walk_length(walk* w, walk* inside) {
    uint64_t size;
    if (!walk_varint(w, LENGTH_BYTES_MAX, &size)) return false;
    const uint8_t* start = w->at;
    if (!walk_skip(w, size)) return false;
    *inside = (walk){start, w->at};
    return true;
}

static uint32_t wire_type_of(ProtobufCType type) {
    switch (type) {
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        return WIRE_32BIT;
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return WIRE_64BIT;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return WIRE_LENGTH;
    default:
        return WIRE_VARINT;
    }
}

static bool is_enum_value(const ProtobufCFieldDescriptor* field, uint64_t value) {
    int64_t number = (int64_t)value;
    if (number < INT32_MIN || number > INT32_MAX) return false;
    return protobuf_c_enum_descriptor_get_value(field->descriptor, (int)number);
}

static bool walk_number(walk* w, const ProtobufCFieldDescriptor* field, uint32_t wire_type) {
    if (wire_type == WIRE_64BIT) return walk_skip(w, 8);
    if (wire_type == WIRE_32BIT) return walk_skip(w, 4);
    uint64_t value;
    if (!walk_varint(w, VARINT_BYTES_MAX, &value)) return false;
    return field->type != PROTOBUF_C_TYPE_ENUM || is_enum_value(field, value);
}

static bool walk_packed(walk* w, const ProtobufCFieldDescriptor* field, walk_budget* budget) {
    walk inside;
    if (!walk_length(w, &inside)) return false;
    while (inside.at < inside.end) {
        if (budget->fields_left-- == 0) return false;
        if (!walk_number(&inside, field, wire_type_of(field->type))) return false;
    }
    return true;
}

static bool walk_unknown(walk* w, uint32_t wire_type, walk_budget* budget) {
    if (budget->unknown_left == 0) return false;
    budget->unknown_left--;
    uint64_t value;
    walk inside;
    switch (wire_type) {
    case WIRE_VARINT:
        return walk_varint(w, VARINT_BYTES_MAX, &value);
    case WIRE_64BIT:
        return walk_skip(w, 8);
    case WIRE_32BIT:
        return walk_skip(w, 4);
    case WIRE_LENGTH:
        return walk_length(w, &inside);
    default:
        return false; // groups, and wire types that do not exist
    }
}

// Recursion is bounded by `depth`, which never passes PROTO_DEPTH_MAX.
static bool walk_message(walk* w, const ProtobufCMessageDescriptor* descriptor, uint32_t depth,
                         walk_budget* budget) {
    if (depth > PROTO_DEPTH_MAX) return false;
    while (w->at < w->end) {
        uint64_t tag;
        if (!walk_varint(w, TAG_BYTES_MAX, &tag) || tag > UINT32_MAX || tag >> 3 == 0) return false;
        if (budget->fields_left == 0) return false;
        budget->fields_left--;
        uint32_t wire_type = (uint32_t)(tag & 7);
        const ProtobufCFieldDescriptor* field =
            protobuf_c_message_descriptor_get_field(descriptor, (unsigned)(tag >> 3));
        if (!field) {
            if (!walk_unknown(w, wire_type, budget)) return false;
            continue;
        }
        uint32_t expected = wire_type_of(field->type);
        walk inside;
        if (expected != WIRE_LENGTH) {
            bool is_packed = wire_type == WIRE_LENGTH && field->label == PROTOBUF_C_LABEL_REPEATED;
            if (!is_packed && wire_type != expected) return false;
            if (!(is_packed ? walk_packed(w, field, budget) : walk_number(w, field, wire_type)))
                return false;
        } else {
            if (wire_type != WIRE_LENGTH || !walk_length(w, &inside)) return false;
            if (field->type == PROTOBUF_C_TYPE_STRING &&
                !base_text_is_utf8((const char*)inside.at, (size_t)(inside.end - inside.at))) {
                budget->bad_text = field;
                return false;
            }
            if (field->type == PROTOBUF_C_TYPE_MESSAGE &&
                !walk_message(&inside, field->descriptor, depth + 1, budget))
                return false;
        }
    }
    return true;
}

bool proto_codec_accepts(proto_codec* codec, const ProtobufCMessageDescriptor* descriptor,
                         const void* data, size_t size) {
    BASE_ASSERT(descriptor && (data || size == 0));
    codec->bad_text = NULL;
    if (size == 0) return true;
    walk w = {data, (const uint8_t*)data + size};
    walk_budget budget = {PROTO_FIELDS_MAX, PROTO_UNKNOWN_FIELDS_MAX, NULL};
    const bool is_right = walk_message(&w, descriptor, 1, &budget);
    codec->bad_text = budget.bad_text;
    return is_right;
}

static void* arena_alloc(void* context, size_t size) {
    proto_codec* codec = context;
    void* memory = base_arena_push(&codec->arena, size);
    codec->is_full |= !memory;
    return memory;
}

static void arena_free(void* context, void* memory) {
    (void)context, (void)memory;
}

void proto_codec_init(proto_codec* codec, const base_allocator* allocator, size_t arena_bytes) {
    BASE_ASSERT(arena_bytes > 0);
    *codec = (proto_codec){.bytes_max = arena_bytes,
                           .allocator = {.alloc = arena_alloc, .free = arena_free}};
    base_arena_init(&codec->arena, allocator,
                    arena_bytes < ARENA_BYTES_MIN ? arena_bytes : ARENA_BYTES_MIN);
}

void proto_codec_deinit(proto_codec* codec) {
    base_arena_deinit(&codec->arena);
}

static void make_arena(proto_codec* codec, size_t bytes) {
    const base_allocator* allocator = codec->arena.allocator;
    base_arena_deinit(&codec->arena);
    base_arena_init(&codec->arena, allocator, bytes);
}

void proto_codec_reserve(proto_codec* codec) {
    if (codec->arena.capacity < codec->bytes_max) make_arena(codec, codec->bytes_max);
}

// Make the arena larger for a message that did not fit. @return false: it has its limit.
static bool grow(proto_codec* codec) {
    const size_t capacity = codec->arena.capacity;
    if (capacity == codec->bytes_max) return false;
    make_arena(codec, capacity > codec->bytes_max / ARENA_GROWTH ? codec->bytes_max
                                                                 : capacity * ARENA_GROWTH);
    return true;
}

const ProtobufCMessage* proto_codec_decode(proto_codec* codec,
                                           const ProtobufCMessageDescriptor* descriptor,
                                           const void* data, size_t size, size_t size_max) {
    BASE_ASSERT(codec->allocator.alloc == arena_alloc); // init was called
    codec->allocator.allocator_data = codec;            // set here, so that a codec may be moved
    const ProtobufCMessage* message = NULL;
    codec->bad_text = NULL;
    const bool is_right = size <= size_max && proto_codec_accepts(codec, descriptor, data, size);
    do {
        base_arena_reset(&codec->arena);
        codec->is_full = false;
        if (is_right)
            message = protobuf_c_message_unpack(descriptor, &codec->allocator, size,
                                                size ? data : (const void*)"");
    } while (!message && codec->is_full && grow(codec));
    BASE_ASSERT(!message || message->descriptor == descriptor);
    if (!message) codec->refused++;
    return message;
}

size_t proto_encoded_bytes(const ProtobufCMessage* message) {
    return protobuf_c_message_get_packed_size(message);
}

size_t proto_encode(const ProtobufCMessage* message, void* target, size_t capacity) {
    size_t size = protobuf_c_message_get_packed_size(message);
    if (size > capacity) return 0;
    BASE_ASSERT(target || size == 0);
    return protobuf_c_message_pack(message, target);
}
