// SPDX-License-Identifier: MIT
// Archetypes and chunks: the layout of columns, dense rows, zero tails.
#include "sample_world.h"

STORE_CASE(columns_are_aligned_and_skewed) {
    assert_ok(ecs_create_many(at->world, at->mover, 20000, NULL));
    const ecs_archetype* archetype = at->world->storage->archetypes[0];
    assert_int_equal(archetype->rows_max, ECS_CHUNK_ROWS_MAX);
    assert_int_equal(archetype->track_count, 1);
    for (uint32_t i = 0; i < archetype->chunk_count; i++) {
        const ecs_chunk* chunk = archetype->chunks[i];
        assert_int_equal((uintptr_t)chunk % 64, 0);
        for (uint32_t a = 0; a < archetype->column_count; a++) {
            uintptr_t line = (uintptr_t)chunk->columns[a] / 64;
            assert_int_equal((uintptr_t)chunk->columns[a] % 64, 0);
            assert_true(chunk->columns[a] < chunk->columns[archetype->column_count]); // the shadow
            assert_int_not_equal(line % 64, (uintptr_t)chunk->entities / 64 % 64);
            for (uint32_t b = 0; b < a; b++)
                assert_int_not_equal(line % 64, (uintptr_t)chunk->columns[b] / 64 % 64);
        }
    }
}

STORE_CASE(a_chunk_doubles_up_to_its_limit_and_then_another_is_appended) {
    const ecs_storage* storage = at->world->storage;
    for (uint32_t i = 0; i < ECS_CHUNK_ROWS_MAX + 1; i++) {
        store_create(at, at->rock);
        const ecs_archetype* archetype = storage->archetypes[0];
        if (i == 15) assert_int_equal(archetype->chunks[0]->capacity, 16);
        if (i == 16) assert_int_equal(archetype->chunks[0]->capacity, 32);
        if (i == ECS_CHUNK_ROWS_MAX - 1) assert_int_equal(archetype->chunk_count, 1);
        if (i == ECS_CHUNK_ROWS_MAX) assert_int_equal(archetype->chunk_count, 2);
    }
}

STORE_OPEN_CASE(a_wide_row_makes_smaller_chunks) {
    ecs_field field = {.name = "bytes", .kind = ECS_FIELD_U8, .count = 60000};
    ecs_type_desc type = {
        .name = "huge", .size = 60000, .align = 1, .fields = &field, .field_count = 1};
    assert_ok(ecs_type_register(at->world, &type, NULL));
    static char text[8192];
    size_t used = 0;
    used += (size_t)snprintf(text + used, sizeof text - used, "some { ");
    for (int i = 0; i < 3; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "\"h%d:huge\" { }\n", i);
    used += (size_t)snprintf(text + used, sizeof text - used, "}\nmuch { ");
    for (int i = 0; i < 20; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "\"h%d:huge\" { }\n", i);
    used += (size_t)snprintf(text + used, sizeof text - used, "}\n");
    assert_ok(ecs_template_load(at->world, "wide.blk", text, used, test_reporter()));
    store_seal(at);
    ecs_template_id some = ecs_template_find(at->world, "some");
    assert_ok(ecs_create_many(at->world, some, 100, NULL));
    assert_int_equal(at->world->storage->archetypes[0]->rows_max, 64);
    assert_int_equal(at->world->storage->archetypes[0]->chunk_count, 2);
    ecs_entity entity = ECS_ENTITY_NONE;
    ecs_template_id much = ecs_template_find(at->world, "much");
    assert_int_equal(ecs_create(at->world, much, NULL, 0, &entity), ECS_ERR_FULL);
}

// S1.2
STORE_CASE(the_last_row_fills_a_hole_across_chunks) {
    enum { COUNT = ECS_CHUNK_ROWS_MAX + 3 };
    static ecs_entity entities[COUNT];
    assert_ok(ecs_create_many(at->world, at->ball, COUNT, entities));
    for (uint32_t i = 0; i < COUNT; i++)
        store_set_pos(at, entities[i], (float)i);
    for (uint32_t i = 0; i < 5; i++)
        assert_ok(ecs_destroy(at->world, entities[i * 7]));
    for (uint32_t i = 0; i < COUNT; i++)
        if (i % 7 != 0 || i >= 35)
            assert_float_equal(store_vec2(at, entities[i], at->pos).x, (float)i, 0.0f);
}

STORE_CASE(memory_comes_back_late_but_it_does) {
    enum { COUNT = 3 * ECS_CHUNK_ROWS_MAX };
    ecs_entity* entities = malloc(COUNT * sizeof *entities);
    for (uint32_t i = 0; i < COUNT; i += ECS_CHUNK_ROWS_MAX) // each where the last chunk is full
        assert_ok(ecs_create_many(at->world, at->ball, ECS_CHUNK_ROWS_MAX, entities + i));
    const ecs_archetype* archetype = at->world->storage->archetypes[0];
    assert_int_equal(archetype->chunk_count, 3);
    for (uint32_t i = COUNT; i-- > 100;)
        assert_ok(ecs_destroy(at->world, entities[i]));
    assert_int_equal(archetype->chunk_count, 3);
    for (uint32_t i = 0; i < 2 * COUNT; i++) {
        ecs_entity passing = store_create(at, at->ball);
        assert_ok(ecs_destroy(at->world, passing));
        if (i % 4096 == 0) ecs_changes_clear(at->world);
    }
    assert_int_equal(archetype->chunk_count, 1);
    assert_true(archetype->chunks[0]->bytes <= 2 * ECS_CHUNK_SHRINK_BYTES_MIN);
    for (uint32_t i = 0; i < 100; i++)
        assert_float_equal(store_vec2(at, entities[i], at->pos).x, 1.0f, 0.0f);
    free(entities);
}
