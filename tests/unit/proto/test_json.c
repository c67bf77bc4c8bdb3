// SPDX-License-Identifier: MIT
#include "test.h"

#include "proto/codec.h"
#include "samples.pb-c.h"
#include "wire.pb-c.h"

static void check(const ProtobufCMessage* message, const char* expected) {
    base_bytes json = {0};
    proto_json(message, &json);
    base_bytes_write_u8(&json, 0);
    assert_string_equal((const char*)json.data, expected);
    base_bytes_deinit(&json);
}

CASE(scalars_are_written_even_when_default) {
    Shoal__Wire__RosterEntry entry = SHOAL__WIRE__ROSTER_ENTRY__INIT;
    entry.client = 3;
    check(&entry.base, "{\"client\":3,\"name\":\"\",\"is_bot\":false}");
}

CASE(text_is_escaped_and_bytes_are_hex) {
    Shoal__Wire__GameEvent event = SHOAL__WIRE__GAME_EVENT__INIT;
    event.tick = UINT64_MAX;
    event.payload = (ProtobufCBinaryData){3, (uint8_t*)"\x00\xff\x1a"};
    check(&event.base, "{\"number\":0,\"message\":0,\"tick\":18446744073709551615,\"target\":0,"
                       "\"payload\":\"00ff1a\",\"is_alone\":false,\"whole_bytes\":0,\"part\":0}");
    Sample__Note note = SAMPLE__NOTE__INIT;
    note.fruit = SAMPLE__FRUIT__PEAR;
    note.text = "a \"b\" \\ \n\xc3\xa9";
    check(&note.base, "{\"fruit\":\"PEAR\",\"text\":\"a \\\"b\\\" \\\\ \\u000a\xc3\xa9\"}");
}

CASE(of_a_oneof_the_set_member_is_written) {
    Shoal__Wire__ServerControl control = SHOAL__WIRE__SERVER_CONTROL__INIT;
    check(&control.base, "{}");
    Shoal__Wire__SchemaQuestion question = SHOAL__WIRE__SCHEMA_QUESTION__INIT;
    control.kind_case = SHOAL__WIRE__SERVER_CONTROL__KIND_SCHEMA_QUESTION;
    control.schema_question = &question;
    check(&control.base, "{\"schema_question\":{}}");
}

CASE(every_kind_of_field_has_a_form) {
    Sample__Leaf leaf = SAMPLE__LEAF__INIT;
    Sample__Leaf* leaves[2] = {&leaf, &leaf};
    uint32_t numbers[2] = {1, UINT32_MAX};
    Sample__Fruit fruits[2] = {SAMPLE__FRUIT__QUINCE, (Sample__Fruit)9};
    char* texts[1] = {"t"};
    ProtobufCBinaryData blobs[1] = {{1, (uint8_t*)"\x09"}};
    double reals[2] = {0.5, 1.0 / 0.0};
    protobuf_c_boolean flags[2] = {1, 0};
    Sample__Everything all = SAMPLE__EVERYTHING__INIT;
    all.a_int32 = -1, all.a_int64 = INT64_MIN, all.a_uint32 = 2, all.a_uint64 = 3;
    all.a_sint32 = -4, all.a_sint64 = -5, all.a_fixed32 = 6, all.a_fixed64 = 7;
    all.a_sfixed32 = -8, all.a_sfixed64 = -9, all.a_float = 0.1f, all.a_double = 0.25;
    all.a_bool = 1, all.a_fruit = SAMPLE__FRUIT__PEAR, all.a_leaf = &leaf;
    all.n_numbers = 2, all.numbers = numbers, all.n_fruits = 2, all.fruits = fruits;
    all.n_texts = 1, all.texts = texts, all.n_blobs = 1, all.blobs = blobs;
    all.n_leaves = 2, all.leaves = leaves, all.n_reals = 2, all.reals = reals;
    all.n_flags = 2, all.flags = flags;
    all.choice_case = SAMPLE__EVERYTHING__CHOICE_CHOSEN_NUMBER, all.chosen_number = 10;
    check(&all.base,
          "{\"a_int32\":-1,\"a_int64\":-9223372036854775808,\"a_uint32\":2,\"a_uint64\":3,"
          "\"a_sint32\":-4,\"a_sint64\":-5,\"a_fixed32\":6,\"a_fixed64\":7,\"a_sfixed32\":-8,"
          "\"a_sfixed64\":-9,\"a_float\":0.100000001,\"a_double\":0.25,\"a_bool\":true,"
          "\"a_string\":\"\",\"a_bytes\":\"\",\"a_fruit\":\"PEAR\",\"a_leaf\":{\"value\":0},"
          "\"numbers\":[1,4294967295],\"fruits\":[\"QUINCE\",9],\"texts\":[\"t\"],"
          "\"blobs\":[\"09\"],\"leaves\":[{\"value\":0},{\"value\":0}],\"reals\":[0.5,null],"
          "\"flags\":[true,false],\"chosen_number\":10}");
}

CASE(nesting_beyond_the_limit_is_null) {
    Sample__Nest nests[PROTO_DEPTH_MAX + 1];
    for (uint32_t i = 0; i <= PROTO_DEPTH_MAX; i++) {
        nests[i] = (Sample__Nest)SAMPLE__NEST__INIT;
        if (i) nests[i].inner = &nests[i - 1];
    }
    base_bytes json = {0};
    proto_json(&nests[PROTO_DEPTH_MAX].base, &json);
    base_bytes_write_u8(&json, 0);
    assert_non_null(strstr((const char*)json.data, "{\"inner\":null,\"value\":0}"));
    base_bytes_deinit(&json);
}
