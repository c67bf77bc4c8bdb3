// SPDX-License-Identifier: MIT
// Creating, changing and reading single entities.
#include "store_world.h"

static void a_new_entity_has_its_templates_defaults(void** state) {
    (void)state;
    store fixture;
    store_make(&fixture, NULL);
    ecs_entity ball = store_create(&fixture, fixture.ball);
    assert_float_equal(store_vec2(&fixture, ball, fixture.pos).y, 2.0f, 0.0f);
    assert_float_equal(store_vec2(&fixture, ball, fixture.vel).x, 3.0f, 0.0f);
    assert_float_equal(*(const float*)ecs_get(fixture.world, ball, fixture.radius), 5.0f, 0.0f);
    assert_string_equal(ecs_entity_template_name(fixture.world, ball), "ball");
    assert_int_equal(ecs_entity_template(fixture.world, ball), fixture.ball);
    store_close(&fixture);
}

// S5.1
static void inits_override_defaults_and_the_last_of_two_wins(void** state) {
    (void)state;
    store fixture;
    store_make(&fixture, NULL);
    ecs_vec2 first = {10, 11};
    ecs_vec2 second = {12, 13};
    ecs_init inits[] = {{fixture.pos, &first}, {fixture.pos, &second}};
    ecs_entity ball = ECS_ENTITY_NONE;
    assert_int_equal(ecs_create(fixture.world, fixture.ball, inits, 2, &ball), ECS_OK);
    assert_float_equal(store_vec2(&fixture, ball, fixture.pos).x, 12.0f, 0.0f);
    store_close(&fixture);
}

static void an_unknown_template_or_component_is_refused(void** state) {
    (void)state;
    store fixture;
    store_make(&fixture, NULL);
    ecs_world* world = fixture.world;
    ecs_vec2 value = {0, 0};
    ecs_entity entity = ECS_ENTITY_NONE;
    assert_int_equal(ecs_create(world, ECS_TEMPLATE_NONE, NULL, 0, &entity), ECS_ERR_UNKNOWN);
    assert_int_equal(ecs_create(world, 999, NULL, 0, &entity), ECS_ERR_UNKNOWN);
    assert_int_equal(ecs_create_many(world, 999, 3, NULL), ECS_ERR_UNKNOWN);
    ecs_component_id wrong[] = {fixture.hp, ECS_COMPONENT_NONE, ECS_COMPONENTS_MAX, UINT16_MAX};
    for (size_t i = 0; i < BASE_COUNT(wrong); i++) {
        ecs_init init = {wrong[i], &value};
        assert_int_equal(ecs_create(world, fixture.ball, &init, 1, &entity), ECS_ERR_MISSING);
    }
    assert_int_equal(ecs_world_entity_count(world), 0);
    entity = store_create(&fixture, fixture.ball);
    ecs_init init = {fixture.boost, &value};
    assert_int_equal(ecs_recreate(world, entity, fixture.rock, &init, 1), ECS_ERR_MISSING);
    assert_int_equal(ecs_recreate(world, entity, 999, NULL, 0), ECS_ERR_UNKNOWN);
    store_close(&fixture);
}

// S5.16
static void find_is_null_where_get_asserts(void** state) {
    (void)state;
    store fixture;
    store_make(&fixture, NULL);
    ecs_world* world = fixture.world;
    ecs_entity ball = store_create(&fixture, fixture.ball);
    assert_null(ecs_find(world, ball, fixture.hp));
    assert_null(ecs_find(world, ball, UINT16_MAX));
    assert_null(ecs_find(world, ECS_ENTITY_NONE, fixture.pos));
    assert_null(ecs_find_mut(world, ball, fixture.hp));
    assert_non_null(ecs_find(world, ball, fixture.pos));
    base_assert_handler_set(test_assert_handler);
    expect_assert_failure((void)ecs_get(world, ball, fixture.hp));
    expect_assert_failure((void)ecs_get_mut(world, ECS_ENTITY_NONE, fixture.pos));
    base_assert_handler_set(NULL);
    store_close(&fixture);
}

static void set_copies_and_tells_what_is_wrong(void** state) {
    (void)state;
    store fixture;
    store_make(&fixture, NULL);
    ecs_entity ball = store_create(&fixture, fixture.ball);
    ecs_vec2 value = {8, 9};
    assert_int_equal(ecs_set(fixture.world, ball, fixture.pos, &value), ECS_OK);
    assert_float_equal(store_vec2(&fixture, ball, fixture.pos).y, 9.0f, 0.0f);
    assert_int_equal(ecs_set(fixture.world, ball, fixture.hp, &value), ECS_ERR_MISSING);
    assert_int_equal(ecs_destroy(fixture.world, ball), ECS_OK);
    assert_int_equal(ecs_set(fixture.world, ball, fixture.pos, &value), ECS_ERR_STALE);
    store_close(&fixture);
}

static void writers_mark_the_row_and_readers_do_not(void** state) {
    (void)state;
    store fixture;
    store_make(&fixture, NULL);
    ecs_entity mover = store_create(&fixture, fixture.mover);
    const ecs_chunk* chunk = fixture.world->storage->archetypes[0]->chunks[0];
    (void)ecs_get(fixture.world, mover, fixture.pos);
    (void)ecs_get_mut(fixture.world, mover, fixture.vel);
    assert_int_equal(ecs_chunk_dirty(chunk, 0)[0], 0);
    (void)ecs_get_mut(fixture.world, mover, fixture.pos);
    assert_int_equal(ecs_chunk_dirty(chunk, 0)[0], 1);
    assert_int_equal(*ecs_chunk_summary(chunk, 0), 1);
    store_close(&fixture);
}

// What ecs_set becomes where the compiler knows the size of the value.
static void a_value_of_known_size_is_set_as_any_other(void** state) {
    (void)state;
    store fixture;
    store_make(&fixture, NULL);
    ecs_world* world = fixture.world;
    ecs_entity mover = store_create(&fixture, fixture.mover);
    const ecs_chunk* chunk = world->storage->archetypes[0]->chunks[0];
    const float value[4] = {5, 6, 7, 8};
    assert_int_equal(ecs_fast_set(world, mover, fixture.vel, value, 2), ECS_OK);
    assert_int_equal(ecs_chunk_dirty(chunk, 0)[0], 0);
    assert_int_equal(ecs_fast_set(world, mover, fixture.pos, value, 2), ECS_OK);
    assert_float_equal(store_vec2(&fixture, mover, fixture.pos).y, 6.0f, 0.0f);
    assert_float_equal(store_vec2(&fixture, mover, fixture.vel).x, 5.0f, 0.0f);
    assert_int_equal(ecs_chunk_dirty(chunk, 0)[0], 1);
    assert_int_equal(*ecs_chunk_summary(chunk, 0), 1);
    // More words than the component has: as many are taken as it has.
    assert_int_equal(ecs_fast_set(world, mover, fixture.pos, value + 1, 3), ECS_OK);
    assert_float_equal(store_vec2(&fixture, mover, fixture.pos).x, 6.0f, 0.0f);
    assert_float_equal(store_vec2(&fixture, mover, fixture.pos).y, 7.0f, 0.0f);
    assert_int_equal(ecs_fast_set(world, mover, fixture.hp, value, 1), ECS_ERR_MISSING);
    assert_int_equal(ecs_destroy(world, mover), ECS_OK);
    assert_int_equal(ecs_fast_set(world, mover, fixture.pos, value, 2), ECS_ERR_STALE);
    store_close(&fixture);
}

// S5.7
static void recreate_keeps_what_both_have_adds_and_removes(void** state) {
    (void)state;
    store fixture;
    store_make(&fixture, NULL);
    ecs_world* world = fixture.world;
    ecs_entity entity = store_create(&fixture, fixture.ball);
    store_set_pos(&fixture, entity, 42.0f);
    assert_int_equal(ecs_recreate(world, entity, fixture.rock, NULL, 0), ECS_OK);
    assert_float_equal(store_vec2(&fixture, entity, fixture.pos).x, 42.0f, 0.0f);
    assert_int_equal(*(const int32_t*)ecs_get(world, entity, fixture.hp), 9);
    assert_null(ecs_find(world, entity, fixture.vel));
    ecs_template_id fast = ecs_template_find(world, "ball+fast");
    ecs_vec2 vel = {-1, -2};
    ecs_init init = {fixture.vel, &vel};
    assert_int_equal(ecs_recreate(world, entity, fast, &init, 1), ECS_OK);
    assert_string_equal(ecs_entity_template_name(world, entity), "ball+fast");
    assert_float_equal(store_vec2(&fixture, entity, fixture.pos).x, 42.0f, 0.0f);
    assert_float_equal(store_vec2(&fixture, entity, fixture.vel).x, -1.0f, 0.0f);
    assert_true(ecs_is_alive(world, entity));
    store_close(&fixture);
}

// S5.7
static void recreate_within_an_archetype_changes_the_template_alone(void** state) {
    (void)state;
    store fixture;
    store_make(&fixture, NULL);
    ecs_world* world = fixture.world;
    ecs_entity first = store_create(&fixture, fixture.ball);
    ecs_entity second = store_create(&fixture, fixture.ball);
    store_set_pos(&fixture, first, 3.0f);
    uint32_t place = ecs_record_find(world->storage, first)->place;
    assert_int_equal(ecs_recreate(world, first, fixture.orb, NULL, 0), ECS_OK);
    assert_string_equal(ecs_entity_template_name(world, first), "orb");
    assert_float_equal(store_vec2(&fixture, first, fixture.pos).x, 3.0f, 0.0f);
    assert_int_equal(ecs_record_find(world->storage, first)->place, place);
    assert_int_equal(ecs_recreate(world, first, fixture.orb, NULL, 0), ECS_OK);
    assert_int_equal(ecs_destroy(world, second), ECS_OK);
    assert_int_equal(ecs_recreate(world, second, fixture.orb, NULL, 0), ECS_ERR_STALE);
    store_close(&fixture);
}

static void texts_live_through_moves_copies_and_deaths(void** state) {
    (void)state;
    store fixture;
    store_memory memory;
    store_memory_init(&memory);
    ecs_world_config config = ecs_world_config_default();
    config.allocator = &memory.allocator;
    store_make(&fixture, &config);
    ecs_world* world = fixture.world;
    enum { COUNT = 100 };
    ecs_entity entities[COUNT];
    assert_int_equal(ecs_create_many(world, fixture.sign, COUNT, entities), ECS_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        char text[64];
        int size = snprintf(text, sizeof text, "number %u of the rather long texts", i);
        ecs_string* title = ecs_get_mut(world, entities[i], fixture.title);
        assert_true(ecs_string_set(ecs_world_allocator(world), title, text, (uint32_t)size));
    }
    for (uint32_t i = 0; i < COUNT; i += 3)
        assert_int_equal(ecs_destroy(world, entities[i]), ECS_OK);
    ecs_template_id both = ecs_template_find(world, "sign+poster");
    for (uint32_t i = 1; i < COUNT; i += 3)
        assert_int_equal(ecs_recreate(world, entities[i], both, NULL, 0), ECS_OK);
    ecs_storage_validate(world);
    for (uint32_t i = 1; i < COUNT; i++) {
        if (i % 3 == 0) continue;
        char text[64];
        (void)snprintf(text, sizeof text, "number %u of the rather long texts", i);
        const ecs_string* title = ecs_get(world, entities[i], fixture.title);
        assert_string_equal(ecs_string_text(title), text);
    }
    for (uint32_t i = 1; i < COUNT; i += 3)
        assert_int_equal(ecs_recreate(world, entities[i], fixture.ball, NULL, 0), ECS_OK);
    ecs_string text = {.data = (char[]){"given"}, .size = 5};
    assert_int_equal(ecs_set(world, entities[2], fixture.title, &text), ECS_OK);
    const ecs_string* title = ecs_get(world, entities[2], fixture.title);
    assert_string_equal(ecs_string_text(title), "given");
    store_close(&fixture);
    assert_int_equal(memory.bytes_out, 0);
}

// S5.16
static void an_entity_without_components_is_called_empty(void** state) {
    (void)state;
    store fixture;
    store_make(&fixture, NULL);
    ecs_entity entity = store_create(&fixture, fixture.nothing);
    assert_string_equal(ecs_entity_template_name(fixture.world, entity), "empty");
    assert_null(ecs_entity_template_name(fixture.world, ECS_ENTITY_NONE));
    assert_int_equal(ecs_entity_template(fixture.world, ECS_ENTITY_NONE), ECS_TEMPLATE_NONE);
    store_close(&fixture);
}

static void many_are_made_at_once_like_one_by_one(void** state) {
    (void)state;
    store fixture;
    store_make(&fixture, NULL);
    ecs_world* world = fixture.world;
    enum { COUNT = 2 * ECS_CHUNK_ROWS_MAX + 5 };
    ecs_entity* entities = malloc(COUNT * sizeof *entities);
    store_create(&fixture, fixture.mover);
    assert_int_equal(ecs_create_many(world, fixture.mover, 0, NULL), ECS_OK);
    assert_int_equal(ecs_create_many(world, fixture.mover, COUNT, entities), ECS_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(ecs_entity_index(entities[i]), 65537 + i);
        assert_float_equal(store_vec2(&fixture, entities[i], fixture.vel).y, 4.0f, 0.0f);
    }
    assert_int_equal(ecs_world_entity_count(world), COUNT + 1);
    free(entities);
    store_close(&fixture);
}

static void series_of_one_template_leave_no_trace_behind_the_rows(void** state) {
    (void)state;
    store fixture;
    store_open(&fixture, NULL);
    const ecs_term terms[] = {{"pos", "p2", ECS_READ}};
    ecs_query* query = NULL;
    assert_int_equal(ecs_query_create(fixture.world, terms, 1, &query), ECS_OK);
    store_seal(&fixture);
    ecs_world* world = fixture.world;
    // The long ones are about as long as a runway gets, and twice that.
    enum { SHORT = 67, LONG = 6 };
    for (uint32_t turn = 0; turn < SHORT + LONG; turn++) {
        const uint32_t series =
            turn < SHORT ? 1 + 3 * turn : (1024u << (turn - SHORT) / 3) - 1 + (turn - SHORT) % 3;
        ecs_entity last = ECS_ENTITY_NONE;
        for (uint32_t i = 0; i < series; i++) {
            ecs_vec2 pos = {(float)i, 5};
            ecs_init init = {fixture.pos, &pos};
            assert_int_equal(ecs_create(world, fixture.mover, &init, i % 2, &last), ECS_OK);
            float expected = i % 2 ? (float)i : 1.0f;
            assert_float_equal(store_vec2(&fixture, last, fixture.pos).x, expected, 0.0f);
        }
        ecs_storage_validate(world);
        switch (series % 5) {
        case 0:
            assert_int_equal(ecs_destroy(world, last), ECS_OK);
            break;
        case 1:
            store_create(&fixture, fixture.ball);
            break;
        case 2:
            assert_int_equal(ecs_create_many(world, fixture.mover, 3, NULL), ECS_OK);
            break;
        case 3:
            assert_int_equal(ecs_recreate(world, last, fixture.ball, NULL, 0), ECS_OK);
            break;
        default:
            break;
        }
        ecs_query_iter iter = ecs_query_begin(world, query);
        while (ecs_query_next(&iter)) {
            const ecs_vec2* pos = iter.rows.columns[0];
            for (uint32_t row = iter.rows.count; row % 16 != 0; row++)
                assert_float_equal(pos[row].x, 0.0f, 0.0f);
        }
        assert_null(world->storage->runway.chunk);
        ecs_storage_validate(world);
    }
    store_close(&fixture);
}

static void too_many_at_once_change_nothing(void** state) {
    (void)state;
    ecs_world_config config = ecs_world_config_default();
    config.limits.replicated_index_max = 10;
    config.limits.local_entities_max = 5;
    store fixture;
    store_make(&fixture, &config);
    assert_int_equal(ecs_create_many(fixture.world, fixture.ball, 6, NULL), ECS_ERR_FULL);
    assert_int_equal(ecs_world_entity_count(fixture.world), 0);
    assert_int_equal(ecs_create_many(fixture.world, fixture.ball, 4, NULL), ECS_OK);
    assert_int_equal(ecs_create_many(fixture.world, fixture.ball, 1, NULL), ECS_OK);
    assert_int_equal(ecs_create_many(fixture.world, fixture.ball, 1, NULL), ECS_ERR_FULL);
    store_close(&fixture);
}

static void structure_does_not_change_inside_a_stage(void** state) {
    (void)state;
    store fixture;
    store_make(&fixture, NULL);
    ecs_world* world = fixture.world;
    ecs_entity entity = store_create(&fixture, fixture.ball);
    base_assert_handler_set(test_assert_handler);
    world->fast.stage_depth = 1;
    expect_assert_failure((void)!ecs_create(world, fixture.ball, NULL, 0, &entity));
    expect_assert_failure((void)!ecs_create_many(world, fixture.ball, 2, NULL));
    expect_assert_failure((void)!ecs_destroy(world, entity));
    expect_assert_failure((void)!ecs_recreate(world, entity, fixture.rock, NULL, 0));
    world->fast.stage_depth = 0;
    base_assert_handler_set(NULL);
    store_close(&fixture);
}

static void entities_are_made_after_seal(void** state) {
    (void)state;
    store fixture;
    store_open(&fixture, NULL);
    ecs_entity entity = ECS_ENTITY_NONE;
    base_assert_handler_set(test_assert_handler);
    expect_assert_failure((void)!ecs_create(fixture.world, 1, NULL, 0, &entity));
    base_assert_handler_set(NULL);
    ecs_world_destroy(fixture.world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_new_entity_has_its_templates_defaults),
        TEST(inits_override_defaults_and_the_last_of_two_wins),
        TEST(an_unknown_template_or_component_is_refused),
        TEST(find_is_null_where_get_asserts),
        TEST(set_copies_and_tells_what_is_wrong),
        TEST(writers_mark_the_row_and_readers_do_not),
        TEST(a_value_of_known_size_is_set_as_any_other),
        TEST(recreate_keeps_what_both_have_adds_and_removes),
        TEST(recreate_within_an_archetype_changes_the_template_alone),
        TEST(texts_live_through_moves_copies_and_deaths),
        TEST(an_entity_without_components_is_called_empty),
        TEST(many_are_made_at_once_like_one_by_one),
        TEST(series_of_one_template_leave_no_trace_behind_the_rows),
        TEST(too_many_at_once_change_nothing),
        TEST(structure_does_not_change_inside_a_stage),
        TEST(entities_are_made_after_seal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
