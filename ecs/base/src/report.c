// SPDX-License-Identifier: MIT
// Messages about foreign text. They quote that text, so bytes that could control a terminal or fake
// a line of a log are replaced before a reporter gets the message.
#include "base/report.h"

#include "base/assert.h"
#include "base/shown.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// UTF-8, one character at a time, and a list of characters that must not be shown. They turn the
// direction of the text, have no width, or end a line.

typedef struct hidden_range {
    uint32_t first, last;
} hidden_range;

static const hidden_range HIDDEN[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},       {0x34F, 0x34F},     {0x61C, 0x61C},
    {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},
    {0x2060, 0x206F}, {0x2800, 0x2800}, {0x3164, 0x3164},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

static bool is_hidden(uint32_t code) {
    if (code >= 0x20 && code < 0x7F) return false; // nearly all
    if ((code & 0xFFFE) == 0xFFFE) return true;    // no character
    for (uint32_t i = 0; i < BASE_COUNT(HIDDEN); i++)
        if (code >= HIDDEN[i].first && code <= HIDDEN[i].last) return true;
    return false;
}

uint32_t base_shown_next(const char* at, uint32_t* code, bool* is_shown) {
    BASE_ASSERT(at && *at && code && is_shown);
    const unsigned char* bytes = (const unsigned char*)at;
    const uint32_t size = base_text_character(at, 4); // the NUL ends one that is cut off
    *code = size == 0 ? UINT32_MAX : size == 1 ? bytes[0] : bytes[0] & (0x7Fu >> size);
    for (uint32_t i = 1; i < size; i++)
        *code = *code << 6 | (bytes[i] & 0x3Fu);
    *is_shown = size > 0 && !is_hidden(*code);
    return size > 0 ? size : 1;
}

const char* base_shown_quote(char* target, size_t target_bytes, const char* source) {
    BASE_ASSERT(target && target_bytes >= 3 && source);
    size_t length = 0;
    target[length++] = '"';
    while (*source) {
        uint32_t code;
        bool is_shown;
        const uint32_t size = base_shown_next(source, &code, &is_shown);
        const uint32_t escaped = *source == '"' || *source == '\\';
        if (is_shown) {
            if (length + escaped + size + 2 > target_bytes) break;
            if (escaped) target[length++] = '\\';
            memcpy(target + length, source, size);
            length += size;
        }
        source += size;
    }
    target[length++] = '"';
    target[length] = '\0';
    return target;
}

// `instead` ("?" or "") replaces bytes that are not shown. `target` may be the source.
static bool copy_shown(char* target, size_t target_bytes, const char* source, const char* instead) {
    size_t length = 0;
    bool is_visible = false;
    while (*source) {
        uint32_t code;
        bool is_shown;
        const uint32_t size = base_shown_next(source, &code, &is_shown);
        const size_t some = is_shown ? size : strlen(instead);
        if (length + some >= target_bytes) break;
        is_visible = is_visible || (is_shown && *source != ' ');
        memmove(target + length, is_shown ? source : instead, some);
        length += some;
        source += size;
    }
    target[length] = '\0';
    return is_visible;
}

bool base_shown_copy(char* target, size_t target_bytes, const char* source) {
    BASE_ASSERT(target && source);
    return target_bytes > 0 && copy_shown(target, target_bytes, source, "");
}

bool base_report(const base_reporter* reporter, const char* file, uint32_t line, const char* format,
                 ...) {
    if (!reporter || !reporter->report) return false;
    char text[2 * BASE_REPORT_BYTES_MAX], message[BASE_REPORT_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    int size = base_text_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size < 0) (void)base_text_copy(text, sizeof text, "(unprintable message)");
    if (!base_text_copy_public(message, sizeof message, text))
        memcpy(message + sizeof message - 4, "...", 4);
    (void)copy_shown(message, sizeof message, message, "?");
    if (file) (void)base_text_copy_public(text, sizeof text, file);
    reporter->report(reporter->context, file ? text : NULL, line, message);
    return false;
}

size_t base_report_kind(const char* message) {
    static const char* const kinds[] = {"warning: ", "note: ", "debug: "};
    for (uint32_t i = 0; i < BASE_COUNT(kinds); i++)
        if (strncmp(message, kinds[i], strlen(kinds[i])) == 0) return strlen(kinds[i]);
    return 0;
}

void base_report_text(char* target, size_t target_bytes, const char* file, uint32_t line,
                      const char* message) {
    const char* kind = base_report_kind(message) > 0 ? "" : "error: ";
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
        base_report_text(keeper->text, sizeof keeper->text, file, line, message);
}

base_reporter base_reporter_first(base_report_first* keeper) {
    BASE_ASSERT(keeper);
    *keeper = (base_report_first){.count = 0};
    return (base_reporter){report_first, keeper};
}

static void report_stderr(void* context, const char* file, uint32_t line, const char* message) {
    (void)context;
    char text[BASE_REPORT_TEXT_BYTES];
    if (message[0] == 'd' && base_report_kind(message) > 0) return;
    base_report_text(text, sizeof text, file, line, message);
    fprintf(stderr, "%s\n", text);
}

base_reporter base_reporter_stderr(void) {
    return (base_reporter){report_stderr, NULL};
}
