// SPDX-License-Identifier: MIT
// The soldiers of the server: a thousand of them, cheap, the same on every machine.
//
// A soldier thinks once in THINK_EVERY ticks; its index chooses the tick. Between two thoughts it
// moves straight on, and a thought that would change the course only a little keeps it. So its
// velocity stays constant for a while, which costs the fewest bytes. A thought looks at the squares
// around the soldier (grid.h), never at all fighters: it finds the nearest enemy in sight and the
// way to the goal. Roles differ only in the goal: roam anywhere or to the team's beacon, raid the
// flag of another team, guard the own flag. A soldier with a flag goes home. Soldiers use no
// ammunition. move.c handles rocks and edges.

#include "arena.h"

#define THINK_EVERY 8u
#define LOOK 26.0f ///< how far a soldier sees enemies
#define SHOOT 22.0f
#define KEEP_AWAY 9.0f ///< from an enemy
#define ARRIVED 6.0f
#define NEAR 0.5f ///< no direction to anything nearer
#define GOAL_S 25.0f
#define RAID_S 70.0f // enough to cross the map
#define RELOAD_S 1.2f
#define STEADY 1.9f  // a course that differs by less counts as the same
#define SPREAD 0.12f ///< largest error of a shot's direction, in radians

typedef struct sight {
    const arena_body* enemy;
    float enemy_distance;
    ecs_vec2 push; ///< away from comrades that stand too near
} sight;

static sight look_around(const arena_game* game, ecs_entity self, ecs_vec2 pos, uint8_t team) {
    sight seen = {.enemy_distance = LOOK * LOOK};
    arena_search near = arena_search_begin(game->grid, pos, LOOK);
    for (const arena_body* body; (body = arena_search_next(&near));) {
        if (body->is_dead || body->entity == self) continue;
        const ecs_vec2 to = ecs_vec2_sub(body->pos, pos);
        float distance = ecs_vec2_dot(to, to);
        if (body->team == team) {
            if (distance < 16.0f) seen.push = ecs_vec2_sub(seen.push, to);
        } else if (distance < seen.enemy_distance) {
            seen.enemy_distance = distance;
            seen.enemy = body;
        }
    }
    seen.enemy_distance = base_sqrt(seen.enemy_distance);
    return seen;
}

static ecs_vec2 anywhere(base_rng* rng) {
    float x = 16.0f + base_rng_float(rng) * (ARENA_SIZE - 32.0f);
    float y = 16.0f + base_rng_float(rng) * (ARENA_SIZE - 32.0f);
    return (ecs_vec2){x, y};
}

static ecs_vec2 around(base_rng* rng, ecs_vec2 place, float reach) {
    float x = place.x + (base_rng_float(rng) * 2.0f - 1.0f) * reach;
    float y = place.y + (base_rng_float(rng) * 2.0f - 1.0f) * reach;
    return (ecs_vec2){base_clamp(x, 4.0f, ARENA_SIZE - 4.0f),
                      base_clamp(y, 4.0f, ARENA_SIZE - 4.0f)};
}

typedef struct landmark {
    ecs_vec2 pos;
    bool is_there;
} landmark;

#include "mind.es.h"

static void find_beacon_ecs_query(ES_CONTEXT landmark* found, ES_CONTEXT uint8_t which,
                                  ecs_vec2 pos, uint8_t team, uint32_t beacon_tick) {
    (void)beacon_tick;
    if (team == which) *found = (landmark){pos, true};
}

static void find_flag_ecs_query(ES_CONTEXT ecs_vec2* place, ES_CONTEXT uint8_t which, ecs_vec2 pos,
                                uint8_t team, const arena_flag* flag) {
    (void)flag;
    if (team == which) *place = pos;
}

static ecs_vec2 find_flag(ecs_world* world, const arena_game* game, uint8_t team) {
    ecs_vec2 place = arena_map_stand(team);
    find_flag_run(world, game->find_flag, &place, team);
    return place;
}

static void choose_goal(ecs_world* world, const arena_game* game, base_rng* rng,
                        const arena_mind* mind, uint8_t team, arena_order* order) {
    ecs_vec2 goal;
    landmark beacon = {.is_there = false};
    if (mind->role == ARENA_GUARD) {
        goal = around(rng, find_flag(world, game, team), 45.0f);
    } else if (mind->role == ARENA_RAID) {
        uint32_t other = team % ARENA_TEAMS + 1;
        uint32_t turns = base_rng_below(rng, ARENA_TEAMS - 1);
        for (uint32_t i = 0; i < turns; i++)
            other = other % ARENA_TEAMS + 1;
        if (other == team) other = team % ARENA_TEAMS + 1;
        goal = find_flag(world, game, (uint8_t)other);
    } else {
        if (base_rng_below(rng, 2) == 0) find_beacon_run(world, game->find_beacon, &beacon, team);
        goal = beacon.is_there ? around(rng, beacon.pos, 20.0f) : anywhere(rng);
    }
    *order = (arena_order){mind->role, (int32_t)goal.x, (int32_t)goal.y};
}

// Shoot at the enemy. @return a way around it, neither too near nor too far.
static ecs_vec2 fight(ecs_world* world, const arena_game* game, ecs_entity self, base_rng* rng,
                      ecs_vec2 pos, const sight* seen, bool is_ready) {
    const arena_body* enemy = seen->enemy;
    ecs_vec2 to = arena_towards(pos, enemy->pos, NEAR);
    if (seen->enemy_distance < SHOOT && is_ready) {
        float time_s = seen->enemy_distance / ARENA_SHOT_SPEED;
        ecs_vec2 ahead = ecs_vec2_add(enemy->pos, ecs_vec2_scale(enemy->vel, time_s));
        ecs_vec2 aim = arena_towards(pos, ahead, NEAR);
        float error = (base_rng_float(rng) * 2.0f - 1.0f) * SPREAD;
        const arena_trigger trigger = {{aim.x - aim.y * error, aim.y + aim.x * error}};
        (void)ecs_event_send(world, self, game->trigger, &trigger);
    }
    float side = ecs_entity_index(self) % 2 ? 1.0f : -1.0f;
    float in = seen->enemy_distance > 2.0f * KEEP_AWAY ? 0.8f
               : seen->enemy_distance < KEEP_AWAY      ? -0.8f
                                                       : 0.0f;
    return (ecs_vec2){to.x * in - to.y * side * 0.6f, to.y * in + to.x * side * 0.6f};
}

ES_TAG(server)
ES_QUANTUM(128)
ES_READS(grid, pos, team, flag, beacon_tick)
static void think_es(const ecs_stage* stage, ES_CONTEXT const arena_game* game, ecs_entity entity,
                     arena_mind* mind, arena_order* order, const arena_gun* gun, ecs_vec2 pos,
                     uint8_t team, uint8_t health, uint32_t together,
                     ES_OPTIONAL const uint32_t* boost_tick) {
    uint32_t tick = (uint32_t)stage->tick;
    if ((tick + ecs_entity_index(entity)) % THINK_EVERY != 0 || health == 0) return;
    base_rng rng = ecs_stage_rng(stage, entity);
    sight seen = look_around(game, entity, pos, team);
    bool is_carrying = together != 0;
    ecs_vec2 goal = {(float)order->x, (float)order->y};
    float dx = goal.x - pos.x, dy = goal.y - pos.y;
    if (is_carrying) {
        goal = arena_map_base(team);
        *order = (arena_order){ARENA_CARRY, (int32_t)goal.x, (int32_t)goal.y};
    } else if (tick >= mind->goal_tick || dx * dx + dy * dy < ARRIVED * ARRIVED) {
        choose_goal(stage->world, game, &rng, mind, team, order);
        goal = (ecs_vec2){(float)order->x, (float)order->y};
        mind->goal_tick = tick + arena_ticks(game, mind->role == ARENA_RAID ? RAID_S : GOAL_S);
    }
    // Raiders and carriers shoot while they go on; the other soldiers stay and fight.
    ecs_vec2 way = arena_towards(pos, goal, NEAR);
    if (seen.enemy) {
        ecs_vec2 dance =
            fight(stage->world, game, entity, &rng, pos, &seen, tick >= gun->ready_tick);
        if (!is_carrying && mind->role != ARENA_RAID) way = dance;
    }
    way = arena_map_aside(pos, way, 5.0f);
    way.x += seen.push.x * 0.15f;
    way.y += seen.push.y * 0.15f;
    float length = ecs_vec2_length(way);
    if (length > 1.0f) way = (ecs_vec2){way.x / length, way.y / length};
    float speed = ARENA_SOLDIER_SPEED * (boost_tick ? ARENA_BOOST_FACTOR : 1.0f);
    const ecs_vec2 course = arena_map_course(way, speed, game->tick_rate_hz);
    bool is_same = base_abs(course.x - mind->course.x) < STEADY &&
                   base_abs(course.y - mind->course.y) < STEADY && length > 0.1f;
    if (!is_same) mind->course = course;
}

ES_TAG(server)
ES_ON_EVENT(trigger)
static void shoot_es_event_handler(const ecs_stage* stage, ES_CONTEXT arena_game* game,
                                   const arena_trigger* event, ecs_entity entity, arena_gun* gun,
                                   ecs_vec2 pos, uint8_t team) {
    const arena_striker self = {entity, team};
    const uint32_t tick = (uint32_t)stage->tick;
    if (arena_fire(stage->world, game, self, pos, event->direction, tick))
        gun->ready_tick = tick + arena_ticks(game, RELOAD_S);
}
