// SPDX-License-Identifier: MIT
// Two counters in front of another allocator.
#include "base/quota.h"

#include "base/assert.h"

#include <stdatomic.h>

static size_t counted(size_t size) {
    return (size + BASE_CACHE_LINE_BYTES - 1) & ~(size_t)(BASE_CACHE_LINE_BYTES - 1);
}

static void* quota_allocate(void* context, size_t size, size_t align) {
    base_quota* quota = context;
    BASE_ASSERT(align <= BASE_CACHE_LINE_BYTES);
    if (size <= PTRDIFF_MAX) {
        // Taken first, so that threads together stay below the limit.
        const size_t bytes = counted(size);
        const size_t used = atomic_fetch_add(&quota->used_bytes, bytes) + bytes;
        if (used >= bytes && used <= quota->bytes_max) {
            void* memory = base_allocate(quota->parent, size);
            size_t peak = quota->used_peak;
            while (memory && used > peak &&
                   !atomic_compare_exchange_weak(&quota->used_peak, &peak, used)) {
            }
            if (!memory) atomic_fetch_sub(&quota->used_bytes, bytes);
            return memory;
        }
        atomic_fetch_sub(&quota->used_bytes, bytes);
    }
    quota->refused++;
    return NULL;
}

static void quota_release(void* context, void* memory, size_t size) {
    base_quota* quota = context;
    const size_t before = atomic_fetch_sub(&quota->used_bytes, counted(size));
    BASE_ASSERT(counted(size) <= before);
    base_release(quota->parent, memory, size);
}

void base_quota_init(base_quota* quota, const base_allocator* parent, size_t bytes_max) {
    *quota = (base_quota){.allocator = {quota_allocate, quota_release, quota},
                          .parent = parent,
                          .bytes_max = bytes_max};
}
