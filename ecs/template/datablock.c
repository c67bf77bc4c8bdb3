// SPDX-License-Identifier: MIT
// The grammar of a datablock, read in one pass into an array of nodes:
//
//   file      = { statement [";"] }
//   statement = name ":" type "=" value        a parameter
//             | name [":" type] "{" file "}"   a block; "name:type" may be quoted as a whole
//
// Open blocks are on a fixed stack; there is no recursion. After a fault the parser continues
// after the statement. A block with a faulty head gets the empty name, so that its braces still
// match and faults inside it are found in the same run.
#include "template/datablock.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

// The words of a datablock. Several parameters may share a line without separators (`pos:p2=600,700
// vel:p2=330,-550`). So a bare value is a list of words joined by commas, and it ends where no
// comma follows. Text with blanks needs quotes.
//
// Every loop moves the cursor or ends, and none reads outside of [at, end). So every input ends,
// and each loop shows that by itself. The parser adds the NUL of appended strings.

// A cursor that cannot leave its bytes.
typedef struct text_cursor {
    const char* at;
    const char* end;
    uint32_t line;
} text_cursor;

// A fault: `message` is NULL when there is none.
typedef struct text_fault {
    const char* message; // constant
    uint32_t line;
} text_fault;

static const text_fault none = {NULL, 0};

static text_fault fault_at(uint32_t line, const char* message) {
    return (text_fault){message, line};
}

static bool next_is(const text_cursor* cursor, char c) {
    return cursor->at < cursor->end && *cursor->at == c;
}

static bool is_comment(const text_cursor* cursor) {
    return cursor->end - cursor->at >= 2 && cursor->at[0] == '/' &&
           (cursor->at[1] == '/' || cursor->at[1] == '*');
}

static bool text_is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || c == '+';
}

static text_fault skip_comment(text_cursor* cursor) {
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

// Skip blanks and comments, and newlines on request. A comment without end is a fault.
static text_fault text_skip(text_cursor* cursor, bool across_lines) {
    BASE_ASSERT(cursor->at <= cursor->end);
    while (cursor->at < cursor->end) {
        char c = *cursor->at;
        if (is_comment(cursor)) {
            text_fault fault = skip_comment(cursor);
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

// Append a word of [A-Za-z0-9_.-+], for types also < > ,. May be empty.
static void text_read_word(text_cursor* cursor, bool is_type, base_bytes* strings) {
    BASE_ASSERT(cursor->at <= cursor->end && strings);
    const char* start = cursor->at;
    while (cursor->at < cursor->end) {
        char c = *cursor->at;
        bool is_bracket = is_type && (c == '<' || c == '>' || c == ',');
        if (!text_is_word(c) && !is_bracket) break;
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

// The cursor is after the backslash. @return 0 for an unknown escape.
static uint8_t read_escape(text_cursor* cursor) {
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

// Append a quoted string, unescaped. The cursor is at the opening quote.
static text_fault text_read_quoted(text_cursor* cursor, base_bytes* strings) {
    BASE_ASSERT(cursor->at < cursor->end && "on a quote");
    char quote = *cursor->at++;
    text_fault fault = none;
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
            // Continue after the backslash, so that a quote there does not end the string.
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
static text_fault read_bracketed(text_cursor* cursor, base_bytes* strings) {
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

static bool ends_bare_word(const text_cursor* cursor) {
    unsigned char c = (unsigned char)*cursor->at;
    return c <= 0x20 || c == 0x7F || strchr(",;{}=\"'[]", c) || is_comment(cursor);
}

// Append the value of a parameter: quoted, [bracketed] or words joined by commas.
static text_fault text_read_value(text_cursor* cursor, base_bytes* strings) {
    BASE_ASSERT(cursor->at <= cursor->end && strings);
    text_fault fault = text_skip(cursor, false);
    if (fault.message) return fault;
    if (next_is(cursor, '"') || next_is(cursor, '\'')) return text_read_quoted(cursor, strings);
    if (next_is(cursor, '[')) return read_bracketed(cursor, strings);
    for (;;) {
        const char* start = cursor->at;
        while (cursor->at < cursor->end && !ends_bare_word(cursor))
            cursor->at++;
        if (cursor->at == start) return fault_at(cursor->line, "a value is missing");
        base_bytes_write(strings, start, (size_t)(cursor->at - start));
        fault = text_skip(cursor, false);
        if (fault.message || !next_is(cursor, ',')) return fault;
        cursor->at++;
        base_bytes_write_u8(strings, ',');
        fault = text_skip(cursor, false);
        if (fault.message) return fault;
    }
}

// Go to the end of a faulty statement: before a newline, ;, { or }.
static void text_recover(text_cursor* cursor) {
    BASE_ASSERT(cursor->at <= cursor->end);
    while (cursor->at < cursor->end && !strchr("\n;{}", *cursor->at))
        cursor->at++;
    // strchr also finds the NUL: a zero byte is part of the fault.
    while (cursor->at < cursor->end && *cursor->at == '\0')
        cursor->at++;
}

typedef struct text_parser {
    ecs_text* text;
    const base_reporter* reporter;
    text_cursor cursor;
    uint32_t open[ECS_TEXT_DEPTH_MAX + 1];       ///< nodes; [0] is the file
    uint32_t child_last[ECS_TEXT_DEPTH_MAX + 1]; ///< last child of each
    uint32_t depth;
    uint32_t item_count;
    ecs_result result;
    bool is_over; ///< a limit is reached: no more statements
} text_parser;

static void fail_line(text_parser* parser, uint32_t line, const char* message, const char* detail) {
    base_report(parser->reporter, parser->text->file, line, message, detail);
    if (parser->result == ECS_OK) parser->result = ECS_ERR_SYNTAX;
}

// @return true: there is none.
static bool pass(text_parser* parser, text_fault fault) {
    if (fault.message) fail_line(parser, fault.line, "%s", fault.message);
    return !fault.message;
}

static void stop_full(text_parser* parser, uint32_t line, const char* what, uint32_t limit) {
    base_report(parser->reporter, parser->text->file, line, "more than %u %s", limit, what);
    parser->result = ECS_ERR_FULL;
    parser->is_over = true;
}

// Every statement, right or wrong, counts as an item. So the number of reports is limited too.
static bool count_item(text_parser* parser) {
    if (++parser->item_count <= ECS_TEXT_ITEMS_MAX) return true;
    stop_full(parser, parser->cursor.line, "parameters and blocks in a file", ECS_TEXT_ITEMS_MAX);
    return false;
}

static uint32_t string_begin(const text_parser* parser) {
    return (uint32_t)parser->text->strings.size;
}

static uint32_t string_end(text_parser* parser, uint32_t offset) {
    base_bytes_write_u8(&parser->text->strings, 0);
    return offset;
}

static uint32_t add_node(text_parser* parser, ecs_text_node node) {
    ecs_text* text = parser->text;
    BASE_ARRAY_RESERVE(text->allocator, text->nodes, text->node_capacity, text->node_count + 1);
    uint32_t index = text->node_count++;
    text->nodes[index] = node;
    uint32_t last = parser->child_last[parser->depth];
    ecs_text_node* parent = &text->nodes[parser->open[parser->depth]];
    if (last)
        text->nodes[last].next = index;
    else
        parent->child_first = index;
    parent->child_count++;
    parser->child_last[parser->depth] = index;
    return index;
}

// The cursor is at the {.
static void open_block(text_parser* parser, ecs_text_node node) {
    node.is_block = true;
    parser->cursor.at++;
    if (parser->depth == ECS_TEXT_DEPTH_MAX) {
        stop_full(parser, node.line, "blocks inside one another", ECS_TEXT_DEPTH_MAX);
        return;
    }
    uint32_t index = add_node(parser, node);
    parser->depth++;
    parser->open[parser->depth] = index;
    parser->child_last[parser->depth] = 0;
}

// Read what may follow a name: ":type". @return false after a fault.
static bool read_type(text_parser* parser, ecs_text_node* node) {
    base_bytes* strings = &parser->text->strings;
    text_cursor* cursor = &parser->cursor;
    if (!pass(parser, text_skip(cursor, false))) return false;
    if (!next_is(cursor, ':')) return true;
    cursor->at++;
    if (!pass(parser, text_skip(cursor, false))) return false;
    uint32_t type = string_begin(parser);
    text_read_word(cursor, true, strings);
    node->type = string_end(parser, type);
    if (strings->data[type] != 0) return true;
    fail_line(parser, cursor->line, "'%s:' needs a type",
              ecs_text_string(parser->text, node->name));
    return false;
}

// Read name, "name:type", "name":type or name:type. @return false after a fault; then the node may
// have no name.
static bool read_head(text_parser* parser, ecs_text_node* node) {
    base_bytes* strings = &parser->text->strings;
    text_cursor* cursor = &parser->cursor;
    uint32_t name = string_begin(parser);
    if (*cursor->at == '"' || *cursor->at == '\'') {
        if (!pass(parser, text_read_quoted(cursor, strings))) {
            strings->size = name;
            return false;
        }
        node->name = string_end(parser, name);
        char* colon = strchr((char*)strings->data + name, ':');
        if (!colon) return read_type(parser, node);
        *colon++ = '\0';
        colon += strspn(colon, " \t");
        node->type = (uint32_t)(colon - (char*)strings->data);
        return true;
    }
    text_read_word(cursor, false, strings);
    node->name = string_end(parser, name);
    return read_type(parser, node);
}

static void read_parameter(text_parser* parser, ecs_text_node* node) {
    parser->cursor.at++;
    const char* name = ecs_text_string(parser->text, node->name);
    if (*ecs_text_string(parser->text, node->type) == '\0') {
        fail_line(parser, node->line, "parameter '%s' needs a type, as in name:type=value", name);
        text_recover(&parser->cursor);
        return;
    }
    uint32_t value = string_begin(parser);
    text_fault fault = text_read_value(&parser->cursor, &parser->text->strings);
    node->value = string_end(parser, value);
    if (!pass(parser, fault)) {
        text_recover(&parser->cursor);
        return;
    }
    const text_cursor* cursor = &parser->cursor;
    char behind = cursor->at < cursor->end ? *cursor->at : '\n';
    char before = cursor->at[-1];
    bool is_apart = strchr("; }\n\t\r/", behind) != NULL || before == ' ' || before == '\t' ||
                    before == '\r' || before == '/';
    if (behind == '\0' || !is_apart) {
        fail_line(parser, cursor->line, "the value of '%s' does not end here: quote it or add a ;",
                  ecs_text_string(parser->text, node->name));
        text_recover(&parser->cursor);
        return;
    }
    (void)add_node(parser, *node);
}

static void read_statement(text_parser* parser) {
    text_cursor* cursor = &parser->cursor;
    ecs_text_node node = {.line = cursor->line};
    if (!count_item(parser)) return;
    char first = *cursor->at;
    if (first == '{') {
        fail_line(parser, node.line, "a block needs a name%s", "");
        open_block(parser, node);
        return;
    }
    if (!text_is_word(first) && first != '"' && first != '\'') {
        char shown[8] = {first};
        if ((unsigned char)first < 0x20 || (unsigned char)first >= 0x7F)
            (void)base_text_format(shown, sizeof shown, "\\x%02x", (unsigned char)first);
        fail_line(parser, node.line, "a name was expected here, not '%s'", shown);
        cursor->at++;
        text_recover(cursor);
    } else if (read_head(parser, &node)) {
        text_cursor head_end = *cursor;
        if (pass(parser, text_skip(cursor, true))) {
            if (next_is(cursor, '=')) {
                read_parameter(parser, &node);
                return;
            }
            if (next_is(cursor, '{')) {
                open_block(parser, node);
                return;
            }
            *cursor = head_end;
            fail_line(parser, node.line, "'%s' needs '=' and a value, or a block in { }",
                      ecs_text_string(parser->text, node.name));
            text_recover(cursor);
        }
    } else {
        text_recover(cursor);
    }
    // The head of the block is faulty; its content is checked nevertheless.
    if (next_is(cursor, '{')) open_block(parser, (ecs_text_node){.line = node.line});
}

static void read_file(text_parser* parser) {
    text_cursor* cursor = &parser->cursor;
    while (!parser->is_over) {
        if (!pass(parser, text_skip(cursor, true))) continue;
        if (cursor->at == cursor->end) break;
        if (*cursor->at == ';') {
            cursor->at++;
        } else if (*cursor->at == '}') {
            cursor->at++;
            if (parser->depth > 0)
                parser->depth--;
            else if (count_item(parser))
                fail_line(parser, cursor->line, "this } closes no block%s", "");
        } else {
            read_statement(parser);
        }
    }
    for (uint32_t depth = parser->is_over ? 0 : parser->depth; depth > 0; depth--) {
        const ecs_text_node* node = &parser->text->nodes[parser->open[depth]];
        fail_line(parser, node->line, "block '%s' is never closed: } is missing",
                  ecs_text_string(parser->text, node->name));
    }
}

ecs_result ecs_text_parse(ecs_text* text, const base_allocator* allocator, const char* file,
                          const char* source, size_t source_bytes, const base_reporter* reporter) {
    BASE_ASSERT(text && (source || source_bytes == 0));
    *text = (ecs_text){.allocator = allocator};
    base_bytes_init(&text->strings, allocator);
    (void)base_text_copy(text->file, sizeof text->file, file ? file : "(text)");
    text_parser parser = {.text = text, .reporter = reporter};
    if (source_bytes > ECS_TEXT_BYTES_MAX) {
        stop_full(&parser, 1, "bytes in a file", ECS_TEXT_BYTES_MAX);
        return parser.result;
    }
    base_bytes_write_u8(&text->strings, 0); // offset 0 is the empty string
    BASE_ARRAY_RESERVE(allocator, text->nodes, text->node_capacity, 1);
    text->nodes[0] = (ecs_text_node){.is_block = true, .line = 1};
    text->node_count = 1;
    if (!source) return ECS_OK;
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    if (source_bytes >= 3 && memcmp(source, byte_order_mark, 3) == 0) {
        source += 3;
        source_bytes -= 3;
    }
    parser.cursor = (text_cursor){source, source + source_bytes, 1};
    read_file(&parser);
    return parser.result;
}

void ecs_text_deinit(ecs_text* text) {
    BASE_ASSERT(text);
    BASE_ARRAY_RELEASE(text->allocator, text->nodes, text->node_capacity);
    base_bytes_deinit(&text->strings);
    *text = (ecs_text){.allocator = text->allocator};
}

bool ecs_text_is_import(const ecs_text* text, const ecs_text_node* node) {
    BASE_ASSERT(text && node);
    const char* name = ecs_text_string(text, node->name);
    return !node->is_block && (strcmp(name, "import") == 0 || strcmp(name, "import_optional") == 0);
}

const char* ecs_text_string(const ecs_text* text, uint32_t offset) {
    BASE_ASSERT(offset < text->strings.size);
    return (const char*)text->strings.data + offset;
}
