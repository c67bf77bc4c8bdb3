// SPDX-License-Identifier: MIT
#include "data_world.h"

static const char lamp_text[] =
    "_scene { // above the templates that it names\n"
    "  first { _template:t=lamp }\n"
    "  first { _template:t=lamp; \"body:RigidBody\"{ mass:r=9 } at:p2=3,4; name:t=\"b\" }\n"
    "}\n"
    "lamp { at:p2=1,2; name:t=a; \"body:RigidBody\"{ mass:r=2; layer:u8=7 } }\n"
    "_scene {\n"
    "  third { _template:t=shown; _group { at:p2=5,6 } look:r=2; _info:t=remark }\n"
    "}\n"
    "shown { _extends:t=lamp; \"look:r\"{ _tags:t=render } }\n";

// An entity of the scene, and what it begins with.
static void expect_entity(ecs_world* world, uint32_t index, float x, const char* name, float mass) {
    ecs_entity entity = ecs_entity_make(2048 + 1 + index, 1);
    assert_true(ecs_is_alive(world, entity));
    const ecs_vec2* at = ecs_get(world, entity, ecs_component_find(world, "at"));
    assert_true(at->x == x);
    const ecs_string* text = ecs_get(world, entity, ecs_component_find(world, "name"));
    assert_string_equal(ecs_string_text(text), name);
    const data_body* body = ecs_get(world, entity, ecs_component_find(world, "body"));
    assert_true(body->mass == mass);
    assert_int_equal(body->layer, 7);
}

DATA_CASE(a_scene_is_created_in_the_order_of_its_text) {
    data_load_ok(world, lamp_text);
    assert_int_equal(ecs_template_count(world), 2);
    assert_ok(ecs_world_seal(world, NULL));
    assert_ok(ecs_scene_create(world, NULL));
    assert_int_equal(ecs_world_entity_count(world), 3);
    expect_entity(world, 0, 1, "a", 2);
    expect_entity(world, 1, 3, "b", 9); // the layer is the template's
    expect_entity(world, 2, 5, "a", 2); // it has no `look` in this world
    assert_string_equal(ecs_entity_template_name(world, ecs_entity_make(2048 + 3, 1)), "shown");
}

DATA_CASE(faults_of_a_scene_have_their_line) {
    static const struct {
        uint32_t line;
        const char *text, *message;
    } faults[] = {
        {2, "_scene {\na { _template:t=lamq } }",
         "entity 'a': there is no template 'lamq', did you mean 'lamp'?"},
        {2, "_scene {\na { at:p2=1,1 } }", "entity 'a' needs _template:t=\"NAME\""},
        {3, "_scene { a { _template:t=lamp\n\nas:p2=1,1 } }",
         "entity 'a': template 'lamp' has no component 'as', did you mean 'at'?"},
        {2, "_scene { a { _template:t=lamp\nat:r=1 } }",
         "component 'at' is a r here and a p2 elsewhere"},
        {2, "_scene { a { _template:t=lamp\nat:p22=1 } }",
         "component 'at' has the unknown type 'p22', did you mean 'p2'?"},
        {2, "_scene { a { _template:t=lamp\nat:p2=1,x } }",
         "component 'at' (p2): 'x' is not a number"},
        {2, "_scene { a { _template:t=lamp\nat:p2=1,1 at:p2=1,1 } }",
         "component 'at' is declared twice, first in line 2"},
        {2, "_scene { a { _template:t=lamp\n_template:t=lamp } }", "_template is given twice"},
        {2, "_scene { a { _template:t=lamp\n_track:b=yes } }",
         "'_track' means nothing in a scene: it is the template's"},
        {2, "_scene { a { _template:t=lamp\n\"at:p2\"{ _replicate:b=yes } } }",
         "'_replicate' means nothing in a scene: it is the template's"},
        {2, "_scene {\na:t=lamp }", "'a' is not a scene entity: name { _template:t=\"NAME\" }"},
        {2, "_scene {\n_a { _template:t=lamp } }",
         "entity '_a': names that begin with '_' belong to the language"},
        {1, "\"_scene:i\"{ }", "template '_scene' cannot have the type 'i'"},
    };
    for (uint32_t i = 0; i < BASE_COUNT(faults); i++) {
        char text[512];
        (void)snprintf(text, sizeof text, "%s\nlamp { at:p2=1,2 }\n", faults[i].text);
        data_refused(world, faults[i].line, text, faults[i].message);
    }
}

DATA_CASE(a_component_of_a_type_of_another_program_is_left_out) {
    const char* text = "lamp { hue:hsv=1 }\n_scene { a { _template:t=lamp; hue:hsv=2 } }";
    data_load load = data_load_bytes(world, text, strlen(text));
    assert_ok(load.result);
    assert_int_equal(load.report.count, 1); // the template's, not again for each entity
}

// Three texts of 5,119 entities fit, and a fourth does not.
DATA_CASE(the_count_of_entities_is_limited) {
    enum { EACH = 5119 };
    data_load_ok(world, "lamp { at:p2=1,2 }");
    char* text = malloc(EACH * 24 + 16);
    assert_non_null(text);
    char* at = text + sprintf(text, "_scene {\n");
    for (uint32_t i = 0; i < EACH; i++)
        at += sprintf(at, "a{_template:t=lamp}\n");
    (void)sprintf(at, "}");
    for (uint32_t i = 0; i < 3; i++)
        data_load_ok(world, text);
    data_load load = data_load_bytes(world, text, strlen(text));
    assert_int_equal(load.result, ECS_ERR_FULL);
    assert_string_equal(load.report.text,
                        "x.blk:1029: error: more than 16384 entities in all scenes");
    free(text);
    // The world of these tests has room for 2,048.
    base_report_first report;
    const base_reporter reporter = base_reporter_first(&report);
    assert_ok(ecs_world_seal(world, NULL));
    assert_int_equal(ecs_scene_create(world, &reporter), ECS_ERR_FULL);
    assert_non_null(
        strstr(report.text, "x.blk:2050: error: this entity cannot be created, a 'lamp'"));
}
