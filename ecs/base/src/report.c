// SPDX-License-Identifier: MIT
// Messages about foreign text. They quote that text, so bytes that could control a terminal or fake
// a line of a log are replaced before a reporter gets the message.
#include "base/assert.h"
#include "base/report.h"

#include "base/shown.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void replace_hidden(char* text) {
    char* to = text;
    while (*text) {
        uint32_t code;
        bool is_shown;
        uint32_t size = base_shown_next(text, &code, &is_shown);
        if (is_shown)
            memmove(to, text, size);
        else
            *to = '?';
        to += is_shown ? size : 1;
        text += size;
    }
    *to = '\0';
}

void base_report(const base_reporter* reporter, const char* file, uint32_t line, const char* format,
                 ...) {
    if (!reporter || !reporter->report) return;
    char message[BASE_REPORT_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    int size = base_text_vformat(message, sizeof message, format, arguments);
    va_end(arguments);
    if (size < 0) (void)base_text_copy(message, sizeof message, "(unprintable message)");
    if (size >= (int)sizeof message) memcpy(message + sizeof message - 4, "...", 4);
    replace_hidden(message);
    reporter->report(reporter->context, file, line, message);
}

static void format_message(char* target, size_t target_bytes, const char* file, uint32_t line,
                           const char* message) {
    // A message may begin with its own kind: a warning, or a note.
    bool says_kind = strncmp(message, "warning: ", 9) == 0 || strncmp(message, "note: ", 6) == 0;
    const char* kind = says_kind ? "" : "error: ";
    if (file && line)
        (void)base_text_format(target, target_bytes, "%s:%u: %s%s", file, line, kind, message);
    else if (file)
        (void)base_text_format(target, target_bytes, "%s: %s%s", file, kind, message);
    else
        (void)base_text_format(target, target_bytes, "%s%s", kind, message);
}

static void report_first(void* context, const char* file, uint32_t line, const char* message) {
    base_report_first* keeper = context;
    if (keeper->count++ == 0)
        format_message(keeper->text, sizeof keeper->text, file, line, message);
}

base_reporter base_reporter_first(base_report_first* keeper) {
    BASE_ASSERT(keeper);
    *keeper = (base_report_first){.count = 0};
    return (base_reporter){report_first, keeper};
}

static void report_stderr(void* context, const char* file, uint32_t line, const char* message) {
    (void)context;
    char text[2 * BASE_REPORT_BYTES_MAX];
    format_message(text, sizeof text, file, line, message);
    fprintf(stderr, "%s\n", text);
}

base_reporter base_reporter_stderr(void) {
    return (base_reporter){report_stderr, NULL};
}
