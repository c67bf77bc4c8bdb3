// SPDX-License-Identifier: MIT
// The geometry of a ball: touches of boxes, and where the ball lands.

#include "breakout_table.h"

#include "base/math.h"

static const ecs_vec2 LOW = {100.0f, 100.0f};
static const ecs_vec2 HIGH = {160.0f, 120.0f};

static bool sweep(float x, float y, float dx, float dy, breakout_touch* touch) {
    return breakout_sweep((ecs_vec2){x, y}, (ecs_vec2){dx, dy}, 5.0f, LOW, HIGH, touch);
}

static void a_falling_circle_touches_the_upper_edge(void** state) {
    (void)state;
    breakout_touch touch;
    assert_true(sweep(130.0f, 75.0f, 0.0f, 40.0f, &touch));
    assert_float_equal(touch.t, 0.5f, 1e-6f);
    assert_float_equal(touch.normal.x, 0.0f, 0.0f);
    assert_float_equal(touch.normal.y, -1.0f, 0.0f);
}

static void each_edge_has_its_normal(void** state) {
    (void)state;
    breakout_touch touch;
    assert_true(sweep(130.0f, 145.0f, 0.0f, -40.0f, &touch));
    assert_float_equal(touch.normal.y, 1.0f, 0.0f);
    assert_true(sweep(75.0f, 110.0f, 40.0f, 0.0f, &touch));
    assert_float_equal(touch.normal.x, -1.0f, 0.0f);
    assert_true(sweep(185.0f, 110.0f, -40.0f, 0.0f, &touch));
    assert_float_equal(touch.normal.x, 1.0f, 0.0f);
}

static void a_way_that_ends_before_the_box_touches_nothing(void** state) {
    (void)state;
    breakout_touch touch;
    assert_false(sweep(130.0f, 75.0f, 0.0f, 19.9f, &touch));
    assert_false(sweep(130.0f, 75.0f, 0.0f, -40.0f, &touch));
    assert_false(sweep(94.9f, 75.0f, 0.0f, 80.0f, &touch));
}

static void a_corner_is_round(void** state) {
    (void)state;
    breakout_touch touch;
    // The ball moves to the corner along the diagonal. It touches when its centre is 5 away from
    // the corner.
    assert_true(sweep(90.0f, 90.0f, 10.0f, 10.0f, &touch));
    assert_float_equal(touch.normal.x, -0.70710678f, 1e-5f);
    assert_float_equal(touch.normal.y, -0.70710678f, 1e-5f);
    // The ball crosses the square at the corner but passes the arc.
    assert_false(sweep(94.0f, 98.5f, 4.0f, -4.5f, &touch));
}

static void a_circle_that_starts_inside_touches_at_once_unless_it_leaves(void** state) {
    (void)state;
    breakout_touch touch;
    assert_true(sweep(130.0f, 98.0f, 1.0f, 10.0f, &touch));
    assert_float_equal(touch.t, 0.0f, 0.0f);
    assert_float_equal(touch.normal.y, -1.0f, 0.0f);
    assert_false(sweep(130.0f, 98.0f, 1.0f, -10.0f, &touch));
    assert_true(
        // The centre is in the box: the ball takes the shortest way out.
        sweep(130.0f, 101.0f, 0.0f, 10.0f, &touch));
    assert_float_equal(touch.normal.y, -1.0f, 0.0f);
}

static float distance_to_box(ecs_vec2 at) {
    float x = at.x - base_clamp(at.x, LOW.x, HIGH.x);
    float y = at.y - base_clamp(at.y, LOW.y, HIGH.y);
    return base_sqrt(x * x + y * y);
}

static void random_ways_touch_where_the_distance_is_the_radius(void** state) {
    (void)state;
    uint64_t seed = 20261120;
    print_message("seed %llu\n", (unsigned long long)seed);
    base_rng rng = base_rng_make(seed, 1);
    uint32_t touches = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        ecs_vec2 from = {base_rng_float(&rng) * 200.0f + 30.0f,
                         base_rng_float(&rng) * 160.0f + 30.0f};
        ecs_vec2 way = {(base_rng_float(&rng) - 0.5f) * 120.0f,
                        (base_rng_float(&rng) - 0.5f) * 120.0f};
        if (distance_to_box(from) <= 5.0f) continue;
        breakout_touch touch;
        bool is_touched = breakout_sweep(from, way, 5.0f, LOW, HIGH, &touch);
        float end = is_touched ? touch.t : 1.0f;
        if (is_touched) {
            touches++;
            ecs_vec2 at = {from.x + way.x * end, from.y + way.y * end};
            assert_float_equal(distance_to_box(at), 5.0f, 0.01f);
            assert_true(way.x * touch.normal.x + way.y * touch.normal.y < 0.0f);
        }
        // The ball touches nothing earlier.
        for (uint32_t k = 0; k <= 40; k++) {
            float t = end * (float)k / 40.0f;
            ecs_vec2 at = {from.x + way.x * t, from.y + way.y * t};
            assert_true(distance_to_box(at) >= 4.99f);
        }
    }
    print_message("touches %u\n", touches);
    assert_true(touches > 1000);
}

static void a_landing_is_folded_at_the_side_walls(void** state) {
    (void)state;
    ecs_vec2 pos = {600.0f, 350.0f};
    assert_float_equal(breakout_landing_x(pos, (ecs_vec2){100.0f, 100.0f}, 5.0f, 750.0f), 1000.0f,
                       0.01f);
    // 600 + 800 = 1400 is 205 beyond the wall at 1195.
    assert_float_equal(breakout_landing_x(pos, (ecs_vec2){200.0f, 100.0f}, 5.0f, 750.0f), 990.0f,
                       0.01f);
    assert_float_equal(breakout_landing_x(pos, (ecs_vec2){-200.0f, 100.0f}, 5.0f, 750.0f), 210.0f,
                       0.01f);
    // The ball bounces on both walls.
    assert_float_equal(breakout_landing_x(pos, (ecs_vec2){500.0f, 100.0f}, 5.0f, 750.0f), 220.0f,
                       0.05f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_falling_circle_touches_the_upper_edge),
        TEST(each_edge_has_its_normal),
        TEST(a_way_that_ends_before_the_box_touches_nothing),
        TEST(a_corner_is_round),
        TEST(a_circle_that_starts_inside_touches_at_once_unless_it_leaves),
        TEST(random_ways_touch_where_the_distance_is_the_radius),
        TEST(a_landing_is_folded_at_the_side_walls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
