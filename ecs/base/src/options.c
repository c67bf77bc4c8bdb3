// SPDX-License-Identifier: MIT
// One table of options, three sources. The command line is walked twice: first to check the names
// and to find --help and --config, and again at the end to apply the values, after the config file
// and the environment. A later value replaces an earlier one; that gives the precedence.
#include "base/options.h"

#include "base/assert.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 64, HELP_BYTES_MAX = 16384 };

// One source of values, and the place that faults in it are reported for.
typedef struct source {
    const base_options* options;
    const base_reporter* reporter;
    const char* file;
    uint32_t line;
    uint64_t lists_begun; // bit per option: the first value of a source drops those of weaker ones
} source;

static const base_option* find_option(const base_options* options, const char* name, size_t size) {
    for (uint32_t i = 0; i < options->count; i++) {
        const char* known = options->options[i].name;
        if (strlen(known) == size && memcmp(known, name, size) == 0) return &options->options[i];
    }
    return NULL;
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
    const char* nearest = base_text_nearest(word, names, count);
    if (nearest)
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

static bool refuse_range(const source* from, const base_option* option, const char* value) {
    base_report(from->reporter, from->file, from->line, "%s is outside of %.15g to %.15g: '%s'",
                option->name, option->min, option->max, value);
    return false;
}

static bool refuse_value(const source* from, const base_option* option, const char* expected,
                         const char* value) {
    base_report(from->reporter, from->file, from->line, "%s needs %s, not '%s'", option->name,
                expected, value);
    return false;
}

static bool add_to_list(source* from, const base_option* option, const char* value) {
    base_option_list* list = option->target;
    uint64_t bit = UINT64_C(1) << (option - from->options->options);
    if (!(from->lists_begun & bit)) list->count = 0;
    from->lists_begun |= bit;
    if (list->count == BASE_COUNT(list->values)) {
        base_report(from->reporter, from->file, from->line, "%s is given more than %zu times",
                    option->name, BASE_COUNT(list->values));
        return false;
    }
    list->values[list->count++] = value;
    return true;
}

static bool apply(source* from, const base_option* option, const char* value) {
    uint64_t natural;
    double real;
    switch (option->kind) {
    case BASE_OPTION_FLAG:
        if (parse_flag(value, option->target)) return true;
        return refuse_value(from, option, "true or false", value);
    case BASE_OPTION_TEXT:
        *(const char**)option->target = value;
        return true;
    case BASE_OPTION_U64:
        if (!base_text_parse_u64(value, &natural))
            return refuse_value(from, option, "a natural number", value);
        if (!is_in_range(option, (double)natural)) return refuse_range(from, option, value);
        *(uint64_t*)option->target = natural;
        return true;
    case BASE_OPTION_F64:
        if (!base_text_parse_f64(value, &real))
            return refuse_value(from, option, "a number", value);
        if (!is_in_range(option, real)) return refuse_range(from, option, value);
        *(double*)option->target = real;
        return true;
    case BASE_OPTION_LIST:
        return add_to_list(from, option, value);
    }
    BASE_ASSERT(false); // a kind outside of the enum
    return false;
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
static const char* find_in_environment(const base_option* option, char* name, size_t name_bytes) {
    bool fits = base_text_format(name, name_bytes, "SHOAL_%s", option->name);
    BASE_ASSERT(fits);
    for (char* at = name; *at; at++) {
        if (*at == '-') *at = '_';
        if (*at >= 'a' && *at <= 'z') *at = (char)(*at - 'a' + 'A');
    }
    return getenv(name);
}

static bool apply_environment(source* from) {
    for (uint32_t i = 0; i < from->options->count; i++) {
        char name[NAME_BYTES_MAX];
        const base_option* option = &from->options->options[i];
        const char* value = find_in_environment(option, name, sizeof name);
        from->file = name;
        if (value && !apply(from, option, value)) return false;
    }
    return true;
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
    for (char* line = text; line;) {
        char* end = strchr(line, '\n');
        if (end) *end++ = '\0';
        from->line++;
        if (!apply_config_line(from, line)) return false;
        line = end;
    }
    return true;
}

static void check_table(const base_options* options) {
    BASE_ASSERT(options->count <= BASE_OPTIONS_MAX);
    for (uint32_t i = 0; i < options->count; i++)
        BASE_ASSERT(options->options[i].name && options->options[i].target &&
                    options->options[i].help);
}

base_options_result base_options_read(const base_options* options, int argc, char** argv,
                                      base_option_list* words, const base_reporter* reporter) {
    check_table(options);
    if (words) words->count = 0;
    char name[NAME_BYTES_MAX];
    const base_option* config_option = find_option(options, "config", strlen("config"));
    const char* config = NULL;
    if (config_option) config = find_in_environment(config_option, name, sizeof name);

    source arguments = {.options = options, .reporter = reporter, .file = options->program};
    base_options_result result = check_arguments(&arguments, argc, argv, &config);
    if (result != BASE_OPTIONS_OK) return result;

    source file = {.options = options, .reporter = reporter, .file = config};
    source environment = {.options = options, .reporter = reporter};
    if (config && !apply_config(&file)) return BASE_OPTIONS_ERROR;
    if (!apply_environment(&environment)) return BASE_OPTIONS_ERROR;
    return apply_arguments(&arguments, argc, argv, words) ? BASE_OPTIONS_OK : BASE_OPTIONS_ERROR;
}
