// SPDX-License-Identifier: MIT
// The ceiling of the parallel rows. The second thread never sleeps, so nothing is lost by waking
// it.
#include "parallel_hand.h"

#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum { END = UINT32_MAX, LOOKS = 1000, ROWS_A_ROUND = 100000 };

typedef struct hand {
    ecs_vec3 *pos, *vel, *force;
    uint32_t rows;
    _Alignas(64) _Atomic uint32_t asked; ///< ticks
    _Alignas(64) _Atomic uint32_t done;
} hand;

double parallel_now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void fall(const hand* self, uint32_t first, uint32_t end) {
    parallel_fall(self->pos + first, self->vel + first, self->force + first, end - first,
                  0.015625f);
}

// Look until it is another number. A processor that is taken away gets other work done meanwhile.
static uint32_t wait_for_other(_Atomic uint32_t* number, uint32_t than) {
    for (uint32_t looks = 0;; looks++) {
        const uint32_t now = atomic_load_explicit(number, memory_order_acquire);
        if (now != than) return now;
        if (looks % LOOKS == LOOKS - 1) sched_yield();
    }
}

static void* second(void* argument) {
    hand* self = argument;
    for (uint32_t tick = 0;;) {
        tick = wait_for_other(&self->asked, tick);
        if (tick == END) return NULL;
        fall(self, self->rows / 2, self->rows);
        atomic_store_explicit(&self->done, tick, memory_order_release);
    }
}

static void fall_in_two(hand* self, uint32_t tick) {
    atomic_store_explicit(&self->asked, tick, memory_order_release);
    fall(self, 0, self->rows / 2);
    (void)wait_for_other(&self->done, tick - 1);
}

double parallel_hand_speedup(uint32_t rows, uint32_t rounds) {
    hand self = {.rows = rows};
    ecs_vec3** const columns[] = {&self.pos, &self.vel, &self.force};
    const size_t bytes = rows * sizeof(ecs_vec3);
    for (uint32_t i = 0; i < BASE_COUNT(columns); i++)
        bench_require((*columns[i] = base_allocate_zero(NULL, bytes)) != NULL, "memory");
    pthread_t thread;
    bench_require(pthread_create(&thread, NULL, second, &self) == 0, "thread");
    const uint32_t ticks = rows < ROWS_A_ROUND ? ROWS_A_ROUND / rows : 1;
    double least[2] = {1e18, 1e18};
    for (uint32_t round = 0, tick = 0; round <= rounds; round++) {
        double begin = parallel_now_us();
        for (uint32_t i = 0; i < ticks; i++)
            fall(&self, 0, rows);
        const double one = parallel_now_us() - begin;
        begin = parallel_now_us();
        for (uint32_t i = 0; i < ticks; i++)
            fall_in_two(&self, ++tick);
        const double two = parallel_now_us() - begin;
        if (round == 0) continue; // it touched the memory first
        if (one < least[0]) least[0] = one;
        if (two < least[1]) least[1] = two;
    }
    atomic_store_explicit(&self.asked, END, memory_order_release);
    bench_require(pthread_join(thread, NULL) == 0, "thread");
    for (uint32_t i = 0; i < BASE_COUNT(columns); i++)
        base_release(NULL, *columns[i], bytes);
    return least[0] / least[1];
}
