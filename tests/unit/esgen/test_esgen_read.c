// SPDX-License-Identifier: MIT
// Whatever a C file holds, exactly its systems are found (S5.19).
#include "esgen_text.h"

// The names of the functions that are found, each with a blank behind it; what was said is a
// failure.
static void expect_found(const char* text, const char* names) {
    esgen_text_result result;
    text_open(&result, text);
    assert_string_equal(result.faults.text, "");
    char found[512] = "";
    for (uint32_t i = 0; i < result.unit.function_count; i++) {
        size_t size = strlen(found);
        (void)base_text_format(found + size, sizeof found - size, "%s ",
                               result.unit.functions[i].name.text);
    }
    text_close(&result);
    assert_string_equal(found, names);
}

// "= a_es b_es": these.
static void expect_names(const char* text, char* expected) {
    char names[512];
    expected[strlen(expected) - 1] = '\0';
    (void)base_text_format(names, sizeof names, "%s%s", expected + 1 + (expected[1] == ' '),
                           expected[1] ? " " : "");
    expect_found(text, names);
}

CASE(exactly_the_systems_of_a_file_are_found) {
    each_text("found.txt", expect_names);
}

CASE(preprocessor_lines_are_left_out) {
    expect_found("#define OPEN {\n#define MANY \\\n  { \\\r\n { \\\n static void a_es(void) {\n"
                 "#error don't\n#define QUOTED \"/*\"\n#define TWO 2 /* goes on\n { */\n"
                 "  # define INDENTED {\n#define LAST {",
                 "");
}

CASE(lines_may_end_as_windows_ends_them) {
    expect_found("\xef\xbb\xbf#include \"a.h\"\r\nES_TAG(server)\r\nstatic void a_es(\r\n"
                 "  const float* f)\r\n{\r\n}\r\n",
                 "a_es ");
}

// A backslash at the end of a line joins it with the next, before words, texts, comments and
// directives are looked for. Compilers let blanks stand between both.
CASE(joined_lines_are_one_line_wherever_they_are_cut) {
    static const char* const ends[] = {"\\\n", "\\\r\n", "\\ \t\n", "\\\n\\\n"};
    static const char text[] =
        "static void plain_es(void) {}\nstatic vo@id hidd@en_e@s(void) {}\n"
        "/@* static void a_es(void) {} *@/ static void b_es(void) {}\n"
        "/@/ {\n#def@ine C {\n#i@f 0\n{\n#en@dif\n"
        "const char* d = \"\\@\" {\", e = '\\@'';\nstatic void f_es(void) {}";
    for (uint32_t i = 0; i < BASE_COUNT(ends); i++) {
        char cut[512] = "";
        for (const char* at = text; *at; at++)
            (void)base_text_format(cut + strlen(cut), sizeof cut - strlen(cut), "%.*s",
                                   *at == '@' ? 4 : 1, *at == '@' ? ends[i] : at);
        expect_found(cut, "plain_es hidden_es b_es f_es ");
    }
}

// What the case opens is closed behind it.
#define TEXT_CASE(name) CASE_WITH(esgen_text_result, result, (void)result, text_close(result), name)

TEXT_CASE(lines_are_counted_through_everything) {
    text_open(result, "/* 1\n 2 */ #define X \\\n 3\n\"a\\\n5\";\n#if 0\n'\n#endif\n// 9 \\\n10\n"
                      "static void a_es(\n  const float* f) {}\n");
    assert_int_equal(result->faults.count, 0);
    assert_int_equal(result->unit.function_count, 1);
    assert_int_equal(result->unit.functions[0].line, 11);
    assert_int_equal(result->unit.functions[0].params[0].line, 12);
}

TEXT_CASE(the_lines_of_joined_lines_are_those_of_the_file) {
    text_open(result, "int a \\\n; static void b_\\\nes(\\\n\\\r\nconst float* f) {}\n"
                      "static void c_es(void) {}\n");
    assert_int_equal(result->faults.count, 0);
    assert_int_equal(result->unit.functions[0].line, 2);
    assert_int_equal(result->unit.functions[0].params[0].line, 5);
    assert_int_equal(result->unit.functions[1].line, 6);
}
