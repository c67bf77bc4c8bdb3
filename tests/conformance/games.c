// SPDX-License-Identifier: MIT
// The tables of the page's vectors, written by a person from the templates there, and those of a
// game from its schema as JSON. The client knows no game: it packs inputs and events by what the
// schema says.
#include "games.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- as much of JSON as the schema of a game has: no escapes but \" and \\ ----

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

static json* json_read(const char* path) {
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

static uint32_t json_count(const json* of, const char* key) {
    uint32_t count = 0;
    for (const json* member = json_get(of, key)->first; member; member = member->next)
        count++;
    return count;
}

// ---- types of the vectors ----

static const type_row type_b = {"b", {{"value", K_BOOL, 1}}};
static const type_row type_u8 = {"u8", {{"value", K_U8, 1}}};
static const type_row type_u16 = {"u16", {{"value", K_U16, 1}}};
static const type_row type_r = {"r", {{"value", K_F32, 1}}};
static const type_row type_eid = {"eid", {{"value", K_ENTITY, 1}}};
static const type_row type_tag = {"tag", {{0}}};
static const type_row type_p2 = {"p2", {{"x", K_F32, 1}, {"y", K_F32, 1}}};
static const type_row type_p3 = {"p3", {{"x", K_F32, 1}, {"y", K_F32, 1}, {"z", K_F32, 1}}};
static const type_row type_p4 = {
    "p4", {{"x", K_F32, 1}, {"y", K_F32, 1}, {"z", K_F32, 1}, {"w", K_F32, 1}}};
static const type_row type_c = {"c",
                                {{"r", K_U8, 1}, {"g", K_U8, 1}, {"b", K_U8, 1}, {"a", K_U8, 1}}};

#define REAL(own_name, own_type, low, high, one)                                                   \
    .name = own_name, .type = &own_type, .min = low, .max = high, .step = one

// ---- the page's vectors ----

static const template_table vectors[] = {
    {"dot",
     false,
     {{REAL("at", type_p2, -8, 7.9375, 0.0625), .values = {1, 2}},
      {.name = "marked", .type = &type_tag}}},
    {"lamp",
     false,
     {{REAL("at", type_p2, -8, 7.9375, 0.0625)},
      {.name = "lit", .type = &type_b},
      {.name = "power", .type = &type_u16, .values = {300}}}},
    {"sky", true, {{.name = "tint", .type = &type_c, .values = {10, 20, 30, 255}}}},
    {0},
};

// Those of the recorded session in solo code.
static const template_table solo[] = {
    {"crowd",
     false,
     {{.name = "owner", .type = &type_eid}, {REAL("walk", type_p2, -64, 63.96875, 0.03125)}}},
    {"ship",
     false,
     {{REAL("at", type_p2, -64, 63.96875, 0.03125), .integral = "speed"},
      {.name = "hull", .type = &type_u8, .bits = 7, .values = {100}},
      {.name = "load", .type = &type_u16, .values = {300}},
      {REAL("speed", type_p2, -16, 15.9375, 0.0625)}}},
    {"stone",
     false,
     {{.name = "heat", .type = &type_r, .values = {1}, .is_exact = true},
      {REAL("place", type_p3, -128, 127.984375, 0.015625)},
      {.name = "turn", .type = &type_p4, .values = {0, 0, 0, 1}, .bits = 9, .is_rotation = true}}},
    {0},
};

// Those of the session with elastic floats.
static const template_table elastic[] = {
    {"kite",
     false,
     {{.name = "drag", .type = &type_r, .values = {0.5}},
      {.name = "place", .type = &type_p3},
      {.name = "size", .type = &type_p2, .values = {1, 1}}}},
    {"weight",
     false,
     {{.name = "load", .type = &type_u16, .values = {300}},
      {.name = "mass", .type = &type_r, .values = {2.5}},
      {.name = "place", .type = &type_p3}}},
    {0},
};

// Those of VARSIZE.md.
static const template_table values[] = {
    {"note", false, {{REAL("at", type_p2, -8, 7.9375, 0.0625), .values = {1, 2}}}},
    {"sign", false, {{REAL("at", type_p2, -8, 7.9375, 0.0625), .values = {1, 2}}}},
    {0},
};
static const varsize_row value_rows[] = {{"note", "tags", "list<i>"},
                                         {"note", "title", "t"},
                                         {"sign", "lines", "list<t>"},
                                         {"sign", "title", "t"},
                                         {0}};

static const game_tables tables[] = {
    {.name = "vectors", .templates = vectors},
    {.name = "solo", .templates = solo},
    {.name = "elastic", .templates = elastic},
    {.name = "values", .templates = values, .varsizes = value_rows}};

const game_tables* game_find(const char* name) {
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (strcmp(tables[i].name, name) == 0) return &tables[i];
    return NULL;
}

// ---- a game ----

static void* make(size_t count, size_t size) {
    void* made = calloc(count + 1, size); // the last one has no name
    if (!made) abort();
    return made;
}

static type_row* read_types(const json* types, uint32_t count) {
    type_row* made = make(count, sizeof *made);
    for (type_row* to = made; types; types = types->next, to++) {
        to->name = json_text(types, "name");
        uint32_t f = 0;
        for (const json* at = json_get(types, "fields")->first; at && f < FIELDS_MAX; at = at->next)
            to->fields[f++] = (field_row){.name = json_text(at, "name"),
                                          .kind = (int)json_number(at, "number"),
                                          .count = (uint32_t)json_number(at, "count")};
    }
    return made;
}

static const type_row* find_type(const game_tables* game, const char* name) {
    const type_row* at = game->types;
    while (at->name && strcmp(at->name, name) != 0)
        at++;
    if (!at->name) abort();
    return at;
}

static void read_template(const game_tables* game, const json* of, template_table* to,
                          varsize_row** varsize) {
    to->name = json_text(of, "name");
    to->is_singleton = json_is_true(of, "singleton");
    uint32_t c = 0;
    for (const json* at = json_get(of, "components")->first; at && c < COMPONENTS; at = at->next) {
        const char* integral = json_text(at, "integral_of");
        to->components[c++] = (component_row){.name = json_text(at, "name"),
                                              .type = find_type(game, json_text(at, "type")),
                                              .integral = *integral ? integral : NULL,
                                              .is_rotation = json_is_true(at, "rotation"),
                                              .states_default = json_is_true(at, "states_default"),
                                              .states_words = json_is_true(at, "states_words"),
                                              .words = json_get(at, "words")->first};
    }
    for (const json* at = json_get(of, "varsizes")->first; at; at = at->next)
        *(*varsize)++ = (varsize_row){to->name, json_text(at, "name"), json_text(at, "type")};
}

static void read_message(const json* of, message_row* to) {
    const char* kind = json_text(of, "kind");
    to->name = json_text(of, "name");
    to->kind = strcmp(kind, "input") == 0 ? 0 : strcmp(kind, "to_server") == 0 ? 1 : 2;
    to->is_reliable = json_is_true(of, "reliable");
    to->is_without = json_is_true(of, "alone");
    to->descriptor_hash = strtoull(json_text(of, "descriptor"), NULL, 16);
    to->fields = json_get(of, "protobuf_fields")->first;
    to->entities = json_get(of, "fields")->first;
}

game_tables* game_read(const char* path) {
    json* root = json_read(path);
    if (!root) return NULL;
    game_tables* game = make(1, sizeof *game);
    uint32_t count = json_count(root, "templates");
    template_table* templates = make(count, sizeof *templates);
    varsize_row* varsizes = make((size_t)count * VARSIZES_MAX, sizeof *varsizes);
    varsize_row* varsize = varsizes;
    game->root = root;
    game->name = json_text(root, "game");
    game->types = read_types(json_get(root, "types")->first, json_count(root, "types"));
    game->templates = templates;
    game->varsizes = varsizes;
    for (const json* at = json_get(root, "templates")->first; at; at = at->next)
        read_template(game, at, templates++, &varsize);
    message_row* messages = make(json_count(root, "messages"), sizeof *messages);
    game->messages = messages;
    for (const json* at = json_get(root, "messages")->first; at; at = at->next)
        read_message(at, &messages[game->message_count++]);
    return game;
}

void game_free(game_tables* game) {
    if (!game) return;
    free(game->root);
    free((void*)(uintptr_t)game->types);
    free((void*)(uintptr_t)game->templates);
    free((void*)(uintptr_t)game->varsizes);
    free((void*)(uintptr_t)game->messages);
    free(game);
}

// ---- messages ----

static size_t write_varint(uint8_t* to, uint64_t value) {
    size_t size = 0;
    for (; value > 127; value >>= 7)
        to[size++] = (uint8_t)(value | 128);
    to[size++] = (uint8_t)value;
    return size;
}

// Numbers that differ from input to input, as proto3 packs them: a default has no bytes.
size_t message_make(const message_row* message, uint32_t number, uint8_t* bytes) {
    static const int8_t ways[8] = {127, 90, 0, -90, -127, -90, 0, 90};
    size_t size = 0;
    uint32_t i = 0;
    for (const json* field = message->fields; field; field = field->next, i++) {
        const char* type = json_text(field, "type");
        uint32_t id = (uint32_t)json_number(field, "id");
        int64_t way = ways[(number / 30 + 6 * i) % 8];
        uint64_t value = message->kind == 0 ? number * 8 % 4096 : 2;
        if (strcmp(type, "bool") == 0) value = number % (8 + 23 * (i % 2)) == 0;
        if (strcmp(type, "sint32") == 0) value = (uint64_t)(way * 2) ^ (uint64_t)(way >> 63);
        bool is_known =
            strcmp(type, "bool") == 0 || strcmp(type, "sint32") == 0 || strcmp(type, "uint32") == 0;
        if (!is_known || value == 0) continue;
        size += write_varint(bytes + size, id << 3);
        size += write_varint(bytes + size, value);
    }
    return size;
}

static bool read_varint(const uint8_t** at, const uint8_t* end, uint64_t* value) {
    *value = 0;
    for (uint32_t shift = 0; *at < end && shift < 64; shift += 7) {
        *value |= (uint64_t)(**at & 127) << shift;
        if (!(*(*at)++ & 128)) return true;
    }
    return false;
}

static uint64_t id_of(const message_row* message, const char* name) {
    for (const json* field = message->fields; field; field = field->next)
        if (strcmp(json_text(field, "name"), name) == 0) return json_whole(field, "id");
    return 0;
}

bool message_read(const message_row* message, const uint8_t* bytes, size_t size, const char* name,
                  uint64_t* found) {
    const uint8_t *at = bytes, *end = bytes + size;
    uint64_t wanted = id_of(message, name), key, value;
    *found = 0;
    while (at < end) {
        if (!read_varint(&at, end, &key)) return false;
        uint32_t wire = key & 7, width = wire == 5 ? 4 : 8;
        if (wire == 0 || wire == 2) {
            if (!read_varint(&at, end, &value)) return false;
            width = wire == 2 ? (uint32_t)value : 0;
        }
        if (wire > 5 || wire == 3 || wire == 4 || width > (size_t)(end - at)) return false;
        for (uint32_t i = 0; wire == 5 && i < width; i++)
            value = (i ? value : 0) | (uint64_t)at[i] << (8 * i);
        at += width;
        if (key >> 3 == wanted && (wire == 0 || wire == 5)) *found = value;
    }
    return true;
}
