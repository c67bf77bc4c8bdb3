// SPDX-License-Identifier: MIT
/// The only header that includes cmocka: version 1.1.5 needs these four headers before its own.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/assert.h"
#include "base/report.h"
#include "base/rng.h"
#include "base/text.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Callbacks of cases use what they need of their parameters.
#pragma GCC diagnostic ignored "-Wunused-parameter"

/// Tests run with the user's numbers and letters, as in a host that sets its locale: nothing of
/// ours may depend on them.
__attribute__((constructor)) static void test_take_locale(void) {
    (void)setlocale(LC_NUMERIC, "");
    (void)setlocale(LC_CTYPE, "");
}

/// Assert handler of all programs with CASE: expect_assert_failure() sees a BASE_ASSERT, and any
/// other one that fails is the failure of its case.
static inline void test_assert_handler(const char* condition, const char* file, int line) {
    mock_assert(0, condition, file, line);
}

/// Get the number of random runs: count times SHOAL_TEST_SCALE, at least count_min; `count` without
/// the variable.
static inline uint32_t test_scaled(uint32_t count, uint32_t count_min) {
    const char* text = getenv("SHOAL_TEST_SCALE");
    double scale;
    if (!text || !base_text_parse_f64(text, &scale) || !(scale > 0)) return count;
    double scaled = (double)count * scale;
    if (scaled < count_min) return count_min;
    return scaled < 1e9 ? (uint32_t)scaled : 1000000000u;
}

/// Is this a shorter run (SHOAL_TEST_SCALE below 1)? Then cases that count through thousands of
/// alike situations take every so many of them.
static inline bool test_is_short(void) {
    return test_scaled(100, 0) < 100;
}

/// The distance between two bytes that a case changes or cuts at: each one, or in a shorter run
/// every seventh and each of the first sixteen. `at`: the place of the one before.
static inline size_t test_step(size_t at) {
    return test_is_short() && at >= 16 ? 7 : 1;
}

/// Get the chance of a random run, and print its seed.
static inline base_rng test_rng(uint64_t seed, uint64_t stream) {
    printf("seed %llu\n", (unsigned long long)seed);
    return base_rng_make(seed, stream);
}

/// Prints what is reported: for calls of which a case expects no report.
#define test_reporter() ((const base_reporter[]){base_reporter_stderr()})

/// A call succeeds: NET_OK and its like are 0.
#define assert_ok(call) assert_int_equal(call, 0)

/// A case stands once: what it proves as its name, and behind it the function that proves it. All
/// cases of a program run, in the order of their lines; its main is in test_main.c.
///
///     CASE(a_row_that_is_taken_twice_counts_once) {
///         ...
///     }
typedef struct test_case {
    const char* name;
    CMUnitTestFunction run;
    int line;
    struct test_case* next;
} test_case;

/// Add a case to those that test_run() runs. `added` must not move.
void test_add(test_case* added);

/// Run all cases. @return how many failed.
int test_run(void);

#define CASE(name)                                                                                 \
    static void name(void);                                                                        \
    static void name##_run(void** state) {                                                         \
        name();                                                                                    \
    }                                                                                              \
    TEST_ADD(name)                                                                                 \
    static void name(void)

/// A case with an object of its own: `self` points to it. `open` and `close` are the calls before
/// and after it. The header of a fixture makes its own macro from this one:
///
///     #define DUEL_CASE(name) CASE_WITH(duel, at, duel_open(at), duel_close(at), name)
#define CASE_WITH(type, self, open, close, name)                                                   \
    static void name(type* self);                                                                  \
    static void name##_run(void** state) {                                                         \
        type object;                                                                               \
        type* self = &object;                                                                      \
        open;                                                                                      \
        name(self);                                                                                \
        close;                                                                                     \
    }                                                                                              \
    TEST_ADD(name)                                                                                 \
    static void name(type* self)

/// The same with a second thing that a call makes of the object, before the case: the case is given
/// both.
#define CASE_GIVEN(type, self, open, close, given_type, given, make, name)                         \
    static void name(type* self, given_type given);                                                \
    static void name##_run(void** state) {                                                         \
        type object;                                                                               \
        type* self = &object;                                                                      \
        open;                                                                                      \
        name(self, make);                                                                          \
        close;                                                                                     \
    }                                                                                              \
    TEST_ADD(name)                                                                                 \
    static void name(type* self, given_type given)

/// The same with an object that a call makes, and another one takes back.
#define CASE_MADE(type, self, make, take_back, name)                                               \
    static void name(type* self);                                                                  \
    static void name##_run(void** state) {                                                         \
        type* self = make;                                                                         \
        name(self);                                                                                \
        take_back;                                                                                 \
    }                                                                                              \
    TEST_ADD(name)                                                                                 \
    static void name(type* self)

/// A case for each of `count` rows, with an object of its own: `row` is the number of the row, also
/// for `open` and `close`.
#define CASE_ROWS(type, self, open, close, row, count, name)                                       \
    static void name##_row(type* self, uint32_t row);                                              \
    CASE(name) {                                                                                   \
        static type object;                                                                        \
        type* self = &object;                                                                      \
        for (uint32_t row = 0; row < (count); row++) {                                             \
            printf("row %u\n", row);                                                               \
            open;                                                                                  \
            name##_row(self, row);                                                                 \
            close;                                                                                 \
        }                                                                                          \
    }                                                                                              \
    static void name##_row(type* self, uint32_t row)

#define TEST_ADD(name)                                                                             \
    static test_case name##_case = {#name, name##_run, __LINE__, NULL};                            \
    __attribute__((constructor)) static void name##_add(void) {                                    \
        test_add(&name##_case);                                                                    \
    }
