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
#ifdef __MINGW32__ // its own printf reads other formats than that of C99, which we ask for
#define BASE_PRINTF(format_index, first_argument)                                                  \
    __attribute__((format(gnu_printf, format_index, first_argument)))
#else
#define BASE_PRINTF(format_index, first_argument)                                                  \
    __attribute__((format(printf, format_index, first_argument)))
#endif

/// Keep a function out of line. The `restrict` of its parameters holds then; inlining may lose it.
#define BASE_NOINLINE __attribute__((noinline))
/// Have a pointer ready before a loop: gcc would add up its parts again in every round.
#define BASE_KEEP_POINTER(pointer) __asm__("" : "+r"(pointer))

/// Elements of an array (never of a pointer).
#define BASE_COUNT(array) (sizeof(array) / sizeof((array)[0]))

// clang-format off
/// Cases of a switch over a list X(name, value, text): return the text.
#define BASE_CASE_TEXT(name, value, text) case name: return text;
// clang-format on

/// Headers are C for C++ too: what they declare is between these two lines, includes are
/// before. tests/cxx compiles each of them as C++17.
#ifdef __cplusplus
#define BASE_C_BEGIN extern "C" {
#define BASE_C_END }
#else
#define BASE_C_BEGIN
#define BASE_C_END
#endif

/// Words of C17 that C++ spells differently. C++ code only reserves the place of an atomic: it has
/// the size and the alignment of its type, and C functions read and write it.
#ifdef __cplusplus
#define BASE_ALIGN(bytes) alignas(bytes)
#define BASE_ATOMIC(type) alignas(sizeof(type)) type
#define BASE_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define BASE_ALIGN(bytes) _Alignas(bytes)
#define BASE_ATOMIC(type) _Atomic(type)
#define BASE_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

/// One cache line: columns, queues and hot structs are aligned to it.
#define BASE_CACHE_LINE_BYTES 64u
