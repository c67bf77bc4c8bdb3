// SPDX-License-Identifier: MIT
/// Options of the tests' own programs: a table, and what --help says in front of it.
#pragma once

#include "base/options.h"

#include <stddef.h>

/// A program, the words after its name, and one line about it.
typedef struct tool {
    const char *program, *usage, *about;
} tool;

/// Read argv into `values`. `words` NULL: there are none.
/// @return -1: go on; 0 or 2: the program's exit code.
#define tool_options_read(of, table, values, argc, argv, words)                                    \
    tool_options_read_table(of, table, BASE_COUNT(table), values, argc, argv, words)
static inline int tool_options_read_table(tool of, const base_option* table, uint32_t count,
                                          void* values, int argc, char** argv,
                                          base_option_list* words) {
    const base_options options = {.program = of.program,
                                  .usage = of.usage,
                                  .about = of.about,
                                  .options = table,
                                  .count = count,
                                  .values = values};
    const base_reporter reporter = base_reporter_stderr();
    const base_options_result read = base_options_read(&options, argc, argv, words, &reporter);
    return read == BASE_OPTIONS_OK ? -1 : read == BASE_OPTIONS_HELP ? 0 : 2;
}
