// SPDX-License-Identifier: MIT
// dots: a whole game in one file, built against an installation of Shoal. Players steer dots over a
// field and eat pellets; eating one makes a new one appear elsewhere. Read dots.blk first.

#include <ecs/es.h>
#include <net/game.h>

#include <base/math.h>

#include "dots.pb-c.h"

#define WIDTH 640.0f
#define HEIGHT 480.0f
#define SPEED 180.0f // units per second
#define REACH 12.0f
#define PELLETS 40

ES_STRUCT(DotsPlayer)
ES_EVENT(eaten, exported)
typedef struct dots_player {
    uint32_t client;
    uint32_t score;
} dots_player;

// Component of a dot and payload of the event "steer".
ES_STRUCT(DotsSteer)
ES_EVENT(steer)
typedef struct dots_steer {
    int32_t x ES_QUANT(-100, 1, 8);
    int32_t y ES_QUANT(-100, 1, 8);
} dots_steer;

typedef struct dots_game {
    ecs_component_id pos, player;
    ecs_template_id pellet, dot;
    ecs_event_type eaten;
    ecs_query* pellets;
} dots_game;

#include "dots.es.h" // from the functions *_es, *_ecs_query and the structs of this file

ES_REGISTER_TYPES

static ecs_vec2 random_place(ecs_world* world) {
    base_rng* rng = ecs_world_rng(world);
    float x = base_rng_float(rng) * WIDTH;
    return (ecs_vec2){x, base_rng_float(rng) * HEIGHT};
}

static void place_pellet(ecs_world* world, const dots_game* game) {
    const ecs_vec2 pos = random_place(world);
    const ecs_init inits[] = {{game->pos, &pos}};
    (void)ecs_command_create(world, game->pellet, inits, 1);
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
    float x = pos.x - dot.x, y = pos.y - dot.y;
    if (x * x + y * y > REACH * REACH) return;
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
    eat_run(stage->world, game->pellets, stage, *pos, player);
}

static ecs_result register_types(ecs_world* world, const base_reporter* reporter) {
    return dots_register_types(world, reporter);
}

static ecs_result register_systems(ecs_world* world, void** context,
                                   const base_reporter* reporter) {
    dots_game* game = ecs_world_context(world, sizeof *game);
    if (!game) return ECS_ERR_MEMORY;
    *context = game;
    game->pos = ecs_component_find(world, "pos");
    game->player = ecs_component_find(world, "player");
    game->pellet = ecs_template_find(world, "pellet");
    game->dot = ecs_template_find(world, "dot");
    game->eaten = ecs_event_find(world, "eaten");
    if (!game->pellet || !game->dot) {
        base_report(reporter, "dots.blk", 0, "a template of the game is missing");
        return ECS_ERR_UNKNOWN;
    }
    ecs_result result = eat_create(world, &game->pellets);
    return result ? result : dots_register_systems(world, game);
}

static void start(ecs_world* world, void* context, const net_game_start* begin) {
    (void)begin;
    for (uint32_t i = 0; i < PELLETS; i++)
        place_pellet(world, context);
    ecs_command_flush(world);
}

static ecs_entity player_join(ecs_world* world, void* context, const net_game_player* player) {
    const dots_game* game = context;
    const dots_player value = {.client = player->client};
    const ecs_vec2 pos = random_place(world);
    const ecs_init inits[] = {{game->player, &value}, {game->pos, &pos}};
    ecs_entity entity = ECS_ENTITY_NONE;
    return ecs_create(world, game->dot, inits, 2, &entity) ? ECS_ENTITY_NONE : entity;
}

static void player_leave(ecs_world* world, void* context, uint32_t client, ecs_entity entity) {
    (void)context;
    (void)client;
    if (ecs_is_alive(world, entity)) (void)!ecs_destroy(world, entity);
}

// Straight to the nearest pellet.
static void bot_think(const net_player_context* view, void* input) {
    const dots_game* game = view->context;
    const ecs_vec2* pos = ecs_find(view->world, view->player, game->pos);
    if (!pos) return;
    float nearest = WIDTH * WIDTH + HEIGHT * HEIGHT;
    ecs_query_iter it = ecs_query_begin(view->world, game->pellets);
    while (ecs_query_next(&it)) {
        const ecs_vec2* places = it.rows.columns[0];
        for (uint32_t i = 0; i < it.rows.count; i++) {
            float x = places[i].x - pos->x, y = places[i].y - pos->y;
            float distance = x * x + y * y;
            if (distance >= nearest) continue;
            nearest = distance;
            float factor = 100.0f / base_max(base_sqrt(distance), 1.0f);
            *(dots_steer*)input = (dots_steer){(int32_t)(x * factor), (int32_t)(y * factor)};
        }
    }
}

static int32_t clamp_axis(int32_t value) {
    return value < -100 ? -100 : value > 100 ? 100 : value;
}

static void steer_to_wire(const void* payload, ProtobufCMessage* message) {
    const dots_steer* steer = payload;
    ((Dots__Steer*)message)->x = steer->x;
    ((Dots__Steer*)message)->y = steer->y;
}

static bool steer_from_wire(const ProtobufCMessage* message, void* payload) {
    const Dots__Steer* wire = (const Dots__Steer*)message;
    *(dots_steer*)payload = (dots_steer){clamp_axis(wire->x), clamp_axis(wire->y)};
    return true;
}

static void eaten_to_wire(const void* payload, ProtobufCMessage* message) {
    const dots_player* player = payload;
    ((Dots__Eaten*)message)->client = player->client;
    ((Dots__Eaten*)message)->score = player->score;
}

static bool eaten_from_wire(const ProtobufCMessage* message, void* payload) {
    const Dots__Eaten* wire = (const Dots__Eaten*)message;
    *(dots_player*)payload = (dots_player){wire->client, wire->score};
    return true;
}

static const net_message messages[] = {
    {"Steer", &dots__steer__descriptor, "steer", NET_MESSAGE_INPUT, false, steer_to_wire,
     steer_from_wire, false},
    {"Eaten", &dots__eaten__descriptor, "eaten", NET_MESSAGE_TO_CLIENTS, true, eaten_to_wire,
     eaten_from_wire, false},
};

static const net_game_module module = {
    .contract_version = NET_GAME_CONTRACT_VERSION,
    .size_bytes = sizeof(net_game_module),
    .core_version = ECS_CORE_VERSION,
    .name = "dots",
    .title = "Dots",
    .view_width = WIDTH,
    .view_height = HEIGHT,
    .messages = messages,
    .message_count = BASE_COUNT(messages),
    .message_bytes = sizeof(net_message),
    .register_types = register_types,
    .register_systems = register_systems,
    .start = start,
    .player_join = player_join,
    .player_leave = player_leave,
    .bot_think = bot_think,
};

__attribute__((visibility("default"))) const net_game_module* net_game_module_get(void);

const net_game_module* net_game_module_get(void) {
    return &module;
}
