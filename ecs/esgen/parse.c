// SPDX-License-Identifier: MIT
// Which functions of a file are systems, and what their annotations say.
//
// Outside of all braces a file is a row of declarations, each ended by ';' or by the '}' of its body. The
// words before a body are a head; a head whose name ends in one of the suffixes is ours. Nothing inside a
// body is looked at.
#include "esgen.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void esgen_fault(esgen_unit* unit, uint32_t line, const char* format, ...) {
    char text[BASE_REPORT_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    base_report(unit->reporter, unit->file, line, "%s", text);
    unit->fault_count++;
}

static bool has_suffix(const esgen_word* word, const char* suffix) {
    size_t size = strlen(suffix);
    return word->size > size && memcmp(word->text + word->size - size, suffix, size) == 0;
}

static bool copy_name(esgen_name* name, const esgen_word* word) {
    if (word->size >= sizeof name->text) return false;
    memcpy(name->text, word->text, word->size);
    name->text[word->size] = '\0';
    return true;
}

// ---- types ----

static void take_type(esgen_unit* unit, const esgen_word* open, const esgen_word* close) {
    const esgen_word* comma = open;
    while (comma < close && !esgen_word_is(comma, ","))
        comma++;
    esgen_type type;
    if (comma >= close ||
        !esgen_words_join(open + 1, comma, type.c_type.text, sizeof type.c_type) ||
        !esgen_words_join(comma + 1, close, type.name.text, sizeof type.name) ||
        !type.c_type.text[0] || !type.name.text[0]) {
        esgen_fault(unit, open->line, "ES_TYPE takes a C type and the name it is registered by");
        return;
    }
    for (uint32_t i = 0; i < unit->type_count; i++) {
        if (strcmp(unit->types[i].c_type.text, type.c_type.text) == 0) return;
    }
    if (unit->type_count == ESGEN_TYPES_MAX) {
        esgen_fault(unit, open->line, "more than %u ES_TYPE", ESGEN_TYPES_MAX);
        return;
    }
    unit->types[unit->type_count++] = type;
}

void esgen_types_read(esgen_unit* unit, const esgen_words* words) {
    const esgen_word* end = words->items + words->count;
    for (const esgen_word* at = words->items; at + 1 < end; at++) {
        if (!esgen_word_is(at, "ES_TYPE") || !esgen_word_is(at + 1, "(")) continue;
        const esgen_word* close = esgen_words_match(at + 1, end);
        if (!close) return;
        take_type(unit, at + 1, close);
        at = close;
    }
}

// ---- annotations ----

static void take_list(esgen_unit* unit, esgen_list* list, const esgen_word* open,
                      const esgen_word* close) {
    const esgen_word* first = open + 1;
    for (const esgen_word* at = first; at <= close; at++) {
        if (at < close && !esgen_word_is(at, ",")) continue;
        if (list->count == ESGEN_LIST_MAX) {
            esgen_fault(unit, at->line, "more than %u names in one list", ESGEN_LIST_MAX);
            return;
        }
        esgen_name* name = &list->items[list->count];
        if (!esgen_words_join(first, at, name->text, sizeof name->text)) {
            esgen_fault(unit, at->line, "a name is longer than %u bytes", ESGEN_NAME_BYTES_MAX - 1);
        } else if (!name->text[0]) {
            esgen_fault(unit, at->line, "an empty name in a list");
        } else {
            list->count++;
        }
        first = at + 1;
    }
}

static void take_one(esgen_unit* unit, esgen_name* name, const esgen_word* open,
                     const esgen_word* close) {
    if (!esgen_words_join(open + 1, close, name->text, sizeof name->text) || !name->text[0]) {
        esgen_fault(unit, open->line, "%.*s takes one name or number", (int)open[-1].size,
                    open[-1].text);
    }
}

static bool is_number(const char* text) {
    uint64_t value;
    return base_text_parse_u64(text, &value) && value > 0 && value <= UINT32_MAX;
}

static void take_number(esgen_unit* unit, esgen_name* name, const esgen_word* open,
                        const esgen_word* close) {
    take_one(unit, name, open, close);
    if (name->text[0] && !is_number(name->text)) {
        esgen_fault(unit, open->line, "%.*s takes a number above 0, not '%s'", (int)open[-1].size,
                    open[-1].text, name->text);
    }
}

static void say_unknown(esgen_unit* unit, const esgen_word* word) {
    static const char* const known[] = {"ES_STAGE",   "ES_TAG",         "ES_BEFORE",   "ES_AFTER",
                                        "ES_REQUIRE", "ES_REQUIRE_NOT", "ES_ON_EVENT", "ES_TRACK",
                                        "ES_EVERY",   "ES_QUANTUM",     "ES_SPAN"};
    esgen_name name;
    if (!copy_name(&name, word)) return;
    const char* nearest = base_text_nearest(name.text, known, BASE_COUNT(known));
    esgen_fault(unit, word->line, "unknown annotation %s%s%s%s", name.text,
                nearest ? ": did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

// @return the last word of the annotation that begins at `at`.
static const esgen_word* take_annotation(esgen_unit* unit, esgen_function* function,
                                         const esgen_word* at, const esgen_word* end) {
    if (esgen_word_is(at, "ES_SPAN")) {
        function->is_span = true;
        return at;
    }
    const esgen_word* close =
        at + 1 < end && esgen_word_is(at + 1, "(") ? esgen_words_match(at + 1, end) : NULL;
    if (!close) {
        esgen_fault(unit, at->line, "%.*s needs (...)", (int)at->size, at->text);
        return at;
    }
    const struct {
        const char* name;
        esgen_list* list;
    } lists[] = {{"ES_TAG", &function->tags},
                 {"ES_BEFORE", &function->before},
                 {"ES_AFTER", &function->after},
                 {"ES_REQUIRE", &function->require},
                 {"ES_REQUIRE_NOT", &function->require_not},
                 {"ES_ON_EVENT", &function->events},
                 {"ES_TRACK", &function->track}};
    for (uint32_t i = 0; i < BASE_COUNT(lists); i++) {
        if (!esgen_word_is(at, lists[i].name)) continue;
        take_list(unit, lists[i].list, at + 1, close);
        return close;
    }
    if (esgen_word_is(at, "ES_STAGE")) {
        take_one(unit, &function->stage, at + 1, close);
    } else if (esgen_word_is(at, "ES_EVERY")) {
        take_number(unit, &function->every, at + 1, close);
    } else if (esgen_word_is(at, "ES_QUANTUM")) {
        take_number(unit, &function->quantum, at + 1, close);
    } else if (!esgen_word_is(at, "ES_TYPE")) {
        say_unknown(unit, at);
    }
    return close;
}

static void check_require(esgen_unit* unit, const esgen_function* function,
                          const esgen_list* list) {
    for (uint32_t i = 0; i < list->count; i++) {
        if (strchr(list->items[i].text, ':')) continue;
        esgen_fault(unit, function->line, "%s: say the type of '%s' too: %s:tag, for example",
                    function->name.text, list->items[i].text, list->items[i].text);
    }
}

static void check_function(esgen_unit* unit, esgen_function* function) {
    check_require(unit, function, &function->require);
    check_require(unit, function, &function->require_not);
    const char* name = function->name.text;
    uint32_t line = function->line;
    bool has_events = function->events.count > 0 || function->track.count > 0;
    if (function->kind == ESGEN_HANDLER && !has_events) {
        esgen_fault(unit, line, "%s handles no event: add ES_ON_EVENT(name) or ES_TRACK(component)",
                    name);
    }
    if (function->kind != ESGEN_HANDLER && has_events) {
        esgen_fault(unit, line, "%s is no event handler: name it *_es_event_handler", name);
    }
    if (function->kind == ESGEN_QUERY && (function->stage.text[0] || function->tags.count)) {
        esgen_fault(unit, line, "%s is a query: it has neither stage nor tags", name);
    }
    if (function->returns_bool && function->kind != ESGEN_QUERY) {
        esgen_fault(unit, line, "%s must return void", name);
    }
    for (uint32_t i = 0; i < unit->function_count; i++) {
        if (strcmp(unit->functions[i].name.text, name) == 0)
            esgen_fault(unit, line, "%s stands twice in this file", name);
    }
}

// ---- heads ----

// The name of the function whose head is [first, body): the word before the parameters.
static const esgen_word* find_name(const esgen_word* first, const esgen_word* body) {
    if (body - first < 3 || !esgen_word_is(body - 1, ")")) return NULL;
    for (const esgen_word* at = first; at + 1 < body; at++) {
        if (!esgen_word_is(at + 1, "(") || at->kind != ESGEN_IDENTIFIER) continue;
        const esgen_word* close = esgen_words_match(at + 1, body);
        if (close == body - 1) return at;
        if (close) at = close;
    }
    return NULL;
}

static void take_head(esgen_unit* unit, const esgen_word* first, const esgen_word* body) {
    const esgen_word* name = find_name(first, body);
    if (!name) return;
    esgen_function_kind kind;
    if (has_suffix(name, "_es_event_handler"))
        kind = ESGEN_HANDLER;
    else if (has_suffix(name, "_ecs_query"))
        kind = ESGEN_QUERY;
    else if (has_suffix(name, "_es"))
        kind = ESGEN_SYSTEM;
    else
        return;
    if (unit->function_count == ESGEN_FUNCTIONS_MAX) {
        esgen_fault(unit, name->line, "more than %u systems in one file", ESGEN_FUNCTIONS_MAX);
        return;
    }
    esgen_function* function = &unit->functions[unit->function_count];
    memset(function, 0, sizeof *function);
    function->kind = kind;
    function->line = name->line;
    if (!copy_name(&function->name, name)) {
        esgen_fault(unit, name->line, "a name of more than %u bytes", ESGEN_NAME_BYTES_MAX - 1);
        return;
    }
    bool is_static = false;
    for (const esgen_word* at = first; at < name; at++) {
        if (at->size > 3 && memcmp(at->text, "ES_", 3) == 0)
            at = take_annotation(unit, function, at, name);
        else if (esgen_word_is(at, "static"))
            is_static = true;
        else if (esgen_word_is(at, "bool"))
            function->returns_bool = true;
    }
    if (!is_static) esgen_fault(unit, name->line, "%s must be static", function->name.text);
    esgen_params_parse(unit, function, name + 2, body - 1);
    check_function(unit, function);
    unit->function_count++;
}

void esgen_parse(esgen_unit* unit, const esgen_words* words) {
    const esgen_word* end = words->items + words->count;
    const esgen_word* first = words->items;
    uint32_t depth = 0;
    for (const esgen_word* at = words->items; at < end; at++) {
        if (esgen_word_is(at, "{") && depth++ == 0) take_head(unit, first, at);
        if (esgen_word_is(at, "}") && depth > 0) depth--;
        bool ends = esgen_word_is(at, "}") || esgen_word_is(at, ";") || at->kind == ESGEN_INCLUDE;
        if (depth == 0 && ends) first = at + 1;
    }
}
