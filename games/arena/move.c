// SPDX-License-Identifier: MIT
// Movement: an arriving input becomes a component, and the component moves the fighter once per
// tick.
//
// The server and a client's prediction move a player by its last input with the same function. A
// boosted fighter has another template, so it has its own systems. Soldiers follow the course of
// their mind. Both sides also count the times and the ammunition of the gun, so that a client knows
// when the next shot leaves. Only the server creates shots.

#include "arena.h"
#include "move.es.h"

#define RELOAD_S 0.25f
#define RAY_RELOAD_S 1.1f

ES_TAG(server | predict)
ES_CONFINED
static void move_players_es(ES_CONTEXT const arena_game* game, ecs_vec2* pos, ecs_vec2* vel,
                            float* aim, const arena_input* input, uint8_t health,
                            ES_OPTIONAL const uint32_t* boost_tick) {
    if (health == 0) {
        *vel = (ecs_vec2){0.0f, 0.0f};
        return;
    }
    float speed = ARENA_PLAYER_SPEED * (boost_tick ? ARENA_BOOST_FACTOR : 1.0f);
    // The speed is the same in all directions.
    ecs_vec2 course = {(float)input->move_x / 127.0f, (float)input->move_y / 127.0f};
    float length = ecs_vec2_length(course);
    float factor = length > 1.0f ? speed / length : speed;
    arena_map_move(pos, vel, (ecs_vec2){course.x * factor, course.y * factor}, game->tick_rate_hz);
    *aim = arena_aim_angle(input->aim);
}

ES_TAG(server)
ES_QUANTUM(256)
static void move_soldiers_es(ES_CONTEXT const arena_game* game, ecs_vec2* pos, ecs_vec2* vel,
                             const arena_mind* mind, uint8_t health) {
    if (health == 0)
        *vel = (ecs_vec2){0.0f, 0.0f};
    else
        arena_map_move(pos, vel, mind->course, game->tick_rate_hz);
}

// Only the server creates the shots. Both sides count the ammunition.
ES_TAG(server | predict)
static void pull_triggers_es(const ecs_stage* stage, ES_CONTEXT arena_game* game, ecs_entity entity,
                             arena_gun* gun, ecs_vec2 pos, uint8_t team, uint32_t owner,
                             uint8_t health, float aim, const arena_input* input) {
    if (health == 0) return;
    uint32_t tick = (uint32_t)stage->tick;
    ecs_vec2 direction = ecs_direction(aim);
    const arena_striker self = {entity, team};
    if (input->is_firing && gun->ammo > 0 && tick >= gun->ready_tick) {
        gun->ready_tick = tick + arena_ticks(game, RELOAD_S);
        gun->ammo--;
        if (game->is_truth) (void)arena_fire(stage->world, game, self, pos, direction, stage->tick);
    }
    if (input->is_raying && gun->ammo >= ARENA_RAY_AMMO && tick >= gun->ray_tick) {
        gun->ray_tick = tick + arena_ticks(game, RAY_RELOAD_S);
        gun->ammo -= ARENA_RAY_AMMO;
        if (game->is_truth) arena_fire_ray(stage->world, game, self, owner, pos, direction);
    }
}
