// SPDX-License-Identifier: MIT
// S5.2: templates marked _singleton.
#include "test.h"

#include <string.h>

#include "ecs/ecs.h"

static const char text[] =
    "board { _singleton:b=yes; size:i=5\n }\n"
    "table { size:i=7\n }\n"
    "spot { \"at:p2\" { _replicate:b=yes; value:p2=0,0 }\n _singleton:b=yes }\n";

typedef struct single {
    ecs_world* world;
    ecs_template_id board, table, spot;
} single;

static void single_open(single* fixture, bool is_mirror) {
    ecs_world_config config = ecs_world_config_default();
    config.is_mirror = is_mirror;
    assert_int_equal(ecs_world_create(&config, &fixture->world), ECS_OK);
    assert_int_equal(ecs_template_load(fixture->world, "s.blk", text, strlen(text), NULL), ECS_OK);
    assert_int_equal(ecs_world_seal(fixture->world, NULL), ECS_OK);
    fixture->board = ecs_template_find(fixture->world, "board");
    fixture->table = ecs_template_find(fixture->world, "table");
    fixture->spot = ecs_template_find(fixture->world, "spot");
}

static void single_close(single* fixture) {
    ecs_world_validate(fixture->world);
    ecs_world_destroy(fixture->world);
}

static uint64_t refused(const single* fixture) {
    return ecs_world_counters(fixture->world)->singletons_refused;
}

static void a_second_singleton_is_refused_while_one_lives(void** state) { // S5.2
    (void)state;
    single fixture;
    single_open(&fixture, false);
    ecs_world* world = fixture.world;
    ecs_entity entity = ECS_ENTITY_NONE, second = 77;
    assert_int_equal(ecs_singleton(world, fixture.board), ECS_ENTITY_NONE);
    // Creating a series of one template has its own short code path.
    for (uint32_t round = 0; round < 5; round++) {
        assert_int_equal(ecs_create(world, fixture.board, NULL, 0, &entity), ECS_OK);
        assert_int_equal(ecs_singleton(world, fixture.board), entity);
        assert_int_equal(ecs_create(world, fixture.board, NULL, 0, &second), ECS_ERR_TAKEN);
        assert_int_equal(second, 77);
        assert_int_equal(refused(&fixture), round + 1);
        assert_int_equal(ecs_destroy(world, entity), ECS_OK);
        assert_int_equal(ecs_singleton(world, fixture.board), ECS_ENTITY_NONE);
    }
    assert_int_equal(ecs_create(world, fixture.table, NULL, 0, &entity), ECS_OK);
    assert_int_equal(ecs_create(world, fixture.table, NULL, 0, &second), ECS_OK);
    // The template is not marked.
    assert_int_equal(ecs_singleton(world, fixture.table), ECS_ENTITY_NONE);
    assert_int_equal(ecs_singleton(world, ECS_TEMPLATE_NONE), ECS_ENTITY_NONE);
    assert_int_equal(ecs_singleton(world, 999), ECS_ENTITY_NONE);
    single_close(&fixture);
}

static void many_and_commands_and_recreates_are_refused_alike(void** state) { // S5.2
    (void)state;
    single fixture;
    single_open(&fixture, false);
    ecs_world* world = fixture.world;
    ecs_entity entity = ECS_ENTITY_NONE, table = ECS_ENTITY_NONE;
    assert_int_equal(ecs_create_many(world, fixture.board, 2, NULL), ECS_ERR_TAKEN);
    assert_int_equal(ecs_create_many(world, fixture.board, 1, &entity), ECS_OK);
    assert_int_equal(ecs_create_many(world, fixture.board, 1, NULL), ECS_ERR_TAKEN);
    assert_int_equal(ecs_create(world, fixture.table, NULL, 0, &table), ECS_OK);
    assert_int_equal(ecs_recreate(world, table, fixture.board, NULL, 0), ECS_ERR_TAKEN);
    int32_t value = 9;
    ecs_init init = {ecs_component_find(world, "size"), &value};
    // To its own template.
    assert_int_equal(ecs_recreate(world, entity, fixture.board, &init, 1), ECS_OK);
    assert_int_equal(refused(&fixture), 3);
    assert_int_equal(ecs_recreate(world, entity, fixture.table, NULL, 0), ECS_OK);
    assert_int_equal(ecs_singleton(world, fixture.board), ECS_ENTITY_NONE);
    assert_int_equal(ecs_recreate(world, table, fixture.board, NULL, 0), ECS_OK);
    assert_int_equal(ecs_singleton(world, fixture.board), table);
    assert_int_equal(ecs_destroy(world, table), ECS_OK);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_not_equal(ecs_command_create(world, fixture.board, NULL, 0), 0);
    }
    ecs_command_flush(world);
    assert_int_equal(ecs_world_entity_count(world), 2);
    assert_int_equal(ecs_world_counters(world)->commands_refused, 4);
    assert_int_equal(refused(&fixture), 7);
    for (uint32_t i = 0; i < 6; i++) {
        ecs_entity more = ECS_ENTITY_NONE;
        assert_int_equal(ecs_create(world, fixture.table, NULL, 0, &more), ECS_OK);
        assert_true(ecs_command_recreate(world, more, fixture.board, NULL, 0));
    }
    ecs_command_flush(world);
    assert_int_equal(ecs_world_counters(world)->commands_refused, 10);
    single_close(&fixture);
}

static void a_restored_singleton_is_one(void** state) { // S5.2
    (void)state;
    single fixture;
    single_open(&fixture, false);
    ecs_world* world = fixture.world;
    ecs_entity entity = ECS_ENTITY_NONE, second = ECS_ENTITY_NONE;
    assert_int_equal(ecs_create(world, fixture.board, NULL, 0, &entity), ECS_OK);
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    assert_int_equal(ecs_world_save(world, &bytes), ECS_OK);
    assert_int_equal(ecs_world_restore(world, bytes.data, bytes.size), ECS_OK);
    base_bytes_deinit(&bytes);
    assert_int_equal(ecs_singleton(world, fixture.board), entity);
    assert_int_equal(ecs_create(world, fixture.board, NULL, 0, &second), ECS_ERR_TAKEN);
    single_close(&fixture);
}

static void a_mirror_takes_what_its_authority_says(void** state) { // S5.2
    (void)state;
    single fixture;
    single_open(&fixture, true);
    ecs_world* world = fixture.world;
    ecs_entity first = ecs_entity_make(3, 1), second = ecs_entity_make(4, 1);
    assert_int_equal(ecs_create_at(world, first, fixture.spot, NULL, 0), ECS_OK);
    assert_int_equal(ecs_create_at(world, second, fixture.spot, NULL, 0), ECS_OK);
    assert_int_equal(ecs_singleton(world, fixture.spot), second);
    assert_int_equal(ecs_destroy(world, second), ECS_OK);
    assert_int_equal(ecs_singleton(world, fixture.spot), first);
    ecs_entity own = ECS_ENTITY_NONE;
    assert_int_equal(ecs_create(world, fixture.spot, NULL, 0, &own), ECS_ERR_TAKEN);
    assert_int_equal(ecs_create(world, fixture.board, NULL, 0, &own), ECS_OK);
    assert_int_equal(ecs_create(world, fixture.board, NULL, 0, &own), ECS_ERR_TAKEN);
    single_close(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_second_singleton_is_refused_while_one_lives),
        TEST(many_and_commands_and_recreates_are_refused_alike),
        TEST(a_restored_singleton_is_one),
        TEST(a_mirror_takes_what_its_authority_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
