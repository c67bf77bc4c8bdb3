// SPDX-License-Identifier: MIT
// Players: who joins gets a runner, and keys or a bot move it. The own runner moves at once.

#include <ecs/ecs.h>
#include <ecs/es.h>
#include <net/controls.h>

#include "tag3.pb-c.h"

#define WIDTH 640.0f
#define HEIGHT 480.0f
#define RADIUS 12.0f
#define SPEED 160.0f // units per second

// Component "input" of a runner, and what its client sends in each tick.
ES_STRUCT(TagInput)
ES_EVENT(tag_input)
ES_MESSAGE(Tag3__Input, input)
typedef struct tag_input {
    int32_t x, y ES_CLAMP(-1, 1);
} tag_input;

ES_ACTIONS
typedef enum tag_action {
    TAG_LEFT ES_ACTION("left", "Left,A", "run to the left", "DPLeft,LeftX-"),
    TAG_RIGHT ES_ACTION("right", "Right,D", "run to the right", "DPRight,LeftX+"),
    TAG_UP ES_ACTION("up", "Up,W", "run up", "DPUp,LeftY-"),
    TAG_DOWN ES_ACTION("down", "Down,S", "run down", "DPDown,LeftY+"),
} tag_action;

// Ids, settings and pictures, one for each world and in no save. shoal-esgen fills the ids.
ES_GAME_CONTEXT(tag3)
typedef struct tag_game {
    ecs_component_id pos, owner;
    ecs_template_id runner;
    ecs_query* nearest;              // filled by the functions nearest_ecs_query
    float grid ES_STEP(runner, pos); // the _step of pos, said in the datablock
} tag_game;

typedef struct tag_goal {
    ecs_vec2 way;
    float distance;
} tag_goal;

#include "tag3.es.h" // written from this file, in the build

ES_GAME("Tag", WIDTH, HEIGHT, .player_join = player_join, .bot_think = bot_think,
        .human_input = human_input, .predict = predict);

static ecs_vec2 random_place(ecs_world* world, const tag_game* game) {
    base_rng* rng = ecs_world_rng(world); // the only chance: a log gives the same match again
    const float x = base_rng_float(rng) * WIDTH, y = base_rng_float(rng) * HEIGHT;
    return ecs_vec2_snap((ecs_vec2){x, y}, game->grid);
}

static ecs_entity player_join(ecs_world* world, tag_game* game, const net_game_player* player) {
    const ecs_vec2 pos = random_place(world, game);
    ecs_entity entity = ECS_ENTITY_NONE; // when the world is full, the player watches
    (void)!ecs_create(world, game->runner,
                      ECS_INITS({game->pos, &pos}, {game->owner, &player->client}), &entity);
    return entity;
}

// Inputs are events: a tick has none, one or several. The component keeps the newest, so that a
// runner moves once per tick, however often its client sends.
ES_TAG(server | predict)
ES_ON_EVENT(tag_input)
static void take_input_es_event_handler(const tag_input* event, tag_input* input) {
    *input = *event;
}

ES_TAG(server | predict)
static void move_es(const ecs_stage* stage, ES_CONTEXT const tag_game* game, ecs_vec2* pos,
                    const tag_input* input) {
    const ecs_vec2 way = {(float)input->x, (float)input->y};
    const ecs_vec2 to = ecs_vec2_add(*pos, ecs_vec2_scale(way, SPEED * stage->dt));
    const ecs_vec2 low = {RADIUS, RADIUS}, high = {WIDTH - RADIUS, HEIGHT - RADIUS};
    *pos = ecs_vec2_snap(ecs_vec2_clamp(to, low, high), game->grid);
}

// ---- on a client ----

static void human_input(const net_player_context* view, const net_controls* controls,
                        tag_input* input) {
    (void)view;
    input->x = net_axis(controls, TAG_LEFT, TAG_RIGHT);
    input->y = net_axis(controls, TAG_UP, TAG_DOWN);
}

static void nearest_ecs_query(ES_CONTEXT tag_goal* goal, ES_CONTEXT ecs_entity self,
                              ES_CONTEXT ecs_vec2 from, ecs_entity entity, ecs_vec2 pos,
                              uint32_t owner) {
    (void)owner; // only runners have it
    const float distance = ecs_vec2_distance(pos, from);
    if (entity == self || distance >= goal->distance) return;
    *goal = (tag_goal){ecs_vec2_sub(pos, from), distance};
}

static int32_t sign(float value) {
    return value > 8.0f ? 1 : value < -8.0f ? -1 : 0;
}

// A bot runs to the nearest runner, and wanders when it is there. It sees its mirror, its own
// chance (view->rng) and 256 bytes of memory.
static void bot_think(const net_player_context* view, tag_input* input) {
    const tag_game* game = view->context;
    const ecs_vec2* pos = ecs_find(view->world, view->player, game->pos);
    if (!pos) return; // not in the world yet
    tag_input* kept = view->memory;
    tag_goal goal = {.distance = WIDTH + HEIGHT};
    nearest_run(view->world, game->nearest, &goal, view->player, *pos);
    if (view->input_number % 40 == 1 && base_rng_below(view->rng, 3) == 0)
        *kept = (tag_input){base_rng_range(view->rng, -1, 1), base_rng_range(view->rng, -1, 1)};
    else if (view->input_number % 40 == 1)
        *kept = (tag_input){sign(goal.way.x), sign(goal.way.y)};
    *input = *kept;
}

// Shown as predicted: the own runner. The systems with the tag "predict" move it.
static uint32_t predict(ecs_world* world, tag_game* game, ecs_entity player,
                        net_predicted* entities, uint32_t capacity) {
    (void)game;
    return net_predict_own(world, player, entities, capacity);
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
static void draw_runners_es(const ecs_stage* stage, ecs_entity entity, ecs_vec2 pos,
                            uint32_t owner) {
    const net_draw* draw = stage->user;
    const ecs_color own = {255, 196, 64, 255}, other = {90, 170, 255, 255};
    draw->circle(draw->context, pos.x, pos.y, RADIUS, entity == draw->player ? own : other);
    const char* name = draw->player_name(draw->context, owner);
    if (name) draw->text(draw->context, pos.x + RADIUS, pos.y - RADIUS, 13.0f, other, name);
}
