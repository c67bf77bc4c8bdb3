// SPDX-License-Identifier: MIT
// The words of a datablock. Several parameters may share a line without separators (`pos:p2=600,700
// vel:p2=330,-550`). So a bare value is a list of words joined by commas, and it ends where no
// comma follows. Text with blanks needs quotes.
//
// Every loop moves the cursor or ends, and none reads outside of [at, end). So every input ends,
// and each loop shows that by itself. The parser adds the NUL of appended strings.
#include "text/datablock.h"

#include "base/assert.h"

#include <string.h>

static const ecs_text_fault none = {NULL, 0};

static ecs_text_fault fault_at(uint32_t line, const char* message) {
    return (ecs_text_fault){message, line};
}

static bool next_is(const ecs_text_cursor* cursor, char c) {
    return cursor->at < cursor->end && *cursor->at == c;
}

static bool is_comment(const ecs_text_cursor* cursor) {
    return cursor->end - cursor->at >= 2 && cursor->at[0] == '/' &&
           (cursor->at[1] == '/' || cursor->at[1] == '*');
}

bool ecs_text_is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || c == '+';
}

static ecs_text_fault skip_comment(ecs_text_cursor* cursor) {
    if (cursor->at[1] == '/') {
        while (cursor->at < cursor->end && *cursor->at != '\n')
            cursor->at++;
        return none;
    }
    uint32_t line = cursor->line;
    for (cursor->at += 2; cursor->end - cursor->at >= 2; cursor->at++) {
        if (cursor->at[0] == '*' && cursor->at[1] == '/') {
            cursor->at += 2;
            return none;
        }
        if (*cursor->at == '\n') cursor->line++;
    }
    cursor->at = cursor->end;
    return fault_at(line, "this comment never ends: */ is missing");
}

ecs_text_fault ecs_text_skip(ecs_text_cursor* cursor, bool across_lines) {
    BASE_ASSERT(cursor->at <= cursor->end);
    while (cursor->at < cursor->end) {
        char c = *cursor->at;
        if (is_comment(cursor)) {
            ecs_text_fault fault = skip_comment(cursor);
            if (fault.message) return fault;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            cursor->at++;
        } else if (c == '\n' && across_lines) {
            cursor->line++;
            cursor->at++;
        } else {
            break;
        }
    }
    return none;
}

void ecs_text_read_word(ecs_text_cursor* cursor, bool is_type, base_bytes* strings) {
    BASE_ASSERT(cursor->at <= cursor->end && strings);
    const char* start = cursor->at;
    while (cursor->at < cursor->end) {
        char c = *cursor->at;
        bool is_bracket = is_type && (c == '<' || c == '>' || c == ',');
        if (!ecs_text_is_word(c) && !is_bracket) break;
        cursor->at++;
    }
    base_bytes_write(strings, start, (size_t)(cursor->at - start));
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// The cursor is behind the backslash. @return 0 for an unknown escape.
static uint8_t read_escape(ecs_text_cursor* cursor) {
    if (cursor->at == cursor->end) return 0;
    char c = *cursor->at++;
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case '\\':
    case '"':
    case '\'':
        return (uint8_t)c;
    case 'x': {
        if (cursor->end - cursor->at < 2) return 0;
        int high = hex_digit(cursor->at[0]);
        int low = hex_digit(cursor->at[1]);
        if (high < 0 || low < 0) return 0;
        cursor->at += 2;
        return (uint8_t)(high * 16 + low);
    }
    default:
        return 0;
    }
}

ecs_text_fault ecs_text_read_quoted(ecs_text_cursor* cursor, base_bytes* strings) {
    BASE_ASSERT(cursor->at < cursor->end && "on a quote");
    char quote = *cursor->at++;
    ecs_text_fault fault = none;
    while (cursor->at < cursor->end && *cursor->at != '\n') {
        char c = *cursor->at;
        if (c == quote) {
            cursor->at++;
            return fault;
        }
        if (c == '\\') {
            cursor->at++;
            const char* escape = cursor->at;
            uint8_t byte = read_escape(cursor);
            if (byte) {
                base_bytes_write_u8(strings, byte);
                continue;
            }
            // Continue behind the backslash, so that a quote there does not end the string.
            cursor->at = escape;
            if (cursor->at < cursor->end && *cursor->at != '\n') cursor->at++;
            fault =
                fault_at(cursor->line, "no such escape: \\n \\t \\r \\\\ \\\" \\' \\x01..\\xff");
            continue;
        }
        if (c == '\0') fault = fault_at(cursor->line, "a string cannot hold a zero byte");
        base_bytes_write_u8(strings, (uint8_t)c);
        cursor->at++;
    }
    return fault_at(cursor->line, "this string never ends: its quote is missing on this line");
}

// Copy "[[1,0,0] [0,1,0] ...]" unchanged, up to the matching bracket. It may span lines.
static ecs_text_fault read_bracketed(ecs_text_cursor* cursor, base_bytes* strings) {
    uint32_t line = cursor->line;
    uint32_t depth = 0;
    while (cursor->at < cursor->end) {
        char c = *cursor->at;
        if (c == '{' || c == '}' || c == ';' || c == '"' || c == '\0') break;
        if (c == '[') depth++;
        if (c == ']') depth--;
        if (c == '\n') cursor->line++;
        base_bytes_write_u8(strings, c == '\n' ? ' ' : (uint8_t)c);
        cursor->at++;
        if (depth == 0) return none;
    }
    return fault_at(line, "a bracket is open: ] is missing");
}

static bool ends_bare_word(const ecs_text_cursor* cursor) {
    unsigned char c = (unsigned char)*cursor->at;
    return c <= 0x20 || c == 0x7F || strchr(",;{}=\"'[]", c) || is_comment(cursor);
}

ecs_text_fault ecs_text_read_value(ecs_text_cursor* cursor, base_bytes* strings) {
    BASE_ASSERT(cursor->at <= cursor->end && strings);
    ecs_text_fault fault = ecs_text_skip(cursor, false);
    if (fault.message) return fault;
    if (next_is(cursor, '"') || next_is(cursor, '\'')) return ecs_text_read_quoted(cursor, strings);
    if (next_is(cursor, '[')) return read_bracketed(cursor, strings);
    for (;;) {
        const char* start = cursor->at;
        while (cursor->at < cursor->end && !ends_bare_word(cursor))
            cursor->at++;
        if (cursor->at == start) return fault_at(cursor->line, "a value is missing");
        base_bytes_write(strings, start, (size_t)(cursor->at - start));
        fault = ecs_text_skip(cursor, false);
        if (fault.message || !next_is(cursor, ',')) return fault;
        cursor->at++;
        base_bytes_write_u8(strings, ',');
        fault = ecs_text_skip(cursor, false);
        if (fault.message) return fault;
    }
}

void ecs_text_recover(ecs_text_cursor* cursor) {
    BASE_ASSERT(cursor->at <= cursor->end);
    while (cursor->at < cursor->end && !strchr("\n;{}", *cursor->at))
        cursor->at++;
    // strchr also finds the NUL: a zero byte is part of the fault.
    while (cursor->at < cursor->end && *cursor->at == '\0')
        cursor->at++;
}
