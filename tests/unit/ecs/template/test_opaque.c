// SPDX-License-Identifier: MIT
#include "data_world.h"

#include "template/template_registry.h"
#include "type/world.h"

/// S5.2: files with types that this program does not know load. Warnings name the parts that are
/// not used.
DATA_CASE(unknown_types_are_kept_as_opaque_and_warned_of) {
    data_load_warned(world, "a {\n \"x:list<RigidBody>\"{ } y:i=1 }",
                     "x.blk:2: warning: component 'x' has the unknown type 'list<RigidBody>', did "
                     "you mean 'RigidBody'?: kept, not used");
    data_load_warned(world, "b { x:p22=1,2 }",
                     "x.blk:1: warning: component 'x' has the unknown type 'p22', did you mean "
                     "'p2'?: kept, not used");
    data_load_warned(world, "c { z { a:i=1 } }",
                     "x.blk:1: warning: component 'z' has no type here or above, as in "
                     "\"z:type\"{ }: kept, not used");
    assert_int_equal(world->templates->opaque_count, 3);
    static const char* const kept[][2] = {{"x", "list<RigidBody>"}, {"x", "p22"}, {"z", ""}};
    for (uint32_t i = 0; i < BASE_COUNT(kept); i++) {
        const ecs_opaque* opaque = &world->templates->opaques[i];
        assert_string_equal(opaque->component, kept[i][0]);
        assert_string_equal(opaque->type, kept[i][1]);
        assert_string_equal(opaque->file, "x.blk");
    }
    assert_int_equal(world->templates->opaques[0].line, 2);
    assert_int_equal(ecs_component_find(world, "x"), ECS_COMPONENT_NONE);
    assert_int_equal(ecs_template_get(world, 1)->component_count, 1);
}

DATA_CASE(a_flag_on_an_opaque_component_is_no_fault) {
    data_load_warned(world, "a { \"x:Foo\"{ } _tracked:t=x }",
                     "x.blk:1: warning: component 'x' has the unknown type 'Foo': kept, not used");
    data_load_ok(world, "b { _extends:t=a; _replicated:t=x }");
    data_refused(world, 1, "c { _tracked:t=z }", "template 'c' has no component 'z' to flag");
}

/// S5.2: a system that needs an opaque component is refused with the component's name.
DATA_CASE(a_system_that_needs_an_opaque_component_is_refused_at_seal) {
    data_load_warned(world, "a { \"x:Foo\"{ } }",
                     "x.blk:1: warning: component 'x' has the unknown type 'Foo': kept, not used");
    const ecs_term terms[] = {{"x", "i", ECS_READ}};
    ecs_query* query;
    assert_ok(ecs_query_create(world, terms, 1, &query));
    base_report_first report;
    base_reporter reporter = base_reporter_first(&report);
    assert_int_equal(ecs_world_seal(world, &reporter), ECS_ERR_TYPE);
    assert_string_equal(report.text, "error: query 0 of (no system) asks for 'x', whose type 'Foo' "
                                     "is not registered (x.blk:1)");
}
