// SPDX-License-Identifier: MIT
/// The one door to cmocka: 1.1.5 needs these four headers before its own.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/assert.h"

/// Assert handler for misuse cases: with it, expect_assert_failure() sees a BASE_ASSERT.
static inline void test_assert_handler(const char* condition, const char* file, int line) {
    mock_assert(0, condition, file, line);
}

/// Case list entry.
#define TEST(name) cmocka_unit_test(name)
