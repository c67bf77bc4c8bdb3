// SPDX-License-Identifier: MIT
// Scratch memory that is dropped all at once. The block never moves and never grows, so pointers
// are valid until the reset. A caller that needs more gets NULL, instead of a slower path that no
// one notices.
//
// Under AddressSanitizer all bytes that are not given out are poisoned. So a read of an earlier
// tick's scratch, or past the end of a push, is reported like any use of freed memory.
#include "base/arena.h"

#include "base/assert.h"

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

enum { PUSH_ALIGN = 16 };

static void forbid(const uint8_t* memory, size_t size) {
#ifdef ARENA_POISON
    __asan_poison_memory_region(memory, size);
#else
    (void)memory;
    (void)size;
#endif
}

static void permit(const uint8_t* memory, size_t size) {
#ifdef ARENA_POISON
    __asan_unpoison_memory_region(memory, size);
#else
    (void)memory;
    (void)size;
#endif
}

bool base_arena_init(base_arena* arena, const base_allocator* allocator, size_t capacity) {
    BASE_ASSERT(arena);
    *arena = (base_arena){.allocator = allocator};
    arena->memory = base_allocate(allocator, capacity);
    if (!arena->memory) return false;
    arena->capacity = capacity;
    forbid(arena->memory, capacity);
    return true;
}

void base_arena_deinit(base_arena* arena) {
    if (arena->memory) permit(arena->memory, arena->capacity);
    base_release(arena->allocator, arena->memory, arena->capacity);
    *arena = (base_arena){.allocator = arena->allocator};
}

void* base_arena_push(base_arena* arena, size_t size) {
    BASE_ASSERT(arena->used <= arena->capacity);
    BASE_ASSERT(arena->memory);
    size_t offset = (arena->used + PUSH_ALIGN - 1) & ~(size_t)(PUSH_ALIGN - 1);
    if (offset > arena->capacity || size > arena->capacity - offset) return NULL;
    arena->used = offset + size;
    if (arena->used > arena->used_peak) arena->used_peak = arena->used;
    permit(arena->memory + offset, size);
    return arena->memory + offset;
}

void base_arena_reset(base_arena* arena) {
    BASE_ASSERT(arena->used <= arena->capacity);
    arena->used = 0;
    if (arena->memory) forbid(arena->memory, arena->capacity);
}
