// SPDX-License-Identifier: MIT
/// Lists, arrays and objects (S2.5, S5.6), and their versions in replicateCompare (S5.8).
#include "sample_world.h"

#include "type/container.h"

static const ecs_type* type_of(ecs_element_type type) {
    return ecs_builtin_type((ecs_type_id)type);
}

static const char* shown(ecs_element_type type, const void* value) {
    static char text[4096];
    assert_true(ecs_type_format(type_of(type), value, text, sizeof text));
    return text;
}

static uint64_t version_of(const ecs_container* own) {
    return own->body ? own->body->version : 0;
}

static void push_i(ecs_list* list, int32_t value) {
    assert_ok(ecs_list_push(NULL, list, &value));
}

static void set_i(ecs_object* object, const char* name, int32_t value) {
    assert_ok(ecs_object_set(NULL, object, name, ECS_ELEMENT_I, &value));
}

// Removes the last elements, or appends zeros.
static void resize(const base_allocator* allocator, ecs_list* list, uint32_t count) {
    while (ecs_list_count(list) > count)
        assert_ok(ecs_list_remove(allocator, list, ecs_list_count(list) - 1));
    while (ecs_list_count(list) < count)
        assert_ok(ecs_list_push(allocator, list, NULL));
}

#define LIST_CASE(name, element)                                                                   \
    CASE_WITH(ecs_list, list, ecs_list_init(list, element), ecs_list_deinit(NULL, list), name)

// S2.5: several instances of one kind on an entity are elements of a list.
LIST_CASE(a_list_is_packed_and_grows_and_shrinks_anywhere, ECS_ELEMENT_P2) {
    assert_int_equal(ecs_list_count(list), 0);
    assert_int_equal(version_of(&list->own), 0);
    for (int i = 0; i < 5; i++) {
        ecs_vec2 point = {(float)i, -1};
        assert_ok(ecs_list_push(NULL, list, &point));
    }
    assert_int_equal(ecs_list_element(list), ECS_ELEMENT_P2);
    const ecs_vec2* points = ecs_list_get(list, 0);
    assert_true(points[4].x == 4 && points[4].y == -1);
    assert_ok(ecs_list_remove(NULL, list, 1));
    // An element of the list itself.
    assert_ok(ecs_list_insert(NULL, list, 0, ecs_list_get(list, 3)));
    assert_string_equal(shown(ecs_element_list_of(ECS_ELEMENT_P2), list),
                        "[4,-1;0,-1;2,-1;3,-1;4,-1]");
    assert_ok(ecs_list_set(NULL, list, 1, NULL));
    assert_ok(ecs_list_set(NULL, list, 2, &(ecs_vec2){2, 7}));
    resize(NULL, list, 3);
    resize(NULL, list, 4);
    assert_string_equal(shown(ecs_element_list_of(ECS_ELEMENT_P2), list), "[4,-1;0,0;2,7;0,0]");
    assert_int_equal(version_of(&list->own), 5 + 2 + 2 + 3);
    ecs_list_clear(NULL, list);
    assert_int_equal(ecs_list_count(list), 0);
}

// S5.6: an array holds values of any type, containers too.
CASE(an_array_holds_values_of_any_type) {
    ecs_array array = {0};
    ecs_matrix matrix = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {4, 5, 6}}};
    bool yes = true;
    assert_ok(ecs_array_push(NULL, &array, ECS_ELEMENT_M, &matrix));
    assert_ok(ecs_array_push(NULL, &array, ECS_ELEMENT_B, &yes));
    assert_ok(ecs_array_push_text(NULL, &array, "x", 1));
    assert_ok(ecs_array_push(NULL, &array, ecs_element_list_of(ECS_ELEMENT_I), NULL));
    push_i(ecs_array_find_mut(&array, 3, ecs_element_list_of(ECS_ELEMENT_I)), 8);
    assert_ok(ecs_array_insert(NULL, &array, 0, ECS_ELEMENT_OBJECT, NULL));
    set_i(ecs_array_find_mut(&array, 0, ECS_ELEMENT_OBJECT), "hp", 3);
    assert_string_equal(shown(ECS_ELEMENT_ARRAY, &array),
                        "[object={hp:i=3};m=1,0,0,0,1,0,0,0,1,4,5,6;b=yes;t=\"x\";list<i>=[8]]");
    assert_int_equal(ecs_array_get(&array, 2)->type, ECS_ELEMENT_B);
    assert_true(ecs_array_get(&array, 2)->as.b);
    assert_null(ecs_array_find(&array, 2, ECS_ELEMENT_I));
    assert_null(ecs_array_find(&array, 5, ECS_ELEMENT_I));
    assert_true(*(const bool*)ecs_array_find(&array, 2, ECS_ELEMENT_B));
    // Store a copy of the array inside itself.
    assert_ok(ecs_array_set(NULL, &array, 1, ECS_ELEMENT_ARRAY, &array));
    assert_int_equal(ecs_array_count(ecs_array_find(&array, 1, ECS_ELEMENT_ARRAY)), 5);
    assert_ok(ecs_array_remove(NULL, &array, 1));
    assert_int_equal(ecs_array_count(&array), 4);
    assert_int_equal(version_of(&array.own),
                     9); // five values, one in each of two, one set, one gone
    ecs_array_clear(NULL, &array);
    assert_int_equal(array.own.body->bytes, 0);
    ecs_array_deinit(NULL, &array);
}

// S5.6: an object is a table from names to values, walked in the order of names.
CASE(an_object_is_walked_in_the_order_of_names) {
    ecs_object object = {0};
    static const char* const names[] = {"gun", "armour", "zoom", "b", "gun.sight", "B", "gu"};
    for (int32_t i = 0; i < (int32_t)BASE_COUNT(names); i++)
        set_i(&object, names[i], i);
    for (uint32_t i = 1; i < ecs_object_count(&object); i++)
        assert_true(strcmp(ecs_object_name(&object, i - 1), ecs_object_name(&object, i)) < 0);
    assert_string_equal(shown(ECS_ELEMENT_OBJECT, &object),
                        "{B:i=5;armour:i=1;b:i=3;gu:i=6;gun:i=0;gun.sight:i=4;zoom:i=2}");
    assert_int_equal(*(const int32_t*)ecs_object_find(&object, "zoom", ECS_ELEMENT_I), 2);
    assert_null(ecs_object_find(&object, "zoom", ECS_ELEMENT_R));
    assert_null(ecs_object_find(&object, "zoo", ECS_ELEMENT_I));
    assert_null(ecs_object_find_element(&object, ""));
    assert_int_equal(ecs_object_get(&object, 0)->as.i, 5);
    assert_ok(ecs_object_set_text(NULL, &object, "gun", "none", 4));
    assert_int_equal(ecs_object_find_element(&object, "gun")->type, ECS_ELEMENT_T);
    assert_ok(ecs_object_remove(NULL, &object, ecs_object_name(&object, 1)));
    assert_int_equal(ecs_object_remove(NULL, &object, "armour"), ECS_ERR_MISSING);
    assert_ok(ecs_object_set_text(NULL, &object, "a/b c", "", 0));
    assert_string_equal(shown(ECS_ELEMENT_OBJECT, &object),
                        "{B:i=5;\"a/b\\x20c\":t=\"\";b:i=3;gu:i=6;gun:t=\"none\";gun.sight:i=4;"
                        "zoom:i=2}");
    ecs_object_clear(NULL, &object);
    assert_int_equal(ecs_object_count(&object), 0);
    ecs_object_deinit(NULL, &object);
}

CASE(a_list_with_room_is_compared_and_assigned_without_memory) {
    scarce_memory memory;
    scarce_init(&memory);
    ecs_type_context context = {&memory.allocator};
    const ecs_type* type = type_of(ecs_element_list_of(ECS_ELEMENT_R));
    ecs_list value;
    ecs_list shadow;
    ecs_list_init(&value, ECS_ELEMENT_R);
    resize(&memory.allocator, &value, 40);
    ecs_value_copy(type, &context, &shadow, &value);
    uint64_t calls = memory.calls;
    for (uint32_t i = 0; i < 30; i++) {
        assert_ok(ecs_list_set(&memory.allocator, &value, i, &(float){(float)i}));
        if (i % 3 == 0) assert_ok(ecs_list_remove(&memory.allocator, &value, i));
        assert_int_equal(ecs_value_compare(type, &context, &shadow, &value), i != 0 || i % 3 == 0);
        assert_true(ecs_type_equal(type, &shadow, &value));
        (void)ecs_type_hash(type, &value, 0);
    }
    assert_int_equal(memory.calls, calls);
    ecs_list_deinit(&memory.allocator, &value);
    ecs_list_deinit(&memory.allocator, &shadow);
    assert_int_equal(memory.bytes, 0);
}

CASE(numbers_deep_inside_are_compared_and_assigned_without_memory) {
    scarce_memory memory;
    scarce_init(&memory);
    const base_allocator* allocator = &memory.allocator;
    ecs_type_context context = {allocator};
    const ecs_type* type = type_of(ECS_ELEMENT_OBJECT);
    ecs_object value = {0};
    assert_ok(ecs_object_set(allocator, &value, "in", ECS_ELEMENT_ARRAY, NULL));
    ecs_array* inner = ecs_object_find_mut(&value, "in", ECS_ELEMENT_ARRAY);
    assert_ok(ecs_array_push_text(allocator, inner, "name", 4));
    assert_ok(ecs_array_push(allocator, inner, ECS_ELEMENT_P2, NULL));
    ecs_object shadow;
    ecs_value_copy(type, &context, &shadow, &value);
    uint64_t calls = memory.calls;
    for (int32_t i = 1; i < 30; i++) {
        ecs_vec2 point = {(float)i, 0};
        assert_ok(ecs_array_set(allocator, inner, 1, ECS_ELEMENT_P2, &point));
        assert_true(ecs_value_compare(type, &context, &shadow, &value));
        assert_true(ecs_type_equal(type, &shadow, &value));
        assert_int_equal(shadow.own.body->bytes, value.own.body->bytes);
    }
    assert_int_equal(memory.calls, calls);
    // Another shape needs memory.
    assert_ok(ecs_array_set(allocator, inner, 1, ECS_ELEMENT_I, NULL));
    assert_true(ecs_value_compare(type, &context, &shadow, &value));
    assert_true(ecs_type_equal(type, &shadow, &value));
    assert_ok(ecs_array_push_text(allocator, inner, "name", 4));
    ecs_object_deinit(allocator, &value);
    ecs_object_deinit(allocator, &shadow);
    assert_int_equal(memory.bytes, 0);
}

// Limits and codes

LIST_CASE(the_number_of_values_is_limited_at_its_edge, ECS_ELEMENT_B) {
    resize(NULL, list, ECS_CONTAINER_COUNT_MAX - 1);
    assert_ok(ecs_list_push(NULL, list, NULL));
    uint64_t version = version_of(&list->own);
    assert_int_equal(ecs_list_push(NULL, list, NULL), ECS_ERR_FULL);
    assert_int_equal(ecs_list_count(list), ECS_CONTAINER_COUNT_MAX);
    assert_int_equal(version_of(&list->own), version);
}

LIST_CASE(the_bytes_inside_are_limited_at_their_edge, ECS_ELEMENT_U32) {
    uint32_t most = ECS_CONTAINER_BYTES_MAX / 4;
    resize(NULL, list, most - 1);
    resize(NULL, list, most);
    assert_int_equal(list->own.body->bytes, ECS_CONTAINER_BYTES_MAX);
    // Nested: the values around an element also count. A replaced value does not count any more.
    ecs_array array = {0};
    ecs_element_type type = ecs_element_list_of(ECS_ELEMENT_U32);
    assert_int_equal(ecs_array_push(NULL, &array, type, list), ECS_ERR_FULL);
    resize(NULL, list, most - 1);
    assert_ok(ecs_array_push(NULL, &array, type, list));
    assert_int_equal(array.own.body->bytes, ECS_CONTAINER_BYTES_MAX - 3);
    assert_int_equal(ecs_array_push_text(NULL, &array, "abc", 3), ECS_ERR_FULL);
    assert_ok(ecs_array_push_text(NULL, &array, "ab", 2));
    assert_int_equal(ecs_array_push_text(NULL, &array, "", 0), ECS_ERR_FULL);
    assert_int_equal(ecs_list_push(NULL, ecs_array_find_mut(&array, 0, type), NULL), ECS_ERR_FULL);
    assert_ok(ecs_array_set(NULL, &array, 0, type, list));
    assert_int_equal(array.own.body->bytes, ECS_CONTAINER_BYTES_MAX);
    ecs_array_deinit(NULL, &array);
}

CASE(the_depth_is_limited_at_its_edge) {
    ecs_array root = {0};
    ecs_array* at = &root;
    for (uint32_t depth = 2; depth <= ECS_CONTAINER_DEPTH_MAX; depth++) {
        assert_ok(ecs_array_push(NULL, at, ECS_ELEMENT_ARRAY, NULL));
        at = ecs_array_find_mut(at, 0, ECS_ELEMENT_ARRAY);
    }
    assert_int_equal(ecs_array_push(NULL, at, ECS_ELEMENT_ARRAY, NULL), ECS_ERR_FULL);
    assert_int_equal(ecs_array_push(NULL, at, ecs_element_list_of(ECS_ELEMENT_B), NULL),
                     ECS_ERR_FULL);
    assert_ok(ecs_array_push(NULL, at, ECS_ELEMENT_B, NULL));
    // A value with the largest depth fits into no other value.
    ecs_array outer = {0};
    assert_int_equal(ecs_array_push(NULL, &outer, ECS_ELEMENT_ARRAY, &root), ECS_ERR_FULL);
    assert_ok(ecs_array_push(NULL, &outer, ECS_ELEMENT_ARRAY,
                             ecs_array_find(&root, 0, ECS_ELEMENT_ARRAY)));
    ecs_array around = {0};
    assert_int_equal(ecs_array_push(NULL, &around, ECS_ELEMENT_ARRAY, &outer), ECS_ERR_FULL);
    ecs_array_deinit(NULL, &around);
    ecs_array_deinit(NULL, &outer);
    ecs_array_deinit(NULL, &root);
}

CASE(names_and_texts_are_limited_at_their_edge) {
    ecs_object object = {0};
    char name[ECS_CONTAINER_NAME_BYTES_MAX + 1];
    memset(name, 'n', sizeof name);
    name[ECS_CONTAINER_NAME_BYTES_MAX] = '\0';
    assert_int_equal(ecs_object_set(NULL, &object, name, ECS_ELEMENT_I, NULL), ECS_ERR_FULL);
    name[ECS_CONTAINER_NAME_BYTES_MAX - 1] = '\0';
    assert_ok(ecs_object_set(NULL, &object, name, ECS_ELEMENT_I, NULL));
    name[ECS_CONTAINER_NAME_BYTES_MAX - 2] = '\0';
    assert_ok(ecs_object_set(NULL, &object, name, ECS_ELEMENT_I, NULL));
    assert_int_equal(ecs_object_set(NULL, &object, "", ECS_ELEMENT_I, NULL), ECS_ERR_FULL);
    static char text[ECS_STRING_BYTES_MAX + 1];
    memset(text, 't', sizeof text);
    assert_ok(ecs_object_set_text(NULL, &object, "t", text, ECS_STRING_BYTES_MAX - 1));
    assert_ok(ecs_object_set_text(NULL, &object, "t", text, ECS_STRING_BYTES_MAX));
    assert_int_equal(ecs_object_set_text(NULL, &object, "t", text, ECS_STRING_BYTES_MAX + 1),
                     ECS_ERR_TEXT);
    assert_int_equal(ecs_object_count(&object), 3);
    ecs_object_deinit(NULL, &object);
}

CASE(what_is_no_type_is_a_code) {
    ecs_array array = {0};
    ecs_object object = {0};
    static const ecs_element_type wrong[] = {ECS_ELEMENT_NONE, ECS_ELEMENT_LIST,
                                             ECS_ELEMENT_TYPE_END};
    for (uint32_t i = 0; i < BASE_COUNT(wrong); i++) {
        assert_int_equal(ecs_array_push(NULL, &array, wrong[i], NULL), ECS_ERR_TYPE);
        assert_int_equal(ecs_object_set(NULL, &object, "x", wrong[i], NULL), ECS_ERR_TYPE);
    }
    assert_int_equal(ecs_array_count(&array), 0);
    ecs_array_deinit(NULL, &array);
    ecs_object_deinit(NULL, &object);
}

CASE(misuse_is_asserted) {
    ecs_list list;
    ecs_list_init(&list, ECS_ELEMENT_T);
    ecs_array array = {0};
    ecs_object object = {0};
    ecs_list never = {{NULL, 0}};
    expect_assert_failure((void)ecs_list_get(&list, 0));
    expect_assert_failure((void)!ecs_list_push(NULL, &never, NULL));
    expect_assert_failure((void)ecs_array_get(&array, 0));
    expect_assert_failure((void)ecs_array_find_mut(&array, 0, ECS_ELEMENT_I));
    expect_assert_failure((void)ecs_object_name(&object, 0));
    expect_assert_failure((void)ecs_object_get(&object, 0));
    expect_assert_failure((void)ecs_object_find_mut(&object, "x", ECS_ELEMENT_T));
    expect_assert_failure(ecs_list_init(&list, ECS_ELEMENT_ARRAY));
    expect_assert_failure((void)!ecs_object_set(NULL, &object, NULL, ECS_ELEMENT_I, NULL));
}

// Canonical bytes

static void expect_damaged(ecs_element_type type, const char* bytes, size_t size) {
    base_reader reader = base_reader_make(bytes, size);
    assert_null(ecs_container_read(NULL, type, &reader));
    assert_true(reader.failed);
}

CASE(damaged_bytes_are_refused) {
    base_reader reader = base_reader_make("\2\1a\2\1\0\0\0\1b\2\2\0\0\0", 15);
    ecs_container_body* body = ecs_container_read(NULL, ECS_ELEMENT_OBJECT, &reader);
    assert_non_null(body);
    assert_int_equal(body->bytes, 2 * (4 + 1 + 1));
    ecs_container_body_destroy(NULL, body);
    for (size_t size = 0; size < 15; size++)
        expect_damaged(ECS_ELEMENT_OBJECT, "\2\1a\2\1\0\0\0\1b\2\2\0\0\0", size);
    expect_damaged(ECS_ELEMENT_OBJECT, "\2\1b\1\1\1a\1\1", 9); // the names are not in rising order
    expect_damaged(ECS_ELEMENT_OBJECT, "\2\1a\1\1\1a\1\1", 9); // the same name twice
    expect_damaged(ECS_ELEMENT_OBJECT, "\1\0\1\1", 4);         // no name
    expect_damaged(ECS_ELEMENT_OBJECT, "\1\1\0\1\1", 5);       // a NUL in a name
    expect_damaged(ECS_ELEMENT_ARRAY, "\1\23\0", 3);           // a tag
    expect_damaged(ECS_ELEMENT_ARRAY, "\1\0\0", 3);            // no type
    expect_damaged(ECS_ELEMENT_ARRAY, "\1\50\0", 3);           // beyond all types
    expect_damaged(ecs_element_list_of(ECS_ELEMENT_B), "\1\2", 2); // a bool of 2
    expect_damaged(ecs_element_list_of(ECS_ELEMENT_B), "\x81\x80\1",
                   3); // more than there are bytes
    static char deep[2 * 64];
    for (uint32_t i = 0; i < sizeof deep; i += 2) {
        deep[i] = 1;
        deep[i + 1] = (char)ECS_ELEMENT_ARRAY;
    }
    expect_damaged(ECS_ELEMENT_ARRAY, deep, sizeof deep);
}

CASE(the_limits_hold_for_bytes_too) {
    static const struct {
        ecs_element_type element;
        uint32_t bytes, count_max;
    } rows[] = {{ECS_ELEMENT_U32, 4, ECS_CONTAINER_COUNT_MAX},
                {ECS_ELEMENT_U64, 8, ECS_CONTAINER_BYTES_MAX / 8}};
    base_bytes bytes = {0};
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        for (uint32_t count = rows[i].count_max - 1; count <= rows[i].count_max + 1; count++) {
            base_bytes_clear(&bytes);
            base_bytes_write_varint(&bytes, count);
            memset(base_bytes_extend(&bytes, (size_t)rows[i].bytes * count), 0,
                   (size_t)rows[i].bytes * count);
            base_reader reader = base_reader_make(bytes.data, bytes.size);
            ecs_container_body* body =
                ecs_container_read(NULL, ecs_element_list_of(rows[i].element), &reader);
            assert_int_equal(body != NULL, count <= rows[i].count_max);
            assert_int_equal(reader.failed, body == NULL);
            ecs_container_body_destroy(NULL, body);
        }
    }
    base_bytes_deinit(&bytes);
}
