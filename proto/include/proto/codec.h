// SPDX-License-Identifier: MIT
/// The one place that unpacks protobuf messages from strangers: with a capped arena, size limits and a
/// walk over the bytes first (protobuf-c 1.4.1 amplifies memory x60 and has no recursion limit).
#pragma once

#include "base/arena.h"
#include <protobuf-c/protobuf-c.h>

#define PROTO_UNPACK_BYTES_MAX 65536u  ///< arena for one message
#define PROTO_MESSAGE_BYTES_MAX 16384u ///< packed size of one message on the wire
#define PROTO_DEPTH_MAX 8u             ///< messages inside messages, the outermost counts
#define PROTO_FIELDS_MAX 2048u         ///< values in one message, those inside of others included
#define PROTO_UNKNOWN_FIELDS_MAX 16u   ///< fields that the descriptor does not know

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
/// bytes are longer than `size_max`, not a message, over one of the limits above, or want more memory
/// than the arena has; when a string is not UTF-8 or holds a NUL; when an enum has an unknown value.
const ProtobufCMessage* proto_codec_decode(proto_codec* codec,
                                           const ProtobufCMessageDescriptor* descriptor,
                                           const void* data, size_t size, size_t size_max);
/// The checks alone, without unpacking.
BASE_MUST_USE bool proto_wire_check(const ProtobufCMessageDescriptor* descriptor, const void* data,
                                    size_t size);
/// Pack into a buffer. @return bytes, 0 when it does not fit. A message whose fields are all default
/// takes 0 bytes, so where that can be, compare with proto_encoded_bytes first.
size_t proto_encode(const ProtobufCMessage* message, void* target, size_t capacity);
size_t proto_encoded_bytes(const ProtobufCMessage* message);
/// No message reachable from `descriptor` contains itself or is nested deeper than PROTO_DEPTH_MAX
/// (checked at start for all of ours and a module's).
bool proto_is_flat(const ProtobufCMessageDescriptor* descriptor);
/// Names, ids, labels and types of all reachable fields, hashed: part of the schema.
uint64_t proto_descriptor_hash(const ProtobufCMessageDescriptor* descriptor);
/// One JSON object, fields by name, bytes as hex, 64-bit numbers as numbers, enums by name; of a oneof
/// the member that is set. NUL-terminated and cut to `capacity`. @return bytes all of it takes, without
/// the NUL.
size_t proto_json(const ProtobufCMessage* message, char* target, size_t capacity);
