// SPDX-License-Identifier: MIT
/// The private header of breakout: components, events, ids, and the functions that its files share.
///
/// Tracked components hold all state that decides the future. breakout_game holds only ids,
/// settings and the memory of the picture.
#pragma once

#include "ecs/es.h"
#include "net/game.h"
#include "view.h"

#define BREAKOUT_FIELD_WIDTH 1200.0f
#define BREAKOUT_FIELD_HEIGHT 800.0f
#define BREAKOUT_PAD_TOP 756.0f
#define BREAKOUT_GRID 0.0625f ///< step of pos and vel; pads and balls end each tick on it
#define BREAKOUT_COLUMNS 16
#define BREAKOUT_ROWS 10
#define BREAKOUT_LEVELS 6
#define BREAKOUT_HITS_MAX 9
#define BREAKOUT_PLAYERS_PER_EXTRA_BALL 4
#define BREAKOUT_BOUNCE_ANGLE_MAX 1.05f ///< radians from straight up, at the pad's edge
#define BREAKOUT_SPEED_MAX 1900.0f      ///< the range of vel on the wire ends at 2048
#define BREAKOUT_LAUNCH_ANGLE_MAX 0.6f
#define BREAKOUT_EMOTES 8u

typedef enum breakout_phase {
    BREAKOUT_PLAYING,
    BREAKOUT_CLEARED, ///< pause before the next level
    BREAKOUT_LOST,    ///< pause before the next ball
    BREAKOUT_OVER,    ///< pause before level 1
} breakout_phase;

// Small numbers (level, lives) get few bits on the wire. A value out of range is clamped there and
// never in the simulation.

/// Component "match" of the singleton.
ES_STRUCT(BreakoutMatch)
typedef struct breakout_match {
    int32_t phase ES_QUANT(0, 1, 2);  ///< breakout_phase
    int32_t level ES_QUANT(0, 1, 10); ///< 1, 2, 3...
    int32_t lives ES_QUANT(0, 1, 7);
    int32_t score ES_QUANT(0, 1, 26); ///< of all players together
    int32_t best ES_QUANT(0, 1, 26);  ///< highest score of this match's games
    int32_t bricks ES_QUANT(0, 1, 8);
    int32_t balls ES_QUANT(0, 1, 8);
} breakout_match;

/// Component "player" of a pad.
ES_STRUCT(BreakoutPlayer)
typedef struct breakout_player {
    uint32_t client;
    int32_t slot ES_QUANT(0, 1, 12); ///< lowest free number: gives the colour and a bot's lane
    int32_t score ES_QUANT(0, 1, 26);
    int32_t cheers ES_QUANT(0, 1, 16);
} breakout_player;

/// Component "input" of a pad and payload of the event "pad_input".
ES_STRUCT(BreakoutInput)
ES_EVENT(pad_input)
ES_MESSAGE(Breakout__PadInput)
typedef struct breakout_input {
    int32_t move ES_QUANT(-127, 1, 8) ES_CLAMP(-127, 127);
    ES_NAME(launch) bool is_launching;
} breakout_input;

/// Component "owner" of a ball.
ES_STRUCT(BreakoutOwner)
typedef struct breakout_owner {
    ecs_entity pad; ///< the pad that holds it or touched it last; the pad may be destroyed
    bool is_held;
} breakout_owner;

/// Component "launch" of a ball: with it a client launches the ball as the server will.
ES_STRUCT(BreakoutLaunch)
typedef struct breakout_launch {
    uint32_t tick; ///< the ball launches by itself at this tick; 0: no pad holds it yet
    int32_t aim ES_QUANT(-127, 1, 8); ///< from straight up; 127 is BREAKOUT_LAUNCH_ANGLE_MAX
} breakout_launch;

/// Component "level" of an entity that waits for the resource of the next level (level.c).
typedef struct breakout_level {
    int32_t number;
} breakout_level;

/// The picture of the next level, as the loader has read it.
typedef struct breakout_picture {
    int32_t level; ///< 0: no picture was read
    bool is_open;  ///< true between two ticks, when the loader may read pictures
    uint8_t hits[BREAKOUT_ROWS][BREAKOUT_COLUMNS];
} breakout_picture;

// Payloads of events to and from clients. Only events for clients are exported. The component
// "input" holds an applied input.
ES_EVENT(cheer)
ES_MESSAGE(Breakout__Cheer)
typedef struct breakout_cheer {
    uint32_t emote ES_RANGE(0, BREAKOUT_EMOTES - 1);
} breakout_cheer;

ES_EVENT(brick_hit, exported)
ES_MESSAGE(Breakout__BrickHit)
typedef struct breakout_brick_hit {
    ecs_entity brick;
    uint32_t client;
    uint32_t score ES_RANGE(0, INT32_MAX);
    uint32_t hits_left ES_RANGE(0, BREAKOUT_HITS_MAX);
    int32_t x, y;
} breakout_brick_hit;

ES_EVENT(level_cleared, exported)
ES_MESSAGE(Breakout__LevelCleared)
typedef struct breakout_level_cleared {
    uint32_t level, score ES_RANGE(0, INT32_MAX);
} breakout_level_cleared;

ES_EVENT(life_lost, exported)
ES_MESSAGE(Breakout__LifeLost)
typedef struct breakout_life_lost {
    uint32_t lives, score ES_RANGE(0, INT32_MAX);
} breakout_life_lost;

ES_EVENT(cheered, exported)
ES_MESSAGE(Breakout__Cheered)
typedef struct breakout_cheered {
    uint32_t client;
    uint32_t emote ES_RANGE(0, BREAKOUT_EMOTES - 1);
} breakout_cheered;

/// Index of each message in the module's table; the number on the wire is one more.
enum {
    BREAKOUT_MESSAGE_PAD_INPUT,
    BREAKOUT_MESSAGE_CHEER,
    BREAKOUT_MESSAGE_BRICK_HIT,
    BREAKOUT_MESSAGE_LEVEL_CLEARED,
    BREAKOUT_MESSAGE_LIFE_LOST,
    BREAKOUT_MESSAGE_CHEERED,
    BREAKOUT_MESSAGE_COUNT,
};

enum {
    BREAKOUT_SETTING_BALL_SPEED,
    BREAKOUT_SETTING_PAD_SPEED,
    BREAKOUT_SETTING_LIVES,
    BREAKOUT_SETTING_LEVEL,
    BREAKOUT_SETTING_BRICK_HITS,
    BREAKOUT_SETTING_COUNT,
};

enum {
    BREAKOUT_ACTION_LEFT,
    BREAKOUT_ACTION_RIGHT,
    BREAKOUT_ACTION_LAUNCH,
    BREAKOUT_ACTION_CHEER, ///< the first of BREAKOUT_EMOTES actions
    BREAKOUT_ACTION_COUNT = BREAKOUT_ACTION_CHEER + BREAKOUT_EMOTES,
};

/// The context block of one world.
typedef struct breakout_game {
    bool is_truth; ///< true in the server's world, which scores, sends events and serves balls
    ecs_component_id pos, rect_size, color, vel, brick_cell, hits;
    ecs_component_id player, input, owner, launch;
    ecs_component_id match, pause_ticks, serves, served, level;
    ecs_template_id brick_template, rubble_template, pad_template, ball_template, match_template,
        level_template;
    ecs_event_type brick_hit, level_cleared, life_lost, cheered;
    ecs_query* bricks;     ///< pos, rectSize, hits, color
    ecs_query* rubble;     ///< entities only
    ecs_query* pads;       ///< pos, rectSize, player, input
    ecs_query* balls;      ///< pos, vel, radius, owner, launch
    ecs_query* matches;    ///< match
    ecs_query* levels;     ///< level; entities whose picture has been read
    ecs_query* near_balls; ///< used by predict.c
    float ball_speed;      ///< at level 1, units per second
    uint32_t tick_rate_hz;
    double settings[BREAKOUT_SETTING_COUNT];
    breakout_picture picture;
    breakout_view view;
} breakout_game;

/// @return the nearest value on BREAKOUT_GRID. The server computes with the rounded values that it
///         sends, so a client that continues from them computes the same.
float breakout_snap(float value);
/// Keep the tick rate and the settings of the match.
void breakout_take_settings(breakout_game* game, const net_game_start* start);

/// @return the module table, which net_game_module_get returns from the .so.
const net_game_module* breakout_module(void);

// types.c
ecs_result breakout_register_types(ecs_world* world, const base_reporter* reporter);

// rules.c
void breakout_start(ecs_world* world, void* context, const net_game_start* start);
ecs_entity breakout_player_join(ecs_world* world, void* context, const net_game_player* player);
void breakout_player_leave(ecs_world* world, void* context, uint32_t client, ecs_entity entity);
ecs_result breakout_register_rules(ecs_world* world, breakout_game* game);
/// @return the number of ticks in a span of time, at least 1.
int32_t breakout_ticks(const breakout_game* game, float seconds);
/// Add the points of one hit to the match, and to the pad if it is alive.
/// @return the client that owns the pad, or 0.
uint32_t breakout_score(ecs_world* world, const breakout_game* game, ecs_entity pad,
                        int32_t points);
/// @return the singleton; ECS_ENTITY_NONE before it exists (first ticks of a mirror).
ecs_entity breakout_match_entity(ecs_world* world, const breakout_game* game);

// level.c
/// @return the number of hits that the brick of a cell needs; 0: the cell has no brick.
int32_t breakout_level_hits(int32_t level, int32_t column, int32_t row);
/// Record the creation of all bricks of a level. @return their count.
int32_t breakout_level_place(ecs_world* world, breakout_game* game, int32_t level);
/// Set the loader of the server's world: entities with a level wait until their picture is read.
void breakout_set_loader(ecs_world* world, breakout_game* game);
ecs_color breakout_brick_color(int32_t hits);
ecs_color breakout_player_color(int32_t slot);

// pad.c
ecs_result breakout_register_pads(ecs_world* world, breakout_game* game);
float breakout_pad_width(uint32_t players);

// ball.c
ecs_result breakout_register_balls(ecs_world* world, breakout_game* game);
/// @return the pad that serves; the pads take turns. ECS_ENTITY_NONE without players.
ecs_entity breakout_find_server(ecs_world* world, const breakout_game* game, uint32_t turn);
float breakout_ball_speed(const breakout_game* game, int32_t level);
ecs_vec2 breakout_direction(float angle, float length); ///< `angle` from straight up, to the right
float breakout_launch_angle(const breakout_launch* launch);

// sweep.c
/// The first touch of a moving circle and a resting rectangle.
typedef struct breakout_touch {
    float t;         ///< part of the way, 0..1
    ecs_vec2 normal; ///< of length 1, away from the rectangle
} breakout_touch;
/// @return false when the circle does not touch the rectangle on this way, or only moves away.
bool breakout_sweep(ecs_vec2 centre, ecs_vec2 way, float radius, ecs_vec2 low, ecs_vec2 high,
                    breakout_touch* touch);
/// @return x where a falling ball crosses the height `y`, between the side walls. Needs vel.y > 0.
float breakout_landing_x(ecs_vec2 pos, ecs_vec2 vel, float radius, float y);

// predict.c
ecs_result breakout_register_prediction(ecs_world* world, breakout_game* game);
uint32_t breakout_predict(ecs_world* world, void* context, ecs_entity player,
                          net_predicted* entities, uint32_t capacity);

// bot.c
void breakout_bot_think(const net_player_context* view, void* input);
/// @return the move from `from` to `to` for the middle of a pad, at full speed where it is far.
int32_t breakout_move_towards(const net_player_context* view, float from, float to);

// human.c
void breakout_human_input(const net_player_context* view, const net_controls* controls,
                          void* input);

// view.c
ecs_result breakout_register_view(ecs_world* world, breakout_game* game);
breakout_pen breakout_pen_make(const ecs_stage* stage); ///< the pen of this frame

// view_play.c, view_board.c: systems of the picture
ecs_result breakout_register_view_play(ecs_world* world, breakout_game* game);
ecs_result breakout_register_view_board(ecs_world* world, breakout_game* game);
const char* breakout_player_name(const net_draw* draw, uint32_t client, char* buffer, size_t bytes);

// messages.c
extern const net_message breakout_messages[BREAKOUT_MESSAGE_COUNT];
