// SPDX-License-Identifier: MIT
// The input of a bot.
//
// A bot sees only its mirror. The bots share the field without messages: the line of pads is cut
// into as many lanes as there are pads, in the order of their slots. Each bot plays the balls that
// come down in its own lane. It moves to the place where the ball will land. It does not put the
// middle of the pad under the ball: it puts the part there that sends the ball to a brick that it
// chose. A random error, drawn for each approach, makes it miss sometimes, as people do.

#include "breakout.h"

#include "base/math.h"

#define ERROR_PART 0.1f ///< a part of half the pad's width
#define AIM_PART_MAX 0.85f
#define BLUNDERS 30u ///< a bot misjudges one of this number of approaches
#define BLUNDER_PART 1.6f
#define LANE_OVERLAP 24.0f

typedef struct bot_memory {
    ecs_entity ball; ///< the ball that the bot approaches
    ecs_vec2 target; ///< the place to which the bot wants to send the ball
    float error;     ///< a part of half the pad's width
    uint32_t is_set;
} bot_memory;
_Static_assert(sizeof(bot_memory) <= NET_BOT_MEMORY_BYTES, "a bot has only so much memory");

typedef struct lane {
    float low, high;
    uint32_t pads;
} lane;

static lane find_lane(ecs_world* world, const breakout_game* game, int32_t slot) {
    uint32_t count = 0, before = 0;
    ecs_query_iter it = ecs_query_begin(world, game->pads);
    while (ecs_query_next(&it)) {
        const breakout_player* players = it.rows.columns[2];
        for (uint32_t i = 0; i < it.rows.count; i++) {
            count++;
            before += players[i].slot < slot;
        }
    }
    float width = BREAKOUT_FIELD_WIDTH / (float)(count ? count : 1);
    return (lane){(float)before * width, (float)(before + 1) * width, count};
}

static ecs_vec2 choose_target(ecs_world* world, const breakout_game* game, base_rng* rng) {
    uint32_t count = ecs_query_count(world, game->bricks);
    uint32_t chosen = count ? base_rng_below(rng, count) : 0;
    ecs_vec2 target = {BREAKOUT_FIELD_WIDTH * 0.5f, 0.0f};
    ecs_query_iter it = ecs_query_begin(world, game->bricks);
    while (ecs_query_next(&it)) {
        const ecs_vec2* positions = it.rows.columns[0];
        const ecs_vec2* sizes = it.rows.columns[1];
        if (chosen < it.rows.count) {
            target.x = positions[chosen].x + sizes[chosen].x * 0.5f;
            target.y = positions[chosen].y + sizes[chosen].y * 0.5f;
            ecs_query_end(&it);
            break;
        }
        chosen -= it.rows.count;
    }
    return target;
}

typedef struct approach {
    ecs_entity ball;
    float x, time_s, radius;
    bool is_holding; ///< the bot's own pad holds a ball
} approach;

// Find the ball that lands next in the lane.
static approach find_approach(const net_player_context* view, const breakout_game* game, lane own) {
    approach best = {.ball = ECS_ENTITY_NONE, .x = (own.low + own.high) * 0.5f, .time_s = 1e30f};
    ecs_query_iter it = ecs_query_begin(view->world, game->balls);
    while (ecs_query_next(&it)) {
        const ecs_vec2* positions = it.rows.columns[0];
        const ecs_vec2* velocities = it.rows.columns[1];
        const float* radii = it.rows.columns[2];
        const breakout_owner* owners = it.rows.columns[3];
        for (uint32_t i = 0; i < it.rows.count; i++) {
            if (owners[i].is_held) {
                best.is_holding |= owners[i].pad == view->player;
                continue;
            }
            float y = BREAKOUT_PAD_TOP - radii[i];
            if (!(velocities[i].y > 1.0f) || positions[i].y > y) continue;
            float time_s = (y - positions[i].y) / velocities[i].y;
            float x = breakout_landing_x(positions[i], velocities[i], radii[i], y);
            bool is_ours = x >= own.low - LANE_OVERLAP && x <= own.high + LANE_OVERLAP;
            if (!is_ours || time_s >= best.time_s) continue;
            best.ball = it.rows.entities[i];
            best.x = x;
            best.time_s = time_s;
            best.radius = radii[i];
        }
    }
    return best;
}

// Which part of the pad, -1..1, sends a ball from `x` to the target. The way is straight, or by a
// side wall when the straight way is too flat.
static float aim_part(float x, ecs_vec2 target) {
    float up = BREAKOUT_PAD_TOP - target.y;
    float part = base_atan2(target.x - x, up) / BREAKOUT_BOUNCE_ANGLE_MAX;
    if (base_abs(part) <= AIM_PART_MAX) return part;
    float mirrored = part > 0.0f ? -target.x : 2.0f * BREAKOUT_FIELD_WIDTH - target.x;
    float by_wall = base_atan2(mirrored - x, up) / BREAKOUT_BOUNCE_ANGLE_MAX;
    if (base_abs(by_wall) <= AIM_PART_MAX) return by_wall;
    return base_clamp(part, -AIM_PART_MAX, AIM_PART_MAX);
}

int32_t breakout_move_towards(const net_player_context* view, float from, float to) {
    const breakout_game* game = view->context;
    float step = (float)game->settings[BREAKOUT_SETTING_PAD_SPEED] * view->dt;
    float part = base_clamp((to - from) / step, -1.0f, 1.0f);
    return (int32_t)base_round_i64((double)(part * 127.0f));
}

void breakout_bot_think(const net_player_context* view, void* input) {
    const breakout_game* game = view->context;
    breakout_input* out = input;
    bot_memory* memory = view->memory;
    const breakout_player* self = ecs_find(view->world, view->player, game->player);
    const ecs_vec2* pos = ecs_find(view->world, view->player, game->pos);
    const ecs_vec2* size = ecs_find(view->world, view->player, game->rect_size);
    if (!self || !pos || !size) return;

    lane own = find_lane(view->world, game, self->slot);
    approach next = find_approach(view, game, own);
    float half = size->x * 0.5f;
    float wanted = next.x;
    if (next.ball == ECS_ENTITY_NONE) {
        memory->is_set = 0;
    } else {
        if (!memory->is_set || memory->ball != next.ball) {
            memory->ball = next.ball;
            memory->target = choose_target(view->world, game, view->rng);
            bool is_blunder = base_rng_below(view->rng, BLUNDERS) == 0;
            memory->error = (base_rng_float(view->rng) * 2.0f - 1.0f) *
                            (is_blunder ? BLUNDER_PART : ERROR_PART);
            memory->is_set = 1;
        }
        float part = aim_part(next.x, memory->target) + memory->error;
        wanted = next.x - part * (half + next.radius);
    }
    out->move = breakout_move_towards(view, pos->x + half, wanted);
    // The bot waits a moment before it serves.
    out->is_launching = next.is_holding && view->input_number % 32 == 31;
}
