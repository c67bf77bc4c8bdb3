// SPDX-License-Identifier: MIT
/// Scratch memory: allocate upwards in one block, drop everything at once.
#pragma once

#include "base/alloc.h"

BASE_C_BEGIN

/// A block of scratch memory. The struct lies in the caller's storage. Under ASan the bytes beyond
/// `used` are poisoned.
/// Units: capacity, used and used_peak are bytes.
typedef struct base_arena {
    const base_allocator* allocator;
    uint8_t* memory;
    size_t capacity;
    size_t used;
    size_t used_peak;
} base_arena;

/// Reserve `capacity` bytes; nothing is allocated after that. The allocator must outlive the arena.
void base_arena_init(base_arena* arena, const base_allocator* allocator, size_t capacity);
/// Give the block back. Pointers into it are invalid afterwards.
void base_arena_deinit(base_arena* arena);
/// Get `size` bytes, aligned to 16, not cleared, valid until the next reset.
/// @return NULL when they do not fit.
BASE_MUST_USE void* base_arena_push(base_arena* arena, size_t size);
/// Drop everything at once. The memory stays reserved.
void base_arena_reset(base_arena* arena);

BASE_C_END
