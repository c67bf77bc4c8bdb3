// SPDX-License-Identifier: MIT
// Geometry for games: what a moving circle touches, angles, values on a grid.

#include "test.h"

#include "ecs/geometry.h"

static const ecs_vec2 LOW = {100.0f, 100.0f};
static const ecs_vec2 HIGH = {160.0f, 120.0f};

static bool sweep(float x, float y, float dx, float dy, ecs_touch* touch) {
    return ecs_sweep_box((ecs_vec2){x, y}, (ecs_vec2){dx, dy}, 5.0f, LOW, HIGH, touch);
}

CASE(a_way_touches_the_box_or_passes) {
    static const struct {
        const char* what;
        float x, y, dx, dy;
        float t; // negative: nothing is touched; above 1: at any time
        ecs_vec2 normal;
    } rows[] = {
        {"falling on the upper edge", 130, 75, 0, 40, 0.5f, {0, -1}},
        {"rising to the lower edge", 130, 145, 0, -40, 0.5f, {0, 1}},
        {"the left edge", 75, 110, 40, 0, 0.5f, {-1, 0}},
        {"the right edge", 185, 110, -40, 0, 0.5f, {1, 0}},
        {"ends before it", 130, 75, 0, 19.9f, -1, {0, 0}},
        {"away from it", 130, 75, 0, -40, -1, {0, 0}},
        {"beside it", 94.9f, 75, 0, 80, -1, {0, 0}},
        // The ball touches a corner when its centre is 5 away from it: the corner is round.
        {"along the diagonal to a corner", 90, 90, 10, 10, 2, {-0.70710678f, -0.70710678f}},
        {"through the square at the corner, past the arc", 94, 98.5f, 4, -4.5f, -1, {0, 0}},
        {"from within, at once", 130, 98, 1, 10, 0, {0, -1}},
        {"from within, leaving", 130, 98, 1, -10, -1, {0, 0}},
        {"its centre is in the box: the shortest way out", 130, 101, 0, 10, 0, {0, -1}},
    };
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        ecs_touch touch = {-1, {0, 0}};
        const bool is = sweep(rows[i].x, rows[i].y, rows[i].dx, rows[i].dy, &touch);
        if (is != (rows[i].t >= 0.0f)) print_error("%s\n", rows[i].what);
        assert_int_equal(is, rows[i].t >= 0.0f);
        if (!is) continue;
        if (rows[i].t <= 1.0f) assert_float_equal(touch.t, rows[i].t, 1e-6f);
        assert_float_equal(touch.normal.x, rows[i].normal.x, 1e-5f);
        assert_float_equal(touch.normal.y, rows[i].normal.y, 1e-5f);
    }
}

static float distance_to_box(ecs_vec2 at) {
    float x = at.x - base_clamp(at.x, LOW.x, HIGH.x);
    float y = at.y - base_clamp(at.y, LOW.y, HIGH.y);
    return base_sqrt(x * x + y * y);
}

CASE(random_ways_touch_where_the_distance_is_the_radius) {
    base_rng rng = test_rng(20261120, 1);
    uint32_t touches = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        ecs_vec2 from = {base_rng_float(&rng) * 200.0f + 30.0f,
                         base_rng_float(&rng) * 160.0f + 30.0f};
        ecs_vec2 way = {(base_rng_float(&rng) - 0.5f) * 120.0f,
                        (base_rng_float(&rng) - 0.5f) * 120.0f};
        if (distance_to_box(from) <= 5.0f) continue;
        ecs_touch touch;
        bool is_touched = ecs_sweep_box(from, way, 5.0f, LOW, HIGH, &touch);
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

CASE(a_shot_touches_a_circle_where_it_enters) {
    const ecs_vec2 centre = {50.0f, 0.0f};
    ecs_touch touch;
    assert_true(ecs_sweep_circle((ecs_vec2){0, 0}, (ecs_vec2){80, 0}, 10.0f, centre, &touch));
    assert_float_equal(touch.t, 0.5f, 1e-6f);
    assert_float_equal(touch.normal.x, -1.0f, 1e-6f);
    assert_false(ecs_sweep_circle((ecs_vec2){0, 0}, (ecs_vec2){39.9f, 0}, 10.0f, centre, &touch));
    assert_false(ecs_sweep_circle((ecs_vec2){0, 0}, (ecs_vec2){-80, 0}, 10.0f, centre, &touch));
    assert_false(ecs_sweep_circle((ecs_vec2){0, 10.1f}, (ecs_vec2){80, 0}, 10.0f, centre, &touch));
    assert_false(ecs_sweep_circle((ecs_vec2){0, 0}, (ecs_vec2){0, 0}, 10.0f, centre, &touch));
    // Inside at the start: at once.
    assert_true(ecs_sweep_circle((ecs_vec2){45, 0}, (ecs_vec2){80, 0}, 10.0f, centre, &touch));
    assert_float_equal(touch.t, 0.0f, 0.0f);
}

CASE(the_nearest_part_of_a_way_ends_with_the_way) {
    const ecs_vec2 from = {10.0f, 10.0f}, way = {20.0f, 0.0f};
    float distance;
    assert_float_equal(ecs_nearest_on_way(from, way, (ecs_vec2){15, 13}, &distance), 0.25f, 1e-6f);
    assert_float_equal(distance, 3.0f, 1e-6f);
    assert_float_equal(ecs_nearest_on_way(from, way, (ecs_vec2){0, 10}, &distance), 0.0f, 0.0f);
    assert_float_equal(distance, 10.0f, 1e-6f);
    assert_float_equal(ecs_nearest_on_way(from, way, (ecs_vec2){33, 14}, &distance), 1.0f, 0.0f);
    assert_float_equal(distance, 5.0f, 1e-6f);
    assert_float_equal(ecs_nearest_on_way(from, (ecs_vec2){0, 0}, (ecs_vec2){10, 12}, NULL), 0, 0);
}

CASE(an_angle_wraps_into_half_a_turn_to_both_sides) {
    assert_true(ecs_angle_wrap(1.0f) == 1.0f);
    assert_true(ecs_angle_wrap(-BASE_PI) == -BASE_PI);
    assert_true(ecs_angle_wrap(BASE_PI) == -BASE_PI);
    assert_float_equal(ecs_angle_wrap(4.0f), 4.0f - 2.0f * BASE_PI, 1e-6f);
    for (int32_t i = -4000; i <= 4000; i++) {
        float angle = (float)i * 0.05f, wrapped = ecs_angle_wrap(angle);
        assert_true(wrapped >= -BASE_PI && wrapped < BASE_PI);
        assert_float_equal(base_sin(wrapped), base_sin(angle), 1e-4f);
        assert_float_equal(base_cos(wrapped), base_cos(angle), 1e-4f);
    }
    assert_true(ecs_angle_wrap(1e30f) == ecs_angle_wrap(1e30f));
}

CASE(a_turn_takes_the_short_way) {
    assert_float_equal(ecs_angle_between(3.0f, -3.0f), 2.0f * BASE_PI - 6.0f, 1e-5f);
    assert_float_equal(ecs_angle_between(-3.0f, 3.0f), 6.0f - 2.0f * BASE_PI, 1e-5f);
    assert_float_equal(ecs_angle_between(0.5f, 1.5f), 1.0f, 1e-6f);
    assert_float_equal(ecs_angle_turn(3.1f, -3.1f, 0.02f), 3.12f, 1e-5f);
    assert_float_equal(ecs_angle_turn(3.13f, -3.1f, 0.02f), -3.13318f, 1e-4f);
    assert_float_equal(ecs_angle_turn(1.0f, 1.1f, 0.5f), 1.1f, 1e-6f);
}

CASE(a_snapped_value_is_on_the_grid_and_stays) {
    const float step = 0.0625f;
    for (int32_t i = -3000; i < 3000; i++) {
        float value = (float)i * 0.0173f, snapped = ecs_snap(value, step);
        assert_true(base_abs(snapped - value) <= step * 0.5f);
        assert_true(snapped / step == base_floor(snapped / step));
        assert_true(ecs_snap(snapped, step) == snapped);
    }
    assert_true(ecs_snap(0.03125f, step) == 0.0625f); // of two, the larger one
    assert_true(ecs_snap(-0.03125f, step) == 0.0f);
}

CASE(a_room_is_touched_from_within_at_its_nearest_wall) {
    const ecs_vec2 low = {10, 20}, high = {110, 220};
    static const struct {
        ecs_vec2 from, way, normal;
        float t; // negative: nothing is touched
    } cases[] = {
        {{50, 100}, {20, 20}, {0, 0}, -1},
        {{50, 100}, {-70, 0}, {1, 0}, 0.5f},
        {{50, 100}, {110, 0}, {-1, 0}, 0.5f},
        {{50, 100}, {0, -150}, {0, 1}, 0.5f},
        {{50, 100}, {0, 230}, {0, -1}, 0.5f},
        {{50, 100}, {110, -300}, {0, 1}, 0.25f},
        {{15, 25}, {-1, -1}, {1, 0}, 0},
        {{15, 100}, {3, 0}, {0, 0}, -1},
        {{12, 100}, {-1, 0}, {1, 0}, 0} /* within the wall: at once */,
    };
    ecs_vec2 least, most;
    ecs_sweep_reach((ecs_vec2){50, 100}, (ecs_vec2){-30, 20}, 5.0f, &least, &most);
    assert_true(least.x == 15.0f && least.y == 95.0f && most.x == 55.0f && most.y == 125.0f);
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        ecs_touch touch = {-1, {0, 0}};
        bool is = ecs_sweep_room(cases[i].from, cases[i].way, 5.0f, low, high, &touch);
        assert_int_equal(is, cases[i].t >= 0.0f);
        assert_float_equal(touch.t, cases[i].t, 1e-6f);
        if (!is) continue;
        assert_true(touch.normal.x == cases[i].normal.x && touch.normal.y == cases[i].normal.y);
    }
}

// The place of a fold is where a ball is that bounces step by step.
CASE(a_fold_ends_where_bounces_end) {
    for (int32_t reach = -700; reach <= 900; reach += 7) {
        float at = 30.0f, way = reach < 30 ? -1.0f : 1.0f;
        for (int32_t i = 30; i != reach; i += reach < 30 ? -1 : 1) {
            if (at + way < 10.0f || at + way > 110.0f) way = -way;
            at += way;
        }
        assert_float_equal(ecs_fold((float)reach, 10.0f, 110.0f), at, 1e-3f);
    }
}

CASE(a_wall_throws_back_and_a_fade_has_no_corner) {
    const ecs_vec2 back = ecs_vec2_reflect((ecs_vec2){3, -4}, (ecs_vec2){0, 1});
    assert_true(back.x == 3.0f && back.y == 4.0f);
    const ecs_vec2 corner = ecs_vec2_reflect((ecs_vec2){-2, 0}, (ecs_vec2){0.6f, 0.8f});
    assert_float_equal(corner.x, -0.56f, 1e-6f);
    assert_float_equal(corner.y, 1.92f, 1e-6f);
    assert_true(ecs_fade(-9.0f, 2.0f, 6.0f) == 1.0f && ecs_fade(2.0f, 2.0f, 6.0f) == 1.0f);
    assert_true(ecs_fade(6.0f, 2.0f, 6.0f) == 0.0f && ecs_fade(99.0f, 2.0f, 6.0f) == 0.0f);
    assert_float_equal(ecs_fade(4.0f, 2.0f, 6.0f), 0.5f, 1e-6f);
    assert_true(1.0f - ecs_fade(2.01f, 2.0f, 6.0f) < 1e-4f); // flat at its ends
    assert_true(ecs_fade(5.99f, 2.0f, 6.0f) < 1e-4f);
}
