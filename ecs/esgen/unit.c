// SPDX-License-Identifier: MIT
// The unit that all readers of a file fill: its memory, its faults, and names.
#include "esgen.h"

#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void esgen_unit_init(esgen_unit* unit, const char* file, const base_reporter* reporter) {
    BASE_ASSERT(unit);
    memset(unit, 0, sizeof *unit);
    unit->file = file;
    unit->reporter = reporter;
}

void esgen_unit_deinit(esgen_unit* unit) {
    BASE_ARRAY_RELEASE(NULL, unit->functions, unit->function_capacity);
    BASE_ARRAY_RELEASE(NULL, unit->structs, unit->struct_capacity);
    BASE_ARRAY_RELEASE(NULL, unit->game.slots, unit->game.slot_capacity);
    BASE_ARRAY_RELEASE(NULL, unit->game.actions, unit->game.action_capacity);
    free(unit->game.settings);
    unit->game = (esgen_game){0};
    unit->functions = NULL;
    unit->structs = NULL;
    unit->function_capacity = unit->struct_capacity = 0;
}

void esgen_fault(esgen_unit* unit, uint32_t line, const char* format, ...) {
    BASE_ASSERT(unit && format);
    char text[BASE_REPORT_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    base_report(unit->reporter, unit->file, line, "%s", text);
    unit->fault_count++;
}

// ---- names ----

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_.-+:<>@|", c));
}

bool esgen_name_read(esgen_unit* unit, esgen_name* name, const esgen_word* first,
                     const esgen_word* end) {
    BASE_ASSERT(unit && name && first <= end);
    uint32_t line = first->line;
    if (!esgen_words_join(first, end, name->text, sizeof name->text)) {
        esgen_fault(unit, line, "a name is longer than %u bytes", ESGEN_NAME_BYTES_MAX - 1);
    } else if (!name->text[0]) {
        esgen_fault(unit, line, "a name is missing here");
    } else {
        const char* bad = name->text;
        while (is_name_char(*bad))
            bad++;
        if (!*bad) return true;
        esgen_fault(unit, line, "a name is made of letters, digits and _.-+:<>@, '%s' is not",
                    name->text);
    }
    name->text[0] = '\0';
    return false;
}
