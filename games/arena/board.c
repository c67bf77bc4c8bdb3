// SPDX-License-Identifier: MIT
// The board that every client has: names, the last lines of the chat, the last rounds.
//
// It has three variable-size values, each of another type. `name` of a row is a text; it is written
// once, when the player joins. `chat` of the match is a list of texts; a new line replaces the
// oldest one. `rounds` of the match is an array with one object per round; a reader finds the
// values of an object by name. Each value is sent whole when it changes, so the values are short.
//
// A player says one of a few phrases, at most one per second. The clients that see the speaker get
// the event `said` and show a bubble over its head. All clients get the line in the chat, and what
// a player types: at most as often, without control characters.

#include "arena.h"
#include "board.es.h"

#include "base/text.h"

#include <string.h>

#define CHAT_LINES 6u
#define ROUNDS 5u
#define QUIET_S 1.0f
#define LINE_BYTES 128u // "name: what it typed"

const char* arena_phrase(uint32_t phrase) {
    static const char* const phrases[ARENA_PHRASES] = {"follow me!", "help!", "thanks!",
                                                       "to the flag!"};
    return phrases[phrase < ARENA_PHRASES ? phrase : 0];
}

// ---- points ----

int32_t arena_points(const arena_score* score) {
    return score->kills + ARENA_CAPTURE_POINTS * score->captures;
}

static int32_t worth(const arena_entry* entry) {
    return entry->kills + ARENA_CAPTURE_POINTS * entry->captures;
}

bool arena_is_before(const arena_entry* a, const arena_entry* b) {
    return worth(a) != worth(b) ? worth(a) > worth(b) : a->client < b->client;
}

arena_score* arena_find_score(ecs_world* world, const arena_game* game, uint8_t team) {
    if (team < 1 || team > ARENA_TEAMS) return NULL;
    ecs_entity entity = ecs_singleton(world, game->team_templates[team - 1]);
    return ecs_find_mut(world, entity, game->score);
}

arena_entry* arena_find_entry(ecs_world* world, const arena_game* game, ecs_entity entity) {
    const arena_seat* seat = ecs_find(world, entity, game->seat);
    return seat ? ecs_find_mut(world, seat->entry, game->entry) : NULL;
}

// ---- names ----

void arena_set_name(ecs_world* world, const arena_game* game, ecs_entity entry, const char* name) {
    ecs_string* text = ecs_find_mut(world, entry, game->name);
    if (!text || !name) return;
    // When memory runs out, the row has no name, and clients show "player 3".
    (void)!ecs_string_set(ecs_world_allocator(world), text, name, (uint32_t)strlen(name));
}

static const char* name_of(ecs_world* world, const arena_game* game, ecs_entity player) {
    const arena_seat* seat = ecs_find(world, player, game->seat);
    const ecs_string* name = seat ? ecs_find(world, seat->entry, game->name) : NULL;
    return name && name->size ? ecs_string_text(name) : "a player";
}

// ---- chat ----

static void add_line(ecs_world* world, const arena_game* game, const char* line) {
    const base_allocator* allocator = ecs_world_allocator(world);
    ecs_list* chat = ecs_find_mut(world, ecs_singleton(world, game->match_template), game->chat);
    if (!chat) return;
    if (ecs_list_count(chat) == CHAT_LINES) (void)!ecs_list_remove(allocator, chat, 0);
    // When memory runs out, the line is lost.
    (void)!ecs_list_push_text(allocator, chat, line, (uint32_t)strlen(line));
}

static void add_words(ecs_world* world, const arena_game* game, ecs_entity player,
                      const char* words) {
    char line[LINE_BYTES];
    (void)base_text_format(line, sizeof line, "%.40s: %s", name_of(world, game, player), words);
    add_line(world, game, line);
}

// Control characters (also U+0080 to U+009F), and those that turn the direction of writing for all
// that follows (U+202A to U+202E, U+2066 to U+2069). @return the bytes of one at `at`, or 0.
static size_t control_bytes(const unsigned char* at) {
    if (at[0] < 0x20 || at[0] == 0x7f) return 1;
    if (at[0] == 0xc2 && at[1] < 0xa0) return 2;
    if (at[0] != 0xe2 || (at[1] != 0x80 && at[1] != 0x81)) return 0;
    const unsigned char low = at[1] == 0x80 ? 0xaa : 0xa6, high = at[1] == 0x80 ? 0xae : 0xa9;
    return at[2] >= low && at[2] <= high ? 3 : 0;
}

// The text comes from a client; the wire's decoder has checked that it is UTF-8. @return false:
// nothing is left but spaces.
static bool keep_letters(const char* text, char kept[ARENA_CHAT_BYTES]) {
    size_t size = 0;
    bool has_letter = false;
    for (const unsigned char* at = (const unsigned char*)text; *at;) {
        const size_t skipped = control_bytes(at);
        at += skipped;
        if (skipped > 0) continue;
        has_letter |= *at != ' ';
        kept[size++] = (char)*at++;
    }
    kept[size] = '\0';
    return has_letter;
}

ES_TAG(server)
ES_ON_EVENT(say)
static void say_es_event_handler(const ecs_stage* stage, ES_CONTEXT const arena_game* game,
                                 const arena_say* event, ecs_entity entity, uint32_t* quiet_tick) {
    if (stage->tick < *quiet_tick) return;
    *quiet_tick = (uint32_t)stage->tick + arena_ticks(game, QUIET_S);
    const arena_said said = {event->phrase};
    (void)ecs_event_send(stage->world, entity, game->said, &said);
    add_words(stage->world, game, entity, arena_phrase(event->phrase));
}

ES_TAG(server)
ES_ON_EVENT(chat)
static void chat_es_event_handler(const ecs_stage* stage, ES_CONTEXT const arena_game* game,
                                  const arena_chat* event, ecs_entity entity,
                                  uint32_t* quiet_tick) {
    char text[ARENA_CHAT_BYTES];
    if (stage->tick < *quiet_tick || !keep_letters(event->text, text)) return;
    *quiet_tick = (uint32_t)stage->tick + arena_ticks(game, QUIET_S);
    add_words(stage->world, game, entity, text);
}

void arena_operator_said(ecs_world* world, arena_game* game, const char* text) {
    char line[NET_LINE_BYTES_MAX + 8];
    (void)base_text_format(line, sizeof line, "server: %s", text);
    add_line(world, game, line);
}

// ---- rounds ----

// The name of the player with most points; among equals the player with the lower number.
static const char* best_player(ecs_world* world, const arena_game* game) {
    const arena_entry* best = NULL;
    const ecs_string* name = NULL;
    ecs_query_iter it = ecs_query_begin(world, game->entries);
    while (ecs_query_next(&it)) {
        const arena_entry* entries = it.rows.columns[0];
        const ecs_string* names = it.rows.columns[1];
        for (uint32_t i = 0; i < it.rows.count; i++) {
            if (best && !arena_is_before(&entries[i], best)) continue;
            best = &entries[i];
            name = &names[i];
        }
    }
    return name ? ecs_string_text(name) : "";
}

void arena_add_round(ecs_world* world, const arena_game* game, const arena_round_over* over) {
    const base_allocator* allocator = ecs_world_allocator(world);
    ecs_array* rounds =
        ecs_find_mut(world, ecs_singleton(world, game->match_template), game->rounds);
    if (!rounds) return;
    const char* best = best_player(world, game);
    const int32_t round = (int32_t)over->round, winner = (int32_t)over->winner,
                  points = (int32_t)over->points;
    ecs_object made = {0};
    bool is_made = !ecs_object_set(allocator, &made, "round", ECS_ELEMENT_I, &round) &&
                   !ecs_object_set(allocator, &made, "winner", ECS_ELEMENT_I, &winner) &&
                   !ecs_object_set(allocator, &made, "points", ECS_ELEMENT_I, &points) &&
                   !ecs_object_set_text(allocator, &made, "best", best, (uint32_t)strlen(best));
    if (is_made && ecs_array_count(rounds) == ROUNDS) (void)!ecs_array_remove(allocator, rounds, 0);
    if (is_made) (void)!ecs_array_push(allocator, rounds, ECS_ELEMENT_OBJECT, &made);
    ecs_object_deinit(allocator, &made);
}
