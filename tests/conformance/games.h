// SPDX-License-Identifier: MIT
/// Tables of a game: its templates (.blk), its list of structs, its table of messages.
#pragma once

#include "conform.h"

// ---- "Schema as JSON" ----

typedef struct json json;

struct json {
    const char* key;  ///< of a member of an object; ""
    const char* text; ///< of a text, number or word; "" of an object or array
    json *first, *next;
};

/// A member. It must be there.
const json* json_get(const json* of, const char* key);
const char* json_text(const json* of, const char* key);
double json_number(const json* of, const char* key);
uint64_t json_whole(const json* of, const char* key);
bool json_is_true(const json* of, const char* key);

// ---- tables ----

enum { FIELDS_MAX = 8, COMPONENTS = 16 };

typedef struct field_row {
    const char* name;
    int kind;
    uint32_t count;
} field_row;

typedef struct type_row {
    const char* name;
    field_row fields[FIELDS_MAX]; ///< up to the first one without a name
} type_row;

typedef struct component_row {
    const char* name;
    const type_row* type;
    double min, max, step; ///< step 0: not declared
    double values[FIELDS_MAX];
    uint32_t bits;        ///< declared; 0: by step
    const char* integral; ///< name of the source; NULL: none
    bool is_rotation;
    bool is_exact;     ///< floats that nothing rounds are exact: the session in solo code
    const json* words; ///< of a schema as JSON: in place of min to bits; NULL: those count
    bool states_default, states_words;
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
    const char* name;
    uint64_t descriptor_hash;
    uint64_t kind; ///< 0 input, 1 to the server, 2 to clients
    uint64_t is_reliable;
    const json* fields;   ///< of the protobuf message
    const json* entities; ///< fields of the game's struct: those of kind entity name entities
    bool is_without;      ///< delivered without these entities too
} message_row;

struct game_tables {
    const char* name;
    const template_table* templates; ///< sorted by name, up to the first one without a name
    const varsize_row*
        varsizes; ///< the replicated ones, up to the first one without a template; NULL: none
    const message_row* messages;
    uint32_t message_count;
    const type_row* types;
    json* root; ///< owns all texts; NULL: no game
};

enum { ITEMS_MAX = 64, REMEMBERED_MAX = 64 };

typedef struct cf_item {
    char name[96];
    uint64_t hash;
} cf_item;

struct cf_schema {
    const game_tables* game;
    const template_table* tables; ///< sorted by name
    const cf_tables* codes;
    const varsize_row* varsizes[VARSIZES_MAX]; ///< sorted by name: the position is the number
    uint32_t varsize_count;
    uint32_t tick_rate_hz;
    uint32_t template_count;
    cf_item items[ITEMS_MAX];
    uint32_t item_count;
    uint64_t hash;
    template_row* remembered[REMEMBERED_MAX];
    uint32_t remembered_count;
};

/// The variable-size component of this number. NULL: there is none.
const varsize_row* schema_varsize(const cf_schema* schema, uint32_t number);
/// The tables of vectors. @return NULL: no such tables.
const game_tables* game_find(const char* name);
/// A game's schema as JSON. @return NULL: it cannot be read.
game_tables* game_read(const char* path);
void game_free(game_tables* game);
/// Pack a message of any numbers. @return its size.
size_t message_make(const message_row* message, uint32_t number, uint8_t* bytes);
/// A number of a packed message; 0 when it is not there. @return false: it is no message.
bool message_read(const message_row* message, const uint8_t* bytes, size_t size, const char* name,
                  uint64_t* found);
