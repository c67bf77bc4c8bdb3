// SPDX-License-Identifier: MIT
// As much of JSON as the schema of a game has: no escapes but \" and \\.
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 1 << 20, DEPTH_MAX = 16 };

typedef struct parser {
    char* at;
    json* values;
    uint32_t count;
    bool failed;
} parser;

typedef struct document {
    json root; // first: the address of a root is that of its document
    char text[BYTES_MAX];
    json values[BYTES_MAX / 4];
} document;

static void skip_spaces(parser* p) {
    p->at += strspn(p->at, " \n\t\r");
}

// Take a text at its first quote. Its end replaces the closing quote.
static const char* take_text(parser* p) {
    char *begin = ++p->at, *to = begin;
    for (; *p->at && *p->at != '"'; p->at++) {
        if (*p->at == '\\') p->at++;
        *to++ = *p->at;
    }
    p->failed |= *p->at != '"';
    if (*p->at) p->at++;
    *to = 0;
    return begin;
}

static void take_value(parser* p, json* value, uint32_t depth);

static void take_members(parser* p, json* of, char end, uint32_t depth) {
    json** last = &of->first;
    p->at++;
    for (skip_spaces(p); *p->at && *p->at != end && !p->failed; skip_spaces(p)) {
        json* member = *last = &p->values[p->count++];
        last = &member->next;
        if (end == '}') {
            p->failed |= *p->at != '"';
            member->key = take_text(p);
            skip_spaces(p);
            p->failed |= *p->at++ != ':';
        }
        take_value(p, member, depth + 1);
        skip_spaces(p);
        if (*p->at == ',') p->at++;
    }
    p->failed |= *p->at != end;
    if (*p->at) p->at++;
}

static void take_value(parser* p, json* value, uint32_t depth) {
    skip_spaces(p);
    value->text = "";
    if (!value->key) value->key = "";
    p->failed |= depth > DEPTH_MAX || p->count + 1 >= BYTES_MAX / 4;
    if (p->failed) return;
    if (*p->at == '"') {
        value->text = take_text(p);
    } else if (*p->at == '{' || *p->at == '[') {
        take_members(p, value, *p->at == '{' ? '}' : ']', depth);
    } else {
        value->text = p->at; // a number or a word, up to a character that is none of it
        p->failed |= strcspn(p->at, ",]} \n\t\r") == 0;
        p->at += strcspn(p->at, ",]} \n\t\r");
    }
}

json* json_read(const char* path) {
    FILE* file = fopen(path, "r");
    document* made = calloc(1, sizeof *made);
    if (!made) abort();
    if (file) {
        (void)!fread(made->text, 1, sizeof made->text - 1, file);
        fclose(file);
    }
    parser p = {.at = made->text, .values = made->values};
    take_value(&p, &made->root, 0);
    if (!p.failed && made->root.first) return &made->root;
    free(made);
    return NULL;
}

void json_free(json* root) {
    free(root);
}

const json* json_get(const json* of, const char* key) {
    for (const json* member = of->first; member; member = member->next)
        if (strcmp(member->key, key) == 0) return member;
    fprintf(stderr, "the schema lacks %s\n", key);
    abort();
}

const char* json_text(const json* of, const char* key) {
    return json_get(of, key)->text;
}

double json_number(const json* of, const char* key) {
    return strtod(json_text(of, key), NULL);
}

uint64_t json_whole(const json* of, const char* key) {
    return strtoull(json_text(of, key), NULL, 10);
}

bool json_is_true(const json* of, const char* key) {
    return strncmp(json_text(of, key), "true", 4) == 0;
}

uint32_t json_count(const json* of, const char* key) {
    uint32_t count = 0;
    for (const json* member = json_get(of, key)->first; member; member = member->next)
        count++;
    return count;
}
