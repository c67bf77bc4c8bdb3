// SPDX-License-Identifier: MIT
/// Memory that is counted, and that runs out at a chosen call: once, or from then on.
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
    _Atomic uint64_t refused;   ///< calls
    uint64_t fail_at;           ///< number of the first call that fails, from 1; 0: none
    bool is_lasting;            ///< and every later one
} scarce_memory;

static inline void* scarce_allocate(void* context, size_t size, size_t align) {
    scarce_memory* memory = context;
    uint64_t call = ++memory->calls;
    if (call == memory->fail_at ||
        (memory->is_lasting && memory->fail_at && call > memory->fail_at)) {
        memory->refused++;
        return NULL;
    }
    const base_allocator* heap = base_allocator_heap();
    void* block = heap->allocate(heap->context, size, align);
    if (block) memory->bytes += (int64_t)size;
    memory->blocks += block != NULL;
    if (memory->bytes > memory->bytes_peak) memory->bytes_peak = memory->bytes;
    if (size > memory->size_max) memory->size_max = size;
    return block;
}

static inline void scarce_release(void* context, void* block, size_t size) {
    scarce_memory* memory = context;
    memory->bytes -= block ? (int64_t)size : 0;
    memory->blocks -= block != NULL;
    const base_allocator* heap = base_allocator_heap();
    heap->release(heap->context, block, size);
}

static inline void scarce_init(scarce_memory* memory, uint64_t fail_at, bool is_lasting) {
    *memory = (scarce_memory){.fail_at = fail_at, .is_lasting = is_lasting};
    memory->allocator = (base_allocator){scarce_allocate, scarce_release, memory};
}

/// The next `left` calls get memory, all later ones get none; fail_at = 0 ends that.
static inline void scarce_leave(scarce_memory* memory, uint64_t left) {
    memory->fail_at = memory->calls + left + 1;
    memory->is_lasting = true;
}
