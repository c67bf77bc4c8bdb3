// SPDX-License-Identifier: MIT
// Who is near against a walk over all; seconds as ticks.

#include "test.h"

#include "sample_world.h"

#include "ecs/geometry.h"
#include "ecs/near.h"
#include "ecs/timer.h"

CASE(who_is_near_is_who_a_walk_over_all_finds) {
    store s;
    store_begin(&s);
    assert_ok(store_try_open(&s));
    const ecs_term terms[] = {{"pos", "p2", ECS_READ}, {"hp", "i", ECS_REQUIRE}};
    ecs_crowd crowd;
    assert_ok(ecs_near_open(&crowd, s.world, terms, 2, 10.0f, 8, 8, 250));
    store_seal(&s);
    base_rng rng = base_rng_make(20261129, 2);
    ecs_vec2 places[300];
    ecs_entity entities[300];
    for (uint32_t i = 0; i < 300; i++) { // every third is not asked for
        const ecs_template_id kinds[] = {s.rock, s.thing, s.ball};
        places[i] = (ecs_vec2){base_rng_float(&rng) * 100.0f - 10.0f, base_rng_float(&rng) * 80.0f};
        entities[i] = ecs_try_create(s.world, kinds[i % 3], ECS_INITS({s.pos, &places[i]}));
    }
    for (uint32_t round = 0; round < 200; round++) {
        const uint32_t moved = base_rng_below(&rng, 300);
        places[moved] = (ecs_vec2){base_rng_float(&rng) * 80.0f, base_rng_float(&rng) * 80.0f};
        *(ecs_vec2*)ecs_get_mut(s.world, entities[moved], s.pos) = places[moved];
        ecs_near_update(&crowd, s.world);
        const ecs_vec2 place = {base_rng_float(&rng) * 80.0f, base_rng_float(&rng) * 80.0f};
        const float radius = base_rng_float(&rng) * 30.0f;
        ecs_near_one found[200];
        const uint32_t count = ecs_near(&crowd, place, radius, found, 200);
        uint32_t expected = 0;
        for (uint32_t i = 0; i < 300; i++) {
            const bool is_near = i % 3 != 2 && ecs_vec2_distance(places[i], place) <= radius;
            uint32_t times = 0;
            for (uint32_t j = 0; j < count; j++)
                times += found[j].entity == entities[i] && found[j].pos.x == places[i].x;
            assert_int_equal(times, is_near);
            expected += is_near;
        }
        assert_int_equal(count, expected);
        assert_int_equal(ecs_near(&crowd, place, radius, found, 3), count < 3 ? count : 3);
    }
    store_close(&s);
}

CASE(seconds_are_ticks_and_a_cooldown_begins_again) {
    ecs_stage stage = {.dt = 1.0f / 60.0f, .tick = 1};
    assert_int_equal(ecs_ticks(&stage, 0.5f), 30);
    assert_int_equal(ecs_ticks(&stage, 0.0f), 1);
    assert_int_equal(ecs_ticks(&stage, -5.0f), 1);
    assert_int_equal(ecs_ticks(&stage, 1e30f), UINT32_MAX);
    uint32_t cooldown = 0, ready = 0;
    for (; stage.tick <= 100; stage.tick++)
        ready += ecs_cooldown_ready(&stage, &cooldown, 0.5f); // at 1, 31, 61, 91
    assert_int_equal(ready, 4);
    assert_int_equal(cooldown, 121);
}
