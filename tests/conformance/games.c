// SPDX-License-Identifier: MIT
// The tables of two games and of WIRE.md's vectors. A person wrote them from games/NAME/NAME.blk,
// the structs in NAME.h and the table of messages (messages.c).
#include "games.h"

#include "arena.pb-c.h"
#include "breakout.pb-c.h"

#include <string.h>

static const type_row type_b = {"b", {{"value", K_BOOL, 1, 0, 0}}};
static const type_row type_i = {"i", {{"value", K_I32, 1, 0, 0}}};
static const type_row type_u8 = {"u8", {{"value", K_U8, 1, 0, 0}}};
static const type_row type_u16 = {"u16", {{"value", K_U16, 1, 0, 0}}};
static const type_row type_u32 = {"u32", {{"value", K_U32, 1, 0, 0}}};
static const type_row type_r = {"r", {{"value", K_F32, 1, 0, 0}}};
static const type_row type_eid = {"eid", {{"value", K_ENTITY, 1, 0, 0}}};
static const type_row type_tag = {"tag", {{0}}};
static const type_row type_p2 = {"p2", {{"x", K_F32, 1, 0, 0}, {"y", K_F32, 1, 0, 0}}};
static const type_row type_p3 = {
    "p3", {{"x", K_F32, 1, 0, 0}, {"y", K_F32, 1, 0, 0}, {"z", K_F32, 1, 0, 0}}};
static const type_row type_p4 = {
    "p4",
    {{"x", K_F32, 1, 0, 0}, {"y", K_F32, 1, 0, 0}, {"z", K_F32, 1, 0, 0}, {"w", K_F32, 1, 0, 0}}};
static const type_row type_c = {
    "c", {{"r", K_U8, 1, 0, 0}, {"g", K_U8, 1, 0, 0}, {"b", K_U8, 1, 0, 0}, {"a", K_U8, 1, 0, 0}}};

// ---- the page's vectors ----

static const template_table vectors[] = {
    {"dot",
     false,
     {{"at", &type_p2, -8, 7.9375, 0.0625, {1, 2}, 0, NULL},
      {.name = "marked", .type = &type_tag}}},
    {"lamp",
     false,
     {{"at", &type_p2, -8, 7.9375, 0.0625, {0}, 0, NULL},
      {.name = "lit", .type = &type_b},
      {.name = "power", .type = &type_u16, .values = {300}}}},
    {"sky", true, {{.name = "tint", .type = &type_c, .values = {10, 20, 30, 255}}}},
    {0},
};

// Those of the recorded session in solo code.
static const template_table solo[] = {
    {"crowd",
     false,
     {{.name = "owner", .type = &type_eid},
      {"walk", &type_p2, -64, 63.96875, 0.03125, {0}, 0, NULL}}},
    {"ship",
     false,
     {{"at", &type_p2, -64, 63.96875, 0.03125, {0}, 0, "speed"},
      {.name = "hull", .type = &type_u8, .bits = 7, .values = {100}},
      {.name = "load", .type = &type_u16, .values = {300}},
      {"speed", &type_p2, -16, 15.9375, 0.0625, {0}, 0, NULL}}},
    {"stone",
     false,
     {{.name = "heat", .type = &type_r, .values = {1}},
      {"place", &type_p3, -128, 127.984375, 0.015625, {0}, 0, NULL},
      {"turn", &type_p4, 0, 0, QUATERNION, {0, 0, 0, 1}, 9, NULL}}},
    {0},
};

// ---- breakout ----

static const type_row type_player = {"BreakoutPlayer",
                                     {{"client", K_U32, 1, 0, 0},
                                      {"slot", K_I32, 1, 12, 0},
                                      {"score", K_I32, 1, 26, 0},
                                      {"cheers", K_I32, 1, 16, 0}}};
static const type_row type_owner = {"BreakoutOwner",
                                    {{"pad", K_ENTITY, 1, 0, 0}, {"is_held", K_BOOL, 1, 0, 0}}};
static const type_row type_launch = {"BreakoutLaunch",
                                     {{"tick", K_U32, 1, 0, 0}, {"aim", K_I32, 1, 8, -127}}};
static const type_row type_match = {"BreakoutMatch",
                                    {{"phase", K_I32, 1, 2, 0},
                                     {"level", K_I32, 1, 10, 0},
                                     {"lives", K_I32, 1, 7, 0},
                                     {"score", K_I32, 1, 26, 0},
                                     {"best", K_I32, 1, 26, 0},
                                     {"bricks", K_I32, 1, 8, 0},
                                     {"balls", K_I32, 1, 8, 0}}};

#define WHITE                                                                                      \
    {                                                                                              \
        .name = "color", .type = &type_c, .values = { 255, 255, 255, 255 }                         \
    }

static const template_table breakout[] = {
    {"breakout_ball",
     false,
     {{"pos", &type_p2, -128, 1919.9375, 0.0625, {600, 700}, 0, NULL},
      {"vel", &type_p2, -2048, 2047.9375, 0.0625, {0}, 0, NULL},
      {.name = "owner", .type = &type_owner},
      {.name = "launch", .type = &type_launch}}},
    {"breakout_brick",
     false,
     {WHITE,
      {"pos", &type_p2, 0, 2047, 1, {0}, 0, NULL},
      {"hits", &type_i, 0, 15, 1, {1}, 0, NULL}}},
    {"breakout_match", true, {{.name = "match", .type = &type_match}}},
    {"breakout_pad",
     false,
     {WHITE,
      {"pos", &type_p2, -128, 1919.9375, 0.0625, {520, 756}, 0, NULL},
      {"rectSize", &type_p2, 0, 511.875, 0.125, {160, 16}, 0, NULL},
      {.name = "player", .type = &type_player}}},
    {"breakout_rubble", false, {WHITE, {"pos", &type_p2, 0, 2047, 1, {0}, 0, NULL}}},
    {0},
};

static const message_row breakout_messages[] = {
    {&breakout__pad_input__descriptor, 0, 0, 0, false},
    {&breakout__cheer__descriptor, 1, 1, 0, false},
    {&breakout__brick_hit__descriptor, 2, 0, 0, false},
    {&breakout__level_cleared__descriptor, 2, 1, 0, false},
    {&breakout__life_lost__descriptor, 2, 1, 0, false},
    {&breakout__cheered__descriptor, 2, 1, 0, false},
};

// Move left and right, and launch the ball now and then.
static size_t breakout_input(uint32_t number, uint8_t* bytes) {
    Breakout__PadInput input = BREAKOUT__PAD_INPUT__INIT;
    input.move = number / 40 % 2 ? 100 : -100;
    input.launch = number % 64 == 0;
    return breakout__pad_input__pack(&input, bytes);
}

static size_t breakout_event(uint8_t* bytes) {
    Breakout__Cheer cheer = BREAKOUT__CHEER__INIT;
    cheer.emote = 3;
    return breakout__cheer__pack(&cheer, bytes);
}

// ---- arena ----

static const type_row type_gun = {
    "ArenaGun",
    {{"ammo", K_I32, 1, 7, 0}, {"ready_tick", K_U32, 1, 0, 0}, {"ray_tick", K_U32, 1, 0, 0}}};
static const type_row type_order = {
    "ArenaOrder", {{"kind", K_I32, 1, 2, 0}, {"x", K_I32, 1, 9, 0}, {"y", K_I32, 1, 9, 0}}};
static const type_row type_seat = {"ArenaSeat", {{"entry", K_ENTITY, 1, 0, 0}}};
static const type_row type_shot = {"ArenaShot", {{"shooter", K_ENTITY, 1, 0, 0}}};
static const type_row type_flag = {
    "ArenaFlag",
    {{"carrier", K_ENTITY, 1, 0, 0}, {"back_tick", K_U32, 1, 0, 0}, {"state", K_I32, 1, 2, 0}}};
static const type_row type_round = {
    "ArenaMatch",
    {{"round", K_I32, 1, 16, 0}, {"end_tick", K_U32, 1, 0, 0}, {"winner", K_I32, 1, 3, 0}}};
static const type_row type_score = {
    "ArenaScore",
    {{"team", K_I32, 1, 3, 0}, {"kills", K_I32, 1, 20, 0}, {"captures", K_I32, 1, 10, 0}}};
static const type_row type_entry = {"ArenaEntry",
                                    {{"client", K_U32, 1, 0, 0},
                                     {"player", K_ENTITY, 1, 0, 0},
                                     {"team", K_I32, 1, 3, 0},
                                     {"kills", K_I32, 1, 16, 0},
                                     {"deaths", K_I32, 1, 16, 0},
                                     {"captures", K_I32, 1, 10, 0}}};

#define PLACE(x, y, integral_of)                                                                   \
    { "pos", &type_p2, 0, 511.96875, 0.03125, {x, y}, 0, integral_of }
#define MOVER                                                                                      \
    PLACE(256, 256, "vel"), {"vel", &type_p2, -60, 59.0625, 0.9375, {0}, 0, NULL}, {               \
        .name = "team", .type = &type_u8, .bits = 3                                                \
    }
#define OWNER                                                                                      \
    { .name = "owner", .type = &type_u32 }
#define TOGETHER                                                                                   \
    { .name = "together", .type = &type_u32, .bits = 4 }
#define FIGHTER                                                                                    \
    MOVER, OWNER, TOGETHER, {.name = "health", .type = &type_u8, .bits = 7, .values = {100}},      \
        {.name = "condition", .type = &type_u8, .bits = 2, .values = {3}}, {                       \
        .name = "gun", .type = &type_gun, .values = { 40 }                                         \
    }
#define SEAT                                                                                       \
    { .name = "seat", .type = &type_seat }
#define SCORE                                                                                      \
    { .name = "score", .type = &type_score }

static const template_table arena[] = {
    {"arena_beacon",
     false,
     {PLACE(0, 0, NULL),
      {.name = "team", .type = &type_u8, .bits = 3},
      {.name = "beacon_tick", .type = &type_u32}}},
    {"arena_entry", false, {{.name = "entry", .type = &type_entry}}},
    {"arena_flag", false, {MOVER, {.name = "flag", .type = &type_flag}, TOGETHER}},
    {"arena_ghost", false, {MOVER, OWNER, SEAT, {.name = "wait_tick", .type = &type_u32}}},
    {"arena_match", true, {{.name = "match", .type = &type_round}}},
    {"arena_pickup", false, {PLACE(0, 0, NULL), {.name = "kind", .type = &type_u8, .bits = 2}}},
    {"arena_player",
     false,
     {FIGHTER, {.name = "aim", .type = &type_r, .bits = 12, .step = TURN}, SEAT}},
    {"arena_shot", false, {MOVER, {.name = "shot", .type = &type_shot}}},
    {"arena_soldier", false, {FIGHTER, {.name = "order", .type = &type_order}}},
    {"arena_tank", false, {FIGHTER}},
    {"arena_team", false, {SCORE}},
    {"arena_team_1", true, {SCORE}},
    {"arena_team_2", true, {SCORE}},
    {"arena_team_3", true, {SCORE}},
    {"arena_team_4", true, {SCORE}},
    {"arena_turret",
     false,
     {MOVER,
      TOGETHER,
      {.name = "ecs.parent", .type = &type_eid},
      {.name = "heading", .type = &type_r, .bits = 8, .step = TURN}}},
    {"boost", false, {{.name = "boost_tick", .type = &type_u32}}},
    {"fighter", false, {FIGHTER}},
    {"mover", false, {MOVER}},
    {0},
};

static const varsize_row arena_values[] = {{"arena_entry", "name", "t"},
                                           {"arena_match", "chat", "list<t>"},
                                           {"arena_match", "rounds", "array"},
                                           {"arena_player", "pack", "object"},
                                           {0}};

static const message_row arena_messages[] = {
    {&arena__arena_input__descriptor, 0, 0, 0, false},
    {&arena__rally__descriptor, 1, 1, 0, false},
    {&arena__use__descriptor, 1, 1, 0, false},
    {&arena__say__descriptor, 1, 1, 0, false},
    {&arena__said__descriptor, 2, 0, 0, false},
    {&arena__hit__descriptor, 2, 0, 0, false},
    {&arena__ray__descriptor, 2, 0, 1, true},
    {&arena__killed__descriptor, 2, 1, 3, true},
    {&arena__flag_moved__descriptor, 2, 1, 3, true},
    {&arena__round_over__descriptor, 2, 1, 0, false},
};

// Walk in a wide circle and shoot ahead.
static size_t arena_input(uint32_t number, uint8_t* bytes) {
    static const int8_t ways[8][2] = {{127, 0},  {90, 90},   {0, 127},  {-90, 90},
                                      {-127, 0}, {-90, -90}, {0, -127}, {90, -90}};
    uint32_t way = number / 30 % 8;
    Arena__ArenaInput input = ARENA__ARENA_INPUT__INIT;
    input.move_x = ways[way][0];
    input.move_y = ways[way][1];
    input.aim = (way * 512 + number % 64 * 8) % 4096;
    input.fire = number % 8 == 0;
    input.ray = number % 31 == 0;
    return arena__arena_input__pack(&input, bytes);
}

static size_t arena_event(uint8_t* bytes) {
    Arena__Say say = ARENA__SAY__INIT;
    say.phrase = 2;
    return arena__say__pack(&say, bytes);
}

static const game_tables games[] = {
    {"vectors", vectors, NULL, NULL, 0, NULL, NULL, 0},
    {"solo", solo, NULL, NULL, 0, NULL, NULL, 0},
    {"breakout", breakout, NULL, breakout_messages,
     sizeof breakout_messages / sizeof *breakout_messages, breakout_input, breakout_event, 1},
    {"arena", arena, arena_values, arena_messages, sizeof arena_messages / sizeof *arena_messages,
     arena_input, arena_event, 3},
};

const game_tables* game_find(const char* name) {
    for (size_t i = 0; i < sizeof games / sizeof *games; i++)
        if (strcmp(games[i].name, name) == 0) return &games[i];
    return NULL;
}
