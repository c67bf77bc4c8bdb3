// SPDX-License-Identifier: MIT
/// Questions and answers in a text file, for cases that ask the same of many texts. Sections begin
/// with "== NAME". A question is one line or more, and the line "=> ANSWER" ends it.
#pragma once

#include "test.h"
#include "text_file.h"

typedef struct text_table {
    char *text, *at;
} text_table;

/// Begin with a section of a file.
static inline text_table text_table_open(const char* file, const char* section) {
    char head[128];
    text_table table = {.text = text_file_read(file)};
    assert_non_null(table.text);
    snprintf(head, sizeof head, "\n== %s\n", section);
    table.at = strstr(table.text, head);
    if (!table.at) fail_msg("%s has no section %s", file, section);
    table.at += strlen(head);
    return table;
}

/// Get the next question. @return its answer; NULL: the section ends here, and the table is closed.
static inline const char* text_table_next(text_table* table, const char** question) {
    char* end = strstr(table->at, "\n=> ");
    if (!*table->at || strncmp(table->at, "== ", 3) == 0) {
        free(table->text);
        return NULL;
    }
    assert_non_null(end);
    *question = table->at;
    *end = 0;
    const char* answer = end + strlen("\n=> ");
    table->at = end + strlen("\n=> ") + strcspn(answer, "\n");
    *table->at++ = 0;
    return answer;
}
