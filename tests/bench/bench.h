// SPDX-License-Identifier: MIT
/// The frame of shoal-bench. A row is a job that Shoal does and, in the same executable, its twin:
/// C written by hand for that job alone. The harness runs both in turn and prints one line.
#pragma once

#include "base/alloc.h"

typedef struct bench_row bench_row;

/// What both sides do with a fixture.
typedef struct bench_pair {
    void (*shoal)(void* fixture);
    void (*best)(void* fixture);
} bench_pair;

/// What both sides of a row do.
typedef struct bench_job {
    bench_pair prepare; ///< runs before each measurement of a side and is not measured; may be NULL
    bench_pair run;     ///< .best NULL: no twin, no ratio
    /// Check that both sides did the same, after the last round. NULL: nothing to compare.
    bool (*is_equal)(void* fixture);
    /// Memory of bench_allocate is released behind it. NULL: the fixture has nothing else.
    void (*destroy)(void* fixture);
    /// Measures and prints the whole line; replaces everything above.
    void (*print)(const bench_row* row, uint32_t rounds);
} bench_job;

struct bench_row {
    const char* name;
    const char* unit;      ///< "ns_per_entity"
    double work;           ///< units of work in one run; the printed value is time / work
    double unit_ns;        ///< 1 for ns, 1000 for us
    uint32_t runs;         ///< measured together in a round, so that the cost of the clock is small
    bool is_cold;          ///< stream BENCH_COLD_BYTES through the caches before each timing
    void* (*create)(void); ///< the fixture
    const bench_job* job;
};

#define BENCH_ROUNDS 9u
#define BENCH_ROUNDS_MIN 7u
#define BENCH_ROUNDS_MAX 1001u
#define BENCH_ROUNDS_WARM 2u ///< rounds before the first, not counted
#define BENCH_COLD_BYTES (160u << 20)

/// A `create` of a row: a fixture that another call makes, with its arguments.
#define BENCH_CREATE(name, call)                                                                   \
    static void* name(void) {                                                                      \
        return call;                                                                               \
    }

typedef struct bench_rows {
    const bench_row* rows;
    uint32_t count;
} bench_rows;

bench_rows bench_rows_update(void);
bench_rows bench_rows_create(void);
bench_rows bench_rows_access(void);
bench_rows bench_rows_structure(void);
bench_rows bench_rows_command(void);
bench_rows bench_rows_change(void);
bench_rows bench_rows_event(void);
bench_rows bench_rows_memory(void);
bench_rows bench_rows_net_tick(void);
bench_rows bench_rows_net_secure(void);
bench_rows bench_rows_repl(void);
bench_rows bench_rows_repl_server(void);
bench_rows bench_rows_join(void);
bench_rows bench_rows_parallel(void);
bench_rows bench_rows_log(void);
bench_rows bench_rows_tiles(void);

/// Write a recorded world in row code, as the stream of one client, and print its line.
void bench_trace(const char* path, uint32_t base, uint32_t stride);

/// End the program with a message when a precondition of a row does not hold.
void bench_require(bool condition, const char* what);
/// The same for a call that succeeds: NET_OK and its like are 0.
#define bench_ok(call, what) bench_require((call) == 0, what)
/// Get cleared memory for fixtures and twins, aligned to 64 bytes, with all pages written.
void* bench_allocate(size_t bytes);
void bench_release(void* memory);
/// Release what is left: after each row, so that no fixture needs to.
void bench_release_all(void);
/// Fill in the numbers 0..count-1 in a random order that is always the same.
void bench_shuffle(uint32_t* numbers, uint32_t count);
/// Get the CPU time of this thread. Other programs on the machine cost cache misses, but no time.
double bench_now_ns(void);
/// Get the median; sorts the values.
double bench_median(double* values, uint32_t count);
/// End a line with the least of values that bench_median sorted.
void bench_print_least(const double* values);
/// Keep a result from being optimised away.
void bench_keep(double value);
