// SPDX-License-Identifier: MIT
/// C text in, what shoal-esgen found in it and said about it out.
#pragma once

#include "test.h"

#include "esgen.h"
#include "text_file.h"

typedef struct esgen_text_result {
    esgen_unit unit;
    esgen_words words;
    base_report_first faults; ///< "x.c:3: error: ...", the first one
    base_reporter reporter;
    bool is_read;
} esgen_text_result;

static inline void text_open_size(esgen_text_result* self, const char* text, size_t size) {
    memset(self, 0, sizeof *self);
    self->reporter = base_reporter_first(&self->faults);
    esgen_unit_init(&self->unit, "x.c", &self->reporter);
    self->is_read = esgen_words_read(&self->words, "x.c", text, size, &self->reporter);
    if (!self->is_read) return;
    esgen_types_read(&self->unit, &self->words, ESGEN_HERE);
    esgen_parse(&self->unit, &self->words);
    assert_int_equal(self->unit.fault_count, self->faults.count);
}

static inline void text_open(esgen_text_result* self, const char* text) {
    text_open_size(self, text, strlen(text));
}

static inline void text_close(esgen_text_result* self) {
    esgen_unit_deinit(&self->unit);
    esgen_words_deinit(&self->words);
}

/// A file of texts. Lines that begin with ^ stand after each, and say what is expected of it; lines
/// of "==== ..." are remarks.
static inline void each_text(const char* name, void (*check)(const char* text, char* expected)) {
    char path[512], text[4096] = "", expected[4096] = "";
    assert_true(base_text_format(path, sizeof path, TEXTS_FOLDER "/%s", name));
    char* file = text_file_read(path);
    assert_non_null(file);
    for (char *at = file, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        *end = '\0';
        if (strncmp(at, "====", 4) == 0) continue;
        char* to = at[0] == '^' ? expected : text;
        const size_t size = strlen(to);
        assert_true(base_text_format(to + size, 4096 - size, "%s\n", at[0] == '^' ? at + 1 : at));
        if (at[0] != '^' || end[1] == '^') continue;
        check(text, expected);
        text[0] = expected[0] = '\0';
    }
    assert_string_equal(text, "");
    free(file);
}
