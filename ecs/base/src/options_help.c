// SPDX-License-Identifier: MIT
#include "options_help.h"

#include "base/assert.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

// --help on one screen: usage, one line per common option with its default, and the names of the
// others beside the heading of their group; --help=all explains them. So a program with many
// options still fits.

enum { COLUMNS_MAX = 100, LEFT_COLUMNS_MAX = 28 };

// Append one line or a part of it, at most 511 bytes.
void base_option_page_add(option_page* help, const char* format, ...) {
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

// Write "--tick-rate HZ". @return its bytes.
static size_t option_name_format(const base_option* option, char* target, size_t target_bytes) {
    const char* value = option->value ? option->value : "VALUE";
    bool has_value = option->kind != BASE_OPTION_FLAG;
    const char* repeated = option->kind == BASE_OPTION_LIST ? "..." : "";
    (void)base_text_format(target, target_bytes, "--%s%s%s%s", option->name, has_value ? " " : "",
                           has_value ? value : "", repeated);
    return strlen(target);
}

void* base_option_value(const base_options* options, const base_option* option) {
    return (char*)options->values + option->offset;
}

// The word with this number in "second|block|end". @return false: there are fewer words.
bool base_option_get_word(const base_option* option, uint32_t number, const char** word,
                          size_t* size) {
    *word = option->value;
    for (; number > 0 && *word; number--) {
        *word = strchr(*word, '|');
        if (*word) ++*word;
    }
    if (*word) *size = strcspn(*word, "|,");
    return *word != NULL;
}

static void list_value(const base_option_list* list, char* target, size_t target_bytes) {
    size_t size = 0;
    for (uint32_t i = 0; i < list->count && size + 1 < target_bytes; i++) {
        if (i > 0) target[size++] = ' ';
        (void)base_text_copy_public(target + size, target_bytes - size, list->values[i]);
        size += strlen(target + size);
    }
}

const base_option_keys* base_option_keys_of(const base_options* options,
                                            const base_option* option) {
    for (uint32_t i = 0; i < options->keys_count; i++)
        if (strcmp(options->keys[i].name, option->name) == 0) return &options->keys[i];
    return NULL;
}

void base_options_value(const base_options* options, const base_option* option, char* target,
                        size_t target_bytes) {
    BASE_ASSERT(target && target_bytes > 0);
    target[0] = '\0';
    const void* value = base_option_value(options, option);
    const char* text;
    size_t size;
    switch (option->kind) {
    case BASE_OPTION_TEXT:
        text = *(const char* const*)value;
        if (text) (void)base_text_copy_public(target, target_bytes, text);
        break;
    case BASE_OPTION_U64:
        (void)base_text_format(target, target_bytes, "%llu",
                               (unsigned long long)*(const uint64_t*)value);
        break;
    case BASE_OPTION_F64:
        (void)base_text_format(target, target_bytes, "%g", *(const double*)value);
        break;
    case BASE_OPTION_WORD:
        if (base_option_get_word(option, *(const uint32_t*)value, &text, &size))
            (void)base_text_format(target, target_bytes, "%.*s", (int)size, text);
        break;
    case BASE_OPTION_FLAG:
        (void)base_text_copy(target, target_bytes, *(const bool*)value ? "true" : "false");
        break;
    case BASE_OPTION_LIST:
        list_value(value, target, target_bytes);
        break;
    case BASE_OPTION_KEYS:
        break;
    }
}

// Write " (default 60)", or "" when there is none, or the help has it.
static void option_default_format(const base_options* options, const base_option* option,
                                  char* target, size_t target_bytes) {
    char value[LINE_BYTES_MAX / 2] = "";
    target[0] = '\0';
    if (strstr(option->help, "default")) return;
    if (option->kind != BASE_OPTION_FLAG && option->kind != BASE_OPTION_LIST)
        base_options_value(options, option, value, sizeof value);
    if (value[0]) (void)base_text_format(target, target_bytes, " (default %s)", value);
}

const char* base_option_source_name(base_option_source source) {
    static const char* const names[] = {"default", "file", "environment", "command line"};
    BASE_ASSERT(source < BASE_COUNT(names));
    return names[source];
}

static const char* help_names(const base_options* options) {
    return options->version ? "--help, --version" : "--help";
}

static bool is_common(const base_options* options, const base_option* option) {
    const size_t size = strlen(option->name);
    for (const char* at = options->common; at && *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        if (length == size && memcmp(at, option->name, size) == 0) return true;
        at += length;
    }
    return !options->common;
}

// Write "    keep=N", or "    optional" for a flag.
void base_option_key_format(const base_option* key, char* target, size_t target_bytes) {
    const bool is_flag = key->kind == BASE_OPTION_FLAG;
    (void)base_text_format(target, target_bytes, "    %s%s%s%s", key->name, is_flag ? "" : "=",
                           is_flag ? "" : key->value, key->kind == BASE_OPTION_LIST ? "..." : "");
}

static size_t left_columns(const base_options* options, bool is_whole) {
    size_t columns = strlen(options->version ? help_names(options) : "--check-options");
    for (uint32_t i = 0; i < options->count; i++) {
        char name[LINE_BYTES_MAX];
        if (!is_whole && !is_common(options, &options->options[i])) continue;
        size_t size = option_name_format(&options->options[i], name, sizeof name);
        if (size > columns && size <= LEFT_COLUMNS_MAX) columns = size;
    }
    return columns;
}

static void add_row(option_page* help, const base_options* options, const base_option* option,
                    const char* name, size_t columns) {
    char value[LINE_BYTES_MAX / 2];
    const size_t size = strlen(name);
    option_default_format(options, option, value, sizeof value);
    // The default is the least important part of a line.
    size_t line_columns = 4 + (size > columns ? size : columns) + strlen(option->help);
    if (line_columns + strlen(value) > COLUMNS_MAX) value[0] = '\0';
    base_option_page_add(help, "  %-*s  %s%s\n", (int)columns, name, option->help, value);
}

// An option and its keys.
static void add_option(option_page* help, const base_options* options, const base_option* option,
                       bool is_whole, size_t columns) {
    char name[LINE_BYTES_MAX / 2];
    (void)option_name_format(option, name, sizeof name);
    add_row(help, options, option, name, columns);
    const base_option_keys* keys = is_whole ? base_option_keys_of(options, option) : NULL;
    for (uint32_t i = 0; keys && i < keys->count; i++) {
        base_option_key_format(&keys->keys[i], name, sizeof name);
        add_row(help, options, &keys->keys[i], name, columns);
    }
}

// The options [first, end) that are not explained, as names after `before`.
static void add_names(option_page* help, const base_options* options, uint32_t first, uint32_t end,
                      const char* before) {
    size_t column = 0;
    for (uint32_t i = first; i < end; i++) {
        const char* name = options->options[i].name;
        const size_t size = strlen(before) + strlen("--") + strlen(name);
        if (is_common(options, &options->options[i])) continue;
        const bool is_full = column + size + 1 > COLUMNS_MAX;
        base_option_page_add(help, "%s--%s", is_full ? ",\n    " : before, name);
        column = is_full ? size + 2 : column + size;
        before = ", ";
    }
    if (column > 0) base_option_page_add(help, "\n");
}

uint32_t base_option_index(const base_options* options, const char* name) {
    uint32_t i = 0;
    while (i < options->count && strcmp(options->options[i].name, name) != 0)
        i++;
    return i;
}

// The options [first, end) under their heading.
static void add_group(option_page* help, const base_options* options, const char* title,
                      uint32_t first, uint32_t end, bool is_whole, size_t columns) {
    char before[LINE_BYTES_MAX / 2] = "  --help=all explains: ";
    if (title) (void)base_text_format(before, sizeof before, "%s: ", title);
    bool has_rare = false;
    for (uint32_t i = first; !is_whole && i < end; i++)
        has_rare |= !is_common(options, &options->options[i]);
    if (title && has_rare)
        add_names(help, options, first, end, before);
    else if (title)
        base_option_page_add(help, "%s:\n", title);
    for (uint32_t i = first; i < end; i++)
        if (is_whole || is_common(options, &options->options[i]))
            add_option(help, options, &options->options[i], is_whole, columns);
    if (!title && has_rare) add_names(help, options, first, end, before);
}

size_t base_options_help(const base_options* options, bool is_whole, char* target,
                         size_t target_bytes) {
    BASE_ASSERT(options && (target || target_bytes == 0));
    option_page help = {target, target_bytes, 0};
    if (target_bytes > 0) target[0] = '\0';
    base_option_page_add(&help, "usage: %s %s\n", options->program,
                         options->usage ? options->usage : "[options]");
    if (options->about) base_option_page_add(&help, "%s\n", options->about);
    const size_t columns = left_columns(options, is_whole);
    const uint32_t count = options->group_count;
    for (uint32_t i = 0; i < count; i++) {
        const base_option_group* group = &options->groups[i];
        const uint32_t end =
            i + 1 < count ? base_option_index(options, group[1].first) : options->count;
        add_group(&help, options, group->title, base_option_index(options, group->first), end,
                  is_whole, columns);
    }
    if (count == 0) add_group(&help, options, NULL, 0, options->count, is_whole, columns);
    base_option_page_add(&help,
                         "  %-*s  Print this. Environment: --some-name is SHOAL_SOME_NAME.\n"
                         "  %-*s  Only check the options.%s\n",
                         (int)columns, help_names(options), (int)columns, "--check-options",
                         count > 0 && !is_whole ? " --help=all explains all, and their keys." : "");
    return help.size;
}

// The manual page, from the one table of options. The build asks each program for its own
// (scripts/package/install.cmake), so none can be older than --help.

enum { WORD_BYTES_MAX = 128 };

typedef option_page page;

// Text for roff: a minus and a backslash are escaped, a line does not begin with a point or quote.
static void add_roff(page* out, const char* text) {
    char escaped[LINE_BYTES_MAX];
    size_t size = 0;
    for (const char* at = text; *at && size + 4 < sizeof escaped; at++) {
        if (*at == '-' || *at == '\\') escaped[size++] = '\\';
        if (at == text && (*at == '.' || *at == '\'')) {
            memcpy(escaped + size, "\\&", 2);
            size += 2;
        }
        escaped[size++] = *at == '\\' ? 'e' : *at;
    }
    escaped[size] = '\0';
    base_option_page_add(out, "%s", escaped);
}

static void add_manual_row(page* out, const base_options* options, const base_option* option,
                           const char* name) {
    char value[LINE_BYTES_MAX / 2];
    option_default_format(options, option, value, sizeof value);
    base_option_page_add(out, ".TP\n.B ");
    add_roff(out, name);
    base_option_page_add(out, "\n");
    add_roff(out, option->help);
    add_roff(out, value);
    if (option->max > option->min)
        base_option_page_add(out, ", %.15g to %.15g", option->min, option->max);
    base_option_page_add(out, "\n");
}

static void add_manual_option(page* out, const base_options* options, const base_option* option) {
    char name[LINE_BYTES_MAX / 2], whole[LINE_BYTES_MAX];
    (void)option_name_format(option, name, sizeof name);
    add_manual_row(out, options, option, name);
    const base_option_keys* keys = base_option_keys_of(options, option);
    for (uint32_t i = 0; keys && i < keys->count; i++) {
        base_option_key_format(&keys->keys[i], name, sizeof name);
        (void)base_text_format(whole, sizeof whole, "--%s%s", option->name, name + 3);
        add_manual_row(out, options, &keys->keys[i], whole);
    }
}

size_t base_options_manual(const base_options* options, char* target, size_t target_bytes) {
    BASE_ASSERT(options && (target || target_bytes == 0));
    page out = {target, target_bytes, 0};
    if (target_bytes > 0) target[0] = '\0';
    char name[WORD_BYTES_MAX];
    base_text_copy(name, sizeof name, options->program);
    for (char* at = name; (at = strchr(at, ' ')) != NULL;) // of a command, "shoal-server keygen"
        *at = '-';
    base_option_page_add(&out, ".TH ");
    for (const char* at = name; *at; at++)
        base_option_page_add(&out, "%s%c", *at == '-' ? "\\" : "", toupper((unsigned char)*at));
    base_option_page_add(&out, " 1 \"\" \"%s\" \"Shoal\"\n.SH NAME\n",
                         options->version ? options->version : "Shoal");
    add_roff(&out, name);
    base_option_page_add(&out, " \\- ");
    add_roff(&out, options->about ? options->about : "a program of Shoal");
    base_option_page_add(&out, "\n.SH SYNOPSIS\n.B ");
    add_roff(&out, options->program);
    base_option_page_add(&out, "\n");
    add_roff(&out, options->usage ? options->usage : "[options]");
    base_option_page_add(&out, "\n.SH OPTIONS\n");
    for (uint32_t i = 0; i < options->count; i++) {
        for (uint32_t k = 0; k < options->group_count; k++)
            if (strcmp(options->groups[k].first, options->options[i].name) == 0)
                base_option_page_add(&out, ".SS %s\n", options->groups[k].title);
        add_manual_option(&out, options, &options->options[i]);
    }
    base_option_page_add(&out, ".TP\n.B \\-\\-help%s\nPrint a summary%s.\n",
                         options->version ? ", \\-\\-version" : "",
                         options->version ? ", or the version and commit" : "");
    base_option_page_add(&out, ".TP\n.B \\-\\-check\\-options\nOnly check the options.\n");
    base_option_page_add(&out, ".SH ENVIRONMENT\nEach option is also a variable: "
                               "\\-\\-some\\-name is SHOAL_SOME_NAME. The command line wins");
    base_option_page_add(&out, options->config_text ? " over it, and it over \\-\\-config.\n"
                                                    : " over it.\n");
    base_option_page_add(&out,
                         ".SH EXIT STATUS\n0 means success; server/README.md lists all codes.\n"
                         ".SH SEE ALSO\n.BR shoal\\-server (1),\n.BR shoal\\-client (1),\n"
                         ".BR shoal\\-replay (1)\n.PP\n/usr/share/doc/shoal\n");
    return out.size;
}
