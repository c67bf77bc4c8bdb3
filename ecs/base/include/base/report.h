// SPDX-License-Identifier: MIT
/// Where readers of foreign text (templates, options, modules) say what is wrong.
#pragma once

#include "base/macros.h"

#define BASE_REPORT_BYTES_MAX 512u

/// Gets one finished message; `file` may be NULL, `line` 0 when there is none.
typedef struct base_reporter {
    void (*report)(void* context, const char* file, uint32_t line, const char* message);
    void* context;
} base_reporter;

/// Format and hand over one message. A NULL reporter drops it. It is an error unless it begins with
/// "warning: " or "note: ".
void base_report(const base_reporter* reporter, const char* file, uint32_t line, const char* format,
                 ...) BASE_PRINTF(4, 5);

/// A reporter that keeps the first message as "FILE:LINE: error: text" and counts the rest.
typedef struct base_report_first {
    char text[BASE_REPORT_BYTES_MAX];
    uint32_t count;
} base_report_first;
base_reporter base_reporter_first(base_report_first* keeper);
/// A reporter that prints "FILE:LINE: error: text" to stderr. Lives forever.
base_reporter base_reporter_stderr(void);
