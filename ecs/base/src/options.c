// SPDX-License-Identifier: MIT
// One table of options, three sources. The command line is walked twice: first to check the names
// and to find --help and --config, and again at the end to apply the values, after the config file
// and the environment. A later value replaces an earlier one; that gives the precedence.
#include "base/options.h"

#include "base/assert.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// --help on one screen: usage, one line per common option with its default, and the names of the
// others beside the heading of their group; --help=all explains them. So a program with many
// options still fits.

enum { COLUMNS_MAX = 100, LEFT_COLUMNS_MAX = 28, LINE_BYTES_MAX = 512 };

// Text with a count that goes on when it no longer fits. Begin with {target, target_bytes, 0}.
typedef struct option_page {
    char* target;
    size_t target_bytes;
    size_t size;
} option_page;

// Append one line or a part of it, at most 511 bytes.
BASE_PRINTF(2, 3) static void option_page_add(option_page* help, const char* format, ...) {
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

static void* value_of(const base_options* options, const base_option* option) {
    return (char*)options->values + option->offset;
}

// The word with this number in "second|block|end". @return false: there are fewer words.
static bool get_word(const base_option* option, uint32_t number, const char** word, size_t* size) {
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

static const base_option_keys* keys_of(const base_options* options, const base_option* option) {
    for (uint32_t i = 0; i < options->keys_count; i++)
        if (strcmp(options->keys[i].name, option->name) == 0) return &options->keys[i];
    return NULL;
}

void base_options_value(const base_options* options, const base_option* option, char* target,
                        size_t target_bytes) {
    BASE_ASSERT(target && target_bytes > 0);
    target[0] = '\0';
    const void* value = value_of(options, option);
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
        if (get_word(option, *(const uint32_t*)value, &text, &size))
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
static void key_name_format(const base_option* key, char* target, size_t target_bytes) {
    const bool is_flag = key->kind == BASE_OPTION_FLAG;
    (void)base_text_format(target, target_bytes, "    %s%s%s%s", key->name, is_flag ? "" : "=",
                           is_flag ? "" : key->value, key->kind == BASE_OPTION_LIST ? "..." : "");
}

static size_t left_columns(const base_options* options, bool is_whole) {
    size_t columns = strlen(help_names(options));
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
    option_page_add(help, "  %-*s  %s%s\n", (int)columns, name, option->help, value);
}

// An option and its keys.
static void add_option(option_page* help, const base_options* options, const base_option* option,
                       bool is_whole, size_t columns) {
    char name[LINE_BYTES_MAX / 2];
    (void)option_name_format(option, name, sizeof name);
    add_row(help, options, option, name, columns);
    const base_option_keys* keys = is_whole ? keys_of(options, option) : NULL;
    for (uint32_t i = 0; keys && i < keys->count; i++) {
        key_name_format(&keys->keys[i], name, sizeof name);
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
        option_page_add(help, "%s--%s", is_full ? ",\n    " : before, name);
        column = is_full ? size + 2 : column + size;
        before = ", ";
    }
    if (column > 0) option_page_add(help, "\n");
}

static uint32_t option_index(const base_options* options, const char* name) {
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
        option_page_add(help, "%s:\n", title);
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
    option_page_add(&help, "usage: %s %s\n", options->program,
                    options->usage ? options->usage : "[options]");
    if (options->about) option_page_add(&help, "%s\n", options->about);
    const size_t columns = left_columns(options, is_whole);
    const uint32_t count = options->group_count;
    for (uint32_t i = 0; i < count; i++) {
        const base_option_group* group = &options->groups[i];
        const uint32_t end = i + 1 < count ? option_index(options, group[1].first) : options->count;
        add_group(&help, options, group->title, option_index(options, group->first), end, is_whole,
                  columns);
    }
    if (count == 0) add_group(&help, options, NULL, 0, options->count, is_whole, columns);
    option_page_add(&help, "  %-*s  Print this. Environment: --some-name is SHOAL_SOME_NAME.\n",
                    (int)columns, help_names(options));
    if (count > 0 && !is_whole)
        option_page_add(&help, "  %-*s  Explain all options, and the keys of each KEY=VALUE.\n",
                        (int)columns, "--help=all");
    return help.size;
}

// The manual page and the completion of bash, from the one table of options. The build asks each
// program for its own (scripts/package/install.cmake), so neither can be older than --help.
//
// The line of usage names the commands of a program: its words in small letters, between blanks and
// bars ("--game NAME | check FILE... | token").

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
    option_page_add(out, "%s", escaped);
}

// "shoal-server keygen" with `joint` between its words.
static void join_program(const base_options* options, char joint, char* target, size_t bytes) {
    base_text_copy(target, bytes, options->program);
    for (char* at = target; *at; at++)
        if (*at == ' ' || (joint == '_' && *at == '-')) *at = joint;
}

// The next word of the usage; *at moves behind it. @return false at the end.
static bool next_word(const char** at, char word[WORD_BYTES_MAX]) {
    size_t size = 0;
    while (**at == ' ' || **at == '|')
        ++*at;
    while (**at && **at != ' ' && **at != '|' && size + 1 < WORD_BYTES_MAX)
        word[size++] = *(*at)++;
    word[size] = '\0';
    return size > 0;
}

static bool is_command(const char* word) {
    if (!islower((unsigned char)word[0])) return false;
    for (const char* at = word; *at; at++)
        if (!islower((unsigned char)*at) && *at != '-') return false;
    return true;
}

static void add_manual_row(page* out, const base_options* options, const base_option* option,
                           const char* name) {
    char value[LINE_BYTES_MAX / 2];
    option_default_format(options, option, value, sizeof value);
    option_page_add(out, ".TP\n.B ");
    add_roff(out, name);
    option_page_add(out, "\n");
    add_roff(out, option->help);
    add_roff(out, value);
    if (option->max > option->min)
        option_page_add(out, ", %.15g to %.15g", option->min, option->max);
    option_page_add(out, "\n");
}

static void add_manual_option(page* out, const base_options* options, const base_option* option) {
    char name[LINE_BYTES_MAX / 2], whole[LINE_BYTES_MAX];
    (void)option_name_format(option, name, sizeof name);
    add_manual_row(out, options, option, name);
    const base_option_keys* keys = keys_of(options, option);
    for (uint32_t i = 0; keys && i < keys->count; i++) {
        key_name_format(&keys->keys[i], name, sizeof name);
        (void)base_text_format(whole, sizeof whole, "--%s%s", option->name, name + 3);
        add_manual_row(out, options, &keys->keys[i], whole);
    }
}

size_t base_options_manual(const base_options* options, char* target, size_t target_bytes) {
    BASE_ASSERT(options && (target || target_bytes == 0));
    page out = {target, target_bytes, 0};
    if (target_bytes > 0) target[0] = '\0';
    char name[WORD_BYTES_MAX];
    join_program(options, '-', name, sizeof name);
    option_page_add(&out, ".TH ");
    for (const char* at = name; *at; at++)
        option_page_add(&out, "%s%c", *at == '-' ? "\\" : "", toupper((unsigned char)*at));
    option_page_add(&out, " 1 \"\" \"%s\" \"Shoal\"\n.SH NAME\n",
                    options->version ? options->version : "Shoal");
    add_roff(&out, name);
    option_page_add(&out, " \\- ");
    add_roff(&out, options->about ? options->about : "a program of Shoal");
    option_page_add(&out, "\n.SH SYNOPSIS\n.B ");
    add_roff(&out, options->program);
    option_page_add(&out, "\n");
    add_roff(&out, options->usage ? options->usage : "[options]");
    option_page_add(&out, "\n.SH OPTIONS\n");
    for (uint32_t i = 0; i < options->count; i++) {
        for (uint32_t k = 0; k < options->group_count; k++)
            if (strcmp(options->groups[k].first, options->options[i].name) == 0)
                option_page_add(&out, ".SS %s\n", options->groups[k].title);
        add_manual_option(&out, options, &options->options[i]);
    }
    option_page_add(&out, ".TP\n.B \\-\\-help%s\nPrint a summary%s.\n",
                    options->version ? ", \\-\\-version" : "",
                    options->version ? ", or the version and commit" : "");
    option_page_add(&out, ".SH ENVIRONMENT\nEach option is also a variable: "
                          "\\-\\-some\\-name is SHOAL_SOME_NAME. The command line wins");
    option_page_add(&out,
                    options->config_text ? " over it, and it over \\-\\-config.\n" : " over it.\n");
    option_page_add(&out, ".SH EXIT STATUS\n0 means success; server/README.md lists all codes.\n"
                          ".SH SEE ALSO\n.BR shoal\\-server (1),\n.BR shoal\\-client (1),\n"
                          ".BR shoal\\-replay (1)\n.PP\n/usr/share/doc/shoal\n");
    return out.size;
}

// How bash completes the value of an option: "-f" files, "-W 'a b'" words, "" nothing.
static void value_completion(const base_option* option, char* target, size_t bytes) {
    const char* value = option->value ? option->value : "";
    char words[WORD_BYTES_MAX] = "";
    char word[WORD_BYTES_MAX];
    for (const char* at = value; next_word(&at, word);) {
        if (!is_command(word)) continue;
        const size_t used = strlen(words);
        base_text_format(words + used, sizeof words - used, "%s%s", used ? " " : "", word);
    }
    const bool is_file = strstr(value, "FILE") || strstr(value, ".tables");
    base_text_format(target, bytes, "%s%s%s%s", is_file ? "-f " : "", words[0] ? "-W '" : "", words,
                     words[0] ? "'" : "");
}

size_t base_options_completion(const base_options* options, char* target, size_t target_bytes) {
    BASE_ASSERT(options && (target || target_bytes == 0));
    page out = {target, target_bytes, 0};
    if (target_bytes > 0) target[0] = '\0';
    char name[WORD_BYTES_MAX], word[WORD_BYTES_MAX], how[LINE_BYTES_MAX / 2];
    join_program(options, '_', name, sizeof name);
    option_page_add(&out,
                    "_%s() {\n    local cur=${COMP_WORDS[COMP_CWORD]} "
                    "prev=${COMP_WORDS[COMP_CWORD-1]}\n    COMPREPLY=()\n",
                    name);
    if (!strchr(options->program, ' '))
        option_page_add(&out,
                        "    if [ \"$COMP_CWORD\" -gt 1 ] && declare -F "
                        "\"_%s_${COMP_WORDS[1]}\" >/dev/null; then\n"
                        "        \"_%s_${COMP_WORDS[1]}\"\n        return\n    fi\n",
                        name, name);
    option_page_add(&out, "    case $prev in\n");
    for (uint32_t i = 0; i < options->count; i++) {
        const base_option* option = &options->options[i];
        if (option->kind == BASE_OPTION_FLAG) continue;
        value_completion(option, how, sizeof how);
        option_page_add(&out, "        --%s)", option->name);
        if (how[0]) option_page_add(&out, " COMPREPLY=($(compgen %s -- \"$cur\"));", how);
        option_page_add(&out, " return ;;\n");
    }
    option_page_add(&out, "    esac\n    case $cur in\n        -*) COMPREPLY=($(compgen -W '");
    for (uint32_t i = 0; i < options->count; i++)
        option_page_add(&out, "--%s ", options->options[i].name);
    option_page_add(&out, "--help%s' -- \"$cur\")) ;;\n        *) COMPREPLY=($(compgen -f",
                    options->version ? " --version" : "");
    bool has_commands = false;
    for (const char* at = options->usage ? options->usage : ""; next_word(&at, word);) {
        if (!is_command(word)) continue;
        option_page_add(&out, "%s%s", has_commands ? " " : " -W '", word);
        has_commands = true;
    }
    option_page_add(&out, "%s -- \"$cur\")) ;;\n    esac\n}\n", has_commands ? "'" : "");
    if (!strchr(options->program, ' '))
        option_page_add(&out, "complete -o filenames -F _%s %s\n", name, options->program);
    return out.size;
}

enum { NAME_BYTES_MAX = 64, HELP_BYTES_MAX = 16384, LISTS_MAX = 16 };

// One source of values, and the place that faults in it are reported for.
typedef struct source {
    const base_options* options;
    const base_reporter* reporter;
    const char* file;
    uint32_t line;
    base_option_source kind;
    const base_option* keyed; // whose keys are read; NULL: none
    size_t* text_used;        // bytes of config_text, by all sources
    // The first value of a source drops those of weaker ones.
    const base_option_list* lists_begun[LISTS_MAX];
    uint32_t lists_begun_count;
} source;

static const base_option* find_row(const base_option* rows, uint32_t count, const char* name,
                                   size_t size) {
    for (uint32_t i = 0; i < count; i++)
        if (strlen(rows[i].name) == size && memcmp(rows[i].name, name, size) == 0) return &rows[i];
    return NULL;
}

static const base_option* find_option(const base_options* options, const char* name, size_t size) {
    return find_row(options->options, options->count, name, size);
}

// The option whose value has this part: "port" of "ADDR:PORT". NULL: none.
static const base_option* find_part(const base_options* options, const char* word) {
    for (uint32_t i = 0; i < options->count; i++) {
        const char* at = options->options[i].value;
        if (!at || !strpbrk(at, ":=")) continue;
        for (size_t length; *at; at += length + (at[length] != '\0')) {
            length = strcspn(at, ":=,");
            if (length == strlen(word) && strncasecmp(at, word, length) == 0)
                return &options->options[i];
        }
    }
    return NULL;
}

// What an option with this key was called: "log-keep", or "coder" of --tune.
static void old_name_format(const base_option* option, const base_option* key,
                            char name[NAME_BYTES_MAX]) {
    const bool has_value = option->kind != BASE_OPTION_KEYS;
    (void)base_text_format(name, NAME_BYTES_MAX, "%s%s%s", has_value ? option->name : "",
                           has_value ? "-" : "", key->name);
}

// Is it the name of an option that is a key now, or gone? Then say what does the same.
static bool report_gone(const source* from, const char* prefix, const char* word) {
    const base_options* options = from->options;
    for (uint32_t i = 0; i < options->gone_count; i++) {
        if (strcmp(word, options->gone[i].name) != 0) continue;
        base_report(from->reporter, from->file, from->line, "%s%s is gone: %s", prefix, word,
                    options->gone[i].now);
        return true;
    }
    for (uint32_t i = 0; i < options->count; i++) {
        const base_option* option = &options->options[i];
        const base_option_keys* keys = keys_of(options, option);
        for (uint32_t k = 0; keys && k < keys->count; k++) {
            char old[NAME_BYTES_MAX], name[LINE_BYTES_MAX / 2];
            old_name_format(option, &keys->keys[k], old);
            if (strcmp(old, word) != 0) continue;
            key_name_format(&keys->keys[k], name, sizeof name);
            const bool has_value = option->kind != BASE_OPTION_KEYS;
            base_report(from->reporter, from->file, from->line, "%s%s is gone: write %s%s %.*s%s%s",
                        prefix, word, prefix, option->name,
                        has_value ? (int)strcspn(option->value, ",") : 0, option->value,
                        has_value ? "," : "", name + strspn(name, " "));
            return true;
        }
    }
    return false;
}

static void report_unknown(const source* from, const char* prefix, const char* name, size_t size) {
    const char* names[BASE_OPTIONS_MAX + 1];
    uint32_t count = 0;
    for (; count < from->options->count; count++)
        names[count] = from->options->options[count].name;
    names[count++] = "help";
    char word[NAME_BYTES_MAX];
    if (size >= sizeof word) size = sizeof word - 1;
    memcpy(word, name, size);
    word[size] = '\0';
    if (report_gone(from, prefix, word)) return;
    const char* nearest = base_text_nearest(word, names, count);
    const base_option* whole = find_part(from->options, word);
    if (whole)
        base_report(from->reporter, from->file, from->line,
                    "unknown option %s%s: it is a part of %s%s %s", prefix, word, prefix,
                    whole->name, whole->value);
    else if (nearest)
        base_report(from->reporter, from->file, from->line,
                    "unknown option %s%s, did you mean %s%s?", prefix, word, prefix, nearest);
    else
        base_report(from->reporter, from->file, from->line, "unknown option %s%s%s", prefix, word,
                    *prefix ? ", see --help" : "");
}

static bool parse_flag(const char* value, bool* flag) {
    static const char* const words[] = {"false", "true", "0", "1", "no", "yes", "off", "on"};
    for (size_t i = 0; i < BASE_COUNT(words); i++)
        if (strcmp(value, words[i]) == 0) {
            *flag = i % 2;
            return true;
        }
    return false;
}

static bool is_in_range(const base_option* option, double value) {
    if (option->min == 0 && option->max == 0) return true;
    return value >= option->min && value <= option->max;
}

// Report a fault of an option, or of a key after the name of its option: "log: keep needs ...".
BASE_PRINTF(3, 4)
static bool refuse(const source* from, const base_option* option, const char* format, ...) {
    char text[LINE_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)base_text_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    base_report(from->reporter, from->file, from->line, "%s%s%s %s",
                from->keyed ? from->keyed->name : "", from->keyed ? ": " : "", option->name, text);
    return false;
}

static bool refuse_number(const source* from, const base_option* option, const char* expected,
                          const char* value) {
    if (option->min == 0 && option->max == 0)
        return refuse(from, option, "needs %s, not '%s'", expected, value);
    return refuse(from, option, "needs %s from %.15g to %.15g, not '%s'", expected, option->min,
                  option->max, value);
}

static bool refuse_range(const source* from, const base_option* option, const char* value) {
    return refuse(from, option, "is outside of %.15g to %.15g: '%s'", option->min, option->max,
                  value);
}

static bool add_to_list(source* from, const base_option* option, const char* value) {
    base_option_list* list = value_of(from->options, option);
    uint32_t begun = 0;
    while (begun < from->lists_begun_count && from->lists_begun[begun] != list)
        begun++;
    if (begun == from->lists_begun_count) {
        BASE_ASSERT(begun < LISTS_MAX);
        from->lists_begun[from->lists_begun_count++] = list;
        list->count = 0;
    }
    if (list->count == BASE_COUNT(list->values))
        return refuse(from, option, "is given more than %zu times", BASE_COUNT(list->values));
    list->values[list->count++] = value;
    return true;
}

static bool apply_word(const source* from, const base_option* option, const char* value) {
    const char* word;
    size_t size;
    for (uint32_t i = 0; get_word(option, i, &word, &size); i++) {
        if (strlen(value) != size || memcmp(value, word, size) != 0) continue;
        *(uint32_t*)value_of(from->options, option) = i;
        return true;
    }
    return refuse(from, option, "needs %.*s, not '%s'", (int)strcspn(option->value, ","),
                  option->value, value);
}

static bool apply_value(source* from, const base_option* option, const char* value) {
    void* target = value_of(from->options, option);
    uint64_t natural;
    double real;
    switch (option->kind) {
    case BASE_OPTION_FLAG:
        if (parse_flag(value, target)) return true;
        return refuse(from, option, "needs true or false, not '%s'", value);
    case BASE_OPTION_TEXT:
        *(const char**)target = value;
        return true;
    case BASE_OPTION_U64:
        if (!base_text_parse_u64(value, &natural))
            return refuse_number(from, option, "a natural number", value);
        if (!is_in_range(option, (double)natural)) return refuse_range(from, option, value);
        *(uint64_t*)target = natural;
        return true;
    case BASE_OPTION_F64:
        if (!base_text_parse_f64(value, &real))
            return refuse_number(from, option, "a number", value);
        if (!is_in_range(option, real)) return refuse_range(from, option, value);
        *(double*)target = real;
        return true;
    case BASE_OPTION_LIST:
        return add_to_list(from, option, value);
    case BASE_OPTION_WORD:
        return apply_word(from, option, value);
    case BASE_OPTION_KEYS:
        break;
    }
    BASE_ASSERT(false); // a kind outside of the enum, or without a value
    return false;
}

static bool refuse_key(const source* from, const base_option_keys* keys, const char* word) {
    base_nearest nearest = base_nearest_begin(word);
    char hint[BASE_HINT_BYTES], legal[LINE_BYTES_MAX], name[LINE_BYTES_MAX / 2];
    option_page list = {legal, sizeof legal, 0};
    for (uint32_t i = 0; i < keys->count; i++) {
        base_nearest_offer(&nearest, keys->keys[i].name);
        key_name_format(&keys->keys[i], name, sizeof name);
        option_page_add(&list, "%s%s", i > 0 ? ", " : "", name + strspn(name, " "));
    }
    base_report(from->reporter, from->file, from->line, "%s has no key '%s'%s (%s)", keys->name,
                word, base_nearest_hint(&nearest, hint), legal);
    return false;
}

// `text` NULL: the key has no value.
static bool apply_key(source* from, const base_option* option, const base_option_keys* keys,
                      const char* word, const char* text) {
    const base_option* key = find_row(keys->keys, keys->count, word, strlen(word));
    if (!key) return refuse_key(from, keys, word);
    if (!text && key->kind == BASE_OPTION_FLAG) text = "true";
    uint8_t* sources = from->options->sources;
    uint32_t index = from->options->count + (uint32_t)(key - keys->keys);
    for (const base_option_keys* before = from->options->keys; before < keys; before++)
        index += before->count;
    if (sources) sources[index] = (uint8_t)from->kind;
    from->keyed = option;
    const bool is_right = text ? apply_value(from, key, text)
                               : refuse(from, key, "needs a value: %s=%s", key->name, key->value);
    from->keyed = NULL;
    return is_right;
}

// "FILE,keep=3": a value, unless the first part is a key too, and keys.
static bool apply_with_keys(source* from, const base_option* option, const base_option_keys* keys,
                            const char* value) {
    const size_t size = strlen(value) + 1;
    const size_t left = from->options->config_text_bytes - *from->text_used;
    if (size > left) return refuse(from, option, "is longer than %zu bytes", left);
    char* rest = memcpy(from->options->config_text + *from->text_used, value, size);
    *from->text_used += size;
    for (bool is_first = true; rest; is_first = false) {
        char* text;
        char* word = base_text_cut_pair(&rest, &text);
        const base_option* key = find_row(keys->keys, keys->count, word, strlen(word));
        const bool is_key = text ? word[strspn(word, "abcdefghijklmnopqrstuvwxyz-")] == '\0'
                                 : key && key->kind == BASE_OPTION_FLAG;
        const bool is_value = is_first && !is_key && option->kind != BASE_OPTION_KEYS;
        if (is_value && text) text[-1] = '=';
        if (!(is_value ? apply_value(from, option, word)
                       : apply_key(from, option, keys, word, text)))
            return false;
    }
    return true;
}

static bool apply(source* from, const base_option* option, const char* value) {
    uint8_t* sources = from->options->sources;
    if (sources) sources[option - from->options->options] = (uint8_t)from->kind;
    const base_option_keys* keys = keys_of(from->options, option);
    return keys ? apply_with_keys(from, option, keys, value) : apply_value(from, option, value);
}

// One element of argv: an option with its value, or a positional word.
typedef struct argument {
    const base_option* option; // NULL: a positional word
    const char* value;
} argument;

// Read the element at *index and move past it and its value. `ended` is set by "--".
static base_options_result next_argument(const source* from, int argc, char** argv, int* index,
                                         bool* ended, argument* read) {
    const char* text = argv[(*index)++];
    *read = (argument){.value = text};
    if (*ended || text[0] != '-' || text[1] == '\0') return BASE_OPTIONS_OK;
    if (strcmp(text, "--") == 0) {
        *ended = true;
        read->value = NULL;
        return BASE_OPTIONS_OK;
    }
    static const char* const helps[] = {"--help", "-h", "--help=all", "--help=man", "--help=bash"};
    for (size_t i = 0; i < BASE_COUNT(helps); i++)
        if (strcmp(text, helps[i]) == 0) return BASE_OPTIONS_HELP;
    if (from->options->version && strcmp(text, "--version") == 0) return BASE_OPTIONS_HELP;
    const char* prefix = text[1] == '-' ? "--" : "-";
    const char* name = text + strlen(prefix);
    const char* equals = strchr(name, '=');
    size_t name_size = equals ? (size_t)(equals - name) : strlen(name);
    read->option = text[1] == '-' ? find_option(from->options, name, name_size) : NULL;
    if (!read->option) {
        report_unknown(from, prefix, name, name_size);
        return BASE_OPTIONS_ERROR;
    }
    if (equals) {
        read->value = equals + 1;
    } else if (read->option->kind == BASE_OPTION_FLAG) {
        read->value = "true";
    } else if (*index < argc) {
        read->value = argv[(*index)++];
    } else {
        base_report(from->reporter, from->file, 0, "--%s needs a value: --%s %s",
                    read->option->name, read->option->name,
                    read->option->value ? read->option->value : "VALUE");
        return BASE_OPTIONS_ERROR;
    }
    return BASE_OPTIONS_OK;
}

// `word` is --version, --help, -h, --help=all, --help=man or --help=bash.
static void print_help(const base_options* options, const char* word) {
    if (strcmp(word, "--version") == 0) {
        printf("%s %s\n", options->program, options->version);
        return;
    }
    char help[HELP_BYTES_MAX];
    if (strcmp(word, "--help=man") == 0)
        (void)base_options_manual(options, help, sizeof help);
    else if (strcmp(word, "--help=bash") == 0)
        (void)base_options_completion(options, help, sizeof help);
    else
        (void)base_options_help(options, strcmp(word, "--help=all") == 0, help, sizeof help);
    fputs(help, stdout);
}

// First walk: names are known, nothing is written. *config is the last value of --config.
static base_options_result check_arguments(const source* from, int argc, char** argv,
                                           const char** config) {
    bool ended = false;
    for (int i = 1; i < argc;) {
        argument read;
        base_options_result result = next_argument(from, argc, argv, &i, &ended, &read);
        if (result == BASE_OPTIONS_HELP) print_help(from->options, read.value);
        if (result != BASE_OPTIONS_OK) return result;
        if (read.option && strcmp(read.option->name, "config") == 0) *config = read.value;
    }
    return BASE_OPTIONS_OK;
}

static bool apply_arguments(source* from, int argc, char** argv, base_option_list* words) {
    bool ended = false;
    for (int i = 1; i < argc;) {
        argument read;
        if (next_argument(from, argc, argv, &i, &ended, &read) != BASE_OPTIONS_OK) return false;
        if (read.option) {
            if (!apply(from, read.option, read.value)) return false;
        } else if (read.value) {
            if (!words || words->count == BASE_COUNT(words->values)) {
                base_report(from->reporter, from->file, 0, "unexpected argument '%s'", read.value);
                return false;
            }
            words->values[words->count++] = read.value;
        }
    }
    return true;
}

// "tick-rate" is SHOAL_TICK_RATE.
static const char* find_in_environment(const char* option, char* name, size_t name_bytes) {
    bool fits = base_text_format(name, name_bytes, "SHOAL_%s", option);
    BASE_ASSERT(fits);
    for (char* at = name; *at; at++) {
        if (*at == '-') *at = '_';
        if (*at >= 'a' && *at <= 'z') *at = (char)(*at - 'a' + 'A');
    }
    return getenv(name);
}

static bool is_gone_variable(source* from, const char* option) {
    char name[NAME_BYTES_MAX];
    from->file = name;
    return !find_option(from->options, option, strlen(option)) &&
           find_in_environment(option, name, sizeof name) && report_gone(from, "", option);
}

static bool has_gone_variable(source* from) {
    const base_options* options = from->options;
    for (uint32_t i = 0; i < options->gone_count; i++)
        if (is_gone_variable(from, options->gone[i].name)) return true;
    for (uint32_t i = 0; i < options->keys_count; i++) {
        const base_option_keys* keys = &options->keys[i];
        const base_option* option = find_option(options, keys->name, strlen(keys->name));
        for (uint32_t k = 0; k < keys->count; k++) {
            char old[NAME_BYTES_MAX];
            old_name_format(option, &keys->keys[k], old);
            if (is_gone_variable(from, old)) return true;
        }
    }
    return false;
}

static bool apply_environment(source* from) {
    for (uint32_t i = 0; i < from->options->count; i++) {
        char name[NAME_BYTES_MAX];
        const base_option* option = &from->options->options[i];
        const char* value = find_in_environment(option->name, name, sizeof name);
        from->file = name;
        if (value && !apply(from, option, value)) return false;
    }
    return !has_gone_variable(from);
}

static char* trim(char* text) {
    while (*text == ' ' || *text == '\t')
        text++;
    size_t size = strlen(text);
    while (size > 0 && strchr(" \t\r", text[size - 1]))
        text[--size] = '\0';
    return text;
}

static bool apply_config_line(source* from, char* line) {
    char* key = trim(line);
    if (*key == '\0' || *key == '#') return true;
    char* equals = strchr(key, '=');
    if (!equals) {
        base_report(from->reporter, from->file, from->line, "expected key = value");
        return false;
    }
    *equals = '\0';
    key = trim(key);
    if (strcmp(key, "config") == 0) {
        base_report(from->reporter, from->file, from->line,
                    "config cannot be given in a config file");
        return false;
    }
    const base_option* option = find_option(from->options, key, strlen(key));
    if (!option) {
        report_unknown(from, "", key, strlen(key));
        return false;
    }
    return apply(from, option, trim(equals + 1));
}

static bool apply_config(source* from) {
    char* text = from->options->config_text;
    size_t text_bytes = from->options->config_text_bytes;
    BASE_ASSERT(text && text_bytes > 0);
    FILE* file = fopen(from->file, "rb");
    if (!file) {
        base_report(from->reporter, from->file, 0, "cannot open: %s", strerror(errno));
        return false;
    }
    size_t size = fread(text, 1, text_bytes, file);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed || size == text_bytes) {
        base_report(from->reporter, from->file, 0, failed ? "cannot read" : "longer than %zu bytes",
                    text_bytes - 1);
        return false;
    }
    text[size] = '\0';
    *from->text_used = size + 1;
    for (char* line = text; line;) {
        char* end = strchr(line, '\n');
        if (end) *end++ = '\0';
        from->line++;
        if (!apply_config_line(from, line)) return false;
        line = end;
    }
    return true;
}

static void check_rows(const base_option* rows, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        BASE_ASSERT(rows[i].name && rows[i].help &&
                    (rows[i].value || rows[i].kind != BASE_OPTION_WORD));
}

static void check_table(const base_options* options) {
    BASE_ASSERT(options->count <= BASE_OPTIONS_MAX && options->values);
    check_rows(options->options, options->count);
    BASE_ASSERT(options->keys_count == 0 || options->config_text);
    for (uint32_t i = 0; i < options->keys_count; i++) {
        BASE_ASSERT(find_option(options, options->keys[i].name, strlen(options->keys[i].name)));
        check_rows(options->keys[i].keys, options->keys[i].count);
    }
    for (uint32_t i = 0; i < options->group_count; i++)
        BASE_ASSERT(option_index(options, options->groups[i].first) < options->count);
}

base_options_result base_options_read(const base_options* options, int argc, char** argv,
                                      base_option_list* words, const base_reporter* reporter) {
    check_table(options);
    if (words) words->count = 0;
    char name[NAME_BYTES_MAX];
    const base_option* config_option = find_option(options, "config", strlen("config"));
    const char* config = NULL;
    if (config_option) config = find_in_environment(config_option->name, name, sizeof name);

    size_t text_used = 0;
    source arguments = {.options = options,
                        .reporter = reporter,
                        .text_used = &text_used,
                        .file = options->program,
                        .kind = BASE_OPTION_BY_COMMAND_LINE};
    uint32_t count = options->count;
    for (uint32_t i = 0; i < options->keys_count; i++)
        count += options->keys[i].count;
    BASE_ASSERT(count <= BASE_OPTION_SOURCES_MAX);
    if (options->sources) memset(options->sources, BASE_OPTION_BY_DEFAULT, count);
    base_options_result result = check_arguments(&arguments, argc, argv, &config);
    if (result != BASE_OPTIONS_OK) return result;

    source file = arguments, environment = arguments;
    file.file = config;
    file.kind = BASE_OPTION_BY_FILE;
    environment.kind = BASE_OPTION_BY_ENVIRONMENT;
    if (config && !apply_config(&file)) return BASE_OPTIONS_ERROR;
    if (!apply_environment(&environment)) return BASE_OPTIONS_ERROR;
    return apply_arguments(&arguments, argc, argv, words) ? BASE_OPTIONS_OK : BASE_OPTIONS_ERROR;
}
