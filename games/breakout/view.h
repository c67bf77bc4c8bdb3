// SPDX-License-Identifier: MIT
/// What the picture keeps between frames. The simulation never reads it. All parts have fixed
/// sizes.
#pragma once

#include "ecs/geometry.h"
#include "net/draw.h"

#define BREAKOUT_TRAILS 24u
#define BREAKOUT_TRAIL_POINTS 16u
#define BREAKOUT_SPARKS 384u
#define BREAKOUT_POPS 16u
#define BREAKOUT_BUBBLES 8u
#define BREAKOUT_FLASHES 16u
#define BREAKOUT_TITLE_S 2.0f
#define BREAKOUT_BUBBLE_S 1.8f
#define BREAKOUT_FLASH_S 0.25f

/// Where a ball was shown, and at which times.
typedef struct breakout_trail {
    ecs_entity ball;
    uint32_t next, count;
    double seen_s; ///< the time of the last frame that showed this ball
    ecs_vec2 points[BREAKOUT_TRAIL_POINTS];
    double times_s[BREAKOUT_TRAIL_POINTS];
} breakout_trail;

typedef struct breakout_spark {
    float x, y, vx, vy;
    float age_s, life_s;
    ecs_color color;
} breakout_spark;

/// Points that rise from a struck brick.
typedef struct breakout_pop {
    float x, y, left_s;
    int32_t score;
    ecs_color color;
} breakout_pop;

/// A cheer over a pad.
typedef struct breakout_bubble {
    uint32_t client, emote;
    float left_s;
} breakout_bubble;

/// A pad that a ball touched.
typedef struct breakout_flash {
    ecs_entity pad;
    float left_s;
} breakout_flash;

typedef struct breakout_view {
    double now_s; ///< the shown tick in seconds
    bool has_now;
    base_rng rng;
    breakout_trail trails[BREAKOUT_TRAILS];
    breakout_spark sparks[BREAKOUT_SPARKS];
    breakout_pop pops[BREAKOUT_POPS];
    breakout_bubble bubbles[BREAKOUT_BUBBLES];
    breakout_flash flashes[BREAKOUT_FLASHES];
    uint32_t spark_next, pop_next, bubble_next, flash_next;
    float loss_s;         ///< remaining time of the flash and the shake after a lost life
    float title_s;        ///< remaining time for the level's name
    int32_t level, phase; ///< the values of the last frame
} breakout_view;
