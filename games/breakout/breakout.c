// SPDX-License-Identifier: MIT
// The module table of breakout lists all parts of the game. Start reading here.
//
// The server has one world (rules, pads, balls), and each client has a mirror of it (bots,
// picture). Both register the same types and templates. The tags of a system decide where the
// system runs. The order of registration below is the order within a tick: pads move, balls fly,
// then the rules check the result.

#include "breakout.h"

#include "base/math.h"

#include <string.h>

static const net_setting settings[BREAKOUT_SETTING_COUNT] = {
    [BREAKOUT_SETTING_BALL_SPEED] = {"ball_speed", 1.0, 0.25, 2.0, "factor on the speed of balls"},
    [BREAKOUT_SETTING_PAD_SPEED] = {"pad_speed", 900.0, 100.0, 3000.0,
                                    "speed of pads, units per second (the field is 1200 wide)"},
    [BREAKOUT_SETTING_LIVES] = {"lives", 3.0, 1.0, 99.0, "lives at the start of a game"},
    [BREAKOUT_SETTING_LEVEL] = {"level", 1.0, 1.0, 99.0, "level at the start of a game"},
    [BREAKOUT_SETTING_BRICK_HITS] = {"brick_hits", 0.0, 0.0, 4.0,
                                     "so many more hits does each brick take"},
};

static const net_action actions[BREAKOUT_ACTION_COUNT] = {
    [BREAKOUT_ACTION_LEFT] = {"left", "Left,A", "move the pad to the left"},
    [BREAKOUT_ACTION_RIGHT] = {"right", "Right,D", "move the pad to the right"},
    [BREAKOUT_ACTION_LAUNCH] = {"launch", "Space,Up,W", "let go of the ball"},
    [BREAKOUT_ACTION_CHEER + 0] = {"hi", "1", "say hi!"},
    [BREAKOUT_ACTION_CHEER + 1] = {"nice", "2", "say nice!"},
    [BREAKOUT_ACTION_CHEER + 2] = {"wow", "3", "say wow!"},
    [BREAKOUT_ACTION_CHEER + 3] = {"oops", "4", "say oops!"},
    [BREAKOUT_ACTION_CHEER + 4] = {"mine", "5", "say mine!"},
    [BREAKOUT_ACTION_CHEER + 5] = {"gg", "6", "say good game"},
    [BREAKOUT_ACTION_CHEER + 6] = {"help", "7", "say help!"},
    [BREAKOUT_ACTION_CHEER + 7] = {"thanks", "8", "say thanks"},
};

float breakout_snap(float value) {
    return base_floor(value / BREAKOUT_GRID + 0.5f) * BREAKOUT_GRID;
}

void breakout_take_settings(breakout_game* game, const net_game_start* start) {
    game->tick_rate_hz = start->tick_rate_hz;
    for (uint32_t i = 0; i < start->setting_count && i < BREAKOUT_SETTING_COUNT; i++) {
        game->settings[i] = start->settings[i];
    }
}

// Find the ids that the systems need, so that no system looks up a name in a tick.
static ecs_result find_ids(ecs_world* world, breakout_game* game) {
    game->pos = ecs_component_find(world, "pos");
    game->rect_size = ecs_component_find(world, "rectSize");
    game->color = ecs_component_find(world, "color");
    game->vel = ecs_component_find(world, "vel");
    game->brick_cell = ecs_component_find(world, "brick.pos");
    game->hits = ecs_component_find(world, "hits");
    game->player = ecs_component_find(world, "player");
    game->input = ecs_component_find(world, "input");
    game->owner = ecs_component_find(world, "owner");
    game->launch = ecs_component_find(world, "launch");
    game->match = ecs_component_find(world, "match");
    game->pause_ticks = ecs_component_find(world, "pause_ticks");
    game->serves = ecs_component_find(world, "serves");
    game->served = ecs_component_find(world, "served");
    game->level = ecs_component_find(world, "level");
    const ecs_component_id components[] = {
        game->pos,   game->rect_size,   game->color,  game->vel,    game->brick_cell,
        game->hits,  game->player,      game->input,  game->owner,  game->launch,
        game->match, game->pause_ticks, game->serves, game->served, game->level,
    };
    for (uint32_t i = 0; i < BASE_COUNT(components); i++) {
        if (components[i] == ECS_COMPONENT_NONE) return ECS_ERR_UNKNOWN;
    }
    game->brick_template = ecs_template_find(world, "breakout_brick");
    game->rubble_template = ecs_template_find(world, "breakout_rubble");
    game->pad_template = ecs_template_find(world, "breakout_pad");
    game->ball_template = ecs_template_find(world, "breakout_ball");
    game->match_template = ecs_template_find(world, "breakout_match");
    game->level_template = ecs_template_find(world, "breakout_level");
    if (!game->brick_template || !game->rubble_template || !game->pad_template ||
        !game->ball_template || !game->match_template || !game->level_template) {
        return ECS_ERR_UNKNOWN;
    }
    game->brick_hit = ecs_event_find(world, "brick_hit");
    game->level_cleared = ecs_event_find(world, "level_cleared");
    game->life_lost = ecs_event_find(world, "life_lost");
    game->cheered = ecs_event_find(world, "cheered");
    return ECS_OK;
}

// Several files use these queries, each with other columns, so they are created by hand. A query
// with one user is a *_ecs_query function beside that user (predict.c).
static ecs_result create_queries(ecs_world* world, breakout_game* game) {
    static const ecs_term bricks[] = {{"pos", "p2", ECS_READ},
                                      {"rectSize", "p2", ECS_READ},
                                      {"hits", "i", ECS_READ},
                                      {"color", "c", ECS_READ}};
    static const ecs_term rubble[] = {{"rubble", "tag", ECS_REQUIRE}};
    static const ecs_term pads[] = {{"pos", "p2", ECS_READ},
                                    {"rectSize", "p2", ECS_READ},
                                    {"player", "BreakoutPlayer", ECS_READ},
                                    {"input", "BreakoutInput", ECS_READ}};
    static const ecs_term balls[] = {{"pos", "p2", ECS_READ},
                                     {"vel", "p2", ECS_READ},
                                     {"radius", "r", ECS_READ},
                                     {"owner", "BreakoutOwner", ECS_READ},
                                     {"launch", "BreakoutLaunch", ECS_READ}};
    static const ecs_term levels[] = {{"level", "BreakoutLevel", ECS_READ}};
    static const ecs_term matches[] = {{"match", "BreakoutMatch", ECS_READ}};
    ecs_result result = ecs_query_create(world, bricks, BASE_COUNT(bricks), &game->bricks);
    if (!result) result = ecs_query_create(world, rubble, BASE_COUNT(rubble), &game->rubble);
    if (!result) result = ecs_query_create(world, pads, BASE_COUNT(pads), &game->pads);
    if (!result) result = ecs_query_create(world, balls, BASE_COUNT(balls), &game->balls);
    if (!result) result = ecs_query_create(world, matches, BASE_COUNT(matches), &game->matches);
    if (!result) result = ecs_query_create(world, levels, BASE_COUNT(levels), &game->levels);
    return result;
}

// The template holds the speed, so that a level designer can change it without a compiler.
static float template_speed(ecs_world* world, const breakout_game* game) {
    const ecs_template* ball = ecs_template_get(world, ecs_template_find(world, "ball"));
    const ecs_template_component* vel = ball ? ecs_template_find_component(ball, game->vel) : NULL;
    if (!vel || !vel->value) return 0.0f;
    ecs_vec2 value;
    memcpy(&value, vel->value, sizeof value);
    return base_sqrt(value.x * value.x + value.y * value.y);
}

static ecs_result register_systems(ecs_world* world, void** context,
                                   const base_reporter* reporter) {
    breakout_game* game = ecs_world_context(world, sizeof *game);
    if (!game) return ECS_ERR_MEMORY;
    *context = game;
    ecs_result result = find_ids(world, game);
    if (result) {
        base_report(reporter, "breakout.blk", 0, "a template or component of the game is missing");
        return result;
    }
    game->ball_speed = template_speed(world, game);
    if (!(game->ball_speed > 1.0f)) {
        base_report(reporter, "breakout.blk", 0, "template ball: vel must not be zero");
        return ECS_ERR_UNKNOWN;
    }
    game->is_truth = ecs_world_has_tag(world, "server");
    game->tick_rate_hz = 60;
    for (uint32_t i = 0; i < BREAKOUT_SETTING_COUNT; i++) {
        game->settings[i] = settings[i].value_default;
    }
    result = create_queries(world, game);
    if (!result) result = breakout_register_prediction(world, game);
    if (!result) result = breakout_register_pads(world, game);
    if (!result) result = breakout_register_balls(world, game);
    if (!result) result = breakout_register_rules(world, game);
    if (!result) result = breakout_register_view(world, game);
    if (!result && game->is_truth) breakout_set_loader(world, game);
    return result;
}

// The worlds of a client get the tick rate and the settings of the server for bots and predictions.
static void mirror_start(ecs_world* world, void* context, const net_game_start* start) {
    (void)world;
    breakout_take_settings(context, start);
}

static const net_game_module module = {
    .contract_version = NET_GAME_CONTRACT_VERSION,
    .size_bytes = sizeof(net_game_module),
    .core_version = ECS_CORE_VERSION,
    .name = "breakout",
    .title = "Breakout",
    .view_width = BREAKOUT_FIELD_WIDTH,
    .view_height = BREAKOUT_FIELD_HEIGHT,
    .messages = breakout_messages,
    .message_count = BREAKOUT_MESSAGE_COUNT,
    .message_bytes = sizeof(net_message),
    .settings = settings,
    .setting_count = BREAKOUT_SETTING_COUNT,
    .setting_bytes = sizeof(net_setting),
    .actions = actions,
    .action_count = BREAKOUT_ACTION_COUNT,
    .action_bytes = sizeof(net_action),
    .register_types = breakout_register_types,
    .register_systems = register_systems,
    .start = breakout_start,
    .player_join = breakout_player_join,
    .player_leave = breakout_player_leave,
    .bot_think = breakout_bot_think,
    .human_input = breakout_human_input,
    .mirror_start = mirror_start,
    .predict = breakout_predict,
};

const net_game_module* breakout_module(void) {
    return &module;
}
