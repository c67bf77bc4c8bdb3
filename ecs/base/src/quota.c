// SPDX-License-Identifier: MIT
// Two counters in front of another allocator.
#include "base/quota.h"

#include "base/assert.h"

static size_t counted(size_t size) {
    return (size + BASE_CACHE_LINE_BYTES - 1) & ~(size_t)(BASE_CACHE_LINE_BYTES - 1);
}

static void* quota_allocate(void* context, size_t size, size_t align) {
    base_quota* quota = context;
    BASE_ASSERT(align <= BASE_CACHE_LINE_BYTES);
    size_t left = quota->bytes_max - quota->used_bytes;
    if (size > PTRDIFF_MAX || size > left || counted(size) > left) {
        quota->refused++;
        return NULL;
    }
    void* memory = base_allocate(quota->parent, size);
    if (!memory) return NULL;
    quota->used_bytes += counted(size);
    if (quota->used_bytes > quota->used_peak) quota->used_peak = quota->used_bytes;
    return memory;
}

static void quota_release(void* context, void* memory, size_t size) {
    base_quota* quota = context;
    BASE_ASSERT(counted(size) <= quota->used_bytes);
    quota->used_bytes -= counted(size);
    base_release(quota->parent, memory, size);
}

void base_quota_init(base_quota* quota, const base_allocator* parent, size_t bytes_max) {
    *quota = (base_quota){.allocator = {quota_allocate, quota_release, quota},
                          .parent = parent,
                          .bytes_max = bytes_max};
}
