// SPDX-License-Identifier: MIT
/// Where readers of foreign text (templates, options, modules) report what is wrong.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

#define BASE_REPORT_BYTES_MAX 512u
#define BASE_REPORT_TEXT_BYTES 1024u ///< with file and line

/// Receives one finished message, valid during the call: an error, unless it begins with "note: ",
/// "warning: " or "debug: ". `file` may be NULL: then `line` is 0 or the code of a finding.
typedef struct base_reporter {
    void (*report)(void* context, const char* file, uint32_t line, const char* message);
    void* context;
} base_reporter;

/// Format one message and pass it to the reporter; NULL drops it. Characters that a person
/// should not be shown (shown.h) are replaced, and URLs lose user and password, here and in `file`.
/// The text is cut at BASE_REPORT_BYTES_MAX - 1 bytes. @return false: a check that failed ends so.
bool base_report(const base_reporter* reporter, const char* file, uint32_t line, const char* format,
                 ...) BASE_PRINTF(4, 5);
/// The same in place of `value`, which is returned: return BASE_REPORT_AS(NET_ERR_IO, ...).
#define BASE_REPORT_AS(value, ...) (base_report(__VA_ARGS__), (value))

/// The length of the kind that the message begins with ("note: "); 0: an error.
size_t base_report_kind(const char* message);
/// Write "FILE:LINE: error: text", as the reporters below do; cut, and NUL-terminated.
void base_report_text(char* target, size_t target_bytes, const char* file, uint32_t line,
                      const char* message);

/// A reporter that keeps the first message as "FILE:LINE: error: text" and counts the rest.
typedef struct base_report_first {
    char text[BASE_REPORT_BYTES_MAX];
    uint32_t count;
} base_report_first;
/// The reporter that fills `keeper` (zeroed by the caller), which must outlive it.
base_reporter base_reporter_first(base_report_first* keeper);
/// A reporter that prints "FILE:LINE: error: text" to stderr, and no "debug: ". Valid for the whole
/// process.
base_reporter base_reporter_stderr(void);

BASE_C_END
