// SPDX-License-Identifier: MIT
// Structural changes recorded now and applied later.
#include "sample_world.h"

#include "base/bytes.h"

STORE_CASE(nothing_happens_before_the_flush) { // S5.10
    ecs_world* world = at->world;
    ecs_entity ball = store_create(at, at->ball);
    assert_true(ecs_command_destroy(world, ball));
    ecs_entity placeholder = ecs_command_create(world, at->rock, NULL, 0);
    assert_true(ecs_entity_is_placeholder(placeholder));
    assert_true(ecs_is_alive(world, ball));
    assert_int_equal(ecs_command_count(world), 2);
    ecs_command_flush(world);
    assert_false(ecs_is_alive(world, ball));
    assert_int_equal(ecs_world_entity_count(world), 1);
    assert_int_equal(ecs_command_count(world), 0);
    assert_int_equal(ecs_world_counters(world)->commands_applied, 2);
}

STORE_CASE(placeholders_are_resolved_in_targets_and_values) {
    ecs_world* world = at->world;
    ecs_vec2 pos = {5, 6};
    ecs_init pos_init = {at->pos, &pos};
    ecs_entity ball = ecs_command_create(world, at->ball, &pos_init, 1);
    ecs_init link_init = {at->target, &ball};
    ecs_entity link = ecs_command_create(world, at->link, &link_init, 1);
    assert_int_not_equal(link, ECS_ENTITY_NONE);
    ecs_vec2 vel = {7, 8};
    assert_true(ecs_command_set(world, ball, at->vel, &vel));
    assert_true(ecs_command_recreate(world, ball, at->mover, NULL, 0));
    pos.x = 99.0f; // values were copied
    ecs_command_flush(world);
    ecs_entity real_ball = ecs_entity_make(65536, 1);
    ecs_entity real_link = ecs_entity_make(65537, 1);
    assert_int_equal(*(const ecs_entity*)ecs_get(world, real_link, at->target), real_ball);
    assert_float_equal(store_vec2(at, real_ball, at->pos).x, 5.0f, 0.0f);
    assert_float_equal(store_vec2(at, real_ball, at->vel).x, 7.0f, 0.0f);
    assert_string_equal(ecs_entity_template_name(world, real_ball), "mover");
}

STORE_CASE(a_creation_may_be_destroyed_in_the_same_flush) { // S5.10
    ecs_world* world = at->world;
    ecs_entity ball = ecs_command_create(world, at->ball, NULL, 0);
    assert_true(ecs_command_destroy(world, ball));
    assert_true(ecs_command_destroy(world, ball));
    ecs_command_flush(world);
    assert_int_equal(ecs_world_entity_count(world), 0);
    assert_int_equal(ecs_world_counters(world)->stale_handles, 1);
    assert_int_equal(ecs_world_counters(world)->bad_transitions, 0);
}

STORE_CASE(runs_of_creations_get_handles_in_the_order_of_recording) {
    ecs_world* world = at->world;
    ecs_entity placeholders[40];
    for (uint32_t i = 0; i < 40; i++)
        placeholders[i] = ecs_command_create(world, i < 20 ? at->ball : at->rock, NULL, 0);
    for (uint32_t i = 0; i < 40; i++) {
        ecs_vec2 value = {(float)i, 0};
        assert_true(ecs_command_set(world, placeholders[i], at->pos, &value));
    }
    ecs_command_flush(world);
    for (uint32_t i = 0; i < 40; i++)
        assert_float_equal(store_vec2(at, ecs_entity_make(65536 + i, 1), at->pos).x, (float)i,
                           0.0f);
}

STORE_WITH_CASE(the_queue_has_a_limit, at->config.limits.commands_queued_max = 3) {
    ecs_world* world = at->world;
    ecs_vec2 value = {0, 0};
    assert_int_not_equal(ecs_command_create(world, at->ball, NULL, 0), ECS_ENTITY_NONE);
    assert_int_not_equal(ecs_command_create(world, at->ball, NULL, 0), ECS_ENTITY_NONE);
    assert_int_not_equal(ecs_command_create(world, at->ball, NULL, 0), ECS_ENTITY_NONE);
    assert_int_equal(ecs_command_create(world, at->ball, NULL, 0), ECS_ENTITY_NONE);
    assert_false(ecs_command_destroy(world, 1));
    assert_false(ecs_command_recreate(world, 1, at->ball, NULL, 0));
    assert_false(ecs_command_set(world, 1, at->pos, &value));
    assert_int_equal(ecs_world_counters(world)->commands_refused, 4);
    ecs_command_flush(world);
    assert_int_equal(ecs_world_entity_count(world), 3);
}

STORE_CASE(mistakes_are_counted_and_skipped) { // S4.8
    ecs_world* world = at->world;
    ecs_vec2 value = {0, 0};
    assert_int_equal(ecs_command_create(world, 999, NULL, 0), ECS_ENTITY_NONE);
    assert_false(ecs_command_set(world, 1, UINT16_MAX, &value));
    assert_int_equal(ecs_world_counters(world)->commands_refused, 2);
    assert_false(ecs_command_recreate(world, 1, 999, NULL, 0));
    assert_int_equal(ecs_command_count(world), 0);
    (void)ecs_world_hash(world); // names the templates of the queued commands
    assert_int_equal(ecs_world_counters(world)->commands_refused, 3);
    ecs_init init = {at->hp, &value};
    ecs_entity ball = ecs_command_create(world, at->ball, &init, 1);
    assert_true(ecs_command_destroy(world, ball));
    assert_true(ecs_command_destroy(world, ecs_entity_make(500, 0)));
    assert_int_not_equal(ecs_command_create(world, at->rock, NULL, 0), ECS_ENTITY_NONE);
    ecs_command_flush(world);
    assert_int_equal(ecs_world_counters(world)->commands_refused, 4);
    assert_int_equal(ecs_world_counters(world)->stale_handles, 2);
    assert_int_equal(ecs_world_entity_count(world), 1);
}

STORE_WITH_CASE(a_run_that_does_not_fit_is_done_as_far_as_it_goes,
                at->config.limits.local_entities_max = 3) {
    for (uint32_t i = 0; i < 5; i++)
        (void)ecs_command_create(at->world, at->ball, NULL, 0);
    ecs_command_flush(at->world);
    assert_int_equal(ecs_world_entity_count(at->world), 3);
    assert_int_equal(ecs_world_counters(at->world)->commands_refused, 2);
}

// Also those of commands that are queued when the world ends.
STORE_CASE(texts_are_copied_and_given_back) {
    char text[] = "written in a command";
    ecs_string string = {.data = text, .size = (uint32_t)strlen(text)};
    ecs_init init = {at->title, &string};
    ecs_entity sign = ecs_command_create(at->world, at->sign, &init, 1);
    assert_true(ecs_command_set(at->world, sign, at->title, &string));
    text[0] = 'X';
    ecs_command_flush(at->world);
    const ecs_string* title = ecs_get(at->world, ecs_entity_make(65536, 1), at->title);
    assert_string_equal(ecs_string_text(title), "written in a command");
    assert_int_not_equal(ecs_command_create(at->world, at->sign, &init, 1), ECS_ENTITY_NONE);
}

STORE_WITH_CASE(a_steady_queue_allocates_nothing, at->config.limits.local_entities_max = 6000) {
    // The world uses new indices first, so records stop growing after every index was used once.
    ecs_world* world = at->world;
    uint64_t calls = 0;
    for (uint32_t round = 0; round < 8; round++) {
        if (round == 4) calls = at->memory.calls;
        for (uint32_t i = 0; i < 2000; i++) {
            ecs_vec2 value = {1, 2};
            ecs_init init = {at->pos, &value};
            assert_int_not_equal(ecs_command_create(world, at->ball, &init, 1), ECS_ENTITY_NONE);
        }
        ecs_command_flush(world);
        for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
             entity = ecs_entity_next(world, entity))
            assert_true(ecs_command_destroy(world, entity));
        ecs_command_flush(world);
        ecs_changes_clear(world);
    }
    assert_int_equal(at->memory.calls, calls);
}

STORE_CASE(a_flush_inside_a_stage_is_left_to_its_flush_points) {
    ecs_world* world = at->world;
    (void)ecs_command_create(world, at->ball, NULL, 0);
    world->fast.stage_depth = 1;
    expect_assert_failure(ecs_command_flush(world));
    ecs_commands_apply(world);
    world->fast.stage_depth = 0;
    assert_int_equal(ecs_world_entity_count(world), 1);
}

STORE_CASE(a_queue_comes_back_from_its_bytes_and_damage_is_refused) {
    ecs_world* world = at->world;
    ecs_string string = {.data = (char[]){"saved"}, .size = 5};
    ecs_vec2 pos = {3, 4};
    ecs_init inits[] = {{at->title, &string}, {at->pos, &pos}};
    ecs_entity sign = ecs_command_create(world, at->sign, inits, 2);
    assert_true(ecs_command_recreate(world, sign, at->poster, NULL, 0));
    assert_true(ecs_command_set(world, sign, at->pos, &pos));
    assert_true(ecs_command_destroy(world, ecs_entity_make(1, 1)));
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    ecs_commands_write(world, &bytes);
    assert_false(bytes.failed);
    for (size_t size = 0; size < bytes.size; size++) {
        ecs_commands_clear(world);
        base_reader reader = base_reader_make(bytes.data, size);
        assert_int_equal(ecs_commands_read(world, &reader), ECS_ERR_MALFORMED);
    }
    for (size_t i = 0; i < bytes.size; i++) {
        ecs_commands_clear(world);
        bytes.data[i] ^= 0xff;
        base_reader reader = base_reader_make(bytes.data, bytes.size);
        (void)!ecs_commands_read(world, &reader); // it must not fail in any other way
        bytes.data[i] ^= 0xff;
    }
    ecs_commands_clear(world);
    base_reader reader = base_reader_make(bytes.data, bytes.size);
    assert_ok(ecs_commands_read(world, &reader));
    base_bytes again;
    base_bytes_init(&again, NULL);
    ecs_commands_write(world, &again);
    assert_int_equal(again.size, bytes.size);
    assert_memory_equal(again.data, bytes.data, bytes.size);
    ecs_command_flush(world);
    assert_int_equal(ecs_world_entity_count(world), 1);
    base_bytes_deinit(&bytes);
    base_bytes_deinit(&again);
}

// Check that every row of every column is at the same place in both worlds.
static void check_same_rows(const ecs_world* a, const ecs_world* b) {
    assert_int_equal(a->storage->archetype_count, b->storage->archetype_count);
    assert_int_equal(a->storage->entity_count, b->storage->entity_count);
    for (uint32_t i = 0; i < a->storage->archetype_count; i++) {
        const ecs_archetype* of_a = a->storage->archetypes[i];
        const ecs_archetype* of_b = b->storage->archetypes[i];
        assert_int_equal(of_a->made_by, of_b->made_by);
        assert_int_equal(of_a->row_count, of_b->row_count);
        for (uint32_t k = 0; k <= of_a->tail && of_a->row_count > 0; k++) {
            const ecs_chunk *in_a = of_a->chunks[k], *in_b = of_b->chunks[k];
            uint32_t rows = ecs_chunk_count(a->storage, in_a);
            assert_int_equal(rows, ecs_chunk_count(b->storage, in_b));
            assert_memory_equal(in_a->entities, in_b->entities, rows * sizeof(ecs_entity));
            for (uint32_t c = 0; c < of_a->column_count + of_a->track_count && !of_a->has_ops; c++)
                assert_memory_equal(in_a->columns[c], in_b->columns[c],
                                    (size_t)rows * of_a->sizes[c]);
            for (uint32_t row = 0; row < rows; row++)
                assert_int_equal(ecs_entity_template(a, in_a->entities[row]),
                                 ecs_entity_template(b, in_b->entities[row]));
        }
    }
}

static void check_same_changes(ecs_world* a, ecs_world* b) {
    assert_int_equal(ecs_world_hash(a), ecs_world_hash(b));
    ecs_changes of_a = ecs_changes_get(a), of_b = ecs_changes_get(b);
    assert_int_equal(of_a.destroyed_count, of_b.destroyed_count);
    assert_int_equal(of_a.recreated_count, of_b.recreated_count);
    assert_int_equal(of_a.changed_count, of_b.changed_count);
    for (uint32_t i = 0; i < of_a.destroyed_count; i++)
        assert_int_equal(of_a.destroyed[i], of_b.destroyed[i]);
    for (uint32_t i = 0; i < of_a.recreated_count; i++)
        assert_int_equal(of_a.recreated[i], of_b.recreated[i]);
    for (uint32_t i = 0; i < of_a.changed_count; i++)
        assert_int_equal(of_a.changed[i].entity, of_b.changed[i].entity);
    ecs_changes_clear(a);
    ecs_changes_clear(b);
}

// Make a random change of one entity: record it in `a`, and do it at once in `b`.
static void order_twice(store* a, store* b, base_rng* rng, ecs_template_id target, bool is_destroy,
                        ecs_entity entity) {
    if (is_destroy) {
        assert_true(ecs_command_destroy(a->world, entity));
        (void)!ecs_destroy(b->world, entity);
        return;
    }
    ecs_vec2 value = {(float)base_rng_below(rng, 100), 3};
    ecs_init init = {base_rng_below(rng, 20) == 0 ? a->hp : a->pos, &value};
    uint32_t init_count = base_rng_below(rng, 8) == 0;
    assert_true(ecs_command_recreate(a->world, entity, target, &init, init_count));
    (void)!ecs_recreate(b->world, entity, target, &init, init_count);
}

static void fill_twice(store* a, store* b, base_rng* rng, uint32_t count) {
    const ecs_template_id kinds[] = {a->ball, a->orb, a->mover, a->rock, a->sign};
    for (uint32_t left = count; left > 0;) {
        ecs_template_id kind = kinds[base_rng_below(rng, 5)];
        uint32_t many = 1 + base_rng_below(rng, kind == a->sign ? 5 : count / 4);
        if (many > left) many = left;
        assert_ok(ecs_create_many(a->world, kind, many, NULL));
        assert_ok(ecs_create_many(b->world, kind, many, NULL));
        left -= many;
    }
}

// Change entities that follow each other, or any entities. Some are named twice, and some were
// destroyed long ago.
static void flush_twice(store* a, store* b, base_rng* rng, ecs_entity* entities, uint32_t count) {
    const ecs_template_id targets[] = {a->ball, a->orb,  a->mover,  a->rock,
                                       a->pad,  a->sign, a->nothing};
    uint32_t picks = 1 + base_rng_below(rng, base_rng_below(rng, 3) == 0 ? count : 40);
    bool in_order = base_rng_below(rng, 2) == 0, is_destroy = base_rng_below(rng, 4) == 0;
    uint32_t at = base_rng_below(rng, count);
    ecs_template_id target = targets[base_rng_below(rng, 7)];
    for (uint32_t i = 0; i < picks; i++, at = (at + 1) % count) {
        if (!in_order) at = base_rng_below(rng, count);
        if (base_rng_below(rng, 200) == 0) target = targets[base_rng_below(rng, 7)];
        order_twice(a, b, rng, target, is_destroy, entities[at]);
    }
    ecs_command_flush(a->world);
}

// List entities in the order of rows. Runs of commands often follow this order.
static uint32_t list_rows(const ecs_world* world, ecs_entity* entities) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->storage->archetype_count; i++) {
        const ecs_archetype* archetype = world->storage->archetypes[i];
        for (uint32_t k = 0; k <= archetype->tail && archetype->row_count > 0; k++) {
            uint32_t rows = ecs_chunk_count(world->storage, archetype->chunks[k]);
            memcpy(entities + count, archetype->chunks[k]->entities, rows * sizeof *entities);
            count += rows;
        }
    }
    return count;
}

CASE(runs_leave_the_rows_that_one_by_one_would_leave) {
    enum { SEEDS = 12, COUNT_MAX = 50000 };
    static ecs_entity entities[COUNT_MAX];
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        printf("seed %u\n", (unsigned)seed);
        base_rng rng = base_rng_make(seed, 0);
        store a, b;
        store_make(&a);
        store_make(&b);
        fill_twice(&a, &b, &rng, seed % 6 == 0 ? COUNT_MAX : 700);
        for (uint32_t round = 0; round < 60; round++) {
            uint32_t count = list_rows(b.world, entities);
            if (count < 10) break;
            for (uint32_t i = base_rng_below(&rng, 30); i > 0; i--) {
                ecs_entity entity = entities[base_rng_below(&rng, count)];
                ecs_vec2 value = {(float)i, 1};
                (void)!ecs_set(a.world, entity, a.pos, &value);
                (void)!ecs_set(b.world, entity, b.pos, &value);
            }
            for (uint32_t i = base_rng_below(&rng, 3); i > 0; i--)
                flush_twice(&a, &b, &rng, entities, count);
            check_same_rows(a.world, b.world);
            ecs_storage_validate(a.world);
            if (round % 4 != 0) continue;
            ecs_track_step(a.world);
            ecs_track_step(b.world);
            check_same_changes(a.world, b.world);
        }
        store_close(&a);
        store_close(&b);
    }
}
