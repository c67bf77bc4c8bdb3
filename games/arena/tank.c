// SPDX-License-Identifier: MIT
// Tanks: a hull that drives along its route, and a turret on it. They are two entities of one
// family.
//
// The turret has the component `ecs.parent`, which names the hull. It takes the position of the
// hull, and it is destroyed with the hull, so no code here destroys a turret. Both have one number
// in `together`, so a client gets both or none, at one tick.
//
// The `route` of a hull is a boxed component: the points are in a pool and not in the column. So
// rows of hulls stay small, and a pointer to a route is valid while its hull exists. The turret
// looks along the route.

#include "arena.h"
#include "tank.es.h"

#define ARRIVED 6.0f
#define REACH 34.0f
#define TURN_RATE 2.0f ///< radians per second
#define AIMED 0.1f     ///< radians
#define RELOAD_S 0.5f
#define NEAR 0.5f ///< no direction to anything nearer

// ---- create and destroy ----

static ecs_vec2 free_place(base_rng* rng) {
    ecs_vec2 place = {0};
    for (uint32_t i = 0; i < 8; i++) {
        place.x = 30.0f + base_rng_float(rng) * (ARENA_SIZE - 60.0f);
        place.y = 30.0f + base_rng_float(rng) * (ARENA_SIZE - 60.0f);
        if (!arena_map_is_rock(place.x, place.y)) break;
    }
    return place;
}

static void place_tank(ecs_world* world, const arena_game* game, uint32_t number) {
    base_rng* rng = ecs_world_rng(world);
    const uint8_t team = (uint8_t)((number - 1) % ARENA_TEAMS + 1);
    const uint32_t together = ARENA_TEAMS + number; // flags use the numbers of the teams
    const ecs_vec2 pos = arena_place_in_base(rng, team);
    arena_route route = {.at = 0};
    for (uint32_t i = 0; i < ARENA_ROUTE_POINTS; i++)
        route.points[i] = free_place(rng);
    const arena_route* copied = &route;
    const ecs_entity tank =
        ecs_command_create(world, game->tank_template,
                           ECS_INITS({game->pos, &pos}, {game->team, &team},
                                     {game->together, &together}, {game->route, &copied}));
    if (tank == ECS_ENTITY_NONE) return;
    (void)ecs_command_create(world, game->turret_template,
                             ECS_INITS({game->pos, &pos}, {game->team, &team},
                                       {game->together, &together}, {game->parent, &tank}));
}

ES_REQUIRE(tank : tag)
static void tank_numbers_ecs_query(ES_CONTEXT uint32_t* numbers, uint32_t together) {
    *numbers |= 1u << (together - ARENA_TEAMS) % 32u;
}

void arena_place_tanks(ecs_world* world, const arena_game* game) {
    uint32_t numbers = 0;
    tank_numbers_run(world, game->tank_numbers, &numbers);
    for (uint32_t i = 1; i <= game->settings.tanks; i++)
        if (!(numbers >> i & 1)) place_tank(world, game, i);
}

ES_TAG(server)
ES_EVERY(300)
static void replace_tanks_es(const ecs_stage* stage, ES_CONTEXT const arena_game* game) {
    arena_place_tanks(stage->world, game);
}

ES_TAG(server)
ES_REQUIRE(tank : tag)
static void bury_tanks_es(const ecs_stage* stage, ecs_entity entity, uint8_t health) {
    if (health == 0) (void)ecs_command_destroy(stage->world, entity); // destroys its turret too
}

// ---- one tick ----

ES_TAG(server)
ES_AFTER(move_soldiers_es)
ES_BEFORE(see_again_es)
static void drive_tanks_es(ES_CONTEXT const arena_game* game, ecs_vec2* pos, ecs_vec2* vel,
                           arena_route_box* route, uint8_t health) {
    arena_route* round = *route;
    const ecs_vec2 goal = round->points[round->at];
    if (ecs_vec2_distance(goal, *pos) < ARRIVED) round->at = (round->at + 1) % ARENA_ROUTE_POINTS;
    ecs_vec2 way = arena_map_aside(*pos, arena_towards(*pos, goal, NEAR), 6.0f);
    float speed = health > 0 ? ARENA_TANK_SPEED : 0.0f;
    const ecs_vec2 course = arena_map_course(way, speed, game->tick_rate_hz);
    arena_map_move(pos, vel, course, game->tick_rate_hz);
}

static const arena_body* nearest_enemy(const arena_crowd* grid, ecs_vec2 pos, uint8_t team) {
    const arena_body* nearest = NULL;
    float least = REACH * REACH;
    arena_search near = arena_search_begin(grid, pos, REACH);
    for (const arena_body* body; (body = arena_search_next(&near));) {
        if (body->is_dead || body->team == team) continue;
        const ecs_vec2 to = ecs_vec2_sub(body->pos, pos);
        const float distance = ecs_vec2_dot(to, to);
        if (distance >= least) continue;
        least = distance;
        nearest = body;
    }
    return nearest;
}

ES_TAG(server)
ES_AFTER(see_again_es)
ES_BEFORE(fly_es)
static void aim_turrets_es(const ecs_stage* stage, ES_CONTEXT arena_game* game, ecs_vec2* pos,
                           ecs_vec2* vel, float* heading, uint32_t* ready_tick, uint8_t team,
                           ES_NAME(ecs.parent) ecs_entity tank) {
    const uint8_t* health = ecs_find(stage->world, tank, game->health);
    arena_route* const* route = ecs_find(stage->world, tank, game->route);
    if (!health || !route) return;
    *pos = *(const ecs_vec2*)ecs_get(stage->world, tank, game->pos);
    *vel = *(const ecs_vec2*)ecs_get(stage->world, tank, game->vel);
    if (*health == 0) return;
    const arena_body* enemy = nearest_enemy(game->grid, *pos, team);
    const ecs_vec2 to =
        arena_towards(*pos, enemy ? enemy->pos : (*route)->points[(*route)->at], NEAR);
    const float wanted = base_atan2(to.y, to.x), left = ecs_angle_between(*heading, wanted);
    *heading = ecs_angle_turn(*heading, wanted, TURN_RATE * game->dt);
    if (!enemy || base_abs(left) > AIMED || stage->tick < *ready_tick) return;
    const arena_striker self = {tank, team};
    if (arena_fire(stage->world, game, self, *pos, ecs_direction(*heading), stage->tick))
        *ready_tick = (uint32_t)stage->tick + arena_ticks(game, RELOAD_S);
}
