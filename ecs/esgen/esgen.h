// SPDX-License-Identifier: MIT
/// shoal-esgen: reads C functions that are systems, writes their registration. Annotations: ecs/es.h.
///
/// Shape: text -> words (words.c) -> functions (parse.c, params.c) -> text (emit.c). Nothing is understood
/// but the heads of functions, so any C that a compiler takes is taken here.
/// Memory: one arena of the program's life. Errors are reported as FILE:LINE of the user's file.
#pragma once

#include "base/bytes.h"
#include "base/report.h"

#define ESGEN_FILE_BYTES_MAX (1u << 22)
#define ESGEN_PARAMS_MAX 40u
#define ESGEN_LIST_MAX 32u
#define ESGEN_NAME_BYTES_MAX 64u
#define ESGEN_FUNCTIONS_MAX 512u
#define ESGEN_TYPES_MAX 256u
#define ESGEN_INCLUDE_DEPTH_MAX 8u

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
    const char* text; ///< into the file's text
    uint32_t size;
} esgen_word;

/// A file as words, ended by ESGEN_END. Owned by the caller (esgen_words_deinit).
typedef struct esgen_words {
    esgen_word* items;
    uint32_t count, capacity;
} esgen_words;

/// @return false when memory ran out, or for a comment or string without end (reported).
BASE_MUST_USE bool esgen_words_read(esgen_words* words, const char* file, const char* text,
                                    size_t size, const base_reporter* reporter);
void esgen_words_deinit(esgen_words* words);
bool esgen_word_is(const esgen_word* word, const char* text);

typedef struct esgen_name {
    char text[ESGEN_NAME_BYTES_MAX];
} esgen_name;

typedef struct esgen_list {
    esgen_name items[ESGEN_LIST_MAX];
    uint32_t count;
} esgen_list;

typedef enum esgen_param_kind {
    ESGEN_STAGE,
    ESGEN_EVENT,   ///< const ecs_event*
    ESGEN_PAYLOAD, ///< const T* event
    ESGEN_ENTITY,
    ESGEN_COUNT,
    ESGEN_CONTEXT,
    ESGEN_COMPONENT,
} esgen_param_kind;

typedef struct esgen_param {
    esgen_param_kind kind;
    bool is_const, is_pointer, is_optional, has_default;
    uint32_t line;
    esgen_name type; ///< C type without const and stars
    esgen_name name;
    esgen_name component;      ///< its name
    esgen_name component_type; ///< its ecs type
    char default_text[128];
} esgen_param;

typedef enum esgen_function_kind { ESGEN_SYSTEM, ESGEN_HANDLER, ESGEN_QUERY } esgen_function_kind;

typedef struct esgen_function {
    esgen_function_kind kind;
    uint32_t line;
    esgen_name name;
    bool is_span, returns_bool;
    esgen_name stage;
    esgen_name every, quantum; ///< number as written, "" without
    esgen_list tags, before, after, events, track;
    esgen_list require, require_not; ///< "name:type"
    esgen_param params[ESGEN_PARAMS_MAX];
    uint32_t param_count;
} esgen_function;

typedef struct esgen_type {
    esgen_name c_type, name;
} esgen_type;

/// All that was found in a file.
typedef struct esgen_unit {
    const char* file; ///< as it is named in messages and comments
    esgen_type types[ESGEN_TYPES_MAX];
    uint32_t type_count;
    esgen_function functions[ESGEN_FUNCTIONS_MAX];
    uint32_t function_count;
    const base_reporter* reporter;
    uint32_t fault_count;
} esgen_unit;

void esgen_fault(esgen_unit* unit, uint32_t line, const char* format, ...) BASE_PRINTF(3, 4);
/// Take the ES_TYPE lines of a header. The first of two for a C type holds.
void esgen_types_read(esgen_unit* unit, const esgen_words* words);
/// Find the functions. Faults are reported and counted in the unit.
void esgen_parse(esgen_unit* unit, const esgen_words* words);
/// One function's parameters: words [first, end) between its parentheses (params.c).
void esgen_params_parse(esgen_unit* unit, esgen_function* function, const esgen_word* first,
                        const esgen_word* end);
/// Text of the words of an annotation's argument, without blanks and quotes. @return false: too long.
bool esgen_words_join(const esgen_word* first, const esgen_word* end, char* target, size_t bytes);
/// The closing parenthesis that belongs to `open`; NULL when there is none before `end`.
const esgen_word* esgen_words_match(const esgen_word* open, const esgen_word* end);
/// The generated text. `stem`: "ball" for ball.c.
void esgen_emit(const esgen_unit* unit, const char* stem, base_bytes* out);
