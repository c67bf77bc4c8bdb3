// SPDX-License-Identifier: MIT
/// Memory: the caller that creates an object passes the allocator; NULL means the heap.
///
/// There always is memory: where an allocator has none, the program ends with a report. So no
/// function here fails, and no caller checks. A size that comes from outside is checked against a
/// named limit where it is decoded, before it gets here.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

/// A source of memory. `release` gets the size of the block, so a counting allocator is exact.
/// Threads: the functions are called on the thread that uses the object.
typedef struct base_allocator {
    /// @return `size` bytes aligned to `align` (a power of two), not cleared; NULL when there are
    /// none: the program ends.
    void* (*allocate)(void* context, size_t size, size_t align);
    void (*release)(void* context, void* memory, size_t size);
    void* context;
} base_allocator;

/// A block of the heap of at least this size begins on a page of 2 MB, and the system is advised to
/// use such pages, where it has them. That saves the first touch of each 4 KB and most TLB
/// misses.
#define BASE_LARGE_BYTES_MIN ((size_t)4 << 20)

/// The C heap (aligned_alloc, free). The pointer is valid for the whole process.
const base_allocator* base_allocator_heap(void);

/// Called with the bytes that were asked for when there is no memory, on any thread. It may report
/// and save, but not allocate. It ends the program: it must not return.
typedef void (*base_memory_fn)(void* context, size_t bytes);
/// Install a handler. NULL installs the default, which prints one line to stderr and ends the
/// program with exit code 1. Threads: call it at start-up only.
void base_memory_handler_set(base_memory_fn handler, void* context);

/// Get `size` bytes from `allocator` (NULL: the heap), aligned to 64 bytes, not cleared.
BASE_MUST_USE void* base_allocate(const base_allocator* allocator, size_t size);
/// As base_allocate, cleared to zero.
BASE_MUST_USE void* base_allocate_zero(const base_allocator* allocator, size_t size);
/// Give memory back to the allocator it came from. `size` is the size that was asked for. `memory`
/// may be NULL.
void base_release(const base_allocator* allocator, void* memory, size_t size);
/// Replace a block by a larger or smaller one. The content is kept up to the smaller size, the
/// added tail is zero. `memory` may be NULL with old_size 0.
BASE_MUST_USE void* base_reallocate(const base_allocator* allocator, void* memory, size_t old_size,
                                    size_t new_size);

/// Grow an array until it holds at least `count_needed` elements. The capacity (uint32_t) doubles
/// from 16; new elements are zero. `array` and `capacity` are variables, updated together.
#define BASE_ARRAY_RESERVE(allocator, array, capacity, count_needed)                               \
    base_array_reserve(allocator, (void**)&(array), &(capacity), count_needed, sizeof *(array))
/// Give an array of `count` elements back. It may be NULL.
#define BASE_ARRAY_RELEASE(allocator, array, count)                                                \
    base_release(allocator, array, (size_t)(count) * sizeof *(array))
/// Detail of BASE_ARRAY_RESERVE, and for elements whose size only the caller knows.
void base_array_reserve(const base_allocator* allocator, void** array, uint32_t* capacity,
                        uint32_t count_needed, size_t element_bytes);

/// The memory of one object: all of its blocks go back together. The object's struct begins with
/// its owner. Blocks may also go back one by one, as an array that grows does. A block costs 24
/// bytes more. Threads: any that may use `from`.
typedef struct base_owner {
    base_allocator allocator; ///< for the object's blocks and for the objects that it owns
    const base_allocator* from;
    struct base_owned* blocks;
    size_t object_bytes;
    BASE_ATOMIC(bool) is_busy;
} base_owner;

/// Make an object of `object_bytes`, all zero but the owner at its begin. `from` (NULL: the heap)
/// must outlive it.
BASE_MUST_USE void* base_owner_create(const base_allocator* from, size_t object_bytes);
/// Give back the object and every block of its owner. NULL is allowed.
void base_owner_destroy(void* object);

BASE_C_END
