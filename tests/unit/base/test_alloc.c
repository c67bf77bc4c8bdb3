// SPDX-License-Identifier: MIT
#include "scarce.h"
#include "test.h"

#include "base/alloc.h"

CASE(blocks_start_on_cache_lines) {
    for (size_t size = 0; size < 200; size += 13) {
        void* memory = base_allocate(NULL, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % BASE_CACHE_LINE_BYTES, 0);
        base_release(NULL, memory, size);
    }
}

CASE(cleared_memory_is_zero) {
    uint8_t* memory = base_allocate_zero(NULL, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(memory[i], 0);
    base_release(NULL, memory, 1000);
}

CASE(sizes_come_back_exactly) {
    scarce_memory count;
    scarce_init(&count, 0, true);
    void* nothing = base_allocate(&count.allocator, 0);
    void* memory = base_allocate(&count.allocator, 100);
    memory = base_reallocate(&count.allocator, memory, 100, 300);
    memory = base_reallocate(&count.allocator, memory, 300, 0);
    base_release(&count.allocator, memory, 0);
    base_release(&count.allocator, nothing, 0);
    base_release(&count.allocator, NULL, 5);
    assert_int_equal(count.bytes, 0);
    assert_int_equal(count.blocks, 0);
}

CASE(reallocation_keeps_the_content_and_clears_the_tail) {
    char* memory = base_reallocate(NULL, NULL, 0, 4);
    memcpy(memory, "abcd", 4);
    memory = base_reallocate(NULL, memory, 4, 8);
    assert_memory_equal(memory, "abcd\0\0\0\0", 8);
    memory = base_reallocate(NULL, memory, 8, 2);
    assert_memory_equal(memory, "ab", 2);
    base_release(NULL, memory, 2);
}

CASE(a_refused_reallocation_leaves_the_block) {
    scarce_memory count;
    scarce_init(&count, 0, true);
    char* memory = base_allocate(&count.allocator, 4);
    memcpy(memory, "abcd", 4);
    scarce_leave(&count, 0);
    assert_null(base_reallocate(&count.allocator, memory, 4, 8));
    assert_null(base_allocate_zero(&count.allocator, 4));
    assert_memory_equal(memory, "abcd", 4);
    base_release(&count.allocator, memory, 4);
    assert_int_equal(count.bytes, 0);
}

CASE(impossible_sizes_are_refused) {
    assert_null(base_allocate(NULL, SIZE_MAX));
    assert_null(base_allocate(NULL, SIZE_MAX - 63));
}

CASE(arrays_double_from_sixteen) {
    uint32_t* array = NULL;
    uint32_t capacity = 0;
    assert_true(base_array_reserve(NULL, (void**)&array, &capacity, 0, sizeof *array));
    assert_null(array);
    assert_true(base_array_reserve(NULL, (void**)&array, &capacity, 1, sizeof *array));
    assert_int_equal(capacity, 16);
    array[15] = 7;
    assert_true(base_array_reserve(NULL, (void**)&array, &capacity, 16, sizeof *array));
    assert_int_equal(capacity, 16);
    assert_true(base_array_reserve(NULL, (void**)&array, &capacity, 17, sizeof *array));
    assert_int_equal(capacity, 32);
    assert_int_equal(array[15], 7);
    assert_int_equal(array[31], 0);
    assert_true(base_array_reserve(NULL, (void**)&array, &capacity, 1000, sizeof *array));
    assert_int_equal(capacity, 1024);
    base_release(NULL, array, capacity * sizeof *array);
}

CASE(an_array_that_cannot_grow_stays) {
    scarce_memory count;
    scarce_init(&count, 0, true);
    void* array = NULL;
    uint32_t capacity = 0;
    assert_true(base_array_reserve(&count.allocator, &array, &capacity, 16, 8));
    void* before = array;
    scarce_leave(&count, 0);
    assert_false(base_array_reserve(&count.allocator, &array, &capacity, 17, 8));
    assert_false(base_array_reserve(&count.allocator, &array, &capacity, UINT32_MAX, SIZE_MAX / 4));
    assert_ptr_equal(array, before);
    assert_int_equal(capacity, 16);
    base_release(&count.allocator, array, capacity * 8);
    assert_int_equal(count.bytes, 0);
}
