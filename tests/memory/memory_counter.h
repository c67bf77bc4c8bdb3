// SPDX-License-Identifier: MIT
/// An allocator that counts what it gives.
#pragma once

#include "base/alloc.h"
#include "base/assert.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct counter {
    base_allocator allocator;
    uint64_t allocations;
    int64_t bytes, most;
} counter;

static inline void* counter_allocate(void* context, size_t size, size_t align) {
    counter* self = context;
    self->allocations++;
    self->bytes += (int64_t)size;
    if (self->bytes > self->most) self->most = self->bytes;
    const base_allocator* heap = base_allocator_heap();
    return heap->allocate(heap->context, size, align);
}

static inline void counter_release(void* context, void* block, size_t size) {
    counter* self = context;
    self->bytes -= (int64_t)size;
    const base_allocator* heap = base_allocator_heap();
    heap->release(heap->context, block, size);
}

static inline void counter_init(counter* self) {
    *self = (counter){.allocator = {counter_allocate, counter_release, self}};
}

static inline char* read_file(const char* name) {
    FILE* file = fopen(name, "rb");
    if (!file) return NULL;
    char* text = calloc(1, 1u << 16);
    BASE_ASSERT(text);
    size_t size = fread(text, 1, (1u << 16) - 1, file);
    fclose(file);
    BASE_ASSERT(size > 0);
    return text;
}
