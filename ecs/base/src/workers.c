// SPDX-License-Identifier: MIT
// Workers: counters give out items, a state per worker tells whether it takes part.
//
// Each thread has a share of the items, neighbours of each other, and a counter that gives them
// out. A thread that has done its own share helps with the others. So a thread mostly gets the
// items that it had in the last run, whose memory is still in its cache.
//
//     IDLE --owner posts--> POSTED --worker takes--> RUNNING --no item left--> IDLE
//                             |
//                             +--owner withdraws--> IDLE
//
// The owner works too. When no item is left it withdraws what no worker has taken, so it never
// waits for a thread that the system has not woken yet: a machine that is busy costs nothing but
// the help. It waits for workers in RUNNING only, each of which is in its last item.
//
// A worker that has found nothing for SPINS looks sleeps on its semaphore. It says so first and
// looks once more, and the owner posts first and then looks who sleeps: one of them sees the other
// (both are sequentially consistent).
//
// Invariant: job is written by the owner while no worker is RUNNING.
#include "base/workers.h"

#include "base/assert.h"
#include "base/float_mode.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

enum { SPINS = 2000, YIELDS_AFTER = 2000 };

typedef enum worker_state {
    WORKER_IDLE,
    WORKER_POSTED,
    WORKER_RUNNING,
    WORKER_ENDING,
} worker_state;

// Items [next, end) of a run are left.
typedef struct work_share {
    _Alignas(BASE_CACHE_LINE_BYTES) _Atomic uint32_t next;
    uint32_t end;
} work_share;

// Each on lines of its own: owner and workers look at them in loops.
typedef struct base_worker {
    _Alignas(BASE_CACHE_LINE_BYTES) _Atomic uint32_t state;
    _Atomic bool is_asleep;
    base_workers* workers;
    uint32_t number;
    sem_t wake;
    pthread_t thread;
} base_worker;

struct base_workers {
    const base_allocator* allocator;
    base_work_fn work;
    void* context;
    uint32_t share_count; ///< of this run: threads that may take part
    uint32_t count;       ///< threads, the owner among them
    bool is_eager;
    base_work_meter_fn meter;
    void* meter_context;
    _Atomic bool is_busy;
    work_share* shares; ///< [count], after the list
    base_worker list[]; ///< count - 1; number is position + 1
};

static size_t bytes_of(uint32_t threads) {
    return sizeof(base_workers) + (threads - 1) * sizeof(base_worker) +
           threads * sizeof(work_share);
}

// A hint to the processor that this is a loop of looks.
static inline void pause_shortly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void do_items(base_workers* workers, uint32_t number) {
    for (uint32_t i = 0; i < workers->share_count; i++) {
        work_share* from = &workers->shares[(number + i) % workers->share_count];
        // A load comes first: a share that is done keeps its cache line where it is.
        while (atomic_load_explicit(&from->next, memory_order_relaxed) < from->end) {
            uint32_t item = atomic_fetch_add_explicit(&from->next, 1, memory_order_relaxed);
            if (item >= from->end) break;
            workers->work(workers->context, item, number);
        }
    }
}

// Sleep until there is something to do.
static void wait_for_work(base_worker* worker) {
    for (uint32_t i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&worker->state, memory_order_acquire) != WORKER_IDLE) return;
        pause_shortly();
    }
    for (;;) {
        // Again after each waking: who woke it may have withdrawn the post since.
        atomic_store(&worker->is_asleep, true);
        if (atomic_load(&worker->state) != WORKER_IDLE) break;
        (void)sem_wait(&worker->wake); // a signal ends it early
    }
    atomic_store(&worker->is_asleep, false);
}

static void* run_worker(void* argument) {
    base_worker* worker = argument;
    (void)base_float_mode_set();
    for (;;) {
        wait_for_work(worker);
        uint32_t posted = WORKER_POSTED;
        if (atomic_compare_exchange_strong(&worker->state, &posted, WORKER_RUNNING)) {
            do_items(worker->workers, worker->number);
            atomic_store_explicit(&worker->state, WORKER_IDLE, memory_order_release);
        } else if (posted == WORKER_ENDING) {
            return NULL;
        }
    }
}

static void wake(base_worker* worker) {
    if (!atomic_exchange(&worker->is_asleep, false)) return;
    int posted = sem_post(&worker->wake);
    BASE_ASSERT(posted == 0);
}

static void end_thread(base_worker* worker) {
    atomic_store(&worker->state, WORKER_ENDING);
    wake(worker);
    int joined = pthread_join(worker->thread, NULL);
    BASE_ASSERT(joined == 0);
    sem_destroy(&worker->wake);
}

static bool begin_thread(base_worker* worker, base_workers* workers, uint32_t number) {
    worker->workers = workers;
    worker->number = number;
    if (sem_init(&worker->wake, 0, 0) != 0) return false;
    if (pthread_create(&worker->thread, NULL, run_worker, worker) == 0) return true;
    sem_destroy(&worker->wake);
    return false;
}

base_workers* base_workers_create(const base_allocator* allocator, uint32_t threads) {
    BASE_ASSERT(threads >= 1 && threads <= BASE_WORKERS_MAX);
    base_workers* workers = base_allocate_zero(allocator, bytes_of(threads));
    workers->allocator = allocator;
    workers->count = threads;
    workers->shares = (void*)&workers->list[threads - 1];
    for (uint32_t i = 0; i + 1 < threads; i++) {
        if (begin_thread(&workers->list[i], workers, i + 1)) continue;
        while (i > 0)
            end_thread(&workers->list[--i]);
        base_release(allocator, workers, bytes_of(threads));
        return NULL;
    }
    return workers;
}

void base_workers_destroy(base_workers* workers) {
    if (!workers) return;
    BASE_ASSERT(!atomic_load(&workers->is_busy));
    for (uint32_t i = 0; i + 1 < workers->count; i++)
        end_thread(&workers->list[i]);
    base_release(workers->allocator, workers, bytes_of(workers->count));
}

uint32_t base_workers_count(const base_workers* workers) {
    return workers ? workers->count : 1;
}

base_workers* base_workers_worth(base_workers* workers, uint64_t amount, uint64_t least) {
    if (!workers || (amount < least && !workers->is_eager)) return NULL;
    return workers->count > 1 || workers->meter || workers->is_eager ? workers : NULL;
}

void base_workers_set_meter(base_workers* workers, base_work_meter_fn meter, void* context) {
    workers->meter = meter;
    workers->meter_context = context;
}

void base_workers_set_eager(base_workers* workers) {
    workers->is_eager = true;
}

// Take the post back, or wait until the worker has done its last item.
static void call_back(base_worker* worker) {
    uint32_t posted = WORKER_POSTED;
    if (atomic_compare_exchange_strong(&worker->state, &posted, WORKER_IDLE)) return;
    for (uint32_t i = 0; atomic_load_explicit(&worker->state, memory_order_acquire) != WORKER_IDLE;
         i++) {
        if (i < YIELDS_AFTER)
            pause_shortly();
        else
            (void)sched_yield();
    }
}

static void meter(const base_workers* workers, bool is_begin) {
    if (workers && workers->meter) workers->meter(workers->meter_context, is_begin);
}

static void share(base_workers* workers, base_work_fn work, void* context, uint32_t count) {
    const uint32_t threads = base_workers_count(workers);
    if (threads == 1 || count <= 1) {
        for (uint32_t i = 0; i < count; i++)
            work(context, i, 0);
        return;
    }
    bool was_busy = atomic_exchange(&workers->is_busy, true);
    BASE_ASSERT(!was_busy && "one run at a time, and none from inside the work");
    const uint32_t helpers = threads - 1 < count - 1 ? threads - 1 : count - 1;
    workers->work = work;
    workers->context = context;
    workers->share_count = helpers + 1;
    for (uint32_t i = 0, first = 0; i <= helpers; i++) {
        atomic_store_explicit(&workers->shares[i].next, first, memory_order_relaxed);
        first = (uint32_t)((uint64_t)count * (i + 1) / (helpers + 1));
        workers->shares[i].end = first;
    }
    for (uint32_t i = 0; i < helpers; i++) {
        atomic_store(&workers->list[i].state, WORKER_POSTED);
        wake(&workers->list[i]);
    }
    do_items(workers, 0);
    for (uint32_t i = 0; i < helpers; i++)
        call_back(&workers->list[i]);
    atomic_store(&workers->is_busy, false);
}

void base_workers_run(base_workers* workers, base_work_fn work, void* context, uint32_t count) {
    BASE_ASSERT(work);
    meter(workers, true);
    share(workers, work, context, count);
    meter(workers, false);
}

uint32_t base_workers_default(uint32_t most) {
#ifdef _WIN32
    long cores = pthread_num_processors_np();
#else
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    uint32_t wanted = cores > 2 ? (uint32_t)cores - 1 : 1;
    if (wanted > BASE_WORKERS_MAX) wanted = BASE_WORKERS_MAX;
    return wanted < most ? wanted : most > 0 ? most : 1;
}
