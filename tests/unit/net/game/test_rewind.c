// SPDX-License-Identifier: MIT
// The past of a world against a model that keeps the whole past.
#include "schema_made.h"

#include "base/hash.h"
#include "game/rewind.h"
#include "scarce.h"

#include <math.h>

static const char TEXT[] =
    "mover {\n"
    "  \"pos:p2\"{ _replicate:b=yes; _interpolate:b=yes; _teleport:r=20; _min:r=-1024; "
    "_max:r=1024;\n"
    "    _step:r=0.0625; value:p2=1,2 }\n"
    "  \"hp:i\"{ _replicate:b=yes; value:i=100 }\n"
    "  \"aim:r\"{ _replicate:b=yes; _interpolate:b=yes; value:r=0.1 }\n"
    "}\n"
    "spinner { \"spin:r\"{ _replicate:b=yes; _interpolate:b=yes; value:r=3 } }\n"
    "local { note:i=3 }\n"
    "plain { \"hp:i\"{ _replicate:b=yes; value:i=1 } }\n";

enum { PLACE_INDICES_MAX = 700 };

// The world of a mirror, because the test chooses the handles: the next incarnation can take an
// index at once.
typedef struct place {
    scarce_memory memory;
    base_owner* past; // of the rewind
    ecs_world* world;
    net_rows* rows;
    net_rewind* rewind;
    base_workers* workers;
    uint32_t rate;
    ecs_template_id mover, mover_spinner, mover_local, plain;
    ecs_component_id pos, hp, aim, spin;
    ecs_tick tick;
    uint32_t index_max;
    ecs_entity newest[PLACE_INDICES_MAX + 1]; // the newest incarnation of each index
} place;

static void open_rewind(place* at) {
    at->past = base_owner_create(&at->memory.allocator, sizeof *at->past);
    at->rewind = net_rewind_create(&at->past->allocator, at->rows, at->world, at->rate);
}

static void open(place* at, uint32_t rate, uint32_t index_max) {
    memset(at, 0, sizeof *at);
    scarce_init(&at->memory);
    at->rate = rate;
    at->index_max = index_max;
    at->world = schema_world(TEXT, (schema_wanted){.is_mirror = true, .index_max = index_max});
    assert_ok(net_rows_create(NULL, at->world, test_reporter(), &at->rows));
    at->mover = ecs_template_find(at->world, "mover");
    at->plain = ecs_template_find(at->world, "plain");
    at->mover_spinner = ecs_template_find(at->world, "mover+spinner");
    at->mover_local = ecs_template_find(at->world, "mover+local");
    at->pos = ecs_component_find(at->world, "pos");
    at->hp = ecs_component_find(at->world, "hp");
    at->aim = ecs_component_find(at->world, "aim");
    at->spin = ecs_component_find(at->world, "spin");
    open_rewind(at);
}

static void shut(place* at) {
    base_owner_destroy(at->past);
    base_owner_destroy(at->rows);
    ecs_world_destroy(at->world);
}

#define PLACE_CASE(name, rate, index_max)                                                          \
    CASE_WITH(place, at, open(at, rate, index_max), shut(at), name)

static void step(place* at) {
    const ecs_step now = {.tick = ++at->tick, .dt = 0.5f};
    ecs_world_step(at->world, &now);
    net_rewind_step(at->rewind, at->world, at->tick, at->workers);
    ecs_changes_clear(at->world);
}

static ecs_entity create(place* at, ecs_template_id id) {
    for (uint32_t index = 1; index <= at->index_max; index++) {
        ecs_entity before = at->newest[index];
        if (before != ECS_ENTITY_NONE && ecs_is_alive(at->world, before)) continue;
        uint32_t generation = ecs_entity_generation(before) % ECS_GENERATION_MAX + 1;
        at->newest[index] = ecs_entity_make(index, generation);
        assert_ok(ecs_create_at(at->world, at->newest[index], id, NULL, 0));
        return at->newest[index];
    }
    fail();
    return ECS_ENTITY_NONE;
}

static void move(place* at, ecs_entity entity, float x, float y) {
    assert_ok(ecs_set(at->world, entity, at->pos, &(ecs_vec2){x, y}));
}

static bool look(const place* at, ecs_tick tick, float fraction, ecs_entity entity, float* x) {
    ecs_vec2 value = {NAN, NAN};
    bool is_there = net_rewind_get(at->rewind, tick, fraction, entity, at->pos, &value);
    *x = value.x;
    return is_there;
}

static void assert_x(const place* at, ecs_tick tick, float fraction, ecs_entity entity, float x) {
    float seen;
    assert_true(look(at, tick, fraction, entity, &seen));
    if (seen != x) print_error("tick %u + %g: %g, not %g\n", (unsigned)tick, fraction, seen, x);
    assert_true(seen == x);
}

static void assert_absent(const place* at, ecs_tick tick, float fraction, ecs_entity entity) {
    float seen;
    assert_false(look(at, tick, fraction, entity, &seen));
    assert_true(isnan(seen));
}

// ---- the model ----

enum { MODEL_INDICES = 48, MODEL_HANDLES = 4096 };

typedef struct model_entity {
    ecs_entity handle;
    ecs_template_id look; // the template that the wire shows
    ecs_vec2 pos;
    float aim, spin;
} model_entity;

typedef struct model_tick {
    model_entity entities[MODEL_INDICES + 1];
} model_tick;

typedef struct model {
    model_tick* ticks;
    ecs_entity handles[MODEL_HANDLES];
    uint32_t handle_count;
} model;

static float round_pos(float value) {
    double inside = value < -1024 ? -1024 : value > 1024 ? 1024 : value;
    double q = (double)(int64_t)((inside + 1024) / 0.0625 + 0.5);
    return (float)(-1024 + q * 0.0625);
}

static void model_take(model* self, const place* at) {
    model_tick* now = &self->ticks[at->tick];
    memset(now, 0, sizeof *now);
    for (ecs_entity e = ecs_entity_next(at->world, ECS_ENTITY_NONE); e != ECS_ENTITY_NONE;
         e = ecs_entity_next(at->world, e)) {
        ecs_template_id id = ecs_entity_template(at->world, e);
        if (id == at->plain || ecs_entity_index(e) > MODEL_INDICES) continue;
        model_entity* kept = &now->entities[ecs_entity_index(e)];
        kept->handle = e;
        kept->look = id == at->mover_local ? at->mover : id;
        const ecs_vec2* pos = ecs_get(at->world, e, at->pos);
        kept->pos = (ecs_vec2){round_pos(pos->x), round_pos(pos->y)};
        kept->aim = *(const float*)ecs_get(at->world, e, at->aim);
        const float* spin = ecs_find(at->world, e, at->spin);
        kept->spin = spin ? *spin : 0;
    }
}

static float mix(float from, float to, double part) {
    return (float)((double)from + ((double)to - (double)from) * part);
}

// Look up an entity in the model. The moment is in 1/256 ticks and already clamped.
static bool model_look(const model* self, const place* at, uint64_t moment, ecs_entity entity,
                       ecs_component_id component, float value[2]) {
    uint32_t index = ecs_entity_index(entity);
    const model_entity* from = &self->ticks[moment / 256].entities[index];
    if (moment / 256 == 0 || from->handle != entity) return false;
    if (component == at->hp || (component == at->spin && from->look == at->mover)) return false;
    double part = (double)(moment % 256) / 256;
    const model_entity* to = part > 0 ? &self->ticks[moment / 256 + 1].entities[index] : from;
    if (to->handle != entity || to->look != from->look) to = from;
    if (component == at->pos) {
        double dx = to->pos.x - from->pos.x, dy = to->pos.y - from->pos.y;
        if (dx * dx + dy * dy > 20 * 20) to = from;
        value[0] = mix(from->pos.x, to->pos.x, part);
        value[1] = mix(from->pos.y, to->pos.y, part);
        return true;
    }
    value[0] =
        component == at->aim ? mix(from->aim, to->aim, part) : mix(from->spin, to->spin, part);
    return true;
}

static ecs_entity any_living(const place* at, base_rng* rng) {
    uint32_t skip = base_rng_below(rng, ecs_world_entity_count(at->world) + 1);
    ecs_entity e = ecs_entity_next(at->world, ECS_ENTITY_NONE);
    while (skip-- > 0 && e != ECS_ENTITY_NONE)
        e = ecs_entity_next(at->world, e);
    return e;
}

static void meddle(place* at, model* self, base_rng* rng) {
    uint32_t dice = base_rng_below(rng, 16);
    ecs_entity one = any_living(at, rng);
    const ecs_template_id ids[] = {at->mover, at->mover_spinner, at->mover_local, at->plain};
    if (dice < 3 && ecs_world_entity_count(at->world) < MODEL_INDICES - 8) {
        ecs_entity made = create(at, ids[base_rng_below(rng, 4)]);
        if (self->handle_count < MODEL_HANDLES) self->handles[self->handle_count++] = made;
        return;
    }
    if (one == ECS_ENTITY_NONE) return;
    if (dice == 3) {
        assert_ok(ecs_destroy(at->world, one));
    } else if (dice == 4) {
        assert_ok(ecs_recreate(at->world, one, ids[base_rng_below(rng, 4)], NULL, 0));
    } else if (ecs_entity_template(at->world, one) != at->plain) {
        const ecs_vec2* pos = ecs_get(at->world, one, at->pos);
        float length = dice == 5 ? 400.0f : dice < 8 ? 0.01f : 15.0f;
        move(at, one, pos->x + (base_rng_float(rng) - 0.5f) * length,
             pos->y + (base_rng_float(rng) - 0.5f) * length);
        float turn = base_rng_float(rng);
        if (dice > 10) assert_ok(ecs_set(at->world, one, at->aim, &turn));
        if (dice > 12 && ecs_find(at->world, one, at->spin))
            assert_ok(ecs_set(at->world, one, at->spin, &turn));
    }
}

static void ask(const place* at, const model* self, base_rng* rng) {
    uint64_t present = at->tick * 256, reach = (uint64_t)at->rate * 128;
    uint64_t oldest = present > reach ? present - reach : 0;
    uint64_t moment = oldest + base_rng_below(rng, (uint32_t)(present - oldest) + 1);
    if (base_rng_chance(rng, 0.3)) moment = moment / 256 * 256;
    uint64_t asked = moment;
    if (base_rng_chance(rng, 0.1)) asked = present + base_rng_below(rng, 1000);
    if (base_rng_chance(rng, 0.1)) asked = base_rng_below(rng, (uint32_t)oldest + 1);
    uint64_t clamped = asked > present ? present : asked < oldest ? oldest : asked;
    assert_true(net_rewind_clamp(at->rewind, asked) == clamped);
    const ecs_component_id components[] = {at->pos, at->aim, at->spin, at->hp};
    ecs_component_id component = components[base_rng_below(rng, 4)];
    if (self->handle_count == 0) return;
    uint32_t young = self->handle_count > 60 && base_rng_chance(rng, 0.8) ? 60 : self->handle_count;
    ecs_entity entity = self->handles[self->handle_count - 1 - base_rng_below(rng, young)];
    float expected[2] = {NAN, NAN}, seen[2] = {NAN, NAN};
    bool is_there = model_look(self, at, clamped, entity, component, expected);
    assert_int_equal(net_rewind_get(at->rewind, asked / 256, (float)(asked % 256) / 256.0f, entity,
                                    component, seen),
                     is_there);
    assert_memory_equal(seen, expected, sizeof seen);
}

static void restore_elsewhere(place* at) {
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    net_rewind_save(at->rewind, at->world, &bytes, at->workers);
    base_owner_destroy(at->past);
    open_rewind(at);
    for (size_t cut = 0; cut < bytes.size; cut += 1 + bytes.size / 16) {
        base_reader reader = base_reader_make(bytes.data, cut);
        assert_int_equal(net_rewind_restore(at->rewind, at->world, &reader), NET_ERR_MALFORMED);
    }
    base_reader reader = base_reader_make(bytes.data, bytes.size);
    assert_ok(net_rewind_restore(at->rewind, at->world, &reader));
    assert_int_equal(base_reader_left(&reader), 0);
    base_bytes_deinit(&bytes);
}

CASE(every_answer_is_that_of_a_model_that_keeps_everything) {
    static const uint32_t rates[] = {1, 15, 30, 60, 240};
    uint32_t ticks = test_scaled(900, 300);
    for (uint32_t i = 0; i < BASE_COUNT(rates); i++) {
        uint64_t seed = 1000 + rates[i];
        base_rng rng = test_rng(seed, 3);
        place at;
        static model self;
        self = (model){.ticks = calloc(ticks + 1, sizeof(model_tick))};
        assert_non_null(self.ticks);
        open(&at, rates[i], MODEL_INDICES);
        for (uint32_t t = 0; t < ticks; t++) {
            bool is_quiet = t % 200 > 150;
            for (uint32_t k = 0; k < 12 && !is_quiet; k++)
                meddle(&at, &self, &rng);
            step(&at);
            model_take(&self, &at);
            if (t % 250 == 120) restore_elsewhere(&at);
            for (uint32_t k = 0; k < 100; k++)
                ask(&at, &self, &rng);
        }
        shut(&at);
        free(self.ticks);
    }
}

// The save has every state.
static uint64_t play_many(base_workers* workers) {
    place at;
    open(&at, 60, PLACE_INDICES_MAX);
    at.workers = workers;
    base_rng rng = base_rng_make(4, 4);
    for (uint32_t i = 0; i < PLACE_INDICES_MAX; i++)
        (void)create(&at, i % 3 ? at.mover : at.mover_spinner);
    for (uint32_t t = 0; t < 50; t++) {
        for (uint32_t k = 0; k < PLACE_INDICES_MAX; k++) {
            const ecs_entity one = at.newest[1 + base_rng_below(&rng, PLACE_INDICES_MAX)];
            move(&at, one, (float)base_rng_below(&rng, 100), (float)t);
            if (k % 3 == 0) *(float*)ecs_get_mut(at.world, one, at.aim) += 0.5f;
            if (k % 100 == 50) {
                assert_ok(ecs_destroy(at.world, one));
                (void)create(&at, at.mover);
            }
        }
        step(&at);
    }
    net_rewind_validate(at.rewind);
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    net_rewind_save(at.rewind, at.world, &bytes, workers);
    const uint64_t hash = base_hash64(bytes.data, bytes.size, 0);
    assert_true(bytes.size > 10000);
    base_bytes_deinit(&bytes);
    shut(&at);
    return hash;
}

CASE(the_past_is_the_same_on_any_number_of_threads) { // B10
    const uint64_t expected = play_many(NULL);
    static const uint32_t threads[] = {1, 2, 3, 8, BASE_WORKERS_MAX};
    for (uint32_t i = 0; i < BASE_COUNT(threads); i++) {
        base_workers* workers = base_workers_create(NULL, threads[i]);
        assert_non_null(workers);
        assert_true(play_many(workers) == expected);
        base_workers_set_eager(workers);
        assert_true(play_many(workers) == expected);
        base_workers_destroy(workers);
    }
}

// ---- limits ----

PLACE_CASE(a_fraction_that_is_none_is_its_nearest_end, 60, 100) {
    ecs_entity one = create(at, at->mover);
    for (uint32_t t = 1; t <= 100; t++) {
        move(at, one, (float)t, 0);
        step(at);
    }
    assert_x(at, 90, NAN, one, 90);
    assert_x(at, 90, -3, one, 90);
    assert_x(at, 90, -INFINITY, one, 90);
    assert_x(at, 90, 1, one, 91);
    assert_x(at, 90, INFINITY, one, 91);
    assert_x(at, 99, 2, one, 100);
    assert_x(at, 69, 1, one, 70);
    assert_x(at, 69, 0.99f, one, 70); // one tick too old
}

PLACE_CASE(before_the_first_step_nothing_is_known, 60, 100) {
    ecs_entity one = create(at, at->mover);
    assert_absent(at, 0, 0, one);
    assert_int_equal(at->rewind->tick, 0);
    assert_true(net_rewind_clamp(at->rewind, 77) == 0);
    step(at);
    assert_x(at, 1, 0, one, 1);
    assert_absent(at, 0, 0.99f, one);
    assert_absent(at, 1, 0, ECS_ENTITY_NONE);
    assert_absent(at, 1, 0, ecs_entity_make(99, 1));
    assert_absent(at, 1, 0, ECS_INDEX_MAX);
}

// ---- movement ----

static size_t ring_bytes(const net_rewind* rewind) {
    size_t bytes = rewind->ring_capacity * sizeof *rewind->rings;
    for (uint32_t i = 0; i < rewind->ring_capacity; i++)
        bytes += rewind->rings[i].bytes_allocated;
    return bytes;
}

PLACE_CASE(a_steady_world_takes_no_memory_and_a_resting_one_hardly_any, 240, 100) {
    enum { COUNT = 60 };
    ecs_entity all[COUNT];
    base_rng rng = base_rng_make(1, 1);
    for (uint32_t i = 0; i < COUNT; i++)
        all[i] = create(at, at->mover_spinner);
    for (uint32_t t = 0; t < 500; t++)
        step(at);
    size_t resting = ring_bytes(at->rewind);
    assert_true(resting < 128 * 24 + COUNT * 4 * 64);
    uint64_t before = 0;
    for (uint32_t t = 0; t < 4000; t++) {
        for (uint32_t i = 0; i < COUNT; i++)
            move(at, all[i], (float)(t % 100), (float)i);
        // Entities are created and destroyed on all indices.
        uint32_t one = base_rng_below(&rng, COUNT);
        assert_ok(ecs_destroy(at->world, all[one]));
        all[one] = create(at, t % 2 ? at->mover : at->mover_spinner);
        step(at);
        if (t == 3000) before = at->memory.calls;
    }
    assert_int_equal(at->memory.calls, before);
    assert_true(ring_bytes(at->rewind) < 128 * 24 + 100 * 128 * 64);
}

// 500 ms after the last of many entities was destroyed, the rewind keeps nothing of them. New
// entities use the memory that they had.
PLACE_CASE(what_died_is_given_back_when_nobody_may_ask_any_more, 60, 100) {
    enum { COUNT = 80 };
    ecs_entity all[COUNT];
    uint64_t asked = 0;
    size_t empty = 0;
    for (uint32_t round = 0; round < 5; round++) {
        for (uint32_t i = 0; i < COUNT; i++)
            all[i] = create(at, at->mover);
        for (uint32_t t = 0; t < 40; t++) {
            for (uint32_t i = 0; i < COUNT; i++)
                move(at, all[i], (float)t, (float)i);
            step(at);
        }
        size_t living = ring_bytes(at->rewind);
        for (uint32_t i = 0; i < COUNT; i++)
            assert_ok(ecs_destroy(at->world, all[i]));
        step(at);
        for (uint32_t t = 0; t < 29; t++)
            step(at);
        assert_int_equal(ring_bytes(at->rewind), living); // 500 ms are 30 ticks
        for (uint32_t t = 0; t < 5; t++)
            step(at);
        if (round == 0) empty = ring_bytes(at->rewind);
        assert_true(empty < living / 8);
        assert_int_equal(ring_bytes(at->rewind), empty);
        if (round == 1) asked = at->memory.calls;
    }
    assert_int_equal(at->memory.calls, asked);
}

PLACE_CASE(a_step_back_in_time_is_refused, 60, 10) {
    step(at);
    expect_assert_failure(net_rewind_step(at->rewind, at->world, 1, NULL));
}

PLACE_CASE(validation_finds_a_state_of_another_index, 60, 10) {
    ecs_entity entity = create(at, at->mover);
    step(at);
    net_rewind_validate(at->rewind);
    net_rewind_newest(&at->rewind->rings[ecs_entity_index(entity)])->handle = entity + 1;
    expect_assert_failure(net_rewind_validate(at->rewind));
}
