// SPDX-License-Identifier: MIT
/// Protobuf messages: the only place that unpacks them from untrusted input, and helpers around
/// them.
///
/// protobuf-c 1.4.1 allocates up to 60 bytes per byte of input and recurses without a limit. So a
/// codec checks the bytes first, and unpacks into an arena of bounded size. The arena begins small
/// and grows for the first message that needs more.
///
/// Threads: One thread at a time per codec. The functions without a codec may run in any thread.
#pragma once

#include "base/arena.h"
#include "base/bytes.h"
#include <protobuf-c/protobuf-c.h>

BASE_C_BEGIN

#define PROTO_UNPACK_BYTES_MAX 65536u         ///< arena for one message of a file or of a module
#define PROTO_UNPACK_CLIENT_BYTES_MAX 16384u  ///< arena for one message of a client
#define PROTO_UNPACK_ANSWER_BYTES_MAX 65536u  ///< arena for its answer to a schema question
#define PROTO_UNPACK_SERVER_BYTES_MAX 262144u ///< arena for one message of a server
#define PROTO_MESSAGE_BYTES_MAX 16384u        ///< packed size of one message on the wire
#define PROTO_DEPTH_MAX 8u           ///< levels of messages in messages, the outermost counts
#define PROTO_FIELDS_MAX 2048u       ///< values in one message, with those of inner messages
#define PROTO_UNKNOWN_FIELDS_MAX 16u ///< fields that the descriptor does not know

/// Memory for unpacking. It holds one message at a time. A codec may be moved between calls.
typedef struct proto_codec {
    base_arena arena;
    size_t bytes_max; ///< of the arena
    bool is_full;     ///< a message that was decoded did not fit
    ProtobufCAllocator allocator;
    uint64_t refused; ///< count of messages that decode refused
    /// Of the newest message: the field whose text was no UTF-8; NULL: none.
    const ProtobufCFieldDescriptor* bad_text;
} proto_codec;

/// Create the arena of a codec, of at most `arena_bytes` bytes, with `allocator` (NULL: the heap).
void proto_codec_init(proto_codec* codec, const base_allocator* allocator, size_t arena_bytes);
/// Give the arena all its bytes at once: decoding allocates nothing from then on.
void proto_codec_reserve(proto_codec* codec);
/// Free the arena, and with it the message that decode returned last.
void proto_codec_deinit(proto_codec* codec);
/// Would decode take these bytes? Who packs a message asks this before it is sent.
bool proto_codec_accepts(proto_codec* codec, const ProtobufCMessageDescriptor* descriptor,
                         const void* data, size_t size);
/// Check and unpack `size` bytes of untrusted input. `size_max` is the limit of this kind of
/// message.
/// @return the message, borrowed until the next decode or deinit of this codec; NULL, with
///         `refused` one higher, when the bytes are longer than `size_max`, are no such message,
///         break one of the limits above, need a larger arena than there may be, or have a string
///         that is not UTF-8 or contains a NUL, or an enum with an unknown value. Then drop the
///         packet and count it.
const ProtobufCMessage* proto_codec_decode(proto_codec* codec,
                                           const ProtobufCMessageDescriptor* descriptor,
                                           const void* data, size_t size, size_t size_max);
/// Pack a message into `target`, which has `capacity` bytes.
/// @return its bytes; 0 (it does not fit: nothing is written). A message whose fields are all
///         default takes 0 bytes too. Where that can happen, compare with proto_encoded_bytes
///         first.
size_t proto_encode(const ProtobufCMessage* message, void* target, size_t capacity);
/// Get the packed size of a message in bytes.
size_t proto_encoded_bytes(const ProtobufCMessage* message);
/// Check a message type at start-up: no message that `descriptor` reaches contains itself or is
/// nested deeper than PROTO_DEPTH_MAX.
bool proto_is_flat(const ProtobufCMessageDescriptor* descriptor);
/// Hash the names, ids, labels and types of all fields that `descriptor` reaches (WIRE.md, "Schema
/// hash"). `descriptor` must be flat.
uint64_t proto_descriptor_hash(const ProtobufCMessageDescriptor* descriptor);
/// Append a message as one JSON object: fields by name, bytes as hex, 64-bit numbers as numbers,
/// enums by name; of a oneof only the member that is set.
void proto_json(const ProtobufCMessage* message, base_bytes* json);

BASE_C_END
