// SPDX-License-Identifier: MIT
// The parser of queries: one pass, a token at a time, no memory.
#include "query.h"

#include "base/text.h"
#include "ecs/inspect.h"

#include <stdarg.h>
#include <string.h>

typedef struct parser {
    const char* text;
    const char* at; ///< after the token
    const char* token;
    size_t size;  ///< of the token; 0 at the end
    bool is_open; ///< a text without its last quote
    char* fault;
} parser;

static bool is_name_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || c == '+' || c == ':';
}

// The next token: a word of name bytes, a text with its quotes, or a sign of one or two bytes.
static void next(parser* self) {
    const char* at = self->at;
    while (*at == ' ' || *at == '\t')
        at++;
    self->token = at;
    if (*at == '"') {
        at++;
        while (*at && *at != '"')
            at += at[0] == '\\' && at[1] ? 2 : 1;
        self->is_open = *at == '\0';
        at += *at == '"';
    } else if (is_name_byte(*at)) {
        while (is_name_byte(*at))
            at++;
    } else if (*at) {
        at += (*at == '<' || *at == '>' || *at == '!') && at[1] == '=' ? 2 : 1;
    }
    self->size = (size_t)(at - self->token);
    self->at = at;
}

static bool is_token(const parser* self, const char* text) {
    return self->size == strlen(text) && memcmp(self->token, text, self->size) == 0;
}

static uint32_t column_of(const parser* self) {
    return (uint32_t)(self->token - self->text) + 1;
}

BASE_PRINTF(2, 3) static bool fail(parser* self, const char* format, ...) {
    char sentence[SERVER_QUERY_FAULT_BYTES - 24];
    va_list arguments;
    va_start(arguments, format);
    (void)base_text_vformat(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    (void)base_text_format(self->fault, SERVER_QUERY_FAULT_BYTES, "column %u: %s", column_of(self),
                           sentence);
    return false;
}

static bool take_name(parser* self, char name[SERVER_QUERY_NAME_BYTES]) {
    if (self->size == 0) return fail(self, "a name is missing");
    if (!is_name_byte(self->token[0]))
        return fail(self, "a name begins with a letter, not '%c'", self->token[0]);
    if (self->size >= SERVER_QUERY_NAME_BYTES) return fail(self, "the name is too long");
    memcpy(name, self->token, self->size);
    name[self->size] = '\0';
    next(self);
    return true;
}

static bool take_term(parser* self, server_query* query) {
    if (query->term_count == SERVER_QUERY_TERMS_MAX)
        return fail(self, "more than %u terms", SERVER_QUERY_TERMS_MAX);
    server_query_term* term = &query->terms[query->term_count++];
    term->use = SERVER_QUERY_HAS;
    if (is_token(self, "!") || is_token(self, "?")) {
        term->use = self->token[0] == '!' ? SERVER_QUERY_HAS_NOT : SERVER_QUERY_MAY_HAVE;
        next(self);
    }
    term->column = column_of(self);
    const bool may_be_template = term->use == SERVER_QUERY_HAS && is_token(self, "template");
    if (!take_name(self, term->name)) return false;
    if (!is_token(self, "=")) return true;
    if (!may_be_template) return fail(self, "a comparison belongs after \"where\"");
    next(self);
    term->use = SERVER_QUERY_TEMPLATE;
    term->column = column_of(self);
    return take_name(self, term->name);
}

static bool take_order(parser* self, server_query_order* order) {
    static const char* const words[] = {"<", "<=", ">", ">=", "=", "!="};
    for (uint32_t i = 0; i < BASE_COUNT(words); i++) {
        if (!is_token(self, words[i])) continue;
        *order = (server_query_order)i;
        next(self);
        return true;
    }
    return fail(self, "one of < <= > >= = != is missing");
}

static bool take_text(parser* self, server_query_condition* condition) {
    const char* end = self->token + self->size - 1;
    size_t size = 0;
    if (self->is_open) return fail(self, "the text has no end: \"...\"");
    for (const char* at = self->token + 1; at < end; at++) {
        if (*at == '\\' && at + 1 < end) at++;
        if (size + 1 == sizeof condition->text)
            return fail(self, "the text is longer than %zu bytes", sizeof condition->text - 1);
        condition->text[size++] = *at;
    }
    condition->text[size] = '\0';
    condition->kind = SERVER_QUERY_TEXT;
    next(self);
    return true;
}

static bool take_value(parser* self, server_query_condition* condition) {
    char word[48];
    int64_t whole;
    uint64_t natural;
    double real;
    if (self->size > 0 && self->token[0] == '"') return take_text(self, condition);
    if (self->size == 0 || self->size >= sizeof word) return fail(self, "a value is missing");
    memcpy(word, self->token, self->size);
    word[self->size] = '\0';
    condition->kind = SERVER_QUERY_NUMBER;
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
        condition->kind = SERVER_QUERY_BOOL;
        condition->number = word[0] == 't';
    } else if (strcmp(word, "none") == 0 || (ecs_entity_parse(word, &condition->entity) &&
                                             ecs_entity_index(condition->entity))) {
        condition->kind = SERVER_QUERY_ENTITY;
    } else if (base_text_parse_i64(word, &whole)) {
        condition->number = whole;
    } else if (base_text_parse_u64(word, &natural)) {
        condition->number = natural;
    } else if (base_text_parse_f64(word, &real)) {
        condition->number = (long double)real;
    } else {
        return fail(self, "'%s' is not a value: a number, true, false, none, 17:1 or \"text\"",
                    word);
    }
    next(self);
    return true;
}

static bool take_condition(parser* self, server_query* query) {
    if (query->condition_count == SERVER_QUERY_CONDITIONS_MAX)
        return fail(self, "more than %u conditions", SERVER_QUERY_CONDITIONS_MAX);
    server_query_condition* condition = &query->conditions[query->condition_count++];
    *condition = (server_query_condition){.column = column_of(self)};
    if (!take_name(self, condition->name) || !take_order(self, &condition->order) ||
        !take_value(self, condition))
        return false;
    if (condition->kind != SERVER_QUERY_NUMBER && condition->order < SERVER_QUERY_EQUAL)
        return fail(self, "only numbers are less or greater");
    return true;
}

bool server_query_parse(const char* text, server_query* query,
                        char fault[SERVER_QUERY_FAULT_BYTES]) {
    parser self = {.text = text, .at = text, .fault = fault};
    query->term_count = query->condition_count = 0;
    if (strlen(text) > SERVER_QUERY_BYTES_MAX) {
        self.token = text;
        return fail(&self, "the query is longer than %u bytes", SERVER_QUERY_BYTES_MAX);
    }
    next(&self);
    if (self.size > 0 && !is_token(&self, "where")) {
        for (;;) {
            if (!take_term(&self, query)) return false;
            if (!is_token(&self, ",")) break;
            next(&self);
        }
    }
    if (is_token(&self, "where")) {
        do {
            next(&self);
            if (!take_condition(&self, query)) return false;
        } while (is_token(&self, "and"));
    }
    if (self.size == 0) return true;
    return fail(&self, "expected %s", query->condition_count ? "\"and\"" : "\",\" or \"where\"");
}

bool server_query_holds(server_query_order order, long double left, long double right) {
    switch (order) {
    case SERVER_QUERY_LESS:
        return left < right;
    case SERVER_QUERY_LESS_EQUAL:
        return left <= right;
    case SERVER_QUERY_GREATER:
        return left > right;
    case SERVER_QUERY_GREATER_EQUAL:
        return left >= right;
    case SERVER_QUERY_EQUAL:
        return left == right;
    case SERVER_QUERY_NOT_EQUAL:
        break;
    }
    return left != right;
}
