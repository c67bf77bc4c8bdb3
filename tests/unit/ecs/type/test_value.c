// SPDX-License-Identifier: MIT
#include "template/data_world.h"

#include "base/hash.h"
#include "type/type_registry.h"

static const ecs_type* type_of(ecs_world* world, const char* name) {
    const ecs_type* type = ecs_type_get(world, ecs_type_find(world, name));
    assert_non_null(type);
    return type;
}

static const ecs_type_context heap = {NULL};

CASE(strings_are_set_compared_and_cleared) {
    ecs_string string = {0};
    assert_string_equal(ecs_string_text(&string), "");
    assert_ok(ecs_string_set(NULL, &string, "hello", 5));
    assert_string_equal(ecs_string_text(&string), "hello");
    assert_int_equal(string.version, 1);
    assert_ok(ecs_string_set(NULL, &string, "hello", 5));
    assert_int_equal(string.version, 1);
    assert_ok(ecs_string_set(NULL, &string, string.data + 1, 3)); // a part of itself
    assert_string_equal(ecs_string_text(&string), "ell");
    assert_ok(ecs_string_set(NULL, &string, NULL, 0));
    assert_null(string.data);
    assert_int_equal(string.version, 3);
}

CASE(the_length_limit_of_strings_is_tested_at_its_edge) {
    static char text[ECS_STRING_BYTES_MAX + 2];
    memset(text, 'x', sizeof text);
    ecs_string string = {0};
    assert_ok(ecs_string_set(NULL, &string, text, ECS_STRING_BYTES_MAX - 1));
    assert_ok(ecs_string_set(NULL, &string, text, ECS_STRING_BYTES_MAX));
    assert_int_equal(ecs_string_set(NULL, &string, text, ECS_STRING_BYTES_MAX + 1), ECS_ERR_TEXT);
    assert_int_equal(string.size, ECS_STRING_BYTES_MAX);
    assert_int_equal(ecs_string_set(NULL, &string, "a\0b", 3),
                     ECS_ERR_TEXT); // its reader refuses it
    assert_int_equal(string.size, ECS_STRING_BYTES_MAX);
    assert_ok(ecs_string_set(NULL, &string, NULL, 0));
}

DATA_CASE(every_built_in_value_is_written_and_read_back) {
    base_rng rng = test_rng(7, 0);
    for (ecs_type_id id = 1; id <= ecs_type_count(world); id++) {
        const ecs_type* type = ecs_type_get(world, id);
        if (!ecs_type_is_plain(type)) continue;
        for (uint32_t round = 0; round < 50; round++) {
            _Alignas(64) uint8_t value[128] = {0};
            _Alignas(64) uint8_t copy[128] = {0};
            for (uint32_t i = 0; i < type->field_count; i++) {
                const ecs_field* field = &type->fields[i];
                uint32_t bytes = field->count * ecs_field_kind_bytes(field->kind);
                for (uint32_t b = 0; b < bytes; b++)
                    value[field->offset + b] =
                        (uint8_t)(base_rng_u32(&rng) & (field->kind == ECS_FIELD_BOOL ? 1 : 255));
            }
            base_bytes bytes = {0};
            ecs_type_write(type, value, &bytes);
            assert_int_equal(bytes.size, ecs_type_canonical_bytes(type));
            base_reader reader = base_reader_make(bytes.data, bytes.size);
            assert_true(ecs_type_read(type, &heap, copy, &reader));
            assert_true(ecs_type_equal(type, value, copy));
            assert_true(ecs_type_hash(type, value, 5) == base_hash64(bytes.data, bytes.size, 5));
            assert_true(ecs_type_hash(type, value, 5) == ecs_type_hash(type, copy, 5));
            if (type->size) {
                base_reader cut = base_reader_make(bytes.data, bytes.size - 1);
                assert_false(ecs_type_read(type, &heap, copy, &cut));
            }
            base_bytes_deinit(&bytes);
        }
    }
}

DATA_CASE(nan_is_one_value_and_zero_keeps_its_sign) {
    const ecs_type* type = type_of(world, "r");
    uint32_t quiet = UINT32_C(0x7FC00000);
    uint32_t other = UINT32_C(0xFF800001);
    float zero = 0.0f;
    float minus = -0.0f;
    uint32_t infinity = UINT32_C(0x7F800000);
    assert_true(ecs_type_equal(type, &quiet, &other));
    assert_true(ecs_type_hash(type, &quiet, 0) == ecs_type_hash(type, &other, 0));
    assert_false(ecs_type_equal(type, &quiet, &infinity));
    assert_false(ecs_type_equal(type, &zero, &minus));
    assert_true(ecs_type_hash(type, &zero, 0) != ecs_type_hash(type, &minus, 0));
}

DATA_CASE(canonical_bytes_are_fixed) {
    // The same on every machine: a value, with its bytes and its hash as constants.
    ecs_ivec2 value = {1, -2};
    static const uint8_t expected[] = {1, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF};
    base_bytes bytes = {0};
    ecs_type_write(type_of(world, "ip2"), &value, &bytes);
    ecs_string string = {0};
    assert_ok(ecs_string_set(NULL, &string, "hi", 2));
    ecs_type_write(type_of(world, "t"), &string, &bytes);
    assert_int_equal(bytes.size, sizeof expected + 3);
    assert_memory_equal(bytes.data, expected, sizeof expected);
    assert_memory_equal(bytes.data + sizeof expected, "\2hi", 3);
    assert_ok(ecs_string_set(NULL, &string, NULL, 0));
    base_bytes_deinit(&bytes);
}

DATA_CASE(damaged_bytes_are_refused) {
    bool flag = false;
    base_reader reader = base_reader_make("\2", 1);
    assert_false(ecs_type_read(type_of(world, "b"), &heap, &flag, &reader));
    ecs_string string = {0};
    static const char* const damaged[] = {"\5abc", "\xFF\xFF\xFF\xFF\xFF", "\x81\x20"};
    for (uint32_t i = 0; i < BASE_COUNT(damaged); i++) {
        reader = base_reader_make(damaged[i], strlen(damaged[i]));
        assert_false(ecs_type_read(type_of(world, "t"), &heap, &string, &reader));
    }
    reader = base_reader_make("\3a\0b", 4);
    assert_false(ecs_type_read(type_of(world, "t"), &heap, &string, &reader));
    assert_null(string.data);
}

DATA_CASE(a_type_larger_than_the_buffer_hashes_its_canonical_bytes_too) {
    enum { COUNT = 500 };
    ecs_field fields[] = {{.name = "xs", .offset = 0, .kind = ECS_FIELD_F32, .count = COUNT},
                          {.name = "d", .offset = COUNT * 4, .kind = ECS_FIELD_F64, .count = 3}};
    ecs_type_desc desc = {
        .name = "large", .size = COUNT * 4 + 24, .align = 8, .fields = fields, .field_count = 2};
    ecs_type_id id;
    assert_ok(ecs_type_register(world, &desc, &id));
    const ecs_type* type = ecs_type_get(world, id);
    _Alignas(8) uint8_t value[COUNT * 4 + 24];
    for (uint32_t i = 0; i < sizeof value; i++)
        value[i] = (uint8_t)(i * 7);
    memset(value + 1000, 0xFF, 8);
    memset(value + COUNT * 4, 0xFF, 8);
    base_bytes bytes = {0};
    ecs_type_write(type, value, &bytes);
    assert_true(ecs_type_hash(type, value, 3) == base_hash64(bytes.data, bytes.size, 3));
    base_bytes_deinit(&bytes);
}

static void expect_text(ecs_world* world, const char* type, const void* value, const char* text) {
    char target[64];
    assert_true(ecs_type_format(type_of(world, type), value, target, sizeof target));
    assert_string_equal(target, text);
    for (size_t room = 1; room <= strlen(text); room++) {
        assert_false(ecs_type_format(type_of(world, type), value, target, room));
        assert_int_equal(strlen(target), room - 1);
        assert_memory_equal(target, text, room - 1);
    }
}

DATA_CASE(values_are_formatted_as_a_datablock_writes_them) {
    expect_text(world, "p2", &(ecs_vec2){330, -550}, "330,-550");
    expect_text(world, "r", &(float){0.1f}, "0.1");
    expect_text(world, "r", &(float){16777217.0f / 3}, "5592405.5");
    expect_text(world, "u64", &(uint64_t){UINT64_MAX}, "18446744073709551615");
    expect_text(world, "i64", &(int64_t){INT64_MIN}, "-9223372036854775808");
    expect_text(world, "b", &(bool){true}, "yes");
    expect_text(world, "c", &(ecs_color){25, 255, 0, 1}, "25,255,0,1");
    expect_text(world, "eid", &(ecs_entity){ecs_entity_make(5, 1)}, "5:1");
    expect_text(world, "eid", &(ecs_entity){0}, "none");
    ecs_string string = {0};
    assert_ok(ecs_string_set(NULL, &string, "a \"b\"\n\\", 7));
    expect_text(world, "t", &string, "\"a\\x20\\\"b\\\"\\x0a\\\\\"");
    assert_ok(ecs_string_set(NULL, &string, NULL, 0));
}

#undef CASE
