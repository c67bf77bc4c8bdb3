// SPDX-License-Identifier: MIT
// The parts of crates, in the order of a tick: cars follow their inputs, then the space moves all
// bodies. Start reading here; space.c is where the physics library comes in.

#include "crates.h"
#include "crates.pb-c.h"

#define STACK 25u   ///< 5 x 5 crates
#define COLUMNS 15u ///< of stacks; there are 120 places
#define POWER 18.0f ///< of a car, in units per second each second
#define DRAG 1.1f   ///< part of its speed that it loses in a second
#define TURN 2.6f   ///< radians per second
#define QUAKE 6.0f
#define PREDICTED 18.0f ///< what is farther from the own car moves as it arrives
#define SHOWN 16.0f     ///< and is shown so from here on

typedef struct prediction {
    ecs_vec2 eye;
    net_predicted* entities;
    uint32_t count, capacity;
} prediction;

#include "crates.es.h"

ES_SYSTEMS(space, view);
ES_GAME("Crates", CRATES_WIDTH, CRATES_HEIGHT, .register_systems = crates_prepare,
        .start = start_match, .player_join = player_join, .bot_think = bot_think,
        .human_input = human_input, .predict = predict, .predict_area = predict_area);

static void start_match(ecs_world* world, crates_game* game, const net_game_start* start) {
    (void)start;
    for (uint32_t i = 0; i < game->settings.crates; i++) {
        const uint32_t place = i / STACK * 37 % 120, in_stack = i % STACK; // spread over the arena
        const ecs_vec2 pos = {7.0f + 10.5f * (float)(place % COLUMNS) + 1.25f * (float)(i % 5),
                              4.0f + 10.75f * (float)(place / COLUMNS) +
                                  1.25f * (float)(in_stack / 5)};
        const bool is_middle = in_stack == STACK / 2;
        (void)ecs_try_create(world, is_middle ? game->heavy_crate : game->crate,
                             ECS_INITS({game->pos, &pos}));
    }
}

static ecs_entity player_join(ecs_world* world, crates_game* game, const net_game_player* player) {
    const ecs_vec2 pos = {(float)base_rng_range(ecs_world_rng(world), 4, 156), 2.0f};
    return ecs_try_create(world, game->car, // when the world is full, the player watches
                          ECS_INITS({game->pos, &pos}, {game->owner, &player->client}));
}

// A car gains speed along its front, slips little, and turns as it rolls.
ES_TAG(server | predict)
static void drive_es(const ecs_stage* stage, ecs_vec2* vel, float* spin, float angle,
                     const crates_input* input) {
    const ecs_vec2 front = ecs_direction(angle), side = {-front.y, front.x};
    float speed = ecs_vec2_dot(*vel, front), slip = ecs_vec2_dot(*vel, side);
    speed += ((float)input->throttle / 127.0f * POWER - speed * DRAG) * stage->dt;
    slip -= slip * base_min(8.0f * stage->dt, 1.0f);
    *vel = ecs_vec2_add(ecs_vec2_scale(front, speed), ecs_vec2_scale(side, slip));
    const float roll = base_clamp(speed / 5.0f, -1.0f, 1.0f);
    const float wanted = (float)input->steer / 127.0f * TURN * roll;
    *spin += (wanted - *spin) * base_min(10.0f * stage->dt, 1.0f);
}

// Everything moves at once: the most that a match of crates costs.
ES_TAG(server)
ES_REQUIRE_NOT(owner : u32)
static void quake_es(const ecs_stage* stage, ES_CONTEXT const crates_game* game, ecs_entity entity,
                     ecs_vec2* vel) {
    const uint32_t ticks = game->settings.quake * game->tick_rate_hz;
    if (ticks == 0 || stage->tick % ticks != 0) return;
    base_rng rng = ecs_stage_rng(stage, entity);
    *vel = ecs_vec2_scale(ecs_direction(base_rng_float(&rng) * 2.0f * BASE_PI), QUAKE);
}

// What a prediction runs again: 3,000 crates would be too much.
static bool predict_area(ecs_world* mirror, crates_game* game, ecs_entity player,
                         ecs_entity entity) {
    const ecs_vec2* pos = ecs_find(mirror, entity, game->pos);
    const ecs_vec2* eye = ecs_find(mirror, player, game->pos);
    return pos && eye && ecs_vec2_distance(*pos, *eye) < PREDICTED;
}

static bool near_ecs_query(ES_CONTEXT prediction* shown, ecs_entity entity, ecs_vec2 pos,
                           ecs_vec2 vel, ES_OPTIONAL const uint32_t* owner) {
    const float away = ecs_vec2_distance(pos, shown->eye);
    if (away > SHOWN || owner || (vel.x == 0.0f && vel.y == 0.0f)) return true;
    shown->entities[shown->count++] = (net_predicted){entity, ecs_fade(away, SHOWN / 2.0f, SHOWN)};
    return shown->count < shown->capacity;
}

static uint32_t predict(ecs_world* world, crates_game* game, ecs_entity player,
                        net_predicted* entities, uint32_t capacity) {
    const ecs_vec2* pos = ecs_find(world, player, game->pos);
    if (!pos || capacity < 2) return 0;
    entities[0] = (net_predicted){player, 1.0f};
    prediction shown = {*pos, entities, 1, capacity};
    near_run(world, game->near, &shown);
    return shown.count;
}

static void human_input(const net_player_context* view, const net_controls* controls,
                        crates_input* input) {
    (void)view;
    const ecs_vec2 way = net_move(controls, CRATES_ACTION_LEFT, CRATES_ACTION_RIGHT,
                                  CRATES_ACTION_UP, CRATES_ACTION_DOWN);
    input->steer = (int32_t)(way.x * 127.0f);
    input->throttle = 127 * net_axis(controls, CRATES_ACTION_DOWN, CRATES_ACTION_UP);
}

// A bot drives to places of its choice, and for a second in five it backs out.
static void bot_think(const net_player_context* view, crates_input* input) {
    const crates_game* game = view->context;
    ecs_vec2* goal = view->memory;
    const ecs_vec2* pos = ecs_find(view->world, view->player, game->pos);
    const float* angle = ecs_find(view->world, view->player, game->angle);
    if (!pos || !angle) return; // not in the world yet
    if (view->input_number % 300 == 1 || ecs_vec2_distance(*pos, *goal) < 4.0f)
        *goal = (ecs_vec2){(float)base_rng_range(view->rng, 6, 154),
                           (float)base_rng_range(view->rng, 6, 84)};
    const ecs_vec2 way = ecs_vec2_sub(*goal, *pos);
    const float turn = ecs_angle_between(*angle, base_atan2(way.y, way.x));
    input->throttle = view->input_number % 300 < 60 ? -127 : 127;
    input->steer = (int32_t)(base_clamp(turn * 1.5f, -1.0f, 1.0f) * 127.0f);
}
