// SPDX-License-Identifier: MIT
/// An allocator with a limit in bytes: what a stranger can make us keep is bounded by the sum, not
/// by names or counts.
///
/// Pass `allocator` to all that works for the stranger. A request beyond the limit gets NULL, as if
/// memory had run out. A block counts with its size rounded up to a cache line, as the heap gives
/// it. Threads: one at a time.
#pragma once

#include "base/alloc.h"

typedef struct base_quota {
    base_allocator allocator; ///< its context is the quota, which must not move
    const base_allocator* parent;
    size_t bytes_max;
    size_t used_bytes; ///< now
    size_t used_peak;
    uint64_t refused; ///< requests beyond the limit
} base_quota;

/// `parent` (NULL: the heap) must outlive the quota. Nothing to release: every block must have been
/// given back when the quota goes.
void base_quota_init(base_quota* quota, const base_allocator* parent, size_t bytes_max);
