// SPDX-License-Identifier: MIT
// What players and operators read, as JSON: a seat, lists, figures for Prometheus.
#include "host.h"

#include "base/json.h"
#include "base/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <time.h>

#define TOKEN_LIFE_S 45u
#define KEY_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

const server_join_end_row server_join_ends[SERVER_JOIN_END_COUNT] = {
    [SERVER_JOIN_SEATED] = {200, "seated", NULL},
    [SERVER_JOIN_NO_GAME] = {404, "no_game", "there is no such game"},
    [SERVER_JOIN_NO_MATCH] = {404, "no_match", "there is no such match of this game"},
    [SERVER_JOIN_OVER] = {410, "over", "this match has ended"},
    [SERVER_JOIN_FULL] = {409, "full", "no seat is free, and no further match may be started"},
    [SERVER_JOIN_CROWDED] = {409, "crowded", "this match is full, or has too few free seats"},
    [SERVER_JOIN_PARTY] = {409, "party", "the party is larger than a match of this game"},
    [SERVER_JOIN_FAILS] = {503, "fails", "its matches cannot be started now: see the host's lines"},
};

// ---- a join

bool server_values_read(json_t* object, server_room_value* values, uint32_t* count) {
    const char* key;
    json_t* value;
    *count = 0;
    if (object && !json_is_object(object)) return false;
    json_object_foreach(object, key, value) {
        const char* text = json_string_value(value);
        server_room_value* row = &values[*count];
        if ((*count)++ == SERVER_ROOM_VALUES_MAX || !text || !key[0] || !text[0] ||
            !base_text_copy(row->key, sizeof row->key, key) ||
            !base_text_copy(row->value, sizeof row->value, text))
            return false;
    }
    return true;
}

const char* server_join_read(json_t* body, server_join* join) {
    const char* player = NULL;
    json_t* seats = json_object_get(body, "party_seats");
    json_t* filter = json_object_get(body, "filter");
    size_t known = (seats ? 1u : 0u) + (filter ? 1u : 0u);
    const struct {
        const char *key, *fault, **text;
    } texts[] = {{"game", "game needs a text of at most 64 bytes", &join->game},
                 {"request", "request needs a text of at most 64 bytes", &join->request},
                 {"party", "party needs a text of at most 64 bytes", &join->party},
                 {"match", "match needs a text of at most 64 bytes", &join->match},
                 {"player", "player needs a number as a text", &player}};
    for (size_t i = 0; i < BASE_COUNT(texts); i++) {
        json_t* value = json_object_get(body, texts[i].key);
        *texts[i].text = json_string_value(value);
        if (value && (!*texts[i].text || strlen(*texts[i].text) >= SERVER_ROOM_WORD_BYTES))
            return texts[i].fault;
        known += value != NULL;
    }
    if (!join->game || known != json_object_size(body))
        return "a join needs game; it may have request, party, party_seats, match, player, filter";
    const json_int_t members = seats ? json_integer_value(seats) : 1;
    if (members < 1 || members > SERVER_ROOM_SEATS_MAX)
        return "party_seats needs a number from 1 to 4095";
    bool is_filter = server_values_read(filter, join->values, &join->value_count);
    for (uint32_t i = 0; is_filter && i < join->value_count; i++)
        is_filter = !join->values[i].key[strspn(join->values[i].key, KEY_LETTERS)];
    if (!is_filter)
        return "filter needs at most 16 texts of 1 to 64 bytes, their keys of a-z, 0-9 and _";
    if (player && (!base_text_parse_u64(player, &join->player) || join->player == 0))
        return "player needs a number as a text";
    join->party_seats = (uint32_t)members;
    return NULL;
}

// ---- a seat

static const char* find_asked(const server_host* host) {
    return host->asked[0] ? strstr(host->asked, "://") + 3 : "";
}

void server_room_print_address(const server_room* room, char* text, size_t text_bytes) {
    const char *address = room->address, *name = room->host->conf.public_name;
    const char* asked = find_asked(room->host);
    const char* port = strrchr(address, ':') + 1;
    size_t size = name ? strlen(name) : (size_t)(port - address - 1);
    net_address at;
    if (!name && net_address_parse(address, &at) == NET_OK && net_address_is_wildcard(&at)) {
        name = asked;
        size = asked[0] == '[' ? strcspn(asked, "]") + 1 : strcspn(asked, ":");
    }
    (void)base_text_format(text, text_bytes, "%.*s:%s", (int)size, name ? name : address, port);
}

static bool make_token(const net_key* key, uint64_t player, char text[NET_TOKEN_TEXT_BYTES]) {
    const net_token_claims claims = {.player_id = player,
                                     .expiry_unix_s = (uint64_t)time(NULL) + TOKEN_LIFE_S};
    net_token token;
    const bool is_made = net_token_make(key, &claims, net_entropy_system(), &token) == NET_OK &&
                         net_token_print(&token, text, NET_TOKEN_TEXT_BYTES);
    net_token_wipe(&token);
    return is_made;
}

bool server_room_put_seat(base_bytes* json, const server_room* room, uint64_t player,
                          const char* page_end) {
    const server_host* host = room->host;
    char address[SERVER_HOST_BYTES_MAX + NET_ADDRESS_TEXT_BYTES], token[NET_TOKEN_TEXT_BYTES];
    char page[SERVER_HOST_BYTES_MAX + NET_TOKEN_TEXT_BYTES + 64] = "";
    net_key key = room->key;
    if (!page_end) server_room_watch_key(room, &key);
    const bool is_made = make_token(&key, player, token);
    net_key_wipe(&key);
    if (!is_made) return false;
    server_room_print_address(room, address, sizeof address);
    if (page_end && host->asked[0])
        (void)base_text_format(page, sizeof page, "%s/m/%s/play%s%s", host->asked, room->id,
                               page_end, page_end[0] ? token : "");
    base_json_write(json, "match=%s address=%s token=%s page=%s", room->id, address, token, page);
    return true;
}

// ---- lists

void server_forms_put_room(base_bytes* json, const server_room* room, bool is_operator,
                           const char* page) {
    const uint32_t players = server_room_players(room);
    base_json_write(json,
                    "{match=%s game=%s address=%s players=%u held=%u seats=%u state=%s values={",
                    room->id, room->game.name, room->address, players, room->seat_count - players,
                    room->game.seats, server_room_state_name(room));
    for (uint32_t i = 0; i < room->value_count; i++)
        base_json_write(json, "%s=%s", room->values[i].key, room->values[i].value);
    base_json_write(json, "}");
    if (page) {
        char url[SERVER_HOST_BYTES_MAX + 32];
        (void)base_text_format(url, sizeof url, "%s/m/%s/", page, room->id);
        base_json_write(json, "page=%s", url);
    }
    if (is_operator)
        base_json_write(json, "pid=%ju module=%s resumes=%u why=%s http=%s token=%s", room->pid,
                        room->game.module, room->resumes, room->why, room->http,
                        room->tokens[SERVER_OPERATOR]);
    base_json_write(json, "}");
}

bool server_forms_show(const server_room* room) {
    return room->state < SERVER_ROOM_LEAVING && !room->is_elsewhere &&
           !server_room_find_value(room, SERVER_ROOM_PRIVATE);
}

// Who is no operator gets matches that run and are not private, without processes and inspectors.
void server_forms_put_matches(base_bytes* json, const server_host* host, server_right right,
                              const uint8_t* others, size_t others_bytes) {
    const server_rooms* rooms = host->rooms;
    const bool is_operator = right == SERVER_OPERATOR;
    base_json_write(json, "{matches=[");
    for (uint32_t i = 0; i < rooms->count; i++)
        if (is_operator || server_forms_show(rooms->rooms[i]))
            server_forms_put_room(json, rooms->rooms[i], is_operator, NULL);
    const bool is_first = json->data[json->size - 1] == '[';
    if (others_bytes > 0) base_bytes_write(json, others + is_first, others_bytes - is_first);
    base_json_write(json, "] games=[");
    for (uint32_t i = 0; i < rooms->game_count; i++)
        if (!rooms->games[i].is_gone)
            base_json_write(json, "{game=%s seats=%u most=%u spare=%u}", rooms->games[i].name,
                            rooms->games[i].seats, rooms->games[i].most, rooms->games[i].spare);
    base_json_write(json, "] open=%i}", host->conf.is_open);
}

// Matches in a state, or with state NULL players.
static uint32_t count_of(const server_rooms* rooms, const char* game, const char* state) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < rooms->count; i++) {
        const server_room* room = rooms->rooms[i];
        if (strcmp(room->game.name, game) != 0) continue;
        count +=
            !state ? server_room_players(room) : strcmp(server_room_state_name(room), state) == 0;
    }
    return count;
}

void server_forms_put_metrics(base_bytes* text, const server_host* host) {
    static const char* const states[] = {"open", "full", "resuming", "standby", "ended"};
    base_json_put(text, "# TYPE shoal_host_matches gauge\n# TYPE shoal_host_players gauge\n");
    for (uint32_t i = 0; i < host->rooms->game_count; i++) {
        const char* game = host->rooms->games[i].name;
        for (size_t k = 0; k < BASE_COUNT(states); k++)
            base_json_put(text, "shoal_host_matches{game=\"%s\",state=\"%s\"} %" PRIu32 "\n", game,
                          states[k], count_of(host->rooms, game, states[k]));
        base_json_put(text, "shoal_host_players{game=\"%s\"} %" PRIu32 "\n", game,
                      count_of(host->rooms, game, NULL));
    }
    base_json_put(text, "# TYPE shoal_host_joins_total counter\n");
    for (size_t i = 0; i < SERVER_JOIN_END_COUNT; i++)
        base_json_put(text, "shoal_host_joins_total{result=\"%s\"} %" PRIu64 "\n",
                      server_join_ends[i].name, host->joins[i]);
    base_json_put(text, "shoal_host_joins_total{result=\"too_many\"} %" PRIu64 "\n", host->refused);
    base_json_put(text,
                  "# TYPE shoal_host_matches_total counter\n"
                  "shoal_host_matches_total{event=\"started\"} %" PRIu64 "\n"
                  "shoal_host_matches_total{event=\"crashed\"} %" PRIu64 "\n"
                  "shoal_host_matches_total{event=\"hung\"} %" PRIu64 "\n",
                  host->starts, host->crashes, host->hangs);
    base_json_put(text, "# TYPE shoal_host_records_total counter\n");
    for (size_t i = 0; i < BASE_COUNT(host->orders); i++)
        base_json_put(text, "shoal_host_records_total{result=\"%s\"} %" PRIu64 "\n",
                      (const char* const[]){"done", "conflict", "away", "too_many", "no_seat"}[i],
                      host->orders[i]);
    base_json_put(text,
                  "# TYPE shoal_host_results_total counter\n"
                  "shoal_host_results_total %" PRIu64 "\n"
                  "# TYPE shoal_host_malformed_total counter\n"
                  "shoal_host_malformed_total %" PRIu64 "\n",
                  host->results_kept, host->malformed);
    if (host->errands)
        base_json_put(text, "# TYPE shoal_host_fleet_up gauge\nshoal_host_fleet_up %d\n",
                      host->is_in_fleet);
}

// Prometheus' HTTP service discovery: each match, scraped by this host.
void server_forms_put_targets(base_bytes* json, const server_host* host) {
    char path[64];
    base_json_write(json, "[");
    for (uint32_t i = 0; i < host->rooms->count; i++) {
        const server_room* room = host->rooms->rooms[i];
        if (room->state != SERVER_ROOM_RUNNING || room->is_elsewhere) continue;
        (void)base_text_format(path, sizeof path, "/m/%s/metrics", room->id);
        base_json_write(json, "{targets=[%s] labels={__metrics_path__=%s game=%s match=%s}}",
                        find_asked(host), path, room->game.name, room->id);
    }
    base_json_write(json, "]");
}
