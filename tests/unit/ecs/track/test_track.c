// SPDX-License-Identifier: MIT
#include "system/live_world.h"

static void rest(live* fixture) {
    live_step(fixture);
    ecs_changes_clear(fixture->world);
}

static void check_hash(live* fixture) {
    ecs_world* world = fixture->world;
    assert_true(ecs_world_state_hash(world) == ecs_world_state_hash_walk(world));
    uint64_t sum = 0;
    for (uint32_t id = 1; id <= ecs_component_count(world); id++) {
        sum += ecs_world_state_hash_of(world, (ecs_component_id)id);
    }
    assert_true(sum == ecs_world_state_hash(world));
    sum = 0;
    for (ecs_entity e = ecs_entity_next(world, ECS_ENTITY_NONE); e != ECS_ENTITY_NONE;
         e = ecs_entity_next(world, e)) {
        for (uint32_t id = 1; id <= ecs_component_count(world); id++) {
            sum += ecs_component_hash(world, e, (ecs_component_id)id);
        }
    }
    assert_true(sum == ecs_world_state_hash(world));
    ecs_world_validate(world);
}

static void a_set_value_is_listed_once(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity entity = live_create(&fixture, fixture.thing);
    rest(&fixture);
    uint64_t before = ecs_world_state_hash(fixture.world);
    ecs_vec2 pos = {5, 6};
    assert_int_equal(ecs_set(fixture.world, entity, fixture.pos, &pos), ECS_OK);
    pos.x = 7;
    assert_int_equal(ecs_set(fixture.world, entity, fixture.pos, &pos), ECS_OK);
    assert_true(ecs_world_state_hash(fixture.world) == before); // as of the last step
    assert_true(ecs_world_state_hash_walk(fixture.world) == before);
    live_step(&fixture);
    ecs_changes changes = ecs_changes_get(fixture.world);
    assert_int_equal(changes.changed_count, 1);
    assert_int_equal(changes.changed[0].entity, entity);
    assert_int_equal(changes.changed[0].component, fixture.pos);
    assert_true(ecs_world_state_hash(fixture.world) != before);
    check_hash(&fixture);
    live_close(&fixture);
}

// S5.8
static void a_write_that_changes_nothing_is_not_listed(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity thing = live_create(&fixture, fixture.thing);
    ecs_entity named = live_create(&fixture, fixture.named);
    rest(&fixture);
    uint64_t compared = ecs_world_counters(fixture.world)->rows_compared;
    (void)ecs_get_mut(fixture.world, thing, fixture.pos);
    live_set_text(&fixture, named, fixture.title, "any_name");
    live_set_text(&fixture, named, fixture.title, "absent");
    live_step(&fixture);
    assert_int_equal(ecs_changes_get(fixture.world).changed_count, 0);
    assert_int_equal(ecs_world_counters(fixture.world)->rows_compared, compared + 2);
    live_step(&fixture);
    assert_int_equal(ecs_world_counters(fixture.world)->rows_compared, compared + 2);
    check_hash(&fixture);
    live_close(&fixture);
}

static void untracked_components_are_neither_listed_nor_hashed(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity entity = live_create(&fixture, fixture.thing);
    rest(&fixture);
    uint64_t before = ecs_world_state_hash(fixture.world);
    ecs_vec2 vel = {-1, -1};
    assert_int_equal(ecs_set(fixture.world, entity, fixture.vel, &vel), ECS_OK);
    live_step(&fixture);
    assert_int_equal(ecs_changes_get(fixture.world).changed_count, 0);
    assert_true(ecs_world_state_hash(fixture.world) == before);
    assert_true(ecs_component_hash(fixture.world, entity, fixture.vel) == 0);
    live_close(&fixture);
}

static void a_created_entity_is_not_in_changed(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity entity = live_create(&fixture, fixture.thing);
    int32_t hp = 1;
    assert_int_equal(ecs_set(fixture.world, entity, fixture.hp, &hp), ECS_OK);
    live_step(&fixture);
    ecs_changes changes = ecs_changes_get(fixture.world);
    assert_int_equal(changes.created_count, 1);
    assert_int_equal(changes.changed_count, 0);
    check_hash(&fixture);
    ecs_changes_clear(fixture.world);
    hp = 2;
    assert_int_equal(ecs_set(fixture.world, entity, fixture.hp, &hp), ECS_OK);
    live_step(&fixture);
    assert_int_equal(ecs_changes_get(fixture.world).changed_count, 1);
    live_close(&fixture);
}

static void destroying_takes_the_hash_away(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    uint64_t empty = ecs_world_state_hash(fixture.world);
    ecs_entity entity = live_create(&fixture, fixture.solid);
    int32_t hp = 1;
    assert_int_equal(ecs_set(fixture.world, entity, fixture.hp, &hp), ECS_OK);
    assert_int_equal(ecs_destroy(fixture.world, entity), ECS_OK);
    assert_true(ecs_world_state_hash(fixture.world) == empty);
    ecs_changes changes = ecs_changes_get(fixture.world);
    assert_int_equal(changes.created_count, 1);
    assert_int_equal(changes.destroyed_count, 1);
    assert_int_equal(changes.destroyed[0], entity);
    live_step(&fixture);
    check_hash(&fixture);
    live_close(&fixture);
}

static void padding_does_not_count_and_values_do(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity entity = live_create(&fixture, fixture.solid);
    rest(&fixture);
    live_body* body = ecs_get_mut(fixture.world, entity, fixture.body);
    memset(body, 0xff, sizeof(*body));
    body->kind = 0;
    body->mass = 0;
    live_step(&fixture);
    assert_int_equal(ecs_changes_get(fixture.world).changed_count, 0);
    body = ecs_get_mut(fixture.world, entity, fixture.body);
    body->mass = -0.0f; // a different value at full precision
    live_step(&fixture);
    assert_int_equal(ecs_changes_get(fixture.world).changed_count, 1);
    check_hash(&fixture);
    live_close(&fixture);
}

static void not_a_number_equals_any_other_payload_of_it(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity entity = live_create(&fixture, fixture.thing);
    uint32_t bits[2] = {0x7fc00000u, 0x7fc00000u};
    assert_int_equal(ecs_set(fixture.world, entity, fixture.pos, bits), ECS_OK);
    rest(&fixture);
    bits[0] = 0xffc12345u;
    assert_int_equal(ecs_set(fixture.world, entity, fixture.pos, bits), ECS_OK);
    live_step(&fixture);
    assert_int_equal(ecs_changes_get(fixture.world).changed_count, 0);
    check_hash(&fixture);
    live_close(&fixture);
}

static void a_changed_text_is_listed(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity entity = live_create(&fixture, fixture.named);
    rest(&fixture);
    live_set_text(&fixture, entity, fixture.title, "any_name");
    live_step(&fixture);
    ecs_changes changes = ecs_changes_get(fixture.world);
    assert_int_equal(changes.changed_count, 1);
    assert_int_equal(changes.changed[0].component, fixture.title);
    check_hash(&fixture);
    live_close(&fixture);
}

static void* allocate_unless(void* context, size_t size, size_t align) {
    const bool* is_out = context;
    return *is_out ? NULL : base_allocator_heap()->allocate(NULL, size, align);
}

static void release_any(void* context, void* memory, size_t size) {
    (void)context;
    base_allocator_heap()->release(NULL, memory, size);
}

static void a_text_that_no_memory_was_left_for_is_compared_again(void** state) {
    (void)state;
    bool is_out = false;
    base_allocator allocator = {allocate_unless, release_any, &is_out};
    ecs_world_config config = ecs_world_config_default();
    config.allocator = &allocator;
    live fixture;
    live_open(&fixture, &config);
    live_seal(&fixture);
    ecs_entity entity = live_create(&fixture, fixture.named);
    rest(&fixture);
    live_set_text(&fixture, entity, fixture.title, "first");
    rest(&fixture); // the list of changes has room now
    live_set_text(&fixture, entity, fixture.title, "second");
    uint64_t told = ecs_world_state_hash(fixture.world);
    is_out = true;
    live_step(&fixture);
    is_out = false;
    assert_int_equal(ecs_world_state_hash(fixture.world), told);
    check_hash(&fixture);
    ecs_changes_clear(fixture.world);
    live_step(&fixture);
    assert_int_not_equal(ecs_world_state_hash(fixture.world), told);
    assert_int_equal(ecs_changes_get(fixture.world).changed_count, 1);
    check_hash(&fixture);
    live_close(&fixture);
}

static void run_bump(const ecs_stage* stage, const ecs_rows* rows) {
    (void)stage;
    uint8_t* team = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++) {
        team[i] = (uint8_t)(team[i] + (ecs_entity_index(rows->entities[i]) % 7 == 3));
    }
}

// Sizes around blocks of 64 bytes, and rows of one byte: the test compares every tail length.
static void a_written_column_lists_exactly_the_rows_that_differ(void** state) {
    (void)state;
    static const ecs_term terms[] = {{"team", "u8", ECS_WRITE}};
    for (uint32_t count = 1; count < 200; count += 9) {
        live fixture;
        live_open(&fixture, NULL);
        ecs_system_desc bump = {
            .name = "bump", .stage = "act", .run = run_bump, .terms = terms, .term_count = 1};
        assert_int_equal(ecs_system_register(fixture.world, &bump), ECS_OK);
        live_seal(&fixture);
        ecs_entity entities[200];
        assert_int_equal(ecs_create_many(fixture.world, fixture.solid, count, entities), ECS_OK);
        rest(&fixture);
        live_step(&fixture);
        ecs_changes changes = ecs_changes_get(fixture.world);
        uint32_t expected = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (ecs_entity_index(entities[i]) % 7 == 3) {
                assert_true(expected < changes.changed_count);
                assert_int_equal(changes.changed[expected].entity, entities[i]);
                assert_int_equal(changes.changed[expected].component, fixture.team);
                expected++;
            }
        }
        assert_int_equal(changes.changed_count, expected);
        check_hash(&fixture);
        live_close(&fixture);
    }
}

static void recreate_is_listed_and_keeps_the_hash_right(void** state) {
    (void)state;
    live fixture;
    live_open(&fixture, NULL);
    live_seal(&fixture);
    ecs_entity entity = live_create(&fixture, fixture.thing);
    rest(&fixture);
    ecs_template_id both = ecs_template_find(fixture.world, "thing+named");
    assert_int_equal(ecs_recreate(fixture.world, entity, both, NULL, 0), ECS_OK);
    ecs_changes changes = ecs_changes_get(fixture.world);
    assert_int_equal(changes.recreated_count, 1);
    assert_int_equal(changes.recreated[0], entity);
    check_hash(&fixture);
    assert_int_equal(ecs_recreate(fixture.world, entity, fixture.named, NULL, 0), ECS_OK);
    check_hash(&fixture);
    live_close(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_set_value_is_listed_once),
        TEST(a_write_that_changes_nothing_is_not_listed),
        TEST(untracked_components_are_neither_listed_nor_hashed),
        TEST(a_created_entity_is_not_in_changed),
        TEST(destroying_takes_the_hash_away),
        TEST(padding_does_not_count_and_values_do),
        TEST(not_a_number_equals_any_other_payload_of_it),
        TEST(a_changed_text_is_listed),
        TEST(a_text_that_no_memory_was_left_for_is_compared_again),
        TEST(a_written_column_lists_exactly_the_rows_that_differ),
        TEST(recreate_is_listed_and_keeps_the_hash_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
