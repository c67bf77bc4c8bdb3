// SPDX-License-Identifier: MIT
// The input of a bot.
//
// A bot sees only its mirror. The bots share the field without messages: the line of pads is cut
// into as many lanes as there are pads, in the order of their slots. Each bot plays the balls that
// come down in its own lane. It moves to the place where the ball will land. It does not put the
// middle of the pad under the ball: it puts the part there that sends the ball to a brick that it
// chose. A random error, drawn for each approach, makes it miss sometimes, as people do.

#include "breakout.h"

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
} lane;

typedef struct approach {
    ecs_entity ball;
    float x, time_s, radius;
    bool is_holding; ///< the bot's own pad holds a ball
} approach;

#include "bot.es.h"

static void lanes_ecs_query(ES_CONTEXT uint32_t* before, ES_CONTEXT int32_t slot,
                            const breakout_player* player) {
    *before += player->slot < slot;
}

static ecs_vec2 choose_target(ecs_world* world, const breakout_game* game, base_rng* rng) {
    uint32_t count = ecs_query_count(world, game->bricks);
    if (count == 0) return (ecs_vec2){BREAKOUT_FIELD_WIDTH * 0.5f, 0.0f};
    ecs_entity brick = ecs_query_nth(world, game->bricks, base_rng_below(rng, count));
    const ecs_vec2* size = ecs_get(world, brick, game->rect_size);
    return ecs_vec2_add(*(const ecs_vec2*)ecs_get(world, brick, game->pos),
                        ecs_vec2_scale(*size, 0.5f));
}

// Find the ball that lands next in the lane.
static void approaches_ecs_query(ES_CONTEXT approach* best, ES_CONTEXT lane own,
                                 ES_CONTEXT ecs_entity player, ecs_entity entity, ecs_vec2 pos,
                                 ecs_vec2 vel, float radius, const breakout_owner* owner) {
    if (owner->is_held) {
        best->is_holding |= owner->pad == player;
        return;
    }
    float y = BREAKOUT_PAD_TOP - radius;
    if (!(vel.y > 1.0f) || pos.y > y) return;
    float time_s = (y - pos.y) / vel.y;
    float x = breakout_landing_x(pos, vel, radius, y);
    bool is_ours = x >= own.low - LANE_OVERLAP && x <= own.high + LANE_OVERLAP;
    if (is_ours && time_s < best->time_s)
        *best = (approach){entity, x, time_s, radius, best->is_holding};
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

void breakout_bot_think(const net_player_context* view, breakout_input* input) {
    const breakout_game* game = view->context;
    bot_memory* memory = view->memory;
    const breakout_player* self = ecs_find(view->world, view->player, game->player);
    const ecs_vec2* pos = ecs_find(view->world, view->player, game->pos);
    const ecs_vec2* size = ecs_find(view->world, view->player, game->rect_size);
    if (!self || !pos || !size) return;

    uint32_t count = ecs_query_count(view->world, game->lanes), before = 0;
    lanes_run(view->world, game->lanes, &before, self->slot);
    float width = BREAKOUT_FIELD_WIDTH / (float)(count ? count : 1);
    lane own = {(float)before * width, (float)(before + 1) * width};
    approach next = {.ball = ECS_ENTITY_NONE, .x = (own.low + own.high) * 0.5f, .time_s = 1e30f};
    approaches_run(view->world, game->approaches, &next, own, view->player);
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
    input->move = breakout_move_towards(view, pos->x + half, wanted);
    // The bot waits a moment before it serves.
    input->is_launching = next.is_holding && view->input_number % 32 == 31;
}
