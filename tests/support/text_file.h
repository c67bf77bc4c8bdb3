// SPDX-License-Identifier: MIT
/// The text of a file in one call, and bytes that a text has.
#pragma once

#include "base/assert.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_FILE_BYTES_MAX = 1 << 20 };

/// @return to be freed; NULL: there is no such file.
static inline char* text_file_read(const char* name) {
    FILE* file = fopen(name, "rb");
    if (!file) return NULL;
    char* text = calloc(1, TEXT_FILE_BYTES_MAX);
    BASE_ASSERT(text);
    size_t size = fread(text, 1, TEXT_FILE_BYTES_MAX, file);
    BASE_ASSERT(size < TEXT_FILE_BYTES_MAX);
    fclose(file);
    return text;
}

/// Read bytes as hexadecimal digits. @return how many.
static inline size_t read_hex(const char* text, uint8_t* bytes, size_t capacity) {
    size_t size = 0;
    unsigned value;
    while (size < capacity && sscanf(text + 2 * size, "%2x", &value) == 1)
        bytes[size++] = (uint8_t)value;
    return size;
}
