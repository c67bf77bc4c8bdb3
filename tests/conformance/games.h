// SPDX-License-Identifier: MIT
/// What a person reads out of a game's own files: its templates (.blk), its list of structs, its table of messages.
#pragma once

#include "conform.h"

enum { FIELDS_MAX = 8, COMPONENTS = 16 };

typedef struct field_row {
    const char* name;
    int kind;
    uint32_t count;
    uint32_t bits; ///< of the type; 0: exact
    double min;
} field_row;

typedef struct type_row {
    const char* name;
    field_row fields[FIELDS_MAX]; ///< to the first without a name
} type_row;

typedef struct component_row {
    const char* name;
    const type_row* type;
    double min, max, step; ///< step 0: none declared
    double values[FIELDS_MAX];
    uint32_t bits;        ///< declared; 0: by step
    const char* integral; ///< of what, or NULL
} component_row;

typedef struct template_table {
    const char* name;
    bool is_singleton;
    component_row components[COMPONENTS]; ///< the replicated ones, in any order
} template_table;

typedef struct message_row {
    const void* descriptor;
    uint64_t kind; ///< the page: 0 input, 1 to the server, 2 to clients
    uint64_t is_reliable;
    uint32_t handle_fields; ///< bit i: the i-th field of the message names an entity
    bool is_without;        ///< delivered without those
} message_row;

typedef struct game_tables {
    const char* name;
    const template_table* templates; ///< sorted by name, to the first without one
    const message_row* messages;
    uint32_t message_count;
    /// Pack the n-th input. @return its size.
    size_t (*make_input)(uint32_t number, uint8_t* bytes);
    /// Pack what is said to the server, reliably. @return its size.
    size_t (*make_event)(uint8_t* bytes);
    uint32_t event_position; ///< of that in the messages
} game_tables;

const game_tables* schema_game(const cf_schema* schema);
/// NULL: no such game.
const game_tables* game_find(const char* name);
