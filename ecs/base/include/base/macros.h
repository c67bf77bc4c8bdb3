// SPDX-License-Identifier: MIT
/// The few macros that every header uses. None declares a variable, returns, or evaluates its
/// argument twice.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The caller must use the result: a dropped one is a warning, and an error in CI.
#define BASE_MUST_USE __attribute__((warn_unused_result))

/// Compile-time check of printf-like arguments.
#define BASE_PRINTF(format_index, first_argument)                                                  \
    __attribute__((format(printf, format_index, first_argument)))

/// Keep a function out of line. The `restrict` of its parameters holds then; inlining may lose it.
#define BASE_NOINLINE __attribute__((noinline))

/// Elements of an array (never of a pointer).
#define BASE_COUNT(array) (sizeof(array) / sizeof((array)[0]))

// clang-format off
/// Cases of a switch over a list X(name, value, text): return the name, or the text.
#define BASE_CASE_NAME(name, value, text) case name: return #name;
#define BASE_CASE_TEXT(name, value, text) case name: return text;
// clang-format on

/// One cache line: columns, queues and hot structs are aligned to it.
#define BASE_CACHE_LINE_BYTES 64u
