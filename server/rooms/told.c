// SPDX-License-Identifier: MIT
// What a match reports and asks (tell.h); answers go to its socket FOLDER/matches/ID/answers.
// Nothing waits here: an answer that finds no room is lost, and the match asks again. A match is
// trusted less than the host: all is checked, and concerns its players and its game's records.
#include "host.h"
#include "tell.h"

#include "base/json.h"
#include "base/text.h"
#include "net/socket.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#define NO_SEAT "the player has no seat in this match"

// A datagram of a match.
typedef struct told {
    server_host* host;
    server_room* room;
    json_t* json;
    uint64_t now_us;
    uint64_t number; // of the question; of a result its tick
    uint64_t player;
} told;

// ---- answers

static void room_send(const server_room* room, const base_bytes* json) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    server_path_text path;
    if (base_text_copy(at.sun_path, sizeof at.sun_path, server_room_path(room, "/answers", path)))
        (void)sendto(room->host->reports.descriptor, json->data, json->size,
                     MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr*)&at, sizeof at);
}

// `why` NULL: the order is done. Bytes of a transfer are sent also when the record is not known.
static void room_answer_order(const server_room* room, const server_store_order* order,
                              const char* why, bool is_final) {
    char text[SERVER_TELL_TEXT_BYTES(SERVER_RECORD_BYTES_MAX)];
    const server_record* known = &order->record;
    const server_seat* seat = server_room_find_seat(room, known->player);
    base_bytes* json = server_host_text(room->host);
    base_json_write(json, "{%s='%ju'", order->is_keep ? "keep" : "ask", order->number);
    if (why)
        base_json_write(json, "error=%s is_final=%i", why, is_final);
    else
        base_json_write(json, "version='%ju'", known->version);
    if (!order->is_keep && !why)
        base_json_write(
            json, "record=%s",
            sodium_bin2base64(text, sizeof text, known->bytes, known->size, SERVER_TELL_BASE64));
    if (!order->is_keep)
        base_json_write(json, "bytes=%s",
                        sodium_bin2base64(text, sizeof text, seat ? seat->bytes : NULL,
                                          seat ? seat->size : 0, SERVER_TELL_BASE64));
    base_json_write(json, "}");
    room_send(room, json);
}

static void store_ready(void* owner, uint32_t events) {
    server_host* host = owner;
    const server_store_order* order;
    (void)events;
    while ((order = server_store_pop(host->store))) {
        const bool is_away = order->end == SERVER_STORE_AWAY;
        const char* why = is_away ? "the store of records does not answer" : NULL;
        server_room* room =
            server_rooms_find(host->rooms, order->record.writer, strlen(order->record.writer));
        host->orders[order->end]++;
        if (room) room->orders--;
        if (is_away != host->is_store_away)
            base_report(&host->reporter, NULL, 0,
                        is_away ? "warning: records of players are not known: store: %s"
                                : "records of players are known again%s",
                        is_away ? order->why : "");
        host->is_store_away = is_away;
        if (order->end == SERVER_STORE_CONFLICT) why = "conflict";
        if (room) room_answer_order(room, order, why, false);
    }
}

// ---- records

static bool told_order(const told* self, bool is_keep) {
    server_host* host = self->host;
    server_room* room = self->room;
    const bool is_known = server_room_knows(room, self->player);
    server_store_order* order =
        host->store && is_known ? server_store_next(host->store, room->orders) : NULL;
    server_store_order lost;
    const char* why = !is_known      ? NO_SEAT
                      : !host->store ? "this host keeps no records"
                                     : "too many questions";
    const bool is_lost = !order;
    if (is_lost) order = &lost;
    *order = (server_store_order){.number = self->number, .is_keep = is_keep};
    order->record.player = self->player;
    memcpy(order->record.writer, room->id, sizeof order->record.writer);
    memcpy(order->record.game, room->game.name, sizeof order->record.game);
    if (is_keep && !(server_tell_number(self->json, "version", &order->record.version) &&
                     order->record.version < INT64_MAX &&
                     server_tell_bytes(self->json, "record", order->record.bytes,
                                       sizeof order->record.bytes, &order->record.size)))
        return false;
    host->orders[SERVER_STORE_END_COUNT + !is_known] += is_lost;
    room->orders += !is_lost;
    if (is_lost)
        room_answer_order(room, order, why, !is_known || !host->store);
    else
        server_store_push(host->store, self->now_us);
    return true;
}

// ---- results

static void answer_result(const server_room* room) {
    base_bytes* json = server_host_text(room->host);
    base_json_write(json, "{result='%ju'}", room->result_tick);
    room_send(room, json);
}

static void result_ready(void* owner, uint32_t events) {
    server_host* host = owner;
    const server_store_order* order;
    (void)events;
    while ((order = server_store_pop(host->results))) {
        server_room* room =
            server_rooms_find(host->rooms, order->record.writer, strlen(order->record.writer));
        const bool is_kept = order->end == SERVER_STORE_DONE;
        host->results_kept += is_kept;
        if (!is_kept && !host->is_results_away)
            base_report(&host->reporter, NULL, 0, "the result of match %s is not kept: %s",
                        order->record.writer, order->why);
        host->is_results_away = !is_kept;
        if (!room) continue;
        room->result = is_kept ? SERVER_RESULT_KEPT : SERVER_RESULT_NONE;
        if (is_kept) answer_result(room);
    }
}

// It is kept once; the match repeats it until it is answered.
static bool told_result(const told* self) {
    server_room* room = self->room;
    server_store_order* order = server_store_next(self->host->results, 0);
    uint64_t tick = 0;
    if (room->result == SERVER_RESULT_KEPT) answer_result(room);
    if (room->result != SERVER_RESULT_NONE || !order) return true;
    if (!server_tell_number(self->json, "tick", &tick) ||
        !server_tell_bytes(self->json, "result", order->record.bytes, sizeof order->record.bytes,
                           &order->record.size))
        return false;
    memcpy(order->record.writer, room->id, sizeof order->record.writer);
    memcpy(order->record.game, room->game.name, sizeof order->record.game);
    order->number = room->result_tick = tick;
    room->result = SERVER_RESULT_WAITS;
    server_store_push(self->host->results, self->now_us);
    return true;
}

// ---- their threads

static void watch_store(server_host* self, server_store* store, server_watch* watch,
                        void (*ready)(void* owner, uint32_t events)) {
    *watch = (server_watch){store ? server_store_descriptor(store) : -1, ready, self};
    server_host_watch(self, watch, EPOLLIN);
}

void server_host_open_store(server_host* self) {
    char* url = self->store_url;
    if (self->conf.store)
        (void)base_text_copy(url, sizeof self->store_url, self->conf.store);
    else
        (void)base_text_format(url, sizeof self->store_url, "sqlite:%s/players.db",
                               self->conf.folder);
    self->store = server_store_open(url);
    if (!self->store)
        base_report(&self->reporter, self->conf_file, 0,
                    "warning: this program was built without libpq: no records of players");
    watch_store(self, self->store, &self->store_watch, store_ready);
    self->results = server_results_open(self->conf.folder, self->conf.results, &self->reporter);
    watch_store(self, self->results, &self->results_watch, result_ready);
    // The first question is of no match: it is not answered, and a failure is reported.
    if (self->store) {
        *server_store_next(self->store, 0) = (server_store_order){.number = 0};
        server_store_push(self->store, net_loop_now_us());
    }
}

// ---- transfers

static void answer_transfer(const told* self, const server_room* to, const char* why) {
    base_bytes* json = server_host_text(self->host);
    base_json_write(json, "{transfer='%ju'", self->number);
    if (!why && !server_room_put_seat(json, to, self->player, "")) why = "no token can be made";
    if (why) base_json_write(json, "error=%s", why);
    base_json_write(json, "}");
    room_send(self->room, json);
}

// The seat is found again when the match asks again, as it does while the other one starts.
static bool told_transfer(const told* self) {
    server_host* host = self->host;
    const char* to = json_string_value(json_object_get(self->json, "to"));
    uint8_t bytes[SERVER_ROOM_TRANSFER_BYTES];
    uint32_t size = 0;
    server_seat* seat = NULL;
    if (!to || !server_tell_bytes(self->json, "bytes", bytes, sizeof bytes, &size)) return false;
    server_room* room = server_rooms_find(host->rooms, to, strlen(to));
    server_join join = {.game = to, .player = self->player, .leaves = self->room};
    if (room) join.game = room->game.name, join.match = room->id;
    const char* why = host->is_ending      ? "this host ends"
                      : room == self->room ? "the player is in this match"
                      : !server_room_find_seat(self->room, self->player) ? NO_SEAT
                                                                         : NULL;
    if (!why) {
        const server_join_end end =
            server_rooms_join(host->rooms, &join, self->now_us, &room, &seat);
        host->joins[end]++;
        why = server_join_ends[end].text;
    }
    if (why) {
        answer_transfer(self, NULL, why);
        return true;
    }
    seat->size = size;
    memcpy(seat->bytes, bytes, size);
    if (room->host) (void)server_room_save_seats(room);
    if (room->state == SERVER_ROOM_RUNNING) answer_transfer(self, room, NULL);
    return true;
}

// ---- reports

// One word with a port, as the host's file of a match has it.
static bool is_address(const char* text) {
    return strchr(text, ':') && !strpbrk(text, " \t\r\n\v\f") &&
           strlen(text) < NET_ADDRESS_TEXT_BYTES;
}

static void told_begin(const told* self, const char* address, const char* http) {
    server_room* room = self->room;
    server_room_game* game = server_rooms_game(self->host->rooms, room->game.name);
    if (game) game->failures = 0;
    (void)base_text_copy(room->address, sizeof room->address, address);
    (void)base_text_copy(room->http, sizeof room->http, http);
    server_room_opened(room, self->now_us);
    if (room->is_elsewhere) server_room_save(room); // else with its seats
}

static bool told_report(const told* self) {
    uint64_t players[SERVER_ROOM_SEATS_MAX], at_us = 0;
    uint32_t count = 0;
    size_t i;
    const char *address, *http, *stream = "";
    int is_standby = 0;
    json_t *list, *row;
    server_host* host = self->host;
    server_room* room = self->room;
    if (json_unpack(self->json, "{s:s s:s s:o s?s s?b}", "address", &address, "http", &http,
                    "players", &list, "stream", &stream, "standby", &is_standby) != 0 ||
        !server_tell_number(self->json, "at_us", &at_us) || !is_address(address) ||
        (http[0] && !is_address(http)))
        return false;
    if (room->heard_us <= self->now_us) room->heard_us = self->now_us;
    if (room->state != SERVER_ROOM_STARTING && room->state != SERVER_ROOM_RUNNING) return true;
    const bool is_claim = room->is_elsewhere && !is_standby;
    const bool is_begin = room->state == SERVER_ROOM_STARTING || is_claim;
    if (is_claim) server_standbys_claimed(host, room);
    if (is_begin) told_begin(self, address, http);
    if (room->is_elsewhere) return true;
    (void)base_text_copy(room->stream, sizeof room->stream,
                         server_room_is_id(stream) ? stream : "");
    server_room_value values[SERVER_ROOM_VALUES_MAX];
    uint32_t value_count;
    if (!server_values_read(json_object_get(self->json, "values"), values, &value_count))
        return false;
    server_room_publish(room, values, value_count);
    room->is_closed = json_is_false(json_object_get(self->json, "open"));
    json_array_foreach(list, i, row) {
        const char* player = json_string_value(row);
        if (player && count < SERVER_ROOM_SEATS_MAX && base_text_parse_u64(player, &players[count]))
            count++;
    }
    const bool had_players = room->had_players;
    const uint32_t seats = room->seat_count;
    server_rooms_reported(host->rooms, room, players, count, at_us, self->now_us);
    if (is_begin || room->had_players != had_players || room->seat_count != seats)
        server_room_save(room);
    return true;
}

static bool told_question(told* self) {
    static const char* const kinds[] = {"ask", "keep", "transfer"};
    for (size_t i = 0; i < BASE_COUNT(kinds); i++) {
        if (!json_object_get(self->json, kinds[i])) continue;
        if (!server_tell_number(self->json, kinds[i], &self->number) ||
            !server_tell_number(self->json, "player", &self->player) || self->player == 0)
            return false;
        return i == 2 ? told_transfer(self) : told_order(self, i == 1);
    }
    return json_object_get(self->json, "result") ? told_result(self) : told_report(self);
}

void server_host_told(server_host* host, const char* text, size_t size, uint64_t now_us) {
    told it = {.host = host, .now_us = now_us};
    it.json = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    const char* id = json_string_value(json_object_get(it.json, "match"));
    it.room = id ? server_rooms_find(host->rooms, id, strlen(id)) : NULL;
    if (it.room) it.room->host = host;
    host->malformed += !it.room || !told_question(&it);
    json_decref(it.json);
}
