// SPDX-License-Identifier: MIT
#include "scarce.h"
#include "test.h"

CASE(blocks_start_on_cache_lines) {
    for (size_t size = 0; size < 200; size += 13) {
        void* memory = base_allocate(NULL, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % BASE_CACHE_LINE_BYTES, 0);
        base_release(NULL, memory, size);
    }
}

// Used before in some places, as memory that came back is.
static void* give_used(void* context, size_t size, size_t align) {
    uint8_t* memory = base_allocate(NULL, size);
    assert_int_equal((uintptr_t)memory % align, 0);
    memset(memory, 0, size);
    for (size_t i = *(size_t*)context; i < size; i += 4099)
        memory[i] = 1;
    memory[size - 1] = 1;
    return memory;
}

static void free_used(void* context, void* memory, size_t size) {
    base_release(NULL, memory, size);
}

CASE(cleared_memory_is_zero) {
    const size_t sizes[] = {1000, 65535, 65536, 65537, 200001};
    for (size_t first = 0; first < 4099; first += 1366) {
        size_t at = first;
        const base_allocator used = {give_used, free_used, &at};
        for (size_t i = 0; i < BASE_COUNT(sizes); i++) {
            uint8_t* memory = base_allocate_zero(&used, sizes[i]);
            for (size_t k = 0; k < sizes[i]; k++)
                assert_int_equal(memory[k], 0);
            base_release(&used, memory, sizes[i]);
        }
    }
}

CASE(sizes_come_back_exactly) {
    scarce_memory count;
    scarce_init(&count);
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

// What a case asks for when there is none, and how.
typedef struct need {
    jmp_buf end;
    size_t bytes; // that the handler got
} need;

static void* give_none(void* context, size_t size, size_t align) {
    return NULL;
}

static void leave_case(void* context, size_t bytes) {
    need* at = context;
    at->bytes = bytes;
    longjmp(at->end, 1);
}

static void ask(uint32_t way, const base_allocator* allocator) {
    void* array = NULL;
    uint32_t capacity = 0;
    if (way == 0) base_release(allocator, base_allocate(allocator, 100), 100);
    if (way == 1) base_release(allocator, base_allocate_zero(allocator, 100), 100);
    if (way == 2) base_release(allocator, base_reallocate(allocator, NULL, 0, 100), 100);
    if (way == 3) base_array_reserve(allocator, &array, &capacity, 17, 4);
    if (way == 4) base_array_reserve(allocator, &array, &capacity, 17, SIZE_MAX / 4);
    if (way == 5) base_owner_destroy(base_owner_create(allocator, sizeof(base_owner)));
    if (way == 6) base_release(allocator, base_allocate(NULL, SIZE_MAX), SIZE_MAX);
    if (way == 7) base_release(allocator, base_allocate(NULL, SIZE_MAX - 63), SIZE_MAX - 63);
}

CASE(without_memory_nothing_returns) {
    static const size_t bytes[] = {100,      100,          100, 128, SIZE_MAX, sizeof(base_owner),
                                   SIZE_MAX, SIZE_MAX - 63};
    for (volatile uint32_t way = 0; way < BASE_COUNT(bytes); way++) {
        need at = {.bytes = 0};
        base_memory_handler_set(leave_case, &at);
        const bool has_ended = setjmp(at.end) != 0;
        if (!has_ended) ask(way, &(base_allocator){.allocate = give_none});
        base_memory_handler_set(NULL, NULL);
        assert_true(has_ended);
        assert_int_equal(at.bytes, bytes[way]);
    }
}

typedef struct owned_thing {
    base_owner owner;
    uint64_t number;
    uint8_t* words[100];
} owned_thing;

CASE(what_an_owner_has_goes_back_together) {
    scarce_memory count;
    scarce_init(&count);
    owned_thing* thing = base_owner_create(&count.allocator, sizeof *thing);
    assert_int_equal(thing->number, 0);
    for (uint32_t i = 0; i < BASE_COUNT(thing->words); i++) {
        thing->words[i] = base_allocate(&thing->owner.allocator, i);
        assert_int_equal((uintptr_t)thing->words[i] % BASE_CACHE_LINE_BYTES, 0);
        memset(thing->words[i], (int)i, i);
    }
    for (uint32_t i = 0; i < BASE_COUNT(thing->words); i += 3)
        base_release(&thing->owner.allocator, thing->words[i], i);
    for (uint32_t i = 1; i < BASE_COUNT(thing->words); i += 3)
        thing->words[i] = base_reallocate(&thing->owner.allocator, thing->words[i], i, 200);
    assert_int_equal(thing->words[98][97], 98);
    assert_int_equal(thing->words[97][96], 97);
    assert_int_equal(thing->words[97][97], 0);
    assert_int_equal(count.blocks, 1 + BASE_COUNT(thing->words) * 2 / 3);
    base_owner_destroy(thing);
    assert_int_equal(count.blocks, 0);
    assert_int_equal(count.bytes, 0);
    base_owner_destroy(NULL);
}

CASE(arrays_double_from_sixteen) {
    uint32_t* array = NULL;
    uint32_t capacity = 0;
    base_array_reserve(NULL, (void**)&array, &capacity, 0, sizeof *array);
    assert_null(array);
    base_array_reserve(NULL, (void**)&array, &capacity, 1, sizeof *array);
    assert_int_equal(capacity, 16);
    array[15] = 7;
    base_array_reserve(NULL, (void**)&array, &capacity, 16, sizeof *array);
    assert_int_equal(capacity, 16);
    base_array_reserve(NULL, (void**)&array, &capacity, 17, sizeof *array);
    assert_int_equal(capacity, 32);
    assert_int_equal(array[15], 7);
    assert_int_equal(array[31], 0);
    base_array_reserve(NULL, (void**)&array, &capacity, 1000, sizeof *array);
    assert_int_equal(capacity, 1024);
    base_release(NULL, array, capacity * sizeof *array);
}
