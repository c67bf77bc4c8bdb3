// SPDX-License-Identifier: MIT
// The picture of cubes, drawn into counters instead of a window. Drawing does not change the
// simulation.

#include "cubes_table.h"
#include "recorder.h"

#include "view.h"

static void draw_triangles(void* context, const float* points, const ecs_color* colors,
                           uint32_t count) {
    recorder* r = context;
    assert_true(count > 0 && count % 3 == 0);
    for (uint32_t i = 0; i < count; i++) {
        // No NaN, nothing from behind the eye, no transparency.
        assert_true(is_within(points[i * 2], -4000.0f, 5000.0f));
        assert_true(is_within(points[i * 2 + 1], -4000.0f, 5000.0f));
        assert_true(colors[i].a == 255 || count == 3); // except the shade behind texts
    }
    r->points += count;
}

static recorder render(net_match* match, ecs_entity player, double tick) {
    recorder r;
    net_draw draw = recorder_draw(&r, player, tick);
    draw.triangles = draw_triangles;
    recorder_run(match, &draw);
    return r;
}

CUBES_CASE(the_picture_shows_the_cubes_from_outside_inside_and_below, 1, true, NULL) {
    static const float pitches[] = {0.3f, -1.45f, 1.45f, 0.0f};
    static const float distances[] = {230.0f, 8.0f, 400.0f, 90.0f};
    table_join(t, 1, "Ada");
    table_join(t, 2, "Bob");
    table_steps(t, 300);
    for (uint32_t i = 0; i < BASE_COUNT(pitches) * BASE_COUNT(distances); i++) {
        const cubes_orbit orbit = {(float)i * 0.39f - 3.1f, pitches[i % 4], distances[i / 4]};
        ecs_entity camera = net_match_player(t->match, 1);
        assert_ok(ecs_set(table_world(t), camera, table_game(t)->orbit, &orbit));
        recorder r = render(t->match, camera, 300.5);
        assert_true(r.points >= 6 * 100);
        assert_true(r.points <= 18 * table_game(t)->view->drawn_count + 3);
        assert_int_equal(r.rects, 45);
        assert_true(r.texts >= 2);
        assert_true(table_game(t)->view->drawn_count <= table_game(t)->view->item_count);
        // The nearest cube is first. The painter walks the list backwards.
        const cubes_view* view = table_game(t)->view;
        for (uint32_t k = 1; k < view->drawn_count; k++) {
            float step =
                view->items[view->visible[k]].at.z - view->items[view->visible[k - 1]].at.z;
            assert_true(step > -0.25f);
        }
    }
    // A spectator sees the cubes too.
    assert_true(render(t->match, ECS_ENTITY_NONE, 300.5).points > 1000);
}

CUBES_CASE(drawing_changes_nothing_that_counts, 1, true, SETTINGS("cubes=500")) {
    table_steps(t, 100);
    uint64_t motion = motion_hash(t->match);
    uint64_t world = ecs_world_hash(net_match_world(t->match));
    recorder first = render(t->match, ECS_ENTITY_NONE, 100.25);
    recorder again = render(t->match, ECS_ENTITY_NONE, 100.25);
    assert_memory_equal(&first, &again, sizeof first);
    assert_true(motion_hash(t->match) == motion);
    assert_true(ecs_world_hash(net_match_world(t->match)) == world);
}
