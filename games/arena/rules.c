// SPDX-License-Identifier: MIT
// The rules of a match: who plays, which fighters are replaced, which team wins.
//
// A tick begins with the fighters that were killed in the tick before. Soldiers are destroyed, and
// others replace them, a few per tick. Players become ghosts for a while (recreated, the same
// handle) and then return in their base. After this the grid is built for the minds, and once more
// after the moves for shots and pick-ups. The grid is never kept for the next tick, so a restored
// world has the same future. A round ends by time. The team with most points wins it; among equals
// the team with the lower number wins.

#include "arena.h"
#include "rules.es.h"

#define GHOST_S 2.5f
#define BEACON_S 25.0f
#define SPAWNS_PER_TICK 2u ///< per team
#define RAID_PERCENT 12u
#define GUARD_PERCENT 8u

// ---- join and leave ----

static void place_soldier(ecs_world* world, const arena_game* game, uint8_t team, bool is_first) {
    base_rng* rng = ecs_world_rng(world);
    uint32_t roll = base_rng_below(rng, 100);
    const arena_mind mind = {.role = roll < RAID_PERCENT                   ? ARENA_RAID
                                     : roll < RAID_PERCENT + GUARD_PERCENT ? ARENA_GUARD
                                                                           : ARENA_ROAM};
    ecs_vec2 pos = arena_place_in_base(rng, team);
    if (is_first && mind.role == ARENA_ROAM) {
        pos.x = arena_snap(8.0f + base_rng_float(rng) * (ARENA_SIZE - 16.0f));
        pos.y = arena_snap(8.0f + base_rng_float(rng) * (ARENA_SIZE - 16.0f));
    }
    const arena_order order = {mind.role, (int32_t)pos.x, (int32_t)pos.y};
    (void)ecs_command_create(world, game->soldier_template,
                             ECS_INITS({game->pos, &pos}, {game->team, &team}, {game->mind, &mind},
                                       {game->order, &order}));
}

static void count_soldiers_ecs_query(ES_CONTEXT uint32_t* counts, uint8_t team,
                                     const arena_order* order) {
    (void)order;
    counts[team]++;
}

static void fill_teams(ecs_world* world, const arena_game* game) {
    uint32_t counts[256] = {0};
    count_soldiers_run(world, game->count_soldiers, counts);
    for (uint32_t team = 1; team <= ARENA_TEAMS; team++) {
        uint32_t agents = game->settings.agents;
        uint32_t wanted = agents / ARENA_TEAMS + (team <= agents % ARENA_TEAMS);
        for (uint32_t i = 0; i < SPAWNS_PER_TICK && counts[team] + i < wanted; i++)
            place_soldier(world, game, (uint8_t)team, false);
    }
}

void arena_start(ecs_world* world, arena_game* game, const net_game_start* start) {
    (void)start;
    const arena_match match = {.round = 1, .end_tick = arena_ticks(game, game->settings.round_s)};
    (void)ecs_command_create(world, game->match_template, ECS_INITS({game->match, &match}));
    for (uint8_t team = 1; team <= ARENA_TEAMS; team++) {
        const arena_score score = {.team = team};
        (void)ecs_command_create(world, game->team_templates[team - 1],
                                 ECS_INITS({game->score, &score}));
        arena_place_flag(world, game, team);
    }
    for (uint32_t i = 0; i < game->settings.pickups; i++)
        arena_place_pickup(world, game, (uint8_t)(i % ARENA_PICKUP_KINDS));
    for (uint32_t i = 0; i < game->settings.agents; i++)
        place_soldier(world, game, (uint8_t)(i % ARENA_TEAMS + 1), true);
    arena_place_tanks(world, game);
    ecs_command_flush(world);
}

static void count_teams_ecs_query(ES_CONTEXT uint32_t* counts, uint8_t team,
                                  const arena_seat* seat) {
    (void)seat;
    counts[team]++;
}

ecs_entity arena_player_join(ecs_world* world, arena_game* game, const net_game_player* player) {
    uint32_t counts[256] = {0};
    count_teams_run(world, game->count_teams, counts);
    uint8_t team = 1; // the smallest one
    for (uint8_t other = 2; other <= ARENA_TEAMS; other++)
        if (counts[other] < counts[team]) team = other;
    arena_entry entry = {.client = player->client, .team = team};
    arena_seat seat = {ECS_ENTITY_NONE};
    // When the world is full, the new player only watches.
    if (ecs_create(world, game->entry_template, ECS_INITS({game->entry, &entry}), &seat.entry))
        return ECS_ENTITY_NONE;
    const ecs_vec2 pos = arena_place_in_base(ecs_world_rng(world), team);
    if (ecs_create(world, game->player_template,
                   ECS_INITS({game->pos, &pos}, {game->team, &team}, {game->owner, &player->client},
                             {game->seat, &seat}),
                   &entry.player)) {
        (void)!ecs_destroy(world, seat.entry);
        return ECS_ENTITY_NONE;
    }
    (void)!ecs_set(world, seat.entry, game->entry, &entry);
    arena_set_name(world, game, seat.entry, player->name);
    arena_hear_team(game, player->client, team);
    return entry.player;
}

// A ghost has an entry too, so the client finds it.
static void find_entry_ecs_query(ES_CONTEXT ecs_entity* found, ES_CONTEXT uint32_t client,
                                 ecs_entity entity, const arena_entry* entry) {
    if (entry->client == client) *found = entity;
}

void arena_player_leave(ecs_world* world, arena_game* game, uint32_t client, ecs_entity entity) {
    ecs_entity entry = ECS_ENTITY_NONE;
    find_entry_run(world, game->find_entry, &entry, client);
    if (entry != ECS_ENTITY_NONE) (void)!ecs_destroy(world, entry);
    if (ecs_is_alive(world, entity)) (void)!ecs_destroy(world, entity);
}

// ---- begin of a tick ----

ES_TAG(server)
static void bury_soldiers_es(const ecs_stage* stage, ecs_entity entity, uint8_t health,
                             const arena_mind* mind) {
    (void)mind;
    if (health == 0) (void)ecs_command_destroy(stage->world, entity);
}

// The server updates the scope of a client every few ticks. Enemies that saw the player must not
// see its ghost until then, so their scopes are updated in this tick.
static void look_near_ecs_query(ES_CONTEXT const arena_game* game, ES_CONTEXT ecs_vec2 from,
                                ecs_vec2 pos, const arena_seat* seat, uint32_t owner) {
    (void)seat;
    if (ecs_vec2_distance(pos, from) < ARENA_GHOST_SIGHT * 1.25f) arena_look_again(game, owner);
}

ES_TAG(server)
ES_REQUIRE(input : ArenaInput)
static void bury_players_es(const ecs_stage* stage, ES_CONTEXT const arena_game* game,
                            ecs_entity entity, uint8_t health, uint32_t owner, ecs_vec2 pos) {
    if (health != 0) return;
    const uint32_t wait = (uint32_t)stage->tick + arena_ticks(game, GHOST_S);
    const ecs_vec2 vel = {0.0f, 0.0f};
    (void)ecs_command_recreate(stage->world, entity, game->ghost_template,
                               ECS_INITS({game->wait_tick, &wait}, {game->vel, &vel}));
    look_near_run(stage->world, game->look_near, game, pos);
    arena_look_from(game, owner, &pos, ARENA_GHOST_SIGHT);
}

ES_TAG(server)
static void revive_es(const ecs_stage* stage, ES_CONTEXT const arena_game* game, ecs_entity entity,
                      uint32_t wait_tick, uint8_t team, uint32_t owner) {
    if (stage->tick < wait_tick) return;
    const ecs_vec2 pos = arena_place_in_base(ecs_world_rng(stage->world), team);
    (void)ecs_command_recreate(stage->world, entity, game->player_template,
                               ECS_INITS({game->pos, &pos}));
    arena_look_from(game, owner, NULL, 0.0f);
}

static void end_round(ecs_world* world, const arena_game* game, arena_match* match, ecs_tick tick) {
    arena_round_over over = {.winner = 1, .round = (uint32_t)match->round};
    int32_t best = -1;
    for (uint8_t team = 1; team <= ARENA_TEAMS; team++) {
        arena_score* score = arena_find_score(world, game, team);
        if (!score) continue;
        if (arena_points(score) > best) {
            best = arena_points(score);
            over.winner = team;
            over.points = (uint32_t)best;
        }
        *score = (arena_score){.team = team};
    }
    arena_add_round(world, game, &over);
    ecs_query_iter it = ecs_query_begin(world, game->entries);
    while (ecs_query_next(&it)) {
        for (uint32_t i = 0; i < it.rows.count; i++) {
            arena_entry* entry = ecs_get_mut(world, it.rows.entities[i], game->entry);
            entry->kills = entry->deaths = entry->captures = 0;
        }
    }
    // A server with --log-ring keeps the last seconds of each round.
    const net_game_services* services = game->services;
    if (services && services->size_bytes >= sizeof *services)
        services->save_log(services->context, "round");
    match->round++;
    match->winner = (int32_t)over.winner;
    match->end_tick = (uint32_t)tick + arena_ticks(game, game->settings.round_s);
    (void)ecs_event_broadcast(world, game->round_over, &over);
}

ES_TAG(server)
static void rules_es(const ecs_stage* stage, ES_CONTEXT arena_game* game, arena_match* match) {
    game->shots_made = 0;
    fill_teams(stage->world, game);
    if (stage->tick >= match->end_tick) end_round(stage->world, game, match, stage->tick);
}

// ---- the team's beacon ----

ES_TAG(server)
ES_ON_EVENT(rally)
ES_REQUIRE(health : u8)
static void rally_es_event_handler(const ecs_stage* stage, ES_CONTEXT const arena_game* game,
                                   ecs_vec2 pos, uint8_t team) {
    const uint32_t end = (uint32_t)stage->tick + arena_ticks(game, BEACON_S);
    ecs_query_iter it = ecs_query_begin(stage->world, game->beacons);
    while (ecs_query_next(&it)) {
        const uint8_t* teams = it.rows.columns[1];
        for (uint32_t i = 0; i < it.rows.count; i++) {
            if (teams[i] != team) continue;
            *(ecs_vec2*)ecs_get_mut(stage->world, it.rows.entities[i], game->pos) = pos;
            *(uint32_t*)ecs_get_mut(stage->world, it.rows.entities[i], game->beacon_tick) = end;
            ecs_query_end(&it);
            return;
        }
    }
    const uint64_t channel = 1ull << team;
    (void)ecs_command_create(stage->world, game->beacon_template,
                             ECS_INITS({game->pos, &pos}, {game->team, &team},
                                       {game->beacon_tick, &end}, {game->channel, &channel}));
}

ES_TAG(server)
static void end_beacons_es(const ecs_stage* stage, ecs_entity entity, uint32_t beacon_tick) {
    if (stage->tick >= beacon_tick) (void)ecs_command_destroy(stage->world, entity);
}

// ---- the grid ----

static void place_fighters(const ecs_stage* stage, void* context, const ecs_part* part) {
    (void)stage;
    arena_crowd* crowd = context;
    const ecs_vec2* pos = part->rows.columns[0];
    const ecs_vec2* vel = part->rows.columns[1];
    const uint8_t* team = part->rows.columns[2];
    const uint8_t* health = part->rows.columns[4];
    if (part->first >= crowd->grid.count) return;
    const uint32_t room = crowd->grid.count - part->first;
    const uint32_t count = part->rows.count < room ? part->rows.count : room;
    arena_body* bodies = &crowd->bodies[part->first];
    ecs_grid_put(&crowd->grid, part->first, pos, count);
    for (uint32_t i = 0; i < count; i++)
        bodies[i] = (arena_body){part->rows.entities[i], pos[i], vel[i], team[i], health[i] == 0};
}

static void build_grid(const ecs_stage* stage, arena_game* game) {
    arena_crowd* crowd = game->grid;
    (void)ecs_grid_resize(&crowd->grid, ecs_query_count(stage->world, game->fighters));
    (void)ecs_stage_share_rows(stage, game->fighters, place_fighters, crowd);
    ecs_grid_sort(&crowd->grid);
}

ES_TAG(server)
ES_BEFORE(think_es)
ES_QUANTUM(512)
ES_READS(pos, vel, team, owner, health, condition)
ES_WRITES(grid)
static void see_es(const ecs_stage* stage, ES_CONTEXT arena_game* game) {
    build_grid(stage, game);
}

ES_TAG(server)
ES_AFTER(move_soldiers_es)
ES_BEFORE(pull_triggers_es, fly_es)
ES_QUANTUM(512)
ES_READS(pos, vel, team, owner, health, condition)
ES_WRITES(grid)
static void see_again_es(const ecs_stage* stage, ES_CONTEXT arena_game* game) {
    build_grid(stage, game);
}
