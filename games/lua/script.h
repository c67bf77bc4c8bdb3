// SPDX-License-Identifier: MIT
/// The script of one world: a Lua state, and what its functions may reach. What decides is in
/// components: sandbox.lua lets nothing last from one call to the next, so a restored match needs
/// the world alone. Lua's memory comes from the world. A tick takes none whose sizes came before.
#pragma once

#include "ecs/ecs.h"
#include "ecs/es.h"
#include "net/game.h"

#include <lauxlib.h>
#include <lua.h>

#define SCRIPT_STEPS_MAX 20000000 ///< instructions of Lua in one call of a function
#define SCRIPT_PIECE_CLASS 15     ///< the first two pieces of memory have 2^15 bytes
#define SCRIPT_PIECES_MAX 12u     ///< each later one as many as all before: 64 MB in one world
#define SCRIPT_CLASSES (SCRIPT_PIECE_CLASS + SCRIPT_PIECES_MAX - 1)
#define SCRIPT_TEXT_BYTES_MAX (512u << 10)
#define SCRIPT_ASK 2u       ///< the number of message Ask
#define SCRIPT_SAID_MAX 16u ///< lines whose faults are said, each once, and one more

/// What the memory of a state depends on, beside the bytes in its pieces.
typedef struct script_heap {
    void* unused[SCRIPT_CLASSES]; ///< blocks of 2^index bytes
    uint32_t piece_count;
    size_t texts[2]; ///< bytes of the two longest texts that were made
} script_heap;

typedef struct script {
    lua_State* state; ///< NULL: there is no script, or a faulty one
    ecs_world* world;
    const char* role;             ///< "server", "predict" or "client"
    net_label* labels;            ///< of the buttons, for a loader that asks; else NULL
    script_heap heap, first_heap; ///< now; when the script was loaded
    void* pieces[SCRIPT_PIECES_MAX];
    uint8_t* image;    ///< the pieces when the script was loaded; NULL: its state lasts
    ecs_tick tick;     ///< of the calls that the state has seen since then
    uint64_t text;     ///< hash of the script
    uint64_t steps;    ///< of the call, in instructions
    uint64_t moved;    ///< bytes of Lua's tables that were made, moved or grew
    uint32_t left_out; ///< a bit for each function that did not end
    double dt;
    uint32_t component_count, template_count;
    ecs_query** queries;            ///< by component: the entities that have it
    const ecs_type** types;         ///< by component
    const ecs_quant** quants;       ///< by template and component: how clients have it
    bool* is_sent;                  ///< by component: clients have one
    bool is_in_stage;               ///< creations wait for the end of the call
    base_rng* rng;                  ///< NULL: no random numbers here
    const net_draw* draw;           ///< during draw()
    const net_player_context* view; ///< during bot() and human()
    const net_game_services* services;
    ecs_event_type tell;
    void (*fault)(void* context, const char* file, uint32_t line, const char* text);
    void* fault_context;
    void (*line)(void* context, const char* file, uint32_t line, bool has_run); ///< or NULL
    void* line_context;
    const char* (*player_name)(void* context, uint32_t client);
    void* names;
    uint64_t said[SCRIPT_SAID_MAX + 1]; ///< lines; of a fault without one the text
    uint32_t said_count;
} script;

/// What ask() and tell() send.
ES_EVENT(ask)
ES_MESSAGE(Lua__Ask, reliable)
ES_EVENT(tell, exported)
ES_MESSAGE(Lua__Tell, reliable)
typedef struct script_message {
    char name[32];
    ecs_entity entity;
    double a, b, c, d;
    char text[96];
} script_message;

script* script_of(lua_State* state);
/// Report a fault once for each line; `function` is the call that it ended, or NULL.
void script_report(script* self, const char* text, const char* function);
/// Load the text. A fault is reported, and the state is NULL then.
void script_open(script* self, const char* text, size_t bytes);
/// Call a function of the script, if there is one. `format` has a letter for each argument, and
/// after '>' one for a pointer to each result, which stays as it is when the function returns nil:
/// e an entity, i a uint32_t, n a double, b an int, s a text, d bytes (NULL: nil) and their
/// uint32_t size. A fault ends the call and is said once; what was written until then stays.
void script_run(script* self, double time, const char* function, const char* format, ...);

void script_forget(script* self); ///< the world has another content: the state begins afresh
void script_save(const script* self, base_bytes* bytes);
void script_load(script* self, base_reader* reader); ///< nothing of another script

/// Find components and make their queries, before the world is sealed.
ecs_result script_find_names(script* self, ecs_world* world);
/// Push the table of functions for sandbox.lua, and set the metatables of entities.
void script_push_world(lua_State* state);
void script_push_numbers(lua_State* state); ///< sqrt, sin, cos, atan
/// Let functions of a library count their steps. Each name has the letter of its cost before it
/// (bounds.c): p, f and g for a pattern, of find (plain) and of gmatch, r of rep, l for the bytes
/// of the first text, a of a format, t of tostring, v for the values that it returns, o of codes, m
/// of move, i, d, s, c and u for the length of a table.
void script_bound(lua_State* state, int library, const char* names);
double script_steps_of_one(const script* self); ///< of an instruction, as long texts are
/// These steps belong to the call, which ends with a fault when they are too many.
void script_count_steps(lua_State* state, double steps);
