// SPDX-License-Identifier: MIT
/// Threads that share one piece of work with the thread that owns them.
///
/// Work is a number of items. Every item is done exactly once, on some thread and in no fixed
/// order, so the items of one call must not depend on each other. A caller that needs the same bits
/// for any number of threads writes the results by item and reads them in the order of items.
///
/// Memory:  What the owner wrote before base_workers_run is seen by the work; what the work wrote
///          is seen by the owner after it.
/// Threads: One thread at a time calls base_workers_run, and never from inside the work (asserted).
///          No lock is taken: items are given out by atomic counters. A worker without work
///          spins for some microseconds, then it sleeps.
#pragma once

#include "base/alloc.h"

BASE_C_BEGIN

#define BASE_WORKERS_MAX 64u ///< threads that work together, the owner among them

typedef struct base_workers base_workers;

/// Does one item. `worker` is the number of the thread, below base_workers_count: 0 is the owner.
/// It chooses scratch memory, and no result may depend on it.
typedef void (*base_work_fn)(void* context, uint32_t item, uint32_t worker);

typedef void (*base_work_meter_fn)(void* context, bool is_begin);

/// Make `threads` - 1 threads, in 1..BASE_WORKERS_MAX (asserted). They sleep.
/// @return NULL when the system gives no more threads.
base_workers* base_workers_create(const base_allocator* allocator, uint32_t threads);
/// End the threads. NULL is accepted.
void base_workers_destroy(base_workers* workers);
/// Threads that work together; 1 for NULL.
uint32_t base_workers_count(const base_workers* workers);
/// Do all items [0, count), and return when they are done. With NULL the calling thread does them
/// in their order.
void base_workers_run(base_workers* workers, base_work_fn work, void* context, uint32_t count);
/// `workers` when `amount` of work is at least `least`, below which one thread is faster because
/// waking another costs more than it helps; else NULL, which works alone too.
base_workers* base_workers_worth(base_workers* workers, uint64_t amount, uint64_t least);
/// For tests: any amount is worth it from now on.
void base_workers_set_eager(base_workers* workers);
/// For benches: the owner calls `meter` when work begins that may be shared, and when it ends. One
/// thread with a meter works as several would, so that what only one thread does can be measured.
void base_workers_set_meter(base_workers* workers, base_work_meter_fn meter, void* context);
/// Threads that a program should use when its options name no number: the processors that are there
/// minus one, at least 1, at most `most`.
uint32_t base_workers_default(uint32_t most);

BASE_C_END
