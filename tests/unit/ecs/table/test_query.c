// SPDX-License-Identifier: MIT
// Queries: matching, caches, walks, marks, binding at seal.
#include "sample_world.h"

STORE_OPEN_CASE(a_write_walk_marks_the_chunks_it_opens) {
    ecs_query* writer = store_query(at, {"pos", "p2", ECS_WRITE}, {"hp", "i", ECS_OPTIONAL_WRITE});
    ecs_query* reader = store_query(at, {"pos", "p2", ECS_READ});
    store_seal(at);
    ecs_world* world = at->world;
    store_create(at, at->mover);
    store_create(at, at->ball);
    const ecs_chunk* chunk = world->storage->archetypes[0]->chunks[0];
    ecs_query_iter iter = ecs_query_begin(world, reader);
    while (ecs_query_next(&iter))
        assert_int_equal(iter.rows.count, 1);
    assert_int_equal(chunk->written[0], 0);
    iter = ecs_query_begin(world, writer);
    while (ecs_query_next(&iter))
        assert_int_equal(iter.rows.count, 1);
    assert_int_equal(chunk->written[0], 1);
}

STORE_OPEN_CASE(the_nth_is_whom_a_walk_meets_and_all_are_destroyed_by_one_call) {
    ecs_query* query = store_query(at, {"pos", "p2", ECS_READ}, {"vel", "p2", ECS_READ});
    store_seal(at);
    ecs_world* world = at->world;
    assert_int_equal(ecs_query_nth(world, query, 0), ECS_ENTITY_NONE);
    assert_true(ecs_command_destroy_all(world, query));
    ecs_entity balls[300], met[302];
    assert_ok(ecs_create_many(world, at->ball, 300, balls));
    store_create(at, at->mover);
    store_create(at, at->mover);
    ecs_entity rock = store_create(at, at->rock);
    uint32_t count = 0;
    ecs_query_iter it = ecs_query_begin(world, query);
    while (ecs_query_next(&it))
        for (uint32_t i = 0; i < it.rows.count; i++)
            met[count++] = it.rows.entities[i];
    assert_int_equal(count, ecs_query_count(world, query));
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(ecs_query_nth(world, query, i), met[i]);
    assert_int_equal(ecs_query_nth(world, query, count), ECS_ENTITY_NONE);
    assert_int_equal(ecs_query_nth(world, query, UINT32_MAX), ECS_ENTITY_NONE);
    assert_true(ecs_command_destroy_all(world, query)); // also: no walk is left open
    assert_int_equal(ecs_query_count(world, query), count);
    ecs_command_flush(world);
    assert_int_equal(ecs_query_count(world, query), 0);
    assert_true(ecs_is_alive(world, rock));
}

STORE_OPEN_CASE(structure_does_not_change_while_walking) {
    ecs_query* query = make_query(at, NULL, 0);
    store_seal(at);
    ecs_world* world = at->world;
    ecs_entity entity = store_create(at, at->ball);
    ecs_query_iter iter = ecs_query_begin(world, query);
    assert_true(ecs_query_next(&iter));
    expect_assert_failure((void)!ecs_destroy(world, entity));
    expect_assert_failure((void)!ecs_create(world, at->ball, NULL, 0, &entity));
    ecs_query_end(&iter);
    assert_false(ecs_query_next(&iter));
    ecs_query_end(&iter);
    assert_ok(ecs_destroy(world, entity));
}

STORE_OPEN_CASE(a_wrong_type_is_reported_at_seal) {
    store_query(at, {"pos", "p3", ECS_OPTIONAL_READ})->owner = "move_ball";
    base_report_first report = {0};
    base_reporter reporter = base_reporter_first(&report);
    assert_int_equal(ecs_world_seal(at->world, &reporter), ECS_ERR_TYPE);
    assert_non_null(strstr(report.text, "move_ball"));
    assert_non_null(strstr(report.text, "pos:p3"));
    assert_non_null(strstr(report.text, "p2"));
}

STORE_OPEN_CASE(a_required_component_that_nobody_has_is_reported_at_seal) { // S1.4
    store_query(at, {"nowhere", "p3", ECS_OPTIONAL_READ}, {"never", "p3", ECS_REQUIRE_NOT});
    store_query(at, {"nowhere", "p3", ECS_REQUIRE});
    base_report_first report = {0};
    base_reporter reporter = base_reporter_first(&report);
    assert_int_equal(ecs_world_seal(at->world, &reporter), ECS_ERR_UNKNOWN);
    assert_int_equal(report.count, 1);
    assert_non_null(strstr(report.text, "nowhere"));
}

STORE_OPEN_CASE(terms_have_a_limit_and_seal_closes_registration) {
    ecs_term terms[ECS_QUERY_TERMS_MAX + 1];
    for (uint32_t i = 0; i < BASE_COUNT(terms); i++)
        terms[i] = (ecs_term){"pos", "p2", ECS_WRITE};
    ecs_query* query = NULL;
    ecs_world* world = at->world;
    assert_int_equal(ecs_query_create(world, terms, ECS_QUERY_TERMS_MAX + 1, &query), ECS_ERR_FULL);
    assert_ok(ecs_query_create(world, terms, ECS_QUERY_TERMS_MAX - 1, &query));
    assert_ok(ecs_query_create(world, terms, ECS_QUERY_TERMS_MAX, &query));
    store_seal(at);
    store_create(at, at->mover);
    assert_int_equal(ecs_query_count(world, query), 1);
    assert_int_equal(ecs_query_create(world, terms, 1, &query), ECS_ERR_SEALED);
}
