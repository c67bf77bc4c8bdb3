// SPDX-License-Identifier: MIT
// The picture, drawn into a list instead of a window: what is drawn, where, and that nothing of it
// touches the simulation.

#include "breakout_table.h"

#define TEXTS_MAX 128u

typedef struct recorder {
    uint32_t rects, circles, lines, triangles, texts;
    float low_x, low_y, high_x, high_y; ///< of circles and rects
    char text[TEXTS_MAX][48];
} recorder;

static void see(recorder* r, float x, float y) {
    assert_true(x == x && y == y); // no NaN reaches the screen
    if (x < r->low_x) r->low_x = x;
    if (y < r->low_y) r->low_y = y;
    if (x > r->high_x) r->high_x = x;
    if (y > r->high_y) r->high_y = y;
}

static void draw_rect(void* context, float x, float y, float width, float height, ecs_color color) {
    (void)color;
    recorder* r = context;
    r->rects++;
    assert_true(width > 0.0f && height > 0.0f);
    see(r, x, y);
    see(r, x + width, y + height);
}

static void draw_circle(void* context, float x, float y, float radius, ecs_color color) {
    (void)color;
    recorder* r = context;
    r->circles++;
    assert_true(radius > 0.0f);
    see(r, x, y);
}

static void draw_line(void* context, float x0, float y0, float x1, float y1, float width,
                      ecs_color color) {
    (void)color;
    recorder* r = context;
    r->lines++;
    assert_true(width > 0.0f);
    see(r, x0, y0);
    see(r, x1, y1);
}

static void draw_triangles(void* context, const float* points, const ecs_color* colors,
                           uint32_t count) {
    (void)colors;
    recorder* r = context;
    r->triangles += count / 3;
    assert_int_equal(count % 3, 0);
    for (uint32_t i = 0; i < count; i++)
        see(r, points[i * 2], points[i * 2 + 1]);
}

static void draw_text(void* context, float x, float y, float height, ecs_color color,
                      const char* text) {
    (void)color;
    recorder* r = context;
    assert_true(height > 0.0f);
    see(r, x, y);
    if (r->texts < TEXTS_MAX) snprintf(r->text[r->texts++], sizeof r->text[0], "%s", text);
}

static float text_width(void* context, float height, const char* text) {
    (void)context;
    return (float)strlen(text) * height * 0.5f;
}

static const char* player_name(void* context, uint32_t client) {
    (void)context;
    return client == 1 ? "Ada" : NULL;
}

static bool has_text(const recorder* r, const char* text) {
    for (uint32_t i = 0; i < r->texts; i++) {
        if (strcmp(r->text[i], text) == 0) return true;
    }
    return false;
}

static void render(table* t, recorder* r, ecs_entity player) {
    memset(r, 0, sizeof *r);
    net_draw draw = {
        .size_bytes = sizeof draw,
        .context = r,
        .rect = draw_rect,
        .circle = draw_circle,
        .line = draw_line,
        .triangles = draw_triangles,
        .text = draw_text,
        .text_width = text_width,
        .player = player,
        .time_s = (double)net_match_tick(t->match) / 60.0,
        .frame_dt_s = 1.0f / 60.0f,
        .player_name = player_name,
    };
    ecs_world* world = net_match_world(t->match);
    ecs_step step = {.tick = net_match_tick(t->match), .dt = net_match_dt(t->match), .user = &draw};
    ecs_world_run_stage(world, ecs_stage_find(world, "render"), &step);
}

static void the_picture_shows_bricks_pads_balls_names_and_the_score(void** state) {
    (void)state;
    table t;
    // Server and picture in one world: both sets of systems exist.
    table_open(&t, NULL, 0, 1, NET_ROLE_SERVER, true);
    table_join_bots(&t, 2);
    recorder r;
    for (uint32_t i = 0; i < 600; i++) {
        table_step(&t);
        render(&t, &r, net_match_player(t.match, 1));
    }
    const breakout_match* match = table_match(&t);
    assert_true(r.triangles >= 2u * (uint32_t)match->bricks + 2u);
    assert_true(r.rects >= 5u * (uint32_t)match->bricks);
    assert_true(r.circles >= 10);
    assert_true(has_text(&r, "Ada"));
    assert_true(has_text(&r, "player 2"));
    assert_true(has_text(&r, "SCORE"));
    assert_true(has_text(&r, "LEVEL 1"));
    char score[32];
    snprintf(score, sizeof score, "%06d", match->score);
    assert_true(has_text(&r, score));
    assert_true(r.low_x > -40.0f && r.high_x < 1240.0f && r.low_y > -40.0f && r.high_y < 850.0f);
    table_close(&t);
}

static void a_brick_hit_strikes_sparks(void** state) {
    (void)state;
    table t;
    table_open(&t, NULL, 0, 1, NET_ROLE_SERVER, true);
    table_join_bots(&t, 1);
    recorder r;
    while (t.brick_hits == 0)
        table_step(&t);
    table_step(&t); // the broadcast is heard
    uint32_t sparks = 0;
    for (uint32_t i = 0; i < BREAKOUT_SPARKS; i++) {
        sparks += table_game(&t)->view.sparks[i].life_s > 0.0f;
    }
    assert_true(sparks >= 6);
    render(&t, &r, ECS_ENTITY_NONE);
    uint32_t rects = r.rects;
    for (uint32_t i = 0; i < 90; i++)
        render(&t, &r, ECS_ENTITY_NONE); // they burn out
    assert_true(r.rects < rects);
    table_close(&t);
}

static void the_end_of_a_game_is_announced(void** state) {
    (void)state;
    table t;
    table_open(&t, (const char* const[]){"lives=1", "ball_speed=2"}, 2, 3, NET_ROLE_SERVER, true);
    net_match_join(t.match, 1, "statue", false);
    for (uint32_t i = 0; i < 100000 && t.lives_lost == 0; i++)
        table_step(&t);
    assert_int_equal(t.lives_lost, 1);
    recorder r;
    render(&t, &r, ECS_ENTITY_NONE);
    assert_true(has_text(&r, "GAME OVER"));
    table_close(&t);
}

static void drawing_changes_nothing_of_the_simulation(void** state) {
    (void)state;
    uint64_t hashes[2];
    for (uint32_t run = 0; run < 2; run++) {
        table t;
        table_open(&t, NULL, 0, 5, NET_ROLE_SERVER, true);
        table_join_bots(&t, 4);
        recorder r;
        for (uint32_t i = 0; i < 900; i++) {
            table_step(&t);
            if (run == 1) render(&t, &r, ECS_ENTITY_NONE);
        }
        hashes[run] = ecs_world_hash(net_match_world(t.match));
        table_close(&t);
    }
    assert_true(hashes[0] == hashes[1]);
}

static void an_empty_mirror_can_be_drawn_and_thought_about(void** state) {
    (void)state;
    table t;
    table_open(&t, NULL, 0, 1, NET_ROLE_MIRROR, true);
    recorder r;
    render(&t, &r, ECS_ENTITY_NONE);
    assert_int_equal(r.texts, 0);
    assert_int_equal(r.triangles, 2); // the field
    base_rng rng = base_rng_make(1, 1);
    _Alignas(16) uint8_t memory[NET_BOT_MEMORY_BYTES] = {0};
    net_game_view view = {.size_bytes = sizeof view,
                          .world = net_match_world(t.match),
                          .context = net_match_context(t.match),
                          .dt = net_match_dt(t.match),
                          .rng = &rng,
                          .memory = memory};
    breakout_input input = {0};
    breakout_bot_think(&view, &input);
    assert_int_equal(input.move, 0);
    table_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_picture_shows_bricks_pads_balls_names_and_the_score),
        TEST(a_brick_hit_strikes_sparks),
        TEST(the_end_of_a_game_is_announced),
        TEST(drawing_changes_nothing_of_the_simulation),
        TEST(an_empty_mirror_can_be_drawn_and_thought_about),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
