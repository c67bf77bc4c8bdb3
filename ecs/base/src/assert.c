// SPDX-License-Identifier: MIT
// The one place where a failed assertion ends the process. The handler is the only mutable variable
// at file scope in this layer: an assertion may fail where no context is available.
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

static base_assert_fn assert_handler;

void base_assert_handler_set(base_assert_fn handler) {
    assert_handler = handler;
}

void base_assert_fail(const char* condition, const char* file, int line) {
    if (assert_handler)
        assert_handler(condition, file, line);
    else
        fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
