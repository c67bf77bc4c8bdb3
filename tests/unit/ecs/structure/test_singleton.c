// SPDX-License-Identifier: MIT
// S5.2: templates marked _singleton.
#include "ecs_parts.h"

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
    assert_ok(ecs_world_create(&config, &fixture->world));
    assert_ok(ecs_template_load(fixture->world, "s.blk", text, strlen(text), NULL));
    assert_ok(ecs_world_seal(fixture->world, NULL));
    fixture->board = ecs_template_find(fixture->world, "board");
    fixture->table = ecs_template_find(fixture->world, "table");
    fixture->spot = ecs_template_find(fixture->world, "spot");
}

static void single_close(single* fixture) {
    ecs_world_validate(fixture->world);
    ecs_world_destroy(fixture->world);
}

#define SINGLE_CASE(name) CASE_WITH(single, at, single_open(at, false), single_close(at), name)

static uint64_t refused(const single* fixture) {
    return ecs_world_counters(fixture->world)->singletons_refused;
}

SINGLE_CASE(a_second_singleton_is_refused_while_one_lives) { // S5.2
    ecs_world* world = at->world;
    ecs_entity entity = ECS_ENTITY_NONE, second = 77;
    assert_int_equal(ecs_singleton(world, at->board), ECS_ENTITY_NONE);
    // Creating a series of one template has its own short code path.
    for (uint32_t round = 0; round < 5; round++) {
        assert_ok(ecs_create(world, at->board, NULL, 0, &entity));
        assert_int_equal(ecs_singleton(world, at->board), entity);
        assert_int_equal(ecs_create(world, at->board, NULL, 0, &second), ECS_ERR_TAKEN);
        assert_int_equal(second, 77);
        assert_int_equal(refused(at), round + 1);
        assert_ok(ecs_destroy(world, entity));
        assert_int_equal(ecs_singleton(world, at->board), ECS_ENTITY_NONE);
    }
    assert_ok(ecs_create(world, at->table, NULL, 0, &entity));
    assert_ok(ecs_create(world, at->table, NULL, 0, &second));
    // The template is not marked.
    assert_int_equal(ecs_singleton(world, at->table), ECS_ENTITY_NONE);
    assert_int_equal(ecs_singleton(world, ECS_TEMPLATE_NONE), ECS_ENTITY_NONE);
    assert_int_equal(ecs_singleton(world, 999), ECS_ENTITY_NONE);
}

SINGLE_CASE(many_and_commands_and_recreates_are_refused_alike) { // S5.2
    ecs_world* world = at->world;
    ecs_entity entity = ECS_ENTITY_NONE, table = ECS_ENTITY_NONE;
    assert_int_equal(ecs_create_many(world, at->board, 2, NULL), ECS_ERR_TAKEN);
    assert_ok(ecs_create_many(world, at->board, 1, &entity));
    assert_int_equal(ecs_create_many(world, at->board, 1, NULL), ECS_ERR_TAKEN);
    assert_ok(ecs_create(world, at->table, NULL, 0, &table));
    assert_int_equal(ecs_recreate(world, table, at->board, NULL, 0), ECS_ERR_TAKEN);
    int32_t value = 9;
    ecs_init init = {ecs_component_find(world, "size"), &value};
    // To its own template.
    assert_ok(ecs_recreate(world, entity, at->board, &init, 1));
    assert_int_equal(refused(at), 3);
    assert_ok(ecs_recreate(world, entity, at->table, NULL, 0));
    assert_int_equal(ecs_singleton(world, at->board), ECS_ENTITY_NONE);
    assert_ok(ecs_recreate(world, table, at->board, NULL, 0));
    assert_int_equal(ecs_singleton(world, at->board), table);
    assert_ok(ecs_destroy(world, table));
    for (uint32_t i = 0; i < 5; i++)
        assert_int_not_equal(ecs_command_create(world, at->board, NULL, 0), 0);
    ecs_command_flush(world);
    assert_int_equal(ecs_world_entity_count(world), 2);
    assert_int_equal(ecs_world_counters(world)->commands_refused, 4);
    assert_int_equal(refused(at), 7);
    for (uint32_t i = 0; i < 6; i++) {
        ecs_entity more = ECS_ENTITY_NONE;
        assert_ok(ecs_create(world, at->table, NULL, 0, &more));
        assert_true(ecs_command_recreate(world, more, at->board, NULL, 0));
    }
    ecs_command_flush(world);
    assert_int_equal(ecs_world_counters(world)->commands_refused, 10);
}

SINGLE_CASE(a_restored_singleton_is_one) { // S5.2
    ecs_world* world = at->world;
    ecs_entity entity = ECS_ENTITY_NONE, second = ECS_ENTITY_NONE;
    assert_ok(ecs_create(world, at->board, NULL, 0, &entity));
    base_bytes bytes = world_saved(world);
    assert_ok(ecs_world_restore(world, bytes.data, bytes.size));
    base_bytes_deinit(&bytes);
    assert_int_equal(ecs_singleton(world, at->board), entity);
    assert_int_equal(ecs_create(world, at->board, NULL, 0, &second), ECS_ERR_TAKEN);
}

CASE_WITH(single, fixture, single_open(fixture, true), single_close(fixture),
          a_mirror_takes_what_its_authority_says) { // S5.2
    ecs_world* world = fixture->world;
    ecs_entity first = ecs_entity_make(3, 1), second = ecs_entity_make(4, 1);
    assert_ok(ecs_create_at(world, first, fixture->spot, NULL, 0));
    assert_ok(ecs_create_at(world, second, fixture->spot, NULL, 0));
    assert_int_equal(ecs_singleton(world, fixture->spot), second);
    assert_ok(ecs_destroy(world, second));
    assert_int_equal(ecs_singleton(world, fixture->spot), first);
    ecs_entity own = ECS_ENTITY_NONE;
    assert_int_equal(ecs_create(world, fixture->spot, NULL, 0, &own), ECS_ERR_TAKEN);
    assert_ok(ecs_create(world, fixture->board, NULL, 0, &own));
    assert_int_equal(ecs_create(world, fixture->board, NULL, 0, &own), ECS_ERR_TAKEN);
}
