// SPDX-License-Identifier: MIT
// Small messages that would need much memory, time or stack. The codec must refuse each with
// bounded memory.
#include "test.h"

#include "proto/codec.h"
#include "samples.pb-c.h"
#include "wire.pb-c.h"

static proto_codec codec;
static uint8_t bomb[PROTO_MESSAGE_BYTES_MAX];

// `count` copies of a pattern.
static size_t repeat(const void* pattern, size_t size, size_t count) {
    assert_true(size * count <= sizeof bomb);
    for (size_t i = 0; i < count; i++)
        memcpy(bomb + i * size, pattern, size);
    return size * count;
}

static const ProtobufCMessage* decode(const ProtobufCMessageDescriptor* descriptor, size_t size) {
    codec.arena.used_peak = 0;
    const ProtobufCMessage* message =
        proto_codec_decode(&codec, descriptor, bomb, size, sizeof bomb);
    assert_true(codec.arena.used_peak <= PROTO_UNPACK_BYTES_MAX);
    return message;
}

CASE(empty_submessages_are_refused) {
    size_t size = repeat("\x0a\x00", 2, sizeof bomb / 2);
    assert_null(decode(&shoal__wire__schema_answer__descriptor, size));
    assert_int_equal(codec.arena.used_peak, 0); // before anything was allocated
    size = repeat("\x0a\x00", 2, PROTO_FIELDS_MAX + 1);
    assert_null(decode(&shoal__wire__schema_answer__descriptor, size));
    size = repeat("\x0a\x00", 2, 400);
    assert_non_null(decode(&shoal__wire__schema_answer__descriptor, size));
}

CASE(submessages_that_outgrow_the_arena_are_refused) {
    size_t size = repeat("\x0a\x00", 2, PROTO_FIELDS_MAX);
    assert_null(decode(&shoal__wire__schema_answer__descriptor, size));
    assert_true(codec.arena.used_peak > 0);
}

CASE(empty_bytes_are_refused) {
    size_t size = repeat("\x42\x00", 2, sizeof bomb / 2);
    assert_null(decode(&shoal__wire__input_packet__descriptor, size));
    assert_int_equal(codec.arena.used_peak, 0);
}

CASE(unknown_fields_are_capped) {
    size_t size = repeat("\xf8\x7f\x00", 3, PROTO_UNKNOWN_FIELDS_MAX);
    assert_non_null(decode(&shoal__wire__hello__descriptor, size));
    size = repeat("\xf8\x7f\x00", 3, PROTO_UNKNOWN_FIELDS_MAX + 1);
    assert_null(decode(&shoal__wire__hello__descriptor, size));
    assert_int_equal(codec.arena.used_peak, 0);
    size = repeat("\xfa\x7f\x00", 3, sizeof bomb / 3);
    assert_null(decode(&shoal__wire__hello__descriptor, size));
    assert_int_equal(codec.arena.used_peak, 0);
}

CASE(unknown_fields_inside_of_messages_count_too) {
    size_t size = repeat("\x0a\x03\xf8\x7f\x00", 5, PROTO_UNKNOWN_FIELDS_MAX);
    assert_non_null(decode(&shoal__wire__schema_answer__descriptor, size));
    size = repeat("\x0a\x03\xf8\x7f\x00", 5, PROTO_UNKNOWN_FIELDS_MAX + 1);
    assert_null(decode(&shoal__wire__schema_answer__descriptor, size));
}

CASE(packed_numbers_are_capped) {
    memset(bomb, 1, sizeof bomb);
    memcpy(bomb, "\x92\x01\x80\x10",
           4); // field 18, 2048 numbers: with the field itself one too many
    assert_null(decode(&sample__everything__descriptor, 4 + PROTO_FIELDS_MAX));
    assert_int_equal(codec.arena.used_peak, 0);
    memcpy(bomb, "\x92\x01\xff\x0f", 4);
    assert_non_null(decode(&sample__everything__descriptor, 4 + PROTO_FIELDS_MAX - 1));
}

// Nest within Nest within Nest..., innermost last.
static size_t nest(uint32_t depth) {
    uint8_t* at = bomb + sizeof bomb;
    uint32_t inner = 0;
    for (uint32_t i = 1; i < depth; i++) {
        uint8_t head[8] = {0x0a};
        uint32_t size = 1, length = inner;
        do {
            head[size++] = (uint8_t)((length & 0x7f) | (length > 0x7f ? 0x80 : 0));
            length >>= 7;
        } while (length);
        at -= size;
        inner += size;
        assert_true(at >= bomb);
        memcpy(at, head, size);
    }
    memmove(bomb, at, inner);
    return inner;
}

CASE(nesting_is_capped) {
    assert_non_null(decode(&sample__nest__descriptor, nest(PROTO_DEPTH_MAX - 1)));
    assert_non_null(decode(&sample__nest__descriptor, nest(PROTO_DEPTH_MAX)));
    assert_null(decode(&sample__nest__descriptor, nest(PROTO_DEPTH_MAX + 1)));
    assert_null(decode(&sample__nest__descriptor, nest(4000)));
    assert_int_equal(codec.arena.used_peak, 0);
}

CASE(a_small_arena_says_no) {
    proto_codec small;
    proto_codec_init(&small, NULL, 512);
    const uint8_t data[] = "\x1a\x05hello"; // Hello.game
    assert_non_null(proto_codec_decode(&small, &shoal__wire__hello__descriptor, data,
                                       sizeof data - 1, sizeof data));
    size_t size = repeat("\x0a\x00", 2, 100);
    assert_null(proto_codec_decode(&small, &shoal__wire__schema_answer__descriptor, bomb, size,
                                   sizeof bomb));
    assert_int_equal(small.refused, 1);
    assert_true(small.arena.used_peak <= 512);
    proto_codec_deinit(&small);
}

// The worst that protobuf-c does for a byte of a client's and of a server's message, at the sizes
// that the wire allows: the arena is the bound.
CASE(the_arena_of_each_side_is_the_bound) {
    static const struct {
        const char* what;
        const ProtobufCMessageDescriptor* descriptor;
        const char* pattern;
        size_t pattern_size, size_max, arena_bytes;
    } CASES[] = {
        {"empty inputs of a client", &shoal__wire__input_packet__descriptor, "\x42\x00", 2, 1172,
         PROTO_UNPACK_CLIENT_BYTES_MAX},
        {"empty events of a client", &shoal__wire__input_packet__descriptor, "\x4a\x00", 2, 1172,
         PROTO_UNPACK_CLIENT_BYTES_MAX},
        {"resync requests of a client", &shoal__wire__input_packet__descriptor, "\x58\x01", 2, 1172,
         PROTO_UNPACK_CLIENT_BYTES_MAX},
        {"unknown fields of a client", &shoal__wire__input_packet__descriptor, "\xf8\x7f\x00", 3,
         1172, PROTO_UNPACK_CLIENT_BYTES_MAX},
        {"empty events of a server", &shoal__wire__state_packet__descriptor, "\x12\x00", 2, 1172,
         PROTO_UNPACK_SERVER_BYTES_MAX},
        {"empty players of a server", &shoal__wire__roster__descriptor, "\x0a\x00", 2, 16384,
         PROTO_UNPACK_SERVER_BYTES_MAX},
        {"2,048 empty players of a server", &shoal__wire__roster__descriptor, "\x0a\x00", 2, 4096,
         PROTO_UNPACK_SERVER_BYTES_MAX},
        {"clients that went, of a server", &shoal__wire__roster__descriptor, "\x10\x01", 2, 4096,
         PROTO_UNPACK_SERVER_BYTES_MAX},
        {"empty items of an answer", &shoal__wire__schema_answer__descriptor, "\x0a\x00", 2, 4096,
         PROTO_UNPACK_ANSWER_BYTES_MAX},
    };
    for (size_t i = 0; i < BASE_COUNT(CASES); i++) {
        proto_codec side;
        proto_codec_init(&side, NULL, CASES[i].arena_bytes);
        size_t size = repeat(CASES[i].pattern, CASES[i].pattern_size,
                             CASES[i].size_max / CASES[i].pattern_size);
        const ProtobufCMessage* message =
            proto_codec_decode(&side, CASES[i].descriptor, bomb, size, CASES[i].size_max);
        print_message("    %zu bytes, %s: %s, peak %zu\n", size, CASES[i].what,
                      message ? "decoded" : "refused", side.arena.used_peak);
        assert_true(side.arena.used_peak <= CASES[i].arena_bytes);
        assert_true(message != NULL || side.refused == 1);
        proto_codec_deinit(&side);
    }
}

CASE(a_length_beyond_the_end_is_refused) {
    const uint8_t huge[] = {0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f};
    const uint8_t wider[] = {0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    memcpy(bomb, huge, sizeof huge);
    assert_null(decode(&shoal__wire__schema_answer__descriptor, sizeof huge));
    memcpy(bomb, wider, sizeof wider);
    assert_null(decode(&shoal__wire__schema_answer__descriptor, sizeof wider));
}

int main(void) {
    proto_codec_init(&codec, NULL, PROTO_UNPACK_BYTES_MAX);
    int failed = test_run();
    proto_codec_deinit(&codec);
    return failed;
}
