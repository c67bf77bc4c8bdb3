// SPDX-License-Identifier: MIT

#include "replicate/repl_world.h"

#include "base/hash.h"

typedef struct fixture {
    repl_side server;
    net_history* history;
} fixture;

static void open(fixture* f) {
    repl_open(&f->server, false, 4000);
    f->history = net_history_create(NULL, f->server.rows, 4000);
}

static void close_all(fixture* f) {
    base_owner_destroy(f->history);
    repl_close(&f->server);
}

static void move_at(fixture* f, ecs_entity entity, ecs_tick tick, float x, float y) {
    repl_move(&f->server, entity, x, y);
    repl_step(&f->server, f->history, tick);
}

static void expect_events(const fixture* f, uint32_t count, ecs_entity handle,
                          net_history_kind kind) {
    const net_history_event* events = f->history->events;
    const uint32_t found = f->history->event_count;
    assert_int_equal(found, count);
    if (count == 0) return;
    assert_int_equal(events[0].handle, handle);
    assert_int_equal(events[0].kind, kind);
}

static const net_history_entity* entity_of(const fixture* f, ecs_entity handle) {
    const net_history_entity* entity = net_history_find(f->history, ecs_entity_index(handle));
    assert_non_null(entity);
    return entity;
}

// The packed row that `classes` see; valid until the next call but one.
static const uint32_t* row_at(const fixture* f, ecs_entity handle, ecs_tick tick,
                              uint32_t classes) {
    static uint32_t rows[2][2 * PROTO_ROW_FIELDS_MAX + 1];
    static uint32_t turn;
    return net_history_row(entity_of(f, handle), f->history->tick, tick, classes, rows[turn++ % 2]);
}

#define HISTORY_CASE(name) CASE_WITH(fixture, f, open(f), close_all(f), name)
/// A case with a mover in the server's world.
#define BALL_CASE(name)                                                                            \
    CASE_GIVEN(fixture, f, open(f), close_all(f), ecs_entity, ball,                                \
               repl_create(&f->server, f->server.mover), name)

BALL_CASE(the_first_step_takes_what_lives_already) {
    ecs_changes_clear(f->server.world); // the change was never listed
    repl_step(&f->server, f->history, 1);
    expect_events(f, 1, ball, NET_HISTORY_SPAWNED);
    assert_int_equal(net_history_newest(entity_of(f, ball))[0], 100); // hp; quantised by 8 bits
}

BALL_CASE(a_change_below_the_quantum_goes_no_further) {
    repl_step(&f->server, f->history, 1);
    move_at(f, ball, 2, 1.01f, 2.0f);
    expect_events(f, 0, 0, 0);
    move_at(f, ball, 3, 1.0625f, 2.0f);
    expect_events(f, 1, ball, NET_HISTORY_CHANGED);
}

BALL_CASE(a_value_that_is_set_and_restored_is_no_change) {
    repl_step(&f->server, f->history, 1);
    repl_move(&f->server, ball, 50, 60);
    move_at(f, ball, 2, 1, 2);
    expect_events(f, 0, 0, 0);
}

static void expect_known_for(uint32_t tick_rate_hz, uint32_t keep_ticks) {
    fixture f;
    open(&f);
    if (tick_rate_hz) net_rows_set_tick_rate(f.server.rows, tick_rate_hz);
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    for (uint32_t tick = 1; tick <= 3 * keep_ticks; tick++) {
        move_at(&f, ball, tick, (float)tick, 0);
        assert_int_equal(f.history->keep_ticks, keep_ticks);
        for (uint32_t age = 0; age <= keep_ticks && age < tick; age++)
            assert_true((row_at(&f, ball, tick - age, 1) != NULL) == (age < keep_ticks));
    }
    close_all(&f);
}

CASE(a_row_is_known_for_a_second_within_limits) {
    expect_known_for(0, NET_ROW_HISTORY_TICKS_MAX); // the rate is not known
    expect_known_for(1, NET_ROW_HISTORY_TICKS_MIN);
    expect_known_for(NET_ROW_HISTORY_TICKS_MIN - 1, NET_ROW_HISTORY_TICKS_MIN);
    expect_known_for(NET_ROW_HISTORY_TICKS_MIN, NET_ROW_HISTORY_TICKS_MIN);
    expect_known_for(NET_ROW_HISTORY_TICKS_MIN + 1, NET_ROW_HISTORY_TICKS_MIN + 1);
    expect_known_for(NET_ROW_HISTORY_TICKS_MAX - 1, NET_ROW_HISTORY_TICKS_MAX - 1);
    expect_known_for(NET_ROW_HISTORY_TICKS_MAX, NET_ROW_HISTORY_TICKS_MAX);
    expect_known_for(NET_ROW_HISTORY_TICKS_MAX + 1, NET_ROW_HISTORY_TICKS_MAX);
}

// An entity that moves each `every` ticks, so that its last rows are `count`.
static void expect_known_by_count(uint32_t every, uint32_t count) {
    fixture f;
    open(&f);
    ecs_entity ball = repl_create(&f.server, f.server.mover);
    const uint32_t rows = 2 * count;
    for (uint32_t row = 1; row <= rows; row++) {
        move_at(&f, ball, row * every, (float)row, 0);
    }
    for (uint32_t back = 0; back < rows; back++)
        assert_true((row_at(&f, ball, (rows - back) * every, 1) != NULL) == (back < count));
    close_all(&f);
}

CASE(what_moves_seldom_keeps_its_newest_rows) {
    // The oldest row stays as long as the one behind it is not too old.
    const uint32_t far = (NET_ROW_HISTORY_COUNT_TICKS - 2) / (NET_ROW_HISTORY_COUNT - 2);
    expect_known_by_count(NET_ROW_HISTORY_TICKS_MAX, NET_ROW_HISTORY_COUNT);
    expect_known_by_count(far, NET_ROW_HISTORY_COUNT);
    expect_known_by_count(far + 1, NET_ROW_HISTORY_COUNT - 1);
    expect_known_by_count(NET_ROW_HISTORY_COUNT_TICKS, 2);
}

HISTORY_CASE(a_moving_entity_takes_less_than_a_kilobyte) {
    net_rows_set_tick_rate(f->server.rows, 30);
    ecs_entity ball = repl_create(&f->server, f->server.mover);
    for (uint32_t tick = 1; tick <= 200; tick++) {
        move_at(f, ball, tick, (float)tick, 0);
    }
    const net_history_entity* entity = entity_of(f, ball);
    uint32_t words = entity->row_template->layout.packed_count;
    assert_int_equal(entity->block_bytes, 32 * (4 * words + 2));
}

HISTORY_CASE(a_part_without_replicated_components_is_unknown_to_the_wire) {
    const net_row_template* plain = net_rows_find(f->server.rows, f->server.mover);
    assert_non_null(plain);
    assert_ptr_equal(net_rows_find(f->server.rows, f->server.mover_local), plain);
    assert_null(net_rows_find(f->server.rows, f->server.local));
    const net_row_template* composed = net_rows_find(f->server.rows, f->server.mover_extra);
    assert_int_equal(composed->part_count, 2);
    assert_ptr_equal(net_rows_compose(f->server.rows, composed->parts, 2), composed);
    assert_null(
        net_rows_compose(f->server.rows, (uint16_t[]){5}, 1)); // five templates have numbers
    assert_null(net_rows_compose(f->server.rows, (uint16_t[]){0}, 0));
}

HISTORY_CASE(death_is_told_once_and_only_of_what_was_known) {
    repl_step(&f->server, f->history, 1);
    ecs_entity brief = repl_create(&f->server, f->server.mover);
    repl_destroy(&f->server, brief);
    repl_step(&f->server, f->history, 2);
    expect_events(f, 0, 0, 0);
    ecs_entity ball = repl_create(&f->server, f->server.mover);
    repl_step(&f->server, f->history, 3);
    repl_destroy(&f->server, ball);
    repl_step(&f->server, f->history, 4);
    expect_events(f, 1, ball, NET_HISTORY_DESPAWNED);
    assert_null(net_history_find(f->history, ecs_entity_index(ball)));
    repl_step(&f->server, f->history, 5);
    expect_events(f, 0, 0, 0);
}

HISTORY_CASE(a_tick_has_one_step) {
    repl_step(&f->server, f->history, 5);
    expect_assert_failure(net_history_step(f->history, f->server.world, 5));
}

// ---- classes of visibility ----

static const char class_text[] =
    "agent {\n"
    "  \"pos:p2\" { _replicate:b=yes; _min:r=-1024; _max:r=1024; _step:r=0.0625; value:p2=1,2 }\n"
    "  \"ammo:i\" { _replicate:b=yes; _visible:t=\"owner\"; value:i=30 }\n"
    "  \"plan:i\" { _replicate:b=yes; _visible:t=\"team\"; value:i=4 }\n"
    "}\n";

enum { PUBLIC = 1, OWNER = 2, TEAM = 4 };

typedef struct class_fixture {
    fixture f;
    ecs_entity agent;
    ecs_component_id ammo, plan;
} class_fixture;

static class_fixture open_classes(void) {
    class_fixture c;
    repl_open_with(&c.f.server, false, 4000, class_text);
    c.f.history = net_history_create(NULL, c.f.server.rows, 4000);
    c.ammo = ecs_component_find(c.f.server.world, "ammo");
    c.plan = ecs_component_find(c.f.server.world, "plan");
    c.agent = repl_create(&c.f.server, ecs_template_find(c.f.server.world, "agent"));
    repl_step(&c.f.server, c.f.history, 1);
    return c;
}

static void set(class_fixture* c, ecs_component_id component, int32_t value) {
    assert_ok(ecs_set(c->f.server.world, c->agent, component, &value));
}

// Get the first word of a component in the row that `classes` saw at `tick`.
static uint64_t word_at(class_fixture* c, ecs_tick tick, uint32_t classes,
                        ecs_component_id component) {
    const net_history_entity* entity = entity_of(&c->f, c->agent);
    uint64_t scratch[PROTO_ROW_FIELDS_MAX];
    const uint64_t* row = scratch;
    assert_true(net_history_read(entity, c->f.history->tick, tick, classes, scratch));
    for (uint32_t i = 0; i < entity->row_template->layout.component_count; i++)
        if (entity->row_template->layout.components[i].key == component)
            return row[entity->row_template->layout.components[i].field_first];
    fail();
    return 0;
}

enum { MANY = 700, MANY_TICKS = 80 };

static uint64_t hash_of(const class_fixture* c, uint64_t hash) {
    const net_history_event* events = c->f.history->events;
    const uint32_t count = c->f.history->event_count;
    for (uint32_t i = 0; i < count; i++) {
        hash = base_hash64_mix(hash, events[i].handle);
        hash = base_hash64_mix(hash, (uint64_t)events[i].kind << 16 | events[i].classes);
        const net_history_entity* entity =
            net_history_find(c->f.history, ecs_entity_index(events[i].handle));
        if (!entity) continue;
        hash = base_hash64_mix(hash, (uint64_t)entity->count << 16 | entity->capacity);
        hash = base_hash64_mix(hash, net_history_changed(entity, OWNER));
        hash = base_hash64(net_history_newest(entity), entity->words * sizeof(uint32_t), hash);
    }
    return hash;
}

// Entities move by their own rhythm, so that rings grow and forget at many ticks.
static uint64_t play_many(base_workers* workers) {
    class_fixture c = open_classes();
    ecs_world* world = c.f.server.world;
    const ecs_template_id agent = ecs_template_find(world, "agent");
    c.f.history->workers = workers;
    ecs_entity all[MANY];
    for (uint32_t i = 0; i < MANY; i++)
        all[i] = repl_create(&c.f.server, agent);
    base_rng rng = base_rng_make(8, 8);
    uint64_t hash = 0;
    uint32_t changed_count = 0;
    for (uint32_t tick = 2; tick < MANY_TICKS; tick++) {
        for (uint32_t i = 0; i < MANY; i++) {
            const int32_t value = (int32_t)base_rng_below(&rng, 30);
            if (tick % (1 + i % 5) == 0) repl_move(&c.f.server, all[i], (float)value, (float)tick);
            if (value < 9) assert_ok(ecs_set(world, all[i], c.ammo, &value));
            if (value == 9) assert_ok(ecs_set(world, all[i], c.plan, &value));
            if (base_rng_below(&rng, 100) != 0) continue;
            assert_ok(ecs_destroy(world, all[i]));
            all[i] = repl_create(&c.f.server, agent);
        }
        repl_step(&c.f.server, c.f.history, tick);
        net_history_validate(c.f.history);
        changed_count += c.f.history->event_count;
        hash = hash_of(&c, hash);
    }
    assert_true(changed_count > MANY * 10u);
    close_all(&c.f);
    return hash;
}

CASE(rows_and_events_are_the_same_on_any_number_of_threads) { // B10
    const uint64_t expected = play_many(NULL);
    static const uint32_t threads[] = {1, 2, 3, 8, BASE_WORKERS_MAX};
    for (uint32_t i = 0; i < BASE_COUNT(threads); i++) {
        base_workers* workers = base_workers_create(NULL, threads[i]);
        assert_non_null(workers);
        base_workers_set_eager(workers);
        assert_true(play_many(workers) == expected);
        base_workers_destroy(workers);
    }
}

#define CLASS_CASE(name) CASE_WITH(class_fixture, c, *c = open_classes(), close_all(&c->f), name)

CLASS_CASE(a_masked_row_has_defaults_where_nothing_may_be_seen) {
    uint64_t ammo = word_at(c, 1, OWNER, c->ammo), plan = word_at(c, 1, TEAM, c->plan);
    set(c, c->ammo, 7);
    repl_step(&c->f.server, c->f.history, 2);
    set(c, c->plan, 9);
    repl_step(&c->f.server, c->f.history, 3);
    assert_true(word_at(c, 3, PUBLIC, c->ammo) == ammo);
    assert_true(word_at(c, 3, PUBLIC | OWNER, c->ammo) != ammo);
    assert_true(word_at(c, 3, PUBLIC | OWNER, c->plan) == plan);
    assert_true(word_at(c, 3, OWNER | TEAM, c->plan) != plan);
    // Each class sees the value of that tick.
    assert_true(word_at(c, 1, OWNER | TEAM, c->ammo) == ammo);
    assert_true(word_at(c, 2, OWNER | TEAM, c->ammo) != ammo);
    assert_true(word_at(c, 2, OWNER | TEAM, c->plan) == plan);
}

CLASS_CASE(an_event_names_what_changed) {
    assert_int_equal(c->f.history->events[0].classes, PUBLIC | OWNER | TEAM);
    set(c, c->ammo, 7);
    set(c, c->plan, 9);
    repl_step(&c->f.server, c->f.history, 2);
    assert_int_equal(c->f.history->event_count, 1);
    assert_int_equal(c->f.history->events[0].classes, OWNER | TEAM);
    move_at(&c->f, c->agent, 5, 50, 50);
    assert_int_equal(c->f.history->events[0].classes, PUBLIC);
    const net_history_entity* entity = entity_of(&c->f, c->agent);
    assert_int_equal(net_history_changed(entity, PUBLIC), 5);
    assert_int_equal(net_history_changed(entity, OWNER), 2);
    assert_int_equal(net_history_changed(entity, OWNER | PUBLIC), 5);
    assert_int_equal(net_history_classes(entity, 0xFFF1), PUBLIC);
}

// What each word was at a tick, told by hand.
enum { TWIN_TICKS = 700, TWIN_WORDS = 4 };

typedef struct twin {
    uint32_t words[TWIN_TICKS][TWIN_WORDS], masked[TWIN_WORDS];
    uint32_t classes[TWIN_WORDS];
    uint32_t count;
} twin;

static void describe_twin(const class_fixture* c, twin* t) {
    const net_row_template* row_template = entity_of(&c->f, c->agent)->row_template;
    assert_int_equal(row_template->layout.packed_count, TWIN_WORDS);
    memcpy(t->masked, row_template->packed_defaults, sizeof t->masked);
    for (uint32_t i = 0; i < row_template->layout.component_count; i++) {
        const proto_row_component* component = &row_template->layout.components[i];
        for (uint32_t w = 0; w < component->packed_count; w++)
            t->classes[component->packed_first + w] = 1u << row_template->classes[i];
    }
}

static bool twin_differs(const twin* t, ecs_tick a, ecs_tick b, uint32_t classes) {
    for (uint32_t w = 0; w < TWIN_WORDS; w++)
        if (t->classes[w] & classes && t->words[a][w] != t->words[b][w]) return true;
    return false;
}

// Known: young enough, or nothing visible changed until the oldest tick that is.
static bool twin_knows(const twin* t, ecs_tick now, ecs_tick tick, uint32_t keep,
                       uint32_t classes) {
    if (tick == 0) return false;
    for (ecs_tick at = tick; at + keep <= now; at++)
        if (twin_differs(t, at, at + 1, classes)) return false;
    return true;
}

static void compare_with_twin(const class_fixture* c, const twin* t, ecs_tick now, ecs_tick tick,
                              uint32_t classes) {
    const uint32_t* row = row_at(&c->f, c->agent, tick, classes);
    uint32_t keep = c->f.history->keep_ticks;
    assert_true((row != NULL) == twin_knows(t, now, tick, keep, classes));
    const uint32_t* recent =
        net_history_recent(entity_of(&c->f, c->agent), now, (uint32_t)(now - tick));
    assert_true(!recent || twin_knows(t, now, tick, keep, UINT16_MAX));
    if (recent) assert_memory_equal(recent, t->words[tick], sizeof t->words[tick]);
    for (uint32_t w = 0; row && w < TWIN_WORDS; w++)
        assert_int_equal(row[w], t->classes[w] & classes ? t->words[tick][w] : t->masked[w]);
}

CASE(the_history_is_as_its_twin_says) {
    for (uint64_t seed = 1; seed <= 6; seed++) {
        base_rng rng = test_rng(seed, 7);
        class_fixture c = open_classes();
        static twin t;
        describe_twin(&c, &t);
        double rates[3] = {0};
        for (ecs_tick tick = 1; tick < TWIN_TICKS; tick++) {
            if (tick % 60 == 1)
                for (uint32_t i = 0; i < 3; i++)
                    rates[i] = (double[]){0, 0.02, 0.5, 1}[base_rng_below(&rng, 4)];
            if (base_rng_chance(&rng, rates[0]))
                repl_move(&c.f.server, c.agent, (float)base_rng_below(&rng, 900), 0);
            if (base_rng_chance(&rng, rates[1])) set(&c, c.ammo, (int32_t)base_rng_below(&rng, 9));
            if (base_rng_chance(&rng, rates[2])) set(&c, c.plan, (int32_t)base_rng_below(&rng, 9));
            if (tick > 1) repl_step(&c.f.server, c.f.history, tick);
            memcpy(t.words[tick], net_history_newest(entity_of(&c.f, c.agent)),
                   sizeof t.words[tick]);
            net_history_validate(c.f.history);
            for (uint32_t i = 0; i < 12; i++)
                compare_with_twin(&c, &t, tick,
                                  tick - base_rng_below(&rng, i < 6 ? 80 : 699) % tick,
                                  base_rng_below(&rng, 8));
        }
        close_all(&c.f);
    }
}

CASE(what_is_hidden_changes_nothing_that_is_known) {
    class_fixture still = open_classes(), busy = open_classes();
    const ecs_tick end = 5 * NET_ROW_HISTORY_TICKS_MAX;
    for (ecs_tick tick = 2; tick <= end; tick++) {
        set(&busy, busy.plan, (int32_t)tick + 100);
        if (tick % 40 == 2) {
            repl_move(&still.f.server, still.agent, (float)tick, 50);
            repl_move(&busy.f.server, busy.agent, (float)tick, 50);
        }
        repl_step(&still.f.server, still.f.history, tick);
        repl_step(&busy.f.server, busy.f.history, tick);
        for (ecs_tick at = 1; at <= tick; at++) {
            const uint32_t* a = row_at(&still.f, still.agent, at, PUBLIC | OWNER);
            const uint32_t* b = row_at(&busy.f, busy.agent, at, PUBLIC | OWNER);
            assert_true((a != NULL) == (b != NULL));
            if (a) assert_memory_equal(a, b, TWIN_WORDS * sizeof *a);
        }
    }
    assert_non_null(row_at(&still.f, still.agent, end - 41, PUBLIC | TEAM));
    assert_null(row_at(&busy.f, busy.agent, end - NET_ROW_HISTORY_TICKS_MAX, PUBLIC | TEAM));
    close_all(&still.f);
    close_all(&busy.f);
}

BALL_CASE(validating_finds_a_row_that_is_newer_than_the_change) {
    repl_step(&f->server, f->history, 1);
    move_at(f, ball, 2, 3, 3);
    net_history_validate(f->history);
    const net_history_entity* entity = net_history_find(f->history, ecs_entity_index(ball));
    net_history_entity broken = *entity;
    broken.change_tick = 1;
    expect_assert_failure(net_history_entity_validate(&broken));
    broken = *entity;
    broken.count = 0;
    expect_assert_failure(net_history_entity_validate(&broken));
}
