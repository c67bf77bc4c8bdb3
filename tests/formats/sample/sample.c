// SPDX-License-Identifier: MIT
// The game of the sample logs. Its rules, templates and messages stay as they are, so that each log
// runs again for ever: where a later interface asks for it, change how they are written down, and
// nothing that a tick does.
#include <ecs/es.h>
#include <net/controls.h>

#include <string.h>

#include "sample.pb-c.h"

#define WIDTH 640.0f
#define HEIGHT 480.0f
#define REACH 12.0f
#define PELLETS 20
#define POINTS 8 // of a trail

ES_STRUCT(SamplePlayer)
ES_EVENT(eaten, exported)
ES_MESSAGE(Sample__Eaten, reliable)
typedef struct sample_player {
    uint32_t client;
    uint32_t score;
} sample_player;

ES_STRUCT(SampleSteer)
ES_EVENT(steer)
ES_MESSAGE(Sample__Steer, input)
typedef struct sample_steer {
    int32_t x, y ES_CLAMP(-100, 100);
    bool turn;
} sample_steer;

ES_EVENT(wave)
ES_MESSAGE(Sample__Wave, reliable)
typedef struct sample_wave {
    uint32_t hand ES_RANGE(0, 3);
} sample_wave;

ES_SETTINGS
typedef struct sample_settings {
    uint32_t speed ES_SETTING(180.0, 1.0, 1000.0, "of dots, units per second");
} sample_settings;

ES_ACTIONS
typedef enum sample_action {
    SAMPLE_LEFT ES_ACTION("left", "Left,A", "steer to the left"),
    SAMPLE_RIGHT ES_ACTION("right", "Right,D", "steer to the right"),
} sample_action;

ES_GAME_CONTEXT(sample)
typedef struct sample_game {
    ecs_component_id pos, player, lines;
    ecs_template_id pellet, dot, match;
    ecs_event_type eaten;
    sample_settings settings;
    ecs_query *eat, *seek;
} sample_game;

typedef struct sample_goal {
    ecs_vec2 way;
    float distance;
    ecs_entity entity;
} sample_goal;

#include "sample.es.h"

ES_GAME("Sample", WIDTH, HEIGHT, .start = start, .player_join = player_join, .bot_think = bot_think,
        .human_input = human_input, .operator_said = operator_said, .is_rewinding = true);

static ecs_vec2 random_place(ecs_world* world) {
    base_rng* rng = ecs_world_rng(world);
    float x = base_rng_float(rng) * WIDTH;
    return (ecs_vec2){x, base_rng_float(rng) * HEIGHT};
}

static void place_pellet(ecs_world* world, const sample_game* game) {
    const ecs_vec2 pos = random_place(world);
    (void)ecs_command_create(world, game->pellet, ECS_INITS({game->pos, &pos}));
}

ES_TAG(server)
ES_ON_EVENT(steer)
static void take_steer_es_event_handler(const sample_steer* event, sample_steer* steer) {
    *steer = *event;
}

ES_TAG(server)
ES_ON_EVENT(wave)
static void wave_es_event_handler(const sample_wave* event, sample_player* player,
                                  int32_t* secret) {
    player->score += event->hand;
    ++*secret;
}

ES_REQUIRE_NOT(player : SamplePlayer)
static void eat_ecs_query(ES_CONTEXT const ecs_stage* stage, ES_CONTEXT ecs_vec2 dot,
                          ES_CONTEXT sample_player* player, ecs_entity entity, ecs_vec2 pos) {
    const sample_game* game = stage->context;
    if (ecs_vec2_distance(pos, dot) > REACH) return;
    player->score++;
    (void)ecs_event_broadcast(stage->world, game->eaten, player);
    (void)ecs_command_destroy(stage->world, entity);
    place_pellet(stage->world, game);
}

ES_REQUIRE_NOT(player : SamplePlayer)
static void seek_ecs_query(ES_CONTEXT sample_goal* goal, ES_CONTEXT ecs_vec2 from,
                           ecs_entity entity, ecs_vec2 pos) {
    float distance = ecs_vec2_distance(pos, from);
    if (distance < goal->distance) *goal = (sample_goal){ecs_vec2_sub(pos, from), distance, entity};
}

ES_TAG(server)
static void move_dots_es(const ecs_stage* stage, ES_CONTEXT const sample_game* game, ecs_vec2* pos,
                         sample_player* player, ecs_entity* target, ES_LIST(p2) ecs_list* trail,
                         const sample_steer* steer) {
    const base_allocator* allocator = ecs_world_allocator(stage->world);
    float way = (float)game->settings.speed * stage->dt / 100.0f;
    pos->x = base_clamp(pos->x + (float)steer->x * way, 0.0f, WIDTH);
    pos->y = base_clamp(pos->y + (float)steer->y * way, 0.0f, HEIGHT);
    eat_run(stage->world, game->eat, stage, *pos, player);
    if (stage->tick % 16 != 0) return;
    sample_goal goal = {.distance = WIDTH + HEIGHT};
    seek_run(stage->world, game->seek, &goal, *pos);
    *target = goal.entity;
    if (ecs_list_count(trail) == POINTS) (void)!ecs_list_remove(allocator, trail, 0);
    (void)!ecs_list_push(allocator, trail, pos);
}

static void operator_said(ecs_world* world, sample_game* game, const char* text) {
    ecs_list* lines = ecs_find_mut(world, ecs_singleton(world, game->match), game->lines);
    if (lines)
        (void)!ecs_list_push_text(ecs_world_allocator(world), lines, text, (uint32_t)strlen(text));
}

static void start(ecs_world* world, sample_game* game, const net_game_start* begin) {
    (void)begin;
    for (uint32_t i = 0; i < PELLETS; i++)
        place_pellet(world, game);
    ecs_command_flush(world);
}

static ecs_entity player_join(ecs_world* world, sample_game* game, const net_game_player* player) {
    const sample_player value = {.client = player->client};
    const ecs_vec2 pos = random_place(world);
    ecs_entity entity = ECS_ENTITY_NONE;
    (void)!ecs_create(world, game->dot, ECS_INITS({game->player, &value}, {game->pos, &pos}),
                      &entity);
    return entity;
}

// Straight to the nearest pellet.
static void bot_think(const net_player_context* view, sample_steer* steer) {
    const sample_game* game = view->context;
    const ecs_vec2* pos = ecs_find(view->world, view->player, game->pos);
    if (!pos) return;
    sample_goal goal = {.distance = WIDTH + HEIGHT};
    seek_run(view->world, game->seek, &goal, *pos);
    float factor = 100.0f / base_max(goal.distance, 1.0f);
    *steer = (sample_steer){(int32_t)(goal.way.x * factor), (int32_t)(goal.way.y * factor), true};
    if (base_rng_below(view->rng, 40) == 0)
        (void)sample_send_wave(view, &(sample_wave){base_rng_below(view->rng, 4)});
}

static void human_input(const net_player_context* view, const net_controls* controls,
                        sample_steer* steer) {
    (void)view;
    steer->x = 100 * net_axis(controls, SAMPLE_LEFT, SAMPLE_RIGHT);
}
