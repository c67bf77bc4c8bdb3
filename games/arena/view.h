// SPDX-License-Identifier: MIT
/// What the picture keeps between frames. The simulation never reads it. All parts have fixed
/// sizes.
#pragma once

#include "paint.h"

#define ARENA_SPARKS 384u
#define ARENA_BEAMS 32u
#define ARENA_BLASTS 32u
#define ARENA_SCARS 48u
#define ARENA_SCAR_S 14.0f
#define ARENA_POPUPS 16u
#define ARENA_POPUP_S 0.9f
#define ARENA_POSES 1024u
#define ARENA_NEWS 6u
#define ARENA_BUBBLES 8u
#define ARENA_BUBBLE_S 2.5f
#define ARENA_NEWS_BYTES 96u
#define ARENA_NEWS_KILL UINT32_MAX
#define ARENA_NEWS_S 5.0f
#define ARENA_BEAM_S 0.3f
#define ARENA_BANNER_S 4.0f

typedef struct arena_spark {
    float x, y, vx, vy;
    float age_s, life_s;
    ecs_color color;
} arena_spark;

typedef struct arena_beam {
    float from_x, from_y, to_x, to_y, left_s;
    ecs_color color;
} arena_beam;

/// How a fighter was shown last. Clients know where it moves and what it shot, not where it looks.
typedef struct arena_pose {
    ecs_entity entity;
    float heading;
    float aim_s;   ///< it looks along its last shot for so long
    float flash_s; ///< of its muzzle
    float hurt_s;  ///< its health is shown for so long
} arena_pose;

/// A hit, or with a larger size the end of a fighter.
typedef struct arena_blast {
    float x, y, size, age_s, life_s;
    ecs_color color;
} arena_blast;

/// What the end of a fighter leaves on the ground.
typedef struct arena_scar {
    float x, y, size, left_s;
} arena_scar;

/// What a hit of the own fighter took.
typedef struct arena_popup {
    float x, y, left_s;
    uint32_t amount;
    bool is_fatal;
} arena_popup;

/// A phrase of a player, shown over its fighter.
typedef struct arena_bubble {
    ecs_entity speaker;
    uint32_t phrase;
    float left_s;
} arena_bubble;

/// A line of news. The names are looked up when the line is drawn.
typedef struct arena_news {
    uint32_t who, whom; ///< clients; 0: the teams below
    uint32_t team, other_team;
    uint32_t flag_what; ///< ARENA_FLAG_IS_TAKEN...; ARENA_NEWS_KILL: no flag
    float left_s;
} arena_news;

typedef struct arena_view {
    arena_pen pen;   ///< the pen of this frame
    ecs_vec2 camera; ///< where the player's own fighter was last seen
    bool has_camera;
    ecs_entity player; ///< the player of the last frame
    float sight;       ///< how far the own fighter or its ghost sees
    uint8_t own_team;  ///< 0: the player only watches
    uint32_t own_client;
    base_rng rng;
    arena_spark sparks[ARENA_SPARKS];
    arena_beam beams[ARENA_BEAMS];
    arena_blast blasts[ARENA_BLASTS];
    arena_scar scars[ARENA_SCARS];
    arena_popup popups[ARENA_POPUPS];
    arena_pose poses[ARENA_POSES];
    arena_news news[ARENA_NEWS];
    arena_bubble bubbles[ARENA_BUBBLES];
    uint32_t spark_next, beam_next, blast_next, scar_next, popup_next, news_next, bubble_next;
    float hurt_s; ///< remaining time of the effect after a hit on the own fighter
    float banner_s;
    uint64_t chat_hash; ///< of the lines that were drawn last
    float chat_s;       ///< since they changed
    char banner[ARENA_NEWS_BYTES];
    ecs_color banner_color;
} arena_view;

/// @return the pose of a fighter; a new one looks towards `heading`.
arena_pose* arena_pose_of(arena_view* view, ecs_entity entity, float heading);
