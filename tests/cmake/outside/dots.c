// SPDX-License-Identifier: MIT
// dots: a whole game in one file, built against an installation of Shoal. Players steer dots over a
// field and eat pellets; eating one makes a new one appear elsewhere. Read dots.blk first.

#include <ecs/es.h>
#include <net/controls.h>

#include "dots.pb-c.h"

#define WIDTH 640.0f
#define HEIGHT 480.0f
#define SPEED 180.0f // units per second
#define REACH 12.0f
#define PELLETS 40

ES_STRUCT(DotsPlayer)
ES_EVENT(eaten, exported)
ES_MESSAGE(Dots__Eaten, reliable)
typedef struct dots_player {
    uint32_t client;
    uint32_t score;
} dots_player;

// Component of a dot and payload of the event "steer".
ES_STRUCT(DotsSteer)
ES_EVENT(steer)
ES_MESSAGE(Dots__Steer, input)
typedef struct dots_steer {
    int32_t x, y ES_CLAMP(-100, 100);
} dots_steer;

ES_ACTIONS
typedef enum dots_action {
    DOTS_LEFT ES_ACTION("left", "Left,A", "steer to the left"),
    DOTS_RIGHT ES_ACTION("right", "Right,D", "steer to the right"),
    DOTS_UP ES_ACTION("up", "Up,W", "steer up"),
    DOTS_DOWN ES_ACTION("down", "Down,S", "steer down"),
} dots_action;

ES_GAME_CONTEXT(dots)
typedef struct dots_game {
    ecs_component_id pos, player;
    ecs_template_id pellet, dot;
    ecs_event_type eaten;
    ecs_query *eat, *seek; // filled by eat_ecs_query and seek_ecs_query
} dots_game;

typedef struct dots_goal {
    ecs_vec2 way;
    float distance;
} dots_goal;

#include "dots.es.h" // from the functions *_es, *_ecs_query and the structs of this file

ES_GAME("Dots", WIDTH, HEIGHT, .start = start, .player_join = player_join, .bot_think = bot_think,
        .human_input = human_input);

static ecs_vec2 random_place(ecs_world* world) {
    base_rng* rng = ecs_world_rng(world);
    float x = base_rng_float(rng) * WIDTH;
    return (ecs_vec2){x, base_rng_float(rng) * HEIGHT};
}

static void place_pellet(ecs_world* world, const dots_game* game) {
    const ecs_vec2 pos = random_place(world);
    (void)ecs_command_create(world, game->pellet, ECS_INITS({game->pos, &pos}));
}

ES_TAG(server)
ES_ON_EVENT(steer)
static void take_steer_es_event_handler(const dots_steer* event, dots_steer* steer) {
    *steer = *event;
}

// Two dots may reach for the same pellet in one tick: both eat, it dies once.
ES_REQUIRE_NOT(player : DotsPlayer)
static void eat_ecs_query(ES_CONTEXT const ecs_stage* stage, ES_CONTEXT ecs_vec2 dot,
                          ES_CONTEXT dots_player* player, ecs_entity entity, ecs_vec2 pos) {
    const dots_game* game = stage->context;
    if (ecs_vec2_distance(pos, dot) > REACH) return;
    player->score++;
    (void)ecs_event_broadcast(stage->world, game->eaten, player);
    (void)ecs_command_destroy(stage->world, entity);
    place_pellet(stage->world, game);
}

ES_TAG(server)
static void move_dots_es(const ecs_stage* stage, ES_CONTEXT const dots_game* game, ecs_vec2* pos,
                         dots_player* player, const dots_steer* steer) {
    float way = SPEED * stage->dt / 100.0f;
    pos->x = base_clamp(pos->x + (float)steer->x * way, 0.0f, WIDTH);
    pos->y = base_clamp(pos->y + (float)steer->y * way, 0.0f, HEIGHT);
    eat_run(stage->world, game->eat, stage, *pos, player);
}

static void start(ecs_world* world, dots_game* game, const net_game_start* begin) {
    (void)begin;
    for (uint32_t i = 0; i < PELLETS; i++)
        place_pellet(world, game);
    ecs_command_flush(world);
}

static ecs_entity player_join(ecs_world* world, dots_game* game, const net_game_player* player) {
    const dots_player value = {.client = player->client};
    const ecs_vec2 pos = random_place(world);
    ecs_entity entity = ECS_ENTITY_NONE;
    (void)!ecs_create(world, game->dot, ECS_INITS({game->player, &value}, {game->pos, &pos}),
                      &entity);
    return entity;
}

ES_REQUIRE_NOT(player : DotsPlayer)
static void seek_ecs_query(ES_CONTEXT dots_goal* goal, ES_CONTEXT ecs_vec2 from, ecs_vec2 pos) {
    float distance = ecs_vec2_distance(pos, from);
    if (distance < goal->distance) *goal = (dots_goal){ecs_vec2_sub(pos, from), distance};
}

// Straight to the nearest pellet.
static void bot_think(const net_player_context* view, dots_steer* steer) {
    const dots_game* game = view->context;
    const ecs_vec2* pos = ecs_find(view->world, view->player, game->pos);
    if (!pos) return;
    dots_goal goal = {.distance = WIDTH + HEIGHT};
    seek_run(view->world, game->seek, &goal, *pos);
    float factor = 100.0f / base_max(goal.distance, 1.0f);
    *steer = (dots_steer){(int32_t)(goal.way.x * factor), (int32_t)(goal.way.y * factor)};
}

static void human_input(const net_player_context* view, const net_controls* controls,
                        dots_steer* steer) {
    (void)view;
    steer->x = 100 * net_axis(controls, DOTS_LEFT, DOTS_RIGHT);
    steer->y = 100 * net_axis(controls, DOTS_UP, DOTS_DOWN);
}
