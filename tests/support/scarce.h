// SPDX-License-Identifier: MIT
/// Memory that is counted.
#pragma once

#include "base/alloc.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

typedef struct scarce_memory {
    base_allocator allocator;
    _Atomic uint64_t calls;     ///< so far
    _Atomic int64_t bytes;      ///< held
    _Atomic int64_t blocks;     ///< held
    _Atomic int64_t bytes_peak; ///< the most that were held
    _Atomic size_t size_max;    ///< of one block
} scarce_memory;

static inline void* scarce_allocate(void* context, size_t size, size_t align) {
    scarce_memory* memory = context;
    const base_allocator* heap = base_allocator_heap();
    memory->calls++;
    memory->blocks++;
    memory->bytes += (int64_t)size;
    if (memory->bytes > memory->bytes_peak) memory->bytes_peak = memory->bytes;
    if (size > memory->size_max) memory->size_max = size;
    return heap->allocate(heap->context, size, align);
}

static inline void scarce_release(void* context, void* block, size_t size) {
    scarce_memory* memory = context;
    memory->bytes -= block ? (int64_t)size : 0;
    memory->blocks -= block != NULL;
    const base_allocator* heap = base_allocator_heap();
    heap->release(heap->context, block, size);
}

static inline void scarce_init(scarce_memory* memory) {
    *memory = (scarce_memory){.calls = 0};
    memory->allocator = (base_allocator){scarce_allocate, scarce_release, memory};
}
