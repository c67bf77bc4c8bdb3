// SPDX-License-Identifier: MIT
/// What a fuzz target defines and may use.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Run one input. A process calls it many times: what it keeps between calls is as new for each.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

/// A piece of an input: {u8 operation, u8 size, bytes[size]}.
typedef struct fuzz_record {
    uint8_t operation;
    const uint8_t* bytes;
    size_t size;
} fuzz_record;

/// Take the next record; the last one may be cut. @return false: there is none.
static inline bool fuzz_next(const uint8_t** data, size_t* left, fuzz_record* record) {
    if (*left < 2) return false;
    const size_t size = (*data)[1] < *left - 2 ? (*data)[1] : *left - 2;
    *record = (fuzz_record){(*data)[0], *data + 2, size};
    *data += 2 + size;
    *left -= 2 + size;
    return true;
}

/// Check a property of every input, in release builds too.
#define FUZZ_CHECK(condition)                                                                      \
    ((condition) ? (void)0                                                                         \
                 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), abort()))
