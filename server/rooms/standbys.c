// SPDX-License-Identifier: MIT
// Standbys of matches, at other hosts of the fleet (`standbys` in host.conf). The host of a match
// asks for one, and again each few seconds, so that no host remembers for another one:
//
//     shoal.standby.GAME       a host that may start a process of the game: a queue group
//     shoal.standby.host.HOST  the host that has it
//     shoal.find               before a match is resumed: does another host have it by now?
//
//     {"game":GAME,"match":ID,"stream":IDENTITY,"key":HEX,"seats":[...]}
//         {"host":HEX,"address":"A:P"}, with address "" while it starts; no answer: it has none
//
// The standby runs there as a match that is elsewhere: no list and no join has it. Once it tells
// that it got the match, it is one of that host, with the seats of the newest question.
#include "host.h"
#include "peers.h"

#include "inspect/control.h"

#include "base/json.h"
#include "base/text.h"
#include "net/socket.h"

#include <inttypes.h>
#include <jansson.h>
#include <sodium.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MS UINT64_C(1000)
#define PASS_US (100 * MS)
#define ANSWER_US (2000 * MS)
#define STARTS_US (100 * MS) // until the next question, while it starts
#define AGAIN_US (5000 * MS) // else
#define CLAIM_US (700 * MS)  // a standby claims after 300 ms, and tells its host
#define HOLD_US (3000 * MS)
#define UNASKED_US (600000 * MS) // a standby ends that no host asked for
#define SEATS_BYTES_MAX 200000u  // below what a broker takes

// ---- the host of the match

// As an operator does it. @return false: the match does not listen.
static bool room_tell_standby(const server_room* room, const char* address) {
    server_path_text path;
    char line[NET_ADDRESS_TEXT_BYTES + 16];
    (void)base_text_format(line, sizeof line, "standbys %s\n", address);
    const int file =
        server_control_connect(server_room_path(room, "/control", path), SOCK_NONBLOCK);
    const bool is_told =
        file >= 0 && send(file, line, strlen(line), MSG_NOSIGNAL) == (ssize_t)strlen(line);
    if (file >= 0) close(file);
    return is_told;
}

static void room_lose_standby(server_room* room) {
    room->standby_host = 0;
    if (room->standby[0] && room_tell_standby(room, "none")) room->standby[0] = '\0';
}

static void ask_for_standby(server_host* host, server_room* room, uint64_t now_us) {
    char subject[SERVER_PEER_SUBJECT_BYTES];
    base_bytes* json = server_host_text(host);
    if (room->question != 0) room_lose_standby(room); // no answer came
    if (room->standby_host != 0)
        (void)base_text_format(subject, sizeof subject, "shoal.standby.host.%016" PRIx64,
                               room->standby_host);
    else
        (void)base_text_format(subject, sizeof subject, "shoal.standby.%s", room->game.name);
    base_json_write(json, "{game=%s match=%s stream=%s key=", room->game.name, room->id,
                    room->stream);
    base_json_hex(json, room->key.bytes, sizeof room->key.bytes);
    base_json_write(json, "seats=");
    const size_t begin = json->size;
    server_room_put_seats(json, room);
    if (json->size > SEATS_BYTES_MAX) { // all seats are held there for some seconds
        json->size = begin;
        base_json_write(json, "null");
    }
    base_json_write(json, "}");
    room->question = server_errands_ask(host, subject, json->data, json->size);
    room->ask_us = now_us + ANSWER_US;
    room->has_news = false;
}

static void ask_for_match(server_host* host, server_room* room, uint64_t now_us) {
    base_bytes* text = server_host_text(host);
    base_bytes_write(text, "0\n", 2);
    base_json_write(text, "{game=%s match=%s}", room->game.name, room->id);
    room->question = server_errands_ask(host, "shoal.find", text->data, text->size);
    room->ask_us = now_us + STARTS_US;
}

void server_standbys_pass(server_host* host, uint64_t now_us) {
    if (host->conf.standbys == 0 || !host->is_in_fleet || now_us < host->standbys_us) return;
    const bool was_away = now_us - host->standbys_us >= AGAIN_US; // no host could ask
    host->standbys_us = now_us + PASS_US;
    for (uint32_t i = 0; i < host->rooms->count; i++) {
        server_room* room = host->rooms->rooms[i];
        if (room->is_elsewhere && was_away) room->ask_us = now_us;
        if (room->is_elsewhere && room->state == SERVER_ROOM_RUNNING &&
            now_us >= room->ask_us + UNASKED_US) {
            room->state = SERVER_ROOM_LEAVING;
            (void)base_text_copy(room->why, sizeof room->why, "no host asks for this standby");
        }
        const bool is_due = now_us >= room->ask_us || (room->has_news && room->question == 0);
        if (room->is_elsewhere || !is_due) continue;
        if (room->state == SERVER_ROOM_PLANNED && now_us < room->hold_us)
            ask_for_match(host, room, now_us);
        else if (room->state == SERVER_ROOM_RUNNING && room->had_players && room->stream[0])
            ask_for_standby(host, room, now_us);
    }
}

void server_standbys_hold(server_room* room, uint64_t now_us) {
    room->hold_us = now_us + HOLD_US;
    room->ask_us = now_us + CLAIM_US;
    room->standby[0] = '\0';
    room->standby_host = room->question = 0;
}

static void room_note_standby(server_room* room, const json_t* json) {
    const char *name, *address;
    char text[NET_ADDRESS_TEXT_BYTES], *end = NULL;
    net_address at;
    if (json_unpack((json_t*)json, "{s:s s:s}", "host", &name, "address", &address) != 0) return;
    const uint64_t before = room->standby_host;
    room->standby_host = strtoull(name, &end, 16);
    if (room->standby_host != before) server_room_save(room);
    if (net_address_parse(address, &at) != NET_OK || at.port == 0) return; // it starts
    room->ask_us += AGAIN_US - STARTS_US;
    (void)net_address_print(&at, text, sizeof text);
    if (strcmp(text, room->standby) != 0 && room_tell_standby(room, text))
        memcpy(room->standby, text, sizeof room->standby);
}

bool server_standbys_answered(server_host* host, const server_peer_message* message) {
    server_room* room = NULL;
    for (uint32_t i = 0; i < host->rooms->count && !room; i++)
        if (host->rooms->rooms[i]->question == message->number) room = host->rooms->rooms[i];
    if (!room || message->number == 0) return false;
    room->question = 0;
    if (room->state == SERVER_ROOM_PLANNED && !message->is_nobody) {
        room->state = SERVER_ROOM_OVER;
        room->is_elsewhere = true;
        room->seat_count = 0;
        (void)base_text_copy(room->why, sizeof room->why, "it continues at another host");
        base_report(&host->reporter, NULL, 0, "note: match %s of %s continues at another host",
                    room->id, room->game.name);
        server_room_save(room);
    } else if (room->state == SERVER_ROOM_RUNNING) {
        json_t* json =
            message->is_nobody ? NULL : json_loadb(message->text, message->size, 0, NULL);
        room->ask_us = net_loop_now_us() + (json ? STARTS_US : AGAIN_US);
        if (json)
            room_note_standby(room, json);
        else
            room_lose_standby(room);
        json_decref(json);
    }
    return true;
}

// ---- the host of the standby

// In numbers, since a server sends it to its players.
static const char* room_find_standby(server_room* room) {
    net_address at;
    if (room->state == SERVER_ROOM_RUNNING && net_address_parse(room->address, &at) == NET_OK) {
        memcpy(at.ip, room->host->own.ip, sizeof at.ip);
        (void)net_address_print(&at, room->standby, sizeof room->standby);
    }
    return room->standby;
}

bool server_standbys_asked(server_host* host, const char* text, size_t text_bytes) {
    const char *game, *id, *stream, *digits;
    json_t* seats;
    net_key key = {.id = 1};
    size_t size = 0;
    char name[SERVER_ROOM_ID_BYTES];
    const uint64_t now_us = net_loop_now_us();
    server_room* room = NULL;
    json_t* json = json_loadb(text, text_bytes, JSON_REJECT_DUPLICATES, NULL);
    if (json_unpack(json, "{s:s s:s s:s s:s s:o}", "game", &game, "match", &id, "stream", &stream,
                    "key", &digits, "seats", &seats) == 0 &&
        server_room_is_id(id) && server_room_is_id(stream) &&
        sodium_hex2bin(key.bytes, sizeof key.bytes, digits, strlen(digits), NULL, &size, NULL) ==
            0 &&
        size == sizeof key.bytes) {
        const server_room_game* known = server_rooms_game(host->rooms, game);
        if (known && !host->is_ending) room = server_rooms_stand_by(host->rooms, known, id, now_us);
    }
    if (room) {
        room->host = host;
        room->ask_us = now_us;
        room->key = key;
        (void)base_text_copy(room->stream, sizeof room->stream, stream);
        room->seat_count = room->value_count = 0;
        server_room_read_seats(host->rooms, room, seats, now_us);
        const char* address = room_find_standby(room);
        (void)base_text_format(name, sizeof name, "%016" PRIx64, host->name);
        base_json_write(server_host_text(host), "{host=%s address=%s}", name, address);
    }
    net_key_wipe(&key);
    json_decref(json);
    return room != NULL;
}

void server_standbys_claimed(server_host* host, server_room* room) {
    room->is_elsewhere = false;
    room->had_players = true;
    room->standby[0] = '\0';
    room->ask_us = room->question = 0;
    for (uint32_t i = 0; i < room->seat_count; i++)
        server_errands_seated(host, &(server_join){.game = room->game.name,
                                                   .request = room->seats[i].request,
                                                   .party = room->seats[i].party});
    base_report(&host->reporter, NULL, 0, "note: match %s of %s continues at this host", room->id,
                room->game.name);
}
