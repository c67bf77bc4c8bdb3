// SPDX-License-Identifier: MIT
// What rows and programs of the benchmark share: memory, clock, medians.
#include "bench.h"

#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void bench_require(bool condition, const char* what) {
    if (condition) return;
    fprintf(stderr, "shoal-bench: error: %s\n", what);
    exit(1);
}

// What was allocated and not released, in 64 bytes before it.
typedef struct owned {
    struct owned *older, *newer;
} owned;

static owned* newest;

void* bench_allocate(size_t bytes) {
    size_t rounded = 64 + (bytes + 63) / 64 * 64;
    owned* block = aligned_alloc(64, rounded);
    bench_require(block != NULL, "out of memory");
    memset(block, 0, rounded);
    block->older = newest;
    if (newest) newest->newer = block;
    newest = block;
    return (char*)block + 64;
}

void bench_release(void* memory) {
    if (!memory) return;
    owned* block = (owned*)((char*)memory - 64);
    if (block->older) block->older->newer = block->newer;
    if (block->newer)
        block->newer->older = block->older;
    else
        newest = block->older;
    free(block);
}

void bench_release_all(void) {
    while (newest)
        bench_release((char*)newest + 64);
}

void bench_shuffle(uint32_t* numbers, uint32_t count) {
    base_rng rng = base_rng_make(1, 1);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = i;
    for (uint32_t i = count; i-- > 1;) {
        uint32_t other = base_rng_below(&rng, i + 1), kept = numbers[i];
        numbers[i] = numbers[other];
        numbers[other] = kept;
    }
}

void bench_keep(double value) {
    volatile double kept = value;
    (void)kept;
}

double bench_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

double bench_median(double* values, uint32_t count) {
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

void bench_print_least(const double* values) {
    printf(" least=%.4g\n", values[0]);
}
