// SPDX-License-Identifier: MIT
// What is written is what a person would have written (S5.19, S3.5): sample.expected is read, not
// only compared.
// After a wanted change: shoal-esgen -o sample.expected sample.c, and read the difference.
#include "esgen_text.h"

#include <stdio.h>

static char* read_text(const char* path) {
    FILE* file = fopen(path, "rb");
    if (!file) print_error("%s cannot be read\n", path);
    assert_non_null(file);
    char* text = calloc(1, 1u << 17);
    assert_non_null(text);
    assert_true(fread(text, 1, (1u << 17) - 1, file) < (1u << 17) - 1);
    fclose(file);
    return text;
}

static void the_sample_becomes_the_expected_text(void** state) {
    (void)state;
    char* header = read_text(SAMPLE_FOLDER "/sample.h");
    char* text = read_text(SAMPLE_FOLDER "/sample.c");
    char* expected = read_text(SAMPLE_FOLDER "/sample.expected");
    base_report_first faults = {0};
    base_reporter reporter = base_reporter_first(&faults);
    esgen_unit unit;
    esgen_unit_init(&unit, "sample.c", &reporter);
    esgen_words header_words, words;
    assert_true(esgen_words_read(&header_words, "sample.h", header, strlen(header), &reporter));
    esgen_types_read(&unit, &header_words, true);
    assert_true(esgen_words_read(&words, "sample.c", text, strlen(text), &reporter));
    esgen_types_read(&unit, &words, true);
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

static void lines_end_at_100_columns(void** state) {
    (void)state;
    char* text = write_text(
        "ES_TAG(one_long_tag, two_long_tags, three_long_tags, four_long_tags, five_long_tags)\n"
        "static void a_function_es(const ecs_stage* stage, float* first_component,\n"
        "  const float* second_component, const float* third_component, ecs_entity entity) {}\n"
        "static void b_es(ES_DEFAULT((ecs_vec4){100.0f, 100.0f, 100.0f, 100.0f})\n"
        "  ecs_vec4 some_default, ES_OPTIONAL float* another_component) {}");
    uint32_t number = 0, longest = 0;
    for (const char* line = text; *line; number++) {
        uint32_t columns = (uint32_t)strcspn(line, "\n");
        if (columns > longest) longest = columns;
        if (columns > 100) print_error("%.*s\n", (int)columns, line);
        line += columns + (line[columns] == '\n');
    }
    assert_true(number > 40 && longest <= 100 && longest > 80);
    free(text);
}

static void only_what_is_needed_is_written(void** state) {
    (void)state;
    char* text = write_text("static void a_ecs_query(const float* f) {}");
    assert_non_null(strstr(text, "ecs_result a_create(ecs_world* world, ecs_query** query)"));
    assert_null(strstr(text, "register"));
    free(text);
    text = write_text("ES_REGISTER_TYPES\nES_EVENT(e) typedef struct { float f; } p;");
    assert_non_null(strstr(text, "x_register_types"));
    assert_null(strstr(text, "ecs_type_register"));
    assert_null(strstr(text, "register_systems"));
    free(text);
    text = write_text("static void a_es(void) {}");
    assert_null(strstr(text, "_loop"));
    assert_null(strstr(text, "_terms"));
    free(text);
}

// A ```c block is an example: each is there word for word in what test_esgen_run compiles.
static void the_manual_shows_what_is_compiled(void** state) {
    (void)state;
    char* manual = read_text(ESGEN_MANUAL);
    char* source = read_text(SAMPLE_FOLDER "/manual.c");
    char* header = read_text(SAMPLE_FOLDER "/manual.h");
    uint32_t count = 0;
    for (char* at = strstr(manual, "```c\n"); at; at = strstr(at, "```c\n")) {
        at += strlen("```c\n");
        char* end = strstr(at, "```");
        assert_non_null(end);
        *end = '\0';
        if (!strstr(source, at) && !strstr(header, at)) print_error("not compiled:\n%s", at);
        assert_true(strstr(source, at) || strstr(header, at));
        at = end + 1;
        count++;
    }
    assert_true(count >= 4);
    free(header);
    free(source);
    free(manual);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_sample_becomes_the_expected_text),
        TEST(lines_end_at_100_columns),
        TEST(only_what_is_needed_is_written),
        TEST(the_manual_shows_what_is_compiled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
