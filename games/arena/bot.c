// SPDX-License-Identifier: MIT
// A bot: a player that knows only what its mirror shows.
//
// A bot looks for the nearest enemy and for what it lacks. It goes first for what it lacks, then
// for the enemy, then for a random place. It aims its shots ahead of a moving enemy. It aims its
// rays at the place where it sees the enemy. When it carries a flag, it goes home first.

#include "arena.h"

#define SHOOT 30.0f
#define RAY 40.0f
#define KEEP_AWAY 12.0f
#define HURT 45
#define FEW_SHOTS 12
#define WANDER_S 15.0f
#define WANDER_EDGE 90.0f // distance to the map's edges; enough fighters are in the bases
#define DETOUR 25.0f      // how far a bot goes for the power
#define RALLIES 1200u     ///< a bot sends a rally once in this number of inputs
#define PHRASES 6000u     ///< a bot says a phrase once in this number of inputs
#define USE_PAUSE 15u     ///< inputs until the bot uses its pack again

typedef struct bot_memory {
    ecs_vec2 goal;
    uint64_t goal_until, turn_until, use_after; ///< input numbers
    float side;
} bot_memory;
_Static_assert(sizeof(bot_memory) <= NET_BOT_MEMORY_BYTES, "a bot has only so much memory");

typedef struct found {
    ecs_vec2 pos, vel;
    float distance; ///< squared
    bool is_there;
} found;

#include "bot.es.h"

static void consider(found* best, ecs_vec2 own, ecs_vec2 pos, ecs_vec2 vel) {
    const ecs_vec2 to = ecs_vec2_sub(pos, own);
    float distance = ecs_vec2_dot(to, to);
    if (best->is_there && distance >= best->distance) return;
    *best = (found){pos, vel, distance, true};
}

static void near_enemies_ecs_query(ES_CONTEXT found* best, ES_CONTEXT ecs_vec2 own,
                                   ES_CONTEXT uint8_t own_team, ecs_vec2 pos, ecs_vec2 vel,
                                   uint8_t team, uint8_t condition) {
    if (team != own_team && condition > 0) consider(best, own, pos, vel);
}

static void near_pickups_ecs_query(ES_CONTEXT found* best, ES_CONTEXT ecs_vec2 own,
                                   ES_CONTEXT int32_t which, ecs_vec2 pos, uint8_t kind) {
    if (kind == which) consider(best, own, pos, (ecs_vec2){0.0f, 0.0f});
}

static ecs_vec2 wander(const net_player_context* view, ecs_vec2 own, bot_memory* memory) {
    float dx = memory->goal.x - own.x, dy = memory->goal.y - own.y;
    if (view->input_number >= memory->goal_until || dx * dx + dy * dy < 25.0f) {
        memory->goal.x =
            WANDER_EDGE + base_rng_float(view->rng) * (ARENA_SIZE - 2.0f * WANDER_EDGE);
        memory->goal.y =
            WANDER_EDGE + base_rng_float(view->rng) * (ARENA_SIZE - 2.0f * WANDER_EDGE);
        memory->goal_until = view->input_number + (uint64_t)(WANDER_S / view->dt);
    }
    return memory->goal;
}

static ecs_vec2 unit(float x, float y) {
    return arena_towards((ecs_vec2){0.0f, 0.0f}, (ecs_vec2){x, y}, 0.3f);
}

// Go around the enemy, and change the side from time to time.
static ecs_vec2 dance(const net_player_context* view, ecs_vec2 own, const found* enemy,
                      bot_memory* memory) {
    if (view->input_number >= memory->turn_until) {
        memory->side = base_rng_below(view->rng, 2) ? 0.7f : -0.7f;
        memory->turn_until =
            view->input_number + 10 + base_rng_below(view->rng, (uint32_t)(1.2f / view->dt) + 1);
    }
    ecs_vec2 to = unit(enemy->pos.x - own.x, enemy->pos.y - own.y);
    float in = enemy->distance > 4.0f * KEEP_AWAY * KEEP_AWAY ? 0.8f
               : enemy->distance < KEEP_AWAY * KEEP_AWAY      ? -0.8f
                                                              : 0.0f;
    return unit(to.x * in - to.y * memory->side, to.y * in + to.x * memory->side);
}

static ecs_vec2 choose_way(const net_player_context* view, ecs_vec2 own, uint8_t team,
                           const found* enemy, bot_memory* memory) {
    const arena_game* game = view->context;
    const uint8_t* health = ecs_find(view->world, view->player, game->health);
    const arena_gun* gun = ecs_find(view->world, view->player, game->gun);
    const uint32_t* together = ecs_find(view->world, view->player, game->together);
    if (together && *together) {
        ecs_vec2 home = arena_map_base(team);
        return unit(home.x - own.x, home.y - own.y);
    }
    int32_t wanted = health && *health < HURT       ? ARENA_HEALTH_KIT
                     : gun && gun->ammo < FEW_SHOTS ? ARENA_AMMO_BOX
                     : !enemy->is_there             ? ARENA_POWER
                                                    : -1;
    if (wanted >= 0) {
        found pickup = {.is_there = false};
        near_pickups_run(view->world, game->near_pickups, &pickup, own, wanted);
        bool is_worth_it = wanted != ARENA_POWER || pickup.distance < DETOUR * DETOUR;
        if (pickup.is_there && is_worth_it) return unit(pickup.pos.x - own.x, pickup.pos.y - own.y);
    }
    if (enemy->is_there) return dance(view, own, enemy, memory);
    ecs_vec2 goal = wander(view, own, memory);
    return unit(goal.x - own.x, goal.y - own.y);
}

static void shoot(const net_player_context* view, ecs_vec2 own, const found* enemy,
                  arena_input* out) {
    const arena_game* game = view->context;
    const arena_gun* gun = ecs_find(view->world, view->player, game->gun);
    float distance = base_sqrt(enemy->distance);
    bool may_ray = gun && gun->ammo >= 3 * ARENA_RAY_AMMO && view->tick >= gun->ray_tick;
    if (may_ray && distance < RAY) {
        out->aim = arena_aim_of(enemy->pos.x - own.x, enemy->pos.y - own.y);
        out->is_raying = true;
        return;
    }
    float time_s = distance / ARENA_SHOT_SPEED;
    out->aim = arena_aim_of(enemy->pos.x + enemy->vel.x * time_s - own.x,
                            enemy->pos.y + enemy->vel.y * time_s - own.y);
    out->is_firing = distance < SHOOT;
}

// Move in one of sixteen directions, as with keys. A direction that does not change costs no bytes.
static void go(ecs_vec2 way, arena_input* out) {
    uint32_t step = ARENA_AIM_STEPS / 16;
    uint32_t aim = (arena_aim_of(way.x, way.y) + step / 2) / step * step & (ARENA_AIM_STEPS - 1);
    ecs_vec2 direction = ecs_direction(arena_aim_angle(aim));
    out->move_x = (int32_t)base_round_i64((double)(direction.x * 127.0f));
    out->move_y = (int32_t)base_round_i64((double)(direction.y * 127.0f));
}

// Use health when hurt, ammunition when little is left, power when an enemy is in sight.
static void use_pack(const net_player_context* view, const found* enemy, bot_memory* memory) {
    const arena_game* game = view->context;
    const ecs_object* pack = ecs_find(view->world, view->player, game->pack);
    const uint8_t* health = ecs_find(view->world, view->player, game->health);
    const arena_gun* gun = ecs_find(view->world, view->player, game->gun);
    if (!pack || !health || !gun || view->input_number < memory->use_after) return;
    bool is_boosted = ecs_find(view->world, view->player, game->boost_tick) != NULL;
    const bool is_wanted[ARENA_PICKUP_KINDS] = {[ARENA_HEALTH_KIT] = *health < HURT,
                                                [ARENA_AMMO_BOX] = gun->ammo < FEW_SHOTS,
                                                [ARENA_POWER] = enemy->is_there && !is_boosted};
    for (uint32_t kind = 0; kind < ARENA_PICKUP_KINDS; kind++) {
        if (!is_wanted[kind] || arena_pack_count(pack, kind) == 0) continue;
        (void)arena_send_use(view, &(arena_use){kind});
        memory->use_after = view->input_number + USE_PAUSE;
        return;
    }
}

void arena_bot_think(const net_player_context* view, arena_input* out) {
    const arena_game* game = view->context;
    bot_memory* memory = view->memory;
    const ecs_vec2* pos = ecs_find(view->world, view->player, game->pos);
    const uint8_t* team = ecs_find(view->world, view->player, game->team);
    if (!pos || !team || !ecs_find(view->world, view->player, game->health)) return;
    found enemy = {.is_there = false};
    near_enemies_run(view->world, game->near_enemies, &enemy, *pos, *team);
    ecs_vec2 way = choose_way(view, *pos, *team, &enemy, memory);
    if (arena_map_is_rock(pos->x + way.x * 4.0f, pos->y + way.y * 4.0f))
        way = unit(way.x * 0.3f - way.y, way.y * 0.3f + way.x);
    out->aim = arena_aim_of(way.x, way.y);
    if (way.x != 0.0f || way.y != 0.0f) go(way, out);
    if (enemy.is_there) shoot(view, *pos, &enemy, out);
    if (view->send) {
        // When the queue is full, the message is lost; the bot does not need it.
        use_pack(view, &enemy, memory);
        if (base_rng_below(view->rng, RALLIES) == 0)
            (void)arena_send_rally(view, &(arena_rally){0});
        if (base_rng_below(view->rng, PHRASES) == 0)
            (void)arena_send_say(view, &(arena_say){base_rng_below(view->rng, ARENA_PHRASES)});
    }
}
