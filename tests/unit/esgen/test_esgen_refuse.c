// SPDX-License-Identifier: MIT
// What is wrong is said in a sentence at the user's own line (S5.19), and limits are what they say.
#include "esgen_text.h"

// "2 ..." is said of line 2, " ..." of line 1; " -": nothing is.
static void expect_refused(const char* text, char* expected) {
    char wanted[BASE_REPORT_BYTES_MAX] = "";
    const char* said = strchr(expected, ' ') + 1;
    const uint32_t line = expected[0] == ' ' ? 1 : (uint32_t)atoi(expected);
    expected[strlen(expected) - 1] = '\0';
    if (strcmp(said, "-") != 0)
        (void)base_text_format(wanted, sizeof wanted, "x.c:%u: error: %s", line, said);
    esgen_text_result result;
    text_open(&result, text);
    if (strcmp(result.faults.text, wanted) != 0)
        fail_msg("%ssaid:     %s\nexpected: %s", text, result.faults.text, wanted);
    text_close(&result);
}

CASE(what_is_wrong_is_said_at_its_line) {
    each_text("refused.txt", expect_refused);
}

// `head`, then `item` with numbers from 0, between commas, then `tail`.
static char* repeat(const char* head, const char* item, const char* between, uint32_t count,
                    const char* tail) {
    size_t bytes = strlen(head) + strlen(tail) + count * (strlen(item) + strlen(between) + 12) + 1;
    char* text = calloc(1, bytes);
    assert_non_null(text);
    size_t used = 0;
    (void)base_text_copy(text, bytes, head);
    for (uint32_t i = 0; i < count; i++) {
        used += strlen(text + used);
        const char* mark = strchr(item, '#');
        (void)base_text_format(text + used, bytes - used, "%s%.*s%u%s", i ? between : "",
                               (int)(mark - item), item, i, mark + 1);
    }
    used += strlen(text + used);
    (void)base_text_copy(text + used, bytes - used, tail);
    return text;
}

// At max - 1 and max nothing is said, at max + 1 this is.
static void expect_limit(const char* head, const char* item, const char* between, uint32_t max,
                         const char* tail, const char* said) {
    for (uint32_t count = max - 1; count <= max + 1; count++) {
        char* text = repeat(head, item, between, count, tail);
        esgen_text_result result;
        text_open(&result, text);
        if (strcmp(result.faults.text, count > max ? said : "") != 0)
            print_error("%u: %s\n", count, result.faults.text);
        assert_string_equal(result.faults.text, count > max ? said : "");
        text_close(&result);
        free(text);
    }
}

CASE(lists_functions_and_types_have_limits) {
    expect_limit("ES_TAG(", "t#", ", ", ESGEN_LIST_MAX, ") static void a_es(void) {}",
                 "x.c:1: error: ES_TAG: more than 32 names");
    expect_limit("", "static void a#_es(void) {}", "", ESGEN_FUNCTIONS_MAX, "",
                 "x.c:1: error: more than 512 systems in one file");
    expect_limit("", "ES_TYPE(a#, A)", " ", ESGEN_TYPES_MAX, "",
                 "x.c:1: error: more than 256 C types have names");
    expect_limit("", "ES_EVENT(a) typedef struct { float x; } a#;", "", ESGEN_STRUCTS_MAX, "",
                 "x.c:1: error: more than 256 structs to register");
    expect_limit("", "ES_EVENT(a#)", " ", ESGEN_STRUCT_EVENTS_MAX,
                 " typedef struct { float x; } a;",
                 "x.c:1: error: more than 8 events with one payload");
    expect_limit("ES_STRUCT(A) typedef struct { float x", "#", ", y", ESGEN_FIELDS_MAX, "; } a;",
                 "x.c:1: error: a has more than 64 fields");
}

CASE(parameters_have_limits) {
    expect_limit("static void a_es(", "float f#", ", ", ESGEN_TERMS_MAX, ") {}",
                 "x.c:1: error: a_es asks for 33 components, more than 32");
    expect_limit("static void a_es(const float* f, ", "ES_CONTEXT float* c#", ", ",
                 ESGEN_PARAMS_MAX - 1, ") {}", "x.c:1: error: a_es has more than 40 parameters");
}

// One name of `size` bytes in each of these places.
static void expect_name_limit(const char* before, const char* after, const char* said) {
    for (uint32_t size = ESGEN_NAME_BYTES_MAX - 2; size <= ESGEN_NAME_BYTES_MAX; size++) {
        char text[512], name[ESGEN_NAME_BYTES_MAX + 1];
        memset(name, 'n', size);
        name[size] = '\0';
        (void)base_text_format(text, sizeof text, "%s%s%s", before, name, after);
        bool is_over = size == ESGEN_NAME_BYTES_MAX;
        esgen_text_result result;
        text_open(&result, text);
        assert_string_equal(result.faults.text, is_over ? said : "");
        text_close(&result);
    }
}

CASE(names_have_a_limit) {
    static const char said[] = "x.c:1: error: a name is longer than 127 bytes";
    expect_name_limit("ES_STAGE(", ") static void a_es(void) {}", said);
    expect_name_limit("static void a_es(ES_NAME(", ") float f) {}", said);
    expect_name_limit("ES_STRUCT(", ") typedef struct { float f; } a;", said);
    expect_name_limit("ES_STRUCT(A) typedef struct { float ", "; } a;", said);
    expect_name_limit("static void a_es(float ", ") {}",
                      "x.c:1: error: a_es: a parameter is a type, at most one star and a name: "
                      "const ecs_vec2* pos");
}
