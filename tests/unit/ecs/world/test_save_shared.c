// SPDX-License-Identifier: MIT
// Saves that workers fill in, and restores that they read: what one thread does, with any number.
#include "sample_world.h"

#include "base/workers.h"

static const uint32_t thread_counts[] = {1, 2, 3, 8, 64};

typedef struct lamp {
    bool is_on;
    float heat;
} lamp;

static const ecs_field lamp_fields[] = {
    FIELD_OF(lamp, is_on, BOOL, 1),
    FIELD_OF(lamp, heat, F32, 1),
};

typedef struct house {
    store fixture;
    ecs_template_id lit;
    ecs_component_id lamp;
} house;

static void open_house(house* self) {
    static const char text[] = "lit { \"lamp:lamp\" { _track:b=yes; } \"mark:tag\" "
                               "{ _track:b=yes; } }\n";
    store_open(&self->fixture);
    ecs_world* world = self->fixture.world;
    const ecs_type_desc type = {
        "lamp", sizeof(lamp), _Alignof(lamp), lamp_fields, BASE_COUNT(lamp_fields), NULL};
    assert_ok(ecs_type_register(world, &type, NULL));
    assert_ok(ecs_template_load(world, "lit.blk", text, strlen(text), test_reporter()));
    store_seal(&self->fixture);
    self->lit = ecs_template_find(world, "lit");
    self->lamp = ecs_component_find(world, "lamp");
}

// Rows of all kinds in chunks of several blocks; some values are newer than their shadows.
static void fill_house(house* self) {
    store* fixture = &self->fixture;
    ecs_world* world = fixture->world;
    enum { THINGS = 5000 };
    static ecs_entity things[THINGS];
    assert_ok(ecs_create_many(world, fixture->thing, THINGS, things));
    for (uint32_t i = 0; i < THINGS; i += 7) {
        const ecs_vec2 pos = {(float)i, i % 5 == 0 ? __builtin_nanf("1") : 1.0f};
        assert_ok(ecs_set(world, things[i], fixture->pos, &pos));
    }
    for (uint32_t i = 0; i < 300; i++) {
        const ecs_entity named = store_create(fixture, fixture->named);
        if (i % 3 == 0) store_set_text(fixture, named, fixture->title, "Ada");
        (void)store_create(fixture, i % 2 == 0 ? fixture->solid : fixture->marker);
        const lamp value = {i % 2 == 0, (float)i};
        assert_ok(ecs_set(world, store_create(fixture, self->lit), self->lamp, &value));
    }
    store_step(fixture);
    for (uint32_t i = 0; i < THINGS; i += 1000) {
        const int32_t hp = (int32_t)i;
        assert_ok(ecs_set(world, things[i], fixture->hp, &hp));
        assert_ok(ecs_destroy(world, things[i + 1]));
    }
}

static base_workers* use_workers(house* self, uint32_t threads) {
    base_workers* workers = base_workers_create(NULL, threads);
    assert_non_null(workers);
    base_workers_set_eager(workers);
    ecs_world_set_workers(self->fixture.world, workers);
    return workers;
}

static void drop_workers(house* self, base_workers* workers) {
    ecs_world_set_workers(self->fixture.world, NULL);
    base_workers_destroy(workers);
}

// The save behind three other bytes.
static base_bytes save(house* self) {
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    base_bytes_write(&bytes, "any", 3);
    assert_ok(ecs_world_save(self->fixture.world, &bytes));
    return bytes;
}

static ecs_result restore(house* self, const base_bytes* bytes) {
    return ecs_world_restore(self->fixture.world, bytes->data + 3, bytes->size - 3);
}

static void expect_save(house* self, const base_bytes* expected) {
    base_bytes bytes = save(self);
    assert_int_equal(bytes.size, expected->size);
    assert_memory_equal(bytes.data, expected->data, bytes.size);
    base_bytes_deinit(&bytes);
}

CASE(any_number_of_threads_saves_and_restores_the_same) { // B10
    static house a, b;
    open_house(&a);
    open_house(&b);
    fill_house(&a);
    base_bytes expected = save(&a);
    const uint64_t hash = ecs_world_hash(a.fixture.world);
    const uint64_t state_hash = ecs_world_state_hash(a.fixture.world);
    for (uint32_t i = 0; i < BASE_COUNT(thread_counts); i++) {
        base_workers* workers = use_workers(&a, thread_counts[i]);
        expect_save(&a, &expected);
        drop_workers(&a, workers);
        workers = use_workers(&b, thread_counts[i]);
        assert_ok(restore(&b, &expected));
        assert_true(ecs_world_hash(b.fixture.world) == hash);
        assert_true(ecs_world_state_hash(b.fixture.world) == state_hash);
        assert_true(ecs_world_state_hash_walk(b.fixture.world) == state_hash);
        ecs_world_validate(b.fixture.world);
        drop_workers(&b, workers);
    }
    base_bytes_deinit(&expected);
    store_close(&a.fixture);
    store_close(&b.fixture);
}

CASE(few_entities_are_saved_by_one_thread) {
    static house a;
    open_house(&a);
    base_workers* workers = base_workers_create(NULL, 2);
    ecs_world_set_workers(a.fixture.world, workers);
    (void)store_create(&a.fixture, a.fixture.thing);
    base_bytes expected = save(&a);
    drop_workers(&a, workers);
    expect_save(&a, &expected);
    base_bytes_deinit(&expected);
    store_close(&a.fixture);
}

// A mistake of a game, which a save must not hide.
CASE(a_value_that_was_written_past_tracking_is_in_the_save) {
    static house a, b;
    open_house(&a);
    open_house(&b);
    fill_house(&a);
    store_step(&a.fixture);
    const ecs_entity entity = ecs_entity_make(3001, 1);
    ecs_vec2* pos = (ecs_vec2*)(uintptr_t)ecs_get(a.fixture.world, entity, a.fixture.pos);
    pos->x = 4711.0f;
    base_bytes expected = save(&a);
    base_workers* workers = use_workers(&a, 2);
    expect_save(&a, &expected);
    drop_workers(&a, workers);
    workers = use_workers(&b, 2);
    assert_ok(restore(&b, &expected));
    pos = ecs_get_mut(b.fixture.world, entity, b.fixture.pos);
    assert_true(pos->x == 4711.0f);
    drop_workers(&b, workers);
    base_bytes_deinit(&expected);
    store_close(&a.fixture);
    store_close(&b.fixture);
}

CASE(damage_is_found_by_any_number_of_threads) { // B10
    static house a, b, c;
    open_house(&a);
    open_house(&b);
    open_house(&c);
    fill_house(&a);
    base_bytes bytes = save(&a);
    base_workers* workers = use_workers(&b, 3);
    base_rng rng = base_rng_make(31, 1);
    uint32_t refused = 0;
    const uint32_t rounds = test_scaled(120, 30);
    for (uint32_t i = 0; i < rounds; i++) {
        // At the end lie the lamps, whose bools have two values.
        const size_t size = bytes.size - 3, tail = 300 * (4 + 2 + 5);
        const size_t behind = i % 2 == 0 ? size - 60 : tail;
        const size_t at = size - 1 - base_rng_below(&rng, (uint32_t)behind);
        uint8_t* place = &bytes.data[3 + at];
        const uint8_t before = *place;
        *place = (uint8_t)base_rng_u32(&rng);
        const size_t cut = i % 5 == 0 ? 1 + base_rng_below(&rng, 1000) : 0;
        bytes.size -= cut;
        const ecs_result result = restore(&c, &bytes);
        assert_int_equal(restore(&b, &bytes), result);
        assert_true(ecs_world_hash(b.fixture.world) == ecs_world_hash(c.fixture.world));
        assert_true(ecs_world_state_hash(b.fixture.world) == ecs_world_state_hash(c.fixture.world));
        refused += result != ECS_OK;
        bytes.size += cut;
        *place = before;
    }
    assert_true(refused > rounds / 5 && refused < rounds);
    drop_workers(&b, workers);
    base_bytes_deinit(&bytes);
    store_close(&a.fixture);
    store_close(&b.fixture);
    store_close(&c.fixture);
}

// Fresh pages cost more than all else.
CASE(a_restore_uses_the_blocks_that_the_world_had) {
    static house a;
    scarce_memory* own = &a.fixture.memory;
    open_house(&a);
    fill_house(&a);
    base_bytes expected = save(&a);
    assert_true(own->size_max > 128 << 10);
    assert_ok(restore(&a, &expected)); // as many rows in each block as fit
    const int64_t out = own->bytes;
    own->size_max = 0;
    assert_ok(restore(&a, &expected));
    assert_true(own->size_max < 64 << 10);
    assert_int_equal(own->bytes, out);
    expect_save(&a, &expected);
    expected.size -= 40;
    assert_int_equal(restore(&a, &expected), ECS_ERR_MALFORMED);
    assert_true(own->bytes < out / 2);
    base_bytes_deinit(&expected);
    store_close(&a.fixture);
}

CASE(without_memory_nothing_is_half) {
    static house a, b;
    open_house(&a);
    open_house(&b);
    fill_house(&a);
    base_bytes expected = save(&a);
    base_workers* workers = use_workers(&b, 2);
    ecs_result result = ECS_ERR_MEMORY;
    for (uint32_t calls = 0; result != ECS_OK; calls = calls + 1 + calls / 16) {
        if (calls % 2 == 0) assert_ok(restore(&b, &expected)); // blocks to keep
        scarce_leave(&b.fixture.memory, calls);
        result = restore(&b, &expected);
        assert_true(result == ECS_OK || result == ECS_ERR_MEMORY);
        b.fixture.memory.fail_at = 0;
        assert_true(result == ECS_OK || ecs_world_entity_count(b.fixture.world) == 0);
        ecs_world_validate(b.fixture.world);
    }
    for (uint32_t calls = 0; calls < 8; calls++) { // blocks that find no room are filled at once
        scarce_leave(&b.fixture.memory, calls);
        expect_save(&b, &expected);
    }
    b.fixture.memory.fail_at = 0;
    drop_workers(&b, workers);
    base_bytes_deinit(&expected);
    store_close(&a.fixture);
    store_close(&b.fixture);
}
