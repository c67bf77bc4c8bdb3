// SPDX-License-Identifier: MIT
// ES_GAME and ES_SYSTEMS: what the module's table says beside what the game's types say.
//
//     ES_SYSTEMS(pad, ball, rules);
//     ES_GAME("Breakout", 1200, 800, .start = breakout_start, .player_join = breakout_player_join);
#include "esgen.h"

#include "base/assert.h"

#include <string.h>

static const char shape[] = "ES_GAME takes (\"Title\", width, height, .field = value...)";

// Fields of net_game_module that shoal-esgen fills by itself.
static bool is_filled(const char* key) {
    static const char* const filled[] = {
        "contract_version", "size_bytes",    "core_version",  "name",          "title",
        "view_width",       "view_height",   "messages",      "message_count", "message_bytes",
        "settings",         "setting_count", "setting_bytes", "actions",       "action_count",
        "action_bytes",     "register_types"};
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
    const esgen_word* first = at + 2;
    uint32_t index = 0, depth = 0;
    for (const esgen_word* word = first; word <= close; word++) {
        depth += esgen_word_is(word, "(");
        if (word < close) depth -= esgen_word_is(word, ")");
        if (word < close && (depth > 0 || !esgen_word_is(word, ","))) continue;
        if (first == word || !read_argument(unit, index++, first, word)) {
            esgen_fault(unit, first->line, "%s", shape);
            return;
        }
        first = word + 1;
    }
    if (index < 3) esgen_fault(unit, at->line, "%s", shape);
}

void esgen_game_table_read(esgen_unit* unit, const esgen_word* at, const esgen_word* end) {
    BASE_ASSERT(unit && at < end);
    const esgen_word* close = esgen_word_is(at + 1, "(") ? esgen_words_match(at + 1, end) : NULL;
    if (!close) {
        esgen_fault(unit, at->line, "%.*s needs (...)", (int)at->size, at->text);
        return;
    }
    if (esgen_word_is(at, "ES_GAME")) {
        read_table(unit, at, close);
        return;
    }
    const esgen_word* first = at + 2;
    for (const esgen_word* word = first; word <= close; word++) {
        if (word < close && !esgen_word_is(word, ",")) continue;
        esgen_list* systems = &unit->game.systems;
        if (systems->count == ESGEN_LIST_MAX) {
            esgen_fault(unit, at->line, "more than %u files with systems", ESGEN_LIST_MAX);
            return;
        }
        if (esgen_name_read(unit, &systems->items[systems->count], first, word)) systems->count++;
        first = word + 1;
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

// Keep the head of a static function of the file: the table stands above its body.
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

void esgen_game_check(esgen_unit* unit, const esgen_words* words) {
    esgen_game* game = &unit->game;
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
    for (uint32_t i = 0; i < game->keys.count; i++)
        find_head(words, game->values.items[i].text, &game->heads[i]);
    // A query without ES_QUERY has its function in this file, or in one of several.
    for (uint32_t i = 0; game->is_table && i < game->slot_count; i++) {
        const esgen_slot* slot = &game->slots[i];
        bool is_alone = slot->kind == ESGEN_SLOT_QUERY && slot->terms.count == 0;
        if (is_alone && game->systems.count == 0 && !has_query(unit, slot))
            esgen_fault(unit, game->line, "%s.%s: say ES_QUERY(...), or write %s_ecs_query",
                        game->context.text, slot->field.text, slot->field.text);
    }
}
