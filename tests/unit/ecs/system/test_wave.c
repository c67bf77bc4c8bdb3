// SPDX-License-Identifier: MIT
#include "sample_world.h"

static const ecs_term write_pos[] = {{"pos", "p2", ECS_WRITE}};
static const ecs_term read_pos[] = {{"pos", "p2", ECS_READ}};
static const ecs_term write_hp[] = {{"hp", "i", ECS_WRITE}};
static const ecs_term read_vel[] = {{"vel", "p2", ECS_READ}};

// A confined system of stage act.
static ecs_system_desc confined(const char* name, const ecs_term* term) {
    return (ecs_system_desc){.name = name,
                             .stage = "act",
                             .run = store_idle,
                             .terms = term,
                             .term_count = term ? 1 : 0,
                             .is_confined = true};
}

#define CONFINED(name_, terms_, ...)                                                               \
    (ecs_system_desc) {                                                                            \
        .name = name_, .stage = "act", .run = store_idle, .terms = terms_,                         \
        .term_count = BASE_COUNT(terms_), .is_confined = true, __VA_ARGS__                         \
    }

static void add(store* fixture, const ecs_system_desc* desc) {
    assert_ok(ecs_system_register(fixture->world, desc));
}

static void add_each(store* fixture, const ecs_system_desc* descs, size_t count) {
    for (size_t i = 0; i < count; i++)
        add(fixture, &descs[i]);
}

#define add_all(at, ...)                                                                           \
    add_each(at, (const ecs_system_desc[]){__VA_ARGS__},                                           \
             BASE_COUNT(((const ecs_system_desc[]){__VA_ARGS__})))

// The waves as text: systems of one wave stand together.
static void expect_waves(store* fixture, const char* expected) {
    char text[512] = "";
    uint32_t wave = 0;
    ecs_system_info info;
    for (uint32_t i = 0; ecs_stage_system_info(fixture->world, 0, i, &info); i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof(text) - used, "%s%s",
                       i == 0              ? ""
                       : info.wave == wave ? " "
                                           : ", ",
                       info.name);
        wave = info.wave;
    }
    assert_string_equal(text, expected);
}

STORE_OPEN_CASE(a_system_that_declares_nothing_runs_alone) {
    const ecs_system_desc rules = {.name = "rules", .stage = "act", .run = store_idle};
    const ecs_system_desc a = confined("a", write_pos), b = confined("b", write_hp),
                          c = confined("c", read_vel);
    add_all(at, a, rules, b, c);
    store_seal(at);
    expect_waves(at, "a, rules, b c");
    ecs_conflict found = ecs_stage_conflict(at->world, 0, 0, 1);
    assert_int_equal(found.kind, ECS_CONFLICT_UNCONFINED);
    assert_string_equal(found.who, "rules");
    assert_int_equal(ecs_stage_conflict(at->world, 0, 2, 3).kind, ECS_CONFLICT_NONE);
    assert_int_equal(ecs_stage_conflict(at->world, 0, 2, 9).kind, ECS_CONFLICT_NONE);
}

STORE_OPEN_CASE(a_declared_order_separates_systems) {
    static const char* const order[] = {"y", "x"};
    add_all(at, CONFINED("a", write_pos, AFTER("point")));
    assert_ok(ecs_sync_point_register(at->world, "act", "point"));
    add_all(at, CONFINED("b", write_hp, AFTER("c")), confined("c", read_vel),
            confined("x", read_vel), confined("y", read_vel));
    assert_ok(ecs_order_set(at->world, "act", order, 2, NULL));
    store_seal(at);
    expect_waves(at, "point c y, a b x");
    for (uint32_t i = 0; i < 6; i++) {
        for (uint32_t k = 0; k < 6; k++) {
            const char* first = ecs_stage_system_name(at->world, 0, i);
            const char* second = ecs_stage_system_name(at->world, 0, k);
            bool is_ordered =
                (first[0] == 'b' && second[0] == 'c') || (first[0] == 'c' && second[0] == 'b') ||
                (first[0] == 'x' && second[0] == 'y') || (first[0] == 'y' && second[0] == 'x');
            assert_int_equal(ecs_stage_conflict(at->world, 0, i, k).kind,
                             is_ordered ? ECS_CONFLICT_ORDER : ECS_CONFLICT_NONE);
        }
    }
}

STORE_OPEN_CASE(what_is_touched_by_handle_conflicts_too) {
    add_all(at, CONFINED("a", write_pos, .quantum = 1), // its rows alone: ranges
            // Writes what all ranges share.
            CONFINED("b", read_vel, READS("pos"), WRITES("grid"), .quantum = 1),
            CONFINED("c", write_hp, READS("grid"), .quantum = 1),
            CONFINED("d", read_vel, WRITES("pos")));
    store_seal(at);
    expect_waves(at, "a, b, c d");
    ecs_conflict found = ecs_stage_conflict(at->world, 0, 0, 1);
    assert_int_equal(found.kind, ECS_CONFLICT_ACCESS);
    assert_string_equal(found.who, "a");
    assert_string_equal(found.name, "pos");
    found = ecs_stage_conflict(at->world, 0, 2, 1);
    assert_int_equal(found.kind, ECS_CONFLICT_ACCESS);
    assert_string_equal(found.who, "b");
    assert_string_equal(found.name, "grid");
    ecs_system_info info;
    const bool may_cut[] = {true, false, true, false};
    for (uint32_t i = 0; ecs_stage_system_info(at->world, 0, i, &info); i++) {
        assert_true(info.is_confined);
        assert_true(info.may_cut == may_cut[i]);
        assert_int_equal(ecs_stage_conflict(at->world, 0, i, i).kind,
                         i % 2 == 1 ? ECS_CONFLICT_ACCESS : ECS_CONFLICT_NONE);
    }
}

STORE_OPEN_CASE(rows_that_exclude_each_other_do_not_conflict) {
    static const ecs_term with[] = {{"pos", "p2", ECS_WRITE}, {"hp", "i", ECS_REQUIRE}};
    static const ecs_term without[] = {{"pos", "p2", ECS_WRITE}, {"hp", "i", ECS_REQUIRE_NOT}};
    ecs_system_desc a = confined("a", with), b = confined("b", without), c = confined("c", with);
    a.term_count = b.term_count = c.term_count = 2;
    add_all(at, a, b, c);
    store_seal(at);
    expect_waves(at, "a b, c");
}

CASE(shared_names_are_limited) {
    for (uint32_t count = ECS_SHARED_NAMES_MAX - 1; count <= ECS_SHARED_NAMES_MAX + 1; count++) {
        store fixture;
        store_open(&fixture);
        char names[ECS_SHARED_NAMES_MAX + 1][16];
        const char* list[ECS_SHARED_NAMES_MAX + 1];
        for (uint32_t i = 0; i < count; i++) {
            (void)snprintf(names[i], sizeof(names[i]), "shared%u", i);
            list[i] = names[i];
        }
        ecs_system_desc a = confined("a", NULL);
        a.reads = a.writes = list;
        a.read_count = a.write_count = count;
        add(&fixture, &a);
        assert_int_equal(ecs_world_seal(fixture.world, NULL),
                         count <= ECS_SHARED_NAMES_MAX ? ECS_OK : ECS_ERR_FULL);
        store_close(&fixture);
    }
}

// ---- ranges ----

enum { QUANTUM = 100 };

typedef struct calls {
    store* fixture;
    uint32_t seen[4096]; ///< by place in the walk: how often it was called for
} calls;

// Columns and entities belong together, wherever a range begins.
static void run_ranges(const ecs_stage* stage, const ecs_rows* rows) {
    calls* all = stage->context;
    ecs_vec2* pos = rows->columns[0];
    const int32_t* hp = rows->columns[1];
    assert_true(rows->columns[2] == NULL);
    assert_true((uintptr_t)pos % BASE_CACHE_LINE_BYTES == 0);
    assert_true(rows->count > 0);
    for (uint32_t i = 0; i < rows->count; i++) {
        assert_int_equal(hp[i], ecs_entity_index(rows->entities[i]));
        all->seen[hp[i] % 4096]++;
        pos[i].x = (float)hp[i];
    }
    (void)ecs_event_send(stage->world, rows->entities[0], all->fixture->hit,
                         &(store_hit){.amount = (int32_t)rows->count});
}

static void record_range(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    store_hit hit;
    memcpy(&hit, event->payload, sizeof hit);
    char text[32];
    (void)snprintf(text, sizeof(text), "%d ", hit.amount);
    store_mark(((calls*)stage->context)->fixture, text);
}

static const ecs_term range_terms[] = {
    {"pos", "p2", ECS_WRITE}, {"hp", "i", ECS_READ}, {"title", "t", ECS_OPTIONAL_READ}};

static void count_ranges(uint32_t entities, uint32_t threads, const char* expected) {
    static calls all;
    store fixture;
    store_open(&fixture);
    memset(&all, 0, sizeof all);
    all.fixture = &fixture;
    ecs_system_desc desc = confined("ranges", range_terms);
    desc.run = run_ranges;
    desc.term_count = 3;
    desc.context = &all;
    desc.quantum = QUANTUM;
    add(&fixture, &desc);
    system_add(fixture.world, .name = "note", .on_event = record_range, EVENTS("hit"),
               .context = &all);
    store_seal(&fixture);
    base_workers* workers = base_workers_create(NULL, threads);
    ecs_world_set_workers(fixture.world, workers);
    for (uint32_t i = 0; i < entities; i++) {
        ecs_entity entity = store_create(&fixture, fixture.thing);
        const int32_t hp = (int32_t)ecs_entity_index(entity);
        assert_ok(ecs_set(fixture.world, entity, fixture.hp, &hp));
    }
    ecs_world_step(fixture.world, &(ecs_step){.tick = 1, .dt = 1.0f});
    ecs_changes_clear(fixture.world);
    fixture.trace[0] = '\0';
    memset(all.seen, 0, sizeof all.seen);
    ecs_world_step(fixture.world, &(ecs_step){.tick = 2, .dt = 1.0f});
    assert_string_equal(fixture.trace, expected);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < BASE_COUNT(all.seen); i++) {
        assert_true(all.seen[i] <= 1);
        seen += all.seen[i];
    }
    assert_int_equal(seen, entities);
    // What ranges wrote is tracked: nothing changed, all was compared.
    assert_int_equal(ecs_changes_get(fixture.world).changed_count, 0);
    ecs_world_set_workers(fixture.world, NULL);
    base_workers_destroy(workers);
    store_close(&fixture);
}

CASE(rows_are_cut_at_whole_lines) { // S5.14
    static const uint32_t threads[] = {1, 2, 8};
    for (uint32_t i = 0; i < BASE_COUNT(threads); i++) {
        count_ranges(2 * QUANTUM - 1, threads[i], "199 ");
        count_ranges(2 * QUANTUM, threads[i], "112 88 ");
        count_ranges(2 * QUANTUM + 1, threads[i], "112 89 ");
        count_ranges(3 * QUANTUM, threads[i], "112 112 76 ");
        count_ranges(1, threads[i], "1 ");
        count_ranges(0, threads[i], "");
    }
}

// ---- chance ----

static void run_ask(const ecs_stage* stage, const ecs_rows* rows) {
    base_rng own = ecs_stage_rng(stage, ECS_ENTITY_NONE), other = ecs_stage_rng(stage, 7);
    base_rng again = ecs_stage_rng(stage, 7);
    assert_true(base_rng_u64(&own) != base_rng_u64(&other));
    assert_true(other.stream == again.stream);
    store* fixture = stage->context;
    char text[32];
    (void)snprintf(text, sizeof(text), "%u ", base_rng_u32(&again));
    store_mark(fixture, text);
}

STORE_OPEN_CASE(chance_belongs_to_tick_system_and_entity) {
    ecs_system_desc a = confined("a", NULL), b = confined("b", NULL);
    a.run = b.run = run_ask;
    a.context = b.context = at;
    add(at, &a);
    add(at, &b);
    store_seal(at);
    ecs_world_step(at->world, &(ecs_step){.tick = 1, .dt = 1.0f});
    ecs_world_step(at->world, &(ecs_step){.tick = 2, .dt = 1.0f});
    unsigned numbers[4];
    assert_int_equal(
        sscanf(at->trace, "%u %u %u %u", &numbers[0], &numbers[1], &numbers[2], &numbers[3]), 4);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t k = 0; k < i; k++)
            assert_true(numbers[i] != numbers[k]);
}

// ---- validating builds: what is not declared is found ----

typedef struct trespass {
    store* fixture;
    ecs_query* query;
    ecs_entity entity;
    uint32_t way;
} trespass;

static void run_trespass(const ecs_stage* stage, const ecs_rows* rows) {
    const trespass* self = stage->context;
    const store* fixture = self->fixture;
    const int32_t hp = 3;
    switch (self->way) {
    case 0:
        (void)ecs_find(stage->world, self->entity, fixture->hp);
        break;
    case 1:
        (void)ecs_find_mut(stage->world, self->entity, fixture->vel);
        break;
    case 2:
        (void)!ecs_set(stage->world, self->entity, fixture->hp, &hp);
        break;
    case 3: {
        ecs_query_iter it = ecs_query_begin(stage->world, self->query);
        ecs_query_end(&it);
        break;
    }
    case 4:
        ((ecs_vec2*)(uintptr_t)rows->columns[0])->x += 1.0f;
        break;
    default: // what it declares
        (void)ecs_find(stage->world, self->entity, fixture->vel);
        *(int32_t*)ecs_find_mut(stage->world, self->entity, fixture->score) = 1;
        break;
    }
}

CASE(what_is_not_declared_is_found_by_name) { // B10
    static const char* const vel[] = {"vel"};
    static const char* const score[] = {"score"};
    static const ecs_term of_query[] = {{"hp", "i", ECS_READ}, {"vel", "p2", ECS_READ}};
    static const char* const faults[] = {
        "system 'trespass' does not declare that it reads 'hp'",
        "system 'trespass' does not declare that it writes 'vel'",
        "system 'trespass' does not declare that it writes 'hp'",
        "system 'trespass' does not declare that it reads 'hp'",
        "system 'trespass' declares that it only reads 'pos'",
        NULL,
    };
    // Alone on the world, and in a wave on a view of it.
    for (uint32_t k = 0; k < 2 * BASE_COUNT(faults) && BASE_VALIDATE_ON; k++) {
        store fixture;
        store_open(&fixture);
        trespass self = {.fixture = &fixture, .way = k / 2};
        assert_ok(ecs_query_create(fixture.world, of_query, 2, &self.query));
        ecs_system_desc desc = confined("trespass", read_pos), other = confined("other", read_pos);
        desc.run = run_trespass;
        desc.context = &self;
        desc.reads = vel;
        desc.writes = score;
        desc.read_count = desc.write_count = 1;
        add(&fixture, &desc);
        if (k % 2 == 1) add(&fixture, &other);
        store_seal(&fixture);
        (void)store_create(&fixture, fixture.thing);
        self.entity = store_create(&fixture, fixture.named);
        const ecs_step step = {.tick = 1, .dt = 1.0f};
        if (faults[k / 2]) {
            store_expect_fault(fixture.world, &step);
            assert_string_equal(store_fault, faults[k / 2]);
        } else {
            ecs_world_step(fixture.world, &step);
        }
        store_close(&fixture);
    }
}

STORE_OPEN_CASE(misuse_is_asserted) {
    static const char* const pos[] = {"pos"};
    ecs_system_desc desc = confined("a", NULL);
    desc.is_confined = false;
    desc.reads = pos;
    desc.read_count = 1;
    expect_assert_failure((void)!ecs_system_register(at->world, &desc));
    const ecs_stage outside = {.world = at->world};
    expect_assert_failure((void)ecs_stage_rng(&outside, 1));
}
