// SPDX-License-Identifier: MIT
// The manual page and the completion of bash, from the one table of options. The build asks each
// program for its own (scripts/package/install.cmake), so neither can be older than --help.
//
// The line of usage names the commands of a program: its words in small letters, between blanks and
// bars ("--game NAME | check FILE... | token").
#include "options_page.h"

#include "base/assert.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

enum { WORD_BYTES_MAX = 128, LINE_BYTES_MAX = 512 };

typedef base_option_page page;

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

static void add_manual_option(page* out, const base_option* option) {
    char name[LINE_BYTES_MAX / 2], value[LINE_BYTES_MAX / 2];
    (void)base_option_name_format(option, name, sizeof name);
    base_option_default_format(option, value, sizeof value);
    base_option_page_add(out, ".TP\n.B ");
    add_roff(out, name);
    base_option_page_add(out, "\n");
    add_roff(out, option->help);
    add_roff(out, value);
    if (option->max > option->min)
        base_option_page_add(out, ", %.15g to %.15g", option->min, option->max);
    base_option_page_add(out, "\n");
}

size_t base_options_manual(const base_options* options, char* target, size_t target_bytes) {
    BASE_ASSERT(options && (target || target_bytes == 0));
    page out = {target, target_bytes, 0};
    if (target_bytes > 0) target[0] = '\0';
    char name[WORD_BYTES_MAX];
    join_program(options, '-', name, sizeof name);
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
    for (uint32_t i = 0; i < options->count; i++)
        add_manual_option(&out, &options->options[i]);
    base_option_page_add(&out, ".TP\n.B \\-\\-help%s\nPrint a summary%s.\n",
                         options->version ? ", \\-\\-version" : "",
                         options->version ? ", or the version and commit" : "");
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
    base_option_page_add(&out,
                         "_%s() {\n    local cur=${COMP_WORDS[COMP_CWORD]} "
                         "prev=${COMP_WORDS[COMP_CWORD-1]}\n    COMPREPLY=()\n",
                         name);
    if (!strchr(options->program, ' '))
        base_option_page_add(&out,
                             "    if [ \"$COMP_CWORD\" -gt 1 ] && declare -F "
                             "\"_%s_${COMP_WORDS[1]}\" >/dev/null; then\n"
                             "        \"_%s_${COMP_WORDS[1]}\"\n        return\n    fi\n",
                             name, name);
    base_option_page_add(&out, "    case $prev in\n");
    for (uint32_t i = 0; i < options->count; i++) {
        const base_option* option = &options->options[i];
        if (option->kind == BASE_OPTION_FLAG) continue;
        value_completion(option, how, sizeof how);
        base_option_page_add(&out, "        --%s)", option->name);
        if (how[0]) base_option_page_add(&out, " COMPREPLY=($(compgen %s -- \"$cur\"));", how);
        base_option_page_add(&out, " return ;;\n");
    }
    base_option_page_add(&out, "    esac\n    case $cur in\n        -*) COMPREPLY=($(compgen -W '");
    for (uint32_t i = 0; i < options->count; i++)
        base_option_page_add(&out, "--%s ", options->options[i].name);
    base_option_page_add(&out, "--help%s' -- \"$cur\")) ;;\n        *) COMPREPLY=($(compgen -f",
                         options->version ? " --version" : "");
    bool has_commands = false;
    for (const char* at = options->usage ? options->usage : ""; next_word(&at, word);) {
        if (!is_command(word)) continue;
        base_option_page_add(&out, "%s%s", has_commands ? " " : " -W '", word);
        has_commands = true;
    }
    base_option_page_add(&out, "%s -- \"$cur\")) ;;\n    esac\n}\n", has_commands ? "'" : "");
    if (!strchr(options->program, ' '))
        base_option_page_add(&out, "complete -o filenames -F _%s %s\n", name, options->program);
    return out.size;
}
