// SPDX-License-Identifier: MIT
// The grammar of a datablock, read in one pass into an array of nodes:
//
//   file      = { statement [";"] }
//   statement = name ":" type "=" value        a parameter
//             | name [":" type] "{" file "}"   a block; "name:type" may be quoted as a whole
//
// Open blocks are on a fixed stack; there is no recursion. After a fault the parser continues
// behind the statement. A block with a faulty head gets the empty name, so that its braces still
// match and faults inside it are found in the same run.
#include "text/datablock.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

typedef struct text_parser {
    ecs_text* text;
    const base_reporter* reporter;
    ecs_text_cursor cursor;
    uint32_t open[ECS_TEXT_DEPTH_MAX + 1];       ///< nodes; [0] is the file
    uint32_t child_last[ECS_TEXT_DEPTH_MAX + 1]; ///< last child of each
    uint32_t depth;
    uint32_t item_count;
    ecs_result result;
    bool is_over; ///< a limit is reached or memory ran out: no more statements
} text_parser;

static void fail(text_parser* parser, uint32_t line, const char* message, const char* detail) {
    base_report(parser->reporter, parser->text->file, line, message, detail);
    if (parser->result == ECS_OK) parser->result = ECS_ERR_SYNTAX;
}

static void fail_fault(text_parser* parser, ecs_text_fault fault) {
    base_report(parser->reporter, parser->text->file, fault.line, "%s", fault.message);
    if (parser->result == ECS_OK) parser->result = ECS_ERR_SYNTAX;
}

static void stop_full(text_parser* parser, uint32_t line, const char* what, uint32_t limit) {
    base_report(parser->reporter, parser->text->file, line, "more than %u %s", limit, what);
    parser->result = ECS_ERR_FULL;
    parser->is_over = true;
}

static void stop_memory(text_parser* parser) {
    parser->result = ECS_ERR_MEMORY;
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
    if (parser->text->strings.failed) {
        stop_memory(parser);
        return 0;
    }
    return offset;
}

// @return 0 when memory ran out.
static uint32_t add_node(text_parser* parser, ecs_text_node node) {
    ecs_text* text = parser->text;
    if (!BASE_ARRAY_RESERVE(text->allocator, text->nodes, text->node_capacity,
                            text->node_count + 1)) {
        stop_memory(parser);
        return 0;
    }
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

static uint32_t offset_of(const text_parser* parser) {
    return (uint32_t)(parser->cursor.at - parser->text->source);
}

// The cursor stands behind the {.
static void open_block(text_parser* parser, ecs_text_node node) {
    node.is_block = true;
    node.begin = offset_of(parser) - 1;
    node.end = node.begin + 1;
    if (parser->depth == ECS_TEXT_DEPTH_MAX) {
        stop_full(parser, node.line, "blocks inside one another", ECS_TEXT_DEPTH_MAX);
        return;
    }
    uint32_t index = add_node(parser, node);
    if (index == 0) return;
    parser->depth++;
    parser->open[parser->depth] = index;
    parser->child_last[parser->depth] = 0;
}

// Read what may follow a name: ":type". @return false after a fault.
static bool read_type(text_parser* parser, ecs_text_node* node) {
    base_bytes* strings = &parser->text->strings;
    ecs_text_cursor* cursor = &parser->cursor;
    ecs_text_fault fault = ecs_text_skip(cursor, false);
    if (fault.message) {
        fail_fault(parser, fault);
        return false;
    }
    if (cursor->at == cursor->end || *cursor->at != ':') return !parser->is_over;
    cursor->at++;
    fault = ecs_text_skip(cursor, false);
    if (fault.message) {
        fail_fault(parser, fault);
        return false;
    }
    uint32_t type = string_begin(parser);
    ecs_text_read_word(cursor, true, strings);
    node->type = string_end(parser, type);
    if (parser->is_over) return false;
    if (strings->data[type] != 0) return true;
    fail(parser, cursor->line, "'%s:' needs a type", ecs_text_string(parser->text, node->name));
    return false;
}

// Read name, "name:type", "name":type or name:type. @return false after a fault; then the node may
// have no name.
static bool read_head(text_parser* parser, ecs_text_node* node) {
    base_bytes* strings = &parser->text->strings;
    ecs_text_cursor* cursor = &parser->cursor;
    uint32_t name = string_begin(parser);
    if (*cursor->at == '"' || *cursor->at == '\'') {
        ecs_text_fault fault = ecs_text_read_quoted(cursor, strings);
        if (fault.message) {
            fail_fault(parser, fault);
            strings->size = name;
            return false;
        }
        node->name = string_end(parser, name);
        if (parser->is_over) return false;
        char* colon = strchr((char*)strings->data + name, ':');
        if (!colon) return read_type(parser, node);
        *colon++ = '\0';
        colon += strspn(colon, " \t");
        node->type = (uint32_t)(colon - (char*)strings->data);
        return true;
    }
    ecs_text_read_word(cursor, false, strings);
    node->name = string_end(parser, name);
    return !parser->is_over && read_type(parser, node);
}

static void read_parameter(text_parser* parser, ecs_text_node* node) {
    parser->cursor.at++;
    const char* name = ecs_text_string(parser->text, node->name);
    if (*ecs_text_string(parser->text, node->type) == '\0') {
        fail(parser, node->line, "parameter '%s' needs a type, as in name:type=value", name);
        ecs_text_recover(&parser->cursor);
        return;
    }
    uint32_t value = string_begin(parser);
    ecs_text_fault fault = ecs_text_read_value(&parser->cursor, &parser->text->strings);
    node->value = string_end(parser, value);
    if (parser->is_over) return;
    if (fault.message) {
        fail_fault(parser, fault);
        ecs_text_recover(&parser->cursor);
        return;
    }
    const ecs_text_cursor* cursor = &parser->cursor;
    char behind = cursor->at < cursor->end ? *cursor->at : '\n';
    char before = cursor->at[-1];
    bool is_apart = strchr("; }\n\t\r/", behind) != NULL || before == ' ' || before == '\t' ||
                    before == '\r' || before == '/';
    if (behind == '\0' || !is_apart) {
        fail(parser, cursor->line, "the value of '%s' does not end here: quote it or add a ;",
             ecs_text_string(parser->text, node->name));
        ecs_text_recover(&parser->cursor);
        return;
    }
    (void)add_node(parser, *node);
}

static void read_statement(text_parser* parser) {
    ecs_text_cursor* cursor = &parser->cursor;
    ecs_text_node node = {.line = cursor->line};
    if (!count_item(parser)) return;
    char first = *cursor->at;
    if (first == '{') {
        fail(parser, node.line, "a block needs a name%s", "");
        cursor->at++;
        open_block(parser, node);
        return;
    }
    if (!ecs_text_is_word(first) && first != '"' && first != '\'') {
        char shown[8] = {first};
        if ((unsigned char)first < 0x20 || (unsigned char)first >= 0x7F)
            (void)base_text_format(shown, sizeof shown, "\\x%02x", (unsigned char)first);
        fail(parser, node.line, "a name was expected here, not '%s'", shown);
        cursor->at++;
        ecs_text_recover(cursor);
    } else if (read_head(parser, &node)) {
        ecs_text_cursor head_end = *cursor;
        ecs_text_fault fault = ecs_text_skip(cursor, true);
        if (fault.message) {
            fail_fault(parser, fault);
        } else if (cursor->at < cursor->end && *cursor->at == '=') {
            read_parameter(parser, &node);
            return;
        } else if (cursor->at < cursor->end && *cursor->at == '{') {
            cursor->at++;
            open_block(parser, node);
            return;
        } else {
            *cursor = head_end;
            fail(parser, node.line, "'%s' needs '=' and a value, or a block in { }",
                 ecs_text_string(parser->text, node.name));
            ecs_text_recover(cursor);
        }
    } else if (!parser->is_over) {
        ecs_text_recover(cursor);
    }
    // The head of the block is faulty; its content is checked nevertheless.
    if (!parser->is_over && cursor->at < cursor->end && *cursor->at == '{') {
        cursor->at++;
        open_block(parser, (ecs_text_node){.line = node.line});
    }
}

static void read_file(text_parser* parser) {
    ecs_text_cursor* cursor = &parser->cursor;
    while (!parser->is_over) {
        ecs_text_fault fault = ecs_text_skip(cursor, true);
        if (fault.message) {
            fail_fault(parser, fault);
            continue;
        }
        if (cursor->at == cursor->end) break;
        if (*cursor->at == ';') {
            cursor->at++;
        } else if (*cursor->at == '}') {
            cursor->at++;
            if (parser->depth > 0)
                parser->text->nodes[parser->open[parser->depth--]].end = offset_of(parser);
            else if (count_item(parser))
                fail(parser, cursor->line, "this } closes no block%s", "");
        } else {
            read_statement(parser);
        }
    }
    for (uint32_t depth = parser->is_over ? 0 : parser->depth; depth > 0; depth--) {
        const ecs_text_node* node = &parser->text->nodes[parser->open[depth]];
        fail(parser, node->line, "block '%s' is never closed: } is missing",
             ecs_text_string(parser->text, node->name));
    }
}

ecs_result ecs_text_parse(ecs_text* text, const base_allocator* allocator, const char* file,
                          const char* source, size_t source_bytes, const base_reporter* reporter) {
    BASE_ASSERT(text && (source || source_bytes == 0));
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
    if (text->strings.failed || !BASE_ARRAY_RESERVE(allocator, text->nodes, text->node_capacity, 1))
        return ECS_ERR_MEMORY;
    text->nodes[0] = (ecs_text_node){.is_block = true, .line = 1};
    text->node_count = 1;
    if (!source) return ECS_OK;
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    if (source_bytes >= 3 && memcmp(source, byte_order_mark, 3) == 0) {
        source += 3;
        source_bytes -= 3;
    }
    text->source = source;
    parser.cursor = (ecs_text_cursor){source, source + source_bytes, 1};
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
