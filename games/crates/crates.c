// SPDX-License-Identifier: MIT
// The parts of crates, in the order of a tick: cars follow their inputs, then the space moves all
// bodies. Start reading here; space.c is where the physics library comes in.

#include "crates.h"
#include "crates.pb-c.h"

typedef struct prediction {
    crates_game* game;
    net_predicted* entities;
    uint32_t count, capacity;
} prediction;

#include "crates.es.h"

#define STACK_SIDE 5u
#define STACK (STACK_SIDE * STACK_SIDE)
#define SPACING 1.25f
#define POWER 18.0f ///< of a car, in units per second each second
#define DRAG 1.1f   ///< speed that is lost, as a part per second
#define SIDE_GRIP 8.0f
#define TURN 2.6f  ///< radians per second
#define QUAKE 6.0f ///< speed of a crate, in units per second
#define NEAR 8.0f  ///< within this distance of the own car crates are shown as predicted
#define AREA 16.0f ///< beyond it they are shown as they arrive

ES_SYSTEMS(space, view);
ES_GAME("Crates", CRATES_WIDTH, CRATES_HEIGHT, .register_systems = prepare, .start = start,
        .player_join = player_join, .bot_think = bot_think, .human_input = human_input,
        .predict = predict);

static ecs_result prepare(ecs_world* world, crates_game* game, const base_reporter* reporter) {
    (void)reporter;
    return crates_space_create(world, game) ? ECS_OK : ECS_ERR_MEMORY;
}

// Stacks lie in rows over the arena; the crate in the middle of each is a heavy one.
static void start(ecs_world* world, crates_game* game, const net_game_start* start) {
    (void)start;
    const uint32_t count = game->settings.crates, stacks = (count + STACK - 1) / STACK;
    uint32_t columns = 1;
    while (columns * (columns * 9 / 16 + 1) < stacks)
        columns++;
    const uint32_t rows = (stacks + columns - 1) / columns;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t stack = i / STACK, in_stack = i % STACK;
        const float x = ((float)(stack % columns) + 0.5f) * CRATES_WIDTH / (float)columns;
        const float y = ((float)(stack / columns) + 0.5f) * CRATES_HEIGHT / (float)rows;
        const float half = SPACING * (float)(STACK_SIDE - 1) / 2.0f;
        const ecs_vec2 at = {x - half + SPACING * (float)(in_stack % STACK_SIDE),
                             y - half + SPACING * (float)(in_stack / STACK_SIDE)};
        const ecs_vec2 pos = ecs_vec2_snap(at, game->pos_step);
        const ecs_template_id what = in_stack == STACK / 2 ? game->heavy_crate : game->crate;
        (void)ecs_try_create(world, what, ECS_INITS({game->pos, &pos})); // as many as fit
    }
}

static ecs_entity player_join(ecs_world* world, crates_game* game, const net_game_player* player) {
    base_rng* rng = ecs_world_rng(world);
    const float x = 4.0f + base_rng_float(rng) * (CRATES_WIDTH - 8.0f);
    const ecs_vec2 at = {x, base_rng_below(rng, 2) ? 2.0f : CRATES_HEIGHT - 2.0f};
    const ecs_vec2 pos = ecs_vec2_snap(at, game->pos_step);
    return ecs_try_create(world, game->car, // when the world is full, the player watches
                          ECS_INITS({game->pos, &pos}, {game->owner, &player->client}));
}

// A car gains speed along its front, keeps little of what goes sideways, and turns as it rolls.
ES_TAG(server | predict)
static void drive_es(const ecs_stage* stage, ecs_vec2* vel, float* spin, float angle,
                     const crates_input* input) {
    const ecs_vec2 front = ecs_direction(angle), side = {-front.y, front.x};
    float speed = ecs_vec2_dot(*vel, front), slip = ecs_vec2_dot(*vel, side);
    speed += ((float)input->throttle / 127.0f * POWER - speed * DRAG) * stage->dt;
    slip -= slip * base_min(SIDE_GRIP * stage->dt, 1.0f);
    *vel = ecs_vec2_add(ecs_vec2_scale(front, speed), ecs_vec2_scale(side, slip));
    const float roll = base_clamp(speed / 5.0f, -1.0f, 1.0f);
    const float wanted = (float)input->steer / 127.0f * TURN * roll;
    *spin += (wanted - *spin) * base_min(10.0f * stage->dt, 1.0f);
}

// Everything moves at once: what a match of crates costs at most.
ES_TAG(server)
ES_REQUIRE_NOT(owner : u32)
static void quake_es(const ecs_stage* stage, ES_CONTEXT const crates_game* game, ecs_entity entity,
                     ecs_vec2* vel) {
    const uint32_t every = game->settings.quake * game->tick_rate_hz;
    if (every == 0 || stage->tick % every != 0) return;
    base_rng rng = ecs_stage_rng(stage, entity);
    *vel = ecs_vec2_scale(ecs_direction(base_rng_float(&rng) * 2.0f * BASE_PI), QUAKE);
}

// ---- prediction ----

static bool near_ecs_query(ES_CONTEXT prediction* shown, ecs_entity entity, ecs_vec2 pos,
                           ecs_vec2 vel, ES_OPTIONAL const uint32_t* owner) {
    const float away = ecs_vec2_distance(pos, shown->game->eye);
    if (away > AREA || owner || ecs_vec2_dot(vel, vel) == 0.0f) return true;
    shown->entities[shown->count++] = (net_predicted){entity, ecs_fade(away, NEAR, AREA)};
    return shown->count < shown->capacity;
}

static uint32_t predict(ecs_world* world, crates_game* game, ecs_entity player,
                        net_predicted* entities, uint32_t capacity) {
    const ecs_vec2* pos = ecs_find(world, player, game->pos);
    if (!pos || capacity < 2) return 0;
    game->eye = *pos;
    prediction shown = {game, entities, 1, capacity};
    entities[0] = (net_predicted){player, 1.0f};
    near_run(world, game->near, &shown);
    return shown.count;
}

// ---- players ----

static void human_input(const net_player_context* view, const net_controls* controls,
                        crates_input* input) {
    (void)view;
    const ecs_vec2 way = net_move(controls, CRATES_ACTION_LEFT, CRATES_ACTION_RIGHT,
                                  CRATES_ACTION_UP, CRATES_ACTION_DOWN);
    input->steer = (int32_t)(way.x * 127.0f);
    input->throttle = 127 * net_axis(controls, CRATES_ACTION_DOWN, CRATES_ACTION_UP);
}

typedef struct bot_memory {
    ecs_vec2 goal;
    uint64_t until; ///< the input number at which the bot chooses again
    bool is_backing;
} bot_memory;
_Static_assert(sizeof(bot_memory) <= NET_BOT_MEMORY_BYTES, "a bot has only so much memory");

// A bot drives through the arena to places of its choice, and backs out now and then.
static void bot_think(const net_player_context* view, crates_input* input) {
    const crates_game* game = view->context;
    bot_memory* memory = view->memory;
    const ecs_vec2* pos = ecs_find(view->world, view->player, game->pos);
    const float* angle = ecs_find(view->world, view->player, game->angle);
    if (!pos || !angle) return; // not in the world yet
    if (view->input_number >= memory->until || ecs_vec2_distance(*pos, memory->goal) < 4.0f) {
        memory->is_backing = !memory->is_backing && base_rng_below(view->rng, 2) == 0;
        memory->until = view->input_number + (memory->is_backing ? 40 : 240);
        memory->goal.x = 6.0f + base_rng_float(view->rng) * (CRATES_WIDTH - 12.0f);
        memory->goal.y = 6.0f + base_rng_float(view->rng) * (CRATES_HEIGHT - 12.0f);
    }
    const ecs_vec2 way = ecs_vec2_sub(memory->goal, *pos);
    const float turn = ecs_angle_between(*angle, base_atan2(way.y, way.x));
    input->throttle = memory->is_backing ? -127 : 127;
    input->steer = (int32_t)(base_clamp(turn * 1.5f, -1.0f, 1.0f) * 127.0f);
}
