// SPDX-License-Identifier: MIT
// An area of a mirror in another world, against what the definition says: random worlds, and an
// area that moves.
#include "sample_world.h"

enum { INDICES = 200, ROUNDS = 400 };

static void open_mirror(store* at) {
    store_begin(at);
    at->config.is_mirror = true;
    at->config.limits.replicated_index_max = INDICES;
    assert_ok(store_try_open(at));
    store_seal(at);
}

typedef struct twins {
    store a, b;
    float from, to; // of the area
} twins;

static void twins_open(twins* at) {
    at->from = at->to = 0.0f;
    open_mirror(&at->a);
    open_mirror(&at->b);
}

static void twins_close(twins* at) {
    store_close(&at->a);
    store_close(&at->b);
}

#define TWINS_CASE(name) CASE_WITH(twins, at, twins_open(at), twins_close(at), name)

static bool is_in_area(const ecs_world* world, void* context, ecs_entity entity) {
    const twins* at = context;
    const ecs_vec2* pos = ecs_find(world, entity, at->a.pos);
    return pos && pos->x >= at->from && pos->x < at->to;
}

static bool belongs(twins* at, ecs_entity entity) {
    return ecs_is_alive(at->a.world, entity) && ecs_entity_index(entity) <= INDICES &&
           is_in_area(at->a.world, at, entity);
}

static void check_values(twins* at, ecs_entity entity) {
    const ecs_template_id of = ecs_entity_template(at->a.world, entity);
    assert_int_equal(ecs_entity_template(at->b.world, entity), of);
    const ecs_template* template_of = ecs_template_get(at->a.world, of);
    for (uint32_t i = 0; i < template_of->component_count; i++) {
        const ecs_component_id id = template_of->components[i].component;
        const ecs_type* type = ecs_type_get(at->a.world, ecs_component_get(at->a.world, id)->type);
        const void* value = ecs_find(at->a.world, entity, id);
        if (type->size > 0)
            assert_true(ecs_type_equal(type, value, ecs_find(at->b.world, entity, id)));
    }
}

static void check_part(twins* at) {
    uint32_t count = 0;
    for (ecs_entity each = ecs_entity_next(at->a.world, ECS_ENTITY_NONE); each != ECS_ENTITY_NONE;
         each = ecs_entity_next(at->a.world, each)) {
        assert_int_equal(ecs_is_alive(at->b.world, each), belongs(at, each));
        if (!belongs(at, each)) continue;
        check_values(at, each);
        count++;
    }
    assert_int_equal(ecs_world_entity_count(at->b.world), count);
    assert_int_equal(ecs_world_tick(at->b.world), ecs_world_tick(at->a.world));
    ecs_world_validate(at->b.world);
    store_step(&at->b);
    assert_true(ecs_world_state_hash_walk(at->b.world) == ecs_world_state_hash(at->b.world));
}

static void change(twins* at, base_rng* rng, uint32_t* generations) {
    const ecs_template_id templates[] = {at->a.thing, at->a.sign, at->a.rock, at->a.solid,
                                         at->a.named};
    const uint32_t index = 1 + base_rng_below(rng, INDICES);
    ecs_entity entity = ecs_entity_make(index, generations[index]);
    if (ecs_is_alive(at->a.world, entity) && base_rng_below(rng, 3) == 0) {
        assert_ok(ecs_destroy(at->a.world, entity));
    } else if (!ecs_is_alive(at->a.world, entity)) {
        entity = ecs_entity_make(index, ++generations[index]);
        assert_ok(ecs_create_at(at->a.world, entity,
                                templates[base_rng_below(rng, BASE_COUNT(templates))], NULL, 0));
    } else if (base_rng_below(rng, 8) == 0) {
        assert_ok(ecs_recreate(at->a.world, entity, at->a.thing, NULL, 0));
    }
    ecs_vec2* pos = ecs_find_mut(at->a.world, entity, at->a.pos);
    if (pos) pos->x = base_rng_float(rng) * 100.0f;
    if (ecs_find(at->a.world, entity, at->a.title))
        store_set_text(&at->a, entity, at->a.title,
                       base_rng_below(rng, 2) ? "x" : "a longer title");
}

TWINS_CASE(a_part_is_what_is_in_the_area_with_its_values) {
    base_rng rng = base_rng_make(7, 1);
    uint32_t generations[INDICES + 1] = {0};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < 10; i++)
            change(at, &rng, generations);
        if (round % 50 == 0) (void)store_create(&at->a, at->a.ball); // local: in no part
        store_step(&at->a);
        at->from = base_rng_float(&rng) * 80.0f;
        at->to = at->from + base_rng_float(&rng) * 40.0f;
        assert_ok(ecs_world_copy_area(at->b.world, at->a.world, is_in_area, at));
        check_part(at);
    }
}

TWINS_CASE(a_part_that_stays_allocates_nothing) {
    base_rng rng = base_rng_make(8, 1);
    uint32_t generations[INDICES + 1] = {0};
    for (uint32_t i = 0; i < 300; i++)
        change(at, &rng, generations);
    at->to = 50.0f;
    assert_ok(ecs_world_copy_area(at->b.world, at->a.world, is_in_area, at));
    const uint64_t before = at->b.memory.calls;
    for (uint32_t round = 0; round < 10; round++) {
        for (ecs_entity each = ecs_entity_next(at->a.world, ECS_ENTITY_NONE);
             each != ECS_ENTITY_NONE; each = ecs_entity_next(at->a.world, each)) {
            ecs_vec2* pos = ecs_find_mut(at->a.world, each, at->a.pos);
            if (pos) pos->y += 1.0f;
        }
        assert_ok(ecs_world_copy_area(at->b.world, at->a.world, is_in_area, at));
    }
    assert_int_equal(at->b.memory.calls, before);
    check_part(at);
}

TWINS_CASE(events_that_wait_come_with_their_target) {
    const ecs_entity near = ecs_entity_make(1, 1), far = ecs_entity_make(2, 1);
    assert_ok(ecs_create_at(at->a.world, near, at->a.thing, NULL, 0));
    assert_ok(ecs_create_at(at->a.world, far, at->a.thing, NULL, 0));
    ((ecs_vec2*)ecs_find_mut(at->a.world, far, at->a.pos))->x = 60.0f;
    at->to = 50.0f;
    const store_hit hit = {near, 3};
    assert_true(ecs_event_send(at->a.world, near, at->a.hit, &hit));
    assert_true(ecs_event_send(at->a.world, far, at->a.hit, &hit));
    assert_ok(ecs_world_copy_area(at->b.world, at->a.world, is_in_area, at));
    assert_int_equal(ecs_events_count(at->a.world->events), 2);
    assert_int_equal(ecs_events_count(at->b.world->events), 1);
}
