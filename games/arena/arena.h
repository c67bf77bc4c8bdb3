// SPDX-License-Identifier: MIT
/// The private header of arena: components, events, ids, and the functions that its files share.
///
/// Tracked components hold all state that decides the future. arena_game holds ids and settings, a
/// grid that is built from components in every tick, and the memory of the picture.
#pragma once

#include "ecs/es.h"
#include "net/controls.h"
#include "view.h"

#define ARENA_VIEW_WIDTH 1280.0f
#define ARENA_VIEW_HEIGHT 720.0f
#define ARENA_SIZE 512.0f
#define ARENA_EDGE 3.0f          ///< smallest distance of a fighter to the map's edge
#define ARENA_STEP 0.03125f      ///< step of pos on the wire
#define ARENA_SPEED_MAX 59.0625f ///< range of vel on the wire, per axis
#define ARENA_SIGHT 72.0f        ///< radius within which a client gets entities
#define ARENA_GHOST_SIGHT 90.0f  ///< the same radius for a ghost
#define ARENA_TEAMS 4u           ///< numbered from 1
#define ARENA_RADIUS 1.5f        ///< of a fighter
#define ARENA_SOLDIER_SPEED 10.0f
#define ARENA_PLAYER_SPEED 14.0f
#define ARENA_BOOST_FACTOR 1.5f
#define ARENA_SHOT_SPEED 48.0f
#define ARENA_SHOT_S 0.75f
#define ARENA_SHOT_DAMAGE 20
#define ARENA_RAY_DAMAGE 40
#define ARENA_RAY_REACH 44.0f
#define ARENA_RAY_AMMO 5
#define ARENA_HEALTH 100
#define ARENA_AMMO_MAX 99
#define ARENA_AIM_STEPS 4096 ///< steps of the full circle, in inputs
#define ARENA_BASE_RADIUS 22.0f
#define ARENA_CAPTURE_POINTS 25 ///< a kill gives 1
#define ARENA_PHRASES 4u
#define ARENA_CHAT_BYTES 80u ///< of a line that a player types, with the zero at its end
#define ARENA_TANK_SPEED 7.0f
#define ARENA_ROUTE_POINTS 16u
#define ARENA_FIGHTERS_MAX 8192u ///< the crowd drops further fighters

enum { ARENA_HEALTH_KIT, ARENA_AMMO_BOX, ARENA_POWER, ARENA_PICKUP_KINDS };
enum { ARENA_ROAM, ARENA_RAID, ARENA_GUARD, ARENA_CARRY };
enum { ARENA_FLAG_HOME, ARENA_FLAG_CARRIED, ARENA_FLAG_DROPPED };
enum { ARENA_FLAG_IS_TAKEN, ARENA_FLAG_IS_DROPPED, ARENA_FLAG_IS_BACK, ARENA_FLAG_IS_CAPTURED };

/// Component "gun" of a fighter: only the owner gets it.
ES_STRUCT(ArenaGun)
typedef struct arena_gun {
    int32_t ammo ES_QUANT(0, 1, 7);
    uint32_t ready_tick; ///< tick from which the next shot may leave
    uint32_t ray_tick;   ///< tick from which the next ray may leave
} arena_gun;

/// Component "order" of a soldier: only its team gets it.
ES_STRUCT(ArenaOrder)
typedef struct arena_order {
    int32_t kind ES_QUANT(0, 1, 2); ///< ARENA_ROAM...
    int32_t x ES_QUANT(0, 1, 9);
    int32_t y ES_QUANT(0, 1, 9);
} arena_order;

/// Component "mind" of a soldier, on the server only.
ES_STRUCT(ArenaMind)
typedef struct arena_mind {
    ecs_vec2 course;    ///< velocity
    int32_t role;       ///< ARENA_ROAM, ARENA_RAID, ARENA_GUARD
    uint32_t goal_tick; ///< at this tick the soldier chooses a new goal
} arena_mind;

/// Component "route" of a tank, boxed: the points that the tank visits in a loop.
ES_STRUCT(ArenaRoute, boxed)
typedef struct arena_route {
    uint32_t at; ///< index of the next point
    ecs_vec2 points[ARENA_ROUTE_POINTS];
} arena_route;
/// What a system gets for a boxed component: a pointer in the column.
typedef arena_route* arena_route_box;
ES_TYPE(arena_route_box, ArenaRoute)

/// Component "seat" of a player and of its ghost.
ES_STRUCT(ArenaSeat)
typedef struct arena_seat {
    ecs_entity entry; ///< row of the board
} arena_seat;

/// Component "input" of a player and payload of the event "arena_input".
ES_STRUCT(ArenaInput)
ES_EVENT(arena_input)
ES_MESSAGE(Arena__ArenaInput, input, kept)
typedef struct arena_input {
    int32_t move_x, move_y ES_CLAMP(-127, 127);
    uint32_t aim ES_CLAMP(0, ARENA_AIM_STEPS - 1);
    ES_NAME(fire) bool is_firing;
    ES_NAME(ray) bool is_raying;
} arena_input;

ES_STRUCT(ArenaShot)
typedef struct arena_shot {
    ecs_entity shooter; ///< may be destroyed, or unknown to a client
} arena_shot;

ES_STRUCT(ArenaFlag)
typedef struct arena_flag {
    ecs_entity carrier;
    uint32_t back_tick;              ///< at this tick a dropped flag goes home
    int32_t state ES_QUANT(0, 1, 2); ///< ARENA_FLAG_HOME...
} arena_flag;

ES_STRUCT(ArenaMatch)
typedef struct arena_match {
    int32_t round ES_QUANT(0, 1, 16);
    uint32_t end_tick;
    int32_t winner ES_QUANT(0, 1, 3); ///< winner of the last round; 0: none
} arena_match;

ES_STRUCT(ArenaScore)
typedef struct arena_score {
    int32_t team ES_QUANT(0, 1, 3);
    int32_t kills ES_QUANT(0, 1, 20);
    int32_t captures ES_QUANT(0, 1, 10);
} arena_score;

ES_STRUCT(ArenaEntry)
typedef struct arena_entry {
    uint32_t client;
    ecs_entity player; ///< out of scope for most clients
    int32_t team ES_QUANT(0, 1, 3);
    int32_t kills ES_QUANT(0, 1, 16);
    int32_t deaths ES_QUANT(0, 1, 16);
    int32_t captures ES_QUANT(0, 1, 10);
} arena_entry;

// Payloads of events.
ES_EVENT(rally)
ES_MESSAGE(Arena__Rally, reliable)
typedef struct arena_rally {
    uint32_t nothing ES_LOCAL;
} arena_rally;

ES_EVENT(use)
ES_MESSAGE(Arena__Use, reliable)
typedef struct arena_use {
    uint32_t kind ES_RANGE(0, ARENA_PICKUP_KINDS - 1);
} arena_use;

ES_EVENT(say)
ES_MESSAGE(Arena__Say, reliable)
typedef struct arena_say {
    uint32_t phrase ES_RANGE(0, ARENA_PHRASES - 1);
} arena_say;

ES_EVENT(said, exported)
ES_MESSAGE(Arena__Said)
typedef struct arena_said {
    uint32_t phrase ES_RANGE(0, ARENA_PHRASES - 1);
} arena_said;

ES_EVENT(hit, exported)
ES_MESSAGE(Arena__Hit)
ES_SOUND("hit.wav", 0.5, ARENA_SIGHT)
typedef struct arena_hit {
    uint32_t client;
    uint32_t amount ES_RANGE(0, 4096);
    uint32_t x, y ES_RANGE(0, (uint32_t)ARENA_SIZE);
    bool is_fatal;
} arena_hit;

ES_EVENT(ray, exported)
ES_MESSAGE(Arena__Ray, late)
ES_SOUND("ray.wav", 0.7, ARENA_SIGHT)
typedef struct arena_ray {
    ecs_entity target;
    /// Quarters of a unit; up to 100 units outside of the map are allowed.
    int32_t from_x, from_y, to_x, to_y ES_CLAMP(-400, 4 * (int32_t)ARENA_SIZE + 400);
} arena_ray;

ES_EVENT(killed, exported)
ES_MESSAGE(Arena__Killed, reliable, late)
typedef struct arena_killed {
    ecs_entity victim, killer;
    uint32_t victim_client, killer_client;
    uint32_t victim_team, killer_team ES_RANGE(0, ARENA_TEAMS);
} arena_killed;

ES_EVENT(flag_moved, exported)
ES_MESSAGE(Arena__FlagMoved, reliable, late)
ES_SOUND("flag.wav", 0.8)
typedef struct arena_flag_moved {
    ecs_entity flag, carrier;
    uint32_t team, by_team ES_RANGE(0, ARENA_TEAMS);
    uint32_t by_client;
    uint32_t what ES_RANGE(0, ARENA_FLAG_IS_CAPTURED); ///< ARENA_FLAG_IS_TAKEN...
} arena_flag_moved;

ES_EVENT(round_over, exported)
ES_MESSAGE(Arena__RoundOver, reliable)
ES_SOUND("round.wav", 0.9)
typedef struct arena_round_over {
    uint32_t winner ES_RANGE(0, ARENA_TEAMS);
    uint32_t points, round;
} arena_round_over;

ES_EVENT(chat)
ES_MESSAGE(Arena__Chat, reliable)
typedef struct arena_chat {
    char text[ARENA_CHAT_BYTES];
} arena_chat;

/// A soldier decided to shoot. Who thinks runs beside others, and shots are counted one by one.
ES_EVENT(trigger)
typedef struct arena_trigger {
    ecs_vec2 direction; ///< of length 1
} arena_trigger;

/// A shot reached a fighter, which several may do at the same time.
ES_EVENT(struck)
typedef struct arena_struck {
    ecs_entity shooter;
    uint32_t team; ///< of the shooter
    ecs_vec2 place;
} arena_struck;

/// A shot came into the picture, on itself. Only pictures send it, to be heard.
ES_EVENT(fired)
ES_SOUND("shot.wav", 0.45, ARENA_SIGHT)
typedef struct arena_fired {
    uint32_t nothing;
} arena_fired;

/// A fighter was struck down, on itself. Only pictures send it, to be heard.
ES_EVENT(blasted)
ES_SOUND("explosion.wav", 0.8, ARENA_SIGHT)
typedef struct arena_blasted {
    uint32_t nothing;
} arena_blasted;

ES_SETTINGS
typedef struct arena_settings {
    uint32_t agents ES_SETTING(1000.0, 0.0, 4000.0, "soldiers of the server, all teams");
    uint32_t shots ES_SETTING(400.0, 0.0, 4000.0, "shots that fly at one time");
    uint32_t pickups ES_SETTING(150.0, 0.0, 1000.0, "pick-ups that lie around");
    float round_s ES_SETTING(300.0, 5.0, 3600.0, "seconds of a round");
    double damage ES_SETTING(1.0, 0.0, 10.0, "factor on what shots and rays take");
    uint32_t tanks ES_SETTING(4.0, 0.0, 8.0, "tanks of all teams");
} arena_settings;

ES_ACTIONS
typedef enum arena_action {
    ARENA_ACTION_LEFT ES_ACTION("left", "Left,A", "go to the left", "DPLeft,LeftX-"),
    ARENA_ACTION_RIGHT ES_ACTION("right", "Right,D", "go to the right", "DPRight,LeftX+"),
    ARENA_ACTION_UP ES_ACTION("up", "Up,W", "go up", "DPUp,LeftY-"),
    ARENA_ACTION_DOWN ES_ACTION("down", "Down,S", "go down", "DPDown,LeftY+"),
    ARENA_ACTION_FIRE ES_ACTION("fire", "Space", "shoot (or the pointer's button)",
                                "RightTrigger,A"),
    ARENA_ACTION_RAY ES_ACTION("ray", "E,Left Shift", "a ray: strikes what you see at once",
                               "LeftTrigger,RightShoulder"),
    ARENA_ACTION_RALLY ES_ACTION("rally", "R", "call the team's soldiers here", "LeftShoulder"),
    ARENA_ACTION_USE ES_ACTION("kit", "1", "use a health kit of the pack", "B"), ///< of each kind
    ARENA_ACTION_USE_BOX ES_ACTION("box", "2", "use an ammunition box of the pack", "X"),
    ARENA_ACTION_USE_POWER ES_ACTION("power", "3", "use the power of the pack", "Y"),
    ARENA_ACTION_SAY ES_ACTION("follow", "Z", "say: follow me!"), ///< of each phrase
    ARENA_ACTION_SAY_HELP ES_ACTION("help", "X", "say: help!"),
    ARENA_ACTION_SAY_THANKS ES_ACTION("thanks", "C", "say: thanks!"),
    ARENA_ACTION_SAY_FLAG ES_ACTION("flag", "V", "say: to the flag!"),
    ARENA_ACTION_COUNT,
} arena_action;

/// What others may ask about a fighter. Bodies are copied from components before each use.
typedef struct arena_body {
    ecs_entity entity;
    ecs_vec2 pos, vel;
    uint8_t team;
    bool is_dead;
} arena_body;

/// Fighters by place.
typedef struct arena_crowd {
    ecs_grid grid;
    arena_body bodies[ARENA_FIGHTERS_MAX];
} arena_crowd;

/// A walk over the fighters near a place:
///     arena_search near = arena_search_begin(game->grid, pos, reach);
///     for (const arena_body* body; (body = arena_search_next(&near));) ...
typedef struct arena_search {
    const arena_crowd* crowd;
    ecs_grid_area area;
    const uint32_t* numbers;
    uint32_t count;
} arena_search;

static inline arena_search arena_search_begin(const arena_crowd* crowd, ecs_vec2 pos, float reach) {
    return (arena_search){.crowd = crowd, .area = ecs_grid_around(&crowd->grid, pos, reach)};
}

static inline const arena_body* arena_search_next(arena_search* self) {
    if (self->count == 0 &&
        !ecs_grid_next(&self->crowd->grid, &self->area, &self->numbers, &self->count))
        return NULL;
    self->count--;
    return &self->crowd->bodies[*self->numbers++];
}

/// The entity that gets the score of a hit. It may be destroyed.
typedef struct arena_striker {
    ecs_entity entity;
    uint8_t team;
} arena_striker;

/// The context block of one world.
ES_GAME_CONTEXT(arena)
typedef struct arena_game {
    bool is_truth ES_IF_TAG(server); ///< it decides, sends events, creates, destroys
    ecs_component_id pos, vel, team, owner, together, health, condition, gun, order, mind, aim;
    ecs_component_id seat, input, wait_tick, boost_tick, end_tick, shot, kind, flag, channel;
    ecs_component_id beacon_tick, match, score, entry, name, chat, rounds, pack, route;
    ecs_component_id parent ES_NAME(ecs.parent);
    ecs_template_id soldier_template ES_NAME(arena_soldier), shot_template ES_NAME(arena_shot);
    ecs_template_id player_template ES_NAME(arena_player), ghost_template ES_NAME(arena_ghost);
    ecs_template_id pickup_template ES_NAME(arena_pickup), flag_template ES_NAME(arena_flag);
    ecs_template_id beacon_template ES_NAME(arena_beacon), match_template ES_NAME(arena_match);
    ecs_template_id entry_template ES_NAME(arena_entry), tank_template ES_NAME(arena_tank);
    ecs_template_id turret_template ES_NAME(arena_turret);
    ecs_template_id soldier_boost_template ES_NAME(arena_soldier + boost);
    ecs_template_id player_boost_template ES_NAME(arena_player + boost);
    ecs_template_id team_templates[ARENA_TEAMS] ES_NAME(arena_team_1, arena_team_2, arena_team_3,
                                                        arena_team_4);
    ecs_event_type said, hit, ray, killed, flag_moved, round_over, trigger, struck;
    ecs_event_type fired, blasted;
    ecs_query* fighters ES_QUERY("pos:p2 vel:p2 team:u8 owner:u32 health:u8 condition:u8");
    ecs_query* soldiers ES_QUERY("team:u8 order:ArenaOrder");
    ecs_query* players ES_QUERY("pos:p2 team:u8 seat:ArenaSeat owner:u32"); ///< ghosts too
    ecs_query* shots ES_QUERY("pos:p2 vel:p2 team:u8 shot:ArenaShot");
    ecs_query* pickups ES_QUERY("pos:p2 kind:u8");
    ecs_query* flags ES_QUERY("pos:p2 team:u8 flag:ArenaFlag");
    ecs_query* beacons ES_QUERY("pos:p2 team:u8 beacon_tick:u32");
    ecs_query* scores ES_QUERY("score:ArenaScore");
    ecs_query* matches ES_QUERY("match:ArenaMatch");
    ecs_query* entries ES_QUERY("entry:ArenaEntry name:t");
    ecs_query *tank_numbers, *near_enemies, *near_pickups, *find_flag, *find_beacon; ///< functions
    ecs_query *count_teams, *count_soldiers, *find_entry, *look_near, *look_team;
    const net_game_services* services; ///< NULL on a client
    uint32_t tick_rate_hz;
    float dt;
    arena_settings settings;
    uint32_t shots_made;                 ///< in this tick
    arena_crowd* grid ES_IF_TAG(server); ///< of fighters
    arena_view* view ES_IF_TAG(render);
} arena_game;

#include "arena.h.es.h"

/// @return the number of ticks in a span of time, at least 1.
static inline uint32_t arena_ticks(const arena_game* game, float seconds) {
    return (uint32_t)((float)game->tick_rate_hz * seconds) + 1;
}

// map.c: constant, and the same on all sides
typedef struct arena_rock {
    float x, y, radius; ///< radius 0: no rock
} arena_rock;
#define ARENA_ROCK_CELL 64.0f
#define ARENA_ROCK_CELLS 8u
/// The rock of a cell of the map; the whole rock lies inside the cell.
arena_rock arena_map_rock(uint32_t column, uint32_t row);
ecs_vec2 arena_map_base(uint32_t team);
ecs_vec2 arena_map_stand(uint32_t team); ///< place of its flag at home
/// @return a free place within a team's base.
ecs_vec2 arena_place_in_base(base_rng* rng, uint8_t team);
static inline float arena_snap(float value) {
    return ecs_snap(value, ARENA_STEP);
}
/// @return true when the point is inside a rock.
bool arena_map_is_rock(float x, float y);
/// Move one tick by `course` (units per second), out of rocks, within the map. Sets vel to the real
/// movement.
void arena_map_move(ecs_vec2* pos, ecs_vec2* vel, ecs_vec2 course, uint32_t tick_rate_hz);
/// @return the velocity nearest to `way` * `speed` that moves by whole steps of pos.
ecs_vec2 arena_map_course(ecs_vec2 way, float speed, uint32_t tick_rate_hz);
/// @return `way`; a way aside when a rock lies `ahead` units on it.
ecs_vec2 arena_map_aside(ecs_vec2 pos, ecs_vec2 way, float ahead);
/// @return the unit vector towards a place; zero when it is nearer than `least`.
ecs_vec2 arena_towards(ecs_vec2 from, ecs_vec2 to, float least);
float arena_aim_angle(uint32_t aim); ///< of an input, -pi..pi

// tank.c
/// Record the creation of the missing tanks.
void arena_place_tanks(ecs_world* world, const arena_game* game);

// shot.c
/// Record a shot, if one more may fly. `direction` has length 1.
bool arena_fire(ecs_world* world, arena_game* game, arena_striker shooter, ecs_vec2 from,
                ecs_vec2 direction, ecs_tick tick);
/// Take health from a fighter that has some; sends the events and counts kills.
void arena_hurt(ecs_world* world, arena_game* game, ecs_entity victim, int32_t amount,
                arena_striker striker, float x, float y);

// ray.c
/// Strike at once what the client saw from `from`. `client` 0: check in the present.
void arena_fire_ray(ecs_world* world, arena_game* game, arena_striker shooter, uint32_t client,
                    ecs_vec2 from, ecs_vec2 direction);

// pick.c
/// Give a fighter the effect of a pick-up. @return false when it is of no use now.
bool arena_take(ecs_world* world, arena_game* game, ecs_entity entity, uint8_t kind, ecs_tick tick);
void arena_place_pickup(ecs_world* world, const arena_game* game, uint8_t kind);

/// Put one pick-up into a player's pack. @return false when it is full, or the entity has no pack.
bool arena_pack_add(ecs_world* world, const arena_game* game, ecs_entity entity, uint32_t kind);
int32_t arena_pack_count(const ecs_object* pack, uint32_t kind);

// board.c
const char* arena_phrase(uint32_t phrase);
void arena_set_name(ecs_world* world, const arena_game* game, ecs_entity entry, const char* name);
/// Record how a round ended. Call it before the points are cleared.
void arena_add_round(ecs_world* world, const arena_game* game, const arena_round_over* over);
arena_score* arena_find_score(ecs_world* world, const arena_game* game, uint8_t team);
/// @return the board's row of a player; NULL for soldiers and for destroyed entities.
arena_entry* arena_find_entry(ecs_world* world, const arena_game* game, ecs_entity entity);
int32_t arena_points(const arena_score* score);
/// @return true when `a` is above `b` on the board: more points, or equal points and a lower
///         number.
bool arena_is_before(const arena_entry* a, const arena_entry* b);

// flag.c
void arena_place_flag(ecs_world* world, const arena_game* game, uint8_t team);

// rules.c
void arena_start(ecs_world* world, arena_game* game, const net_game_start* start);
ecs_entity arena_player_join(ecs_world* world, arena_game* game, const net_game_player* player);
void arena_player_leave(ecs_world* world, arena_game* game, uint32_t client, ecs_entity entity);

// interest.c: these functions do nothing in a world without clients
extern const net_interest_rules arena_interest;
/// The client gets its team's flag and beacon at any distance.
void arena_hear_team(const arena_game* game, uint32_t client, uint8_t team);
/// Set the place and the radius from which a client sees; `pos` NULL: from its fighter (default).
void arena_look_from(const arena_game* game, uint32_t client, const ecs_vec2* pos, float radius);
/// Update the scope of a client in this tick.
void arena_look_again(const arena_game* game, uint32_t client);

// bot.c, human.c
void arena_bot_think(const net_player_context* view, arena_input* input);
void arena_human_input(const net_player_context* view, const net_controls* controls,
                       arena_input* input);
void arena_human_text(const net_player_context* view, const char* text);
void arena_operator_said(ecs_world* world, arena_game* game, const char* text); ///< board.c
uint32_t arena_aim_of(float x, float y); ///< of a direction, as in inputs
