// SPDX-License-Identifier: MIT
// Queries: matching, caches, walks, marks, binding at seal.
#include "store_world.h"

static ecs_query* make_query(store* fixture, const ecs_term* terms, uint32_t count) {
    ecs_query* query = NULL;
    assert_int_equal(ecs_query_create(fixture->world, terms, count, &query), ECS_OK);
    return query;
}

static void a_query_matches_by_required_and_excluded_components(void** state) { // S1.3 S4.4 S5.17
    (void)state;
    store fixture;
    store_open(&fixture, NULL);
    const ecs_term both[] = {{"pos", "p2", ECS_READ}, {"vel", "p2", ECS_READ}};
    const ecs_term still[] = {{"pos", "p2", ECS_READ}, {"vel", "p2", ECS_REQUIRE_NOT}};
    const ecs_term maybe[] = {{"pos", "p2", ECS_REQUIRE}, {"hp", "i", ECS_OPTIONAL_READ}};
    ecs_query* moving = make_query(&fixture, both, 2);
    ecs_query* standing = make_query(&fixture, still, 2);
    ecs_query* any = make_query(&fixture, maybe, 2);
    ecs_query* all = make_query(&fixture, NULL, 0);
    store_seal(&fixture);
    ecs_world* world = fixture.world;
    store_create(&fixture, fixture.nothing);
    ecs_entity ball = store_create(&fixture, fixture.ball);
    store_create(&fixture, fixture.mover);
    ecs_entity rock = store_create(&fixture, fixture.rock);
    assert_int_equal(ecs_query_count(world, moving), 2);
    assert_int_equal(ecs_query_count(world, standing), 1);
    assert_int_equal(ecs_query_count(world, any), 3);
    assert_int_equal(ecs_query_count(world, all), 4);
    assert_int_equal(ecs_query_first(world, standing), rock);
    assert_int_equal(ecs_query_first(world, moving), ball);
    assert_int_equal(ecs_destroy(world, rock), ECS_OK);
    assert_int_equal(ecs_query_first(world, standing), ECS_ENTITY_NONE);
    assert_int_equal(ecs_query_count(world, standing), 0);
    store_close(&fixture);
}

static void a_walk_sees_rows_and_columns_in_a_fixed_order(void** state) { // S3.2 S5.17
    (void)state;
    store fixture;
    store_open(&fixture, NULL);
    const ecs_term terms[] = {
        {"pos", "p2", ECS_READ}, {"vel", "p2", ECS_REQUIRE}, {"hp", "i", ECS_OPTIONAL_READ}};
    ecs_query* query = make_query(&fixture, terms, 3);
    store_seal(&fixture);
    ecs_world* world = fixture.world;
    ecs_entity mover = store_create(&fixture, fixture.mover);
    ecs_entity balls[20];
    assert_int_equal(ecs_create_many(world, fixture.ball, 20, balls), ECS_OK);
    store_create(&fixture, fixture.rock);
    ecs_query_iter iter = ecs_query_begin(world, query);
    assert_true(ecs_query_next(&iter));
    assert_int_equal(iter.rows.count, 1);
    assert_int_equal(iter.rows.entities[0], mover);
    assert_null(iter.rows.columns[1]);
    assert_null(iter.rows.columns[2]);
    assert_true(ecs_query_next(&iter));
    assert_int_equal(iter.rows.count, 20);
    const ecs_vec2* pos = iter.rows.columns[0];
    for (uint32_t row = 0; row < 20; row++) {
        assert_int_equal(iter.rows.entities[row], balls[row]);
        assert_float_equal(pos[row].x, 1.0f, 0.0f);
    }
    for (uint32_t row = 20; row < 32; row++)
        assert_float_equal(pos[row].x, 0.0f, 0.0f);
    assert_false(ecs_query_next(&iter));
    assert_int_equal(world->fast.walk_depth, 0);
    store_close(&fixture);
}

static void caches_follow_chunks_of_older_archetypes(void** state) { // S4.3 S1.5
    (void)state;
    store fixture;
    store_open(&fixture, NULL);
    const ecs_term terms[] = {{"pos", "p2", ECS_WRITE}};
    ecs_query* query = make_query(&fixture, terms, 1);
    store_seal(&fixture);
    ecs_world* world = fixture.world;
    enum { COUNT = 2 * ECS_CHUNK_ROWS_MAX + 1 };
    ecs_entity* entities = malloc(COUNT * sizeof *entities);
    store_create(&fixture, fixture.ball);
    store_create(&fixture, fixture.rock);
    ecs_storage_validate(world);
    assert_int_equal(ecs_create_many(world, fixture.ball, COUNT, entities), ECS_OK);
    ecs_storage_validate(world);
    assert_int_equal(query->cache.entry_count, 4);
    uint32_t total = 0;
    ecs_query_iter iter = ecs_query_begin(world, query);
    while (ecs_query_next(&iter))
        total += iter.rows.count;
    assert_int_equal(total, COUNT + 2);
    for (uint32_t i = COUNT; i-- > 0;)
        assert_int_equal(ecs_destroy(world, entities[i]), ECS_OK);
    ecs_storage_validate(world);
    assert_int_equal(ecs_query_count(world, query), 2);
    free(entities);
    store_close(&fixture);
}

static void a_write_walk_marks_the_chunks_it_opens(void** state) {
    (void)state;
    store fixture;
    store_open(&fixture, NULL);
    const ecs_term writes[] = {{"pos", "p2", ECS_WRITE}, {"hp", "i", ECS_OPTIONAL_WRITE}};
    const ecs_term reads[] = {{"pos", "p2", ECS_READ}};
    ecs_query* writer = make_query(&fixture, writes, 2);
    ecs_query* reader = make_query(&fixture, reads, 1);
    store_seal(&fixture);
    ecs_world* world = fixture.world;
    store_create(&fixture, fixture.mover);
    store_create(&fixture, fixture.ball);
    const ecs_chunk* chunk = world->storage->archetypes[0]->chunks[0];
    ecs_query_iter iter = ecs_query_begin(world, reader);
    while (ecs_query_next(&iter))
        assert_int_equal(iter.rows.count, 1);
    assert_int_equal(chunk->written[0], 0);
    iter = ecs_query_begin(world, writer);
    while (ecs_query_next(&iter))
        assert_int_equal(iter.rows.count, 1);
    assert_int_equal(chunk->written[0], 1);
    store_close(&fixture);
}

static void one_entity_is_found_through_a_query(void** state) { // S5.5 S5.17
    (void)state;
    store fixture;
    store_open(&fixture, NULL);
    const ecs_term terms[] = {{"pos", "p2", ECS_WRITE}, {"hp", "i", ECS_OPTIONAL_READ}};
    ecs_query* query = make_query(&fixture, terms, 2);
    store_seal(&fixture);
    ecs_world* world = fixture.world;
    store_create(&fixture, fixture.mover);
    ecs_entity mover = store_create(&fixture, fixture.mover);
    ecs_entity fast = store_create(&fixture, fixture.fast);
    ecs_query_iter found;
    assert_true(ecs_query_find(world, query, mover, &found));
    assert_int_equal(found.rows.count, 1);
    assert_int_equal(found.rows.entities[0], mover);
    assert_ptr_equal(found.rows.columns[0], ecs_get(world, mover, fixture.pos));
    assert_null(found.rows.columns[1]);
    assert_int_equal(ecs_chunk_dirty(world->storage->archetypes[0]->chunks[0], 0)[0], 2);
    assert_false(ecs_query_find(world, query, fast, &found));
    assert_false(ecs_query_find(world, query, ECS_ENTITY_NONE, &found));
    store_close(&fixture);
}

static void the_nth_is_whom_a_walk_meets_and_all_are_destroyed_by_one_call(void** state) {
    (void)state;
    store fixture;
    store_open(&fixture, NULL);
    const ecs_term terms[] = {{"pos", "p2", ECS_READ}, {"vel", "p2", ECS_READ}};
    ecs_query* query = make_query(&fixture, terms, 2);
    store_seal(&fixture);
    ecs_world* world = fixture.world;
    assert_int_equal(ecs_query_nth(world, query, 0), ECS_ENTITY_NONE);
    assert_true(ecs_command_destroy_all(world, query));
    ecs_entity balls[300], met[302];
    assert_int_equal(ecs_create_many(world, fixture.ball, 300, balls), ECS_OK);
    store_create(&fixture, fixture.mover);
    store_create(&fixture, fixture.mover);
    ecs_entity rock = store_create(&fixture, fixture.rock);
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
    store_close(&fixture);
}

static void structure_does_not_change_while_walking(void** state) {
    (void)state;
    store fixture;
    store_open(&fixture, NULL);
    ecs_query* query = make_query(&fixture, NULL, 0);
    store_seal(&fixture);
    ecs_world* world = fixture.world;
    ecs_entity entity = store_create(&fixture, fixture.ball);
    ecs_query_iter iter = ecs_query_begin(world, query);
    assert_true(ecs_query_next(&iter));
    base_assert_handler_set(test_assert_handler);
    expect_assert_failure((void)!ecs_destroy(world, entity));
    expect_assert_failure((void)!ecs_create(world, fixture.ball, NULL, 0, &entity));
    base_assert_handler_set(NULL);
    ecs_query_end(&iter);
    assert_false(ecs_query_next(&iter));
    ecs_query_end(&iter);
    assert_int_equal(ecs_destroy(world, entity), ECS_OK);
    store_close(&fixture);
}

static void a_wrong_type_is_reported_at_seal(void** state) {
    (void)state;
    store fixture;
    store_open(&fixture, NULL);
    const ecs_term terms[] = {{"pos", "p3", ECS_OPTIONAL_READ}};
    ecs_query_own(make_query(&fixture, terms, 1), "move_ball");
    base_report_first report = {0};
    base_reporter reporter = base_reporter_first(&report);
    assert_int_equal(ecs_world_seal(fixture.world, &reporter), ECS_ERR_TYPE);
    assert_non_null(strstr(report.text, "move_ball"));
    assert_non_null(strstr(report.text, "pos:p3"));
    assert_non_null(strstr(report.text, "p2"));
    ecs_world_destroy(fixture.world);
}

static void a_required_component_that_nobody_has_is_reported_at_seal(void** state) { // S1.4
    (void)state;
    store fixture;
    store_open(&fixture, NULL);
    const ecs_term fine[] = {{"nowhere", "p3", ECS_OPTIONAL_READ},
                             {"never", "p3", ECS_REQUIRE_NOT}};
    const ecs_term wrong[] = {{"nowhere", "p3", ECS_REQUIRE}};
    make_query(&fixture, fine, 2);
    make_query(&fixture, wrong, 1);
    base_report_first report = {0};
    base_reporter reporter = base_reporter_first(&report);
    assert_int_equal(ecs_world_seal(fixture.world, &reporter), ECS_ERR_UNKNOWN);
    assert_int_equal(report.count, 1);
    assert_non_null(strstr(report.text, "nowhere"));
    ecs_world_destroy(fixture.world);
}

static void terms_have_a_limit_and_seal_closes_registration(void** state) {
    (void)state;
    store fixture;
    store_open(&fixture, NULL);
    ecs_term terms[ECS_QUERY_TERMS_MAX + 1];
    for (uint32_t i = 0; i < BASE_COUNT(terms); i++)
        terms[i] = (ecs_term){"pos", "p2", ECS_WRITE};
    ecs_query* query = NULL;
    ecs_world* world = fixture.world;
    assert_int_equal(ecs_query_create(world, terms, ECS_QUERY_TERMS_MAX + 1, &query), ECS_ERR_FULL);
    assert_int_equal(ecs_query_create(world, terms, ECS_QUERY_TERMS_MAX - 1, &query), ECS_OK);
    assert_int_equal(ecs_query_create(world, terms, ECS_QUERY_TERMS_MAX, &query), ECS_OK);
    store_seal(&fixture);
    store_create(&fixture, fixture.mover);
    assert_int_equal(ecs_query_count(world, query), 1);
    assert_int_equal(ecs_query_create(world, terms, 1, &query), ECS_ERR_SEALED);
    store_close(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_query_matches_by_required_and_excluded_components),
        TEST(a_walk_sees_rows_and_columns_in_a_fixed_order),
        TEST(caches_follow_chunks_of_older_archetypes),
        TEST(a_write_walk_marks_the_chunks_it_opens),
        TEST(one_entity_is_found_through_a_query),
        TEST(the_nth_is_whom_a_walk_meets_and_all_are_destroyed_by_one_call),
        TEST(structure_does_not_change_while_walking),
        TEST(a_wrong_type_is_reported_at_seal),
        TEST(a_required_component_that_nobody_has_is_reported_at_seal),
        TEST(terms_have_a_limit_and_seal_closes_registration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
