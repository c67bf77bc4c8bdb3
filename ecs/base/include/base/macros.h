// SPDX-License-Identifier: MIT
/// The few words every header of Shoal uses. Nothing here declares, returns or evaluates twice.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The caller must look at the result: dropping it is a warning, in CI an error.
#define BASE_MUST_USE __attribute__((warn_unused_result))

/// Compile-time check of printf-like arguments.
#define BASE_PRINTF(format_index, first_argument)                                                  \
    __attribute__((format(printf, format_index, first_argument)))

/// Stays a function of its own: its parameters' `restrict` holds, which inlining may lose.
#define BASE_NOINLINE __attribute__((noinline))

/// Elements of an array (never of a pointer).
#define BASE_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/// One cache line: columns, queues and hot structs are aligned to it.
#define BASE_CACHE_LINE_BYTES 64u
