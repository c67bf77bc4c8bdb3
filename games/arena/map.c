// SPDX-License-Identifier: MIT
// The map: bases in the corners, at most one rock per square of 64 units, and movement on it.
//
// A rock lies inside its square, with more room around it than a fighter needs, so a check looks at
// one square only. Movement is in whole steps of ARENA_STEP. vel is the number of steps of the real
// movement times the tick rate, so nothing is lost when it is sent. The map is a function of
// constants, so it is never sent.

#include "arena.h"

#define STAND 128.0f ///< distance to the map's edges; no rock lies on a square's corner

// Place within the square and radius of each rock, row by row; 0: the square has none.
// clang-format off
static const uint8_t rocks[ARENA_ROCK_CELLS][ARENA_ROCK_CELLS][3] = {
    {{0}, {22,18,5}, {44,23,9}, {37,40,5}, {42,43,10}, {42,44,8}, {19,45,7}, {0}},
    {{45,45,6}, {0}, {24,37,9}, {20,45,6}, {33,29,7}, {20,25,7}, {19,37,8}, {0}},
    {{33,35,10}, {0}, {26,25,6}, {18,30,8}, {36,36,4}, {29,25,7}, {44,26,5}, {0}},
    {{25,44,8}, {42,20,5}, {45,44,7}, {21,39,4}, {37,20,5}, {26,29,5}, {40,19,5}, {26,29,5}},
    {{40,20,6}, {0}, {39,26,7}, {28,22,6}, {39,40,8}, {32,38,10}, {25,28,8}, {41,40,5}},
    {{0}, {38,27,9}, {19,31,7}, {37,36,10}, {24,38,8}, {34,39,6}, {0}, {35,41,8}},
    {{45,20,5}, {28,24,4}, {21,38,7}, {18,39,7}, {44,38,10}, {29,32,10}, {26,40,10}, {30,31,7}},
    {{0}, {22,27,7}, {39,23,8}, {23,44,4}, {27,24,8}, {34,27,7}, {35,20,7}, {0}},
};
// clang-format on

arena_rock arena_map_rock(uint32_t column, uint32_t row) {
    const uint8_t* rock = rocks[row][column];
    if (rock[2] == 0) return (arena_rock){0};
    return (arena_rock){(float)column * ARENA_ROCK_CELL + (float)rock[0],
                        (float)row * ARENA_ROCK_CELL + (float)rock[1], (float)rock[2]};
}

ecs_vec2 arena_map_base(uint32_t team) {
    uint32_t corner = team - 1;
    return (ecs_vec2){corner % 2 ? ARENA_SIZE - 40.0f : 40.0f,
                      corner / 2 % 2 ? ARENA_SIZE - 40.0f : 40.0f};
}

ecs_vec2 arena_place_in_base(base_rng* rng, uint8_t team) {
    ecs_vec2 base = arena_map_base(team);
    float x = base.x + (base_rng_float(rng) * 2.0f - 1.0f) * ARENA_BASE_RADIUS;
    float y = base.y + (base_rng_float(rng) * 2.0f - 1.0f) * ARENA_BASE_RADIUS;
    return (ecs_vec2){arena_snap(x), arena_snap(y)};
}

// The stand lies on the way to the middle, where other fighters pass.
ecs_vec2 arena_map_stand(uint32_t team) {
    ecs_vec2 base = arena_map_base(team);
    return (ecs_vec2){base.x < ARENA_SIZE * 0.5f ? STAND : ARENA_SIZE - STAND,
                      base.y < ARENA_SIZE * 0.5f ? STAND : ARENA_SIZE - STAND};
}

static arena_rock rock_near(float x, float y) {
    float last = (float)(ARENA_ROCK_CELLS - 1);
    uint32_t column = (uint32_t)base_clamp(x / ARENA_ROCK_CELL, 0.0f, last);
    uint32_t row = (uint32_t)base_clamp(y / ARENA_ROCK_CELL, 0.0f, last);
    return arena_map_rock(column, row);
}

bool arena_map_is_rock(float x, float y) {
    arena_rock rock = rock_near(x, y);
    float dx = x - rock.x, dy = y - rock.y;
    return dx * dx + dy * dy < rock.radius * rock.radius;
}

ecs_vec2 arena_map_course(ecs_vec2 way, float speed, uint32_t tick_rate_hz) {
    const float rate = (float)tick_rate_hz;
    return (ecs_vec2){arena_snap(way.x * speed / rate) * rate,
                      arena_snap(way.y * speed / rate) * rate};
}

void arena_map_move(ecs_vec2* pos, ecs_vec2* vel, ecs_vec2 course, uint32_t tick_rate_hz) {
    float rate = (float)tick_rate_hz;
    float x = pos->x + course.x / rate, y = pos->y + course.y / rate;
    arena_rock rock = rock_near(x, y);
    float dx = x - rock.x, dy = y - rock.y, reach = rock.radius + ARENA_RADIUS;
    if (rock.radius > 0.0f && dx * dx + dy * dy < reach * reach) {
        float length = base_sqrt(dx * dx + dy * dy);
        if (length > 0.01f) {
            x = rock.x + dx / length * reach;
            y = rock.y + dy / length * reach;
        }
    }
    x = base_clamp(arena_snap(x), ARENA_EDGE, ARENA_SIZE - ARENA_EDGE);
    y = base_clamp(arena_snap(y), ARENA_EDGE, ARENA_SIZE - ARENA_EDGE);
    // A rock may push a fighter farther than the range of vel.
    vel->x = base_clamp((x - pos->x) * rate, -ARENA_SPEED_MAX, ARENA_SPEED_MAX);
    vel->y = base_clamp((y - pos->y) * rate, -ARENA_SPEED_MAX, ARENA_SPEED_MAX);
    *pos = (ecs_vec2){x, y};
}

ecs_vec2 arena_map_aside(ecs_vec2 pos, ecs_vec2 way, float ahead) {
    if (!arena_map_is_rock(pos.x + way.x * ahead, pos.y + way.y * ahead)) return way;
    return (ecs_vec2){way.x * 0.3f - way.y, way.y * 0.3f + way.x};
}

ecs_vec2 arena_towards(ecs_vec2 from, ecs_vec2 to, float least) {
    const ecs_vec2 way = ecs_vec2_sub(to, from);
    const float length = ecs_vec2_length(way);
    if (length < least) return (ecs_vec2){0.0f, 0.0f};
    return (ecs_vec2){way.x / length, way.y / length};
}

float arena_aim_angle(uint32_t aim) {
    int32_t half = ARENA_AIM_STEPS / 2;
    int32_t turned = (int32_t)aim < half ? (int32_t)aim : (int32_t)aim - ARENA_AIM_STEPS;
    return (float)turned * (2.0f * BASE_PI / (float)ARENA_AIM_STEPS);
}

uint32_t arena_aim_of(float x, float y) {
    float part = base_atan2(y, x) / (2.0f * BASE_PI);
    int32_t aim = (int32_t)base_floor(part * (float)ARENA_AIM_STEPS + 0.5f);
    return (uint32_t)aim & (ARENA_AIM_STEPS - 1);
}
