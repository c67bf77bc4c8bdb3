// SPDX-License-Identifier: MIT
// The test game. One system without terms makes all changes, so that a reader can read the script
// of a tick from top to bottom. All random numbers come from the world, so a log of it runs again.
#include "swarm_parts.h"

#include "ecs/es.h"
#include "swarm.pb-c.h"

#define POPULATION_MIN 12u
#define POPULATION_MAX 60u
#define POPULATION_CROWD 150u ///< with load 2
#define MUTATIONS_PER_TICK 6u

ES_STRUCT(SwarmClock)
typedef struct swarm_clock {
    uint32_t quiet_tick, pings;
    float hardness;
} swarm_clock;

ES_EVENT(steer)
ES_MESSAGE(Swarm__Steer)
typedef struct swarm_steer {
    int32_t dx, dy ES_RANGE(-5, 5);
} swarm_steer;

ES_EVENT(ping, exported)
ES_MESSAGE(Swarm__Ping)
typedef struct swarm_ping {
    uint32_t number;
} swarm_ping;

ES_EVENT(spark, exported)
ES_MESSAGE(Swarm__Spark)
typedef struct swarm_spark {
    int32_t x;
} swarm_spark;

ES_EVENT(shout)
ES_MESSAGE(Swarm__Shout)
typedef struct swarm_shout {
    uint32_t number;
} swarm_shout;

ES_EVENT(brush)
typedef struct swarm_brush {
    uint32_t strength;
} swarm_brush;

#include "swarm.es.h"

ES_REGISTER_TYPES
ES_MESSAGES

const char* swarm_templates(void) {
    return "// Templates of the test game.\n"
           "place { \"pos:p2\"{ _track:b=yes; _replicate:b=yes; _min:r=-128; _max:r=383; "
           "_step:r=0.0625; value:p2=1,2 }\n" SWARM_TRACES " }\n"
           "mote { _extends:t=\"place\"\n"
           "  \"hp:u8\"{ _replicate:b=yes; value:u8=100 }\n"
           "  \"target:eid\"{ _replicate:b=yes; value:eid=0 }\n"
           "}\n"
           "rock { _extends:t=\"place\" \"hp:u8\"{ _track:b=yes; value:u8=7 } }\n"
           "burning { \"heat:r\"{ _replicate:b=yes; value:r=0.5 } }\n"
           "avatar { _extends:t=\"mote\"\n"
           "  \"steered:u32\"{ _replicate:b=yes; value:u32=0 }\n"
           "  \"shouts:u32\"{ _track:b=yes; value:u32=0 }\n"
           "  \"player_id:u32\"{ _replicate:b=yes; value:u32=0 }\n"
           "}\n"
           "clock { \"clock:SwarmClock\"{ _track:b=yes } }\n";
}

ecs_entity swarm_random_entity(ecs_world* world, ecs_query* query) {
    uint32_t count = ecs_query_count(world, query);
    if (count == 0) return ECS_ENTITY_NONE;
    uint32_t wanted = base_rng_below(ecs_world_rng(world), count);
    ecs_entity found = ECS_ENTITY_NONE;
    ecs_query_iter iter = ecs_query_begin(world, query);
    while (ecs_query_next(&iter)) {
        if (wanted < iter.rows.count) {
            found = iter.rows.entities[wanted];
            ecs_query_end(&iter);
            break;
        }
        wanted -= iter.rows.count;
    }
    return found;
}

// The script does not destroy the players' avatars.
ecs_entity swarm_random_wild_entity(ecs_world* world, const swarm_context* context) {
    ecs_entity found = swarm_random_entity(world, context->movers);
    bool is_wild = found != ECS_ENTITY_NONE && !ecs_find(world, found, context->player_id);
    return is_wild ? found : ECS_ENTITY_NONE;
}

// The first tick may be any number.
static bool is_quiet(const swarm_context* context, const swarm_clock* clock, ecs_tick tick) {
    return tick - context->tick_zero >= clock->quiet_tick;
}

static void move_some(const ecs_stage* stage, swarm_context* context) {
    base_rng* rng = ecs_world_rng(stage->world);
    ecs_query_iter iter = ecs_query_begin(stage->world, context->movers);
    while (ecs_query_next(&iter)) {
        ecs_vec2* pos = iter.rows.columns[0];
        for (uint32_t i = 0; i < iter.rows.count; i++) {
            uint32_t dice = base_rng_below(rng, 8);
            if (dice < 3) pos[i].x += (float)base_rng_range(rng, -40, 40) * 0.0625f;
            if (dice == 3) pos[i].y += 0.01f; // below a quantum, most of the time
        }
    }
}

// With load 2 in the plain kind: more than a narrow line carries.
static void move_crowd(const ecs_stage* stage, swarm_context* context) {
    base_rng* rng = ecs_world_rng(stage->world);
    ecs_query_iter iter = ecs_query_begin(stage->world, context->movers);
    while (ecs_query_next(&iter)) {
        ecs_vec2* pos = iter.rows.columns[0];
        for (uint32_t i = 0; i < iter.rows.count; i++) {
            pos[i].x = (float)base_rng_range(rng, -1000, 1000) * 0.125f;
            pos[i].y = (float)base_rng_range(rng, -1000, 1000) * 0.125f;
        }
    }
}

static void mutate_once(const ecs_stage* stage, swarm_context* context) {
    ecs_world* world = stage->world;
    base_rng* rng = ecs_world_rng(world);
    uint32_t population = ecs_query_count(world, context->movers);
    ecs_entity one = swarm_random_wild_entity(world, context);
    uint32_t dice = base_rng_below(rng, 12);
    bool is_crowd = context->load == 2 && !context->is_wild;
    if (population < (is_crowd ? POPULATION_CROWD : POPULATION_MIN)) dice = 0;
    if (population > (is_crowd ? POPULATION_CROWD : POPULATION_MAX)) dice = 1;
    switch (dice) {
    case 0: {
        ecs_vec2 pos = {(float)base_rng_range(rng, -1000, 1000) * 0.1f,
                        (float)base_rng_range(rng, -1000, 1000) * 0.1f};
        ecs_init init = {context->pos, &pos};
        (void)ecs_command_create(world, base_rng_chance(rng, 0.7) ? context->mote : context->rock,
                                 &init, 1);
        break;
    }
    case 1:
        if (one != ECS_ENTITY_NONE) (void)ecs_command_destroy(world, one);
        break;
    case 2:
        if (one != ECS_ENTITY_NONE) {
            // Start or stop burning.
            bool is_burning = ecs_find(world, one, context->heat) != NULL;
            bool is_mote = ecs_find(world, one, context->target) != NULL;
            ecs_template_id plain = is_mote ? context->mote : context->rock;
            ecs_template_id parts[2] = {plain, context->burning};
            ecs_template_id next = is_burning ? plain : ecs_template_compose(world, parts, 2);
            if (next != ECS_TEMPLATE_NONE) (void)ecs_command_recreate(world, one, next, NULL, 0);
        }
        break;
    case 3:
    case 4:
        if (one != ECS_ENTITY_NONE && ecs_find(world, one, context->target)) {
            ecs_entity target = swarm_random_entity(world, context->movers);
            (void)!ecs_set(world, one, context->target, &target);
        }
        break;
    case 5:
        if (one != ECS_ENTITY_NONE) {
            uint8_t* hp = ecs_get_mut(world, one, context->hp);
            *hp = (uint8_t)base_rng_below(rng, 255);
        }
        break;
    default:
        break;
    }
}

ES_TAG(server)
static void script_es(const ecs_stage* stage, ES_CONTEXT swarm_context* context) {
    ecs_entity clock_entity = ecs_query_first(stage->world, context->clocks);
    swarm_clock* clock = ecs_get_mut(stage->world, clock_entity, context->clock_component);
    if (is_quiet(context, clock, stage->tick)) return;
    base_rng* rng = ecs_world_rng(stage->world);
    move_some(stage, context);
    if (context->load == 2 && !context->is_wild) move_crowd(stage, context);
    for (uint32_t i = 0; i < MUTATIONS_PER_TICK; i++)
        mutate_once(stage, context);
    swarm_wild_mutate(stage->world, context);
    if (base_rng_chance(rng, 0.15)) {
        swarm_ping ping = {++clock->pings};
        context->pings_raised = ping.number;
        (void)ecs_event_broadcast(stage->world, context->ping, &ping);
    }
    if (base_rng_chance(rng, 0.3)) {
        swarm_spark spark = {base_rng_range(rng, -9, 9)};
        (void)ecs_event_broadcast(stage->world, context->spark, &spark);
    }
}

// On both sides and on several threads. What it writes is in no packet and no state hash, only in
// the hash of a world.
ES_TAG(server | gameClient)
ES_QUANTUM(4)
static void trail_es(const ecs_stage* stage, ecs_entity entity,
                     ES_CONTEXT const swarm_context* context, const ecs_vec2* pos,
                     ecs_vec2* trail) {
    if (!context->has_trails) return;
    base_rng rng = ecs_stage_rng(stage, entity);
    trail->x += (pos->x - trail->x) * 0.5f + base_rng_float(&rng);
    trail->y += (pos->y - trail->y) * 0.5f;
    const swarm_brush brush = {base_rng_below(&rng, 16)};
    if (brush.strength > 2) return;
    (void)ecs_event_send(stage->world, context->last_brushed, context->brush, &brush);
    (void)ecs_event_send(stage->world, entity, context->brush, &brush);
}

// It depends on the order of events.
ES_TAG(server | gameClient)
ES_ON_EVENT(brush)
static void brush_es_event_handler(ecs_entity entity, ES_CONTEXT swarm_context* context,
                                   const swarm_brush* event, uint32_t* brushes) {
    *brushes = *brushes * 31 + event->strength + 1;
    context->last_brushed = entity;
}

ES_TAG(server)
ES_ON_EVENT(steer)
static void steer_es_event_handler(const ecs_stage* stage, ES_CONTEXT swarm_context* context,
                                   const swarm_steer* event, ecs_vec2* pos, uint32_t* steered) {
    ecs_entity clock_entity = ecs_query_first(stage->world, context->clocks);
    const swarm_clock* clock = ecs_get(stage->world, clock_entity, context->clock_component);
    if (is_quiet(context, clock, stage->tick)) return;
    if (context->grants == 2) return;
    pos->x = base_clamp(pos->x + (float)event->dx * 0.125f, -120.0f, 120.0f);
    pos->y = base_clamp(pos->y + (float)event->dy * 0.125f, -120.0f, 120.0f);
    *steered += 1;
}

ES_TAG(server)
ES_ON_EVENT(shout)
static void shout_es_event_handler(ES_CONTEXT swarm_context* context, const swarm_shout* event,
                                   uint32_t* shouts) {
    if (event->number != *shouts + 1) context->shout_faults++;
    *shouts = event->number;
}

ES_TAG(gameClient)
ES_ON_EVENT(ping)
static void ping_es_event_handler(ES_CONTEXT swarm_context* context, const swarm_ping* event) {
    if (context->ping_last != 0 && event->number != context->ping_last + 1) context->ping_faults++;
    context->ping_last = event->number;
    context->pings++;
}

ES_TAG(gameClient)
ES_ON_EVENT(spark)
static void spark_es_event_handler(ES_CONTEXT swarm_context* context) {
    context->sparks++;
}

static ecs_result register_systems(ecs_world* world, void** out, const base_reporter* reporter) {
    (void)reporter;
    swarm_context* context = ecs_world_context(world, sizeof *context);
    context->clock_component = ecs_component_find(world, "clock");
    context->pos = ecs_component_find(world, "pos");
    context->hp = ecs_component_find(world, "hp");
    context->target = ecs_component_find(world, "target");
    context->heat = ecs_component_find(world, "heat");
    context->steered = ecs_component_find(world, "steered");
    context->shouts = ecs_component_find(world, "shouts");
    context->player_id = ecs_component_find(world, "player_id");
    context->mote = ecs_template_find(world, "mote");
    context->rock = ecs_template_find(world, "rock");
    context->avatar = ecs_template_find(world, "avatar");
    context->burning = ecs_template_find(world, "burning");
    context->clock = ecs_template_find(world, "clock");
    context->steer = ecs_event_find(world, "steer");
    context->ping = ecs_event_find(world, "ping");
    context->spark = ecs_event_find(world, "spark");
    context->shout = ecs_event_find(world, "shout");
    context->brush = ecs_event_find(world, "brush");
    static const ecs_term MOVERS[] = {{"pos", "p2", ECS_WRITE}};
    static const ecs_term TARGETS[] = {{"target", "eid", ECS_READ}};
    static const ecs_term CLOCKS[] = {{"clock", "SwarmClock", ECS_READ}};
    ecs_result result = ecs_query_create(world, MOVERS, 1, &context->movers);
    if (result == ECS_OK) result = ecs_query_create(world, TARGETS, 1, &context->targets);
    if (result == ECS_OK) result = ecs_query_create(world, CLOCKS, 1, &context->clocks);
    if (result == ECS_OK) result = swarm_register_systems(world, context);
    if (result == ECS_OK) result = swarm_wild_init(world, context);
    *out = context;
    return result;
}

static void start(ecs_world* world, void* context_pointer, const net_game_start* begin) {
    swarm_context* context = context_pointer;
    context->services = begin->services;
    context->salt = (uint32_t)begin->settings[2];
    context->load = (uint32_t)begin->settings[3];
    context->grants = (uint32_t)begin->settings[4];
    ecs_entity entity;
    swarm_clock clock = {.quiet_tick = (uint32_t)begin->settings[0]};
    ecs_init init = {context->clock_component, &clock};
    (void)!ecs_create(world, context->clock, &init, 1, &entity);
    for (uint32_t i = 0; i < POPULATION_MIN; i++)
        (void)!ecs_create(world, i % 3 ? context->mote : context->rock, NULL, 0, &entity);
}

static ecs_entity player_join(ecs_world* world, void* context_pointer,
                              const net_game_player* player) {
    swarm_context* context = context_pointer;
    ecs_entity entity = ECS_ENTITY_NONE;
    ecs_init init = {context->player_id, &player->client};
    (void)!ecs_create(world, context->avatar, &init, 1, &entity);
    swarm_wild_join(world, context, player->client, entity);
    return entity;
}

static void player_leave(ecs_world* world, void* context, uint32_t client, ecs_entity entity) {
    swarm_wild_leave(context, client);
    if (ecs_is_alive(world, entity)) (void)!ecs_destroy(world, entity);
}

static void bot_think(const net_player_context* view, void* input) {
    swarm_steer* steer = input;
    steer->dx = base_rng_range(view->rng, -5, 5);
    steer->dy = base_rng_range(view->rng, -5, 5);
}

const net_game_module* swarm_module_get(void) {
    static const net_message MESSAGES[] = {
        {"Steer", &swarm__steer__descriptor, "steer", NET_MESSAGE_INPUT, false, steer_to_wire,
         steer_from_wire, false, NULL},
        {"Ping", &swarm__ping__descriptor, "ping", NET_MESSAGE_TO_CLIENTS, true, ping_to_wire,
         ping_from_wire, false, NULL},
        {"Spark", &swarm__spark__descriptor, "spark", NET_MESSAGE_TO_CLIENTS, false, spark_to_wire,
         spark_from_wire, false, NULL},
        {"Shout", &swarm__shout__descriptor, "shout", NET_MESSAGE_TO_SERVER, true, shout_to_wire,
         shout_from_wire, false, NULL},
    };
    static const net_setting SETTINGS[] = {
        {"quiet", 300, 0, 4e9, "the tick from which on nothing changes"},
        {"hardness", 1, 0, 10, "has no effect; it differs in tests of settings"},
        {"salt", 0, 0, 1, "1: values that no client may see are different, and change less"},
        {"load", 0, 0, 2,
         "1: everything moves in every tick; 2: so do other values; plain: a crowd"},
        {"grants", 1, 0, 2,
         "0: no client sees the vault; 2: only the first client, and no client steers"},
    };
    static const net_game_module MODULE = {
        .contract_version = NET_GAME_CONTRACT_VERSION,
        .size_bytes = sizeof(net_game_module),
        .core_version = ECS_CORE_VERSION,
        .name = "swarm",
        .title = "Swarm",
        .view_width = 256,
        .view_height = 256,
        .messages = MESSAGES,
        .message_count = BASE_COUNT(MESSAGES),
        .message_bytes = sizeof(net_message),
        .settings = SETTINGS,
        .setting_count = BASE_COUNT(SETTINGS),
        .setting_bytes = sizeof(net_setting),
        .register_types = swarm_register_types,
        .register_systems = register_systems,
        .start = start,
        .player_join = player_join,
        .player_leave = player_leave,
        .bot_think = bot_think,
    };
    return &MODULE;
}
