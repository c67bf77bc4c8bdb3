// SPDX-License-Identifier: MIT
// Rules: who is it, who sees what, and a catch that is checked by what the player saw.

#include <base/text.h>
#include <ecs/ecs.h>
#include <ecs/es.h>
#include <net/controls.h>
#include <net/draw.h>

#include "tag4.pb-c.h"

#define WIDTH 640.0f
#define HEIGHT 480.0f
#define RADIUS 12.0f
#define SPEED 160.0f // units per second
#define SAFE_S 1.5f  // who was caught cannot be caught back for so long
#define SIGHT 220.0f
#define TREES 30
#define REACH 40.0f

// Component "input" of a runner, and what its client sends in each tick.
ES_STRUCT(TagInput)
ES_EVENT(tag_input)
ES_MESSAGE(Tag4__Input, input)
typedef struct tag_input {
    int32_t x, y ES_CLAMP(-1, 1);
    ES_NAME(reach) bool is_reaching;
} tag_input;

ES_ACTIONS
typedef enum tag_action {
    TAG_LEFT ES_ACTION("left", "Left,A", "run to the left", "DPLeft,LeftX-"),
    TAG_RIGHT ES_ACTION("right", "Right,D", "run to the right", "DPRight,LeftX+"),
    TAG_UP ES_ACTION("up", "Up,W", "run up", "DPUp,LeftY-"),
    TAG_DOWN ES_ACTION("down", "Down,S", "run down", "DPDown,LeftY+"),
    TAG_REACH ES_ACTION("reach", "Space", "catch who is near", "A"),
} tag_action;

// An event that goes to clients. ES_RANGE and ES_CLAMP would say limits of its fields.
ES_EVENT(tagged, exported)
ES_MESSAGE(Tag4__Tagged, reliable)
typedef struct tag_tagged {
    uint32_t by, whom; // clients
} tag_tagged;

// Ids, settings and pictures, one for each world and in no save. shoal-esgen fills the ids.
ES_GAME_CONTEXT(tag4)
typedef struct tag_game {
    bool is_truth ES_IF_TAG(server); // rules, events and chance are the server's alone
    ecs_component_id pos, owner, is_it, safe_until, catches;
    ecs_template_id runner, tree;
    ecs_event_type tagged;
    ecs_query *nearest, *touched,
        *chasers; // filled by the functions nearest_ecs_query, touched_ecs_query, chasers_ecs_query
    float grid ES_STEP(runner, pos);   // the _step of pos, said in the datablock
    const net_game_services* services; // what players saw; NULL on a client
    uint32_t tick_rate_hz;
    char news[64]; // a line of the picture; the simulation never reads it
} tag_game;

typedef struct tag_goal {
    ecs_vec2 way;
    float distance;
} tag_goal;

static const net_interest_rules interest = {
    .size_bytes = sizeof interest,
    .position = "pos",
    .radius = SIGHT,
    .owner = "owner",
};

// The moment that a player's screen showed.
typedef struct tag_look {
    const tag_game* game;
    ecs_tick tick;
    float fraction;
} tag_look;

#include "tag4.es.h" // written from this file, in the build

ES_GAME("Tag", WIDTH, HEIGHT, .start = start_match, .player_join = player_join,
        .player_leave = player_leave, .bot_think = bot_think, .human_input = human_input,
        .predict = predict, .interest = &interest, .is_rewinding = true);

static ecs_vec2 random_place(ecs_world* world, const tag_game* game) {
    base_rng* rng = ecs_world_rng(world); // the only chance: a log gives the same match again
    const float x = base_rng_float(rng) * WIDTH, y = base_rng_float(rng) * HEIGHT;
    return ecs_vec2_snap((ecs_vec2){x, y}, game->grid);
}

static void start_match(ecs_world* world, tag_game* game, const net_game_start* begin) {
    (void)begin;
    for (uint32_t i = 0; i < TREES; i++) {
        const ecs_vec2 pos = random_place(world, game);
        (void)ecs_command_create(world, game->tree, ECS_INITS({game->pos, &pos}));
    }
    ecs_command_flush(world);
}

static void chasers_ecs_query(ES_CONTEXT uint32_t* count, bool is_it) {
    *count += is_it;
}

static bool has_chaser(ecs_world* world, const tag_game* game) {
    uint32_t count = 0;
    chasers_run(world, game->chasers, &count);
    return count > 0;
}

// The first player is it.
static ecs_entity player_join(ecs_world* world, tag_game* game, const net_game_player* player) {
    const ecs_vec2 pos = random_place(world, game);
    const bool is_it = !has_chaser(world, game);
    ecs_entity entity = ECS_ENTITY_NONE; // when the world is full, the player watches
    (void)!ecs_create(
        world, game->runner,
        ECS_INITS({game->pos, &pos}, {game->owner, &player->client}, {game->is_it, &is_it}),
        &entity);
    return entity;
}

// When the one that is it leaves, another one is.
static void player_leave(ecs_world* world, tag_game* game, uint32_t client, ecs_entity entity) {
    (void)client;
    if (ecs_is_alive(world, entity)) (void)!ecs_destroy(world, entity);
    const ecs_entity other = ecs_query_first(world, game->chasers);
    if (other != ECS_ENTITY_NONE && !has_chaser(world, game))
        *(bool*)ecs_get_mut(world, other, game->is_it) = true;
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

// Who was near the hand of the player, where its screen showed it.
static bool touched_ecs_query(ES_CONTEXT ecs_entity* found, ES_CONTEXT ecs_entity self,
                              ES_CONTEXT ecs_vec2 from, ES_CONTEXT const tag_look* look,
                              ES_CONTEXT uint32_t tick, ecs_entity entity, ecs_vec2 pos,
                              uint32_t safe_until) {
    const net_game_services* services = look->game->services;
    if (entity == self || tick < safe_until) return true;
    if (services && !services->rewind(services->context, look->tick, look->fraction, entity,
                                      look->game->pos, &pos))
        return true; // it did not exist then
    if (ecs_vec2_distance(pos, from) < REACH) *found = entity;
    return *found == ECS_ENTITY_NONE;
}

// ES_SPAN: called with arrays, and free to write what it reads by way of the world.
static void tag(const ecs_stage* stage, const tag_game* game, ecs_entity entity, ecs_vec2 pos,
                uint32_t owner, const tag_input* input) {
    ecs_entity whom = ECS_ENTITY_NONE;
    if (!input->is_reaching) return;
    tag_look look = {.game = game};
    if (game->services)
        look.tick = game->services->seen(game->services->context, owner, &look.fraction);
    touched_run(stage->world, game->touched, &whom, entity, pos, &look, (uint32_t)stage->tick);
    if (whom == ECS_ENTITY_NONE) return;
    *(bool*)ecs_get_mut(stage->world, entity, game->is_it) = false;
    *(bool*)ecs_get_mut(stage->world, whom, game->is_it) = true;
    *(int32_t*)ecs_get_mut(stage->world, entity, game->catches) += 1;
    *(uint32_t*)ecs_get_mut(stage->world, entity, game->safe_until) =
        (uint32_t)stage->tick + (uint32_t)(SAFE_S * (float)game->tick_rate_hz);
    const uint32_t* other = ecs_get(stage->world, whom, game->owner);
    const tag_tagged event = {.by = owner, .whom = *other};
    (void)ecs_event_broadcast(stage->world, game->tagged, &event);
}

ES_TAG(server)
ES_SPAN
static void catch_es(const ecs_stage* stage, ES_CONTEXT const tag_game* game, uint32_t count,
                     const ecs_entity* entities, const ecs_vec2* pos, const bool* is_it,
                     const uint32_t* owner, const tag_input* input) {
    for (uint32_t i = 0; i < count; i++) {
        if (!is_it[i]) continue;
        tag(stage, game, entities[i], pos[i], owner[i], &input[i]);
        return; // one catch per tick
    }
}

// ---- on a client ----

static void human_input(const net_player_context* view, const net_controls* controls,
                        tag_input* input) {
    (void)view;
    input->x = net_axis(controls, TAG_LEFT, TAG_RIGHT);
    input->y = net_axis(controls, TAG_UP, TAG_DOWN);
    input->is_reaching = net_is_pressed(controls, TAG_REACH);
}

static void nearest_ecs_query(ES_CONTEXT tag_goal* goal, ES_CONTEXT ecs_entity self,
                              ES_CONTEXT ecs_vec2 from, ES_CONTEXT bool is_chasing,
                              ecs_entity entity, ecs_vec2 pos, bool is_it) {
    if (is_it == is_chasing) return; // the chaser looks for others, the others for the chaser
    const float distance = ecs_vec2_distance(pos, from);
    if (entity == self || distance >= goal->distance) return;
    *goal = (tag_goal){ecs_vec2_sub(pos, from), distance};
}

static int32_t sign(float value) {
    return value > 8.0f ? 1 : value < -8.0f ? -1 : 0;
}

// A bot that is it runs to the nearest runner, another one away from it. It sees its mirror, its
// own chance (view->rng) and 256 bytes of memory.
static void bot_think(const net_player_context* view, tag_input* input) {
    const tag_game* game = view->context;
    const ecs_vec2* pos = ecs_find(view->world, view->player, game->pos);
    const bool* is_it = ecs_find(view->world, view->player, game->is_it);
    if (!pos || !is_it) return; // not in the world yet
    tag_input* kept = view->memory;
    tag_goal goal = {.distance = WIDTH + HEIGHT};
    nearest_run(view->world, game->nearest, &goal, view->player, *pos, *is_it);
    const int32_t side = *is_it ? 1 : -1;
    const bool is_alone = goal.distance >= WIDTH + HEIGHT;
    if (view->input_number % 15 == 1 && !is_alone)
        *kept = (tag_input){.x = side * sign(goal.way.x), .y = side * sign(goal.way.y)};
    if (view->input_number % 45 == 1 && (is_alone || base_rng_below(view->rng, 3) == 0)) {
        kept->x = base_rng_range(view->rng, -1, 1);
        kept->y = base_rng_range(view->rng, -1, 1);
    }
    *input = *kept;
    input->is_reaching = *is_it && goal.distance < REACH;
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
ES_REQUIRE(tree : tag)
static void draw_trees_es(const ecs_stage* stage, ecs_vec2 pos) {
    net_draw_sprite(stage->user,
                    (net_sprite){.image = "tree.png", .x = pos.x, .y = pos.y, .width = 36.0f});
}

ES_STAGE(render)
ES_TAG(render)
static void draw_runners_es(const ecs_stage* stage, ecs_entity entity, ecs_vec2 pos, uint32_t owner,
                            bool is_it) {
    const net_draw* draw = stage->user;
    const ecs_color own = {255, 196, 64, 255}, other = {150, 200, 255, 255};
    const bool is_own = entity == draw->player;
    // Four frames of a step, one each 9 units: who stands has still feet. Below them those of it.
    const uint32_t step = net_frame_at(pos.x + pos.y, 1.0 / 9.0, 4, true);
    if (is_own) draw->circle(draw->context, pos.x, pos.y, RADIUS + 3.0f, own);
    net_draw_sprite(draw, (net_sprite){.image = "runner.png",
                                       .x = pos.x,
                                       .y = pos.y,
                                       .width = 3.0f * RADIUS,
                                       .columns = 4,
                                       .rows = 2,
                                       .frame = is_it ? 4 + step : step});
    const char* name = draw->player_name(draw->context, owner);
    if (name)
        draw->text(draw->context, pos.x + RADIUS, pos.y - RADIUS, 13.0f, is_own ? own : other,
                   name);
}

// A client hears the events that the server sends to it, at their tick.
ES_TAG(render)
ES_ON_EVENT(tagged)
static void hear_es_event_handler(ES_CONTEXT tag_game* game, const tag_tagged* event) {
    (void)base_text_format(game->news, sizeof game->news, "player %u caught player %u", event->by,
                           event->whom);
}

ES_STAGE(render)
ES_TAG(render)
static void draw_news_es(const ecs_stage* stage, ES_CONTEXT const tag_game* game) {
    const net_draw* draw = stage->user;
    const int32_t* catches = ecs_find(stage->world, draw->player, game->catches);
    char text[96];
    (void)base_text_format(text, sizeof text, "catches %d   %s", catches ? *catches : 0,
                           game->news);
    draw->text(draw->context, 12.0f, 10.0f, 15.0f, (ecs_color){230, 236, 250, 255}, text);
}
