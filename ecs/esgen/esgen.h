// SPDX-License-Identifier: MIT
/// Private: shoal-esgen reads C functions that are systems and structs that are types, and writes
/// their registration. Annotations: ecs/es.h. The language on one page: ecs/ESGEN.md.
///
/// Shape: text -> words (words.c) -> functions and structs (parse.c, params.c, types.c, game.c) ->
/// text (emit.c, emit_game.c). Only heads of functions and annotated structs are parsed, so
/// every C file that a compiler accepts is accepted here. Memory: the heap, until
/// esgen_unit_deinit. Faults are reported as FILE:LINE of the user's file, in sentences. The bytes
/// may be anything: nothing outside of them is read, and nothing about them is asserted.
#pragma once

#include "base/bytes.h"
#include "base/report.h"

#define ESGEN_FILE_BYTES_MAX (1u << 22)
#define ESGEN_PARAMS_MAX 40u
#define ESGEN_TERMS_MAX 32u ///< ECS_QUERY_TERMS_MAX
#define ESGEN_LIST_MAX 32u
#define ESGEN_NAME_BYTES_MAX 128u ///< with the NUL, as ECS_NAME_BYTES_MAX
#define ESGEN_TEXT_BYTES_MAX 128u
#define ESGEN_HEAD_BYTES_MAX 512u
#define ESGEN_FUNCTIONS_MAX 512u
#define ESGEN_TYPES_MAX 256u
#define ESGEN_STRUCTS_MAX 256u
#define ESGEN_STRUCT_EVENTS_MAX 8u
#define ESGEN_FIELDS_MAX 64u ///< ECS_FIELDS_MAX
#define ESGEN_HEADERS_MAX 256u
#define ESGEN_INCLUDE_DEPTH_MAX 8u
#define ESGEN_SLOTS_MAX 256u
#define ESGEN_ACTIONS_MAX 256u

typedef enum esgen_word_kind {
    ESGEN_END,
    ESGEN_IDENTIFIER,
    ESGEN_NUMBER,
    ESGEN_STRING, ///< with its quotes
    ESGEN_PUNCTUATION,
    ESGEN_INCLUDE, ///< the name in #include "name"
} esgen_word_kind;

typedef struct esgen_word {
    esgen_word_kind kind;
    uint32_t line;
    const char* text; ///< into the joined text
    uint32_t size;
} esgen_word;

/// A file as words, ended by ESGEN_END. Owned by the caller (esgen_words_deinit).
typedef struct esgen_words {
    esgen_word* items;
    uint32_t count, capacity;
    char* text; ///< the file's, without the line ends that a backslash continues
    size_t text_bytes;
} esgen_words;

/// @return false when memory ran out, or for a comment or string without end (reported).
BASE_MUST_USE bool esgen_words_read(esgen_words* words, const char* file, const char* text,
                                    size_t size, const base_reporter* reporter);
void esgen_words_deinit(esgen_words* words);
bool esgen_word_is(const esgen_word* word, const char* text);
/// "ES_SOMETHING".
bool esgen_word_is_annotation(const esgen_word* word);

typedef struct esgen_name {
    char text[ESGEN_NAME_BYTES_MAX];
} esgen_name;

typedef struct esgen_text {
    char text[ESGEN_TEXT_BYTES_MAX];
} esgen_text;

typedef struct esgen_list {
    esgen_name items[ESGEN_LIST_MAX];
    uint32_t count;
} esgen_list;

typedef enum esgen_param_kind {
    ESGEN_COMPONENT,
    ESGEN_STAGE,
    ESGEN_EVENT,   ///< const ecs_event*
    ESGEN_PAYLOAD, ///< const T* event
    ESGEN_ENTITY,
    ESGEN_COUNT,
    ESGEN_CONTEXT,
} esgen_param_kind;

typedef struct esgen_param {
    esgen_param_kind kind;
    bool is_const, is_pointer, is_struct, is_optional, has_default;
    uint32_t line;
    esgen_name type; ///< C type without const, struct and stars
    esgen_name name;
    esgen_name component;      ///< its name
    esgen_name component_type; ///< its ecs type
    esgen_name element;        ///< of a list
    esgen_text default_value;
} esgen_param;

typedef enum esgen_function_kind { ESGEN_SYSTEM, ESGEN_HANDLER, ESGEN_QUERY } esgen_function_kind;

typedef struct esgen_function {
    esgen_function_kind kind;
    uint32_t line;
    esgen_name name;
    bool is_span, returns_bool, is_only, is_confined;
    esgen_name stage;
    esgen_name every, quantum;             ///< number or constant as written, "" without
    esgen_name enter, leave, first_update; ///< names of functions, "" without
    esgen_list tags, before, after, events, track, reads, writes;
    esgen_list require, require_not, any; ///< "name:type"
    esgen_param params[ESGEN_PARAMS_MAX];
    uint32_t param_count;
} esgen_function;

/// A C type and the name it is registered by.
typedef struct esgen_type {
    esgen_name c_type, name;
} esgen_type;

typedef enum esgen_limit {
    ESGEN_UNLIMITED,
    ESGEN_CLAMPED, ///< ES_CLAMP: a value outside becomes the limit
    ESGEN_REFUSED, ///< ES_RANGE: a message with a value outside is refused
} esgen_limit;

/// The annotations of a field.
typedef struct esgen_mark {
    esgen_text quant; ///< "-127, 1, 8"; "0, 0, 0" without
    bool has_quant, is_angle;
    esgen_limit limit;
    esgen_text min, max;
    esgen_name message_name; ///< of the field in the message, "" when it is the field's own
    bool is_local;           ///< not in the message
    bool has_setting;
    esgen_text setting; ///< "1.0, 0.25, 2.0, "help"" of ES_SETTING
} esgen_mark;

typedef struct esgen_field {
    esgen_name name;
    uint32_t line;
    const char* c_type; ///< "float"
    const char* kind;   ///< "ECS_FIELD_F32"
    esgen_text count;   ///< "1", "3 * SLOTS_MAX"
    esgen_mark mark;
} esgen_field;

/// Is it an array of char, the text of a message?
bool esgen_field_is_text(const esgen_field* field);

typedef struct esgen_struct_event {
    esgen_name name;
    bool is_exported;
    esgen_name message; ///< C type of the protobuf message, "" without
    bool is_input, is_reliable, is_late;
    bool is_kept;     ///< the component `input` of the player keeps the last one
    esgen_text sound; ///< ""hit.wav", 0.8, 70" of ES_SOUND, "" without
} esgen_struct_event;

typedef struct esgen_struct {
    esgen_name c_type;
    esgen_name name; ///< "" when it is the payload of events alone
    uint32_t line;
    const char* file; ///< that it is in
    bool is_boxed;
    esgen_name request; ///< the function that names the resources of a value, "" without
    esgen_struct_event events[ESGEN_STRUCT_EVENTS_MAX];
    uint32_t event_count;
    esgen_field fields[ESGEN_FIELDS_MAX];
    uint32_t field_count;
} esgen_struct;

/// What shoal-esgen fills in a field of a game's context.
typedef enum esgen_slot_kind {
    ESGEN_SLOT_COMPONENT,
    ESGEN_SLOT_TEMPLATE,
    ESGEN_SLOT_EVENT,
    ESGEN_SLOT_QUERY,    ///< by ES_QUERY, or by the function of its name in one of the files
    ESGEN_SLOT_TAG,      ///< bool with ES_IF_TAG
    ESGEN_SLOT_MEMORY,   ///< a pointer with ES_IF_TAG: zeroed memory in worlds with the tag
    ESGEN_SLOT_VALUE,    ///< ES_VALUE: the default of template `name`, component terms[0]
    ESGEN_SLOT_STEP,     ///< float or ecs_quant with ES_STEP: template `name`, component terms[0]
    ESGEN_SLOT_SETTINGS, ///< a struct with ES_SETTINGS
    ESGEN_SLOT_RATE,     ///< uint32_t tick_rate_hz
    ESGEN_SLOT_DT,       ///< float dt
    ESGEN_SLOT_SERVICES, ///< const net_game_services* services
} esgen_slot_kind;

typedef struct esgen_slot {
    esgen_slot_kind kind;
    esgen_name field; ///< "pos", "team_templates[0]"
    esgen_name name;  ///< in the world
    esgen_list terms; ///< of ES_QUERY
    bool is_quant;    ///< ES_STEP of an ecs_quant
    esgen_name type;  ///< C type of ES_VALUE
} esgen_slot;

typedef struct esgen_action {
    esgen_name constant;
    esgen_text row; ///< "left", "Left,A", "go to the left"
    bool has_pads;  ///< it has a fourth text
} esgen_action;

/// "static void f(int a)"; "" of what is no function of the file.
typedef struct esgen_head {
    char text[ESGEN_HEAD_BYTES_MAX];
} esgen_head;

/// A game: what its context's struct, its settings, its actions and ES_GAME say.
typedef struct esgen_game {
    esgen_name name;    ///< of ES_GAME_CONTEXT; "" when the file belongs to no game
    esgen_name context; ///< C type
    bool is_context_here;
    esgen_slot* slots;
    uint32_t slot_count, slot_capacity;
    esgen_struct* settings; ///< NULL without
    esgen_action* actions;
    uint32_t action_count, action_capacity;
    bool is_table; ///< ES_GAME is in this file
    uint32_t line; ///< of ES_GAME; without it, of ES_SYSTEMS
    esgen_text title, width, height;
    esgen_list keys, values;          ///< ".start = f": "start" and "f"
    esgen_head heads[ESGEN_LIST_MAX]; ///< of values that are static functions of the file
    esgen_list systems;               ///< files, in the order of a tick
} esgen_game;

/// The value of a key of ES_GAME; NULL: it has none. *head becomes that of the value's function.
const char* esgen_game_value(const esgen_game* game, const char* key, const char** head);

/// Everything that was found in a file.
typedef struct esgen_unit {
    const char* file; ///< its name in messages and comments; the header's name while one is read
    esgen_type types[ESGEN_TYPES_MAX];
    uint32_t type_count;
    esgen_function* functions;
    uint32_t function_count, function_capacity;
    esgen_struct* structs; ///< those that ES_REGISTER_TYPES of this file registers
    uint32_t struct_count, struct_capacity;
    bool has_register_types, has_messages;
    bool is_header; ///< the file is a header: FILE.h.es.h
    esgen_game game;
    const char* source; ///< path of the file, and of what is written: for compilers
    const char* target; ///< NULL: no line is marked
    const base_reporter* reporter;
    uint32_t fault_count;
} esgen_unit;

void esgen_unit_init(esgen_unit* unit, const char* file, const base_reporter* reporter);
void esgen_unit_deinit(esgen_unit* unit);
bool esgen_fault(esgen_unit* unit, uint32_t line, const char* format, ...) BASE_PRINTF(3, 4);

typedef enum esgen_distance {
    ESGEN_FAR,  ///< a header that a header includes: only the names of its types
    ESGEN_NEAR, ///< a header that the file includes, whose structs it registers
    ESGEN_HERE, ///< the file itself
} esgen_distance;

/// Read the types of the file or of a header: ES_TYPE, ES_STRUCT, ES_EVENT, and what a game
/// declares. Of two for one C type the first is used.
void esgen_types_read(esgen_unit* unit, const esgen_words* words, esgen_distance distance);
/// Find the functions, after all types. Faults are reported and counted in the unit.
void esgen_parse(esgen_unit* unit, const esgen_words* words);
/// Read the parameters of a function: words [first, end) between its parentheses (params.c).
void esgen_params_parse(esgen_unit* unit, esgen_function* function, const esgen_word* first,
                        const esgen_word* end);
/// Read the fields of a struct: words [first, end) between its braces (types.c).
void esgen_fields_read(esgen_unit* unit, esgen_struct* target, const esgen_word* first,
                       const esgen_word* end);
/// Find the name and the body of "typedef struct x {...} x;" (or enum) from `at` on.
/// @return its opening brace; NULL after a fault that names `mark`.
const esgen_word* esgen_typedef_find(esgen_unit* unit, uint32_t line, const esgen_word* at,
                                     const esgen_word* end, const char* kind, const char* mark,
                                     esgen_name* name, const esgen_word** close);
/// Read what begins with ES_STRUCT, ES_EVENT, ES_MESSAGE or ES_TYPE (types.c).
/// @return the word after it; `at` when nothing of it begins here.
const esgen_word* esgen_type_read(esgen_unit* unit, const esgen_word* at, const esgen_word* end,
                                  bool is_near);
/// Read ES_GAME(...) or ES_SYSTEMS(...) at file level (game.c).
void esgen_game_table_read(esgen_unit* unit, const esgen_word* at, const esgen_word* end);
void esgen_game_check(esgen_unit* unit, const esgen_words* words);
const esgen_slot* esgen_slot_find(const esgen_game* game, esgen_slot_kind kind, const char* field);
/// Check a function as a whole (params.c).
void esgen_check(esgen_unit* unit, const esgen_function* function);
uint32_t esgen_term_count(const esgen_function* function);
/// Does the function touch only what it declares? It says so, or it gets nothing but columns.
bool esgen_is_confined(const esgen_function* function);
/// Is it a handler of events that is called once for each row? Then it gets runs of them too.
bool esgen_takes_runs(const esgen_function* function);

/// Join words of an annotation's argument, without blanks and quotes. @return false when the text
/// is too long.
bool esgen_words_join(const esgen_word* first, const esgen_word* end, char* target, size_t bytes);
/// Copy words as they are in the file, with one blank for blanks and comments. @return false when
/// the text is too long.
bool esgen_words_copy(const esgen_word* first, const esgen_word* end, char* target, size_t bytes);
/// Are the words an expression that may be between parentheses in C? Brackets match, and no word
/// ends it early.
bool esgen_words_is_expression(const esgen_word* first, const esgen_word* end);
/// Find the closing parenthesis of `open`. @return NULL when there is none before `end`, or `open`
/// is no parenthesis.
const esgen_word* esgen_words_match(const esgen_word* open, const esgen_word* end);
/// The closing parenthesis of "ES_SOMETHING(...)". @return NULL after a fault.
const esgen_word* esgen_words_close(esgen_unit* unit, const esgen_word* at, const esgen_word* end);
/// The end of the item of a list that begins at `first`: a comma outside of parentheses, or `end`.
const esgen_word* esgen_words_item(const esgen_word* first, const esgen_word* end);
/// Join words into a name and check it. @return false after a fault.
bool esgen_name_read(esgen_unit* unit, esgen_name* name, const esgen_word* first,
                     const esgen_word* end);
/// "int" -> "int32_t": the type to use instead of a C type whose size depends on the machine.
/// @return NULL for other words.
const char* esgen_sized_type(const esgen_word* word);

/// Write the generated text. `stem`: "ball" for ball.c and for ball.h.
void esgen_emit(const esgen_unit* unit, const char* stem, base_bytes* out);

/// Append formatted text (words.c).
void esgen_put(base_bytes* out, const char* format, ...) BASE_PRINTF(2, 3);
/// Append an item of a list: ", " goes before all but the first, which follows its ( or {.
void esgen_put_item(base_bytes* out, const char* format, ...) BASE_PRINTF(2, 3);

/// From here on, compilers name this line of the game's own text: #line.
void esgen_put_line(base_bytes* out, const esgen_unit* unit, const char* file, uint32_t line);
/// From here on, they name the written file again.
void esgen_put_line_end(base_bytes* out, const esgen_unit* unit);

// ---- emit_game.c, game.c: parts of esgen_emit ----

void esgen_put_messages(base_bytes* out, const esgen_unit* unit);
/// Does the file register something: systems, or queries of its game's context?
bool esgen_registers(const esgen_unit* unit);
/// The field of the game's context that a query function fills; NULL when there is none.
const esgen_slot* esgen_query_slot(const esgen_unit* unit, const esgen_function* function);
/// Numbers of messages, and a function to send each that goes to the server.
void esgen_put_numbers(base_bytes* out, const esgen_unit* unit);
/// The module's table and all that it points to.
void esgen_put_game(base_bytes* out, const esgen_unit* unit, const char* stem);
