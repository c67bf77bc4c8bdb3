// SPDX-License-Identifier: MIT
/// An allocator that counts against a limit in bytes. It bounds what foreign input can make a
/// program keep.
///
/// Pass `allocator` to each part that keeps something of that input. A request beyond the limit
/// gets its memory. The code that reads the input asks after each message whether the quota is
/// over, and ends the session; the limits of one message bound what it adds. A block counts with
/// its size rounded up to a cache line, as the heap gives it. Threads: any, as those of `parent`.
#pragma once

#include "base/alloc.h"

BASE_C_BEGIN

typedef struct base_quota {
    base_allocator allocator; ///< its context is the quota, which must not move
    const base_allocator* parent;
    size_t bytes_max;
    BASE_ATOMIC(size_t) used_bytes; ///< now
    BASE_ATOMIC(size_t) used_peak;
} base_quota;

/// `parent` (NULL: the heap) must outlive the quota. Nothing to release: every block must have been
/// given back when the quota goes.
void base_quota_init(base_quota* quota, const base_allocator* parent, size_t bytes_max);
/// Is more in use than the limit? Of an allocator that is no quota's, and of NULL: false.
bool base_quota_is_over(const base_allocator* allocator);

BASE_C_END
