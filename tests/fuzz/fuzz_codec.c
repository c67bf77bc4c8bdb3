// SPDX-License-Identifier: MIT
// All our protobuf messages from any bytes. A decoded message must encode to bytes that decode to
// the same message, fit the arena, and print as JSON. The first byte chooses the message.
#include "fuzz.h"

#include "log.pb-c.h"
#include "proto/codec.h"
#include "wire.pb-c.h"

enum { TARGET_BYTES = 4 * PROTO_MESSAGE_BYTES_MAX };

static const ProtobufCMessageDescriptor* const messages[] = {
    &shoal__wire__client_control__descriptor,  &shoal__wire__server_control__descriptor,
    &shoal__wire__state_packet__descriptor,    &shoal__wire__input_packet__descriptor,
    &shoal__wire__player_assigned__descriptor, &shoal__log__header__descriptor,
    &shoal__log__record__descriptor,
};

static size_t encode(const ProtobufCMessage* message, uint8_t* target) {
    size_t size = proto_encoded_bytes(message);
    FUZZ_CHECK(size <= TARGET_BYTES);
    FUZZ_CHECK(proto_encode(message, target, TARGET_BYTES) == size);
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    const ProtobufCMessageDescriptor* descriptor = messages[data[0] % BASE_COUNT(messages)];
    proto_codec codec;
    uint8_t* once = malloc(TARGET_BYTES);
    uint8_t* twice = malloc(TARGET_BYTES);
    FUZZ_CHECK(once && twice);
    proto_codec_init(&codec, NULL, PROTO_UNPACK_BYTES_MAX);
    const ProtobufCMessage* message =
        proto_codec_decode(&codec, descriptor, data + 1, size - 1, PROTO_MESSAGE_BYTES_MAX);
    if (message) {
        base_bytes json;
        base_bytes_init(&json, NULL);
        proto_json(message, &json);
        FUZZ_CHECK(json.size >= 2 && !memchr(json.data, 0, json.size));
        base_bytes_deinit(&json);
        size_t once_size = encode(message, once);
        message = proto_codec_decode(&codec, descriptor, once, once_size, TARGET_BYTES);
        FUZZ_CHECK(message);
        FUZZ_CHECK(encode(message, twice) == once_size);
        FUZZ_CHECK(memcmp(once, twice, once_size) == 0);
    }
    proto_codec_deinit(&codec);
    free(once);
    free(twice);
    return 0;
}
