// SPDX-License-Identifier: MIT
// Flags: a player takes a flag from the stand of another team and carries it to its own base.
//
//     HOME    --an enemy touches it---------> CARRIED
//     CARRIED --it reaches the own base-----> HOME, captured
//     CARRIED --the carrier is killed-------> DROPPED
//     DROPPED --its team touches it, or time> HOME
//     DROPPED --an enemy touches it---------> CARRIED
//
// Carrier and flag have the same number in `together`, so a client gets both or none, and both at
// one tick: a flag never lags behind its carrier. A carrier has one flag.

#include "arena.h"
#include "flag.es.h"

#define TOUCH 4.0f
#define BACK_S 20.0f

void arena_place_flag(ecs_world* world, const arena_game* game, uint8_t team) {
    const ecs_vec2 pos = arena_map_stand(team);
    const uint64_t channel = 1ull << team;
    (void)ecs_command_create(
        world, game->flag_template,
        ECS_INITS({game->pos, &pos}, {game->team, &team}, {game->channel, &channel}));
}

static void send_moved(ecs_world* world, const arena_game* game, ecs_entity flag, uint8_t team,
                       ecs_entity carrier, uint32_t what) {
    const uint8_t* by_team = ecs_find(world, carrier, game->team);
    const uint32_t* by_client = ecs_find(world, carrier, game->owner);
    const arena_flag_moved moved = {
        flag, carrier, team, by_team ? *by_team : 0, by_client ? *by_client : 0, what};
    (void)ecs_event_broadcast(world, game->flag_moved, &moved);
}

static void send_home(arena_flag* flag, ecs_vec2* pos, uint32_t* together, uint8_t team) {
    *flag = (arena_flag){.carrier = ECS_ENTITY_NONE, .state = ARENA_FLAG_HOME};
    *pos = arena_map_stand(team);
    *together = 0;
}

static void let_go(ecs_world* world, const arena_game* game, ecs_entity carrier) {
    uint32_t* together = ecs_find_mut(world, carrier, game->together);
    if (together) *together = 0;
}

// The nearest fighter that may take the flag or bring it back; the first one among equals.
static const arena_body* find_toucher(ecs_world* world, const arena_game* game, ecs_vec2 pos,
                                      uint8_t team, bool is_home) {
    const arena_body* found = NULL;
    float nearest = TOUCH * TOUCH;
    arena_search near = arena_search_begin(game->grid, pos, TOUCH);
    for (const arena_body* body; (body = arena_search_next(&near));) {
        if (body->is_dead || (is_home && body->team == team)) continue;
        const ecs_vec2 to = ecs_vec2_sub(body->pos, pos);
        if (ecs_vec2_dot(to, to) >= nearest) continue;
        const uint32_t* together = ecs_find(world, body->entity, game->together);
        if (!together || *together != 0) continue;
        nearest = ecs_vec2_dot(to, to);
        found = body;
    }
    return found;
}

static void carry(ecs_world* world, arena_game* game, ecs_entity entity, ecs_vec2* pos,
                  ecs_vec2* vel, uint8_t team, arena_flag* flag, uint32_t* together,
                  ecs_tick tick) {
    const uint8_t* health = ecs_find(world, flag->carrier, game->health);
    if (!health || *health == 0) {
        send_moved(world, game, entity, team, flag->carrier, ARENA_FLAG_IS_DROPPED);
        let_go(world, game, flag->carrier);
        *flag = (arena_flag){.carrier = ECS_ENTITY_NONE,
                             .back_tick = (uint32_t)tick + arena_ticks(game, BACK_S),
                             .state = ARENA_FLAG_DROPPED};
        *vel = (ecs_vec2){0.0f, 0.0f};
        *together = 0;
        return;
    }
    *pos = *(const ecs_vec2*)ecs_get(world, flag->carrier, game->pos);
    *vel = *(const ecs_vec2*)ecs_get(world, flag->carrier, game->vel);
    ecs_vec2 home = arena_map_base(*(const uint8_t*)ecs_get(world, flag->carrier, game->team));
    if (ecs_vec2_distance(home, *pos) > ARENA_BASE_RADIUS * 0.5f) return;
    send_moved(world, game, entity, team, flag->carrier, ARENA_FLAG_IS_CAPTURED);
    const uint8_t* of = ecs_get(world, flag->carrier, game->team);
    arena_score* score = arena_find_score(world, game, *of);
    if (score) score->captures++;
    arena_entry* entry = arena_find_entry(world, game, flag->carrier);
    if (entry) entry->captures++;
    let_go(world, game, flag->carrier);
    send_home(flag, pos, together, team);
    *vel = (ecs_vec2){0.0f, 0.0f};
}

// The clients of the flag's team have the flag in scope, so they also get its carrier from now on.
// They get it at once, not when the server next updates the scope.
static void look_team_ecs_query(ES_CONTEXT const arena_game* game, ES_CONTEXT uint8_t which,
                                uint8_t team, const arena_seat* seat, uint32_t owner) {
    (void)seat;
    if (team == which) arena_look_again(game, owner);
}

ES_TAG(server)
ES_SPAN
static void flags_es(const ecs_stage* stage, ES_CONTEXT arena_game* game, uint32_t count,
                     const ecs_entity* entities, ecs_vec2* pos, ecs_vec2* vel, const uint8_t* team,
                     arena_flag* flag, uint32_t* together) {
    ecs_world* world = stage->world;
    for (uint32_t i = 0; i < count; i++) {
        if (flag[i].state == ARENA_FLAG_CARRIED) {
            carry(world, game, entities[i], &pos[i], &vel[i], team[i], &flag[i], &together[i],
                  stage->tick);
            continue;
        }
        bool is_home = flag[i].state == ARENA_FLAG_HOME;
        const arena_body* toucher = find_toucher(world, game, pos[i], team[i], is_home);
        if (toucher && toucher->team != team[i]) {
            flag[i] = (arena_flag){.carrier = toucher->entity, .state = ARENA_FLAG_CARRIED};
            together[i] = team[i];
            *(uint32_t*)ecs_get_mut(world, toucher->entity, game->together) = team[i];
            look_team_run(world, game->look_team, game, team[i]);
            pos[i] = toucher->pos;
            vel[i] = toucher->vel;
            send_moved(world, game, entities[i], team[i], toucher->entity, ARENA_FLAG_IS_TAKEN);
        } else if (!is_home && (toucher || stage->tick >= flag[i].back_tick)) {
            send_moved(world, game, entities[i], team[i],
                       toucher ? toucher->entity : ECS_ENTITY_NONE, ARENA_FLAG_IS_BACK);
            send_home(&flag[i], &pos[i], &together[i], team[i]);
        }
    }
}
