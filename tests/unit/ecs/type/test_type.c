// SPDX-License-Identifier: MIT
#include "template/data_world.h"

#include "base/hash.h"
#include "type/type_registry.h"

#include <math.h>

typedef struct pair {
    int32_t a;
    float b;
} pair;

static const ecs_field pair_fields[] = {
    FIELD_OF(pair, b, F32, 1),
    FIELD_OF(pair, a, I32, 1),
};

static ecs_type_desc pair_desc(const ecs_field* fields, uint32_t count) {
    return (ecs_type_desc){.name = "pair",
                           .size = sizeof(pair),
                           .align = _Alignof(pair),
                           .fields = fields,
                           .field_count = count};
}

DATA_CASE(built_in_types_have_the_same_ids_everywhere) {
    static const char* const names[] = {
        "b",         "i",         "i64",       "u8",        "u16",       "u32",     "u64",
        "r",         "p2",        "p3",        "p4",        "ip2",       "ip3",     "ip4",
        "c",         "m",         "t",         "eid",       "tag",       "list<b>", "list<i>",
        "list<i64>", "list<u8>",  "list<u16>", "list<u32>", "list<u64>", "list<r>", "list<p2>",
        "list<p3>",  "list<p4>",  "list<ip2>", "list<ip3>", "list<ip4>", "list<c>", "list<m>",
        "list<t>",   "list<eid>", "array",     "object"};
    static const uint32_t sizes[] = {
        1, 4, 8, 1, 2, 4, 8, 4, 8, 12, 16, 8, 12, 16, 4, 48, sizeof(ecs_string), 4, 0};
    for (uint32_t i = 0; i < BASE_COUNT(names); i++) {
        assert_int_equal(ecs_type_find(world, names[i]), i + 1);
        const ecs_type* type = ecs_type_get(world, (ecs_type_id)(i + 1));
        bool owns_memory = i + 1 == ECS_ELEMENT_T || i + 1 > ECS_BUILTIN_TAG;
        assert_int_equal(type->size, i < BASE_COUNT(sizes) ? sizes[i] : sizeof(ecs_container));
        assert_int_equal(type->object_size, type->size);
        assert_int_equal(type->ops != NULL, owns_memory);
        assert_int_equal(type->is_dense, !owns_memory);
        // The row that describes inner values is the same.
        const ecs_type* row = ecs_builtin_type((ecs_type_id)(i + 1));
        assert_string_equal(row->name, names[i]);
        assert_int_equal(row->size, type->size);
        assert_int_equal(row->align, type->align);
        assert_int_equal(row->is_dense, type->is_dense);
        assert_ptr_equal(row->ops, type->ops);
        for (uint32_t k = 0; k < row->field_count; k++)
            assert_int_equal(row->fields[k].offset, type->fields[k].offset);
    }
    assert_int_equal(ECS_BUILTIN_COUNT, BASE_COUNT(names));
    assert_int_equal(ecs_type_find(world, "list<tag>"), ECS_TYPE_NONE);
    assert_null(ecs_type_get(world, ECS_TYPE_NONE));
    assert_null(ecs_type_get(world, (ecs_type_id)(ecs_type_count(world) + 1)));
}

DATA_CASE(fields_are_copied_and_sorted_by_offset) {
    ecs_type_id id;
    ecs_type_desc desc = pair_desc(pair_fields, 2);
    assert_ok(ecs_type_register(world, &desc, &id));
    const ecs_type* type = ecs_type_get(world, id);
    assert_string_equal(type->fields[0].name, "a");
    assert_string_equal(type->fields[1].name, "b");
    assert_ptr_not_equal(type->fields[0].name, pair_fields[1].name);
    assert_true(type->is_dense);
    assert_false(ecs_type_get(world, ecs_type_find(world, "RigidBody"))->is_dense);
    assert_int_equal(ecs_type_register(world, &desc, &id), ECS_ERR_DUPLICATE);
    assert_int_equal(id, ECS_TYPE_NONE);
    desc.name = "p2";
    assert_int_equal(ecs_type_register(world, &desc, &id), ECS_ERR_DUPLICATE);
}

static void expect_refused(ecs_world* world, ecs_type_desc desc) {
    ecs_type_id id;
    uint32_t count = ecs_type_count(world);
    assert_int_equal(ecs_type_register(world, &desc, &id), ECS_ERR_TYPE);
    assert_int_equal(ecs_type_count(world), count);
}

static void expect_field_refused(ecs_world* world, ecs_field field) {
    expect_refused(world, pair_desc(&field, 1));
}

DATA_CASE(fields_must_lie_inside_the_struct) {
    const ecs_field wrong[] = {
        {.name = "b", .offset = 8, .kind = ECS_FIELD_F32, .count = 1},
        {.name = "b", .offset = 2, .kind = ECS_FIELD_F32, .count = 1}, // not aligned
        {.name = "b", .offset = 4, .kind = ECS_FIELD_F32, .count = 2},
        {.name = "b", .offset = 4, .kind = ECS_FIELD_F32, .count = 0},
        {.name = "b", .offset = 4, .kind = ECS_FIELD_F32, .count = UINT32_MAX},
        {.name = "b", .offset = 4, .kind = ECS_FIELD_KIND_COUNT, .count = 1},
        {.name = "two words", .offset = 4, .kind = ECS_FIELD_F32, .count = 1},
    };
    for (uint32_t i = 0; i < BASE_COUNT(wrong); i++)
        expect_field_refused(world, wrong[i]);
    ecs_field overlapping[] = {pair_fields[0], pair_fields[0]};
    overlapping[1].name = "other";
    expect_refused(world, pair_desc(overlapping, 2));
    ecs_field twins[] = {pair_fields[0], pair_fields[1]};
    twins[1].name = "b";
    expect_refused(world, pair_desc(twins, 2));
}

DATA_CASE(quantisation_of_a_field_is_checked) {
    static const ecs_quant of_float[] = {{0, 1, 33}, {0, 0, 8}, {0, -1, 8}, {0, 1e38, 8}};
    static const ecs_quant of_int[] = {{0, 2, 8}, {0.5, 1, 8}, {-2147483649.0, 1, 8}};
    ecs_field field = pair_fields[0];
    for (uint32_t i = 0; i < BASE_COUNT(of_float); i++) {
        field.quant = of_float[i];
        expect_field_refused(world, field);
    }
    field = pair_fields[1];
    for (uint32_t i = 0; i < BASE_COUNT(of_int); i++) {
        field.quant = of_int[i];
        expect_field_refused(world, field);
    }
    field.quant = (ecs_quant){-2147483648.0, 1, 32};
    assert_true(ecs_quant_is_valid(&field.quant, ECS_FIELD_I32));
    assert_false(ecs_quant_is_valid(&field.quant, ECS_FIELD_I16));
    assert_false(ecs_quant_is_valid(&field.quant, ECS_FIELD_ENTITY));
    field.quant = (ecs_quant){18446744073709549568.0, 1, 8};
    assert_true(ecs_quant_is_valid(&field.quant, ECS_FIELD_U64));
    field.quant.min = 18446744073709551616.0;
    assert_false(ecs_quant_is_valid(&field.quant, ECS_FIELD_U64));
}

static void noop_create(const ecs_type_context* context, void* value) {
    memset(value, 0, sizeof(pair));
}

static void noop_destroy(const ecs_type_context* context, void* value) {}

static void write_nothing(const void* value, base_bytes* bytes) {}

DATA_CASE(size_align_and_functions_are_checked) {
    ecs_type_desc desc = pair_desc(pair_fields, 2);
    desc.align = 3;
    expect_refused(world, desc);
    desc.align = 128;
    expect_refused(world, desc);
    desc.align = 0;
    expect_refused(world, desc);
    desc = pair_desc(NULL, 0);
    expect_refused(world, desc);
    desc = pair_desc(pair_fields, 2);
    desc.name = "";
    expect_refused(world, desc);
    ecs_type_ops ops = {.create = noop_create};
    desc = pair_desc(NULL, 0);
    desc.ops = &ops;
    expect_refused(world, desc);
    ops = (ecs_type_ops){.destroy = noop_destroy};
    expect_refused(world, desc);
    ops = (ecs_type_ops){.create = noop_create, .destroy = noop_destroy, .write = write_nothing};
    expect_refused(world, desc);
    ops.write = NULL;
    assert_ok(ecs_type_register(world, &desc, NULL));
}

DATA_CASE(the_field_limit_is_tested_at_its_edge) {
    static char names[ECS_FIELDS_MAX + 1][8];
    ecs_field fields[ECS_FIELDS_MAX + 1];
    for (uint32_t i = 0; i < ECS_FIELDS_MAX + 1; i++) {
        (void)snprintf(names[i], sizeof names[i], "f%u", i);
        fields[i] = (ecs_field){.name = names[i], .offset = i, .kind = ECS_FIELD_U8, .count = 1};
    }
    for (uint32_t count = ECS_FIELDS_MAX - 1; count <= ECS_FIELDS_MAX + 1; count++) {
        char name[16];
        (void)snprintf(name, sizeof name, "many%u", count);
        ecs_type_desc desc = {
            .name = name, .size = count, .align = 1, .fields = fields, .field_count = count};
        assert_int_equal(ecs_type_register(world, &desc, NULL),
                         count <= ECS_FIELDS_MAX ? ECS_OK : ECS_ERR_TYPE);
    }
}

DATA_CASE(the_number_of_types_is_limited) {
    char name[16];
    ecs_type_desc desc = {.name = name};
    while (ecs_type_count(world) < ECS_TYPES_MAX) {
        (void)snprintf(name, sizeof name, "tag%u", ecs_type_count(world));
        assert_ok(ecs_type_register(world, &desc, NULL));
    }
    (void)snprintf(name, sizeof name, "last");
    assert_int_equal(ecs_type_register(world, &desc, NULL), ECS_ERR_FULL);
}

DATA_CASE(registration_ends_at_seal) {
    ecs_type_desc desc = {.name = "late"};
    ecs_component_id id;
    assert_ok(ecs_world_seal(world, NULL));
    assert_int_equal(ecs_type_register(world, &desc, NULL), ECS_ERR_SEALED);
    assert_int_equal(ecs_component_register(world, "late", ECS_ELEMENT_I, &id), ECS_ERR_SEALED);
}

// S1.4
DATA_CASE(a_component_name_has_one_type) {
    ecs_component_id first;
    ecs_component_id again;
    assert_ok(ecs_component_register(world, "pos", ECS_ELEMENT_P2, &first));
    assert_ok(ecs_component_register(world, "pos", ECS_ELEMENT_P2, &again));
    assert_int_equal(first, again);
    assert_int_equal(ecs_component_register(world, "pos", ECS_ELEMENT_P3, &again), ECS_ERR_TYPE);
    assert_int_equal(ecs_component_register(world, "x", 9999, &again), ECS_ERR_UNKNOWN);
    assert_int_equal(ecs_component_register(world, "a b", ECS_ELEMENT_I, &again), ECS_ERR_UNKNOWN);
    assert_int_equal(ecs_component_count(world), 1);
    const ecs_component* component = ecs_component_get(world, first);
    assert_string_equal(component->name, "pos");
    assert_true(component->name_hash == base_hash64_text("pos"));
    assert_null(ecs_component_get(world, ECS_COMPONENT_NONE));
    assert_null(ecs_component_get(world, 2));
    uint64_t lookups = ecs_world_counters(world)->name_lookups;
    assert_int_equal(ecs_component_find(world, "pos"), first);
    assert_int_equal(ecs_component_find(world, "unknown"), ECS_COMPONENT_NONE);
    assert_int_equal(ecs_world_counters(world)->name_lookups, lookups + 2);
}

DATA_CASE(names_have_at_most_63_bytes) {
    char name[ECS_NAME_BYTES_MAX + 2];
    for (uint32_t size = ECS_NAME_BYTES_MAX - 2; size <= ECS_NAME_BYTES_MAX; size++) {
        memset(name, 'n', size);
        name[size] = '\0';
        ecs_component_id id;
        assert_int_equal(ecs_component_register(world, name, ECS_ELEMENT_I, &id),
                         size < ECS_NAME_BYTES_MAX ? ECS_OK : ECS_ERR_UNKNOWN);
    }
}

DATA_CASE(the_layout_hash_sees_names_kinds_counts_and_order) {
    uint64_t hashes[4];
    for (uint32_t i = 0; i < 4; i++) {
        ecs_field fields[] = {pair_fields[0], pair_fields[1]};
        if (i == 1) fields[0].name = "c";
        if (i == 2) fields[0].kind = ECS_FIELD_U32;
        if (i == 3) fields[0].offset = 0, fields[1].offset = 4;
        char name[8];
        (void)snprintf(name, sizeof name, "p%u.x", i);
        ecs_type_desc desc = pair_desc(fields, 2);
        desc.name = name;
        ecs_type_id id;
        assert_ok(ecs_type_register(world, &desc, &id));
        hashes[i] = ecs_type_get(world, id)->layout_hash;
        for (uint32_t j = 0; j < i; j++)
            assert_true(hashes[i] != hashes[j]);
    }
}

CASE(every_result_has_advice) {
#define ADVICE(name, value, text) assert_string_equal(ecs_result_text(name), text);
    ECS_RESULT_LIST(ADVICE)
#undef ADVICE
    assert_string_equal(ecs_result_text((ecs_result)-1000), "no such result");
}

// Read from an odd address, as a column may have it.
static ecs_number number_of(ecs_field_kind kind, const void* value) {
    uint8_t memory[1 + sizeof(uint64_t)];
    memcpy(memory + 1, value, ecs_field_kind_bytes(kind));
    return ecs_number_get(kind, memory + 1);
}

CASE(a_number_of_each_kind_keeps_sign_and_size) {
    const uint64_t ones = UINT64_MAX;
    const double real = 0.1;
    const float single = 0.1f;
    const ecs_entity entity = ecs_entity_make(12, 3);
    static const struct {
        ecs_field_kind kind;
        const char* text; // all bits are ones
    } cases[] = {{ECS_FIELD_BOOL, "yes"},  {ECS_FIELD_I8, "-1"},
                 {ECS_FIELD_I16, "-1"},    {ECS_FIELD_I32, "-1"},
                 {ECS_FIELD_I64, "-1"},    {ECS_FIELD_U8, "255"},
                 {ECS_FIELD_U16, "65535"}, {ECS_FIELD_U32, "4294967295"},
                 {ECS_FIELD_F32, "nan"},   {ECS_FIELD_U64, "18446744073709551615"}};
    char text[40];
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        const ecs_number number = number_of(cases[i].kind, &ones);
        ecs_number_text(&number, text, sizeof text);
        assert_non_null(strstr(text, cases[i].text));
        assert_true(ecs_number_equal(&number, &number));
    }
    const ecs_number most = number_of(ECS_FIELD_U64, &ones);
    assert_true(ecs_number_value(&most) == 18446744073709551615.0L);
    const ecs_number wide = number_of(ECS_FIELD_F64, &real),
                     narrow = number_of(ECS_FIELD_F32, &single);
    assert_true(ecs_number_value(&wide) == (long double)0.1);
    assert_false(ecs_number_equal(&wide, &narrow));
    ecs_number_text(&narrow, text, sizeof text);
    assert_string_equal(text, "0.1");
    const ecs_number handle = number_of(ECS_FIELD_ENTITY, &entity);
    ecs_number_text(&handle, text, sizeof text);
    assert_string_equal(text, "12:3");
}

CASE(a_number_is_clamped_to_the_kind_that_takes_it) {
    static const struct {
        ecs_field_kind kind;
        double real;
        bool is_clamped;
        const char* text;
    } cases[] = {
        {ECS_FIELD_BOOL, 0.25, false, "yes"},
        {ECS_FIELD_I8, -1.9, false, "-1"},
        {ECS_FIELD_I8, -129, true, "-128"},
        {ECS_FIELD_U8, -0.5, false, "0"},
        {ECS_FIELD_U8, -1, true, "0"},
        {ECS_FIELD_U16, 1e300, true, "65535"},
        {ECS_FIELD_I32, 2147483647, false, "2147483647"},
        {ECS_FIELD_I64, -1e19, true, "-9223372036854775808"},
        {ECS_FIELD_U64, (double)NAN, true, "0"},
        {ECS_FIELD_F32, 0.1, false, "0.1"},
        {ECS_FIELD_F32, 1e300, true, "3.4028235e+38"},
    };
    uint8_t memory[1 + sizeof(uint64_t)];
    char text[40];
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        const ecs_number real = {.kind = ECS_FIELD_F64, .real = cases[i].real};
        assert_true(ecs_number_put(cases[i].kind, memory + 1, &real) == cases[i].is_clamped);
        const ecs_number there = ecs_number_get(cases[i].kind, memory + 1);
        ecs_number_text(&there, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
    const ecs_number least = {.kind = ECS_FIELD_I64, .whole = INT64_MIN};
    assert_false(ecs_number_put(ECS_FIELD_I64, memory + 1, &least));
    assert_true(ecs_number_put(ECS_FIELD_U64, memory + 1, &least));
}

CASE(kinds_know_their_size) {
    assert_int_equal(ecs_field_kind_bytes(ECS_FIELD_BOOL), 1);
    assert_int_equal(ecs_field_kind_bytes(ECS_FIELD_ENTITY), 4);
    assert_int_equal(ecs_field_kind_bytes(ECS_FIELD_F64), 8);
    expect_assert_failure((void)ecs_field_kind_bytes(ECS_FIELD_KIND_COUNT));
}

#undef CASE
