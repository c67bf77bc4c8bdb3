// SPDX-License-Identifier: MIT
/// Memory comes from an allocator that the creator of an object passes; NULL means the heap.
#pragma once

#include "base/macros.h"

/// A source of memory. `release` gets the size back, so a counting allocator is exact.
typedef struct base_allocator {
    /// @return `size` bytes aligned to `align` (a power of two), not cleared; NULL when none left.
    void* (*allocate)(void* context, size_t size, size_t align);
    void (*release)(void* context, void* memory, size_t size);
    void* context;
} base_allocator;

/// The C heap (aligned_alloc, free). Lives forever.
const base_allocator* base_allocator_heap(void);

/// Memory from `allocator` (NULL: the heap), aligned to 64 bytes, not cleared. NULL when none left.
BASE_MUST_USE void* base_allocate(const base_allocator* allocator, size_t size);
/// The same, cleared to zero.
BASE_MUST_USE void* base_allocate_zero(const base_allocator* allocator, size_t size);
/// Give memory back. `memory` may be NULL.
void base_release(const base_allocator* allocator, void* memory, size_t size);
/// Say that a large block will be used as a whole: where the system has pages of 2 MB it may take those,
/// which spares the first touch of each 4 KB and most misses of the page cache. Advice: never fails.
void base_advise_large(void* memory, size_t size);
/// A larger (or smaller) block with the old content up to the smaller size; the added tail is zero.
/// On NULL the old block is untouched and still the caller's.
BASE_MUST_USE void* base_reallocate(const base_allocator* allocator, void* memory, size_t old_size,
                                    size_t new_size);

/// Grow an array so that it holds at least `count_needed` elements of `element_bytes` each.
/// Doubles from 16; new elements are zero. `array` and `capacity` are updated together.
/// @return false when memory ran out; nothing changed then.
BASE_MUST_USE bool base_array_reserve(const base_allocator* allocator, void** array,
                                      uint32_t* capacity, uint32_t count_needed,
                                      size_t element_bytes);
