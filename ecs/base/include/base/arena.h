// SPDX-License-Identifier: MIT
/// Scratch memory: allocate upwards in one block, drop everything at once.
#pragma once

#include "base/alloc.h"

/// A block of scratch. Plain struct in the caller's storage; poisoned under ASan beyond `used`.
typedef struct base_arena {
    const base_allocator* allocator;
    uint8_t* memory;
    size_t capacity;
    size_t used;
    size_t used_peak;
} base_arena;

/// Reserve `capacity` bytes. @return false when memory ran out.
BASE_MUST_USE bool base_arena_init(base_arena* arena, const base_allocator* allocator,
                                   size_t capacity);
void base_arena_deinit(base_arena* arena);
/// `size` bytes aligned to 16, not cleared, alive until the next reset; NULL when it does not fit.
BASE_MUST_USE void* base_arena_push(base_arena* arena, size_t size);
/// Drop everything.
void base_arena_reset(base_arena* arena);
