// SPDX-License-Identifier: MIT
/// What the reading of options (options.c) and their help (options_help.c) share.
#pragma once

#include "base/options.h"

enum { LINE_BYTES_MAX = 512 };

// Text with a count that goes on when it no longer fits. Begin with {target, target_bytes, 0}.
typedef struct option_page {
    char* target;
    size_t target_bytes;
    size_t size;
} option_page;

BASE_PRINTF(2, 3) void base_option_page_add(option_page* help, const char* format, ...);
void* base_option_value(const base_options* options, const base_option* option);
bool base_option_get_word(const base_option* option, uint32_t number, const char** word,
                          size_t* size);
const base_option_keys* base_option_keys_of(const base_options* options, const base_option* option);
void base_option_key_format(const base_option* key, char* target, size_t target_bytes);
uint32_t base_option_index(const base_options* options, const char* name);
