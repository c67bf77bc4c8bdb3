// SPDX-License-Identifier: MIT
// Shots: they fly straight and strike the first fighter of another team on their way.
//
// The server checks a shot in the present, because all players see it come; the ray (ray.c) is
// checked by what its shooter saw. A killed fighter stays with health 0 until the next tick begins
// (rules.c), so that clients get the last hit while the victim exists. Several shots strike a
// victim one after the other in the order of rows. A killed victim stops no shot.

#include "arena.h"
#include "shot.es.h"

#include <string.h>

static uint8_t condition_of(int32_t health) {
    return health <= 0 ? 0 : health <= 33 ? 1 : health <= 66 ? 2 : 3;
}

bool arena_fire(ecs_world* world, arena_game* game, arena_striker shooter, ecs_vec2 from,
                ecs_vec2 direction, ecs_tick tick) {
    uint32_t flying = ecs_query_count(world, game->shots) + game->shots_made;
    if (flying >= game->settings.shots) return false;
    const ecs_vec2 vel = arena_map_course(direction, ARENA_SHOT_SPEED, game->tick_rate_hz);
    const arena_shot shot = {shooter.entity};
    const uint32_t end = (uint32_t)tick + arena_ticks(game, ARENA_SHOT_S);
    if (!ecs_command_create(world, game->shot_template,
                            ECS_INITS({game->pos, &from}, {game->vel, &vel},
                                      {game->team, &shooter.team}, {game->shot, &shot},
                                      {game->end_tick, &end})))
        return false;
    game->shots_made++;
    return true;
}

static void keep_books(ecs_world* world, arena_game* game, ecs_entity victim,
                       arena_striker striker) {
    const uint8_t* team = ecs_get(world, victim, game->team);
    arena_score* score = arena_find_score(world, game, striker.team);
    if (score) score->kills++;
    arena_entry* killer = arena_find_entry(world, game, striker.entity);
    arena_entry* loser = arena_find_entry(world, game, victim);
    if (killer) killer->kills++;
    if (loser) loser->deaths++;
    if (!loser) return; // soldiers have no entry: no event
    const arena_killed killed = {victim, striker.entity, loser->client, killer ? killer->client : 0,
                                 *team,  striker.team};
    (void)ecs_event_broadcast(world, game->killed, &killed);
}

void arena_hurt(ecs_world* world, arena_game* game, ecs_entity victim, int32_t amount,
                arena_striker striker, float x, float y) {
    const uint8_t* before = ecs_find(world, victim, game->health);
    if (!before || *before == 0) return;
    amount = (int32_t)((double)amount * game->settings.damage);
    int32_t left = *before > amount ? *before - amount : 0;
    *(uint8_t*)ecs_get_mut(world, victim, game->health) = (uint8_t)left;
    *(uint8_t*)ecs_get_mut(world, victim, game->condition) = condition_of(left);
    const uint32_t* owner = ecs_find(world, striker.entity, game->owner);
    const arena_hit hit = {owner ? *owner : 0, (uint32_t)amount, (uint32_t)base_max(x, 0.0f),
                           (uint32_t)base_max(y, 0.0f), left == 0};
    (void)ecs_event_send(world, victim, game->hit, &hit);
    if (left == 0) keep_books(world, game, victim, striker);
}

typedef struct strike {
    const arena_body* body;
    float t; ///< part of the way, 0..1
} strike;

// Find the first fighter on the way: the line from `from` enters the circle around it.
static strike find_strike(const arena_crowd* grid, ecs_vec2 from, ecs_vec2 way, uint8_t team) {
    strike first = {NULL, 2.0f};
    const ecs_vec2 middle = ecs_vec2_add(from, ecs_vec2_scale(way, 0.5f));
    float reach = base_max(base_abs(way.x), base_abs(way.y)) * 0.5f + ARENA_RADIUS;
    arena_search near = arena_search_begin(grid, middle, reach);
    for (const arena_body* body; (body = arena_search_next(&near));) {
        if (body->team == team || body->is_dead) continue;
        float distance, t = ecs_nearest_on_way(from, way, body->pos, &distance);
        if (distance <= ARENA_RADIUS && t < first.t) first = (strike){body, t};
    }
    return first;
}

ES_TAG(server)
ES_SPAN
ES_QUANTUM(64)
ES_READS(grid)
static void fly_es(const ecs_stage* stage, ES_CONTEXT const arena_game* game, uint32_t count,
                   const ecs_entity* entities, ecs_vec2* pos, const ecs_vec2* vel,
                   const uint8_t* team, const arena_shot* shot, const uint32_t* end_tick) {
    for (uint32_t i = 0; i < count; i++) {
        const ecs_vec2 way = {vel[i].x * stage->dt, vel[i].y * stage->dt};
        strike first = find_strike(game->grid, pos[i], way, team[i]);
        float x = arena_snap(pos[i].x + way.x), y = arena_snap(pos[i].y + way.y);
        bool is_out = x < 0.0f || y < 0.0f || x >= ARENA_SIZE || y >= ARENA_SIZE;
        pos[i] = (ecs_vec2){base_clamp(x, 0.0f, ARENA_SIZE - ARENA_STEP),
                            base_clamp(y, 0.0f, ARENA_SIZE - ARENA_STEP)};
        bool is_over = is_out || stage->tick >= end_tick[i] || arena_map_is_rock(x, y);
        if (first.body) {
            const arena_struck struck = {shot[i].shooter, team[i], first.body->pos};
            (void)ecs_event_send(stage->world, first.body->entity, game->struck, &struck);
        }
        // When the queue is full, the shot is destroyed in the next tick.
        if (first.body || is_over) (void)ecs_command_destroy(stage->world, entities[i]);
    }
}

ES_TAG(server)
ES_ON_EVENT(struck)
static void take_blow_es_event_handler(const ecs_stage* stage, ES_CONTEXT arena_game* game,
                                       const ecs_event* event) {
    arena_struck struck;
    memcpy(&struck, event->payload, sizeof struck);
    const arena_striker striker = {struck.shooter, (uint8_t)struck.team};
    arena_hurt(stage->world, game, event->target, ARENA_SHOT_DAMAGE, striker, struck.place.x,
               struck.place.y);
}
