// SPDX-License-Identifier: MIT
// What is written is what a person would have written (S5.19, S3.5): sample.expected is read, not
// only compared.
// After a wanted change: shoal-esgen -o sample.expected sample.c, and read the difference.
#include "esgen_text.h"
#include "text_file.h"

#include "base/text.h"
#include "ecs/es.h"

static char* read_text(const char* path) {
    char* text = text_file_read(path);
    if (!text) fail_msg("%s cannot be read", path);
    return text;
}

CASE(the_sample_becomes_the_expected_text) {
    char* header = read_text(SAMPLE_FOLDER "/sample.h");
    char* text = read_text(SAMPLE_FOLDER "/sample.c");
    char* expected = read_text(SAMPLE_FOLDER "/sample.expected");
    base_report_first faults = {0};
    base_reporter reporter = base_reporter_first(&faults);
    esgen_unit unit;
    esgen_unit_init(&unit, "sample.c", &reporter);
    esgen_words header_words, words;
    assert_true(esgen_words_read(&header_words, "sample.h", header, strlen(header), &reporter));
    esgen_types_read(&unit, &header_words, ESGEN_NEAR);
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

static void expect_texts(const char* text, const char* const* wanted, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!strstr(text, wanted[i])) fail_msg("%s\nlacks %s\n", text, wanted[i]);
}

CASE(lines_end_at_100_columns) {
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

CASE(only_what_is_needed_is_written) {
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

#define INPUT                                                                                      \
    "ES_EVENT(go) ES_MESSAGE(G__Go, input) typedef struct { int32_t x ES_CLAMP(-7, 7); } go;\n"
#define CONTEXT(fields) "ES_GAME_CONTEXT(g)\ntypedef struct g_game {\n" fields "} g_game;\n"

CASE(a_game_gets_its_whole_table) {
    char* text = write_text(
        "ES_EVENT(hit, exported) ES_MESSAGE(G__BigHit, reliable, late)\n"
        "typedef struct { uint32_t a ES_RANGE(0, 7); } hit;\n"
        "ES_EVENT(wave) ES_MESSAGE(G__Wave) typedef struct { uint32_t a; } wave;\n" INPUT
        "ES_SETTINGS typedef struct { float speed ES_SETTING(1.0, 0.5, 2.0, \"how fast\");\n"
        "bool is_dark ES_SETTING(0.0, 0.0, 1.0, \"night\"); } g_settings;\n"
        "ES_ACTIONS typedef enum { G_LEFT ES_ACTION(\"left\", \"Left,A\", \"go\"), "
        "G_FIRE ES_ACTION(\"fire\", \"Space\", \"shoot\", \"A,RightTrigger\"), G_COUNT } g_a;\n" //
        CONTEXT("  bool is_truth ES_IF_TAG(server);\n"
                "  ecs_component_id pos, cell ES_NAME(brick.pos);\n"
                "  ecs_template_id sides[2] ES_NAME(red, blue+big);\n"
                "  ecs_event_type hit;\n"
                "  ecs_query* all ES_QUERY(\"pos:p2 !dead:tag ?hits:i\");\n"
                "  ecs_query* near;\n"
                "  ecs_quant aim ES_STEP(man, aim);\n"
                "  my_home home ES_VALUE(camera, transform);\n"
                "  g_view* view ES_IF_TAG(render);\n"
                "  uint32_t tick_rate_hz;\n"
                "  struct { int32_t other; } own;\n"
                "  g_settings settings;\n") "ES_GAME(\"G\", 640, 480, .player_join = join, "
                                            ".load = read_level, .predict = net_predict_own, "
                                            ".is_rewinding = true);\n"
                                            "static ecs_entity join(ecs_world* w, g_game* g, "
                                            "const net_game_player* p) { }\n"
                                            "static void near_ecs_query(const ecs_vec2* pos) { "
                                            "}\n");
    static const char* const wanted[] = {
        "{\"BigHit\", &g__big_hit__descriptor, \"hit\", NET_MESSAGE_TO_CLIENTS,\n     true, "
        "hit_to_wire, hit_from_wire, true, hit_refusal}",
        "\"wave\", NET_MESSAGE_TO_SERVER,\n     false",
        "\"go\", NET_MESSAGE_INPUT,",
        "bool g_send_wave(const net_player_context* view, const wave* payload)",
        "    G_MESSAGE_HIT,\n    G_MESSAGE_WAVE,\n    G_MESSAGE_GO,\n    G_MESSAGE_COUNT,\n",
        "    G_SETTING_SPEED,\n    G_SETTING_IS_DARK,\n    G_SETTING_COUNT,\n",
        "{\"speed\", 1.0, 0.5, 2.0, \"how fast\"}",
        "settings->is_dark = value != 0.0;",
        "[G_LEFT] = {\"left\", \"Left,A\", \"go\", NULL}",
        "[G_FIRE] = {\"fire\", \"Space\", \"shoot\", \"A,RightTrigger\"}",
        "game->is_truth = ecs_world_has_tag(world, \"server\");",
        "game->cell = ecs_component_need(&need, \"brick.pos\");",
        "game->sides[1] = ecs_template_need(&need, \"blue+big\");",
        "{\"dead\", \"tag\", ECS_REQUIRE_NOT}",
        "{\"hits\", \"i\", ECS_OPTIONAL_READ}",
        "near_create(world, &context->near)",
        "ecs_template_quant(world, \"man\", \"aim\", &quant)",
        "    const my_home* home_value =\n"
        "        ecs_value_need(&need, \"camera\", \"transform\", sizeof game->home);\n"
        "    if (home_value) game->home = *home_value;\n",
        "    if (ecs_world_has_tag(world, \"render\")) {\n"
        "        game->view = ecs_world_context(world, sizeof *game->view);\n",
        "{.load = read_level, .load_context = game};",
        "return net_predict_own(world, player, entities, capacity);",
        "game->tick_rate_hz = start->tick_rate_hz;",
        "return join(world, context, player);",
        ".player_leave = g_hook_player_leave,",
        ".is_rewinding = true,",
        "static ecs_entity join(ecs_world* w, g_game* g, const net_game_player* p);",
        "return \"a is outside of 0..7\";",
        "const net_game_module* g_module(void) {",
    };
    expect_texts(text, wanted, BASE_COUNT(wanted));
    assert_null(strstr(text, "other"));
    assert_null(strstr(text, "send_go"));
    free(text);
}

// In a file without ES_GAME, the registration is one that the table's file calls.
CASE(a_file_of_a_game_registers_its_own_part) {
    char* text = write_text(
        CONTEXT("  ecs_query* near;\n") "static void near_ecs_query(const ecs_vec2* pos) { }\n"
                                        "static void far_ecs_query(const ecs_vec2* pos) { }\n"
                                        "static void a_es(ecs_vec2* pos) { }\n");
    assert_non_null(
        strstr(text, "\necs_result g_register_x(ecs_world* world, g_game* context);\n"));
    assert_non_null(strstr(text, "near_create(world, &context->near)"));
    assert_null(strstr(text, "&context->far"));
    free(text);
}

CASE(a_range_is_said_once) {
    char* text =
        write_text("ES_REGISTER_TYPES\nES_MESSAGES\nES_STRUCT(A) ES_EVENT(a) ES_MESSAGE(G__A)\n"
                   "typedef struct a { int32_t x ES_CLAMP(-7, 7); float turn ES_ANGLE(9);\n"
                   "  uint32_t y ES_QUANT(2, 1, 4); float z; } a;\n");
    assert_non_null(strstr(text, "{-7, 1, ES_BITS((7) - (-7))}"));
    assert_non_null(strstr(text, "{ECS_ANGLE_MIN, ECS_ANGLE_STEP(9), 9}"));
    assert_non_null(strstr(text, "if (from->y < 2)"));
    assert_non_null(strstr(text, "to->y = ((uint32_t)ES_QUANT_MAX(2, 1, 4));"));
    free(text);
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
    char* source = read_text(SAMPLE_FOLDER "/manual.c");
    char* header = read_text(SAMPLE_FOLDER "/manual.h");
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

CASE(sounds_of_events_become_a_table) {
    char* text = write_text("ES_EVENT(hit) ES_SOUND(\"hit.wav\", 0.8) ES_EVENT(boom)\n"
                            "ES_SOUND(\"far/boom.ogg\", LOUD * 0.5, 70)\n"
                            "typedef struct { uint32_t a; } hit;\n" INPUT CONTEXT(
                                "  float x;\n") "ES_GAME(\"G\", 640, 480, .music = \"a.ogg\");\n");
    static const char* const wanted[] = {
        "static const net_sound g_sound_rows[] = {\n"
        "    {\"hit\", \"hit.wav\", 0.8},\n"
        "    {\"boom\", \"far/boom.ogg\", LOUD * 0.5, 70},\n};\n",
        "        .sounds = g_sound_rows,\n"
        "        .sound_count = BASE_COUNT(g_sound_rows),\n"
        "        .sound_bytes = sizeof(net_sound),\n",
        "        .music = \"a.ogg\",\n",
    };
    expect_texts(text, wanted, BASE_COUNT(wanted));
    free(text);
}

CASE(an_input_that_is_kept_gets_its_handler) {
    char* text =
        write_text("ES_STRUCT(Go) ES_EVENT(go) ES_MESSAGE(G__Go, input, kept)\n"
                   "typedef struct { int32_t x ES_CLAMP(-7, 7); } g_go;\n" CONTEXT(
                       "  g_go last;\n") "ES_GAME(\"G\", 640, 480, .is_rewinding = true);\n");
    static const char* const wanted[] = {
        "    g_go* kept = rows->columns[0];\n",
        "        kept[i] = *(const g_go*)event->payload;\n",
        "    static const char* const events[] = {\"go\"};\n"
        "    static const char* const tags[] = {\"server|predict\"};\n"
        "    static const ecs_term terms[] = {{\"input\", \"Go\", ECS_WRITE}};\n",
        "    if (!result) result = g_register_input(world);\n",
    };
    expect_texts(text, wanted, BASE_COUNT(wanted));
    free(text);
}
