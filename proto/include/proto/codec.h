// SPDX-License-Identifier: MIT
/// The one place that unpacks protobuf messages from strangers: with a capped arena, size limits and a
/// walk over the bytes first (protobuf-c 1.4.1 amplifies memory x60 and has no recursion limit).
#pragma once

#include "base/arena.h"
#include <protobuf-c/protobuf-c.h>

#define PROTO_UNPACK_BYTES_MAX 65536u   ///< arena for one message
#define PROTO_MESSAGE_BYTES_MAX 16384u  ///< packed size of one message on the wire

/// Scratch for unpacking. One message at a time lives in it.
typedef struct proto_codec {
    base_arena arena;
    ProtobufCAllocator allocator;
    uint64_t refused; ///< messages that were not decodable
} proto_codec;

BASE_MUST_USE bool proto_codec_init(proto_codec* codec, const base_allocator* allocator,
                                    size_t arena_bytes);
void proto_codec_deinit(proto_codec* codec);
/// Unpack; the message is borrowed until the next decode or deinit. NULL (and refused + 1) when the
/// bytes are longer than `size_max`, not a message, or want more memory than the arena has.
const ProtobufCMessage* proto_codec_decode(proto_codec* codec,
                                           const ProtobufCMessageDescriptor* descriptor,
                                           const void* data, size_t size, size_t size_max);
/// Pack into a buffer. @return bytes, 0 when it does not fit.
size_t proto_encode(const ProtobufCMessage* message, void* target, size_t capacity);
/// No message reachable from `descriptor` contains itself (checked at start for all of ours and a
/// module's).
bool proto_is_flat(const ProtobufCMessageDescriptor* descriptor);
/// Names, ids, labels and types of all reachable fields, hashed: part of the schema.
uint64_t proto_descriptor_hash(const ProtobufCMessageDescriptor* descriptor);
/// One JSON object, fields by name, bytes as hex, 64-bit numbers as numbers. @return bytes it takes.
size_t proto_json(const ProtobufCMessage* message, char* target, size_t capacity);
