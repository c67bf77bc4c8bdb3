// SPDX-License-Identifier: MIT
// What a game declares in C and shoal-esgen completes: the context with its ids and queries, the
// settings, the actions.
//
//     ES_GAME_CONTEXT(tag)
//     typedef struct tag_game {
//         ecs_component_id pos, is_it ES_NAME(it);
//         ecs_query* runners ES_QUERY("pos:p2 !it:tag");
//         tag_settings settings;
//         float anything_else;
//     } tag_game;
//
// The context is read with tolerance: a field of a type that means nothing here is the game's own.
#include "esgen.h"

#include "base/assert.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static esgen_slot* push_slot(esgen_unit* unit, uint32_t line) {
    esgen_game* game = &unit->game;
    if (game->slot_count == ESGEN_SLOTS_MAX) {
        esgen_fault(unit, line, "%s has more than %u fields to fill", game->context.text,
                    ESGEN_SLOTS_MAX);
        return NULL;
    }
    if (!BASE_ARRAY_RESERVE(NULL, game->slots, game->slot_capacity, game->slot_count + 1)) {
        esgen_fault(unit, line, "out of memory");
        return NULL;
    }
    esgen_slot* slot = &game->slots[game->slot_count++];
    memset(slot, 0, sizeof *slot);
    return slot;
}

const esgen_slot* esgen_slot_find(const esgen_game* game, esgen_slot_kind kind, const char* field) {
    for (uint32_t i = 0; i < game->slot_count; i++) {
        const esgen_slot* slot = &game->slots[i];
        if (slot->kind == kind && (!field || strcmp(slot->field.text, field) == 0)) return slot;
    }
    return NULL;
}

// ---- the context ----

// One name of a declaration: "pos", "rect_size ES_NAME(rectSize)", "flags[2] ES_NAME(a, b)".
typedef struct declarator {
    const esgen_word* name;
    bool is_array;
    const esgen_word *mark, *open, *close; // ES_...(...), NULL without
} declarator;

static bool read_declarator(esgen_unit* unit, declarator* one, const esgen_word* first,
                            const esgen_word* end) {
    *one = (declarator){.name = first};
    const esgen_word* at = first + 1;
    while (at < end && !esgen_word_is_annotation(at)) {
        one->is_array |= esgen_word_is(at, "[");
        at++;
    }
    if (at == end) return first < end && first->kind == ESGEN_IDENTIFIER;
    one->mark = at;
    one->open = at + 1;
    one->close = at + 1 < end ? esgen_words_match(at + 1, end) : NULL;
    if (one->close && one->close + 1 == end) return true;
    return esgen_fault(unit, at->line, "%s: one mark with (...) may follow a name",
                       unit->game.context.text);
}

// The names of an array's elements, or the one name.
static void add_ids(esgen_unit* unit, esgen_slot_kind kind, const declarator* one) {
    bool is_named = one->mark && esgen_word_is(one->mark, "ES_NAME");
    if ((one->mark && !is_named) || (one->is_array && !is_named)) {
        esgen_fault(unit, one->name->line, "%s.%.*s: %s", unit->game.context.text,
                    (int)one->name->size, one->name->text,
                    one->mark ? "an id takes ES_NAME(name) alone"
                              : "an array of ids says their names: ES_NAME(a, b)");
        return;
    }
    const esgen_word* first = is_named ? one->open + 1 : one->name;
    const esgen_word* end = is_named ? one->close : one->name + 1;
    uint32_t index = 0;
    for (const esgen_word *at = first, *next; at <= end; at = next + 1) {
        next = esgen_words_item(at, end);
        esgen_slot* slot = push_slot(unit, one->name->line);
        if (!slot || !esgen_name_read(unit, &slot->name, at, next)) return;
        slot->kind = kind;
        bool fits = base_text_format(slot->field.text, sizeof slot->field.text,
                                     one->is_array ? "%.*s[%u]" : "%.*s", (int)one->name->size,
                                     one->name->text, index++);
        if (!fits) esgen_fault(unit, one->name->line, "a name is too long");
    }
    if (!one->is_array && index != 1)
        esgen_fault(unit, one->name->line, "%s.%.*s is one id and has %u names",
                    unit->game.context.text, (int)one->name->size, one->name->text, index);
}

// "pos:p2 vel:p2 !dead:tag ?hits:i"
static void add_terms(esgen_unit* unit, esgen_slot* slot, const declarator* one) {
    esgen_text text;
    bool is_right = one->close - one->open == 2 && one->open[1].kind == ESGEN_STRING &&
                    esgen_words_join(one->open + 1, one->close, text.text, sizeof text.text);
    for (char* at = text.text; is_right && *at;) {
        size_t size = strcspn(at, " ");
        if (size > 0) {
            is_right = slot->terms.count < ESGEN_TERMS_MAX &&
                       base_text_format(slot->terms.items[slot->terms.count].text,
                                        ESGEN_NAME_BYTES_MAX, "%.*s", (int)size, at) &&
                       strchr(slot->terms.items[slot->terms.count++].text, ':');
        }
        at += size + (at[size] == ' ');
    }
    if (is_right && slot->terms.count) return;
    esgen_fault(unit, one->mark->line,
                "ES_QUERY takes one text of up to %u components as name:type, below %u bytes; '!' "
                "before one that must be missing, '?' before one that may be",
                ESGEN_TERMS_MAX, ESGEN_TEXT_BYTES_MAX);
}

static void add_one(esgen_unit* unit, esgen_slot_kind kind, const char* mark,
                    const esgen_word* type, const declarator* one) {
    if (one->mark && !(mark && esgen_word_is(one->mark, mark))) {
        esgen_fault(unit, one->mark->line, "%.*s does not belong here", (int)one->mark->size,
                    one->mark->text);
        return;
    }
    esgen_slot* slot = push_slot(unit, one->name->line);
    if (!slot || !esgen_name_read(unit, &slot->field, one->name, one->name + 1)) return;
    slot->kind = kind;
    slot->is_quant = esgen_word_is(type, "ecs_quant");
    if (!one->mark) return;
    const esgen_word* comma = esgen_words_item(one->open + 1, one->close);
    if (kind == ESGEN_SLOT_QUERY)
        add_terms(unit, slot, one);
    else if ((kind == ESGEN_SLOT_STEP || kind == ESGEN_SLOT_VALUE) && comma < one->close)
        (void)(esgen_name_read(unit, &slot->name, one->open + 1, comma) &&
               esgen_name_read(unit, &slot->terms.items[0], comma + 1, one->close) &&
               esgen_name_read(unit, &slot->type, type, type + 1));
    else if (kind == ESGEN_SLOT_STEP || kind == ESGEN_SLOT_VALUE)
        esgen_fault(unit, one->mark->line, "%s takes (template, component)%s", mark,
                    kind == ESGEN_SLOT_STEP ? ", or (template, component.field)" : "");
    else
        (void)esgen_name_read(unit, &slot->name, one->open + 1, one->close);
}

static void add_slot(esgen_unit* unit, const esgen_word* type, bool is_pointer,
                     const declarator* one) {
    const char* settings = unit->game.settings ? unit->game.settings->c_type.text : "";
    if (is_pointer) {
        if (esgen_word_is(type, "ecs_query"))
            add_one(unit, ESGEN_SLOT_QUERY, "ES_QUERY", type, one);
        else if (esgen_word_is(type, "net_game_services") && esgen_word_is(one->name, "services"))
            add_one(unit, ESGEN_SLOT_SERVICES, NULL, type, one);
        else if (one->mark)
            add_one(unit, ESGEN_SLOT_MEMORY, "ES_IF_TAG", type, one);
        return;
    }
    if (one->mark && esgen_word_is(one->mark, "ES_VALUE"))
        add_one(unit, ESGEN_SLOT_VALUE, "ES_VALUE", type, one);
    else if (esgen_word_is(type, "ecs_component_id"))
        add_ids(unit, ESGEN_SLOT_COMPONENT, one);
    else if (esgen_word_is(type, "ecs_template_id"))
        add_ids(unit, ESGEN_SLOT_TEMPLATE, one);
    else if (esgen_word_is(type, "ecs_event_type"))
        add_ids(unit, ESGEN_SLOT_EVENT, one);
    else if ((esgen_word_is(type, "float") || esgen_word_is(type, "ecs_quant")) && one->mark)
        add_one(unit, ESGEN_SLOT_STEP, "ES_STEP", type, one);
    else if (esgen_word_is(type, "bool") && one->mark)
        add_one(unit, ESGEN_SLOT_TAG, "ES_IF_TAG", type, one);
    else if (settings[0] && esgen_word_is(type, settings))
        add_one(unit, ESGEN_SLOT_SETTINGS, NULL, type, one);
    else if (esgen_word_is(type, "uint32_t") && esgen_word_is(one->name, "tick_rate_hz"))
        add_one(unit, ESGEN_SLOT_RATE, NULL, type, one);
    else if (esgen_word_is(type, "float") && esgen_word_is(one->name, "dt"))
        add_one(unit, ESGEN_SLOT_DT, NULL, type, one);
}

// One declaration without its ';'. Of those that are the game's own nothing is asked.
static void read_declaration(esgen_unit* unit, const esgen_word* first, const esgen_word* end) {
    static const char* const filled[] = {
        "ecs_component_id", "ecs_template_id",   "ecs_event_type", "ecs_query", "bool",
        "uint32_t",         "net_game_services", "float",          "ecs_quant"};
    while (first < end && (esgen_word_is(first, "const") || esgen_word_is(first, "struct")))
        first++;
    const esgen_struct* settings = unit->game.settings;
    bool is_known = settings && esgen_word_is(first, settings->c_type.text);
    for (uint32_t i = 0; i < BASE_COUNT(filled); i++)
        is_known |= esgen_word_is(first, filled[i]);
    for (const esgen_word* at = first; at < end; at++) // of a type of the game's own
        is_known |= esgen_word_is(at, "ES_VALUE") || esgen_word_is(at, "ES_IF_TAG");
    if (!is_known) return;
    for (const esgen_word *at = first + 1, *next; at <= end; at = next + 1) {
        next = esgen_words_item(at, end);
        bool is_pointer = at < next && esgen_word_is(at, "*");
        declarator one;
        if (at + is_pointer < next && read_declarator(unit, &one, at + is_pointer, next))
            add_slot(unit, first, is_pointer, &one);
    }
}

static const esgen_word* read_context(esgen_unit* unit, const esgen_word* at, const esgen_word* end,
                                      bool is_here) {
    esgen_game* game = &unit->game;
    const esgen_word* close = at + 1 < end ? esgen_words_match(at + 1, end) : NULL;
    if (!close || game->name.text[0]) {
        esgen_fault(unit, at->line,
                    close ? "a file has one ES_GAME_CONTEXT, with its headers"
                          : "ES_GAME_CONTEXT takes the name of the game");
        return at + 1;
    }
    const esgen_word* body_end;
    const esgen_word* open = NULL;
    if (esgen_name_read(unit, &game->name, at + 2, close))
        open = esgen_typedef_find(unit, at->line, close + 1, end, "struct",
                                  "ES_GAME_CONTEXT belongs", &game->context, &body_end);
    if (!open) return close + 1;
    game->is_context_here = is_here;
    const esgen_word* first = open + 1;
    uint32_t depth = 0;
    for (const esgen_word* word = first; word < body_end; word++) {
        depth += esgen_word_is(word, "{");
        depth -= esgen_word_is(word, "}");
        if (depth > 0 || !esgen_word_is(word, ";")) continue;
        read_declaration(unit, first, word);
        first = word + 1;
    }
    return body_end;
}

// ---- settings and actions ----

static const esgen_word* read_settings(esgen_unit* unit, const esgen_word* at,
                                       const esgen_word* end) {
    esgen_game* game = &unit->game;
    esgen_struct* made = game->settings ? NULL : calloc(1, sizeof *made);
    if (!made) {
        esgen_fault(unit, at->line,
                    game->settings ? "a game has one ES_SETTINGS" : "out of memory");
        return at + 1;
    }
    made->file = unit->file;
    game->settings = made;
    made->line = at->line;
    const esgen_word* close;
    const esgen_word* open = esgen_typedef_find(unit, at->line, at + 1, end, "struct",
                                                "ES_SETTINGS belongs", &made->c_type, &close);
    if (!open) return at + 1;
    esgen_fields_read(unit, made, open + 1, close);
    for (uint32_t i = 0; i < made->field_count; i++) {
        const esgen_field* field = &made->fields[i];
        bool is_number =
            strcmp(field->count.text, "1") == 0 && strcmp(field->c_type, "ecs_entity") != 0;
        if (!is_number || !field->mark.has_setting)
            esgen_fault(unit, field->line, "%s.%s: a setting is a number or a bool with %s",
                        made->c_type.text, field->name.text,
                        "ES_SETTING(default, min, max, \"help\")");
    }
    return close;
}

// Read one enumerator: NAME [= value] [ES_ACTION("name", "keys", "help"[, "pads"])].
static void read_action(esgen_unit* unit, const esgen_word* first, const esgen_word* end) {
    esgen_game* game = &unit->game;
    const esgen_word* at = first;
    while (at < end && !esgen_word_is_annotation(at))
        at++;
    if (at == end) return;
    bool is_right = esgen_word_is(at, "ES_ACTION") && at + 1 < end && esgen_word_is(at + 1, "(") &&
                    esgen_words_match(at + 1, end) == end - 1 &&
                    (end - at == 8 || end - at == 10); // three texts, or four
    for (const esgen_word* word = at + 2; is_right && word < end; word += 2)
        is_right = word->kind == ESGEN_STRING;
    if (!is_right) {
        esgen_fault(
            unit, at->line,
            "an action is marked ES_ACTION(\"name\", \"keys\", \"help\"), or with inputs of a "
            "game controller: ES_ACTION(\"name\", \"keys\", \"help\", \"A,LeftX-\")");
        return;
    }

    if (game->action_count == ESGEN_ACTIONS_MAX ||
        !BASE_ARRAY_RESERVE(NULL, game->actions, game->action_capacity, game->action_count + 1)) {
        esgen_fault(unit, at->line, "more than %u actions", ESGEN_ACTIONS_MAX);
        return;
    }
    esgen_action* action = &game->actions[game->action_count];
    action->has_pads = end - at == 10;
    if (!esgen_name_read(unit, &action->constant, first, first + 1)) return;
    if (!esgen_words_copy(at + 2, end - 1, action->row.text, sizeof action->row.text))
        esgen_fault(unit, at->line, "an action's texts are longer than %u bytes",
                    ESGEN_TEXT_BYTES_MAX - 1);
    game->action_count++;
}

static const esgen_word* read_actions(esgen_unit* unit, const esgen_word* at,
                                      const esgen_word* end) {
    esgen_name name;
    const esgen_word* close;
    const esgen_word* open = esgen_typedef_find(unit, at->line, at + 1, end, "enum",
                                                "ES_ACTIONS belongs", &name, &close);
    if (!open) return at + 1;
    for (const esgen_word *word = open + 1, *next; word <= close; word = next + 1) {
        next = esgen_words_item(word, close);
        if (word < next) read_action(unit, word, next);
    }
    return close;
}

// @return the word after it; `at` when nothing of a game begins here.
static const esgen_word* read_game(esgen_unit* unit, const esgen_word* at, const esgen_word* end,
                                   bool is_here) {
    if (esgen_word_is(at, "ES_GAME_CONTEXT") && esgen_word_is(at + 1, "("))
        return read_context(unit, at, end, is_here);
    if (esgen_word_is(at, "ES_SETTINGS")) return read_settings(unit, at, end);
    if (esgen_word_is(at, "ES_ACTIONS")) return read_actions(unit, at, end);
    return at;
}

void esgen_types_read(esgen_unit* unit, const esgen_words* words, esgen_distance distance) {
    BASE_ASSERT(unit && words);
    const esgen_word* end = words->items + words->count;
    for (const esgen_word* at = words->items; at + 1 < end; at++) {
        const esgen_word* behind = read_game(unit, at, end, distance == ESGEN_HERE);
        if (behind == at) behind = esgen_type_read(unit, at, end, distance != ESGEN_FAR);
        if (behind != at) at = behind - 1;
    }
}

// ES_GAME and ES_SYSTEMS: what the module's table says beside what the game's types say.
//
//     ES_SYSTEMS(pad, ball, rules);
//     ES_GAME("Breakout", 1200, 800, .start = breakout_start, .player_join = breakout_player_join);

static const char shape[] = "ES_GAME takes (\"Title\", width, height, .field = value...)";

// Fields of net_game_module that shoal-esgen fills by itself.
static bool is_filled(const char* key) {
    static const char* const filled[] = {
        "contract_version", "size_bytes",    "core_version",  "name",          "title",
        "view_width",       "view_height",   "messages",      "message_count", "message_bytes",
        "settings",         "setting_count", "setting_bytes", "actions",       "action_count",
        "action_bytes"};
    for (uint32_t i = 0; i < BASE_COUNT(filled); i++)
        if (strcmp(filled[i], key) == 0) return true;
    return false;
}

// ".start = breakout_start"
static bool read_pair(esgen_unit* unit, const esgen_word* first, const esgen_word* end) {
    esgen_game* game = &unit->game;
    if (end - first < 4 || !esgen_word_is(first, ".") || !esgen_word_is(first + 2, "=") ||
        game->keys.count == ESGEN_LIST_MAX)
        return false;
    esgen_name* key = &game->keys.items[game->keys.count];
    esgen_name* value = &game->values.items[game->keys.count];
    if (!esgen_name_read(unit, key, first + 1, first + 2)) return false;
    if (is_filled(key->text)) {
        esgen_fault(unit, first->line, ".%s is written by shoal-esgen", key->text);
        return true;
    }
    if (!esgen_words_is_expression(first + 3, end) ||
        !esgen_words_copy(first + 3, end, value->text, sizeof value->text))
        return false;
    game->values.count = ++game->keys.count;
    return true;
}

static bool read_argument(esgen_unit* unit, uint32_t index, const esgen_word* first,
                          const esgen_word* end) {
    esgen_game* game = &unit->game;
    esgen_text* const places[] = {&game->title, &game->width, &game->height};
    if (index >= BASE_COUNT(places)) return read_pair(unit, first, end);
    bool is_string = end - first == 1 && first->kind == ESGEN_STRING;
    return (index > 0 || is_string) && esgen_words_is_expression(first, end) &&
           esgen_words_copy(first, end, places[index]->text, sizeof places[index]->text);
}

static void read_table(esgen_unit* unit, const esgen_word* at, const esgen_word* close) {
    if (unit->game.is_table) {
        esgen_fault(unit, at->line, "a file has one ES_GAME");
        return;
    }
    unit->game.is_table = true;
    unit->game.line = at->line;
    uint32_t index = 0;
    for (const esgen_word *word = at + 2, *next; word <= close; word = next + 1) {
        next = esgen_words_item(word, close);
        if (word == next || !read_argument(unit, index++, word, next)) {
            esgen_fault(unit, word->line, "%s", shape);
            return;
        }
    }
    if (index < 3) esgen_fault(unit, at->line, "%s", shape);
}

void esgen_game_table_read(esgen_unit* unit, const esgen_word* at, const esgen_word* end) {
    BASE_ASSERT(unit && at < end);
    const esgen_word* close = esgen_words_close(unit, at, end);
    if (!close) return;
    if (esgen_word_is(at, "ES_GAME")) {
        read_table(unit, at, close);
        return;
    }
    if (!unit->game.is_table) unit->game.line = at->line;
    for (const esgen_word *word = at + 2, *next; word <= close; word = next + 1) {
        next = esgen_words_item(word, close);
        esgen_list* systems = &unit->game.systems;
        if (systems->count == ESGEN_LIST_MAX) {
            esgen_fault(unit, at->line, "more than %u files with systems", ESGEN_LIST_MAX);
            return;
        }
        if (esgen_name_read(unit, &systems->items[systems->count], word, next)) systems->count++;
    }
}

const esgen_slot* esgen_query_slot(const esgen_unit* unit, const esgen_function* function) {
    if (function->kind != ESGEN_QUERY) return NULL;
    esgen_name field = function->name;
    field.text[strlen(field.text) - strlen("_ecs_query")] = '\0';
    return esgen_slot_find(&unit->game, ESGEN_SLOT_QUERY, field.text);
}

bool esgen_registers(const esgen_unit* unit) {
    for (uint32_t i = 0; i < unit->function_count; i++)
        if (unit->functions[i].kind != ESGEN_QUERY || esgen_query_slot(unit, &unit->functions[i]))
            return true;
    return false;
}

static bool has_query(const esgen_unit* unit, const esgen_slot* slot) {
    for (uint32_t i = 0; i < unit->function_count; i++)
        if (esgen_query_slot(unit, &unit->functions[i]) == slot) return true;
    return false;
}

// Keep the head of a static function of the file: the table is above its body.
static void find_head(const esgen_words* words, const char* name, esgen_head* head) {
    const esgen_word* end = words->items + words->count;
    const esgen_word* first = words->items;
    uint32_t braces = 0;
    for (const esgen_word* at = words->items; at + 1 < end; at++) {
        if (esgen_word_is(at, "{")) braces++;
        if (esgen_word_is(at, "}") && braces > 0) braces--;
        if (braces > 0) continue;
        if (esgen_word_is(at, "}") || esgen_word_is(at, ";") || at->kind == ESGEN_INCLUDE)
            first = at + 1;
        if (!esgen_word_is(at, name) || !esgen_word_is(at + 1, "(")) continue;
        const esgen_word* close = esgen_words_match(at + 1, end);
        while (first < at && !esgen_word_is(first, "static"))
            first++;
        if (!close || first == at) continue;
        if (!esgen_words_copy(first, close + 1, head->text, sizeof head->text))
            head->text[0] = '\0';
        return;
    }
}

// FILE.es.h has the table: a variable that a value names is above that include.
static void check_order(esgen_unit* unit, const esgen_words* words, const char* key,
                        const char* value) {
    const char* name = value + (value[0] == '&');
    const esgen_word* include = NULL;
    uint32_t depth = 0;
    for (const esgen_word* at = words->items; at + 1 < words->items + words->count; at++) {
        depth += esgen_word_is(at, "{") || esgen_word_is(at, "(");
        if (depth > 0) depth -= esgen_word_is(at, "}") || esgen_word_is(at, ")");
        const bool is_own = at->kind == ESGEN_INCLUDE && at->size > 5;
        if (is_own && strncmp(at->text + at->size - 5, ".es.h", 5) == 0) include = at;
        if (depth > 0 || !esgen_word_is(at, name)) continue;
        if (!include) return;
        if (!esgen_word_is(at + 1, "=") && !esgen_word_is(at + 1, "[")) continue;
        esgen_fault(unit, at->line,
                    ".%s = %s: %s must be above the include of %.*s, which has the table", key,
                    value, name, (int)include->size, include->text);
        return;
    }
}

const char* esgen_game_value(const esgen_game* game, const char* key, const char** head) {
    for (uint32_t i = 0; i < game->keys.count; i++)
        if (strcmp(game->keys.items[i].text, key) == 0) {
            if (head) *head = game->heads[i].text;
            return game->values.items[i].text;
        }
    return NULL;
}

// FILE.es.h needs the members of the structs that it registers.
static void check_structs(esgen_unit* unit, const esgen_words* words) {
    const esgen_word* include = NULL;
    for (const esgen_word* at = words->items; at < words->items + words->count; at++)
        if (at->kind == ESGEN_INCLUDE && at->size > 5 &&
            strncmp(at->text + at->size - 5, ".es.h", 5) == 0)
            include = at;
    for (uint32_t i = 0; include && unit->has_register_types && i < unit->struct_count; i++) {
        const esgen_struct* from = &unit->structs[i];
        if (from->file == unit->file && from->line > include->line)
            esgen_fault(unit, from->line,
                        "struct %s must be above the include of %.*s, which registers it",
                        from->c_type.text, (int)include->size, include->text);
    }
}

void esgen_game_check(esgen_unit* unit, const esgen_words* words) {
    esgen_game* game = &unit->game;
    check_structs(unit, words);
    if ((game->is_table || game->systems.count) && !game->name.text[0]) {
        esgen_fault(unit, game->line,
                    "ES_GAME and ES_SYSTEMS need the game's context: a struct with ES_GAME_CONTEXT "
                    "in this file or in a header that it includes by \"name\"");
        return;
    }
    uint32_t inputs = 0;
    for (uint32_t i = 0; i < unit->struct_count; i++)
        for (uint32_t k = 0; k < unit->structs[i].event_count; k++)
            inputs += unit->structs[i].events[k].is_input;
    if (game->is_table && inputs != 1)
        esgen_fault(unit, game->line,
                    "a game has exactly one message that is its input: "
                    "ES_MESSAGE(Game__Input, input); here are %u",
                    inputs);
    for (uint32_t i = 0; i < game->keys.count; i++) {
        find_head(words, game->values.items[i].text, &game->heads[i]);
        check_order(unit, words, game->keys.items[i].text, game->values.items[i].text);
    }
    // A query without ES_QUERY has its function in this file, or in one of several.
    for (uint32_t i = 0; game->is_table && i < game->slot_count; i++) {
        const esgen_slot* slot = &game->slots[i];
        bool is_alone = slot->kind == ESGEN_SLOT_QUERY && slot->terms.count == 0;
        if (is_alone && game->systems.count == 0 && !has_query(unit, slot))
            esgen_fault(unit, game->line, "%s.%s: say ES_QUERY(...), or write %s_ecs_query",
                        game->context.text, slot->field.text, slot->field.text);
    }
}
