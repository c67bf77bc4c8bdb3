// SPDX-License-Identifier: MIT
/// Lists, arrays and objects in datablocks (S5.2, S5.6) and in the columns of a world (S2.5, S5.8).
#include "template/data_world.h"

#include "sample_world.h"

static const char nested_text[] =
    "hero {\n"
    "  \"inventory:array\"{ item:t=\"sword\"; item:t=\"bow\"; sub:object{ hp:r=3 } }\n"
    "  \"props:object\"{ _track:b=yes; b:i=2; a:i=1; \"nested:object\"{ at:p2=1,2 } }\n"
    "  \"path:list<p2>\"{ _track:b=yes\n v:p2=0,0; v:p2=1,1 }\n"
    "  \"slots:list<t>\"{ item:t=\"head\"\n item:t=\"hand\" }\n"
    "  \"mates:list<eid>\"{ mate:eid=0 }\n"
    "}\n"
    "squire { _extends:t=hero\n \"path:list<p2>\"{ v:p2=5,5 }\n"
    "  \"props:object\"{ c:b=yes }\n \"inventory:array\"{ } }\n"
    "twin { _extends:t=hero\n \"path:list<p2>\"{ _track:b=no } }\n";

DATA_CASE(shared_values_are_read_as_ones_own) {
    data_load_ok(world, "a { \"x:shared:object\"{ \"p:shared:list<i>\"{ i:i=1 } }\n"
                        " \"t:shared:t\"{ value:t=z } }");
    data_expect(world, "a", "x", "{p:list<i>=[1]}");
    data_expect(world, "a", "t", "\"z\"");
}

DATA_CASE(faults_inside_name_file_and_line) {
    static const struct {
        uint32_t line;
        const char *text, *message;
    } cases[] = {
        {3, "a {\n \"x:list<p2>\"{ v:p2=1,2\n v:p3=1,2,3 } }",
         "component 'x': a list<p2> holds no p3"},
        {2, "a { \"x:list<i>\"{\n v:i=1.5 } }", "component 'x', 'v': '1.5' is not a whole number"},
        {2, "a { \"x:array\"{\n v:ip5=1 } }",
         "component 'x': 'v' has the type 'ip5', which no value inside can have, did you mean "
         "'ip2'?"},
        {1, "a { \"x:array\"{ v:RigidBody=1 } }",
         "component 'x': 'v' has the type 'RigidBody', which no value inside can have"},
        {1, "a { \"x:array\"{ v:tag=yes } }",
         "component 'x': 'v' has the type 'tag', which no value inside can have"},
        {2, "a { \"x:object\"{ v:i=1\n v:r=2 } }", "component 'x': 'v' is given twice"},
        {1, "a { \"x:object\"{ \"\":i=1 } }", "component 'x': '': a name has 1 to 127 bytes"},
        {1, "a { \"x:object\"{ inner { } } }",
         "block 'inner' needs a type, as in \"inner:object\"{ }"},
        {1, "a { \"x:object\"{ y:object=1 } }",
         "component 'x', 'y': an object is written as a block: \"name:object\"{ }"},
        {1, "a { \"x:object\"{ \"y:i\"{ value:r=1 } } }",
         "component 'x', 'y': i is written as value:i=..."},
        {2, "a { \"x:object\"{ \"y:object\"{\n _trak:b=yes } } }",
         "'_trak' means nothing here, did you mean '_track'?"},
        {1, "a { x:list<i>=1 }",
         "a list<i> is written as a block: \"x:list<i>\"{ item:type=value }"},
        {3,
         "a { \"x:object\"{ \"1:object\"{ \"2:object\"{ \"3:object\"{ \"4:object\"{ \"5:object\"{\n"
         "\"6:object\"{ \"7:object\"{\n \"8:object\"{ } } } } } } } } } }",
         "component 'x': more than 8 blocks inside one another"},
    };
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++)
        data_refused(world, cases[i].line, cases[i].text, cases[i].message);
    const char text[] = "a { \"x:object\"{ _bits:i=3 } }";
    assert_int_equal(data_load_bytes(world, text, strlen(text)).result, ECS_ERR_SYNTAX);
    // Seven levels inside the outermost one are allowed.
    data_load_ok(world, "a { \"o:object\"{ \"1:object\"{ \"2:object\"{ \"3:object\"{ \"4:object\"{ "
                        "\"5:object\"{ \"6:object\"{ \"7:object\"{ } } } } } } } } }");
}

DATA_CASE(too_much_inside_is_refused_with_a_line) {
    static char text[80000];
    size_t size = (size_t)snprintf(text, sizeof text, "a { \"x:array\"{\n");
    for (uint32_t i = 0; i < 17; i++) {
        size += (size_t)snprintf(text + size, sizeof text - size, "t:t=\"");
        uint32_t bytes = i < 16 ? 4095 : 1;
        memset(text + size, 'x', bytes);
        size += bytes;
        size += (size_t)snprintf(text + size, sizeof text - size, "\"\n");
    }
    (void)snprintf(text + size, sizeof text - size, "} }");
    data_refused(
        world, 18, text,
        "component 'x': too much inside: at most 16384 values in a block, and 65536 bytes in all");
}

// In the columns of a world

typedef struct nest {
    ecs_world* world;
    ecs_component_id path, props;
    ecs_template_id hero, twin;
} nest;

static void open_nest(nest* at, const base_allocator* allocator) {
    at->world = data_world_create(allocator);
    assert_non_null(at->world);
    data_load_ok(at->world, nested_text);
    assert_ok(ecs_world_seal(at->world, NULL));
    at->path = ecs_component_find(at->world, "path");
    at->props = ecs_component_find(at->world, "props");
    at->hero = ecs_template_find(at->world, "hero");
    at->twin = ecs_template_find(at->world, "twin");
}

#define NEST_CASE(name) CASE_WITH(nest, at, open_nest(at, NULL), ecs_world_destroy(at->world), name)

static void step(nest* at, ecs_tick tick) {
    ecs_changes_clear(at->world);
    ecs_step one = {.tick = tick, .dt = 1};
    ecs_world_step(at->world, &one);
    assert_true(ecs_world_state_hash(at->world) == ecs_world_state_hash_walk(at->world));
    ecs_world_validate(at->world);
}

static void push_point(const nest* at, ecs_entity entity, float x) {
    ecs_vec2 point = {x, 0};
    assert_ok(ecs_list_push(ecs_world_allocator(at->world),
                            ecs_get_mut(at->world, entity, at->path), &point));
}

// A copied world also finds changes by versions. The versions of the value and of its shadow differ
// in the copy wherever they differ in the original.
CASE(a_copied_world_misses_no_change) {
    nest at;
    nest other;
    open_nest(&at, NULL);
    open_nest(&other, NULL);
    ecs_entity entity;
    ecs_entity same;
    assert_ok(ecs_create(at.world, at.hero, NULL, 0, &entity));
    assert_ok(ecs_create(other.world, other.hero, NULL, 0, &same));
    assert_int_equal(entity, same);
    for (ecs_tick tick = 1; tick < 12; tick++) {
        step(&at, tick);
        push_point(&at, entity, (float)tick);
        for (ecs_tick i = 0; i < tick % 4; i++)
            push_point(&other, same, 7);
        if (tick % 3 == 0) step(&other, tick);
        assert_ok(ecs_world_copy(other.world, at.world));
        assert_true(ecs_world_hash(other.world) == ecs_world_hash(at.world));
        step(&other, tick + 1);
        assert_int_equal(ecs_changes_get(other.world).changed_count, 1);
    }
    ecs_world_destroy(at.world);
    ecs_world_destroy(other.world);
}

NEST_CASE(commands_carry_values_and_the_handles_inside_them) {
    ecs_component_id mates = ecs_component_find(at->world, "mates");
    ecs_entity first;
    assert_ok(ecs_create(at->world, at->hero, NULL, 0, &first));
    ecs_entity made = ecs_command_create(at->world, at->hero, NULL, 0);
    assert_true(ecs_entity_is_placeholder(made));
    ecs_list list;
    ecs_list_init(&list, ECS_ELEMENT_EID);
    assert_ok(ecs_list_push(NULL, &list, &made));
    assert_ok(ecs_list_push(NULL, &list, &first));
    assert_true(ecs_command_set(at->world, first, mates, &list));
    ecs_object object = {0};
    assert_ok(ecs_object_set(NULL, &object, "mates", ecs_element_list_of(ECS_ELEMENT_EID), &list));
    assert_ok(ecs_object_set(NULL, &object, "one", ECS_ELEMENT_EID, &made));
    assert_true(ecs_command_set(at->world, made, at->props, &object));
    ecs_list_deinit(NULL, &list);
    ecs_object_deinit(NULL, &object);
    ecs_command_flush(at->world);
    const ecs_list* told = ecs_get(at->world, first, mates);
    ecs_entity second = *(const ecs_entity*)ecs_list_get(told, 0);
    assert_true(ecs_is_alive(at->world, second));
    assert_int_equal(*(const ecs_entity*)ecs_list_get(told, 1), first);
    const ecs_object* props = ecs_get(at->world, second, at->props);
    assert_int_equal(*(const ecs_entity*)ecs_object_find(props, "one", ECS_ELEMENT_EID), second);
    told = ecs_object_find(props, "mates", ecs_element_list_of(ECS_ELEMENT_EID));
    assert_int_equal(*(const ecs_entity*)ecs_list_get(told, 0), second);
    step(at, 1);
}
