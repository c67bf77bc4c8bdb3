// SPDX-License-Identifier: MIT
// One table of options, three sources. The command line is walked twice: first to check the names
// and to find --help and --config, and again at the end to apply the values, after the config file
// and the environment. A later value replaces an earlier one; that gives the precedence.
#include "options_help.h"

#include "base/assert.h"
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
    bool is_check; // --check-options
} source;

// Every program has it.
static const base_option check_row = {"check-options", BASE_OPTION_FLAG, 0, NULL, "", 0, 0};

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

// "tick-rate" is SHOAL_TICK_RATE.
static void variable_format(const char* option, char* name, size_t name_bytes) {
    bool fits = base_text_format(name, name_bytes, "SHOAL_%s", option);
    BASE_ASSERT(fits);
    for (char* at = name; *at; at++) {
        if (*at == '-') *at = '_';
        if (*at >= 'a' && *at <= 'z') *at = (char)(*at - 'a' + 'A');
    }
}

// Is it a key, with or without the name of its option? Then say what this source takes: "--log
// keep=3", "log = keep=3", "SHOAL_LOG=keep=3". `value` NULL: not known.
static bool report_key(const source* from, const char* prefix, const char* word,
                       const char* value) {
    const bool is_variable = from->kind == BASE_OPTION_BY_ENVIRONMENT;
    const char* between = *prefix ? " " : is_variable ? "=" : " = ";
    for (uint32_t i = 0; i < from->options->count; i++) {
        const base_option* option = &from->options->options[i];
        const base_option_keys* keys = base_option_keys_of(from->options, option);
        for (uint32_t k = 0; keys && k < keys->count; k++) {
            const base_option* key = &keys->keys[k];
            char old[NAME_BYTES_MAX], name[NAME_BYTES_MAX];
            old_name_format(option, key, old);
            if (strcmp(old, word) != 0 && strcmp(key->name, word) != 0) continue;
            if (!value) value = key->value;
            variable_format(option->name, name, sizeof name);
            base_report(from->reporter, from->file, from->line,
                        "unknown option %s%s: write %s%s%s%s%s%s", prefix, word, prefix,
                        is_variable ? name : option->name, between, key->name, value ? "=" : "",
                        value ? value : "");
            return true;
        }
    }
    return false;
}

static bool report_unknown(const source* from, const char* prefix, const char* name, size_t size,
                           const char* value) {
    char word[NAME_BYTES_MAX];
    if (size >= sizeof word) size = sizeof word - 1;
    memcpy(word, name, size);
    word[size] = '\0';
    if (report_key(from, prefix, word, value)) return false;
    base_nearest nearest = base_nearest_begin(word);
    for (uint32_t i = 0; i < from->options->count; i++)
        base_nearest_offer(&nearest, from->options->options[i].name);
    base_nearest_offer(&nearest, "help");
    base_nearest_offer(&nearest, check_row.name);
    const base_option* whole = find_part(from->options, word);
    if (whole)
        return base_report(from->reporter, from->file, from->line,
                           "unknown option %s%s: it is a part of %s%s %s", prefix, word, prefix,
                           whole->name, whole->value);
    if (nearest.found)
        return base_report(from->reporter, from->file, from->line,
                           "unknown option %s%s, did you mean %s%s?", prefix, word, prefix,
                           nearest.found);
    return base_report(from->reporter, from->file, from->line, "unknown option %s%s%s", prefix,
                       word, *prefix ? ", see --help" : "");
}

// Report a fault of an option, or of a key after the name of its option: "log: keep needs ...".
BASE_PRINTF(3, 4)
static bool refuse_option(const source* from, const base_option* option, const char* format, ...) {
    char text[LINE_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)base_text_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    return base_report(from->reporter, from->file, from->line, "%s%s%s %s",
                       from->keyed ? from->keyed->name : "", from->keyed ? ": " : "", option->name,
                       text);
}

static bool refuse_number(const source* from, const base_option* option, const char* expected,
                          const char* value) {
    if (option->min == 0 && option->max == 0)
        return refuse_option(from, option, "needs %s, not '%s'", expected, value);
    return refuse_option(from, option, "needs %s from %.15g to %.15g, not '%s'", expected,
                         option->min, option->max, value);
}

static bool check_range(const source* from, const base_option* option, double number,
                        const char* value) {
    if (option->min == 0 && option->max == 0) return true;
    if (number >= option->min && number <= option->max) return true;
    return refuse_option(from, option, "is outside of %.15g to %.15g: '%s'", option->min,
                         option->max, value);
}

static bool add_to_list(source* from, const base_option* option, const char* value) {
    base_option_list* list = base_option_value(from->options, option);
    uint32_t begun = 0;
    while (begun < from->lists_begun_count && from->lists_begun[begun] != list)
        begun++;
    if (begun == from->lists_begun_count) {
        BASE_ASSERT(begun < LISTS_MAX);
        from->lists_begun[from->lists_begun_count++] = list;
        list->count = 0;
    }
    if (list->count == BASE_COUNT(list->values))
        return refuse_option(from, option, "is given more than %zu times",
                             BASE_COUNT(list->values));
    list->values[list->count++] = value;
    return true;
}

static bool apply_word(const source* from, const base_option* option, const char* value) {
    const char* word;
    size_t size;
    for (uint32_t i = 0; base_option_get_word(option, i, &word, &size); i++) {
        if (strlen(value) != size || memcmp(value, word, size) != 0) continue;
        *(uint32_t*)base_option_value(from->options, option) = i;
        return true;
    }
    return refuse_option(from, option, "needs %.*s, not '%s'", (int)strcspn(option->value, ","),
                         option->value, value);
}

static bool apply_value(source* from, const base_option* option, const char* value) {
    void* target = base_option_value(from->options, option);
    uint64_t natural;
    double real;
    switch (option->kind) {
    case BASE_OPTION_FLAG:
        if (base_text_parse_bool(value, target)) return true;
        return refuse_option(from, option, "needs true or false, not '%s'", value);
    case BASE_OPTION_TEXT:
        *(const char**)target = value;
        return true;
    case BASE_OPTION_U64:
        if (!base_text_parse_u64(value, &natural))
            return refuse_number(from, option, "a natural number", value);
        if (!check_range(from, option, (double)natural, value)) return false;
        *(uint64_t*)target = natural;
        return true;
    case BASE_OPTION_F64:
        if (!base_text_parse_f64(value, &real))
            return refuse_number(from, option, "a number", value);
        if (!check_range(from, option, real, value)) return false;
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
        base_option_key_format(&keys->keys[i], name, sizeof name);
        base_option_page_add(&list, "%s%s", i > 0 ? ", " : "", name + strspn(name, " "));
    }
    return base_report(from->reporter, from->file, from->line, "%s has no key '%s'%s (%s)",
                       keys->name, word, base_nearest_hint(&nearest, hint), legal);
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
    const bool is_right =
        text ? apply_value(from, key, text)
             : refuse_option(from, key, "needs a value: %s=%s", key->name, key->value);
    from->keyed = NULL;
    return is_right;
}

// "keep=3", or a word of small letters: of a URL, which lists hosts, only a flag.
static bool is_key(const base_option_keys* keys, const char* value, const char* word,
                   const char* text) {
    const base_option* key = find_row(keys->keys, keys->count, word, strlen(word));
    const bool is_word = word[strspn(word, "abcdefghijklmnopqrstuvwxyz-")] == '\0';
    const bool is_list = word == value || strstr(value, "://");
    return text || !is_list ? is_word : key && key->kind == BASE_OPTION_FLAG;
}

// "FILE,keep=3": a value, which may have commas and may be missing, and keys.
static bool apply_with_keys(source* from, const base_option* option, const base_option_keys* keys,
                            const char* value) {
    const size_t size = strlen(value) + 1;
    const size_t left = from->options->config_text_bytes - *from->text_used;
    if (size > left) return refuse_option(from, option, "is longer than %zu bytes", left);
    char* copy = memcpy(from->options->config_text + *from->text_used, value, size);
    *from->text_used += size;
    bool has_value = false, has_keys = option->kind == BASE_OPTION_KEYS;
    for (char* rest = copy; rest;) {
        char* text;
        char* word = base_text_cut_pair(&rest, &text);
        has_keys = has_keys || is_key(keys, copy, word, text);
        if (has_keys) {
            if (!apply_key(from, option, keys, word, text)) return false;
            continue;
        }
        has_value = true;
        if (word > copy) word[-1] = ',';
        if (text) text[-1] = '=';
    }
    return !has_value || apply_value(from, option, copy);
}

static bool apply(source* from, const base_option* option, const char* value) {
    uint8_t* sources = from->options->sources;
    if (sources) sources[option - from->options->options] = (uint8_t)from->kind;
    const base_option_keys* keys = base_option_keys_of(from->options, option);
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
    // "-", and numbers below zero.
    if (*ended || text[0] != '-' || strchr("0123456789.", text[1])) return BASE_OPTIONS_OK;
    if (strcmp(text, "--") == 0) {
        *ended = true;
        read->value = NULL;
        return BASE_OPTIONS_OK;
    }
    static const char* const helps[] = {"--help", "-h", "--help=all", "--help=man"};
    for (size_t i = 0; i < BASE_COUNT(helps); i++)
        if (strcmp(text, helps[i]) == 0) return BASE_OPTIONS_HELP;
    if (from->options->version && strcmp(text, "--version") == 0) return BASE_OPTIONS_HELP;
    const char* prefix = text[1] == '-' ? "--" : "-";
    const char* name = text + strlen(prefix);
    const char* equals = strchr(name, '=');
    size_t name_size = equals ? (size_t)(equals - name) : strlen(name);
    read->option = text[1] == '-' ? find_option(from->options, name, name_size) : NULL;
    if (!read->option && text[1] == '-') read->option = find_row(&check_row, 1, name, name_size);
    if (!read->option) {
        (void)report_unknown(from, prefix, name, name_size, equals ? equals + 1 : NULL);
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

// `word` is --version, --help, -h, --help=all or --help=man.
static void print_help(const base_options* options, const char* word) {
    if (strcmp(word, "--version") == 0) {
        printf("%s %s\n", options->program, options->version);
        return;
    }
    char help[HELP_BYTES_MAX];
    if (strcmp(word, "--help=man") == 0)
        (void)base_options_manual(options, help, sizeof help);
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
        if (read.option == &check_row) {
            from->is_check = true;
        } else if (read.option) {
            if (!apply(from, read.option, read.value)) return false;
        } else if (read.value) {
            if (!words || words->count == BASE_COUNT(words->values))
                return base_report(from->reporter, from->file, 0, "unexpected argument '%s'",
                                   read.value);
            words->values[words->count++] = read.value;
        }
    }
    return true;
}

static const char* find_in_environment(const char* option, char* name, size_t name_bytes) {
    variable_format(option, name, name_bytes);
    return getenv(name);
}

static bool has_variable_of_key(source* from) {
    const base_options* options = from->options;
    for (uint32_t i = 0; i < options->keys_count; i++) {
        const base_option_keys* keys = &options->keys[i];
        const base_option* option = find_option(options, keys->name, strlen(keys->name));
        for (uint32_t k = 0; k < keys->count; k++) {
            char old[NAME_BYTES_MAX], name[NAME_BYTES_MAX];
            old_name_format(option, &keys->keys[k], old);
            const char* value = find_in_environment(old, name, sizeof name);
            from->file = name;
            if (value && !find_option(options, old, strlen(old)) &&
                report_key(from, "", old, value))
                return true;
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
    return !has_variable_of_key(from);
}

static bool apply_config_line(source* from, char* line) {
    char* key = base_text_trim(line);
    if (*key == '\0' || *key == '#') return true;
    char* equals = strchr(key, '=');
    if (!equals) return base_report(from->reporter, from->file, from->line, "expected key = value");
    *equals = '\0';
    key = base_text_trim(key);
    if (strcmp(key, "config") == 0)
        return base_report(from->reporter, from->file, from->line,
                           "config cannot be given in a config file");
    const base_option* option = find_option(from->options, key, strlen(key));
    char* value = base_text_trim(equals + 1);
    if (!option) return report_unknown(from, "", key, strlen(key), value);
    return apply(from, option, value);
}

bool base_options_apply(const base_options* options, const char* file, uint32_t line_number,
                        char* line, size_t* text_used, const base_reporter* reporter) {
    source from = {.options = options,
                   .reporter = reporter,
                   .file = file,
                   .line = line_number,
                   .kind = BASE_OPTION_BY_FILE,
                   .text_used = text_used};
    return apply_config_line(&from, line);
}

static bool apply_config(source* from) {
    char* text = from->options->config_text;
    size_t text_bytes = from->options->config_text_bytes;
    BASE_ASSERT(text && text_bytes > 0);
    FILE* file = fopen(from->file, "rb");
    if (!file)
        return base_report(from->reporter, from->file, 0, "cannot open: %s", strerror(errno));
    size_t size = fread(text, 1, text_bytes, file);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed || size == text_bytes)
        return base_report(from->reporter, from->file, 0,
                           failed ? "cannot read" : "longer than %zu bytes", text_bytes - 1);
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
        BASE_ASSERT(base_option_index(options, options->groups[i].first) < options->count);
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
    if (!apply_arguments(&arguments, argc, argv, words)) return BASE_OPTIONS_ERROR;
    if (options->check && !options->check(options->values, words, reporter))
        return BASE_OPTIONS_ERROR;
    if (!arguments.is_check) return BASE_OPTIONS_OK;
    printf("ok options\n");
    return BASE_OPTIONS_HELP;
}
