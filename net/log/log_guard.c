// SPDX-License-Identifier: MIT
// The handler reads the table without a lock: an entry is filled before its end is published, and
// emptied in the opposite order. mmap is a plain system call here, as it is in systemd's handler.
#include "log/log_guard.h"

#include "base/assert.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct guard {
    _Atomic uintptr_t begin;
    _Atomic uintptr_t end; // 0: the entry is free
    _Atomic bool is_lost;
} guard;

static guard guards[NET_LOG_GUARDS_MAX];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;
static _Atomic uintptr_t page_bytes;

static guard* find(uintptr_t at) {
    for (uint32_t i = 0; i < NET_LOG_GUARDS_MAX; i++)
        if (at < atomic_load(&guards[i].end) && at >= atomic_load(&guards[i].begin))
            return &guards[i];
    return NULL;
}

static void handle(int number, siginfo_t* info, void* context) {
    (void)context;
    int error = errno;
    uintptr_t at = (uintptr_t)info->si_addr;
    guard* lost = find(at);
    if (lost) {
        uintptr_t size = atomic_load(&page_bytes), page = at & ~(size - 1);
        // The page of the file is gone; the same address becomes private memory.
        void* memory = mmap((void*)page, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (memory != MAP_FAILED) {
            atomic_store(&lost->is_lost, true);
            errno = error;
            return;
        }
    }
    // Back to what was there before: the access is repeated and fails as without a guard.
    (void)sigaction(number, &before, NULL);
    errno = error;
}

// Another part of the program may have put its own handler there since the last time.
static bool install(void) {
    struct sigaction now, action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    atomic_store(&page_bytes, (uintptr_t)sysconf(_SC_PAGESIZE));
    if (sigaction(SIGBUS, NULL, &now) != 0) return false;
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handle) return true;
    before = now;
    return sigaction(SIGBUS, &action, NULL) == 0;
}

bool net_log_guard_add(void* memory, size_t bytes) {
    BASE_ASSERT(memory && bytes > 0);
    pthread_mutex_lock(&mutex);
    guard* free_guard = NULL;
    for (uint32_t i = 0; i < NET_LOG_GUARDS_MAX && !free_guard; i++)
        if (atomic_load(&guards[i].end) == 0) free_guard = &guards[i];
    bool is_added = free_guard && install();
    if (is_added) {
        atomic_store(&free_guard->is_lost, false);
        atomic_store(&free_guard->begin, (uintptr_t)memory);
        atomic_store(&free_guard->end, (uintptr_t)memory + bytes);
    }
    pthread_mutex_unlock(&mutex);
    return is_added;
}

void net_log_guard_remove(void* memory) {
    pthread_mutex_lock(&mutex);
    guard* found = find((uintptr_t)memory);
    if (found) atomic_store(&found->end, 0);
    pthread_mutex_unlock(&mutex);
}

bool net_log_guard_is_lost(const void* memory) {
    const guard* found = find((uintptr_t)memory);
    return found && atomic_load(&found->is_lost);
}
