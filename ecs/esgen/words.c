// SPDX-License-Identifier: MIT
// C text as words with their lines. Comments, blanks and preprocessor lines are left out. Lines
// that a backslash continues are joined before anything else, as C does it.
//
// Only two preprocessor lines matter: #include "name", since types may be there, and #if 0, whose
// lines are skipped. Both branches of any other #if are read, so a system inside a condition is
// always registered (see ecs/ESGEN.md). The files after this one append text, so that is here.
#include "esgen.h"

#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of the joined text; `file` is at the same character of the file's own text, at `counted`, and
// counts the lines.
typedef struct cursor {
    const char *at, *end;
    bool is_line_start;
    const char *counted, *file, *file_end;
    uint32_t line;
} cursor;

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool esgen_word_is(const esgen_word* word, const char* text) {
    BASE_ASSERT(word && text);
    return word->size == strlen(text) && memcmp(word->text, text, word->size) == 0;
}

bool esgen_word_is_annotation(const esgen_word* word) {
    return word->kind == ESGEN_IDENTIFIER && word->size > 3 && memcmp(word->text, "ES_", 3) == 0;
}

// The length of a backslash and its line end, which continue a line; 0: there is none. As compilers
// do, blanks may be between them.
static size_t splice_size(const char* at, const char* end) {
    if (at >= end || *at != '\\') return 0;
    const char* next = at + 1;
    while (next < end && (*next == ' ' || *next == '\t' || *next == '\r'))
        next++;
    return next < end && *next == '\n' ? (size_t)(next + 1 - at) : 0;
}

// @return the joined text, of *size bytes afterwards; NULL when memory ran out.
static char* join_lines(const char* text, size_t* size) {
    const char* end = text + *size;
    char* joined = base_allocate(NULL, *size + 1);
    if (!joined) return NULL;
    size_t count = 0;
    while (text < end) {
        const size_t splice = splice_size(text, end);
        if (splice == 0) joined[count++] = *text;
        text += splice ? splice : 1;
    }
    *size = count;
    return joined;
}

// The line of a place in the joined text, not before the last one that was asked for.
static uint32_t line_at(cursor* c, const char* at) {
    for (;;) {
        const size_t splice = splice_size(c->file, c->file_end);
        if (!splice && c->counted >= at) return c->line;
        c->line += splice || *c->file == '\n';
        c->file += splice ? splice : 1;
        c->counted += splice == 0;
    }
}

static bool push_word(esgen_words* words, esgen_word_kind kind, cursor* c, const char* text,
                      const char* end) {
    if (!BASE_ARRAY_RESERVE(NULL, words->items, words->capacity, words->count + 1)) return false;
    words->items[words->count++] =
        (esgen_word){kind, line_at(c, text), text, (uint32_t)(end - text)};
    return true;
}

void esgen_words_deinit(esgen_words* words) {
    BASE_ARRAY_RELEASE(NULL, words->items, words->capacity);
    base_release(NULL, words->text, words->text_bytes);
    *words = (esgen_words){0};
}

static bool is_comment(const cursor* c) {
    return c->end - c->at > 1 && c->at[0] == '/' && (c->at[1] == '/' || c->at[1] == '*');
}

// Go to the end of the line.
static void skip_line(cursor* c) {
    while (c->at < c->end && *c->at != '\n')
        c->at++;
}

static bool skip_comment(cursor* c, const char* file, const base_reporter* reporter) {
    const char* first = c->at;
    if (first[1] == '/') {
        skip_line(c);
        return true;
    }
    for (c->at += 2; c->end - c->at >= 2; c->at++) {
        if (c->at[0] == '*' && c->at[1] == '/') {
            c->at += 2;
            return true;
        }
    }
    return base_report(reporter, file, line_at(c, first), "this comment never ends");
}

// Go past a string or character. @return false when the line ends first: the cursor did not move.
static bool skip_quoted(cursor* c) {
    cursor at = *c;
    char quote = *at.at++;
    while (at.at < at.end && *at.at != quote && *at.at != '\n')
        at.at += *at.at == '\\' && at.end - at.at > 1 ? 2 : 1;
    if (at.at >= at.end || *at.at != quote) return false;
    at.at++;
    *c = at;
    return true;
}

static void skip_blanks(cursor* c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
        c->at++;
}

// Read the name of the directive whose # is at the cursor, and go past it.
static bool read_directive_name(cursor* c, const char* name) {
    size_t size = strlen(name);
    cursor at = *c;
    at.at++;
    skip_blanks(&at);
    if ((size_t)(at.end - at.at) < size || memcmp(at.at, name, size) != 0) return false;
    at.at += size;
    if (at.at < at.end && (is_letter(*at.at) || is_digit(*at.at))) return false;
    *c = at;
    return true;
}

// Go from #if 0 to its #else, #elif or #endif. The lines between need not be C.
static void skip_disabled(cursor* c) {
    uint32_t depth = 0;
    for (skip_line(c); c->at < c->end; skip_line(c)) {
        c->at++;
        skip_blanks(c);
        if (c->at >= c->end || *c->at != '#') continue;
        cursor name = *c;
        bool is_end = read_directive_name(&name, "endif");
        bool is_else =
            !is_end && (read_directive_name(&name, "else") || read_directive_name(&name, "elif"));
        if (depth == 0 && (is_end || is_else)) {
            skip_line(c);
            return;
        }
        if (is_end)
            depth--;
        else if (!is_else)
            depth += read_directive_name(&name, "if") || read_directive_name(&name, "ifdef") ||
                     read_directive_name(&name, "ifndef");
    }
}

// Go past a preprocessor line with its comments.
static bool read_directive(cursor* c, esgen_words* words, const char* file,
                           const base_reporter* reporter) {
    cursor at = *c;
    if (read_directive_name(&at, "if")) {
        skip_blanks(&at);
        bool is_zero = at.at < at.end && *at.at == '0' &&
                       (at.at + 1 == at.end || at.at[1] == '\n' || at.at[1] == '\r' ||
                        at.at[1] == ' ' || at.at[1] == '/');
        if (is_zero) {
            skip_disabled(c);
            return true;
        }
    }
    bool is_include = read_directive_name(c, "include");
    if (!is_include) c->at++;
    while (c->at < c->end && *c->at != '\n') {
        const char* first = c->at;
        if (is_comment(c)) {
            if (!skip_comment(c, file, reporter)) return false;
        } else if ((*first == '"' || *first == '\'') && skip_quoted(c)) {
            bool is_taken = is_include && *first == '"';
            if (is_taken && !push_word(words, ESGEN_INCLUDE, c, first + 1, c->at - 1)) return false;
            is_include = false;
        } else {
            c->at++;
        }
    }
    return true;
}

static bool read_quoted(cursor* c, esgen_words* words, const char* file,
                        const base_reporter* reporter) {
    const char* first = c->at;
    if (!skip_quoted(c))
        return base_report(reporter, file, line_at(c, first), "this text never ends");
    return push_word(words, ESGEN_STRING, c, first, c->at);
}

static bool read_word(cursor* c, esgen_words* words) {
    const char* first = c->at;
    if (is_letter(*first)) {
        while (c->at < c->end && (is_letter(*c->at) || is_digit(*c->at)))
            c->at++;
        return push_word(words, ESGEN_IDENTIFIER, c, first, c->at);
    }
    if (is_digit(*first)) {
        while (c->at < c->end && (is_letter(*c->at) || is_digit(*c->at) || *c->at == '.'))
            c->at++;
        return push_word(words, ESGEN_NUMBER, c, first, c->at);
    }
    c->at++;
    return push_word(words, ESGEN_PUNCTUATION, c, first, c->at);
}

// Go past a blank, a line end or a comment. @return false for a comment without end.
static bool skip_space(cursor* c, bool* is_space, const char* file, const base_reporter* reporter) {
    char first = *c->at;
    *is_space = true;
    if (first == '\n') {
        c->at++;
        c->is_line_start = true;
    } else if (first == ' ' || first == '\t' || first == '\r' || first == '\f' || first == '\v') {
        c->at++;
    } else if (is_comment(c)) {
        return skip_comment(c, file, reporter);
    } else {
        *is_space = false;
    }
    return true;
}

bool esgen_words_read(esgen_words* words, const char* file, const char* text, size_t size,
                      const base_reporter* reporter) {
    BASE_ASSERT(words && file && (text || size == 0));
    static const char mark[] = "\xef\xbb\xbf"; // some editors begin UTF-8 with it
    *words = (esgen_words){.text_bytes = size + 1};
    words->text = join_lines(text, &size);
    if (!words->text) return false;
    cursor c = {.at = words->text, .end = words->text + size, .is_line_start = true};
    c.counted = c.at;
    c.file = text;
    c.file_end = text + words->text_bytes - 1;
    c.line = 1;
    if (size >= 3 && memcmp(c.at, mark, 3) == 0) c.at += 3;
    bool is_right = true;
    while (is_right && c.at < c.end) {
        bool is_space;
        is_right = skip_space(&c, &is_space, file, reporter);
        if (!is_right || is_space) continue;
        if (*c.at == '#' && c.is_line_start)
            is_right = read_directive(&c, words, file, reporter);
        else if (*c.at == '"' || *c.at == '\'')
            is_right = read_quoted(&c, words, file, reporter);
        else
            is_right = read_word(&c, words);
        c.is_line_start = false;
    }
    is_right = is_right && push_word(words, ESGEN_END, &c, c.end, c.end);
    if (!is_right) esgen_words_deinit(words);
    return is_right;
}

const esgen_word* esgen_words_match(const esgen_word* open, const esgen_word* end) {
    BASE_ASSERT(open && open <= end);
    uint32_t depth = 0;
    for (const esgen_word* at = open; at < end; at++) {
        depth += esgen_word_is(at, "(");
        if (depth == 0) return NULL;
        if (esgen_word_is(at, ")") && --depth == 0) return at;
    }
    return NULL;
}

const esgen_word* esgen_words_close(esgen_unit* unit, const esgen_word* at, const esgen_word* end) {
    const esgen_word* close = at + 1 < end ? esgen_words_match(at + 1, end) : NULL;
    if (!close) esgen_fault(unit, at->line, "%.*s needs (...)", (int)at->size, at->text);
    return close;
}

const esgen_word* esgen_words_item(const esgen_word* first, const esgen_word* end) {
    uint32_t depth = 0;
    for (; first < end && (depth > 0 || !esgen_word_is(first, ",")); first++) {
        depth += esgen_word_is(first, "(");
        depth -= depth > 0 && esgen_word_is(first, ")");
    }
    return first;
}

bool esgen_words_join(const esgen_word* first, const esgen_word* end, char* target, size_t bytes) {
    BASE_ASSERT(first <= end && target && bytes > 0);
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

bool esgen_words_copy(const esgen_word* first, const esgen_word* end, char* target, size_t bytes) {
    BASE_ASSERT(first <= end && target && bytes > 0);
    size_t used = 0;
    target[0] = '\0';
    for (const esgen_word* at = first; at < end; at++) {
        bool has_blank = at > first && at[-1].text + at[-1].size != at->text;
        if (used + has_blank + at->size + 1 > bytes) return false;
        if (has_blank) target[used++] = ' ';
        memcpy(target + used, at->text, at->size);
        used += at->size;
        target[used] = '\0';
    }
    return true;
}

bool esgen_words_is_expression(const esgen_word* first, const esgen_word* end) {
    BASE_ASSERT(first <= end);
    static const char open[] = "([{", close[] = ")]}";
    char expected[32];
    uint32_t depth = 0;
    for (const esgen_word* at = first; at < end; at++) {
        if (at->kind == ESGEN_INCLUDE) return false;
        if (at->kind != ESGEN_PUNCTUATION) continue;
        char c = at->text[0];
        const char* opening = memchr(open, c, sizeof open - 1);
        if (opening) {
            if (depth == sizeof expected) return false;
            expected[depth++] = close[opening - open];
        } else if (memchr(close, c, sizeof close - 1)) {
            if (depth == 0 || expected[--depth] != c) return false;
        } else if (!memchr("+-*/%&|^~!<>=?:,.", c, 17)) {
            return false;
        }
    }
    return depth == 0 && first < end;
}

// The unit that all readers of a file fill: its memory, its faults, and names.

void esgen_unit_init(esgen_unit* unit, const char* file, const base_reporter* reporter) {
    BASE_ASSERT(unit);
    memset(unit, 0, sizeof *unit);
    unit->file = file;
    unit->reporter = reporter;
}

void esgen_unit_deinit(esgen_unit* unit) {
    BASE_ARRAY_RELEASE(NULL, unit->functions, unit->function_capacity);
    BASE_ARRAY_RELEASE(NULL, unit->structs, unit->struct_capacity);
    BASE_ARRAY_RELEASE(NULL, unit->game.slots, unit->game.slot_capacity);
    BASE_ARRAY_RELEASE(NULL, unit->game.actions, unit->game.action_capacity);
    free(unit->game.settings);
    unit->game = (esgen_game){0};
    unit->functions = NULL;
    unit->structs = NULL;
    unit->function_capacity = unit->struct_capacity = 0;
}

bool esgen_fault(esgen_unit* unit, uint32_t line, const char* format, ...) {
    BASE_ASSERT(unit && format);
    char text[BASE_REPORT_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    unit->fault_count++;
    return base_report(unit->reporter, unit->file, line, "%s", text);
}

// ---- names ----

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_.-+:<>@|", c));
}

bool esgen_name_read(esgen_unit* unit, esgen_name* name, const esgen_word* first,
                     const esgen_word* end) {
    BASE_ASSERT(unit && name && first <= end);
    uint32_t line = first->line;
    if (!esgen_words_join(first, end, name->text, sizeof name->text)) {
        esgen_fault(unit, line, "a name is longer than %u bytes", ESGEN_NAME_BYTES_MAX - 1);
    } else if (!name->text[0]) {
        esgen_fault(unit, line, "a name is missing here");
    } else {
        const char* bad = name->text;
        while (is_name_char(*bad))
            bad++;
        if (!*bad) return true;
        esgen_fault(unit, line, "a name is made of letters, digits and _.-+:<>@, '%s' is not",
                    name->text);
    }
    name->text[0] = '\0';
    return false;
}

// ---- the text that is written ----

static void put_arguments(base_bytes* out, const char* format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    uint8_t* target = size > 0 ? base_bytes_extend(out, (size_t)size + 1) : NULL;
    if (target) {
        vsnprintf((char*)target, (size_t)size + 1, format, again);
        out->size--; // the NUL
    }
    va_end(again);
}

void esgen_put(base_bytes* out, const char* format, ...) {
    BASE_ASSERT(out && format);
    va_list arguments;
    va_start(arguments, format);
    put_arguments(out, format, arguments);
    va_end(arguments);
}

void esgen_put_item(base_bytes* out, const char* format, ...) {
    BASE_ASSERT(out && format);
    bool is_first = out->size > 0 && strchr("({", out->data[out->size - 1]);
    if (!is_first) esgen_put(out, ", ");
    va_list arguments;
    va_start(arguments, format);
    put_arguments(out, format, arguments);
    va_end(arguments);
}

static void put_mark(base_bytes* out, const char* file, uint32_t line) {
    esgen_put(out, "#line %u \"", line);
    for (const char* at = file; *at; at++)
        esgen_put(out, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    esgen_put(out, "\"\n");
}

void esgen_put_line(base_bytes* out, const esgen_unit* unit, const char* file, uint32_t line) {
    if (unit->target && file && line > 0) put_mark(out, file, line);
}

void esgen_put_line_end(base_bytes* out, const esgen_unit* unit) {
    if (!unit->target) return;
    uint32_t lines = 0;
    for (size_t i = 0; i < out->size; i++)
        lines += out->data[i] == '\n';
    put_mark(out, unit->target, lines + 2); // the line after the mark
}
