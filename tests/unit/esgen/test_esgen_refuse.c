// SPDX-License-Identifier: MIT
// What is wrong is said in a sentence at the user's own line (S5.19), and limits are what they say.
#include "esgen_text.h"

// The first fault is in this line, and this is said.
static void refused(uint32_t line, const char* text, const char* said) {
    char expected[BASE_REPORT_BYTES_MAX];
    (void)base_text_format(expected, sizeof expected, "x.c:%u: error: %s", line, said);
    esgen_text_result result;
    text_open(&result, text);
    if (strcmp(result.faults.text, expected) != 0)
        print_error("said:     %s\nexpected: %s\n", result.faults.text, expected);
    assert_string_equal(result.faults.text, expected);
    assert_true(result.faults.count > 0);
    text_close(&result);
}

CASE(text_that_never_ends_is_refused) {
    refused(2, "int x;\n/* and so", "this comment never ends");
    refused(1, "#define X /* and so\n\n", "this comment never ends");
    refused(3, "int x;\n\n\"and so\n\"", "this text never ends");
    refused(1, "'\\", "this text never ends");
    refused(2, "int x;\nint f(void) {\n{ }\n",
            "this { is never closed (both branches of an #if are read, of #if 0 none)");
    refused(2, "#if A\nint f(int a) {\n#else\nint f(int b) {\n#endif\n}\n",
            "this { is never closed (both branches of an #if are read, of #if 0 none)");
    refused(2, "int x;\nint f(int a;\nstatic void a_es(void) {}\n",
            "this ( is never closed (both branches of an #if are read, of #if 0 none)");
}

CASE(functions_that_cannot_be_systems_are_refused) {
    refused(1, "void a_es(void) {}", "a_es must be static");
    refused(1, "static int32_t a_es(void) {}", "a_es must return void");
    refused(1, "static void* a_es(void) {}", "a_es must return void");
    refused(1, "static bool a_es(void) {}", "a_es must return void");
    refused(2, "static float\na_ecs_query(const float* f) {}",
            "a_ecs_query must return void, or bool: false ends the walk");
    refused(2, "static void a_es(void) {}\nstatic void a_es(void) {}",
            "a_es is twice in this file");
    refused(1, "static void a_es(pos)\n float* pos; {}",
            "a_es: write the parameters' types between the parentheses");
    refused(1, "static void a_es(pos) vec* pos; {}",
            "a_es: write the parameters' types between the parentheses");
    refused(1, "static void a_es(void) LATE(1) {}", "a_es: its body must follow its parameters");
    refused(1, "ES_TAG(server)\nstatic void a_es(void);",
            "ES_TAG belongs to the body of a_es, not to a declaration");
}

CASE(wrong_annotations_are_refused) {
    refused(2, "\nES_TAGS(server) static void a_es(void) {}",
            "unknown annotation ES_TAGS: did you mean ES_TAG?");
    refused(1, "ES_TAG static void a_es(void) {}", "ES_TAG needs (...)");
    refused(1, "ES_TAG() static void a_es(void) {}", "a name is missing here");
    refused(1, "ES_TAG(a,,b) static void a_es(void) {}", "a name is missing here");
    refused(1, "ES_TAG(a |) static void a_es(void) {}", "a_es: a tag is missing beside | in 'a|'");
    refused(1, "ES_STAGE(\"a b\") static void a_es(void) {}",
            "a name is made of letters, digits and _.-+:<>@, 'a b' is not");
    refused(1, "ES_EVERY(0) static void a_es(void) {}", "ES_EVERY takes a number above 0, not '0'");
    refused(1, "ES_EVERY(4294967296) static void a_es(void) {}",
            "ES_EVERY takes a number above 0, not '4294967296'");
    refused(1, "ES_CONFINED static void a_ecs_query(int32_t x) {}",
            "a_ecs_query is no system: it runs while no other does");
    refused(1, "ES_ON_EVENT(hit) ES_READS(pos) static void a_es_event_handler(void) {}",
            "a_es_event_handler is no system: it runs while no other does");
    refused(1, "ES_QUANTUM(1.5) static void a_es(void) {}",
            "ES_QUANTUM takes a number above 0, not '1.5'");
    refused(1, "ES_ON_ENTER(a, b) static void a_es(float* r) {}",
            "ES_ON_ENTER takes the name of one function");
    refused(2, "ES_REQUIRE(rubble)\nstatic void a_es(void) {}",
            "a_es: say the name and the type of 'rubble': name:tag");
    refused(1, "ES_REQUIRE_NOT(:tag) static void a_es(void) {}",
            "a_es: say the name and the type of ':tag': name:tag");
}

CASE(what_does_not_belong_together_is_refused) {
    refused(1, "static void a_es_event_handler(void) {}",
            "a_es_event_handler handles no event: add ES_ON_EVENT(name) or ES_TRACK(component)");
    refused(1, "ES_ON_EVENT(hit) static void a_es(void) {}",
            "a_es is no event handler: name it *_es_event_handler");
    refused(1, "ES_ON_EVENT(hit) ES_EVERY(2) static void a_es_event_handler(void) {}",
            "a_es_event_handler is called on events: it has no stage, interval or turn");
    refused(1, "ES_TAG(server) static void a_ecs_query(float f) {}",
            "a_ecs_query is a query: it has neither stage nor tags nor order");
    refused(1, "static void a_ecs_query(void) {}",
            "a_ecs_query asks for no component: take one, or ES_REQUIRE");
    refused(1, "static void a_es(ecs_entity entity) {}",
            "a_es asks for no component, so there are no entities to call it with: take one, or "
            "ES_REQUIRE");
    refused(1, "ES_ON_ENTER(b) static void a_es(void) {}",
            "a_es asks for no component, so there are no entities to call it with: take one, or "
            "ES_REQUIRE");
}

CASE(parameters_that_mean_nothing_are_refused) {
    static const char plain[] =
        "a_es: a parameter is a type, at most one star and a name: const ecs_vec2* pos";
    refused(1, "static void a_es(float** f) {}", plain);
    refused(1, "static void a_es(float f[3]) {}", plain);
    refused(1, "static void a_es(void (*call)(int), float* f) {}", plain);
    refused(1, "static void a_es(float) {}", plain);
    refused(1, "static void a_es(float* f, ...) {}", plain);
    refused(1, "static void a_es(float* f,) {}", "a_es: a parameter is missing here");
    refused(1, "static void a_es(unsigned int f) {}",
            "a_es: the size of unsigned depends on the machine: say uint32_t");
    refused(3, "static void a_es(\n\n const my_body* body) {}",
            "a_es: no component type is a my_body (parameter body): say ES_TYPE(my_body, Name), or "
            "ES_CONTEXT before it");
    refused(1, "static void a_es(float* f, ES_NAME(f) float g) {}",
            "a_es asks for component f twice");
    refused(1, "static void a_es(ES_OPTIONAL float f) {}",
            "a_es: ES_OPTIONAL is for pointers: f by value takes ES_DEFAULT(value)");
    refused(1, "static void a_es(ES_DEFAULT(1) float* f) {}",
            "a_es: ES_DEFAULT is for parameters by value: pointer f takes ES_OPTIONAL");
    refused(1, "static void a_es(ES_DEFAULT() float f) {}", "ES_DEFAULT is not understood here");
    refused(1, "static void a_es(ES_MAYBE float f) {}", "ES_MAYBE is not understood here");
    refused(1, "ES_SPAN static void a_es(float f) {}",
            "a_es: with ES_SPAN f is an array: take a pointer");
    refused(1, "static void a_es(const ecs_list* path) {}",
            "a_es: say what list path holds: ES_LIST(p2), for example");
    refused(1, "static void a_es(ES_LIST(tag) const ecs_list* path) {}",
            "a_es: there is no list<tag>");
    refused(1, "static void a_es(ES_LIST(i) const float* path) {}",
            "a_es: ES_LIST is for parameters of type ecs_list");
}

CASE(parameters_that_are_no_components_have_their_form) {
    refused(1, "static void a_es(ecs_stage* stage) {}", "a_es: take const ecs_stage* stage");
    refused(1, "static void a_es(const ecs_event* event) {}", "a_es gets no event");
    refused(1, "static void a_ecs_query(const ecs_stage* stage, float f) {}",
            "a_ecs_query: a query runs outside of stages: hand the stage on as ES_CONTEXT");
    refused(1, "static void a_es(const float* f, const ecs_entity* entity) {}",
            "a_es: entity is a value");
    refused(1, "ES_SPAN static void a_es(const float* f, ecs_entity entity) {}",
            "a_es: entity is an array here: take const ecs_entity*");
    refused(1, "ES_SPAN static void a_es(const float* f, uint64_t count) {}",
            "a_es: take uint32_t count");
    refused(1, "static void a_es(ES_CONTEXT float f) {}", "a_es: the context f must be a pointer");
    refused(1, "static void a_es(ES_OPTIONAL ES_CONTEXT float* f) {}", "a_es: f is no component");
    refused(1, "static void a_es(float* f, ecs_entity entity, ecs_entity eid) {}",
            "a_es: eid is there already");
    refused(
        1, "static void a_es(float* rows) {}",
        "a_es: what is generated has its own rows: choose another name and say ES_NAME(component)");
    refused(1, "static void a_ecs_query(float f, ES_CONTEXT int32_t it) {}",
            "a_ecs_query: what is generated has its own it: choose another name");
}

CASE(structs_that_cannot_be_types_are_refused) {
    refused(1, "ES_TYPE(a) int x;", "ES_TYPE takes a C type and the name it is registered by");
    refused(2, "\nES_STRUCT(A)\nstruct a { int32_t x; };",
            "ES_STRUCT and ES_EVENT belong before typedef struct name {...} name;");
    refused(1, "ES_STRUCT() typedef struct a { int32_t x; } a;", "a name is missing here");
    refused(1, "ES_STRUCT typedef struct a { int32_t x; } a;", "ES_STRUCT needs (...)");
    refused(1, "ES_EVENT(a, exports) typedef struct a { int32_t x; } a;",
            "ES_EVENT takes (name) or (name, exported)");
    refused(1, "ES_STRUCT(A) typedef struct a { } a;", "a has no fields");
    refused(2, "ES_STRUCT(A) typedef struct a {\n int x; } a;",
            "a: the size of int depends on the machine: say int32_t");
    refused(3, "ES_STRUCT(A) typedef struct a {\n\n my_phase x; } a;",
            "a: no field can be a my_phase: take bool, a number like int32_t or float, ecs_entity, "
            "a vector, or register the struct by hand");
    static const char plain[] = "a: a field is a type and names, with [count] for an array: no "
                                "pointers, no bits, no structs";
    refused(1, "ES_STRUCT(A) typedef struct a { float* x; } a;", plain);
    refused(1, "ES_STRUCT(A) typedef struct a { uint32_t x : 3; } a;", plain);
    refused(1, "ES_STRUCT(A) typedef struct a { float; } a;", plain);
    refused(1, "ES_STRUCT(A) typedef struct a { float x[]; } a;",
            "a: the count of an array is not understood");
    refused(1, "ES_STRUCT(A) typedef struct a { union { float x; } u; } a;",
            "a: a struct or union inside is registered by hand");
    refused(1, "ES_STRUCT(A) typedef struct a { float x ES_QUANT(1, 2); } a;",
            "ES_QUANT takes (min, step, bits)");
    refused(1, "ES_STRUCT(A) typedef struct a { float ES_QUANT(1, 2, 3) x; } a;",
            "ES_QUANT(min, step, bits) belongs before or after a field");
}

CASE(marks_of_fields_stand_right) {
#define MARKED(text) "ES_EVENT(e) ES_MESSAGE(G__E) typedef struct a { " text " } a;"
    refused(1, MARKED("int32_t x ES_CLAMP(1);"), "ES_CLAMP takes (min, max)");
    refused(1, MARKED("int32_t x ES_CLAMP(, 1);"), "ES_CLAMP takes (min, max)");
    refused(1, MARKED("int32_t x ES_RANGE(1, 2, 3);"), "ES_RANGE takes (min, max)");
    refused(1, MARKED("int32_t x ES_RANGE;"), "ES_RANGE takes (min, max)");
    refused(1, MARKED("ES_RANGE([1, 2]) int32_t x;"), "ES_RANGE takes (min, max)");
    refused(1, MARKED("ES_NAME(a b) int32_t x;"), "ES_NAME takes (name)");
    refused(1, MARKED("ES_NAME(\"a\") int32_t x;"), "ES_NAME takes (name)");
    refused(1, MARKED("int32_t ES_LOCAL x;"), "ES_LOCAL belongs before or after a field");
    refused(2, MARKED("int32_t\nES_CLAMP(1, 2) x;"),
            "ES_CLAMP(min, max) belongs before or after a field");
    refused(1, MARKED("int32_t x ES_CLAMPED(1, 2);"), "ES_CLAMPED is not understood here");
    refused(1, MARKED("int32_t x ES_CLAMP(1, 2) ES_RANGE(1, 2);"),
            "a field has one ES_CLAMP or one ES_RANGE");
    refused(1, MARKED("bool x ES_RANGE(0, 1);"), "a.x: ES_CLAMP and ES_RANGE are for numbers");
    refused(2, MARKED("int32_t y;\necs_entity x ES_CLAMP(0, 1);"),
            "a.x: ES_CLAMP and ES_RANGE are for numbers");
    static const char parts[] = "a.x: a message has no vectors and arrays: make its parts fields "
                                "of their own, or say ES_LOCAL";
    refused(1, MARKED("ecs_vec2 x;"), parts);
    refused(1, MARKED("int32_t x[3];"), parts);
    static const char text[] = "a.x: a char is a text of a message: char x[BYTES], without limits, "
                               "in the payload of an event that is no component";
    refused(1, MARKED("char x;"), text);
    refused(1, MARKED("char x[2][3];"), text);
    refused(1, MARKED("char x[8] ES_LOCAL;"), text);
    refused(1, MARKED("char x[8] ES_RANGE(1, 2);"), text);
    refused(1, "ES_EVENT(e) typedef struct a { char x[8]; } a;", text);
    refused(1, "ES_STRUCT(A) typedef struct a { char x[8]; } a;", text);
#undef MARKED
    static const char none[] =
        "a.x is marked for a message, but there is none: say ES_MESSAGE(type) after ES_EVENT";
    refused(1, "ES_EVENT(e) typedef struct a { int32_t x ES_CLAMP(1, 2); } a;", none);
    refused(1, "ES_STRUCT(A) typedef struct a { int32_t x ES_LOCAL; } a;", none);
    refused(1, "ES_STRUCT(A) typedef struct a { ES_NAME(y) int32_t x; } a;", none);
}

CASE(messages_belong_to_events) {
    static const char type[] = "ES_MESSAGE takes the C type of a protobuf message (Game__Hit for "
                               "message Hit of package game), then input, kept, reliable or late";
    refused(1, "ES_EVENT(e) ES_MESSAGE() typedef struct a { int32_t x; } a;", type);
    refused(1, "ES_EVENT(e) ES_MESSAGE(game.Hit) typedef struct a { int32_t x; } a;", type);
    refused(1, "ES_EVENT(e) ES_MESSAGE typedef struct a { int32_t x; } a;",
            "ES_MESSAGE needs (...)");
    static const char event[] = "ES_MESSAGE belongs after an ES_EVENT, which it is sent as";
    refused(1, "ES_MESSAGE(G__E) ES_EVENT(e) typedef struct a { int32_t x; } a;", event);
    refused(1, "ES_STRUCT(A) ES_MESSAGE(G__E) typedef struct a { int32_t x; } a;", event);
    refused(1, "ES_EVENT(e) ES_MESSAGE(G__E) ES_MESSAGE(G__F) typedef struct a { int32_t x; } a;",
            event);
    refused(1, "ES_EVENT(e-e) ES_MESSAGE(G__E) typedef struct a { int32_t x; } a;",
            "event 'e-e' has a message, so its name must be a name in C: functions have it");
}

// ---- limits ----

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

#define GAME "ES_GAME(\"G\", 1, 2"
CASE(wrong_sounds_are_refused) {
#define SOUND(text) "ES_EVENT(e) " text " typedef struct a { int32_t x; } a;"
    static const char form[] =
        "ES_SOUND takes a file of assets/, a volume of 0 to 1, and how far it is heard: "
        "ES_SOUND(\"hit.wav\", 0.8) is heard everywhere, "
        "ES_SOUND(\"hit.wav\", 0.8, 70) fades";
    refused(1, SOUND("ES_SOUND()"), form);
    refused(1, SOUND("ES_SOUND(\"a.wav\")"), form);
    refused(1, SOUND("ES_SOUND(\"a.wav\",)"), form);
    refused(1, SOUND("ES_SOUND(a.wav, 1)"), form);
    refused(1, SOUND("ES_SOUND(\"a.wav\", 1, 2, 3)"), form);
    static const char place[] = "one ES_SOUND belongs after an ES_EVENT, which it is heard of";
    refused(1, SOUND("ES_SOUND(\"a.wav\", 1) ES_SOUND(\"b.wav\", 1)"), place);
    refused(1, "ES_SOUND(\"a.wav\", 1) ES_EVENT(e) typedef struct a { int32_t x; } a;", place);
    refused(1, SOUND("ES_SOUND"), "ES_SOUND needs (...)");
#undef SOUND
}

#define GAME_INPUT "ES_EVENT(e) ES_MESSAGE(G__E, input) typedef struct a { int32_t x; } a;"
#define GAME_CONTEXT(text) "ES_GAME_CONTEXT(g) typedef struct c { " text " } c;"

CASE(games_that_are_not_whole_are_refused) {
    refused(1, GAME ");",
            "ES_GAME and ES_SYSTEMS need the game's context: a struct with ES_GAME_CONTEXT in this "
            "file or in a header that it includes by \"name\"");
    refused(1, GAME_CONTEXT("") GAME ");",
            "a game has exactly one message that is its input: ES_MESSAGE(Game__Input, input); "
            "here are 0");
    refused(1, GAME_CONTEXT("ecs_query* near;") GAME_INPUT GAME ");",
            "c.near: say ES_QUERY(...), or write near_ecs_query");
    static const char shape[] = "ES_GAME takes (\"Title\", width, height, .field = value...)";
    refused(1, GAME_CONTEXT("") GAME_INPUT "ES_GAME(G, 1, 2);", shape);
    refused(1, GAME_CONTEXT("") GAME_INPUT "ES_GAME(\"G\", 1);", shape);
    refused(1, GAME_CONTEXT("") GAME_INPUT GAME ", start = s);", shape);
    refused(1, GAME_CONTEXT("") GAME_INPUT GAME ", .title = s);",
            ".title is written by shoal-esgen");
    refused(1, GAME_CONTEXT("") GAME_INPUT GAME "); " GAME ");", "a file has one ES_GAME");
    refused(1, GAME_CONTEXT("") GAME_CONTEXT(""),
            "a file has one ES_GAME_CONTEXT, with its headers");
    refused(4, GAME_CONTEXT("int a;") "\n\n\nES_TAG(sever | predict) static void a_es(float* b) {}",
            "a_es: no world of a game has the tag sever, did you mean server?: there are server, "
            "gameClient, predict and render");
    refused(1, "ES_GAME_CONTEXT(g) struct c { };",
            "ES_GAME_CONTEXT belongs before typedef struct name {...} name;");
}

#define GAME_RULES GAME ", .interest = &rules, .start = start);\n"
#define GAME_INCLUDE GAME_CONTEXT("") GAME_INPUT "\n#include \"x.es.h\"\n"

CASE(what_a_table_names_stands_before_its_include) {
    static const char said[] =
        ".interest = &rules: rules must be above the include of x.es.h, which has the table";
    refused(4, GAME_INCLUDE GAME_RULES "static const net_rules rules = {.size = 4};", said);
    refused(4, GAME_INCLUDE GAME_RULES "net_rules rules[1];", said);
    static const char* const sound[] = {
        "static const net_rules rules = {0};\n" GAME_INCLUDE GAME_RULES,
        // Of a header, as far as this file shows.
        GAME_INCLUDE GAME_RULES "static void start(int rules[2]) { int start = 1, rules = start; }",
    };
    for (uint32_t i = 0; i < BASE_COUNT(sound); i++) {
        esgen_text_result result;
        text_open(&result, sound[i]);
        assert_string_equal(result.faults.text, "");
        text_close(&result);
    }
}

CASE(fields_of_a_context_that_cannot_be_filled_are_refused) {
    refused(1, GAME_CONTEXT("ecs_component_id a[2];"),
            "c.a: an array of ids says their names: ES_NAME(a, b)");
    refused(1, GAME_CONTEXT("ecs_component_id a ES_NAME(x, y);"), "c.a is one id and has 2 names");
    refused(1, GAME_CONTEXT("ecs_component_id a ES_QUERY(x);"),
            "c.a: an id takes ES_NAME(name) alone");
    refused(1, GAME_CONTEXT("bool a ES_NAME(x);"), "ES_NAME does not belong here");
    refused(1, GAME_CONTEXT("float a ES_STEP(x);"),
            "ES_STEP takes (template, component), or (template, component.field)");
    refused(1, GAME_CONTEXT("thing a ES_VALUE(x);"), "ES_VALUE takes (template, component)");
    refused(1, GAME_CONTEXT("thing* a ES_VALUE(x, y);"), "ES_VALUE does not belong here");
    static const char query[] =
        "ES_QUERY takes one text of up to 32 components as name:type, below 128 bytes; '!' before "
        "one that must be missing, '?' before one that may be";
    refused(1, GAME_CONTEXT("ecs_query* a ES_QUERY(\"pos\");"), query);
    refused(1, GAME_CONTEXT("ecs_query* a ES_QUERY(\"\");"), query);
    refused(1, GAME_CONTEXT("ecs_query* a ES_QUERY(pos);"), query);
    refused(1, "ES_SETTINGS typedef struct s { float a; } s;",
            "s.a: a setting is a number or a bool with ES_SETTING(default, min, max, \"help\")");
    refused(1, "ES_SETTINGS typedef struct s { ecs_vec2 a ES_SETTING(0, 0, 1, \"h\"); } s;",
            "s.a: a setting is a number or a bool with ES_SETTING(default, min, max, \"help\")");
    static const char action[] =
        "an action is marked ES_ACTION(\"name\", \"keys\", \"help\"), or with inputs of a game "
        "controller: ES_ACTION(\"name\", \"keys\", \"help\", \"A,LeftX-\")";
    refused(1, "ES_ACTIONS typedef enum a { A ES_ACTION(left, \"A\", \"go\") } a;", action);
    refused(1, "ES_ACTIONS typedef enum a { A ES_ACTION(\"l\", \"A\") } a;", action);
    refused(1, "ES_ACTIONS typedef enum a { A ES_ACTION(\"l\", \"A\", \"go\", 5) } a;", action);
    refused(1, "ES_ACTIONS typedef enum a { A ES_ACTION(\"l\", \"A\", \"g\", \"B\", \"C\") } a;",
            action);
    refused(1, "ES_STRUCT(A, flat) typedef struct a { float f; } a;",
            "ES_STRUCT takes (Name), (Name, boxed) or (Name, request = function)");
    refused(1, "ES_STRUCT(A) typedef struct a { int32_t f ES_ANGLE(8); } a;",
            "a.f: ES_ANGLE is for float and double");
    refused(1, "ES_EVENT(e) ES_MESSAGE(G__E, loud) typedef struct a { float f; } a;",
            "ES_MESSAGE takes the C type of a protobuf message (Game__Hit for message Hit of "
            "package game), then input, kept, reliable or late");
    static const char kept[] =
        "only an input is kept, and its payload is a component too: ES_STRUCT(Name)";
    refused(1, "ES_EVENT(e) ES_MESSAGE(G__E, input, kept) typedef struct a { float f; } a;", kept);
    refused(1, "ES_STRUCT(A) ES_EVENT(e) ES_MESSAGE(G__E, kept) typedef struct a { float f; } a;",
            kept);
}

// Without the stage, the system runs in a tick, where there is no picture.
CASE(a_picture_outside_of_its_stage_is_refused) {
#define USER GAME_CONTEXT("") "static void a_es(const ecs_stage* stage) {\n"
    refused(2, "static void draw_es(const ecs_stage* stage) {\n const net_draw* d = stage->user; }",
            "draw_es takes the picture (net_draw), which only stage render has: "
            "add ES_STAGE(render)");
    refused(1, "ES_STAGE(late) static void a_es(void) { net_draw d; }",
            "a_es takes the picture (net_draw), which only stage render has: add ES_STAGE(render)");
    refused(3, USER "if (1) {}\n const pen p = {.draw = stage->user}; }",
            "a_es takes the picture (stage->user), which only stage render has: "
            "add ES_STAGE(render)");
    refused(1, "ES_ON_EVENT(e) static void a_es_event_handler(void) { (const net_draw*)0; }",
            "a_es_event_handler takes the picture (net_draw), which only stage render has: keep "
            "what it shows, and draw it in a system with ES_STAGE(render)");
    static const char* const right[] = {
        "ES_STAGE(render) static void a_es(const ecs_stage* stage) { net_draw* d = stage->user; }",
        "static void a_es(const ecs_stage* stage) { mine* m = stage->user; }", // no game
        GAME_CONTEXT("") "static void a_ecs_query(float f) { net_draw* d; }",
        USER "} static void draw(const net_draw* d) { stage->user; }",
    };
    for (uint32_t i = 0; i < BASE_COUNT(right); i++) {
        esgen_text_result result;
        text_open(&result, right[i]);
        assert_string_equal(result.faults.text, "");
        text_close(&result);
    }
#undef USER
}
