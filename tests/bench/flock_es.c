// SPDX-License-Identifier: MIT
// A flock: 20 % of the movers move in a tick, in a square in which a client sees 150 of them.
// A health that changes is an unreliable event about the mover; in each tick a player says
// something, which is a reliable one.
#include "flock.h"

#include "bench.h"
#include "ecs/es.h"
#include "flock.pb-c.h"

#define RADIUS 64.0f
#define SIDE 928.0f      // 10,000 movers, 150 of them within the radius
#define SPEED_MAX 0.25f  // per tick
#define ACTIVE_TICKS 32u // then other movers move
#define ACTIVE_PERCENT 20u
#define TURN_EVERY 16u // on average
#define HIT_EVERY 32u

ES_STRUCT(FlockDrive)
typedef struct flock_drive {
    float dx, dy;
    uint32_t number;
} flock_drive;

ES_STRUCT(FlockPlayer)
typedef struct flock_player {
    uint32_t client;
} flock_player;

ES_EVENT(steer)
ES_MESSAGE(Flock__Steer)
typedef struct flock_steer {
    int32_t dx, dy ES_RANGE(-127, 127);
} flock_steer;

ES_EVENT(hit, exported)
ES_MESSAGE(Flock__Hit)
typedef struct flock_hit {
    uint32_t amount;
} flock_hit;

ES_EVENT(said, exported)
ES_MESSAGE(Flock__Said)
typedef struct flock_said {
    uint32_t phrase;
} flock_said;

#include "flock_es.es.h"

ES_REGISTER_TYPES
ES_MESSAGES

const char* flock_templates(void) {
    return "mover {\n"
           "  \"pos:p3\"{ _track:b=yes; _replicate:b=yes; _interpolate:b=yes; _min:r=0;"
           " _max:r=4095.96875; _step:r=0.03125; value:p3=0,0,0 }\n"
           "  \"heading:r\"{ _track:b=yes; _replicate:b=yes; _min:r=-3.2; _max:r=3.2; _bits:i=9;"
           " value:r=0 }\n"
           "  \"health:u8\"{ _track:b=yes; _replicate:b=yes; _bits:i=7; value:u8=100 }\n"
           "  \"state:u8\"{ _track:b=yes; _replicate:b=yes; _bits:i=4; value:u8=1 }\n"
           "  \"drive:FlockDrive\"{}\n"
           "}\n"
           "player { _extends:t=\"mover\" \"player:FlockPlayer\"{} }\n";
}

static float between(base_rng* rng, float low, float high) {
    return low + (high - low) * (float)base_rng_below(rng, 1u << 20) / (1u << 20);
}

static float bounce(float at, float* speed) {
    if (at >= 0 && at <= SIDE) return at;
    *speed = -*speed;
    return at < 0 ? -at : 2 * SIDE - at;
}

static bool is_active(ecs_tick tick, uint32_t number) {
    uint64_t period = (tick + number % ACTIVE_TICKS) / ACTIVE_TICKS;
    uint64_t mixed = (period * 2654435761u + number) * UINT64_C(0x9E3779B97F4A7C15);
    return (mixed >> 33) % 100 < ACTIVE_PERCENT;
}

static void drift(const ecs_stage* stage, const flock_context* context) {
    base_rng* rng = ecs_world_rng(stage->world);
    ecs_query_iter iter = ecs_query_begin(stage->world, context->movers);
    while (ecs_query_next(&iter)) {
        ecs_vec3* pos = iter.rows.columns[0];
        float* heading = iter.rows.columns[1];
        uint8_t* health = iter.rows.columns[2];
        flock_drive* drive = iter.rows.columns[3];
        for (uint32_t i = 0; i < iter.rows.count; i++) {
            if (!is_active(stage->tick, drive[i].number)) continue;
            pos[i].x = bounce(pos[i].x + drive[i].dx, &drive[i].dx);
            pos[i].y = bounce(pos[i].y + drive[i].dy, &drive[i].dy);
            if (base_rng_below(rng, TURN_EVERY) == 0) {
                heading[i] = between(rng, -3.14f, 3.14f);
                drive[i].dx = between(rng, -SPEED_MAX, SPEED_MAX);
                drive[i].dy = between(rng, -SPEED_MAX, SPEED_MAX);
            }
            if (base_rng_below(rng, HIT_EVERY) > 0) continue;
            health[i] = (uint8_t)base_rng_below(rng, 101);
            const flock_hit hit = {health[i]};
            (void)ecs_event_send(stage->world, iter.rows.entities[i], context->hit, &hit);
        }
    }
}

static void say(const ecs_stage* stage, const flock_context* context) {
    ecs_query_iter iter = ecs_query_begin(stage->world, context->players);
    if (!ecs_query_next(&iter)) return;
    const flock_said said = {(uint32_t)(stage->tick % 8)};
    ecs_entity player = iter.rows.entities[stage->tick % iter.rows.count];
    ecs_query_end(&iter);
    (void)ecs_event_send(stage->world, player, context->said, &said);
}

ES_TAG(server)
static void drift_es(const ecs_stage* stage, ES_CONTEXT flock_context* context) {
    if (context->is_quiet) return;
    double begin_ns = bench_now_ns();
    drift(stage, context);
    say(stage, context);
    context->spent_ns += bench_now_ns() - begin_ns;
}

ES_TAG(server)
ES_ON_EVENT(steer)
static void steer_es_event_handler(const flock_steer* event, flock_drive* drive) {
    drive->dx = (float)event->dx / 127.0f * SPEED_MAX;
    drive->dy = (float)event->dy / 127.0f * SPEED_MAX;
}

// The events are listed for clients whether a system handles them or not.
static ecs_result register_systems(ecs_world* world, void** out, const base_reporter* reporter) {
    (void)reporter;
    flock_context* context = ecs_world_context(world, sizeof *context);
    context->pos = ecs_component_find(world, "pos");
    context->heading = ecs_component_find(world, "heading");
    context->drive = ecs_component_find(world, "drive");
    context->mover = ecs_template_find(world, "mover");
    context->hit = ecs_event_find(world, "hit");
    context->said = ecs_event_find(world, "said");
    static const ecs_term movers[] = {{"pos", "p3", ECS_WRITE},
                                      {"heading", "r", ECS_WRITE},
                                      {"health", "u8", ECS_WRITE},
                                      {"drive", "FlockDrive", ECS_WRITE}};
    static const ecs_term players[] = {{"player", "FlockPlayer", ECS_READ}};
    ecs_result result = ecs_query_create(world, movers, BASE_COUNT(movers), &context->movers);
    if (result == ECS_OK) result = ecs_query_create(world, players, 1, &context->players);
    if (result == ECS_OK) result = flock_es_register_systems(world, context);
    *out = context;
    return result;
}

static ecs_entity create(ecs_world* world, flock_context* context, ecs_template_id which) {
    base_rng* rng = ecs_world_rng(world);
    const ecs_vec3 pos = {between(rng, 0, SIDE), between(rng, 0, SIDE), 8.0f};
    const float heading = between(rng, -3.14f, 3.14f);
    const flock_drive drive = {between(rng, -SPEED_MAX, SPEED_MAX),
                               between(rng, -SPEED_MAX, SPEED_MAX), context->count++};
    const ecs_init inits[] = {
        {context->pos, &pos}, {context->heading, &heading}, {context->drive, &drive}};
    ecs_entity entity = ECS_ENTITY_NONE;
    (void)!ecs_create(world, which, inits, BASE_COUNT(inits), &entity);
    return entity;
}

static void start(ecs_world* world, void* context_pointer, const net_game_start* begin) {
    (void)begin;
    flock_context* context = context_pointer;
    for (uint32_t i = 0; i < FLOCK_MOVERS; i++)
        (void)create(world, context, context->mover);
}

static ecs_entity player_join(ecs_world* world, void* context, const net_game_player* player) {
    (void)player;
    return create(world, context, ecs_template_find(world, "player"));
}

static void player_leave(ecs_world* world, void* context, uint32_t client, ecs_entity entity) {
    (void)context;
    (void)client;
    if (ecs_is_alive(world, entity)) (void)!ecs_destroy(world, entity);
}

static void bot_think(const net_player_context* view, void* input) {
    flock_steer* steer = input;
    steer->dx = base_rng_range(view->rng, -127, 127);
    steer->dy = base_rng_range(view->rng, -127, 127);
}

const net_game_module* flock_module_get(void) {
    static const net_message messages[] = {
        {"Steer", &flock__steer__descriptor, "steer", NET_MESSAGE_INPUT, false, steer_to_wire,
         steer_from_wire, false, NULL},
        {"Hit", &flock__hit__descriptor, "hit", NET_MESSAGE_TO_CLIENTS, false, hit_to_wire,
         hit_from_wire, false, NULL},
        {"Said", &flock__said__descriptor, "said", NET_MESSAGE_TO_CLIENTS, true, said_to_wire,
         said_from_wire, false, NULL},
    };
    static const net_interest_rules interest = {
        .size_bytes = sizeof interest, .position = "pos", .radius = RADIUS};
    static const net_game_module module = {
        .contract_version = NET_GAME_CONTRACT_VERSION,
        .size_bytes = sizeof(net_game_module),
        .core_version = ECS_CORE_VERSION,
        .name = "flock",
        .title = "Flock",
        .view_width = SIDE,
        .view_height = SIDE,
        .messages = messages,
        .message_count = BASE_COUNT(messages),
        .message_bytes = sizeof(net_message),
        .register_types = flock_es_register_types,
        .register_systems = register_systems,
        .start = start,
        .player_join = player_join,
        .player_leave = player_leave,
        .bot_think = bot_think,
        .interest = &interest,
    };
    return &module;
}
