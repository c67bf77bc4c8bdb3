// SPDX-License-Identifier: MIT
#include "data_world.h"
#include "heard.h"

DATA_CASE(a_struct_keeps_inherited_fields_that_a_child_does_not_name) {
    data_load_ok(world,
                 "a { \"body:RigidBody\"{ velocity:p3=1,2,3; mass:r=4; color:c=1,2,3,4;"
                 " cells:ip2=-5,6; is_solid:b=on; layer:u8=255; exact:r=0.1; owner:eid=none } }\n"
                 "b { _extends:t=a; \"body:RigidBody\"{ mass:r=9 } }\n"
                 "c { _extends:t=b; \"body:RigidBody\"{} }\n"
                 "d { \"body:RigidBody\"{ cells:i=7,8; velocity:r=1,1,1 } }\n");
    data_expect(world, "b", "body",
                "{velocity=1,2,3;mass=9;layer=255;color=1,2,3,4;cells=-5,6;owner=none;is_solid=yes;"
                "exact=0.1}");
    data_expect(world, "c", "body",
                "{velocity=1,2,3;mass=9;layer=255;color=1,2,3,4;cells=-5,6;owner=none;is_solid=yes;"
                "exact=0.1}");
    const data_body* body = data_find(world, "d", "body")->value;
    assert_int_equal(body->cells[1], 8);
    assert_true(body->velocity.z == 1);
}

DATA_CASE(interpolation_and_its_jumps_are_inherited_one_by_one) {
    const uint32_t sent = ECS_COMPONENT_TRACKED | ECS_COMPONENT_REPLICATED;
    data_load_ok(world,
                 "a { \"pos:p2\"{ _replicate:b=yes; _interpolate:b=yes; _teleport:r=120 }\n"
                 " \"turn:r\"{ _interpolate:b=yes } _replicated:t=turn }\n"
                 "b { _extends:t=a; pos:p2=5,5; \"turn:r\"{ _teleport:r=0.5 } }\n"
                 "c { _extends:t=b; \"pos:p2\"{ _interpolate:b=no } \"turn:r\"{ _teleport:i=0 } }\n"
                 "d { \"pos:p2\"{ _replicate:b=no } }\n"
                 "e { \"pos:p2\"{ _replicate:b=yes; _interpolate:b=yes } }\n");
    assert_int_equal(data_find(world, "a", "pos")->flags, sent | ECS_COMPONENT_INTERPOLATED);
    assert_true(data_find(world, "a", "pos")->teleport == 120.0f);
    assert_int_equal(data_find(world, "a", "turn")->flags, sent | ECS_COMPONENT_INTERPOLATED);
    assert_true(data_find(world, "a", "turn")->teleport == 0);
    assert_int_equal(data_find(world, "b", "pos")->flags, sent | ECS_COMPONENT_INTERPOLATED);
    assert_true(data_find(world, "b", "pos")->teleport == 120.0f);
    assert_true(data_find(world, "b", "turn")->teleport == 0.5f);
    assert_int_equal(data_find(world, "c", "pos")->flags, sent);
    assert_true(data_find(world, "c", "pos")->teleport == 0);
    assert_int_equal(data_find(world, "c", "turn")->flags, sent | ECS_COMPONENT_INTERPOLATED);
    assert_true(data_find(world, "c", "turn")->teleport == 0);
    // In a composition the later part also overrides the earlier one. A component that is not sent
    // is not interpolated.
    assert_int_equal(data_find(world, "a+d", "pos")->flags, 0);
    assert_true(data_find(world, "a+d", "pos")->teleport == 0);
    assert_true(data_find(world, "a+e", "pos")->teleport == 120.0f);
}

DATA_CASE(words_for_people_are_kept_and_inherited) {
    data_load_ok(world,
                 "a { \"pos:p2\"{ _unit:t=m; _about:t=\"where it stands\" } hp:i=1\n"
                 " _group { _unit:t=s; \"wait:r\"{ } } }\n"
                 "b { _extends:t=a; \"pos:p2\"{ _unit:t=\"\" } \"hp:i\"{ _about:t=health } }\n");
    static const struct {
        const char *of, *component, *unit, *about;
    } rows[] = {{"a", "pos", "m", "where it stands"},
                {"a", "hp", "", ""},
                {"a", "wait", "s", ""},
                {"b", "pos", "", "where it stands"},
                {"b", "hp", "", "health"},
                {"b+a", "pos", "m", "where it stands"}};
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        const ecs_template_remarks remarks =
            ecs_template_remark(world, ecs_template_find(world, rows[i].of),
                                ecs_component_find(world, rows[i].component));
        assert_string_equal(remarks.unit, rows[i].unit);
        assert_string_equal(remarks.about, rows[i].about);
    }
    assert_string_equal(ecs_template_remark(world, ECS_TEMPLATE_NONE, 1).unit, "");
}

DATA_CASE(words_for_people_have_their_length) {
    static const struct {
        const char* word;
        uint32_t bytes_max;
    } rows[] = {{"_unit", ECS_UNIT_BYTES_MAX}, {"_about", ECS_ABOUT_BYTES_MAX}};
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        char text[512], word[ECS_ABOUT_BYTES_MAX + 2], says[64];
        memset(word, 'x', sizeof word);
        for (uint32_t size = rows[i].bytes_max - 1; size <= rows[i].bytes_max + 1; size++) {
            (void)snprintf(text, sizeof text, "t%u%u { \"n%u:i\"{ %s:t=\"%.*s\" } }", i, size, i,
                           rows[i].word, (int)size, word);
            (void)snprintf(says, sizeof says, "is longer than %u bytes", rows[i].bytes_max);
            const data_load load = data_load_bytes(world, text, strlen(text));
            if (size <= rows[i].bytes_max)
                assert_ok(load.result);
            else
                assert_non_null(strstr(load.report.text, says));
        }
    }
    data_refused(world, 1, "a { \"pos:p2\"{ _unit:i=3 } }", "'_unit' is written _unit:t=...");
}

DATA_CASE(interpolation_of_what_cannot_be_shown_between_is_refused) {
    data_refusals(world, TEXT_TABLE, "interpolation_of_what_cannot_be_shown_between_is_refused");
}

DATA_CASE(components_whose_tags_the_world_lacks_are_left_out) {
    data_load_ok(world, "a { \"s:i\"{ _tags:t=server } \"r:i\"{ _tags:t=\"render\" }\n"
                        " \"both:i\"{ _tags:t=\"server,render\" } \"sent:i\"{ _tags:t=render; "
                        "_replicate:b=yes } }\n"
                        "b { _extends:t=a; r:i=5; _replicated:t=both }\n"
                        "c { _tags:t=render; q:i=1; \"p:i\"{ _tags:t=server } }\n");
    assert_non_null(data_find(world, "a", "s"));
    assert_null(data_find(world, "a", "r"));
    assert_null(data_find(world, "a", "both"));
    assert_non_null(data_find(world, "a", "sent"));
    assert_null(data_find(world, "b", "r"));
    assert_non_null(data_find(world, "b", "both"));
    assert_null(data_find(world, "c", "q"));
    assert_non_null(data_find(world, "c", "p"));
    // Ids do not depend on tags, so client and server give the same numbers.
    assert_int_not_equal(ecs_component_find(world, "r"), ECS_COMPONENT_NONE);
}

DATA_CASE(every_quantisation_ends_in_min_step_and_bits) {
    data_load_ok(world, "a {\n"
                        "\"a:r\"{ _min:r=0; _max:r=1; _bits:i=1 }\n"
                        "\"b:r\"{ _min:r=0; _max:r=255; _step:r=1 }\n"
                        "\"c:r\"{ _min:r=0; _max:r=256; _step:r=1 }\n"
                        "\"d:i\"{ _bits:i=32 }\n"
                        "\"e:i\"{ _min:i=-4; _max:i=3 }\n"
                        "\"f:u8\"{ _max:i=200 }\n"
                        "\"g:c\"{ _bits:i=8 }\n"
                        "}");
    assert_int_equal(data_find(world, "a", "a")->quant.bits, 1);
    assert_true(data_find(world, "a", "a")->quant.step == 1);
    assert_int_equal(data_find(world, "a", "b")->quant.bits, 8);
    assert_int_equal(data_find(world, "a", "c")->quant.bits, 9);
    assert_int_equal(data_find(world, "a", "d")->quant.bits, 32);
    assert_int_equal(data_find(world, "a", "e")->quant.bits, 3);
    assert_true(data_find(world, "a", "e")->quant.min == -4);
    assert_int_equal(data_find(world, "a", "f")->quant.bits, 8);
    assert_int_equal(data_find(world, "a", "g")->quant.bits, 8);
}

DATA_CASE(quantisation_that_makes_no_sense_is_refused) {
    data_refusals(world, TEXT_TABLE, "quantisation_that_makes_no_sense_is_refused");
}

DATA_CASE(values_out_of_range_or_of_wrong_arity_are_refused) {
    data_refusals(world, TEXT_TABLE, "values_out_of_range_or_of_wrong_arity_are_refused");
}

DATA_CASE(edges_of_every_number_type_load) {
    data_load_ok(world,
                 "a { a:i=-2147483648; b:i=2147483647; c:i64=-9223372036854775808; "
                 "d:u64=18446744073709551615; e:u8=255; f:u16=65535; g:u32=4294967295;\n"
                 "h:r=3.4028234e38; i:r=-0; j:p3=1,2,3; k:p4=1,2,3,4; l:ip3=1,2,3; m:ip4=1,2,3,4\n"
                 "n:m=[[1, 0, 0] [0, 1, 0]\n [0, 0, 1] [5, 6, 7]]; o:tag=yes; p:eid=0; "
                 "q:m=1,2,3,4,5,6,7,8,9,10,11,12; \"r:tag\"{} s:b=off }");
    data_expect(world, "a", "a", "-2147483648");
    data_expect(world, "a", "c", "-9223372036854775808");
    data_expect(world, "a", "d", "18446744073709551615");
    data_expect(world, "a", "g", "4294967295");
    data_expect(world, "a", "i", "-0");
    data_expect(world, "a", "k", "1,2,3,4");
    data_expect(world, "a", "m", "1,2,3,4");
    data_expect(world, "a", "n", "1,0,0,0,1,0,0,0,1,5,6,7");
    data_expect(world, "a", "q", "1,2,3,4,5,6,7,8,9,10,11,12");
    data_expect(world, "a", "o", "");
    data_expect(world, "a", "s", "no");
}

DATA_CASE(faults_between_templates_name_file_and_line) {
    data_load_ok(world, "known { pos:p2=0,0 }");
    data_refusals(world, TEXT_TABLE, "faults_between_templates_name_file_and_line");
}

/// S5.2: the spellings that projects use beside the plain one.
DATA_CASE(values_have_several_spellings) {
    data_load_ok(
        world,
        "\xEF\xBB\xBF"
        "a {\r\n"
        "  \"h:u16\"{ value:i=0xFFFF; }\r\n \"n:u64\"{ value:i=-1 } \"e:eid\"{ value:i=0; }\n"
        "  \"m: m\"{ value:m=[[1, 0, 0] [0, 1, 0] [0, 0, 1] [-253.441, 20.1, -7e1]] }\n"
        "  c3:c=1, 2,3 // opaque\n  x:i=0x7fFFffff; y:i=0xFFFFFFFF z:i64=-0\n"
        "  r:r=-1.5e-3;s:r=+.5 b1:b=on; b2:b=false; t:t=\"\xC3\xA4\"\n"
        "  'q:i32'{ _info:t=\"a remark\"; _hide:b=yes; value:i32=7 }\n"
        "  _info{ anything { x:i=1 } } _skipInitialReplication:t=\"h\"\n"
        "  l:t='single' \"k\":i=5;\n}\n_infoCommonTemplates { a { desc:t=\"\" } }\n"
        "d { _use:t=a; h { _track:b=yes } k{ value:i=6 } }");
    data_expect(world, "a", "h", "65535");
    data_expect(world, "a", "n", "18446744073709551615");
    data_expect(world, "a", "c3", "1,2,3,255");
    data_expect(world, "a", "x", "2147483647");
    data_expect(world, "a", "y", "-1");
    data_expect(world, "a", "q", "7");
    data_expect(world, "a", "k", "5");
    data_expect(world, "d", "k", "6");
    assert_true(data_find(world, "d", "h")->flags & ECS_COMPONENT_TRACKED);
    assert_false(data_find(world, "a", "h")->flags & ECS_COMPONENT_TRACKED);
    data_refusals(world, TEXT_TABLE, "values_have_several_spellings");
}

DATA_CASE(an_import_needs_a_source_of_files) {
    data_load_ok(world, "import_optional:t=\"other.blk\"");
    data_refused(world, 2, "\nimport:t=\"other.blk\"\n",
                 "import of 'other.blk': files do not load others, name both to the loader");
}

DATA_CASE(words_in_wrong_places_are_refused) {
    data_refusals(world, TEXT_TABLE, "words_in_wrong_places_are_refused");
}

DATA_CASE(all_faults_of_a_file_are_reported) {
    const char text[] =
        "a { x:i=z\n y:q=1 }\nb { _extends:t=none }\nc { ! }\nd { n:t=5; m:u8=256 }";
    data_load load = data_load_bytes(world, text, strlen(text));
    assert_int_equal(load.result, ECS_ERR_SYNTAX);
    assert_int_equal(load.report.count, 5);
    assert_int_equal(ecs_template_count(world), 0);
}

DATA_CASE(the_same_parts_give_the_same_template) {
    data_load_ok(world, "a { x:i=1 } b { x:i=2 } c { x:i=3 }");
    ecs_template_id a = ecs_template_find(world, "a");
    ecs_template_id b = ecs_template_find(world, "b");
    ecs_template_id c = ecs_template_find(world, "c");
    ecs_template_id ab = ecs_template_find(world, "a+b");
    ecs_template_id ab_parts[] = {a, b};
    assert_int_equal(ecs_template_compose(world, ab_parts, 2), ab);
    ecs_template_id abc_parts[] = {ab, c};
    ecs_template_id abc = ecs_template_compose(world, abc_parts, 2);
    assert_string_equal(ecs_template_get(world, abc)->name, "a+b+c");
    assert_int_equal(ecs_template_find(world, "a+b+c"), abc);
    // A part that is already there moves to the end.
    assert_int_equal(ecs_template_find(world, "b+a+b"), ab);
    assert_int_equal(ecs_template_find(world, "a+a"), a);
    uint32_t count = ecs_template_count(world);
    assert_int_equal(ecs_template_find(world, "a+b+c"), abc);
    assert_int_equal(ecs_template_count(world), count);
}

DATA_CASE(what_cannot_be_composed_is_none) {
    data_load_ok(world, "a{}b{}c{}d{}e{}f{}g{}h{}i{}");
    assert_int_equal(ecs_template_find(world, "a+unknown"), ECS_TEMPLATE_NONE);
    assert_int_equal(ecs_template_find(world, ""), ECS_TEMPLATE_NONE);
    assert_int_equal(ecs_template_find(world, "a+"), ECS_TEMPLATE_NONE);
    assert_int_equal(ecs_template_find(world, "+"), ECS_TEMPLATE_NONE);
    assert_int_not_equal(ecs_template_find(world, "a+b+c+d+e+f+g"), ECS_TEMPLATE_NONE);
    assert_int_not_equal(ecs_template_find(world, "a+b+c+d+e+f+g+h"), ECS_TEMPLATE_NONE);
    assert_int_equal(ecs_template_find(world, "a+b+c+d+e+f+g+h+i"), ECS_TEMPLATE_NONE);
    assert_int_equal(ecs_template_compose(world, NULL, 0), ECS_TEMPLATE_NONE);
    ecs_template_id bad[] = {1, 60000};
    assert_int_equal(ecs_template_compose(world, bad, 2), ECS_TEMPLATE_NONE);
    char name[256];
    for (uint32_t part = 0; part < 5; part++) {
        (void)snprintf(name, sizeof name, "%0126u%u { }", 0, part);
        data_load_ok(world, name);
    }
    // Four names of 127 with three '+' are 511 bytes; five do not fit.
    char list[5 * ECS_NAME_BYTES_MAX + 1] = "";
    for (uint32_t part = 0; part < 5; part++) {
        (void)snprintf(list + strlen(list), sizeof list - strlen(list), "%s%0126u%u",
                       part ? "+" : "", 0, part);
        assert_int_equal(ecs_template_find(world, list) != ECS_TEMPLATE_NONE, part < 4);
    }
}

DATA_CASE(the_component_limit_of_a_template_is_tested_at_its_edge) {
    static char text[ECS_TEMPLATE_COMPONENTS_MAX * 16 + 64];
    for (uint32_t extra = 0; extra < 3; extra++) {
        size_t size = (size_t)snprintf(text, sizeof text, "t%u {", extra);
        for (uint32_t i = 0; i < ECS_TEMPLATE_COMPONENTS_MAX - 1 + extra; i++)
            size += (size_t)snprintf(text + size, sizeof text - size, "c%u:i=0\n", i);
        (void)snprintf(text + size, sizeof text - size, "}");
        data_load load = data_load_bytes(world, text, strlen(text));
        assert_int_equal(load.result, extra < 2 ? ECS_OK : ECS_ERR_SYNTAX);
    }
    data_refused(world, 1, "big { _extends:t=t1; one.more:i=0 }",
                 "more than 256 components in 'big'");
    data_load_ok(world, "other { one.more:i=0 }");
    assert_int_equal(ecs_template_find(world, "t1+other"), ECS_TEMPLATE_NONE);
}

DATA_CASE(the_component_limit_of_a_world_is_tested_at_its_edge) {
    char name[32];
    ecs_component_id id;
    for (uint32_t i = 0; i < ECS_COMPONENTS_MAX - 1; i++) {
        (void)snprintf(name, sizeof name, "c%u", i);
        assert_ok(ecs_component_register(world, name, ecs_type_find(world, "i"), &id));
    }
    data_load load = data_load_bytes(world, "a { x:i=0 y:i=0 }", 17);
    assert_int_equal(load.result, ECS_ERR_FULL);
    assert_string_equal(load.report.text, "x.blk:1: error: more than 1024 components");
    data_load_ok(world, "a { x:i=0 c5:i=0 }");
    assert_int_equal(ecs_component_register(world, "z", ecs_type_find(world, "i"), &id),
                     ECS_ERR_FULL);
    assert_int_equal(id, ECS_COMPONENT_NONE);
}

// A short file may inherit a long list many times. The limit holds for the sum, not only for each
// template.
DATA_CASE(the_sum_of_inherited_components_is_tested_at_its_edge) {
    static char text[1 << 17];
    for (uint32_t extra = 0; extra < 2; extra++) {
        size_t size = (size_t)snprintf(text, sizeof text, "%s base%u {",
                                       extra ? "more { c0:i=1 }" : "", extra);
        for (uint32_t i = 0; i < ECS_TEMPLATE_COMPONENTS_MAX; i++)
            size += (size_t)snprintf(text + size, sizeof text - size, "c%u:i=0\n", i);
        size += (size_t)snprintf(text + size, sizeof text - size, "}");
        for (uint32_t i = 1; i < ECS_TEXT_SLOTS_MAX / ECS_TEMPLATE_COMPONENTS_MAX; i++)
            size += (size_t)snprintf(text + size, sizeof text - size, "t%u_%u{_extends:t=base%u}\n",
                                     extra, i, extra);
        data_load load = data_load_bytes(world, text, size);
        assert_int_equal(load.result, extra ? ECS_ERR_FULL : ECS_OK);
    }
    assert_int_equal(ecs_template_find(world, "more"), ECS_TEMPLATE_NONE);
    data_load_ok(world, "more { c0:i=1 }");
}

DATA_CASE(the_length_of_a_list_of_tags_is_tested_at_its_edge) {
    char tags[ECS_TEXT_TAGS_BYTES_MAX + 1];
    char text[2 * ECS_TEXT_TAGS_BYTES_MAX];
    for (uint32_t size = ECS_TEXT_TAGS_BYTES_MAX - 2; size <= ECS_TEXT_TAGS_BYTES_MAX; size++) {
        for (uint32_t i = 0; i < size; i++)
            tags[i] = "server,"[i % 7];
        tags[size] = '\0';
        (void)snprintf(text, sizeof text, "t%u { \"x:i\" { _tags:t=\"%s\" value:i=1 } }", size,
                       tags);
        data_load load = data_load_bytes(world, text, strlen(text));
        bool fits = size < ECS_TEXT_TAGS_BYTES_MAX;
        assert_int_equal(load.result, fits ? ECS_OK : ECS_ERR_SYNTAX);
        if (!fits)
            assert_string_equal(load.report.text,
                                "x.blk:1: error: a list of tags has at most 255 bytes");
    }
}

DATA_CASE(only_the_first_of_many_unknown_parents_are_compared_with_all_names) {
    char text[4096] = "name { } child {";
    for (uint32_t i = 0; i < 100; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), " _extends:t=nama");
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), " }");
    static heard said;
    assert_int_equal(ecs_template_load(world, "x.blk", text, strlen(text), heard_begin(&said)),
                     ECS_ERR_SYNTAX);
    assert_int_equal(said.lines, 100);
    assert_int_equal(heard_count(&said, "did you mean"), 32);
}

DATA_CASE(the_template_limit_is_tested_at_its_edge) {
    static char text[ECS_TEXT_BYTES_MAX];
    uint32_t made = 0;
    while (made < ECS_TEMPLATES_MAX - 1) {
        size_t size = 0;
        for (uint32_t i = 0; i < ECS_TEXT_ITEMS_MAX && made < ECS_TEMPLATES_MAX - 1; i++, made++)
            size += (size_t)snprintf(text + size, sizeof text - size, "t%u{}\n", made);
        data_load_ok(world, text);
    }
    data_load load = data_load_bytes(world, "x{} y{}", 7);
    assert_int_equal(load.result, ECS_ERR_FULL);
    assert_int_equal(ecs_template_count(world), ECS_TEMPLATES_MAX - 1);
    data_load_ok(world, "x{}");
    assert_int_equal(ecs_template_find(world, "t0+t1"), ECS_TEMPLATE_NONE);
    assert_int_equal(ecs_template_find(world, "t65533"), 65534);
}

DATA_CASE(a_chain_of_parents_as_long_as_a_file_resolves) {
    static char text[ECS_TEXT_BYTES_MAX];
    size_t size = 0;
    uint32_t count = ECS_TEXT_ITEMS_MAX / 2 - 1;
    for (uint32_t i = 0; i < count; i++)
        size +=
            (size_t)snprintf(text + size, sizeof text - size, "t%u{_extends:t=t%u}\n", i, i + 1);
    (void)snprintf(text + size, sizeof text - size, "t%u{ x:i=7 }", count);
    data_load_ok(world, text);
    data_expect(world, "t0", "x", "7");
}

DATA_CASE(a_sealed_world_loads_nothing) {
    assert_ok(ecs_world_seal(world, NULL));
    assert_int_equal(ecs_template_load(world, "x.blk", "a{}", 3, NULL), ECS_ERR_SEALED);
}

DATA_CASE(empty_templates_and_unset_values_are_fine) {
    data_load_ok(world, "");
    data_load_ok(world, "a { } b { \"x:i\"{} \"s:t\"{} \"body:RigidBody\"{} }");
    assert_int_equal(data_template(world, "a")->component_count, 0);
    data_expect(world, "b", "x", "0");
    data_expect(world, "b", "s", "\"\"");
    assert_ok(ecs_template_load(world, NULL, NULL, 0, NULL));
}
