// SPDX-License-Identifier: MIT
// Balls: a pad holds a ball, or the ball flies. The flight of one tick is cut at each touch.
//
//     remaining way -> nearest touch among walls, pads, bricks -> move there -> turn -> repeat
//
// Invariants:
// - After each touch the speed is set to the speed of the level, so rounding errors never add up.
// - The way is never flatter than STEEPNESS_MIN, so no ball bounces between the side walls for
//   ever.
// - Among equal touches the first one in the order of the query wins. This order is the same on
//   every machine.
// - Positions and velocities end each tick on the grid, because clients get these values.
//
// One system serves two worlds. The server's world decides: it scores, sends events, turns bricks
// to rubble, finds a pad that serves and removes lost balls. A client's prediction moves the balls
// ahead with the same code. It counts down the hits of a brick, so that a ball does not strike a
// brick twice that the server will remove; all other effects come from the server. The system reads
// only replicated data and the inputs. It draws no random numbers: the component "launch" holds the
// angle and the last moment of a launch. A command turns a struck brick to rubble. Until the flush
// the brick has hits 0, and balls pass through it. rules.c decides what happens when no ball is
// left.

#include "breakout.h"
#include "ball.es.h"

#define BOUNCES_MAX 8u
#define STEEPNESS_MIN 0.25f
#define SPEED_MAX 1900.0f ///< the range of vel on the wire ends at 2048
#define LAUNCH_ANGLE_MAX 0.6f
#define HOLD_S 1.5f ///< seconds; a ball that no player launches starts by itself after this time
#define HIT_POINTS 10

// The bottom of the field is open: a ball that falls through is lost.
static const ecs_vec2 room_low = {0.0f, 0.0f}, room_high = {BREAKOUT_FIELD_WIDTH, 1e6f};

typedef enum obstacle_kind {
    OBSTACLE_NONE,
    OBSTACLE_WALL,
    OBSTACLE_PAD,
    OBSTACLE_BRICK
} obstacle_kind;

/// What a ball meets first on its way.
typedef struct obstacle {
    obstacle_kind kind;
    ecs_entity entity;
    ecs_touch touch;
    ecs_vec2 low, high;
} obstacle;

typedef struct ball {
    ecs_vec2 pos, vel;
    float radius, speed;
} ball;

static float ball_speed(const breakout_game* game, int32_t level) {
    float factor = 1.0f + 0.05f * (float)(level - 1);
    float speed =
        ecs_vec2_length(game->ball_vel) * game->settings.ball_speed * base_min(factor, 1.6f);
    return base_clamp(speed, 100.0f, SPEED_MAX);
}

ecs_vec2 breakout_direction(float angle, float length) {
    return (ecs_vec2){base_sin(angle) * length, -base_cos(angle) * length};
}

float breakout_launch_angle(const breakout_launch* launch) {
    return (float)launch->aim / 127.0f * LAUNCH_ANGLE_MAX;
}

static void meet_boxes(ecs_world* world, ecs_query* query, obstacle_kind kind, const ball* b,
                       ecs_vec2 way, obstacle* nearest) {
    ecs_vec2 least, most;
    ecs_sweep_reach(b->pos, way, b->radius, &least, &most);
    ecs_query_iter it = ecs_query_begin(world, query);
    while (ecs_query_next(&it)) {
        const ecs_vec2* low = it.rows.columns[0];
        const ecs_vec2* size = it.rows.columns[1];
        const int32_t* hits = kind == OBSTACLE_BRICK ? it.rows.columns[2] : NULL;
        for (uint32_t i = 0; i < it.rows.count; i++) {
            ecs_vec2 high = ecs_vec2_add(low[i], size[i]);
            if (low[i].x > most.x || high.x < least.x || low[i].y > most.y || high.y < least.y)
                continue;
            ecs_touch touch;
            if ((hits && hits[i] <= 0) ||
                !ecs_sweep_box(b->pos, way, b->radius, low[i], high, &touch) ||
                (nearest->kind != OBSTACLE_NONE && touch.t >= nearest->touch.t))
                continue;
            *nearest = (obstacle){kind, it.rows.entities[i], touch, low[i], high};
        }
    }
}

// Set the length of the velocity to the speed, and keep its vertical part steep enough.
static void straighten(ball* b) {
    float length = ecs_vec2_length(b->vel);
    if (!(length > 0.0f)) {
        b->vel = breakout_direction(0.0f, b->speed);
        return;
    }
    float x = b->vel.x / length, y = b->vel.y / length;
    if (base_abs(y) < STEEPNESS_MIN) {
        y = y < 0.0f ? -STEEPNESS_MIN : STEEPNESS_MIN;
        float rest = base_sqrt(1.0f - STEEPNESS_MIN * STEEPNESS_MIN);
        x = x < 0.0f ? -rest : rest;
    }
    b->vel = (ecs_vec2){x * b->speed, y * b->speed};
}

// Add the points of one hit to the match, and to the pad if it is alive. @return the pad's client.
static uint32_t score(ecs_world* world, const breakout_game* game, ecs_entity pad) {
    breakout_match* match = ecs_get_mut(world, ecs_query_first(world, game->matches), game->match);
    match->score += HIT_POINTS;
    if (match->score > match->best) match->best = match->score;
    breakout_player* player = ecs_find_mut(world, pad, game->player);
    if (player) player->score += HIT_POINTS;
    return player ? player->client : 0;
}

// The server's part of a hit.
static void strike_brick(const ecs_stage* stage, const breakout_game* game, const obstacle* hit,
                         int32_t left, ecs_entity pad) {
    ecs_color* color = ecs_get_mut(stage->world, hit->entity, game->color);
    *color = breakout_brick_color(left);
    const breakout_brick_hit event = {
        .brick = hit->entity,
        .client = score(stage->world, game, pad),
        .score = HIT_POINTS,
        .hits_left = (uint32_t)left,
        .x = (int32_t)((hit->low.x + hit->high.x) * 0.5f),
        .y = (int32_t)((hit->low.y + hit->high.y) * 0.5f),
    };
    ecs_event_broadcast(stage->world, game->brick_hit, &event);
    if (left <= 0)
        (void)ecs_command_recreate(stage->world, hit->entity, game->rubble_template, NULL, 0);
}

static void fly(const ecs_stage* stage, const breakout_game* game, ball* b, breakout_owner* owner) {
    float remaining = stage->dt;
    for (uint32_t bounce = 0; bounce < BOUNCES_MAX && remaining > 0.0f; bounce++) {
        ecs_vec2 way = ecs_vec2_scale(b->vel, remaining);
        obstacle hit = {.kind = OBSTACLE_NONE};
        if (ecs_sweep_room(b->pos, way, b->radius, room_low, room_high, &hit.touch))
            hit.kind = OBSTACLE_WALL;
        meet_boxes(stage->world, game->bricks, OBSTACLE_BRICK, b, way, &hit);
        // A pad lets a ball that is below it pass: this ball is lost.
        if (way.y > 0.0f && b->pos.y < BREAKOUT_PAD_TOP + b->radius)
            meet_boxes(stage->world, game->pads, OBSTACLE_PAD, b, way, &hit);
        float part = hit.kind == OBSTACLE_NONE ? 1.0f : hit.touch.t;
        b->pos.x += way.x * part;
        b->pos.y += way.y * part;
        remaining *= 1.0f - part;
        if (hit.kind == OBSTACLE_NONE) break;
        if (hit.kind == OBSTACLE_PAD) {
            // A pad sends the ball up, the flatter the farther from its middle: so players can aim.
            float middle = (hit.low.x + hit.high.x) * 0.5f;
            float half = (hit.high.x - hit.low.x) * 0.5f + b->radius;
            float aside = base_clamp((b->pos.x - middle) / half, -1.0f, 1.0f);
            b->vel = breakout_direction(aside * BREAKOUT_BOUNCE_ANGLE_MAX, b->speed);
            b->pos.y = base_min(b->pos.y, hit.low.y - b->radius);
            owner->pad = hit.entity;
        } else {
            b->vel = ecs_vec2_reflect(b->vel, hit.touch.normal);
            straighten(b);
        }
        if (hit.kind == OBSTACLE_BRICK) {
            int32_t* hits = ecs_get_mut(stage->world, hit.entity, game->hits);
            *hits -= 1;
            if (game->is_truth) strike_brick(stage, game, &hit, *hits, owner->pad);
        }
    }
}

static void hold(const ecs_stage* stage, const breakout_game* game, ball* b, breakout_owner* owner,
                 const breakout_launch* launch) {
    if (!ecs_is_alive(stage->world, owner->pad)) return; // no pad: the ball stays where it is
    const ecs_vec2* pos = ecs_get(stage->world, owner->pad, game->pos);
    const ecs_vec2* size = ecs_get(stage->world, owner->pad, game->rect_size);
    const breakout_input* input = ecs_get(stage->world, owner->pad, game->input);
    b->pos = (ecs_vec2){pos->x + size->x * 0.5f, pos->y - b->radius};
    b->vel = (ecs_vec2){0.0f, 0.0f};
    // Compare by the difference: the number of ticks may outgrow 32 bits.
    bool is_time = (int32_t)((uint32_t)stage->tick - launch->tick) >= 0;
    if (!input->is_launching && !is_time) return;
    b->vel = breakout_direction(breakout_launch_angle(launch), b->speed);
    owner->is_held = false;
}

// A span of rows: the place of a ball in its row chooses the pad that gets it.
ES_TAG(server | predict)
ES_SPAN
static void move_balls_es(const ecs_stage* stage, ES_CONTEXT const breakout_game* game,
                          uint32_t count, const ecs_entity* entities, ecs_vec2* pos, ecs_vec2* vel,
                          const float* radius, breakout_owner* owner, breakout_launch* launch) {
    ecs_entity match = ecs_query_first(stage->world, game->matches);
    if (match == ECS_ENTITY_NONE) return;
    int32_t level = ((const breakout_match*)ecs_get(stage->world, match, game->match))->level;
    uint32_t serves = *(const uint32_t*)ecs_get(stage->world, match, game->serves);
    for (uint32_t i = 0; i < count; i++) {
        ball b = {pos[i], vel[i], radius[i], ball_speed(game, level)};
        bool is_lost = b.pos.y > BREAKOUT_FIELD_HEIGHT + b.radius;
        if (owner[i].is_held) {
            if (game->is_truth && !ecs_is_alive(stage->world, owner[i].pad)) {
                // Give a ball whose pad is gone to another pad, and start its time to launch again.
                owner[i].pad = breakout_next_pad(stage->world, game, serves + i);
                bool is_served = owner[i].pad != ECS_ENTITY_NONE;
                launch[i].tick =
                    is_served ? (uint32_t)stage->tick + breakout_ticks(game, HOLD_S) : 0;
            }
            hold(stage, game, &b, &owner[i], &launch[i]);
        } else if (!is_lost) {
            fly(stage, game, &b, &owner[i]);
        }
        pos[i] = ecs_vec2_snap(b.pos, game->grid);
        vel[i] = ecs_vec2_snap(b.vel, game->grid);
        if (game->is_truth && b.pos.y > BREAKOUT_FIELD_HEIGHT + b.radius)
            ecs_command_destroy(stage->world, entities[i]);
    }
}

float breakout_landing_x(ecs_vec2 pos, ecs_vec2 vel, float radius, float y) {
    float x = pos.x + vel.x * ((y - pos.y) / vel.y);
    return ecs_fold(x, radius, BREAKOUT_FIELD_WIDTH - radius);
}
