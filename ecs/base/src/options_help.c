// SPDX-License-Identifier: MIT
// --help on one screen: usage, one line per option with its default, and one paragraph with the
// names of the rare options, which --help=all explains. So a program with many options still fits.
#include "options_page.h"

#include "base/assert.h"
#include "base/text.h"

#include <stdarg.h>
#include <string.h>

enum { COLUMNS_MAX = 100, LEFT_COLUMNS_MAX = 28, LINE_BYTES_MAX = 512 };

void base_option_page_add(base_option_page* help, const char* format, ...) {
    char line[LINE_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    int size = base_text_vformat(line, sizeof line, format, arguments);
    va_end(arguments);
    if (size < 0) return;
    if (help->size < help->target_bytes)
        (void)base_text_copy(help->target + help->size, help->target_bytes - help->size, line);
    help->size += strlen(line);
}

size_t base_option_name_format(const base_option* option, char* target, size_t target_bytes) {
    const char* value = option->value ? option->value : "VALUE";
    bool has_value = option->kind != BASE_OPTION_FLAG;
    const char* repeated = option->kind == BASE_OPTION_LIST ? "..." : "";
    (void)base_text_format(target, target_bytes, "--%s%s%s%s", option->name, has_value ? " " : "",
                           has_value ? value : "", repeated);
    return strlen(target);
}

void base_option_default_format(const base_option* option, char* target, size_t target_bytes) {
    target[0] = '\0';
    if (strstr(option->help, "default")) return;
    const char* text;
    switch (option->kind) {
    case BASE_OPTION_TEXT:
        text = *(const char**)option->target;
        if (text && *text) (void)base_text_format(target, target_bytes, " (default %s)", text);
        break;
    case BASE_OPTION_U64:
        (void)base_text_format(target, target_bytes, " (default %llu)",
                               (unsigned long long)*(uint64_t*)option->target);
        break;
    case BASE_OPTION_F64:
        (void)base_text_format(target, target_bytes, " (default %g)", *(double*)option->target);
        break;
    case BASE_OPTION_FLAG:
    case BASE_OPTION_LIST:
        break;
    }
}

static const char* help_names(const base_options* options) {
    return options->version ? "--help, --version" : "--help";
}

static uint32_t count_common(const base_options* options) {
    uint32_t count = 0;
    while (count < options->count &&
           !(options->first_rare && strcmp(options->options[count].name, options->first_rare) == 0))
        count++;
    return count;
}

static size_t left_columns(const base_options* options, uint32_t count) {
    size_t columns = strlen(help_names(options));
    for (uint32_t i = 0; i < count; i++) {
        char name[LINE_BYTES_MAX];
        size_t size = base_option_name_format(&options->options[i], name, sizeof name);
        if (size > columns && size <= LEFT_COLUMNS_MAX) columns = size;
    }
    return columns;
}

static void add_option(base_option_page* help, const base_option* option, size_t columns) {
    char name[LINE_BYTES_MAX / 2], value[LINE_BYTES_MAX / 2];
    size_t size = base_option_name_format(option, name, sizeof name);
    base_option_default_format(option, value, sizeof value);
    // The default is the least important part of a line.
    size_t line_columns = 4 + (size > columns ? size : columns) + strlen(option->help);
    if (line_columns + strlen(value) > COLUMNS_MAX) value[0] = '\0';
    base_option_page_add(help, "  %-*s  %s%s\n", (int)columns, name, option->help, value);
}

static void add_names(base_option_page* help, const base_options* options, uint32_t first) {
    const char* before = "  --help=all explains: ";
    size_t column = strlen(before);
    for (uint32_t i = first; i < options->count; i++) {
        char name[LINE_BYTES_MAX];
        size_t size = base_option_name_format(&options->options[i], name, sizeof name);
        const bool is_full = column + size + 3 > COLUMNS_MAX;
        base_option_page_add(help, "%s%s", is_full ? "\n  " : before, name);
        column = size + 2 + (is_full ? 0 : column);
        before = ", ";
    }
    if (first < options->count) base_option_page_add(help, "\n");
}

size_t base_options_help(const base_options* options, bool is_whole, char* target,
                         size_t target_bytes) {
    BASE_ASSERT(options && (target || target_bytes == 0));
    base_option_page help = {target, target_bytes, 0};
    if (target_bytes > 0) target[0] = '\0';
    base_option_page_add(&help, "usage: %s %s\n", options->program,
                         options->usage ? options->usage : "[options]");
    if (options->about) base_option_page_add(&help, "%s\n", options->about);
    const uint32_t count = is_whole ? options->count : count_common(options);
    size_t columns = left_columns(options, count);
    for (uint32_t i = 0; i < count; i++)
        add_option(&help, &options->options[i], columns);
    base_option_page_add(&help,
                         "  %-*s  Print this. Environment: --some-name is SHOAL_SOME_NAME.\n",
                         (int)columns, help_names(options));
    add_names(&help, options, count);
    return help.size;
}
