// SPDX-License-Identifier: MIT
#include "scarce.h"
#include "test.h"

#include "proto/codec.h"
#include "samples.pb-c.h"
#include "wire.pb-c.h"

static proto_codec codec;

static const ProtobufCMessage* decode(const ProtobufCMessageDescriptor* descriptor,
                                      const void* data, size_t size) {
    return proto_codec_decode(&codec, descriptor, data, size, PROTO_MESSAGE_BYTES_MAX);
}

static const Sample__Everything* decode_everything(const void* data, size_t size) {
    return (const Sample__Everything*)decode(&sample__everything__descriptor, data, size);
}

// Pack a message with every field set into `data`.
static size_t pack_everything(uint8_t* data, size_t capacity) {
    Sample__Leaf leaf = SAMPLE__LEAF__INIT, other = SAMPLE__LEAF__INIT;
    Sample__Leaf* leaves[2] = {&leaf, &other};
    uint32_t numbers[3] = {1, 300, 4000000000u};
    Sample__Fruit fruits[2] = {SAMPLE__FRUIT__PEAR, SAMPLE__FRUIT__QUINCE};
    char* texts[2] = {"", "b\xc3\xa9"};
    ProtobufCBinaryData blobs[1] = {{2, (uint8_t*)"\0\xff"}};
    double reals[1] = {0.1};
    protobuf_c_boolean flags[2] = {1, 0};
    Sample__Everything all = SAMPLE__EVERYTHING__INIT;
    leaf.value = 77;
    all.a_int32 = -5;
    all.a_int64 = INT64_MIN;
    all.a_uint32 = UINT32_MAX;
    all.a_uint64 = UINT64_MAX;
    all.a_sint32 = -6;
    all.a_sint64 = -7;
    all.a_fixed32 = 8;
    all.a_fixed64 = 9;
    all.a_sfixed32 = -10;
    all.a_sfixed64 = -11;
    all.a_float = 1.5f;
    all.a_double = -2.25;
    all.a_bool = 1;
    all.a_string = "text \xf0\x9f\x90\x9f";
    all.a_bytes = (ProtobufCBinaryData){3, (uint8_t*)"\1\0\2"};
    all.a_fruit = SAMPLE__FRUIT__QUINCE;
    all.a_leaf = &leaf;
    all.n_numbers = 3, all.numbers = numbers;
    all.n_fruits = 2, all.fruits = fruits;
    all.n_texts = 2, all.texts = texts;
    all.n_blobs = 1, all.blobs = blobs;
    all.n_leaves = 2, all.leaves = leaves;
    all.n_reals = 1, all.reals = reals;
    all.n_flags = 2, all.flags = flags;
    all.choice_case = SAMPLE__EVERYTHING__CHOICE_CHOSEN_LEAF;
    all.chosen_leaf = &leaf;
    size_t size = proto_encode(&all.base, data, capacity);
    assert_int_equal(size, proto_encoded_bytes(&all.base));
    return size;
}

// A decoded message must encode to bytes that decode and encode to the same bytes.
static void check_stable(const ProtobufCMessageDescriptor* descriptor, const void* data,
                         size_t size) {
    static uint8_t once[PROTO_MESSAGE_BYTES_MAX * 4], twice[PROTO_MESSAGE_BYTES_MAX * 4];
    const ProtobufCMessage* message = decode(descriptor, data, size);
    if (!message) return;
    size_t once_size = proto_encode(message, once, sizeof once);
    message = proto_codec_decode(&codec, descriptor, once, once_size, sizeof once);
    assert_non_null(message);
    assert_int_equal(proto_encode(message, twice, sizeof twice), once_size);
    assert_memory_equal(once, twice, once_size);
}

CASE(every_kind_of_field_comes_back) {
    uint8_t data[512], again[512];
    size_t size = pack_everything(data, sizeof data);
    const Sample__Everything* all = decode_everything(data, size);
    assert_non_null(all);
    assert_int_equal(all->a_int32, -5);
    assert_true(all->a_uint64 == UINT64_MAX);
    assert_string_equal(all->a_string, "text \xf0\x9f\x90\x9f");
    assert_int_equal(all->fruits[1], SAMPLE__FRUIT__QUINCE);
    assert_int_equal(all->chosen_leaf->value, 77);
    assert_int_equal(proto_encode(&all->base, again, sizeof again), size);
    assert_memory_equal(data, again, size);
}

CASE(an_empty_message_is_no_bytes) {
    assert_non_null(decode(&shoal__wire__hello__descriptor, NULL, 0));
    Shoal__Wire__Hello hello = SHOAL__WIRE__HELLO__INIT;
    uint8_t data[4];
    assert_int_equal(proto_encode(&hello.base, data, sizeof data), 0);
    assert_int_equal(proto_encoded_bytes(&hello.base), 0);
}

CASE(encoding_needs_all_of_the_room) {
    uint8_t data[512];
    size_t size = pack_everything(data, sizeof data);
    const Sample__Everything* all = decode_everything(data, size);
    uint8_t target[512];
    assert_int_equal(proto_encode(&all->base, target, size - 1), 0);
    assert_int_equal(proto_encode(&all->base, target, size), size);
    assert_int_equal(proto_encode(&all->base, target, size + 1), size);
}

CASE(messages_over_the_size_are_refused) {
    uint8_t data[512];
    size_t size = pack_everything(data, sizeof data);
    uint64_t refused = codec.refused;
    assert_null(proto_codec_decode(&codec, &sample__everything__descriptor, data, size, size - 1));
    assert_int_equal(codec.refused, refused + 1);
    assert_non_null(proto_codec_decode(&codec, &sample__everything__descriptor, data, size, size));
    assert_int_equal(codec.refused, refused + 1);
}

CASE(truncation_at_every_byte_is_survived) {
    uint8_t data[512];
    size_t size = pack_everything(data, sizeof data);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t* tight = malloc(cut ? cut : 1); // so that a sanitizer sees the end
        memcpy(tight, data, cut);
        check_stable(&sample__everything__descriptor, tight, cut);
        free(tight);
    }
}

CASE(flips_of_every_bit_are_survived) {
    uint8_t data[512];
    size_t size = pack_everything(data, sizeof data);
    for (size_t bit = 0; bit < size * 8; bit++) {
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        check_stable(&sample__everything__descriptor, data, size);
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

CASE(strings_must_be_utf8) {
    static const struct {
        const char* text;
        uint8_t size;
        bool is_good;
    } cases[] = {
        {"plain", 5, true},
        {"\x7f", 1, true},
        {"\xc3\xa9", 2, true},
        {"\xe2\x82\xac", 3, true},
        {"\xed\x9f\xbf", 3, true},
        {"\xee\x80\x80", 3, true},
        {"\xf0\x9f\x90\x9f", 4, true},
        {"\xf4\x8f\xbf\xbf", 4, true},
        {"a\0b", 3, false},             // NUL
        {"\x80", 1, false},             // lone continuation
        {"\xc3", 1, false},             // cut
        {"\xe2\x82", 2, false},         // cut
        {"\xf0\x9f\x90", 3, false},     // cut
        {"\xc3z", 2, false},            // no continuation
        {"\xc0\x80", 2, false},         // overlong NUL
        {"\xc1\xbf", 2, false},         // overlong
        {"\xe0\x9f\xbf", 3, false},     // overlong
        {"\xf0\x8f\xbf\xbf", 4, false}, // overlong
        {"\xed\xa0\x80", 3, false},     // surrogate
        {"\xf4\x90\x80\x80", 4, false}, // beyond 10FFFF
        {"\xf5\x80\x80\x80", 4, false},
        {"\xff", 1, false},
    };
    for (size_t i = 0; i < BASE_COUNT(cases); i++) {
        uint8_t data[16] = {0x72, cases[i].size}; // field 14
        memcpy(data + 2, cases[i].text, cases[i].size);
        const void* message = decode_everything(data, cases[i].size + 2u);
        assert_int_equal(message != NULL, cases[i].is_good);
        assert_true(cases[i].is_good == !codec.bad_text);
        if (!message) assert_string_equal(codec.bad_text->name, "a_string");
    }
}

CASE(bytes_may_be_anything) {
    const uint8_t data[] = {0x7a, 3, 0xff, 0x00, 0x80};
    const Sample__Everything* all = decode_everything(data, sizeof data);
    assert_non_null(all);
    assert_int_equal(all->a_bytes.len, 3);
}

CASE(enums_must_have_a_known_value) {
    const uint8_t known[] = {0x80, 0x01, 2};
    const uint8_t unknown[] = {0x80, 0x01, 1};
    const uint8_t negative[] = {0x80, 0x01, 0xfd, 0xff, 0xff, 0xff,
                                0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    const uint8_t wide[] = {0x80, 0x01, 0x82, 0x80, 0x80, 0x80, 0x10}; // 2 + 2^32
    const uint8_t packed_good[] = {0x9a, 0x01, 2, 0, 2};
    const uint8_t packed_bad[] = {0x9a, 0x01, 2, 0, 3};
    assert_non_null(decode_everything(known, sizeof known));
    assert_null(decode_everything(unknown, sizeof unknown));
    assert_non_null(decode_everything(negative, sizeof negative));
    assert_null(decode_everything(wide, sizeof wide));
    assert_non_null(decode_everything(packed_good, sizeof packed_good));
    assert_null(decode_everything(packed_bad, sizeof packed_bad));
}

CASE(wrong_wire_types_are_refused) {
    static const uint8_t cases[][12] = {
        {2, 0x0a, 0x00},                      // int32 as bytes
        {6, 0x0d, 1, 2, 3, 4},                // int32 as 32 bits, one byte short
        {5, 0x0d, 1, 2, 3, 4},                // int32 as 32 bits
        {2, 0x38, 0x01},                      // fixed32 as varint
        {2, 0x70, 0x01},                      // string as varint
        {3, 0x8b, 0x01, 0x00},                // group
        {2, 0x0c, 0x00},                      // end of a group
        {2, 0x0e, 0x00},                      // wire type 6
        {2, 0x0f, 0x00},                      // wire type 7
        {2, 0x00, 0x01},                      // field 0
        {7, 0xff, 0xff, 0xff, 0xff, 0x7f, 1}, // tag beyond 32 bits
        {11, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, // endless varint
    };
    for (size_t i = 0; i < BASE_COUNT(cases); i++)
        assert_null(decode_everything(cases[i] + 1, cases[i][0] > 11 ? 11 : cases[i][0]));
}

CASE(a_broken_message_does_not_break_the_next) {
    uint8_t data[512];
    size_t size = pack_everything(data, sizeof data);
    assert_null(decode_everything(data, size - 1));
    assert_non_null(decode_everything(data, size));
}

CASE(a_codec_may_be_moved) {
    proto_codec first, second;
    proto_codec_init(&first, NULL, 4096);
    second = first;
    memset(&first, 0xee, sizeof first);
    const uint8_t data[] = {0x0a, 0};
    (void)data;
    assert_non_null(proto_codec_decode(&second, &shoal__wire__client_control__descriptor, data,
                                       sizeof data, 100));
    proto_codec_deinit(&second);
}

CASE(an_arena_begins_small_and_grows_for_a_large_message) {
    scarce_memory memory;
    scarce_init(&memory);
    proto_codec at_once, by_need;
    proto_codec_init(&at_once, &memory.allocator, PROTO_UNPACK_SERVER_BYTES_MAX);
    proto_codec_init(&by_need, &memory.allocator, PROTO_UNPACK_SERVER_BYTES_MAX);
    assert_true(at_once.arena.capacity <= 1024);
    proto_codec_reserve(&at_once);
    assert_int_equal(at_once.arena.capacity, PROTO_UNPACK_SERVER_BYTES_MAX);
    static uint8_t players[2 * 1500];
    for (size_t i = 0; i < sizeof players; i += 2)
        players[i] = 0x0a;
    memory.calls = 0;
    for (size_t size = 2; size <= sizeof players; size += 2) {
        const ProtobufCMessageDescriptor* roster = &shoal__wire__roster__descriptor;
        const bool is_fine = proto_codec_decode(&at_once, roster, players, size, size) != NULL;
        const uint64_t before = memory.calls;
        assert_int_equal(proto_codec_decode(&by_need, roster, players, size, size) != NULL,
                         is_fine);
        assert_true(memory.calls - before <= 1);
        assert_int_equal(by_need.arena.used, at_once.arena.used);
    }
    assert_int_equal(memory.calls, 8); // it doubles from 1 KB to all of it
    assert_int_equal(by_need.arena.capacity, PROTO_UNPACK_SERVER_BYTES_MAX);
    proto_codec_deinit(&at_once);
    proto_codec_deinit(&by_need);
}

// protobuf-c refuses some of these itself. The check before it must not rely on that.
CASE(the_check_alone_refuses_what_no_encoder_writes) {
    static const struct {
        const char* bytes;
        size_t size;
    } CASES[] = {
        {"\x8a\x80\x80\x80\x80\x00\x00", 7},                      // a tag of 6 bytes
        {"\x88\x80\x80\x80\x10\x00", 6},                          // a tag above 32 bits
        {"\x1a\x80\x80\x80\x80\x80\x00", 7},                      // a length of 6 bytes
        {"\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 12}, // a number of 11 bytes
        {"\x0d\x00\x00\x00\x00", 5},                              // a number as fixed32
        {"\x18\x05", 2},                                          // a text as a number
        {"\x08", 1},                                              // nothing behind the tag
    };
    const ProtobufCMessageDescriptor* hello = &shoal__wire__hello__descriptor;
    for (size_t i = 0; i < BASE_COUNT(CASES); i++)
        assert_null(proto_codec_decode(&codec, hello, CASES[i].bytes, CASES[i].size, 64));
    // The longest forms that are right: a tag and a length of 5 bytes, a number of 10.
    assert_non_null(
        proto_codec_decode(&codec, hello, "\x9a\x80\x80\x80\x00\x81\x80\x80\x80\x00x", 11, 64));
    assert_non_null(
        proto_codec_decode(&codec, hello, "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11, 64));
}

int main(void) {
    proto_codec_init(&codec, NULL, PROTO_UNPACK_BYTES_MAX);
    int failed = test_run();
    proto_codec_deinit(&codec);
    return failed;
}
