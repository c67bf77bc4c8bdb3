// SPDX-License-Identifier: MIT
// The module table of arena lists all parts of the game. Start reading here.
//
// The order of registration below is the order within a tick: killed fighters leave and new ones
// are created, minds read the grid, fighters and tanks move, guns fire, shots fly, then pick-ups
// and flags find the fighter that touches them.
//
// Soldiers think, fighters move and shots fly in ranges of rows that run at the same time. They
// read the grid and send events (trigger, struck); what counts or kills is in the handlers, one by
// one.

#include "arena.h"

#include <string.h>

static const net_setting settings[ARENA_SETTING_COUNT] = {
    [ARENA_SETTING_AGENTS] = {"agents", 1000.0, 0.0, 4000.0, "soldiers of the server, all teams"},
    [ARENA_SETTING_SHOTS] = {"shots", 400.0, 0.0, 4000.0, "shots that fly at one time"},
    [ARENA_SETTING_PICKUPS] = {"pickups", 150.0, 0.0, 1000.0, "pick-ups that lie around"},
    [ARENA_SETTING_ROUND_S] = {"round_s", 300.0, 5.0, 3600.0, "seconds of a round"},
    [ARENA_SETTING_TANKS] = {"tanks", 4.0, 0.0, 8.0, "tanks of all teams"},
    [ARENA_SETTING_DAMAGE] = {"damage", 1.0, 0.0, 10.0, "factor on what shots and rays take"},
};

static const net_action actions[ARENA_ACTION_COUNT] = {
    [ARENA_ACTION_LEFT] = {"left", "Left,A", "go to the left"},
    [ARENA_ACTION_RIGHT] = {"right", "Right,D", "go to the right"},
    [ARENA_ACTION_UP] = {"up", "Up,W", "go up"},
    [ARENA_ACTION_DOWN] = {"down", "Down,S", "go down"},
    [ARENA_ACTION_FIRE] = {"fire", "Space", "shoot (or the pointer's button)"},
    [ARENA_ACTION_RAY] = {"ray", "E,Left Shift", "a ray: strikes what you see at once"},
    [ARENA_ACTION_USE + ARENA_HEALTH_KIT] = {"kit", "1", "use a health kit of the pack"},
    [ARENA_ACTION_USE + ARENA_AMMO_BOX] = {"box", "2", "use an ammunition box of the pack"},
    [ARENA_ACTION_USE + ARENA_POWER] = {"power", "3", "use the power of the pack"},
    [ARENA_ACTION_SAY + 0] = {"follow", "Z", "say: follow me!"},
    [ARENA_ACTION_SAY + 1] = {"help", "X", "say: help!"},
    [ARENA_ACTION_SAY + 2] = {"thanks", "C", "say: thanks!"},
    [ARENA_ACTION_SAY + 3] = {"flag", "V", "say: to the flag!"},
    [ARENA_ACTION_RALLY] = {"rally", "R", "call the team's soldiers here"},
};

void arena_take_settings(arena_game* game, const net_game_start* start) {
    game->tick_rate_hz = start->tick_rate_hz;
    game->dt = start->dt;
    for (uint32_t i = 0; i < start->setting_count && i < ARENA_SETTING_COUNT; i++)
        game->settings[i] = start->settings[i];
}

// Find the ids that the systems need, so that no system looks up a name in a tick.
static bool find_components(ecs_world* world, arena_game* game) {
    const struct {
        const char* name;
        ecs_component_id* id;
    } wanted[] = {
        {"pos", &game->pos},
        {"vel", &game->vel},
        {"team", &game->team},
        {"owner", &game->owner},
        {"together", &game->together},
        {"health", &game->health},
        {"condition", &game->condition},
        {"gun", &game->gun},
        {"order", &game->order},
        {"mind", &game->mind},
        {"aim", &game->aim},
        {"seat", &game->seat},
        {"input", &game->input},
        {"wait_tick", &game->wait_tick},
        {"boost_tick", &game->boost_tick},
        {"end_tick", &game->end_tick},
        {"shot", &game->shot},
        {"kind", &game->kind},
        {"flag", &game->flag},
        {"channel", &game->channel},
        {"beacon_tick", &game->beacon_tick},
        {"match", &game->match},
        {"score", &game->score},
        {"entry", &game->entry},
        {"name", &game->name},
        {"chat", &game->chat},
        {"rounds", &game->rounds},
        {"pack", &game->pack},
        {"route", &game->route},
        {ECS_PARENT_NAME, &game->parent},
    };
    for (uint32_t i = 0; i < BASE_COUNT(wanted); i++) {
        *wanted[i].id = ecs_component_find(world, wanted[i].name);
        if (*wanted[i].id == ECS_COMPONENT_NONE) return false;
    }
    return true;
}

static bool find_templates(ecs_world* world, arena_game* game) {
    const struct {
        const char* name;
        ecs_template_id* id;
    } wanted[] = {
        {"arena_soldier", &game->soldier_template},
        {"arena_soldier+boost", &game->soldier_boost_template},
        {"arena_player", &game->player_template},
        {"arena_player+boost", &game->player_boost_template},
        {"arena_ghost", &game->ghost_template},
        {"arena_shot", &game->shot_template},
        {"arena_pickup", &game->pickup_template},
        {"arena_flag", &game->flag_template},
        {"arena_beacon", &game->beacon_template},
        {"arena_match", &game->match_template},
        {"arena_entry", &game->entry_template},
        {"arena_tank", &game->tank_template},
        {"arena_turret", &game->turret_template},
        {"arena_team_1", &game->team_templates[0]},
        {"arena_team_2", &game->team_templates[1]},
        {"arena_team_3", &game->team_templates[2]},
        {"arena_team_4", &game->team_templates[3]},
    };
    for (uint32_t i = 0; i < BASE_COUNT(wanted); i++) {
        *wanted[i].id = ecs_template_find(world, wanted[i].name);
        if (*wanted[i].id == ECS_TEMPLATE_NONE) return false;
    }
    return true;
}

static ecs_result create_queries(ecs_world* world, arena_game* game) {
    static const ecs_term fighters[] = {
        {"pos", "p2", ECS_READ},    {"vel", "p2", ECS_READ},    {"team", "u8", ECS_READ},
        {"owner", "u32", ECS_READ}, {"health", "u8", ECS_READ}, {"condition", "u8", ECS_READ},
    };
    static const ecs_term soldiers[] = {{"team", "u8", ECS_READ},
                                        {"order", "ArenaOrder", ECS_READ}};
    static const ecs_term players[] = {{"pos", "p2", ECS_READ},
                                       {"team", "u8", ECS_READ},
                                       {"seat", "ArenaSeat", ECS_READ},
                                       {"owner", "u32", ECS_READ}};
    static const ecs_term shots[] = {{"pos", "p2", ECS_READ},
                                     {"vel", "p2", ECS_READ},
                                     {"team", "u8", ECS_READ},
                                     {"shot", "ArenaShot", ECS_READ}};
    static const ecs_term pickups[] = {{"pos", "p2", ECS_READ}, {"kind", "u8", ECS_READ}};
    static const ecs_term flags[] = {
        {"pos", "p2", ECS_READ}, {"team", "u8", ECS_READ}, {"flag", "ArenaFlag", ECS_READ}};
    static const ecs_term beacons[] = {
        {"pos", "p2", ECS_READ}, {"team", "u8", ECS_READ}, {"beacon_tick", "u32", ECS_READ}};
    static const ecs_term scores[] = {{"score", "ArenaScore", ECS_READ}};
    static const ecs_term matches[] = {{"match", "ArenaMatch", ECS_READ}};
    static const ecs_term entries[] = {{"entry", "ArenaEntry", ECS_READ}, {"name", "t", ECS_READ}};
    const struct {
        const ecs_term* terms;
        uint32_t count;
        ecs_query** query;
    } wanted[] = {
        {fighters, BASE_COUNT(fighters), &game->fighters},
        {soldiers, BASE_COUNT(soldiers), &game->soldiers},
        {players, BASE_COUNT(players), &game->players},
        {shots, BASE_COUNT(shots), &game->shots},
        {pickups, BASE_COUNT(pickups), &game->pickups},
        {flags, BASE_COUNT(flags), &game->flags},
        {beacons, BASE_COUNT(beacons), &game->beacons},
        {scores, BASE_COUNT(scores), &game->scores},
        {matches, BASE_COUNT(matches), &game->matches},
        {entries, BASE_COUNT(entries), &game->entries},
    };
    ecs_result result = ECS_OK;
    for (uint32_t i = 0; i < BASE_COUNT(wanted) && !result; i++)
        result = ecs_query_create(world, wanted[i].terms, wanted[i].count, wanted[i].query);
    return result;
}

static ecs_result register_systems(ecs_world* world, void** context,
                                   const base_reporter* reporter) {
    arena_game* game = ecs_world_context(world, sizeof *game);
    if (!game) return ECS_ERR_MEMORY;
    *context = game;
    game->is_truth = ecs_world_has_tag(world, "server");
    game->tick_rate_hz = 30;
    game->dt = 1.0f / 30.0f;
    for (uint32_t i = 0; i < ARENA_SETTING_COUNT; i++)
        game->settings[i] = settings[i].value_default;
    if (!find_components(world, game) || !find_templates(world, game)) {
        base_report(reporter, "arena.blk", 0, "a template or component of the game is missing");
        return ECS_ERR_UNKNOWN;
    }
    game->said = ecs_event_find(world, "said");
    game->hit = ecs_event_find(world, "hit");
    game->ray = ecs_event_find(world, "ray");
    game->killed = ecs_event_find(world, "killed");
    game->flag_moved = ecs_event_find(world, "flag_moved");
    game->round_over = ecs_event_find(world, "round_over");
    game->trigger = ecs_event_find(world, "trigger");
    game->struck = ecs_event_find(world, "struck");
    if (game->is_truth) {
        game->grid = ecs_world_context(world, sizeof *game->grid);
        if (!game->grid) return ECS_ERR_MEMORY;
    }
    ecs_result result = create_queries(world, game);
    if (!result) result = arena_register_rules(world, game);
    if (!result) result = arena_register_minds(world, game);
    if (!result) result = arena_register_moves(world, game);
    if (!result) result = arena_register_tanks(world, game);
    if (!result) result = arena_register_shots(world, game);
    if (!result) result = arena_register_pickups(world, game);
    if (!result) result = arena_register_packs(world, game);
    if (!result) result = arena_register_flags(world, game);
    if (!result) result = arena_register_board(world, game);
    if (!result) result = arena_register_view(world, game);
    return result;
}

// The worlds of a client get the tick rate and the settings of the server.
static void mirror_start(ecs_world* world, void* context, const net_game_start* start) {
    (void)world;
    arena_take_settings(context, start);
}

static const net_game_module module = {
    .contract_version = NET_GAME_CONTRACT_VERSION,
    .size_bytes = sizeof(net_game_module),
    .core_version = ECS_CORE_VERSION,
    .name = "arena",
    .title = "Arena",
    .view_width = ARENA_VIEW_WIDTH,
    .view_height = ARENA_VIEW_HEIGHT,
    .messages = arena_messages,
    .message_count = ARENA_MESSAGE_COUNT,
    .message_bytes = sizeof(net_message),
    .settings = settings,
    .setting_count = ARENA_SETTING_COUNT,
    .setting_bytes = sizeof(net_setting),
    .actions = actions,
    .action_count = ARENA_ACTION_COUNT,
    .action_bytes = sizeof(net_action),
    .register_types = arena_register_types,
    .register_systems = register_systems,
    .start = arena_start,
    .player_join = arena_player_join,
    .player_leave = arena_player_leave,
    .bot_think = arena_bot_think,
    .human_input = arena_human_input,
    .mirror_start = mirror_start,
    .predict = arena_predict,
    .is_rewinding = true,
    .interest = &arena_interest,
};

const net_game_module* arena_module(void) {
    return &module;
}
