// SPDX-License-Identifier: MIT
/// An allocator with a limit in bytes. It bounds what foreign input can make a program keep.
///
/// Pass `allocator` to each part that keeps something of that input. A request beyond the limit
/// gets NULL, as if memory had run out. A block counts with its size rounded up to a cache line, as
/// the heap gives it. Threads: any, as those of `parent`.
#pragma once

#include "base/alloc.h"

BASE_C_BEGIN

typedef struct base_quota {
    base_allocator allocator; ///< its context is the quota, which must not move
    const base_allocator* parent;
    size_t bytes_max;
    BASE_ATOMIC(size_t) used_bytes; ///< now
    BASE_ATOMIC(size_t) used_peak;
    BASE_ATOMIC(uint64_t) refused; ///< requests beyond the limit
} base_quota;

/// `parent` (NULL: the heap) must outlive the quota. Nothing to release: every block must have been
/// given back when the quota goes.
void base_quota_init(base_quota* quota, const base_allocator* parent, size_t bytes_max);

BASE_C_END
