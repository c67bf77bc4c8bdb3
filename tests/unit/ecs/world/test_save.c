// SPDX-License-Identifier: MIT
#include "sample_world.h"

// A system that uses random numbers, structure, events and the order of rows.
static void run_wander(const ecs_stage* stage, const ecs_rows* rows) {
    store* fixture = stage->context;
    base_rng* rng = ecs_world_rng(stage->world);
    ecs_vec2* pos = rows->columns[0];
    const ecs_vec2* vel = rows->columns[1];
    for (uint32_t i = 0; i < rows->count; i++) {
        pos[i].x += vel[i].x * base_rng_float(rng);
        if (base_rng_below(rng, 16) == 0) {
            store_hit hit = {rows->entities[i], 40};
            (void)ecs_event_send(stage->world, rows->entities[base_rng_below(rng, rows->count)],
                                 fixture->hit, &hit);
        }
    }
    if (base_rng_below(rng, 2) == 0)
        (void)ecs_command_create(stage->world, fixture->thing, NULL, 0);
}

static void on_hit(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    const store_hit* hit = event->payload;
    int32_t* hp = rows->columns[0];
    hp[0] -= hit->amount;
    if (hp[0] <= 0) (void)ecs_command_destroy(stage->world, rows->entities[0]);
}

static void on_member(const ecs_stage* stage, const ecs_entity* entities, uint32_t count) {}

static void open_wandering(store* fixture) {
    store_begin(fixture);
    fixture->config.limits.events_per_flush_max = 3;
    fixture->config.limits.replicated_index_max = 4000; // validation visits all indices
    fixture->config.limits.local_entities_max = 4000;
    fixture->config.seed = 11;
    assert_ok(store_try_open(fixture));
    system_add(fixture->world, .name = "wander", .stage = "act", .run = run_wander,
               TERMS({"pos", "p2", ECS_WRITE}, {"vel", "p2", ECS_READ}), .context = fixture);
    system_add(fixture->world, .name = "hurt", EVENTS("hit"), .on_event = on_hit,
               TERMS({"hp", "i", ECS_WRITE}), .context = fixture);
    system_add(fixture->world, .name = "meet", .stage = "act", .on_enter = on_member,
               .on_leave = on_member, TERMS({"hp", "i", ECS_WRITE}));
    store_seal(fixture);
}

#define WANDERING_CASE(name) CASE_WITH(store, at, open_wandering(at), store_close(at), name)

// Two worlds that wander alike.
typedef struct twins {
    store a, b;
} twins;

static void twins_open(twins* at) {
    open_wandering(&at->a);
    open_wandering(&at->b);
}

static void twins_close(twins* at) {
    store_close(&at->a);
    store_close(&at->b);
}

#define TWINS_CASE(name) CASE_WITH(twins, at, twins_open(at), twins_close(at), name)

// Fill the world. @return the entity with a text.
static ecs_entity populate(store* fixture) {
    assert_ok(ecs_create_many(fixture->world, fixture->thing, 40, NULL));
    ecs_entity named = store_create(fixture, fixture->named);
    store_set_text(fixture, named, fixture->title, "any_name");
    (void)store_create(fixture, fixture->solid);
    ecs_entity both = store_create(fixture, ecs_template_find(fixture->world, "solid+named"));
    store_set_text(fixture, both, fixture->title, "");
    (void)store_create(fixture, fixture->nothing);
    (void)store_create(fixture, fixture->marker);
    return named;
}

static void check_same(store* a, store* b) {
    assert_true(ecs_world_hash(a->world) == ecs_world_hash(b->world));
    assert_true(ecs_world_state_hash(a->world) == ecs_world_state_hash(b->world));
    assert_int_equal(ecs_world_entity_count(a->world), ecs_world_entity_count(b->world));
}

WANDERING_CASE(another_registration_is_refused) {
    store b;
    store_open(&b);
    ecs_event_desc extra = {"extra", 0, NULL, 0, false};
    assert_ok(ecs_event_register(b.world, &extra, NULL));
    store_seal(&b);
    (void)populate(at);
    base_bytes bytes = world_saved(at->world);
    assert_int_equal(ecs_world_restore(b.world, bytes.data, bytes.size), ECS_ERR_MALFORMED);
    assert_int_equal(ecs_world_entity_count(b.world), 0);
    store_create(&b, b.ball);
    assert_int_equal(ecs_world_copy(b.world, at->world), ECS_ERR_MALFORMED);
    assert_int_equal(ecs_world_entity_count(b.world), 0);
    base_bytes_deinit(&bytes);
    store_close(&b);
}

// The same type, event and template; another compiler leaves `gap` more bytes between the fields.
static void open_spread(store* fixture, uint32_t gap) {
    const ecs_field fields[] = {
        {.name = "mark", .offset = 0, .kind = ECS_FIELD_U32, .count = 1},
        {.name = "way", .offset = 4 + gap, .kind = ECS_FIELD_F32, .count = 2},
    };
    const uint32_t size = 12 + 2 * gap;
    ecs_type_desc type = {.name = "probe", .size = size, .align = 4};
    type.fields = fields;
    type.field_count = 2;
    ecs_event_desc event = {"sighted", size, fields, 2, true};
    static const char text[] = "seen {\n  \"spot:probe\" { _track:b=yes; }\n}\n";
    store_open(fixture);
    assert_ok(ecs_type_register(fixture->world, &type, NULL));
    assert_ok(ecs_event_register(fixture->world, &event, NULL));
    assert_ok(ecs_template_load(fixture->world, "seen.blk", text, strlen(text), test_reporter()));
    store_seal(fixture);
}

CASE(a_save_of_a_machine_with_other_sizes_is_the_same) {
    store a;
    store b;
    open_spread(&a, 0);
    open_spread(&b, 4);
    ecs_entity entity = store_create(&a, ecs_template_find(a.world, "seen"));
    const ecs_component_id spot = ecs_component_find(a.world, "spot");
    *(uint32_t*)ecs_get_mut(a.world, entity, spot) = 9;
    store_step(&a);
    base_bytes bytes = world_saved(a.world);
    assert_ok(ecs_world_restore(b.world, bytes.data, bytes.size));
    check_same(&a, &b);
    assert_int_equal(*(const uint32_t*)ecs_get(b.world, entity, spot), 9);
    world_expect_saved(b.world, &bytes);
    base_bytes_deinit(&bytes);
    store_close(&a);
    store_close(&b);
}

static void check_usable(store* fixture) {
    ecs_world_validate(fixture->world);
    store_step(fixture);
    ecs_entity entity = store_create(fixture, fixture->thing);
    store_step(fixture);
    assert_true(ecs_is_alive(fixture->world, entity));
    ecs_world_validate(fixture->world);
}

// A row takes 6 bytes of a save but may take much memory. So the restore checks first that the
// values of the rows are in the save.
CASE(rows_are_not_made_before_their_values_can_be_there) {
    enum { WORDS = 8192, ROWS = 200 };
    static const ecs_field fields[] = {
        {.name = "words", .offset = 0, .kind = ECS_FIELD_U32, .count = WORDS}};
    static const char text[] = "big { \"b:big\" { _track:b=yes; } }";
    ecs_type_desc big = {"big", 4 * WORDS, 4, fields, 1, NULL};
    scarce_memory memory;
    ecs_world_config config = scarce_world(&memory);
    ecs_world* world = NULL;
    assert_ok(ecs_world_create(&config, &world));
    assert_ok(ecs_type_register(world, &big, NULL));
    assert_ok(ecs_template_load(world, "big.blk", text, strlen(text), NULL));
    assert_ok(ecs_world_seal(world, NULL));
    assert_ok(ecs_create_many(world, ecs_template_find(world, "big"), ROWS, NULL));
    base_bytes bytes = world_saved(world);
    assert_int_equal(ecs_world_restore(world, NULL, 0), ECS_ERR_MALFORMED);
    const int64_t before = memory.bytes;
    memory.bytes_peak = before;
    assert_int_equal(ecs_world_restore(world, bytes.data, bytes.size / 2), ECS_ERR_MALFORMED);
    assert_true(memory.bytes_peak - before < 1 << 20);
    assert_ok(ecs_world_restore(world, bytes.data, bytes.size));
    assert_int_equal(ecs_world_entity_count(world), ROWS);
    base_bytes_deinit(&bytes);
    ecs_world_destroy(world);
    assert_int_equal(memory.bytes, 0);
}

static void fill_large(const ecs_type_context* context, void* object) {
    memset(object, 0, 1 << 15);
}

static void drop_large(const ecs_type_context* context, void* object) {}

static void copy_large(const ecs_type_context* context, void* target, const void* source) {
    memcpy(target, source, 1 << 15);
}

static bool are_equal(const void* a, const void* b) {
    return memcmp(a, b, 1 << 15) == 0;
}

static void write_nothing(const void* object, base_bytes* bytes) {}

static bool read_nothing(const ecs_type_context* context, void* object, base_reader* reader) {
    return true;
}

// A forged count of rows of 32 KiB that take no bytes, at each byte that may be the count.
CASE(objects_of_a_save_have_a_limit) {
    enum { ROWS_MAX = ECS_RESTORED_BYTES_MAX >> 15 };
    static const char text[] = "large { \"b:large\"{} }";
    const ecs_type_ops ops = {.create = fill_large,
                              .destroy = drop_large,
                              .copy = copy_large,
                              .equal = are_equal,
                              .write = write_nothing,
                              .read = read_nothing};
    const ecs_type_desc large = {"large", 1 << 15, 8, NULL, 0, &ops};
    scarce_memory memory;
    const ecs_world_config config = scarce_world(&memory);
    ecs_world* world = NULL;
    assert_ok(ecs_world_create(&config, &world));
    assert_ok(ecs_type_register(world, &large, NULL));
    assert_ok(ecs_template_load(world, "large.blk", text, strlen(text), NULL));
    assert_ok(ecs_world_seal(world, NULL));
    assert_ok(ecs_create_many(world, ecs_template_find(world, "large"), 1, NULL));
    base_bytes bytes = world_saved(world);
    for (uint32_t rows = ROWS_MAX - 1; rows <= ROWS_MAX + 1; rows++) {
        uint32_t full = 0;
        for (size_t at = 16; at < bytes.size; at++) {
            base_bytes forged;
            base_bytes_init(&forged, NULL);
            base_bytes_write(&forged, bytes.data, at);
            base_bytes_write_varint(&forged, rows);
            base_bytes_write(&forged, bytes.data + at + 1, bytes.size - at - 1);
            memset(base_bytes_extend(&forged, 6 * rows), 0, 6 * rows);
            full += bytes.data[at] == 1 &&
                    ecs_world_restore(world, forged.data, forged.size) == ECS_ERR_FULL;
            base_bytes_deinit(&forged);
        }
        assert_int_equal(full > 0, rows > ROWS_MAX);
    }
    base_bytes_deinit(&bytes);
    ecs_world_destroy(world);
}

TWINS_CASE(damaged_bytes_never_break_the_world) {
    base_rng rng = test_rng(77, 1);
    (void)populate(&at->a);
    store_step(&at->a);
    // Members that come and go, commands of each kind, events.
    store_create(&at->a, at->a.thing);
    assert_ok(ecs_destroy(at->a.world, ecs_entity_next(at->a.world, ECS_ENTITY_NONE)));
    const ecs_string text = {.data = (char[]){"saved"}, .size = 5};
    const ecs_init init = {at->a.title, &text};
    const ecs_entity made = ecs_command_create(at->a.world, at->a.named, &init, 1);
    assert_true(ecs_command_set(at->a.world, made, at->a.title, &text));
    assert_true(ecs_command_recreate(at->a.world, made, at->a.sign, NULL, 0));
    assert_true(ecs_command_destroy(at->a.world, ecs_entity_make(1, 1)));
    (void)ecs_event_broadcast(at->a.world, at->a.ping, NULL);
    base_bytes bytes = world_saved(at->a.world);
    // Magic, version and schema: changes behind them reach all of the reader.
    const size_t head = 16;
    for (uint32_t round = 0; round < 4000; round++) {
        uint8_t* copy = malloc(bytes.size);
        memcpy(copy, bytes.data, bytes.size);
        // First each byte of the lists at the end, and a cut there, then any bytes.
        uint32_t flips = round < 600 ? 0 : 1 + base_rng_below(&rng, 3);
        const size_t last = bytes.size - 1 - round / 2 % bytes.size;
        if (flips == 0) {
            (void)!ecs_world_restore(at->b.world, copy, last);
            ecs_world_validate(at->b.world);
            copy[last] ^= round % 2 ? 0xff : 1;
        }
        for (uint32_t i = 0; i < flips; i++) {
            const size_t bytes_max = round % 2 ? bytes.size - head : 250;
            size_t place = bytes.size - 1 - base_rng_below(&rng, (uint32_t)bytes_max);
            copy[place] = (uint8_t)(base_rng_below(&rng, 2) ? base_rng_u32(&rng)
                                                            : copy[place] ^ (1u << (round % 8)));
        }
        ecs_result result = ecs_world_restore(at->b.world, copy, bytes.size);
        free(copy);
        if (result != ECS_OK) assert_int_equal(ecs_world_entity_count(at->b.world), 0);
        ecs_world_validate(at->b.world);
        store_step(&at->b);
        ecs_world_validate(at->b.world);
    }
    assert_ok(ecs_world_restore(at->b.world, bytes.data, bytes.size));
    check_same(&at->a, &at->b);
    check_usable(&at->b);
    base_bytes_deinit(&bytes);
}

WANDERING_CASE(the_world_hash_sees_what_the_state_hash_does_not) {
    (void)populate(at);
    store_step(at);
    ecs_entity first = ecs_entity_next(at->world, ECS_ENTITY_NONE);
    uint64_t state_hash = ecs_world_state_hash(at->world);
    uint64_t hashes[4];
    hashes[0] = ecs_world_hash(at->world);
    ecs_vec2 vel = {1, 1};
    assert_ok(ecs_set(at->world, first, at->vel, &vel));
    hashes[1] = ecs_world_hash(at->world);
    (void)base_rng_u32(ecs_world_rng(at->world));
    hashes[2] = ecs_world_hash(at->world);
    assert_true(ecs_event_broadcast(at->world, at->ping, NULL));
    hashes[3] = ecs_world_hash(at->world);
    assert_true(ecs_world_hash(at->world) == hashes[3]);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(hashes[i] != hashes[i + 1]);
    assert_true(ecs_world_state_hash(at->world) == state_hash);
}

// Both ways to copy give what save and restore give, and the copy has the same future.
TWINS_CASE(a_copy_is_what_save_and_restore_give) {
    (void)populate(&at->a);
    for (uint32_t round = 0; round < 30; round++) {
        store_step(&at->a);
        if (round % 3 == 0) ecs_changes_clear(at->a.world);
        assert_ok(ecs_world_copy(at->b.world, at->a.world));
        ecs_world_validate(at->b.world);
        check_same(&at->a, &at->b);
        assert_true(ecs_world_state_hash_walk(at->b.world) == ecs_world_state_hash(at->b.world));
        assert_int_equal(ecs_changes_get(at->b.world).changed_count, 0);
        // The copy runs ahead. The next round replaces it by a new copy.
        for (uint32_t i = 0; i < round % 5; i++)
            store_step(&at->b);
    }
    assert_ok(ecs_world_copy(at->b.world, at->a.world));
    for (uint32_t i = 0; i < 20; i++) {
        store_step(&at->a);
        store_step(&at->b);
        check_same(&at->a, &at->b);
    }
}

CASE(a_copy_of_the_same_rows_allocates_nothing) {
    store a, b;
    store_make(&a);
    store_make(&b);
    assert_ok(ecs_create_many(a.world, a.thing, 700, NULL));
    ecs_entity named = store_create(&a, a.named);
    store_set_text(&a, named, a.title, "any_name");
    store_step(&a);
    assert_ok(ecs_world_copy(b.world, a.world));
    check_same(&a, &b);
    for (uint32_t round = 0; round < 10; round++) {
        ecs_entity entity = ecs_entity_next(a.world, ECS_ENTITY_NONE);
        for (uint32_t i = 0; i < 100; i++, entity = ecs_entity_next(a.world, entity))
            ((ecs_vec2*)ecs_get_mut(a.world, entity, a.pos))->x += 1.0f;
        if (round % 2 == 0) store_step(&a);
        uint64_t before = b.memory.calls;
        assert_ok(ecs_world_copy(b.world, a.world));
        assert_int_equal(b.memory.calls, before);
        check_same(&a, &b);
        ecs_world_validate(b.world);
    }
    store_close(&a);
    store_close(&b);
}

// ---- sums of what is not tracked ----

enum { SUM_ENTITIES = 100 };

static void sum_turn(const store* fixture, ecs_tick tick, uint32_t values_max, uint64_t* sums) {
    ecs_world_untracked_sums(fixture->world, tick, values_max, sums);
    assert_true(sums[fixture->pos] == 0 && sums[fixture->hp] == 0); // tracked
    assert_true(sums[fixture->note] == 0);                          // owns memory
}

// All turns together see each value once, whatever their number.
STORE_CASE(untracked_sums_see_each_value_in_its_turn) {
    static const uint32_t limits[] = {1, 7, SUM_ENTITIES - 1, SUM_ENTITIES, SUM_ENTITIES + 1};
    uint64_t all[ECS_COMPONENTS_MAX + 1], sums[ECS_COMPONENTS_MAX + 1];
    ecs_entity things[SUM_ENTITIES];
    for (uint32_t i = 0; i < SUM_ENTITIES; i++)
        assert_ok(ecs_create(at->world, at->thing, NULL, 0, &things[i]));
    sum_turn(at, 5, SUM_ENTITIES, all);
    assert_true(all[at->vel] != 0);
    for (uint32_t l = 0; l < BASE_COUNT(limits); l++) {
        const uint32_t turns = (SUM_ENTITIES + limits[l] - 1) / limits[l];
        uint64_t total = 0;
        for (ecs_tick tick = 90; tick < 90 + 8 * turns; tick += 8) {
            sum_turn(at, tick, limits[l], sums);
            total += sums[at->vel];
        }
        assert_true(total == all[at->vel]);
    }
    // One value of one entity shows, and only in its component.
    ecs_vec2* vel = ecs_get_mut(at->world, things[60], at->vel);
    vel->x += 1;
    uint32_t seen = 0;
    for (ecs_tick tick = 0; tick < 8 * SUM_ENTITIES; tick += 8) {
        sum_turn(at, tick, 1, sums);
        vel->x -= 1;
        sum_turn(at, tick, 1, all);
        vel->x += 1;
        seen += sums[at->vel] != all[at->vel];
        assert_true(sums[at->score] == all[at->score]);
    }
    assert_int_equal(seen, 1);
}
