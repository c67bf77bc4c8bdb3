// SPDX-License-Identifier: MIT
/// Tables of a game: its templates (.blk), its list of structs, its table of messages.
#pragma once

#include "conform.h"

enum { FIELDS_MAX = 8, COMPONENTS = 16 };

typedef struct field_row {
    const char* name;
    int kind;
    uint32_t count;
    uint32_t bits; ///< declared for the type; 0: exact
    double min;
} field_row;

typedef struct type_row {
    const char* name;
    field_row fields[FIELDS_MAX]; ///< up to the first one without a name
} type_row;

#define TURN (-1.0)
#define QUATERNION (-2.0)

typedef struct component_row {
    const char* name;
    const type_row* type;
    double min, max, step; ///< step 0: not declared; TURN: `_angle`; QUATERNION: `_rotation`
    double values[FIELDS_MAX];
    uint32_t bits;        ///< declared; 0: by step
    const char* integral; ///< name of the source; NULL: none
} component_row;

/// A variable-size component of a template. The default of all of them is the empty value.
typedef struct varsize_row {
    const char* template, *name, *type;
} varsize_row;

typedef struct template_table {
    const char* name;
    bool is_singleton;
    component_row components[COMPONENTS]; ///< the replicated ones, in any order
} template_table;

typedef struct message_row {
    const void* descriptor;
    uint64_t kind; ///< 0 input, 1 to the server, 2 to clients
    uint64_t is_reliable;
    uint32_t handle_fields; ///< bit i: the i-th field of the message names an entity
    bool is_without;        ///< delivered without these entities too
} message_row;

typedef struct game_tables {
    const char* name;
    const template_table* templates; ///< sorted by name, up to the first one without a name
    const varsize_row*
        varsizes; ///< the replicated ones, up to the first one without a template; NULL: none
    const message_row* messages;
    uint32_t message_count;
    /// Pack the n-th input. @return its size.
    size_t (*make_input)(uint32_t number, uint8_t* bytes);
    /// Pack the reliable event to the server. @return its size.
    size_t (*make_event)(uint8_t* bytes);
    uint32_t event_position; ///< position of that event in `messages`
} game_tables;

/// The variable-size component of this number. NULL: there is none.
const varsize_row* schema_varsize(const cf_schema* schema, uint32_t number);
const game_tables* schema_game(const cf_schema* schema);
/// @return NULL: no such game.
const game_tables* game_find(const char* name);
