// SPDX-License-Identifier: MIT
/// A thread that does one piece of work at a time for the thread that made it.
///
/// Everything that the owner wrote before net_worker_start is seen by the work, everything the work
/// wrote is seen by the owner after net_worker_wait.
#pragma once

#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct net_worker net_worker;

/// NULL when there is no memory or no thread.
net_worker* net_worker_create(const base_allocator* allocator, void (*work)(void* context),
                              void* context);
/// Waits for the work.
void net_worker_destroy(net_worker* worker);
/// Begin. Nothing runs (asserted).
void net_worker_start(net_worker* worker);
/// Until nothing runs.
void net_worker_wait(net_worker* worker);
/// The same, at most until a time of CLOCK_MONOTONIC, in microseconds; 0: only look, UINT64_MAX: as
/// net_worker_wait. @return false when it still runs.
bool net_worker_wait_until(net_worker* worker, uint64_t until_us);
