// SPDX-License-Identifier: MIT
#include "scarce.h"
#include "test.h"

#include "base/arena.h"

// gcc defines the macro, clang has the feature.
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISON 1
#endif
#endif
#ifdef ARENA_POISON
#include <sanitizer/asan_interface.h>
#endif

#define ARENA_CASE(name, bytes)                                                                    \
    CASE_WITH(base_arena, arena, base_arena_init(arena, NULL, bytes), base_arena_deinit(arena),    \
              name)

ARENA_CASE(pushes_are_aligned_and_apart, 256) {
    uint8_t* first = base_arena_push(arena, 1);
    uint8_t* second = base_arena_push(arena, 17);
    uint8_t* third = base_arena_push(arena, 0);
    assert_int_equal((uintptr_t)first % 16, 0);
    assert_ptr_equal(second, first + 16);
    assert_ptr_equal(third, first + 48);
    memset(second, 0xAB, 17);
}

ARENA_CASE(a_push_beyond_the_end_gives_null, 64) {
    assert_null(base_arena_push(arena, 65));
    assert_null(base_arena_push(arena, SIZE_MAX));
    assert_non_null(base_arena_push(arena, 63));
    assert_null(base_arena_push(arena, 1));
    base_arena_reset(arena);
    assert_non_null(base_arena_push(arena, 64));
    assert_null(base_arena_push(arena, 1));
}

ARENA_CASE(a_reset_drops_everything_and_keeps_the_peak, 100) {
    void* first = base_arena_push(arena, 90);
    base_arena_reset(arena);
    assert_int_equal(arena->used, 0);
    assert_ptr_equal(base_arena_push(arena, 10), first);
    assert_int_equal(arena->used_peak, 90);
}

CASE(what_is_not_handed_out_is_poisoned) {
#ifdef ARENA_POISON
    base_arena arena;
    base_arena_init(&arena, NULL, 64);
    uint8_t* memory = base_arena_push(&arena, 20);
    assert_null(__asan_region_is_poisoned(memory, 20));
    assert_ptr_equal(__asan_region_is_poisoned(memory, 21), memory + 20);
    base_arena_reset(&arena);
    assert_ptr_equal(__asan_region_is_poisoned(memory, 1), memory);
    base_arena_deinit(&arena);
#else
    skip();
#endif
}

CASE(a_push_without_init_is_a_mistake) {
    base_arena arena = {0};
    expect_assert_failure((void)!base_arena_push(&arena, 1));
}
