// SPDX-License-Identifier: MIT
/// A thread that does one piece of work at a time for the thread that made it.
///
/// Everything that the owner wrote before net_worker_start is seen by the work, everything the work
/// wrote is seen by the owner after net_worker_wait.
#pragma once

#include "base/alloc.h"

#include <pthread.h>

/// Start a thread that gets no signals: they are for the one that waits for them.
/// @return 0, or what pthread_create gave.
int net_thread_start(pthread_t* thread, void* (*run)(void* context), void* context);
/// A condition whose times are of CLOCK_MONOTONIC, which cannot be set.
void net_condition_init(pthread_cond_t* condition);

typedef struct net_worker net_worker;

/// `work` gets `context`. Its thread begins with the first work; where none can be had,
/// net_worker_start does it.
net_worker* net_worker_create(const base_allocator* allocator, void (*work)(void* context),
                              void* context);
/// Wait for the work, then end the thread. NULL is allowed.
void net_worker_destroy(net_worker* worker);
/// Begin the work. No work may be running (asserted).
void net_worker_start(net_worker* worker);
/// Wait until no work is running. NULL is allowed: none is.
void net_worker_wait(net_worker* worker);
/// As net_worker_wait, but at most until a time of CLOCK_MONOTONIC in microseconds. 0: do not wait;
/// UINT64_MAX: as net_worker_wait. @return false when the work still runs.
bool net_worker_wait_until(net_worker* worker, uint64_t until_us);
