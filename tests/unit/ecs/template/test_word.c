// SPDX-License-Identifier: MIT
// Words for replication: who sees a component, which component is its integral, rotations, and the
// priority of a template.
#include "data_world.h"

static uint32_t importance_of(ecs_world* world, const char* name) {
    return data_template(world, name)->importance;
}

DATA_CASE(who_may_see_a_component_is_inherited) {
    data_load_ok(world, "a { _group { _replicate:b=yes; _visible:t=team; hp:i=1; mana:i=1 }\n"
                        " \"ammo:i\"{ _replicate:b=yes; _visible:t=\"owner\" } n:i=0 }\n"
                        "b { _extends:t=a; hp:i=5; \"mana:i\"{ _visible:t=\"public\" }\n"
                        " \"ammo:i\"{ _replicate:b=no } }\n"
                        "c { \"hp:i\"{ _replicate:b=yes; _visible:t=squad-7 } }\n");
    assert_string_equal(data_find(world, "a", "hp")->visible, "team");
    assert_string_equal(data_find(world, "a", "ammo")->visible, "owner");
    assert_null(data_find(world, "a", "n")->visible);
    assert_string_equal(data_find(world, "b", "hp")->visible, "team");
    assert_null(data_find(world, "b", "mana")->visible);
    assert_null(data_find(world, "b", "ammo")->visible);
    assert_string_equal(data_find(world, "a+c", "hp")->visible, "squad-7");
    assert_string_equal(data_find(world, "c+a", "hp")->visible, "team");
}

DATA_CASE(visibility_of_what_nobody_gets_is_refused) {
    data_refusals(world, TEXT_TABLE, "visibility_of_what_nobody_gets_is_refused");
}

// Write `count` classes besides the three standard ones, in lines 2, 3, 4...
static void write_classes(char* text, uint32_t first, uint32_t count) {
    text += sprintf(text, "t%u {\n", first);
    for (uint32_t i = 0; i < count; i++)
        text +=
            sprintf(text, " \"c%u:i\"{ _replicate:b=yes; _visible:t=k%u }\n", first + i, first + i);
    strcpy(text, " \"p:i\"{ _replicate:b=yes; _visible:t=owner } }\n");
}

DATA_CASE(there_are_at_most_sixteen_classes) {
    char text[2048];
    write_classes(text, 1, 14);
    data_refused(world, 15, text, "_visible: 'k14' is one class more than 16");
    write_classes(text, 1, 13);
    data_load_ok(world, text);
    write_classes(text, 20, 1);
    data_refused(world, 2, text, "_visible: 'k20' is one class more than 16");
    data_load_ok(world, "again { \"c2:i\"{ _replicate:b=yes; _visible:t=k13 } }");
}

DATA_CASE(a_component_says_what_it_is_the_integral_of) {
    data_load_ok(world, "a { \"pos:p2\"{ _replicate:b=yes; _integral:t=vel }\n"
                        " \"vel:p2\"{ _replicate:b=yes } }\n"
                        "b { _extends:t=a; pos:p2=1,1 }\n"
                        "c { _extends:t=a; \"pos:p2\"{ _integral:t=\"\" } }\n"
                        "d { _extends:t=a; \"pos:p2\"{ _replicate:b=no } }\n");
    assert_string_equal(data_find(world, "a", "pos")->integral, "vel");
    assert_string_equal(data_find(world, "b", "pos")->integral, "vel");
    assert_null(data_find(world, "b", "vel")->integral);
    assert_null(data_find(world, "c", "pos")->integral);
    assert_null(data_find(world, "d", "pos")->integral);
    assert_string_equal(data_find(world, "c+a", "pos")->integral, "vel");
}

DATA_CASE(an_integral_of_what_is_not_there_is_refused) {
    data_refusals(world, TEXT_TABLE, "an_integral_of_what_is_not_there_is_refused");
}

DATA_CASE(a_rotation_is_four_floats_with_bits) {
    data_load_ok(
        world,
        "a { \"rot:p4\"{ _replicate:b=yes; _rotation:b=yes; _bits:i=10; value:p4=0,0,0,1 } }\n"
        "b { _extends:t=a; rot:p4=1,0,0,0 }\n"
        "c { _extends:t=a; \"rot:p4\"{ _rotation:b=no } }\n");
    const ecs_template_component* rot = data_find(world, "a", "rot");
    assert_true(rot->is_rotation);
    assert_int_equal(rot->flags, ECS_COMPONENT_TRACKED | ECS_COMPONENT_REPLICATED);
    assert_int_equal(rot->quant.bits, 10);
    assert_true(rot->quant.min == -1);
    assert_true(data_find(world, "b", "rot")->is_rotation);
    assert_false(data_find(world, "c", "rot")->is_rotation);
    data_refusals(world, TEXT_TABLE, "a_rotation_is_four_floats_with_bits");
}

DATA_CASE(priority_is_of_a_template_and_inherited) {
    data_load_ok(world,
                 "a { _priority:i=1 } b { _priority:i=16 } c { _extends:t=a; _extends:t=b }\n"
                 "d { _extends:t=b; _priority:i=4 } e { x:i=0 } f { _extends:t=e }\n");
    data_load_ok(world, "g { _extends:t=d }");
    assert_int_equal(importance_of(world, "a"), 1);
    assert_int_equal(importance_of(world, "b"), 16);
    assert_int_equal(importance_of(world, "c"), 16);
    assert_int_equal(importance_of(world, "d"), 4);
    assert_int_equal(importance_of(world, "f"), 1);
    assert_int_equal(importance_of(world, "g"), 4);
    assert_int_equal(importance_of(world, "b+a"), 1);
    assert_int_equal(importance_of(world, "b+e"), 16);
    data_refusals(world, TEXT_TABLE, "priority_is_of_a_template_and_inherited");
}

#undef CASE

DATA_CASE(an_angle_is_a_whole_turn_in_bits) {
    data_load_ok(world, "a { \"turn:r\"{ _replicate:b=yes; _interpolate:b=yes; _angle:i=12 } }\n"
                        "b { \"turn:r\"{ _replicate:b=yes; _min:r=-3.2; _max:r=3.2; _bits:i=8 } }\n"
                        "c { \"turn:r\"{ _replicate:b=yes; _min:r=0; _max:r=255; _bits:i=8 } }\n"
                        "d { \"turn:r\"{ _replicate:b=yes; _min:r=-1; _max:r=1; _bits:i=1 } }\n");
    const ecs_quant* angle = &data_find(world, "a", "turn")->quant;
    assert_true(ecs_quant_is_angle(angle));
    assert_int_equal(angle->bits, 12);
    // Zero is a value of a range that is as long on both sides, and of an angle.
    const ecs_quant* even = &data_find(world, "b", "turn")->quant;
    assert_false(ecs_quant_is_angle(even));
    assert_true(even->step == 6.4 / 254);
    assert_true(ecs_quantise(even, 0.01f) == 0.0f && ecs_quantise(angle, 0.0005f) == 0.0f);
    assert_true(data_find(world, "c", "turn")->quant.step == 1.0);
    assert_true(data_find(world, "d", "turn")->quant.step == 2.0);
    data_refusals(world, TEXT_TABLE, "an_angle_is_a_whole_turn_in_bits");
}

DATA_CASE(a_grid_and_a_default_are_found_by_name) {
    data_load_ok(world, "a { \"pos.x:p2\"{ _replicate:b=yes; _min:r=0; _max:r=7.75; _step:r=0.25;\n"
                        "   value:p2=1,2 }\n \"exact:r\"{ _replicate:b=yes; value:r=5 } }\n");
    ecs_quant quant;
    assert_true(ecs_template_quant(world, "a", "pos.x", &quant));
    assert_true(quant.step == 0.25 && quant.bits == 5);
    assert_false(ecs_template_quant(world, "a", "exact", &quant));
    assert_false(ecs_template_quant(world, "a", "exact.value", &quant));
    assert_false(ecs_template_quant(world, "a", "nothing", &quant));
    assert_false(ecs_template_quant(world, "a", "nothing.x", &quant));
    assert_false(ecs_template_quant(world, "b", "pos.x", &quant));
    const ecs_template_id id = ecs_template_find(world, "a");
    const float* value = ecs_template_default(world, id, ecs_component_find(world, "exact"));
    assert_non_null(value);
    assert_true(*value == 5.0f);
    assert_null(ecs_template_default(world, ECS_TEMPLATE_NONE, ecs_component_find(world, "exact")));
    assert_null(ecs_template_default(world, id, ECS_COMPONENT_NONE));
}
