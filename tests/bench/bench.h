// SPDX-License-Identifier: MIT
/// The frame of shoal-bench: a row is a job done by Shoal and, in the same executable, by its twin, C
/// written by hand for that job alone. The harness runs both in turn and prints one line.
#pragma once

#include "base/alloc.h"

typedef struct bench_row bench_row;

/// What both sides of a row do with a fixture.
typedef struct bench_job {
    void (*destroy)(void* fixture);
    /// Untimed, before each timing of a side; may be NULL.
    void (*prepare_shoal)(void* fixture);
    void (*prepare_best)(void* fixture);
    void (*run_shoal)(void* fixture);
    void (*run_best)(void* fixture); ///< NULL: no twin, no ratio
    /// Both sides have done the same: compared after the last round. NULL: nothing to compare.
    bool (*is_equal)(void* fixture);
    /// Measures and prints the whole line itself; replaces everything above.
    void (*print)(const bench_row* row, uint32_t rounds);
} bench_job;

struct bench_row {
    const char* name;
    const char* unit;      ///< "ns_per_entity"
    double work;           ///< units of work in one run; the figure is time / work
    double unit_ns;        ///< 1 for ns, 1000 for us
    uint32_t runs;         ///< timed together in a round, so that the clock's own cost vanishes
    bool is_cold;          ///< stream BENCH_COLD_BYTES through the caches before each timing
    void* (*create)(void); ///< the fixture
    const bench_job* job;
    /// A figure that is no time (bytes); replaces everything above but name and unit.
    double (*figure)(void);
};

#define BENCH_ROUNDS 9u
#define BENCH_ROUNDS_MIN 7u
#define BENCH_ROUNDS_MAX 1001u
#define BENCH_ROUNDS_WARM 2u ///< before the first, thrown away
#define BENCH_COLD_BYTES (160u << 20)

typedef struct bench_rows {
    const bench_row* rows;
    uint32_t count;
} bench_rows;

bench_rows bench_rows_update(void);
bench_rows bench_rows_create(void);
bench_rows bench_rows_access(void);
bench_rows bench_rows_structure(void);
bench_rows bench_rows_batch(void);
bench_rows bench_rows_change(void);
bench_rows bench_rows_event(void);
bench_rows bench_rows_memory(void);
bench_rows bench_rows_net_tick(void);
bench_rows bench_rows_repl(void);
bench_rows bench_rows_join(void);
bench_rows bench_rows_repl_memory(void);
bench_rows bench_rows_repl_track(void);

/// A recorded world through the row code, as one client's stream; prints its line.
void bench_trace(const char* path, uint32_t base, uint32_t stride);

/// End the program with a message when a precondition of a row does not hold.
void bench_require(bool condition, const char* what);
/// Cleared memory for fixtures and twins, aligned to 64 bytes, all pages touched.
void* bench_allocate(size_t bytes);
void bench_release(void* memory);
/// Numbers 0..count-1 in random order, always the same.
void bench_shuffle(uint32_t* numbers, uint32_t count);
/// Time of this thread on a CPU: what others do on the machine is in the caches, not in the clock.
double bench_now_ns(void);
/// Sorts the values.
double bench_median(double* values, uint32_t count);
/// An allocator over the heap that counts. Its `allocator` is passed on and must not move.
typedef struct bench_counting {
    base_allocator allocator;
    size_t live_bytes;
    uint64_t allocations;
} bench_counting;
void bench_counting_init(bench_counting* counting);
/// Keep a result from being optimised away.
void bench_keep(double value);
