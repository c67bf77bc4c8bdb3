// SPDX-License-Identifier: MIT
// VARSIZE.md: the bytes of a value become a tree. The tree is printed in
// the notation of the page's vectors, and written to bytes again.
#include "conform.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T_TEXT = 17, T_EID = 18, T_LIST = 19, T_ARRAY = 38, T_OBJECT = 39, TYPES };
enum { TEXT_MAX = 4096, CHILDREN_MAX = 16384, DEPTH_MAX = 8, NAME_MAX_BYTES = 127 };

/// Types 1 to 18: how many numbers of which size, and how a number is printed.
static const struct plain_type {
    const char* name;
    uint32_t count, bytes;
    char print; ///< b: yes or no, i: signed, u: unsigned, r: real, e: handle
} plain[] = {{0},
             {"b", 1, 1, 'b'},
             {"i", 1, 4, 'i'},
             {"i64", 1, 8, 'i'},
             {"u8", 1, 1, 'u'},
             {"u16", 1, 2, 'u'},
             {"u32", 1, 4, 'u'},
             {"u64", 1, 8, 'u'},
             {"r", 1, 4, 'r'},
             {"p2", 2, 4, 'r'},
             {"p3", 3, 4, 'r'},
             {"p4", 4, 4, 'r'},
             {"ip2", 2, 4, 'i'},
             {"ip3", 3, 4, 'i'},
             {"ip4", 4, 4, 'i'},
             {"c", 4, 1, 'u'},
             {"m", 12, 4, 'r'},
             {"t", 0, 0, 0},
             {"eid", 1, 4, 'e'}};

struct cf_varsize {
    uint32_t type;
    uint8_t* bytes; ///< a text, or plain numbers
    size_t size;
    char name[NAME_MAX_BYTES + 1]; ///< name in an object
    struct cf_varsize** children;
    uint32_t count;
};

typedef struct byte_reader {
    const uint8_t* data;
    size_t size, at;
    bool failed;
} byte_reader;

static uint64_t read_varint(byte_reader* reader) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < 10 && reader->at < reader->size; i++) {
        uint8_t byte = reader->data[reader->at++];
        if (i == 9 && byte > 1) break;
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) return value;
    }
    reader->failed = true;
    return 0;
}

static void take_bytes(byte_reader* reader, cf_varsize* value, uint64_t size) {
    if (reader->failed || size > reader->size - reader->at) {
        reader->failed = true;
        return;
    }
    value->size = (size_t)size;
    value->bytes = malloc(value->size + 1);
    if (!value->bytes) abort();
    memcpy(value->bytes, reader->data + reader->at, value->size);
    value->bytes[value->size] = 0;
    reader->at += value->size;
}

static cf_varsize* make(uint32_t type) {
    cf_varsize* value = calloc(1, sizeof *value);
    if (!value) abort();
    value->type = type;
    return value;
}

static void read_value(byte_reader* reader, cf_varsize* value, uint32_t depth);

static void read_name(byte_reader* reader, const cf_varsize* before, cf_varsize* child) {
    uint64_t size = read_varint(reader);
    if (reader->failed || size == 0 || size > NAME_MAX_BYTES || size > reader->size - reader->at) {
        reader->failed = true;
        return;
    }
    memcpy(child->name, reader->data + reader->at, (size_t)size);
    reader->at += (size_t)size;
    if (strlen(child->name) != size || (before && strcmp(before->name, child->name) >= 0))
        reader->failed = true;
}

static void read_children(byte_reader* reader, cf_varsize* value, uint32_t depth) {
    uint64_t count = read_varint(reader);
    // Each value takes at least one byte.
    if (count > CHILDREN_MAX || count > reader->size - reader->at || depth == DEPTH_MAX)
        reader->failed = true;
    if (reader->failed) return;
    value->children = calloc((size_t)count + 1, sizeof(cf_varsize*));
    if (!value->children) abort();
    while (value->count < count && !reader->failed) {
        cf_varsize* child = value->children[value->count++] = make(value->type - T_LIST);
        if (value->type == T_OBJECT)
            read_name(reader, value->count > 1 ? value->children[value->count - 2] : NULL, child);
        if (value->type >= T_ARRAY)
            child->type = reader->at < reader->size ? reader->data[reader->at++] : 0;
        if (child->type == 0 || child->type >= TYPES) reader->failed = true;
        if (!reader->failed) read_value(reader, child, depth + 1);
    }
}

static void read_value(byte_reader* reader, cf_varsize* value, uint32_t depth) {
    if (value->type >= T_LIST) {
        read_children(reader, value, depth);
    } else if (value->type == T_TEXT) {
        uint64_t size = read_varint(reader);
        if (size > TEXT_MAX) reader->failed = true;
        take_bytes(reader, value, size);
        if (value->bytes && memchr(value->bytes, 0, value->size)) reader->failed = true;
    } else {
        take_bytes(reader, value, plain[value->type].count * plain[value->type].bytes);
        if (value->type == 1 && value->bytes && value->bytes[0] > 1) reader->failed = true;
    }
}

static bool find_type(const char* name, uint32_t* type) {
    char inner[32];
    for (*type = 1; *type < T_LIST; (*type)++)
        if (strcmp(plain[*type].name, name) == 0) return true;
    *type = strcmp(name, "array") == 0 ? T_ARRAY : T_OBJECT;
    if (*type == T_ARRAY || strcmp(name, "object") == 0) return true;
    if (sscanf(name, "list<%31[^>]>", inner) != 1 || !find_type(inner, type)) return false;
    *type += T_LIST;
    return *type < T_ARRAY;
}

cf_varsize* varsize_read(const char* type_name, const uint8_t* bytes, size_t size) {
    byte_reader reader = {.data = bytes, .size = size};
    uint32_t type;
    if (!find_type(type_name, &type)) return NULL;
    cf_varsize* value = make(type);
    read_value(&reader, value, 0);
    if (!reader.failed && reader.at == size) return value;
    varsize_destroy(value);
    return NULL;
}

void varsize_destroy(cf_varsize* value) {
    for (uint32_t i = 0; i < value->count; i++)
        varsize_destroy(value->children[i]);
    free(value->children);
    free(value->bytes);
    free(value);
}

// ---- writing bytes ----

static void put(uint8_t** at, const void* bytes, size_t size) {
    memcpy(*at, bytes, size);
    *at += size;
}

static void put_varint(uint8_t** at, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        *(*at)++ = (uint8_t)(value | 0x80);
    *(*at)++ = (uint8_t)value;
}

static void write_value(const cf_varsize* value, uint8_t** at) {
    if (value->type == T_TEXT) put_varint(at, value->size);
    if (value->type < T_LIST) put(at, value->bytes, value->size);
    if (value->type >= T_LIST) put_varint(at, value->count);
    for (uint32_t i = 0; i < value->count; i++) {
        const cf_varsize* child = value->children[i];
        if (value->type == T_OBJECT) put_varint(at, strlen(child->name));
        if (value->type == T_OBJECT) put(at, child->name, strlen(child->name));
        if (value->type >= T_ARRAY) *(*at)++ = (uint8_t)child->type;
        write_value(child, at);
    }
}

size_t varsize_write(const cf_varsize* value, uint8_t* bytes) {
    uint8_t* at = bytes;
    write_value(value, &at);
    return (size_t)(at - bytes);
}

// ---- the page's notation ----

static void add(char** at, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    *at += vsprintf(*at, format, arguments);
    va_end(arguments);
}

static void print_number(const struct plain_type* type, const uint8_t* bytes, char** at) {
    uint64_t number = 0;
    float real;
    memcpy(&number, bytes, type->bytes);
    memcpy(&real, bytes, type->bytes < sizeof real ? type->bytes : sizeof real);
    uint32_t unused = 64 - 8 * type->bytes;
    if (type->print == 'b')
        add(at, "%s", number ? "yes" : "no");
    else if (type->print == 'i')
        add(at, "%" PRId64, (int64_t)(number << unused) >> unused);
    else if (type->print == 'r')
        add(at, "%.9g", (double)real);
    else if (type->print == 'e')
        add(at, "%" PRIu64 ":%" PRIu64, number & 0x3fffff, number >> 22);
    else
        add(at, "%" PRIu64, number);
}

static void print_type(uint32_t type, char** at) {
    if (type < T_LIST)
        add(at, "%s=", plain[type].name);
    else if (type < T_ARRAY)
        add(at, "list<%s>=", plain[type - T_LIST].name);
    else
        add(at, "%s=", type == T_ARRAY ? "array" : "object");
}

static void print_value(const cf_varsize* value, char** at) {
    static const char *const opens[] = {"[", "[", "{"}, *const closes[] = {"]", "]", "}"};
    if (value->type < T_LIST && value->type != T_TEXT) {
        const struct plain_type* type = &plain[value->type];
        for (uint32_t i = 0; i < type->count; i++) {
            if (i > 0) add(at, ",");
            print_number(type, value->bytes + i * type->bytes, at);
        }
        return;
    }
    if (value->type == T_TEXT) {
        add(at, "\"");
        for (size_t i = 0; i < value->size; i++)
            add(at, value->bytes[i] > 0x20 && value->bytes[i] < 0x7f ? "%c" : "\\x%02x",
                value->bytes[i]);
        add(at, "\"");
        return;
    }
    int form = value->type == T_OBJECT ? 2 : value->type == T_ARRAY;
    add(at, "%s", opens[form]);
    for (uint32_t i = 0; i < value->count; i++) {
        const cf_varsize* child = value->children[i];
        if (i > 0) add(at, ";");
        if (form == 2) add(at, "%s:", child->name);
        if (form > 0) print_type(child->type, at);
        print_value(child, at);
    }
    add(at, "%s", closes[form]);
}

void varsize_print(const cf_varsize* value, char* text) {
    *text = 0;
    print_value(value, &text);
}
