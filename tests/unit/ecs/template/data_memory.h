// SPDX-License-Identifier: MIT
/// An allocator that fails at its n-th allocation, and counts blocks that are not freed.
#pragma once

#include "base/alloc.h"

typedef struct data_memory {
    base_allocator allocator;
    uint64_t left; ///< allocations until failure
    int64_t live_bytes;
} data_memory;

static inline void* data_memory_allocate(void* context, size_t size, size_t align) {
    data_memory* memory = context;
    if (memory->left == 0) return NULL;
    memory->left--;
    const base_allocator* heap = base_allocator_heap();
    void* block = heap->allocate(heap->context, size, align);
    if (block) memory->live_bytes += (int64_t)size;
    return block;
}

static inline void data_memory_release(void* context, void* block, size_t size) {
    data_memory* memory = context;
    memory->live_bytes -= (int64_t)size;
    const base_allocator* heap = base_allocator_heap();
    heap->release(heap->context, block, size);
}

static inline void data_memory_init(data_memory* memory, uint64_t left) {
    *memory = (data_memory){.left = left};
    memory->allocator = (base_allocator){
        .allocate = data_memory_allocate, .release = data_memory_release, .context = memory};
}
