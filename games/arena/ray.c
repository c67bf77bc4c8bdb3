// SPDX-License-Identifier: MIT
// The ray: it strikes at once. The server checks it by what the shooter saw.
//
// The grid gives the fighters near the line. The search is wide enough for a fighter that was on
// the line up to PAST_S ago. For each of them the server looks up where it was at the moment on the
// shooter's screen. Rocks do not move. The ray strikes the nearest fighter on the line, and the
// damage is done in the present: a fighter that is killed by now is not struck again.

#include "arena.h"

#define ROCK_STEP 1.5f ///< distance between two checks along the line
#define PAST_S 0.5f

// How far the line is free of rocks and inside the map.
static float free_way(ecs_vec2 from, ecs_vec2 direction) {
    float way = 0.0f;
    for (; way < ARENA_RAY_REACH; way += ROCK_STEP) {
        float x = from.x + direction.x * way, y = from.y + direction.y * way;
        if (arena_map_is_rock(x, y) || x < 0.0f || y < 0.0f || x >= ARENA_SIZE || y >= ARENA_SIZE)
            break;
    }
    return base_min(way, ARENA_RAY_REACH);
}

typedef struct look {
    const arena_game* game;
    ecs_tick tick;
    float fraction;
} look;

static bool find_place(const look* past, const arena_body* body, ecs_vec2* place) {
    const net_game_services* services = past->game->services;
    *place = body->pos;
    if (!services || past->tick == 0) return true;
    // A fighter that did not exist then was not on the screen.
    return services->rewind(services->context, past->tick, past->fraction, body->entity,
                            past->game->pos, place);
}

void arena_fire_ray(ecs_world* world, arena_game* game, arena_striker shooter, uint32_t client,
                    ecs_vec2 from, ecs_vec2 direction) {
    look past = {.game = game};
    const net_game_services* services = game->services;
    if (services && client) past.tick = services->seen(services->context, client, &past.fraction);
    float reach = free_way(from, direction);
    float slack = ARENA_RADIUS + PAST_S * ARENA_PLAYER_SPEED * ARENA_BOOST_FACTOR;
    const arena_body* struck = NULL;
    float nearest = reach;
    const ecs_vec2 middle = ecs_vec2_add(from, ecs_vec2_scale(direction, reach * 0.5f));
    arena_search near = arena_search_begin(game->grid, middle, reach * 0.5f + slack);
    for (const arena_body* body; (body = arena_search_next(&near));) {
        if (body->team == shooter.team || body->is_dead) continue;
        float dx = body->pos.x - from.x, dy = body->pos.y - from.y;
        float side = dy * direction.x - dx * direction.y;
        if (base_abs(side) > slack) continue;
        ecs_vec2 place;
        if (!find_place(&past, body, &place)) continue;
        dx = place.x - from.x;
        dy = place.y - from.y;
        float along = dx * direction.x + dy * direction.y;
        side = dy * direction.x - dx * direction.y;
        if (along < 0.0f || along > nearest || base_abs(side) > ARENA_RADIUS) continue;
        nearest = along;
        struck = body;
    }
    const arena_ray ray = {.target = struck ? struck->entity : ECS_ENTITY_NONE,
                           .from_x = (int32_t)(from.x * 4.0f),
                           .from_y = (int32_t)(from.y * 4.0f),
                           .to_x = (int32_t)((from.x + direction.x * nearest) * 4.0f),
                           .to_y = (int32_t)((from.y + direction.y * nearest) * 4.0f)};
    (void)ecs_event_send(world, shooter.entity, game->ray, &ray);
    if (struck)
        arena_hurt(world, game, struck->entity, ARENA_RAY_DAMAGE, shooter,
                   from.x + direction.x * nearest, from.y + direction.y * nearest);
}
