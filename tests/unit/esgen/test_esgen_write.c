// SPDX-License-Identifier: MIT
// What is written is what a person would have written (S5.19, S3.5): sample.expected is read, not
// only compared.
// After a wanted change: shoal-esgen -o sample.expected sample.c, and read the difference.
#include "esgen_text.h"

#include "ecs/es.h"

static char* read_text(const char* path) {
    char* text = text_file_read(path);
    if (!text) fail_msg("%s cannot be read", path);
    return text;
}

CASE(the_sample_becomes_the_expected_text) {
    char* header = read_text(TEXTS_FOLDER "/sample.h");
    char* text = read_text(TEXTS_FOLDER "/sample.c");
    char* expected = read_text(TEXTS_FOLDER "/sample.expected");
    base_report_first faults = {0};
    base_reporter reporter = base_reporter_first(&faults);
    esgen_unit unit;
    esgen_unit_init(&unit, "sample.c", &reporter);
    esgen_words header_words, words;
    assert_true(esgen_words_read(&header_words, "sample.h", header, strlen(header), &reporter));
    unit.file = "sample.h";
    esgen_types_read(&unit, &header_words, ESGEN_NEAR);
    unit.file = "sample.c";
    assert_true(esgen_words_read(&words, "sample.c", text, strlen(text), &reporter));
    esgen_types_read(&unit, &words, ESGEN_HERE);
    esgen_parse(&unit, &words);
    assert_string_equal(faults.text, "");
    base_bytes out;
    base_bytes_init(&out, NULL);
    esgen_emit(&unit, "sample", &out);
    base_bytes_write_u8(&out, 0);
    assert_false(out.failed);
    const char *line = expected, *found = (const char*)out.data;
    uint32_t number = 1;
    for (; *line && *line == *found; line++, found++)
        number += *line == '\n';
    if (*line != *found) print_error("sample.expected:%u differs\n", number);
    assert_int_equal(*line, *found);
    base_bytes_deinit(&out);
    esgen_words_deinit(&words);
    esgen_words_deinit(&header_words);
    esgen_unit_deinit(&unit);
    free(expected);
    free(text);
    free(header);
}

// The text that a unit becomes. The caller frees it.
static char* write_text(const char* text) {
    esgen_text_result result;
    text_open(&result, text);
    assert_string_equal(result.faults.text, "");
    base_bytes out;
    base_bytes_init(&out, NULL);
    esgen_emit(&result.unit, "x", &out);
    assert_false(out.failed);
    char* copy = calloc(1, out.size + 1);
    assert_non_null(copy);
    memcpy(copy, out.data, out.size);
    base_bytes_deinit(&out);
    text_close(&result);
    return copy;
}

// "+ ..." is written, with the lines "| ..." after it; "- ..." is not.
static void expect_written(const char* text, char* expected) {
    char* written = write_text(text);
    for (char *at = expected, *end; *at; at = end) {
        for (end = strchr(at, '\n'); end[1] == '|'; end = strchr(end + 1, '\n'))
            memmove(end + 1, end + 3, strlen(end + 3) + 1);
        *end++ = '\0';
        const char* wanted = at + 1 + (at[1] == ' ');
        if ((strstr(written, wanted) != NULL) != (at[0] == '+'))
            fail_msg("%s\n%s %s", written, at[0] == '+' ? "lacks" : "has", wanted);
    }
    free(written);
}

CASE(what_is_written_has_what_it_needs_and_no_more) {
    each_text("written.txt", expect_written);
}

CASE(constants_count_bits) {
    for (uint32_t bits = 1; bits <= 32; bits++) {
        uint64_t top = (UINT64_C(1) << bits) - 1;
        assert_int_equal(ES_BITS(top), bits);
        if (bits < 32) assert_int_equal(ES_BITS(top + 1), bits + 1);
    }
    assert_int_equal(ES_BITS(0), 1);
    assert_int_equal(ES_BITS(254), 8);
    assert_int_equal(ES_QUANT_MAX(-127, 1, 8), 128);
    assert_true(ES_QUANT_MAX(0.5, 0.25, 2) == 1.25);
}

// A ```c block is an example: each is there word for word in what test_esgen_run compiles.
CASE(the_manual_shows_what_is_compiled) {
    char* manual = read_text(ESGEN_MANUAL);
    char* source = read_text(TEXTS_FOLDER "/manual.c");
    char* header = read_text(TEXTS_FOLDER "/manual.h");
    char* game = read_text(ESGEN_GAME); // test outside builds and plays it
    uint32_t count = 0;
    for (char* at = strstr(manual, "```c\n"); at; at = strstr(at, "```c\n")) {
        at += strlen("```c\n");
        char* end = strstr(at, "```");
        assert_non_null(end);
        *end = '\0';
        bool is_compiled = strstr(source, at) || strstr(header, at) || strstr(game, at);
        if (!is_compiled) fail_msg("not compiled:\n%s", at);
        at = end + 1;
        count++;
    }
    assert_true(count >= 6);
    free(game);
    free(header);
    free(source);
    free(manual);
}

// A formatter that fills paragraphs made one of the list.
CASE(the_header_has_a_line_for_each_kind_of_function_and_parameter) {
    static const char* const lines[] = {"*_es ",
                                        "*_es_event_handler ",
                                        "*_ecs_query ",
                                        "const ecs_stage* stage ",
                                        "const ecs_event* event ",
                                        "ecs_entity entity ",
                                        "uint32_t count ",
                                        "ES_CONTEXT T* name ",
                                        "anything else "};
    char* header = read_text(ESGEN_HEADER);
    for (uint32_t i = 0; i < BASE_COUNT(lines); i++) {
        char line[64];
        assert_true(base_text_format(line, sizeof line, "\n///     %s ", lines[i]));
        if (!strstr(header, line)) fail_msg("es.h has no line of %s", lines[i]);
    }
    free(header);
}
