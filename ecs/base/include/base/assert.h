// SPDX-License-Identifier: MIT
/// Assertions: a mistake of our own code stops the process, in release builds too.
///
/// BASE_ASSERT is for broken preconditions and invariants. Untrusted input never reaches it:
/// readers of foreign bytes return an error instead. BASE_VALIDATE is for whole-structure checks;
/// it is compiled in when BASE_VALIDATE_ON is 1 (Debug and sanitizer builds).
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

/// Called before the process aborts. A test installs a handler that calls mock_assert and does not
/// return.
typedef void (*base_assert_fn)(const char* condition, const char* file, int line);

/// Install a handler. NULL installs the default, which prints to stderr and aborts.
/// Threads: call it at start-up only.
void base_assert_handler_set(base_assert_fn handler);

/// Report a failed assertion. Does not return unless the handler jumps away.
__attribute__((noreturn)) void base_assert_fail(const char* condition, const char* file, int line);

#define BASE_ASSERT(condition)                                                                     \
    ((condition) ? (void)0 : base_assert_fail(#condition, __FILE__, __LINE__))

#ifndef BASE_VALIDATE_ON
#define BASE_VALIDATE_ON 0
#endif
#if BASE_VALIDATE_ON
#define BASE_VALIDATE(condition) BASE_ASSERT(condition)
#else
#define BASE_VALIDATE(condition) ((void)(0 && (condition)))
#endif

BASE_C_END
