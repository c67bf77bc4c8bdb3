// SPDX-License-Identifier: MIT
// A world with things in it, and their picture.

#include <ecs/ecs.h>
#include <ecs/es.h>
#include <net/controls.h>

#include "tag1.pb-c.h"

#define WIDTH 640.0f
#define HEIGHT 480.0f
#define RADIUS 12.0f
#define RUNNERS 8

// A game has one message that is its input. This one says nothing yet.
ES_EVENT(tag_input)
ES_MESSAGE(Tag1__Input, input)
typedef struct tag_input {
    uint32_t nothing ES_LOCAL;
} tag_input;

// Ids, settings and pictures, one for each world and in no save. shoal-esgen fills the ids.
ES_GAME_CONTEXT(tag1)
typedef struct tag_game {
    ecs_component_id pos;
    ecs_template_id runner;
} tag_game;

#include "tag1.es.h" // written from this file, in the build

ES_GAME("Tag", WIDTH, HEIGHT, .start = start_match);

static ecs_vec2 random_place(ecs_world* world) {
    base_rng* rng = ecs_world_rng(world); // the only chance: a log gives the same match again
    const float x = base_rng_float(rng) * WIDTH, y = base_rng_float(rng) * HEIGHT;
    return (ecs_vec2){x, y};
}

static void start_match(ecs_world* world, tag_game* game, const net_game_start* begin) {
    (void)begin;
    for (uint32_t i = 0; i < RUNNERS; i++) {
        const ecs_vec2 pos = random_place(world);
        (void)ecs_command_create(world, game->runner, ECS_INITS({game->pos, &pos}));
    }
    ecs_command_flush(world);
}

// ---- the picture: systems of stage "render", which exist only where something draws ----

ES_STAGE(render)
ES_TAG(render)
static void draw_field_es(const ecs_stage* stage) {
    const net_draw* draw = stage->user;
    draw->rect(draw->context, 0.0f, 0.0f, WIDTH, HEIGHT, (ecs_color){20, 28, 44, 255});
}

ES_STAGE(render)
ES_TAG(render)
static void draw_runners_es(const ecs_stage* stage, ecs_vec2 pos) {
    const net_draw* draw = stage->user;
    draw->circle(draw->context, pos.x, pos.y, RADIUS, (ecs_color){90, 170, 255, 255});
}
