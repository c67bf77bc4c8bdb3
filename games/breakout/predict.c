// SPDX-License-Identifier: MIT
// Chooses what a client predicts: the player's own pad, a ball that it holds, and balls near it.
//
// A predicted ball is where the player's own inputs put it. An interpolated ball is where it was a
// short time ago. Between the two, the client shows a mixture. The weight must be a smooth function
// of the ball's place, both on its way down and on its way up. It is the product of two factors:
// how near the ball is to the line of pads, and how far from the reach of the player's own pad the
// ball crosses (or crossed) that line. At a touch both ways give the same place, so the ball never
// jumps.

#include "breakout.h"

typedef struct prediction {
    const breakout_game* game;
    ecs_entity player;
    ecs_vec2 pad;
    float pad_width;
    net_predicted* entities;
    uint32_t count, capacity;
} prediction;

#include "predict.es.h"

#define NEAR_HEIGHT 120.0f ///< height above the line of pads: shown as predicted up to here
#define FAR_HEIGHT 420.0f  ///< height from which on a ball is shown as interpolated
#define REACH_FADE 160.0f  ///< distance beyond the pad's reach at which the weight reaches 0

static float ball_weight(const breakout_game* game, ecs_vec2 pos, ecs_vec2 vel, float radius,
                         ecs_vec2 pad, float pad_width) {
    float line = BREAKOUT_PAD_TOP - radius;
    float height = base_max(line - pos.y, 0.0f);
    float weight = ecs_fade(height, NEAR_HEIGHT, FAR_HEIGHT);
    if (!(weight > 0.0f)) return 0.0f;
    float x = pos.x, time_s = 0.0f;
    float speed = base_abs(vel.y);
    if (height > 0.0f && speed > 1.0f) {
        // A ball that moves up: follow its way back to the line.
        ecs_vec2 way = vel.y > 0.0f ? vel : (ecs_vec2){-vel.x, -vel.y};
        x = breakout_landing_x(pos, way, radius, line);
        time_s = height / speed;
    }
    float half = pad_width * 0.5f;
    float reach = half + radius + game->settings.pad_speed * time_s;
    float beyond = base_abs(x - (pad.x + half)) - reach;
    return weight * ecs_fade(beyond, 0.0f, REACH_FADE);
}

// Add one ball. @return false when the array is full.
static bool near_balls_ecs_query(ES_CONTEXT prediction* shown, ecs_entity entity, ecs_vec2 pos,
                                 ecs_vec2 vel, float radius, const breakout_owner* owner) {
    if (shown->count == shown->capacity) return false;
    float weight = ball_weight(shown->game, pos, vel, radius, shown->pad, shown->pad_width);
    if (owner->is_held) weight = owner->pad == shown->player ? 1.0f : 0.0f;
    if (weight > 0.0f) shown->entities[shown->count++] = (net_predicted){entity, weight};
    return true;
}

uint32_t breakout_predict(ecs_world* world, breakout_game* game, ecs_entity player,
                          net_predicted* entities, uint32_t capacity) {
    const ecs_vec2* pad = ecs_find(world, player, game->pos);
    const ecs_vec2* size = ecs_find(world, player, game->rect_size);
    if (!pad || !size || capacity == 0) return 0;
    prediction shown = {game, player, *pad, size->x, entities, 0, capacity};
    shown.entities[shown.count++] = (net_predicted){player, 1.0f};
    near_balls_run(world, game->near_balls, &shown);
    return shown.count;
}
