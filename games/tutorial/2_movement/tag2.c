// SPDX-License-Identifier: MIT
// Things that move. The server moves them, clients show them.

#include <ecs/ecs.h>
#include <ecs/es.h>
#include <net/controls.h>

#include "tag2.pb-c.h"

#define WIDTH 640.0f
#define HEIGHT 480.0f
#define RADIUS 12.0f
#define RUNNERS 8

// A game has one message that is its input. This one says nothing yet.
ES_EVENT(tag_input)
ES_MESSAGE(Tag2__Input, input)
typedef struct tag_input {
    uint32_t nothing ES_LOCAL;
} tag_input;

// Ids, settings and pictures, one for each world and in no save. shoal-esgen fills the ids.
ES_GAME_CONTEXT(tag2)
typedef struct tag_game {
    ecs_component_id pos, vel;
    ecs_template_id runner;
    float grid ES_STEP(runner, pos); // the _step of pos, said in the datablock
} tag_game;

#include "tag2.es.h" // written from this file, in the build

ES_GAME("Tag", WIDTH, HEIGHT, .start = start_match);

static ecs_vec2 random_place(ecs_world* world, const tag_game* game) {
    base_rng* rng = ecs_world_rng(world); // the only chance: a log gives the same match again
    const float x = base_rng_float(rng) * WIDTH, y = base_rng_float(rng) * HEIGHT;
    return ecs_vec2_snap((ecs_vec2){x, y}, game->grid);
}

static void start_match(ecs_world* world, tag_game* game, const net_game_start* begin) {
    (void)begin;
    for (uint32_t i = 0; i < RUNNERS; i++) {
        const ecs_vec2 pos = random_place(world, game);
        const ecs_vec2 vel = ecs_vec2_scale(ecs_direction((float)i), 120.0f);
        (void)ecs_command_create(world, game->runner,
                                 ECS_INITS({game->pos, &pos}, {game->vel, &vel}));
    }
    ecs_command_flush(world);
}

// A system: called for each entity that has pos and vel, in worlds with the tag "server".
ES_TAG(server)
static void move_es(const ecs_stage* stage, ES_CONTEXT const tag_game* game, ecs_vec2* pos,
                    ecs_vec2* vel) {
    *pos = ecs_vec2_add(*pos, ecs_vec2_scale(*vel, stage->dt));
    if (pos->x < RADIUS || pos->x > WIDTH - RADIUS) vel->x = -vel->x;
    if (pos->y < RADIUS || pos->y > HEIGHT - RADIUS) vel->y = -vel->y;
    const ecs_vec2 low = {RADIUS, RADIUS}, high = {WIDTH - RADIUS, HEIGHT - RADIUS};
    *pos = ecs_vec2_snap(ecs_vec2_clamp(*pos, low, high), game->grid);
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
