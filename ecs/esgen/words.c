// SPDX-License-Identifier: MIT
// C text as words: comments, spaces and preprocessor lines fall away, lines are remembered.
//
// Of the preprocessor only #include "name" matters (ES_TYPE may stand there). Both branches of an #if are
// read: a system behind a condition is registered behind none, which is said in ecs/ESGEN.md.
#include "esgen.h"

#include <stdlib.h>
#include <string.h>

typedef struct cursor {
    const char* at;
    const char* end;
    uint32_t line;
    bool is_line_start;
} cursor;

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool esgen_word_is(const esgen_word* word, const char* text) {
    return word->size == strlen(text) && memcmp(word->text, text, word->size) == 0;
}

static bool push(esgen_words* words, esgen_word_kind kind, uint32_t line, const char* text,
                 const char* end) {
    if (words->count == words->capacity) {
        uint32_t capacity = words->capacity ? words->capacity * 2 : 1024;
        esgen_word* items = realloc(words->items, capacity * sizeof *items);
        if (!items) return false;
        words->items = items;
        words->capacity = capacity;
    }
    words->items[words->count++] = (esgen_word){kind, line, text, (uint32_t)(end - text)};
    return true;
}

void esgen_words_deinit(esgen_words* words) {
    free(words->items);
    *words = (esgen_words){0};
}

static bool skip_comment(cursor* c, const char* file, const base_reporter* reporter) {
    uint32_t line = c->line;
    if (c->at[1] == '/') {
        while (c->at < c->end && *c->at != '\n')
            c->at++;
        return true;
    }
    for (c->at += 2; c->end - c->at >= 2; c->at++) {
        if (c->at[0] == '*' && c->at[1] == '/') {
            c->at += 2;
            return true;
        }
        if (*c->at == '\n') c->line++;
    }
    base_report(reporter, file, line, "this comment never ends");
    return false;
}

// A whole preprocessor line, continued ones too.
static bool take_directive(cursor* c, esgen_words* words) {
    uint32_t line = c->line;
    const char* first = c->at;
    while (c->at < c->end && *c->at != '\n') {
        bool is_continued = *c->at == '\\' && c->at + 1 < c->end && c->at[1] == '\n';
        if (is_continued) c->line++;
        c->at += is_continued ? 2 : 1;
    }
    const char* at = first + 1;
    while (at < c->at && (*at == ' ' || *at == '\t'))
        at++;
    if (c->at - at < 7 || memcmp(at, "include", 7) != 0) return true;
    const char* open = memchr(at, '"', (size_t)(c->at - at));
    const char* close = open ? memchr(open + 1, '"', (size_t)(c->at - open - 1)) : NULL;
    return !close || push(words, ESGEN_INCLUDE, line, open + 1, close);
}

static bool take_quoted(cursor* c, esgen_words* words, const char* file,
                        const base_reporter* reporter) {
    const char* first = c->at;
    char quote = *c->at++;
    while (c->at < c->end && *c->at != quote && *c->at != '\n')
        c->at += *c->at == '\\' && c->end - c->at > 1 ? 2 : 1;
    if (c->at >= c->end || *c->at != quote) {
        base_report(reporter, file, c->line, "this text never ends");
        return false;
    }
    c->at++;
    return push(words, ESGEN_STRING, c->line, first, c->at);
}

static bool take_word(cursor* c, esgen_words* words) {
    const char* first = c->at;
    if (is_letter(*first)) {
        while (c->at < c->end && (is_letter(*c->at) || is_digit(*c->at)))
            c->at++;
        return push(words, ESGEN_IDENTIFIER, c->line, first, c->at);
    }
    if (is_digit(*first)) {
        while (c->at < c->end && (is_letter(*c->at) || is_digit(*c->at) || *c->at == '.'))
            c->at++;
        return push(words, ESGEN_NUMBER, c->line, first, c->at);
    }
    c->at++;
    return push(words, ESGEN_PUNCTUATION, c->line, first, c->at);
}

bool esgen_words_read(esgen_words* words, const char* file, const char* text, size_t size,
                      const base_reporter* reporter) {
    *words = (esgen_words){0};
    cursor c = {text, text + size, 1, true};
    bool is_right = true;
    while (is_right && c.at < c.end) {
        char first = *c.at;
        if (first == '\n') {
            c.line++;
            c.at++;
            c.is_line_start = true;
            continue;
        }
        if (first == ' ' || first == '\t' || first == '\r' || first == '\f') {
            c.at++;
            continue;
        }
        bool is_comment = first == '/' && c.end - c.at > 1 && (c.at[1] == '/' || c.at[1] == '*');
        if (is_comment) {
            is_right = skip_comment(&c, file, reporter);
            continue;
        }
        if (first == '#' && c.is_line_start)
            is_right = take_directive(&c, words);
        else if (first == '"' || first == '\'')
            is_right = take_quoted(&c, words, file, reporter);
        else
            is_right = take_word(&c, words);
        c.is_line_start = false;
    }
    is_right = is_right && push(words, ESGEN_END, c.line, c.end, c.end);
    if (!is_right) esgen_words_deinit(words);
    return is_right;
}

const esgen_word* esgen_words_match(const esgen_word* open, const esgen_word* end) {
    uint32_t depth = 0;
    for (const esgen_word* at = open; at < end; at++) {
        if (esgen_word_is(at, "(")) depth++;
        if (esgen_word_is(at, ")") && --depth == 0) return at;
    }
    return NULL;
}

bool esgen_words_join(const esgen_word* first, const esgen_word* end, char* target, size_t bytes) {
    size_t used = 0;
    target[0] = '\0';
    for (const esgen_word* at = first; at < end; at++) {
        const char* text = at->text;
        size_t size = at->size;
        if (at->kind == ESGEN_STRING) {
            text++;
            size -= 2;
        }
        if (used + size + 1 > bytes) return false;
        memcpy(target + used, text, size);
        used += size;
        target[used] = '\0';
    }
    return true;
}
