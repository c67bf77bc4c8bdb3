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

// S5.17, S5.19: by name and C type.
TEXT_CASE(parameters_are_bound_by_name_and_type) {
    text_open(
        result,
        "ES_TYPE(my_body, Body)\nES_TYPE(struct raw, Raw)\n"
        "static void a_es(const ecs_stage* stage, ecs_entity eid, ecs_vec2* restrict pos,\n"
        "  ecs_vec2 const* const vel, const float brick__size, struct raw* raw,\n"
        "  ES_OPTIONAL const my_body* body, ES_DEFAULT((ecs_color){1, 2, 3, 4}) ecs_color c,\n"
        "  ES_NAME(a.b) ecs_entity other, ES_LIST(p3) const ecs_list* path,\n"
        "  ES_CONTEXT struct ctx* context, const ecs_object* bag, const ecs_string* text) {}");
    assert_string_equal(result->faults.text, "");
    const esgen_function* f = &result->unit.functions[0];
    static const struct {
        esgen_param_kind kind;
        bool is_const, is_pointer;
        const char *component, *type;
    } expected[] = {
        {ESGEN_STAGE, true, true, "", ""},
        {ESGEN_ENTITY, true, false, "", ""},
        {ESGEN_COMPONENT, false, true, "pos", "p2"},
        {ESGEN_COMPONENT, true, true, "vel", "p2"},
        {ESGEN_COMPONENT, true, false, "brick.size", "r"},
        {ESGEN_COMPONENT, false, true, "raw", "Raw"},
        {ESGEN_COMPONENT, true, true, "body", "Body"},
        {ESGEN_COMPONENT, true, false, "c", "c"},
        {ESGEN_COMPONENT, true, false, "a.b", "eid"},
        {ESGEN_COMPONENT, true, true, "path", "list<p3>"},
        {ESGEN_CONTEXT, false, true, "", ""},
        {ESGEN_COMPONENT, true, true, "bag", "object"},
        {ESGEN_COMPONENT, true, true, "text", "t"},
    };
    assert_int_equal(f->param_count, BASE_COUNT(expected));
    for (uint32_t i = 0; i < f->param_count; i++) {
        assert_int_equal(f->params[i].kind, expected[i].kind);
        assert_int_equal(f->params[i].is_const, expected[i].is_const);
        assert_int_equal(f->params[i].is_pointer, expected[i].is_pointer);
        assert_string_equal(f->params[i].component.text, expected[i].component);
        assert_string_equal(f->params[i].component_type.text, expected[i].type);
    }
    assert_true(f->params[5].is_struct && f->params[6].is_optional && f->params[7].has_default);
    assert_string_equal(f->params[7].default_value.text, "(ecs_color){1, 2, 3, 4}");
}

CASE(a_system_that_gets_nothing_but_columns_is_confined) { // B10
    static const struct {
        const char* text;
        bool is_confined;
    } cases[] = {
        {"static void f_es(float* r) {}", true},
        {"static void f_es(const ecs_stage* stage, float* r) {}", false},
        {"static void f_es(ES_CONTEXT const my_game* game, float* r) {}", false},
        {"ES_CONFINED static void f_es(const ecs_stage* stage, float* r) {}", true},
        {"ES_READS(pos) static void f_es(const ecs_stage* stage, float* r) {}", true},
        {"ES_WRITES(grid) static void f_es(ES_CONTEXT my_game* game) {}", true},
        {"ES_QUANTUM(8) static void f_es(ES_CONTEXT my_game* game, float* r) {}", true},
        {"ES_ON_ENTER(in) static void f_es(float* r) {}", false},
    };
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        esgen_text_result result;
        text_open(&result, cases[i].text);
        assert_int_equal(result.faults.count, 0);
        assert_true(esgen_is_confined(&result.unit.functions[0]) == cases[i].is_confined);
        text_close(&result);
    }
}

TEXT_CASE(annotations_say_what_they_say) {
    text_open(result,
              "ES_STAGE(render) ES_TAG(server | predict, \"two\" \"parts\") ES_BEFORE(a_es, b_es)\n"
              "ES_AFTER(c_es) ES_REQUIRE(brick.pos:ip2, path:list<r>) ES_REQUIRE_NOT(dead:tag)\n"
              "ES_REQUIRE_ANY(x:i, y:r) ES_ONLY ES_SPAN ES_EVERY(120) ES_QUANTUM(ROWS)\n"
              "ES_READS(pos, a.b) ES_WRITES(grid)\n"
              "ES_ON_ENTER(in) ES_ON_LEAVE(out) ES_FIRST(one)\n"
              "static void f_es(uint32_t count, float* r) {}\n"
              "ES_TRACK(pos, vel) ES_ON_EVENT(on_appear)\n"
              "static void g_es_event_handler(const my_thing* payload) {}");
    assert_string_equal(result->faults.text, "");
    const esgen_function* f = &result->unit.functions[0];
    assert_string_equal(f->stage.text, "render");
    assert_int_equal(f->tags.count, 2);
    assert_string_equal(f->tags.items[0].text, "server|predict");
    assert_string_equal(f->tags.items[1].text, "twoparts");
    assert_string_equal(f->before.items[1].text, "b_es");
    assert_string_equal(f->after.items[0].text, "c_es");
    assert_string_equal(f->require.items[0].text, "brick.pos:ip2");
    assert_string_equal(f->require.items[1].text, "path:list<r>");
    assert_string_equal(f->require_not.items[0].text, "dead:tag");
    assert_string_equal(f->any.items[1].text, "y:r");
    assert_string_equal(f->every.text, "120");
    assert_string_equal(f->quantum.text, "ROWS");
    assert_string_equal(f->reads.items[1].text, "a.b");
    assert_string_equal(f->writes.items[0].text, "grid");
    assert_string_equal(f->enter.text, "in");
    assert_string_equal(f->leave.text, "out");
    assert_string_equal(f->first_update.text, "one");
    assert_true(f->is_only && f->is_span);
    assert_true(!f->is_confined && esgen_is_confined(f));
    const esgen_function* g = &result->unit.functions[1];
    assert_string_equal(g->track.items[1].text, "vel");
    assert_string_equal(g->events.items[0].text, "on_appear");
    assert_int_equal(g->params[0].kind, ESGEN_PAYLOAD);
}

// S3.4: fields come from the struct's own declaration.
TEXT_CASE(structs_say_their_fields) {
    text_open(result, "ES_STRUCT(Thing) ES_EVENT(a) ES_EVENT(b, exported)\n"
                      "typedef struct thing {\n"
                      "  const float x, y[2] ES_QUANT(-1.5, 0.25, (4 + 4)); // both\n"
                      "  ecs_vec3 path[N][2 * M];\n"
                      "} thing;\n"
                      "ES_EVENT(alone) typedef struct { uint8_t u; } noise;\n"
                      "static void f_es(thing* thing) {}\nES_REGISTER_TYPES\n"
                      "int main(void) {}");
    assert_string_equal(result->faults.text, "");
    assert_true(result->unit.has_register_types);
    assert_int_equal(result->unit.struct_count, 2);
    const esgen_struct* thing = &result->unit.structs[0];
    assert_string_equal(thing->name.text, "Thing");
    assert_string_equal(thing->c_type.text, "thing");
    assert_int_equal(thing->event_count, 2);
    assert_false(thing->events[0].is_exported);
    assert_true(thing->events[1].is_exported);
    assert_int_equal(thing->field_count, 3);
    assert_string_equal(thing->fields[0].count.text, "1");
    assert_string_equal(thing->fields[0].mark.quant.text, "-1.5, 0.25, (4 + 4)");
    assert_string_equal(thing->fields[1].count.text, "2");
    assert_string_equal(thing->fields[1].mark.quant.text, "-1.5, 0.25, (4 + 4)");
    assert_string_equal(thing->fields[2].kind, "ECS_FIELD_F32");
    assert_string_equal(thing->fields[2].count.text, "3 * N * (2 * M)");
    assert_string_equal(thing->fields[2].mark.quant.text, "0, 0, 0");
    assert_string_equal(result->unit.structs[1].name.text, "");
    assert_string_equal(result->unit.functions[0].params[0].component_type.text, "Thing");
}

TEXT_CASE(fields_of_messages_have_marks) {
    text_open(result, "ES_EVENT(a) ES_MESSAGE(G__A) ES_EVENT(b) ES_EVENT(c) ES_MESSAGE(G__C)\n"
                      "typedef struct thing {\n"
                      "  ES_NAME(left) ES_CLAMP(-M, (N + 1)) int32_t x ES_QUANT(0, 1, 2);\n"
                      "  float y, z ES_RANGE(f(1, 2), 3);\n"
                      "  ecs_vec2 at ES_LOCAL;\n"
                      "} thing;\nES_MESSAGES\n");
    assert_string_equal(result->faults.text, "");
    assert_true(result->unit.has_messages);
    const esgen_struct* thing = &result->unit.structs[0];
    assert_string_equal(thing->events[0].message.text, "G__A");
    assert_string_equal(thing->events[1].message.text, "");
    assert_string_equal(thing->events[2].message.text, "G__C");
    const esgen_mark* x = &thing->fields[0].mark;
    assert_int_equal(x->limit, ESGEN_CLAMPED);
    assert_string_equal(x->message_name.text, "left");
    assert_string_equal(x->quant.text, "0, 1, 2");
    assert_true(strcmp(x->min.text, "-M") == 0 && strcmp(x->max.text, "(N + 1)") == 0);
    for (uint32_t i = 1; i < 3; i++) {
        const esgen_mark* mark = &thing->fields[i].mark;
        assert_int_equal(mark->limit, ESGEN_REFUSED);
        assert_true(strcmp(mark->min.text, "f(1, 2)") == 0 && strcmp(mark->max.text, "3") == 0);
    }
    assert_true(thing->fields[3].mark.is_local);
}
