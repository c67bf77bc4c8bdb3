// SPDX-License-Identifier: MIT
#include "scarce.h"
#include "test.h"

#include "base/table.h"

#define TABLE_CASE(name)                                                                           \
    CASE_WITH(base_table, table, *table = (base_table){0}, base_table_deinit(table, NULL), name)

TABLE_CASE(a_zeroed_table_is_empty) {
    assert_int_equal(base_table_find(table, 7), BASE_TABLE_NONE);
    assert_false(base_table_remove(table, 7, 1));
    base_table_clear(table);
    base_table_validate(table);
}

TABLE_CASE(a_key_with_several_values_gives_each_of_them_once) {
    base_table_reserve(table, NULL, 4);
    for (uint32_t value = 0; value < 3; value++)
        base_table_add(table, 42, value);
    base_table_add(table, 43, 9);
    assert_true(base_table_remove(table, 42, 1));
    assert_false(base_table_remove(table, 42, 1));
    assert_false(base_table_remove(table, 42, 9));
    uint32_t seen = 0, value, cursor = 0;
    while ((value = base_table_next(table, 42, &cursor)) != BASE_TABLE_NONE)
        seen |= 1u << value;
    assert_int_equal(seen, 1u << 0 | 1u << 2);
    assert_int_equal(base_table_find(table, 43), 9);
}

TABLE_CASE(clearing_keeps_the_memory) {
    scarce_memory memory;
    scarce_init(&memory);
    base_table_reserve(table, NULL, 100);
    for (uint32_t i = 0; i < 100; i++)
        base_table_add(table, i, i);
    base_table_slot* slots = table->slots;
    base_table_clear(table);
    assert_int_equal(table->count, 0);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(base_table_find(table, i), BASE_TABLE_NONE);
    base_table_reserve(table, &memory.allocator, 100);
    assert_ptr_equal(table->slots, slots);
    assert_int_equal(memory.calls, 0);
}

TABLE_CASE(adding_without_room_is_asserted) {
    expect_assert_failure(base_table_add(table, 1, 1));
    base_table_reserve(table, NULL, 1);
    expect_assert_failure(base_table_add(table, 1, BASE_TABLE_NONE));
    for (uint32_t i = 0; i < table->capacity / 2; i++)
        base_table_add(table, i, i);
    expect_assert_failure(base_table_add(table, 1, 1));
}

// The model: a plain array by key. Few keys that differ in some bits only, so that runs are long,
// wrap around and are broken by removals.
enum { MODEL_KEYS = 64 };

static uint64_t model_key(uint32_t index, uint32_t shift) {
    return (uint64_t)index << shift;
}

CASE(it_agrees_with_a_plain_array) {
    base_rng rng = base_rng_make(11, 1);
    for (uint32_t round = 0; round < test_scaled(300, 30); round++) {
        base_table table = {0};
        uint32_t values[MODEL_KEYS], count = 0, shift = base_rng_below(&rng, 58);
        for (uint32_t i = 0; i < MODEL_KEYS; i++)
            values[i] = BASE_TABLE_NONE;
        for (uint32_t step = 0; step < 300; step++) {
            uint32_t at = base_rng_below(&rng, MODEL_KEYS);
            uint64_t key = model_key(at, shift);
            if (values[at] == BASE_TABLE_NONE) {
                values[at] = base_rng_below(&rng, 1000);
                base_table_reserve(&table, NULL, ++count);
                base_table_add(&table, key, values[at]);
            } else {
                assert_true(base_table_remove(&table, key, values[at]));
                values[at] = BASE_TABLE_NONE;
                count--;
            }
            assert_int_equal(table.count, count);
        }
        base_table_validate(&table);
        for (uint32_t i = 0; i < MODEL_KEYS; i++)
            assert_int_equal(base_table_find(&table, model_key(i, shift)), values[i]);
        base_table_deinit(&table, NULL);
    }
}
