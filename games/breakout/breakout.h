// SPDX-License-Identifier: MIT
/// The private header of breakout: components, events, ids, and the functions that its files share.
///
/// Tracked components hold all state that decides the future. breakout_game holds only ids,
/// settings and the memory of the picture.
#pragma once

#include "ecs/es.h"
#include "ecs/loader.h"
#include "net/controls.h"
#include "view.h"

#define BREAKOUT_FIELD_WIDTH 1200.0f
#define BREAKOUT_FIELD_HEIGHT 800.0f
#define BREAKOUT_PAD_TOP 756.0f
#define BREAKOUT_COLUMNS 16
#define BREAKOUT_ROWS 10
#define BREAKOUT_LEVELS 6
#define BREAKOUT_HITS_MAX 9
#define BREAKOUT_BOUNCE_ANGLE_MAX 1.05f ///< radians from straight up, at the pad's edge
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
ES_MESSAGE(Breakout__PadInput, input, kept)
typedef struct breakout_input {
    int32_t move ES_CLAMP(-127, 127);
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

uint32_t breakout_request_picture(const void* value, ecs_resource* resources, uint32_t capacity);

/// Component "level" of an entity that waits for the resource of the next level (level.c).
ES_STRUCT(BreakoutLevel, request = breakout_request_picture)
typedef struct breakout_level {
    int32_t number;
} breakout_level;

// Payloads of events to and from clients. Only events for clients are exported. The component
// "input" holds an applied input.
ES_EVENT(cheer)
ES_MESSAGE(Breakout__Cheer, reliable)
typedef struct breakout_cheer {
    uint32_t emote ES_RANGE(0, BREAKOUT_EMOTES - 1);
} breakout_cheer;

ES_EVENT(brick_hit, exported)
ES_MESSAGE(Breakout__BrickHit)
ES_SOUND("brick.wav", 0.6)
typedef struct breakout_brick_hit {
    ecs_entity brick;
    uint32_t client;
    uint32_t score ES_RANGE(0, INT32_MAX);
    uint32_t hits_left ES_RANGE(0, BREAKOUT_HITS_MAX);
    int32_t x, y;
} breakout_brick_hit;

ES_EVENT(level_cleared, exported)
ES_MESSAGE(Breakout__LevelCleared, reliable)
ES_SOUND("level.wav", 0.8)
typedef struct breakout_level_cleared {
    uint32_t level, score ES_RANGE(0, INT32_MAX);
} breakout_level_cleared;

ES_EVENT(life_lost, exported)
ES_MESSAGE(Breakout__LifeLost, reliable)
ES_SOUND("lost.wav", 0.8)
typedef struct breakout_life_lost {
    uint32_t lives, score ES_RANGE(0, INT32_MAX);
} breakout_life_lost;

/// A ball came back from a pad. Only pictures send it, to be heard.
ES_EVENT(bounced)
ES_SOUND("bounce.wav", 0.6)
typedef struct breakout_bounced {
    uint32_t nothing;
} breakout_bounced;

ES_EVENT(cheered, exported)
ES_MESSAGE(Breakout__Cheered, reliable)
typedef struct breakout_cheered {
    uint32_t client;
    uint32_t emote ES_RANGE(0, BREAKOUT_EMOTES - 1);
} breakout_cheered;

ES_SETTINGS
typedef struct breakout_settings {
    float ball_speed ES_SETTING(1.0, 0.25, 2.0, "factor on the speed of balls");
    float pad_speed ES_SETTING(900.0, 100.0, 3000.0,
                               "speed of pads, units per second (the field is 1200 wide)");
    int32_t lives ES_SETTING(3.0, 1.0, 99.0, "lives at the start of a game");
    int32_t level ES_SETTING(1.0, 1.0, 99.0, "level at the start of a game");
    int32_t brick_hits ES_SETTING(0.0, 0.0, 4.0, "each brick takes that many more hits");
} breakout_settings;

ES_ACTIONS
typedef enum breakout_action {
    BREAKOUT_ACTION_LEFT ES_ACTION("left", "Left,A", "move the pad to the left", "DPLeft,LeftX-"),
    BREAKOUT_ACTION_RIGHT ES_ACTION("right", "Right,D", "move the pad to the right",
                                    "DPRight,LeftX+"),
    BREAKOUT_ACTION_LAUNCH ES_ACTION("launch", "Space,Up,W", "let go of the ball", "A"),
    BREAKOUT_ACTION_CHEER ES_ACTION("hi", "1", "say hi!", "Y"), ///< the first of BREAKOUT_EMOTES
    BREAKOUT_ACTION_NICE ES_ACTION("nice", "2", "say nice!", "X"),
    BREAKOUT_ACTION_WOW ES_ACTION("wow", "3", "say wow!", "B"),
    BREAKOUT_ACTION_OOPS ES_ACTION("oops", "4", "say oops!"),
    BREAKOUT_ACTION_MINE ES_ACTION("mine", "5", "say mine!"),
    BREAKOUT_ACTION_GG ES_ACTION("gg", "6", "say good game"),
    BREAKOUT_ACTION_HELP ES_ACTION("help", "7", "say help!"),
    BREAKOUT_ACTION_THANKS ES_ACTION("thanks", "8", "say thanks"),
    BREAKOUT_ACTION_COUNT,
} breakout_action;

/// The context block of one world.
ES_GAME_CONTEXT(breakout)
typedef struct breakout_game {
    bool is_truth ES_IF_TAG(server); ///< it scores, sends events and serves balls
    ecs_component_id pos, rect_size ES_NAME(rectSize), color, vel, brick_cell ES_NAME(brick.pos);
    ecs_component_id hits, player, input, owner, launch, match, pause_ticks, serves, served, level;
    ecs_template_id brick_template ES_NAME(breakout_brick);
    ecs_template_id rubble_template ES_NAME(breakout_rubble);
    ecs_template_id pad_template ES_NAME(breakout_pad), ball_template ES_NAME(breakout_ball);
    ecs_template_id match_template ES_NAME(breakout_match), level_template ES_NAME(breakout_level);
    ecs_event_type brick_hit, level_cleared, life_lost, cheered, bounced;
    ecs_query* bricks ES_QUERY("pos:p2 rectSize:p2 hits:i color:c");
    ecs_query* rubble ES_QUERY("rubble:tag");
    ecs_query* pads ES_QUERY("pos:p2 rectSize:p2 player:BreakoutPlayer input:BreakoutInput");
    ecs_query* balls ES_QUERY("pos:p2 vel:p2 radius:r owner:BreakoutOwner launch:BreakoutLaunch");
    ecs_query* matches ES_QUERY("match:BreakoutMatch");
    ecs_query* levels ES_QUERY("level:BreakoutLevel"); ///< entities whose picture has been read
    ecs_query *near_balls, *reset_scores, *taken_slots, *lanes, *approaches; ///< by functions
    float grid ES_STEP(breakout_ball, pos); ///< pads and balls end each tick on it
    ecs_vec2 ball_vel ES_VALUE(ball, vel);  ///< its length is the speed of balls at level 1
    uint32_t tick_rate_hz;
    breakout_settings settings;
    breakout_view view;
} breakout_game;

#include "breakout.h.es.h"

// rules.c
void breakout_start(ecs_world* world, breakout_game* game, const net_game_start* start);
ecs_entity breakout_player_join(ecs_world* world, breakout_game* game,
                                const net_game_player* player);
/// @return the number of ticks in a span of time, at least 1.
uint32_t breakout_ticks(const breakout_game* game, float seconds);
/// @return the pad that serves; the pads take turns. ECS_ENTITY_NONE without players.
ecs_entity breakout_next_pad(ecs_world* world, const breakout_game* game, uint32_t turn);

// level.c
/// @return the number of hits that the brick of a cell needs; 0: the cell has no brick.
int32_t breakout_level_hits(int32_t level, int32_t column, int32_t row);
/// Record the creation of all bricks of a level. @return their count.
int32_t breakout_level_place(ecs_world* world, const breakout_game* game, int32_t level);
/// What loads the picture of a level (ecs_loading_config.load).
ecs_load_answer breakout_load_picture(void* context, const ecs_resource* resource);
ecs_color breakout_brick_color(int32_t hits);
ecs_color breakout_player_color(int32_t slot);

// pad.c
float breakout_pad_width(uint32_t players);
/// @return the move from `from` to `to` for the middle of a pad, at full speed where it is far.
int32_t breakout_move_towards(const net_player_context* view, float from, float to);
void breakout_human_input(const net_player_context* view, const net_controls* controls,
                          breakout_input* input);

// ball.c
ecs_vec2 breakout_direction(float angle, float length); ///< `angle` from straight up, to the right
float breakout_launch_angle(const breakout_launch* launch);
/// @return x where a falling ball crosses the height `y`, between the side walls. Needs vel.y > 0.
float breakout_landing_x(ecs_vec2 pos, ecs_vec2 vel, float radius, float y);

// predict.c
uint32_t breakout_predict(ecs_world* world, breakout_game* game, ecs_entity player,
                          net_predicted* entities, uint32_t capacity);

// bot.c
void breakout_bot_think(const net_player_context* view, breakout_input* input);

// view.c, view_play.c
/// @return the picture, with the camera that shakes, or with the one of the view itself.
const net_draw* breakout_look(const ecs_stage* stage, bool is_shaking);
