// SPDX-License-Identifier: MIT
// One thread, one mutex, one flag. The work is short (a tick's datagrams), so the thread lives as
// long as the server and sleeps in between.
//
// Invariant: `is_busy` is true from start until the work is done; only the owner sets it, only the
// thread clears it.
#include "core/worker.h"

#include "base/assert.h"
#include "base/float_mode.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

struct net_worker {
    const base_allocator* allocator;
    void (*work)(void* context);
    void* context;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t begin, done;
    bool has_thread; // from the first work on
    bool is_busy;
    bool must_end;
};

static void* run_worker(void* context) {
    net_worker* worker = context;
    (void)base_float_mode_set();
    pthread_mutex_lock(&worker->mutex);
    for (;;) {
        while (!worker->is_busy && !worker->must_end)
            pthread_cond_wait(&worker->begin, &worker->mutex);
        if (!worker->is_busy) break;
        pthread_mutex_unlock(&worker->mutex);
        worker->work(worker->context);
        pthread_mutex_lock(&worker->mutex);
        worker->is_busy = false;
        pthread_cond_signal(&worker->done);
    }
    pthread_mutex_unlock(&worker->mutex);
    return NULL;
}

int net_thread_start(pthread_t* thread, void* (*run)(void* context), void* context) {
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); // of a queue that another process cut: the crash has a report
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

void net_condition_init(pthread_cond_t* condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void free_worker(net_worker* worker) {
    pthread_cond_destroy(&worker->done);
    pthread_cond_destroy(&worker->begin);
    pthread_mutex_destroy(&worker->mutex);
    base_release(worker->allocator, worker, sizeof *worker);
}

net_worker* net_worker_create(const base_allocator* allocator, void (*work)(void* context),
                              void* context) {
    BASE_ASSERT(work);
    net_worker* worker = base_allocate_zero(allocator, sizeof *worker);
    worker->allocator = allocator;
    worker->work = work;
    worker->context = context;
    pthread_mutex_init(&worker->mutex, NULL);
    net_condition_init(&worker->begin);
    net_condition_init(&worker->done);
    return worker;
}

void net_worker_destroy(net_worker* worker) {
    if (!worker) return;
    pthread_mutex_lock(&worker->mutex);
    worker->must_end = true;
    pthread_cond_signal(&worker->begin);
    pthread_mutex_unlock(&worker->mutex);
    if (worker->has_thread) pthread_join(worker->thread, NULL);
    free_worker(worker);
}

void net_worker_start(net_worker* worker) {
    if (!worker->has_thread)
        worker->has_thread = pthread_create(&worker->thread, NULL, run_worker, worker) == 0;
    if (!worker->has_thread) {
        worker->work(worker->context);
        return;
    }
    pthread_mutex_lock(&worker->mutex);
    BASE_ASSERT(!worker->is_busy && !worker->must_end);
    worker->is_busy = true;
    pthread_cond_signal(&worker->begin);
    pthread_mutex_unlock(&worker->mutex);
}

bool net_worker_wait_until(net_worker* worker, uint64_t until_us) {
    if (!worker) return true;
    const struct timespec until = {.tv_sec = (time_t)(until_us / 1000000u),
                                   .tv_nsec = (long)(until_us % 1000000u * 1000u)};
    pthread_mutex_lock(&worker->mutex);
    int error = 0;
    while (worker->is_busy && until_us != 0 && error != ETIMEDOUT)
        error = until_us == UINT64_MAX
                    ? pthread_cond_wait(&worker->done, &worker->mutex)
                    : pthread_cond_timedwait(&worker->done, &worker->mutex, &until);
    bool is_done = !worker->is_busy;
    pthread_mutex_unlock(&worker->mutex);
    return is_done;
}

void net_worker_wait(net_worker* worker) {
    (void)net_worker_wait_until(worker, UINT64_MAX);
}
