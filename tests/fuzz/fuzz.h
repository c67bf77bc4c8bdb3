// SPDX-License-Identifier: MIT
/// What a fuzz target defines and may use.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Run one input. A process calls it many times: what it keeps between calls is as new for each.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

/// Check a property of every input, in release builds too.
#define FUZZ_CHECK(condition)                                                                      \
    ((condition) ? (void)0                                                                         \
                 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()))
