// SPDX-License-Identifier: MIT
/// One table of options serves --help, the command line, the environment (SHOAL_X) and config
/// files.
///
/// Precedence: command line over environment over config file over default. An unknown option is an
/// error that names the nearest one. --help fits a screen (24 lines of 100 columns, asserted by
/// test).
///
/// A table with a text option named "config" can also be read from a file of "key = value" lines; a
/// line that begins with # is a comment. The first value of a list from one source drops the values
/// from the weaker sources. A flag may have a value ("--fast=no"): true, false, 1, 0, yes, no, on,
/// off.
///
/// An option may have keys after its value, "--log a.slog,keep=3": rows of a table of its own. A
/// key that is given alone ("--log keep=3") leaves the value as it is. "keep" and "log-keep" as an
/// option are refused with the right words, as that source takes them.
///
/// Every program has --check-options: its options are read and checked, and nothing else is done.
#pragma once

#include "base/report.h"

BASE_C_BEGIN

#define BASE_OPTIONS_MAX 64u
#define BASE_OPTION_SOURCES_MAX 128u ///< options and keys

typedef enum base_option_kind {
    BASE_OPTION_FLAG, ///< no value; a bool
    BASE_OPTION_TEXT, ///< a const char* (borrowed from argv, environment, config file)
    BASE_OPTION_U64,  ///< a uint64_t, within [min, max]
    BASE_OPTION_F64,  ///< a double, within [min, max]
    BASE_OPTION_LIST, ///< may be repeated; a base_option_list
    BASE_OPTION_WORD, ///< one of the words of `value`, "second|block|end"; its number, a uint32_t
    BASE_OPTION_KEYS, ///< no value but its keys; no offset
} base_option_kind;

/// Values of an option that may be repeated, in the order given. Texts are borrowed as for
/// BASE_OPTION_TEXT.
typedef struct base_option_list {
    const char* values[64];
    uint32_t count;
} base_option_list;

/// One row of the table: {"tick-rate", BASE_OPTION_FIELD(config, tick_rate_hz), "HZ", ...}.
typedef struct base_option {
    const char* name; ///< long name without dashes, "tick-rate"
    base_option_kind kind;
    size_t offset;     ///< of the value in the program's struct
    const char* value; ///< word for the value in --help, "HZ"
    const char* help;  ///< one line
    double min, max;   ///< for numbers; both 0 = unlimited
} base_option;

/// Kind and offset of an option whose value is this field of the program's struct: the field's type
/// gives the kind. An enum is read by its words, in its order.
#define BASE_OPTION_FIELD(type, field)                                                             \
    _Generic(((type*)0)->field, bool                                                               \
             : BASE_OPTION_FLAG, const char*                                                       \
             : BASE_OPTION_TEXT, uint64_t                                                          \
             : BASE_OPTION_U64, double                                                             \
             : BASE_OPTION_F64, base_option_list                                                   \
             : BASE_OPTION_LIST, uint32_t                                                          \
             : BASE_OPTION_WORD),                                                                  \
        offsetof(type, field)

/// The keys of an option whose `value` ends with "KEY=VALUE". They are fields of the same struct.
typedef struct base_option_keys {
    const char* name; ///< of the option
    const base_option* keys;
    uint32_t count;
} base_option_keys;

/// A heading of --help, over the options from `first` on.
typedef struct base_option_group {
    const char *title, *first;
} base_option_group;

/// Where the value of an option comes from.
typedef enum base_option_source {
    BASE_OPTION_BY_DEFAULT,
    BASE_OPTION_BY_FILE,
    BASE_OPTION_BY_ENVIRONMENT,
    BASE_OPTION_BY_COMMAND_LINE,
} base_option_source;

/// A program's table. It must outlive base_options_read only; the values are in the program's
/// struct.
typedef struct base_options {
    const char* program; ///< "shoal-server"
    const char* usage;   ///< the part after the program's name in the first line of --help
    const char* about;   ///< one line
    const char* version; ///< what --version prints after the program's name; NULL: no such option
    const base_option* options;
    uint32_t count;
    void* values; ///< the program's struct; it holds the defaults on entry
    const base_option_keys* keys;
    uint32_t keys_count;
    const base_option_group* groups; ///< in the order of the options
    uint32_t group_count;
    /// "game log": what --help explains. It names the others, and --help=all explains them.
    /// NULL: all.
    const char* common;
    /// What single options cannot tell: values that do not go together, words. It may write the
    /// values. @return false: reported. NULL: nothing to check.
    bool (*check)(void* values, const base_option_list* words, const base_reporter* reporter);
    /// Buffer for the content of the config file and for values with keys; text options borrow from
    /// it. Needed if the table has an option named "config", or keys.
    char* config_text;
    size_t config_text_bytes;
    /// base_options_read writes a base_option_source for each option, and after them for each
    /// key in
    /// the order of `keys`. NULL: not asked for.
    uint8_t* sources;
} base_options;

typedef enum base_options_result {
    BASE_OPTIONS_OK,
    BASE_OPTIONS_HELP,  ///< --help (=all...), --version, --check-options did their work: exit 0
    BASE_OPTIONS_ERROR, ///< reported: exit 2
} base_options_result;

/// Read the environment, the config file and argv into the values. Positional words go to `words`,
/// borrowed from argv; with `words` NULL a positional word is an error. "--name value" and
/// "--name=value" both work; "--" ends the options.
/// @return BASE_OPTIONS_OK; BASE_OPTIONS_HELP (exit with 0); BASE_OPTIONS_ERROR (reported: exit
///         with 2; some values may be written).
BASE_MUST_USE base_options_result base_options_read(const base_options* options, int argc,
                                                    char** argv, base_option_list* words,
                                                    const base_reporter* reporter);
/// Apply one line "key = value" of a file that the program reads itself, for instance in blocks.
/// `line` is cut into pieces that the values borrow; `text_used` counts the bytes of config_text
/// that values with keys took. The first value of a list drops what it had.
/// @return false: reported.
BASE_MUST_USE bool base_options_apply(const base_options* options, const char* file,
                                      uint32_t line_number, char* line, size_t* text_used,
                                      const base_reporter* reporter);
/// Write the value of an option or key as the command line takes it, without users and passwords
/// of URLs,
/// the values of a list separated by blanks, NUL-terminated and cut to `target_bytes`. An unset
/// text is empty.
void base_options_value(const base_options* options, const base_option* option, char* target,
                        size_t target_bytes);
/// "default", "file", "environment", "command line". Static text.
const char* base_option_source_name(base_option_source source);
/// Write --help as text into a buffer; `is_whole`: --help=all. @return the bytes it needs (without
/// NUL), also when it did not fit.
size_t base_options_help(const base_options* options, bool is_whole, char* target,
                         size_t target_bytes);

/// Write the manual page as roff (--help=man). A program "a b" is the command b of a: its page is
/// a-b.
/// @return the bytes it needs (without NUL), also when it did not fit.
size_t base_options_manual(const base_options* options, char* target, size_t target_bytes);

BASE_C_END
