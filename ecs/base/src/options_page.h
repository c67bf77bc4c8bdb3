// SPDX-License-Identifier: MIT
/// What --help, the manual page and the completion have in common.
#pragma once

#include "base/options.h"

/// Text with a count that goes on when it no longer fits. Begin with {target, target_bytes, 0}.
typedef struct base_option_page {
    char* target;
    size_t target_bytes;
    size_t size;
} base_option_page;

/// Append one line or a part of it, at most 511 bytes.
void base_option_page_add(base_option_page* page, const char* format, ...) BASE_PRINTF(2, 3);
/// Write "--tick-rate HZ". @return its bytes.
size_t base_option_name_format(const base_option* option, char* target, size_t target_bytes);
/// Write " (default 60)", or "" when there is none, or the help has it.
void base_option_default_format(const base_option* option, char* target, size_t target_bytes);
