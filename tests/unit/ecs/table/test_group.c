// SPDX-License-Identifier: MIT
// S4.1 to S4.4, S4.7, S1.5: what matches, one group per matcher, updates of groups, count and
// first.
#include "sample_world.h"

STORE_OPEN_CASE(any_wants_one_of_several) { // S4.2
    ecs_query* any = store_query(at, {"hp", "i", ECS_ANY}, {"radius", NULL, ECS_ANY});
    ecs_query* all = store_query(at, {"pos", "p2", ECS_WRITE}, {"hp", "i", ECS_ANY},
                                 {"vel", "p2", ECS_ANY}, {"radius", "r", ECS_REQUIRE_NOT});
    ecs_query* half = store_query(at, {"ghost", NULL, ECS_ANY}, {"hp", "i", ECS_ANY});
    ecs_query* empty = store_query(at, {NULL, NULL, ECS_ONLY});
    store_seal(at);
    ecs_world* world = at->world;
    store_create(at, at->nothing);
    ecs_entity ball = store_create(at, at->ball);
    ecs_entity rock = store_create(at, at->rock);
    ecs_entity mover = store_create(at, at->mover);
    assert_int_equal(ecs_query_count(world, any), 2);
    assert_int_equal(ecs_query_first(world, any), ball);
    assert_int_equal(ecs_query_count(world, all), 2);
    assert_int_equal(ecs_query_first(world, all), rock);
    assert_int_equal(ecs_query_count(world, half), 1);
    assert_int_equal(ecs_query_count(world, empty), 1);
    ecs_query_iter iter;
    assert_true(ecs_query_find(world, all, mover, &iter));
    assert_non_null(iter.rows.columns[0]);
    assert_null(iter.rows.columns[1]); // this template has no such column
    assert_null(iter.rows.columns[2]);
}

STORE_OPEN_CASE(names_that_exist_nowhere_are_reported) { // S4.2
    store_query(at, {"ghost", NULL, ECS_ANY}, {"spirit", NULL, ECS_ANY});
    seal_refused(at->world, ECS_ERR_UNKNOWN, "ghost");
}

STORE_OPEN_CASE(only_stands_without_a_name) { // S4.2
    const ecs_term named[] = {{"pos", NULL, ECS_ONLY}};
    ecs_query* query = NULL;
    expect_assert_failure((void)!ecs_query_create(at->world, named, 1, &query));
    store_seal(at);
}
