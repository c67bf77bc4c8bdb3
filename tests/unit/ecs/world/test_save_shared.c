// SPDX-License-Identifier: MIT
// Saves that workers fill in, and restores that they read: what one thread does, with any number.
#include "sample_world.h"

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
    base_workers* workers;
} house;

static void open_house(house* self) {
    static const char text[] = "lit { \"lamp:lamp\" { _track:b=yes; } \"mark:tag\" "
                               "{ _track:b=yes; } }\n";
    store_open(&self->fixture);
    self->workers = NULL;
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

// Workers that take every block, however small; 0: none.
static void use_workers(house* self, uint32_t threads) {
    ecs_world_set_workers(self->fixture.world, NULL);
    base_workers_destroy(self->workers);
    self->workers = threads ? base_workers_create(NULL, threads) : NULL;
    if (threads) base_workers_set_eager(self->workers);
    ecs_world_set_workers(self->fixture.world, self->workers);
}

static void close_house(house* self) {
    use_workers(self, 0);
    store_close(&self->fixture);
}

// The save behind three other bytes.
static base_bytes save(house* self) {
    base_bytes bytes = {0};
    base_bytes_write(&bytes, "any", 3);
    ecs_world_save(self->fixture.world, &bytes);
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

static void expect_equal(const house* a, const house* b) {
    assert_true(ecs_world_hash(a->fixture.world) == ecs_world_hash(b->fixture.world));
    assert_true(ecs_world_state_hash(a->fixture.world) == ecs_world_state_hash(b->fixture.world));
}

// A house that is full, the save of it, and two that are empty.
typedef struct town {
    house a, b, c;
    base_bytes expected;
} town;

static void open_town(town* at) {
    open_house(&at->a);
    open_house(&at->b);
    open_house(&at->c);
    fill_house(&at->a);
    at->expected = save(&at->a);
}

static void close_town(town* at) {
    base_bytes_deinit(&at->expected);
    close_house(&at->a);
    close_house(&at->b);
    close_house(&at->c);
}

#define TOWN_CASE(name) CASE_WITH(town, at, open_town(at), close_town(at), name)

TOWN_CASE(any_number_of_threads_saves_and_restores_the_same) { // B10
    ecs_world* world = at->b.fixture.world;
    for (uint32_t i = 0; i < BASE_COUNT(thread_counts); i++) {
        use_workers(&at->a, thread_counts[i]);
        expect_save(&at->a, &at->expected);
        use_workers(&at->b, thread_counts[i]);
        assert_ok(restore(&at->b, &at->expected));
        expect_equal(&at->a, &at->b);
        assert_true(ecs_world_state_hash_walk(world) == ecs_world_state_hash(world));
        ecs_world_validate(world);
    }
}

TOWN_CASE(few_entities_are_saved_by_one_thread) {
    at->b.workers = base_workers_create(NULL, 2);
    ecs_world_set_workers(at->b.fixture.world, at->b.workers);
    (void)store_create(&at->b.fixture, at->b.fixture.thing);
    base_bytes expected = save(&at->b);
    use_workers(&at->b, 0);
    expect_save(&at->b, &expected);
    base_bytes_deinit(&expected);
}

// A mistake of a game, which a save must not hide.
TOWN_CASE(a_value_that_was_written_past_tracking_is_in_the_save) {
    const store *a = &at->a.fixture, *b = &at->b.fixture;
    store_step(&at->a.fixture);
    const ecs_entity entity = ecs_entity_make(3001, 1);
    ((ecs_vec2*)(uintptr_t)ecs_get(a->world, entity, a->pos))->x = 4711.0f;
    base_bytes expected = save(&at->a);
    use_workers(&at->a, 2);
    expect_save(&at->a, &expected);
    use_workers(&at->b, 2);
    assert_ok(restore(&at->b, &expected));
    assert_true(store_vec2(b, entity, b->pos).x == 4711.0f);
    base_bytes_deinit(&expected);
}

TOWN_CASE(damage_is_found_by_any_number_of_threads) { // B10
    base_bytes* bytes = &at->expected;
    use_workers(&at->b, 3);
    base_rng rng = base_rng_make(31, 1);
    uint32_t refused = 0;
    const uint32_t rounds = test_scaled(120, 30);
    for (uint32_t i = 0; i < rounds; i++) {
        // At the end lie the lamps, whose bools have two values.
        const size_t size = bytes->size - 3, tail = 300 * (4 + 2 + 5);
        const size_t behind = i % 2 == 0 ? size - 60 : tail;
        uint8_t* place = &bytes->data[3 + size - 1 - base_rng_below(&rng, (uint32_t)behind)];
        const uint8_t before = *place;
        *place = (uint8_t)base_rng_u32(&rng);
        const size_t cut = i % 5 == 0 ? 1 + base_rng_below(&rng, 1000) : 0;
        bytes->size -= cut;
        const ecs_result result = restore(&at->c, bytes);
        assert_int_equal(restore(&at->b, bytes), result);
        expect_equal(&at->b, &at->c);
        refused += result != ECS_OK;
        bytes->size += cut;
        *place = before;
    }
    assert_true(refused > rounds / 5 && refused < rounds);
}

// Fresh pages cost more than all else.
TOWN_CASE(a_restore_uses_the_blocks_that_the_world_had) {
    scarce_memory* own = &at->a.fixture.memory;
    assert_true(own->size_max > 128 << 10);
    assert_ok(restore(&at->a, &at->expected)); // as many rows in each block as fit
    const int64_t out = own->bytes;
    own->size_max = 0;
    assert_ok(restore(&at->a, &at->expected));
    assert_true(own->size_max < 64 << 10);
    assert_int_equal(own->bytes, out);
    expect_save(&at->a, &at->expected);
    at->expected.size -= 40;
    assert_int_equal(restore(&at->a, &at->expected), ECS_ERR_MALFORMED);
    assert_true(own->bytes < out / 2);
}
