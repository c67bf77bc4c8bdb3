// SPDX-License-Identifier: MIT
// Finds the functions of a file that are systems, and reads their annotations.
//
// Outside of all braces a file is a series of declarations, each ended by ';' or by the '}' of its
// body. The words before a body are a head. A head whose function has one of the suffixes is a
// system. Bodies are skipped. Something that only looks like a system (a declaration with
// annotations, old parameters, a wrong return type) is refused, since a system that is silently
// ignored is hard to find.
#include "esgen.h"

#include "base/assert.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static bool has_suffix(const esgen_word* word, const char* suffix) {
    size_t size = strlen(suffix);
    return word->kind == ESGEN_IDENTIFIER && word->size > size &&
           memcmp(word->text + word->size - size, suffix, size) == 0;
}

static bool find_kind(const esgen_word* word, esgen_function_kind* kind) {
    if (has_suffix(word, "_es_event_handler"))
        *kind = ESGEN_HANDLER;
    else if (has_suffix(word, "_ecs_query"))
        *kind = ESGEN_QUERY;
    else if (has_suffix(word, "_es"))
        *kind = ESGEN_SYSTEM;
    else
        return false;
    return true;
}

// ---- annotations ----

static void read_list(esgen_unit* unit, esgen_list* list, const esgen_word* open,
                      const esgen_word* close) {
    BASE_ASSERT(list->count <= ESGEN_LIST_MAX && open < close);
    for (const esgen_word *at = open + 1, *next; at <= close; at = next + 1) {
        next = esgen_words_item(at, close);
        if (list->count == ESGEN_LIST_MAX) {
            esgen_fault(unit, next->line, "%.*s: more than %u names", (int)open[-1].size,
                        open[-1].text, ESGEN_LIST_MAX);
            return;
        }
        if (esgen_name_read(unit, &list->items[list->count], at, next)) list->count++;
    }
}

// A number above 0, or the name of a constant.
static bool is_amount(const char* text) {
    char digits[ESGEN_NAME_BYTES_MAX];
    bool is_copied = base_text_copy(digits, sizeof digits, text);
    size_t size = strlen(digits);
    if (!is_copied || size == 0) return false;
    bool is_constant = digits[0] < '0' || digits[0] > '9';
    if (is_constant) return strcspn(digits, ".-+:<>@|") == size;
    if (digits[size - 1] == 'u' || digits[size - 1] == 'U') digits[size - 1] = '\0';
    uint64_t value;
    return base_text_parse_u64(digits, &value) && value > 0 && value <= UINT32_MAX;
}

static void read_amount(esgen_unit* unit, esgen_name* name, const esgen_word* open,
                        const esgen_word* close) {
    if (!esgen_name_read(unit, name, open + 1, close) || is_amount(name->text)) return;
    esgen_fault(unit, open->line, "%.*s takes a number above 0, not '%s'", (int)open[-1].size,
                open[-1].text, name->text);
}

// Read the name of a function of the file.
static void read_function(esgen_unit* unit, esgen_name* name, const esgen_word* open,
                          const esgen_word* close) {
    if (close - open == 2 && open[1].kind == ESGEN_IDENTIFIER)
        (void)esgen_name_read(unit, name, open + 1, close);
    else
        esgen_fault(unit, open->line, "%.*s takes the name of one function", (int)open[-1].size,
                    open[-1].text);
}

static const struct {
    const char* name;
    enum { FLAG, NAME, LIST, AMOUNT, FUNCTION } kind;
    size_t offset; // of its member
} annotations[] = {
    {"ES_STAGE", NAME, offsetof(esgen_function, stage)},
    {"ES_TAG", LIST, offsetof(esgen_function, tags)},
    {"ES_BEFORE", LIST, offsetof(esgen_function, before)},
    {"ES_AFTER", LIST, offsetof(esgen_function, after)},
    {"ES_REQUIRE", LIST, offsetof(esgen_function, require)},
    {"ES_REQUIRE_NOT", LIST, offsetof(esgen_function, require_not)},
    {"ES_REQUIRE_ANY", LIST, offsetof(esgen_function, any)},
    {"ES_ON_EVENT", LIST, offsetof(esgen_function, events)},
    {"ES_TRACK", LIST, offsetof(esgen_function, track)},
    {"ES_EVERY", AMOUNT, offsetof(esgen_function, every)},
    {"ES_QUANTUM", AMOUNT, offsetof(esgen_function, quantum)},
    {"ES_SPAN", FLAG, offsetof(esgen_function, is_span)},
    {"ES_ON_ENTER", FUNCTION, offsetof(esgen_function, enter)},
    {"ES_ON_LEAVE", FUNCTION, offsetof(esgen_function, leave)},
    {"ES_FIRST", FUNCTION, offsetof(esgen_function, first_update)},
    {"ES_ONLY", FLAG, offsetof(esgen_function, is_only)},
    {"ES_READS", LIST, offsetof(esgen_function, reads)},
    {"ES_WRITES", LIST, offsetof(esgen_function, writes)},
    {"ES_CONFINED", FLAG, offsetof(esgen_function, is_confined)},
};

static void report_unknown(esgen_unit* unit, const esgen_word* word) {
    esgen_name name;
    if (!esgen_words_join(word, word + 1, name.text, sizeof name.text)) name.text[0] = '\0';
    base_nearest nearest = base_nearest_begin(name.text);
    for (uint32_t i = 0; i < BASE_COUNT(annotations); i++)
        base_nearest_offer(&nearest, annotations[i].name);
    const char* found = nearest.found;
    esgen_fault(unit, word->line, "unknown annotation %s%s%s%s", name.text,
                found ? ": did you mean " : "", found ? found : "", found ? "?" : "");
}

// It is about the file, not about a function.
static bool is_file_annotation(const esgen_word* word) {
    return esgen_word_is(word, "ES_REGISTER_TYPES") || esgen_word_is(word, "ES_MESSAGES") ||
           esgen_word_is(word, "ES_GAME") || esgen_word_is(word, "ES_SYSTEMS");
}

// @return the last word of the annotation that begins at `at`.
static const esgen_word* read_annotation(esgen_unit* unit, esgen_function* function,
                                         const esgen_word* at, const esgen_word* end) {
    uint32_t which = 0;
    while (which < BASE_COUNT(annotations) && !esgen_word_is(at, annotations[which].name))
        which++;
    const bool is_known = which < BASE_COUNT(annotations);
    void* member = is_known ? (char*)function + annotations[which].offset : NULL;
    if (is_known && annotations[which].kind == FLAG) {
        *(bool*)member = true;
        return at;
    }
    if (is_file_annotation(at)) return at;
    const esgen_word* close = esgen_words_close(unit, at, end);
    if (!close) return at;
    if (!is_known && !esgen_word_is(at, "ES_TYPE")) report_unknown(unit, at);
    if (!is_known) return close;
    if (annotations[which].kind == LIST) read_list(unit, member, at + 1, close);
    if (annotations[which].kind == NAME) (void)esgen_name_read(unit, member, at + 2, close);
    if (annotations[which].kind == AMOUNT) read_amount(unit, member, at + 1, close);
    if (annotations[which].kind == FUNCTION) read_function(unit, member, at + 1, close);
    return close;
}

// ---- heads ----

// Find the first word outside of parentheses that names a system and its parameters.
static const esgen_word* find_name(const esgen_word* first, const esgen_word* end,
                                   esgen_function_kind* kind) {
    BASE_ASSERT(first <= end);
    for (const esgen_word* at = first; at + 1 < end; at++) {
        if (esgen_word_is(at, "=")) return NULL; // a variable
        if (esgen_word_is(at, "typedef")) return NULL;
        if (esgen_word_is(at + 1, "(") && find_kind(at, kind)) return at;
        if (!esgen_word_is(at, "(")) continue;
        at = esgen_words_match(at, end);
        if (!at) return NULL;
    }
    return NULL;
}

static bool is_macro(const esgen_word* word) {
    for (uint32_t i = 0; i < word->size; i++)
        if (word->text[i] >= 'a' && word->text[i] <= 'z') return false;
    return word->kind == ESGEN_IDENTIFIER;
}

// Read the words before the name: annotations, storage, attributes, return type.
static void read_specifiers(esgen_unit* unit, esgen_function* function, const esgen_word* first,
                            const esgen_word* name) {
    bool is_static = false, is_right = true;
    for (const esgen_word* at = first; at < name; at++) {
        if (esgen_word_is_annotation(at)) {
            at = read_annotation(unit, function, at, name);
        } else if (esgen_word_is(at, "static")) {
            is_static = true;
        } else if (esgen_word_is(at, "bool")) {
            function->returns_bool = true;
        } else if (at->kind == ESGEN_IDENTIFIER && at + 1 < name && esgen_word_is(at + 1, "(")) {
            at = esgen_words_match(at + 1, name); // find_name has seen that it is closed
        } else {
            is_right &= esgen_word_is(at, "void") || esgen_word_is(at, "inline") || is_macro(at) ||
                        at->kind == ESGEN_STRING;
        }
    }
    if (!is_static) esgen_fault(unit, name->line, "%s must be static", function->name.text);
    if (!is_right) {
        esgen_fault(unit, name->line, "%s must return void%s", function->name.text,
                    function->kind == ESGEN_QUERY ? ", or bool: false ends the walk" : "");
    }
}

static esgen_function* begin_function(esgen_unit* unit, const esgen_word* name,
                                      esgen_function_kind kind) {
    BASE_ASSERT(unit->function_count <= unit->function_capacity);
    if (unit->function_count == ESGEN_FUNCTIONS_MAX) {
        esgen_fault(unit, name->line, "more than %u systems in one file", ESGEN_FUNCTIONS_MAX);
        return NULL;
    }
    if (!BASE_ARRAY_RESERVE(NULL, unit->functions, unit->function_capacity,
                            unit->function_count + 1)) {
        esgen_fault(unit, name->line, "out of memory");
        return NULL;
    }
    esgen_function* function = &unit->functions[unit->function_count];
    memset(function, 0, sizeof *function);
    function->kind = kind;
    function->line = name->line;
    return esgen_name_read(unit, &function->name, name, name + 1) ? function : NULL;
}

// Programs give a picture to the systems of stage render alone: elsewhere stage->user is NULL. The
// body is read to its end for this one slip, which is easily made and hard to find.
static void check_picture(esgen_unit* unit, const esgen_function* function, const esgen_word* body,
                          const esgen_word* end) {
    BASE_ASSERT(body < end && esgen_word_is(body, "{"));
    bool is_game = unit->game.name.text[0] != '\0';
    if (function->kind == ESGEN_QUERY || strcmp(function->stage.text, "render") == 0) return;
    uint32_t braces = 0;
    for (const esgen_word* at = body; at < end; at++) {
        if (esgen_word_is(at, "{")) braces++;
        if (esgen_word_is(at, "}") && --braces == 0) return;
        bool is_user = is_game && end - at > 3 && esgen_word_is(at, "stage") &&
                       esgen_word_is(at + 1, "-") && esgen_word_is(at + 2, ">") &&
                       esgen_word_is(at + 3, "user");
        if (!is_user && !esgen_word_is(at, "net_draw")) continue;
        bool is_handler = function->kind == ESGEN_HANDLER;
        esgen_fault(unit, at->line, "%s takes the picture (%s), which only stage render has: %s",
                    function->name.text, is_user ? "stage->user" : "net_draw",
                    is_handler ? "keep what it shows, and draw it in a system with ES_STAGE(render)"
                               : "add ES_STAGE(render)");
        return;
    }
}

static void read_definition(esgen_unit* unit, const esgen_word* first, const esgen_word* body,
                            const esgen_word* end) {
    esgen_function_kind kind;
    const esgen_word* name = find_name(first, body, &kind);
    if (!name) return;
    const esgen_word* close = esgen_words_match(name + 1, body);
    esgen_function* function = close ? begin_function(unit, name, kind) : NULL;
    if (!function) return;
    if (close + 1 != body) {
        esgen_fault(unit, close->line, "%s: its body must follow its parameters",
                    function->name.text);
        return;
    }
    read_specifiers(unit, function, first, name);
    esgen_params_parse(unit, function, name + 2, close);
    esgen_check(unit, function);
    check_picture(unit, function, body, end);
    unit->function_count++;
}

// Check a declaration. It is ignored, unless it looks as if it should be a system.
static void check_declaration(esgen_unit* unit, const esgen_word* first, const esgen_word* end) {
    esgen_function_kind kind;
    const esgen_word* name = find_name(first, end, &kind);
    const esgen_word* close = name ? esgen_words_match(name + 1, end) : NULL;
    if (!close) return;
    for (const esgen_word* at = first; at < name; at++) {
        bool is_elsewhere = esgen_word_is(at, "ES_TYPE") || is_file_annotation(at);
        if (!esgen_word_is_annotation(at) || is_elsewhere) continue;
        esgen_fault(unit, at->line, "%.*s belongs to the body of %.*s, not to a declaration",
                    (int)at->size, at->text, (int)name->size, name->text);
        return;
    }
    bool is_old = end - close > 2 && close[1].kind == ESGEN_IDENTIFIER &&
                  (close[2].kind == ESGEN_IDENTIFIER || esgen_word_is(&close[2], "*"));
    if (is_old) {
        esgen_fault(unit, name->line, "%.*s: write the parameters' types between the parentheses",
                    (int)name->size, name->text);
    }
}

void esgen_parse(esgen_unit* unit, const esgen_words* words) {
    BASE_ASSERT(unit && words);
    const esgen_word* end = words->items + words->count;
    const esgen_word* first = words->items;
    const esgen_word* open = words->items;
    uint32_t braces = 0, parentheses = 0;
    for (const esgen_word* at = words->items; at < end; at++) {
        bool is_outside = braces == 0 && parentheses == 0;
        if (is_outside && (esgen_word_is(at, "ES_GAME") || esgen_word_is(at, "ES_SYSTEMS")))
            esgen_game_table_read(unit, at, end);
        if (braces == 0 && esgen_word_is(at, "(") && parentheses++ == 0) open = at;
        if (braces == 0 && esgen_word_is(at, ")") && parentheses > 0) parentheses--;
        if (parentheses > 0) continue; // the braces of a literal are no body
        if (esgen_word_is(at, "{") && braces++ == 0) {
            open = at;
            read_definition(unit, first, at, end);
        }
        if (esgen_word_is(at, "}") && braces > 0) braces--;
        if (braces > 0) continue;
        unit->has_register_types |= is_outside && esgen_word_is(at, "ES_REGISTER_TYPES");
        unit->has_messages |= is_outside && esgen_word_is(at, "ES_MESSAGES");
        if (esgen_word_is(at, ";")) check_declaration(unit, first, at);
        if (esgen_word_is(at, "}") || esgen_word_is(at, ";") || at->kind == ESGEN_INCLUDE)
            first = at + 1;
    }
    unit->has_register_types |= unit->game.is_table;
    unit->has_messages |= unit->game.is_table;
    esgen_game_check(unit, words);
    if (braces > 0 || parentheses > 0) {
        esgen_fault(unit, open->line,
                    "this %c is never closed (both branches of an #if are read, of #if 0 none)",
                    open->text[0]);
    }
}
