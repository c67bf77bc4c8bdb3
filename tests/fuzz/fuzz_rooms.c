// SPDX-License-Identifier: MIT
// Foreign bytes of shoal-host. The first byte chooses: S the seats of a match, 0 host.conf, 1 the
// body of a join, 2 what a match tells: reports, and questions about player 7, who is in it, and
// others, and its first report; 3 what the host answers a match, each line a datagram.
// Invariants: a game that was read has seats, and no more spare matches than it may have; a join
// that was read seats a player, within the seats of a match; values have a key and end; of a player
// who is not in the match no other match has a seat and no record is asked for; bytes are within
// their limits; what a match knows of a player does not change once its join had it.
#include "rooms/channel.h"
#include "rooms/host.h"

#include "base/text.h"
#include "fuzz.h"

#include <jansson.h>

static const server_room_game pong = {.name = "pong", .module = "pong", .seats = 3, .most = 2};

static void check_room(const server_room* room) {
    FUZZ_CHECK(room->value_count <= SERVER_ROOM_VALUES_MAX);
    for (uint32_t i = 0; i < room->value_count; i++) {
        FUZZ_CHECK(room->values[i].key[0] && memchr(room->values[i].key, 0, SERVER_ROOM_KEY_BYTES));
        FUZZ_CHECK(memchr(room->values[i].value, 0, SERVER_ROOM_WORD_BYTES));
    }
}

static void read_conf(const uint8_t* data, size_t size) {
    static server_conf conf;
    memset(&conf, 0, sizeof conf);
    if (size >= SERVER_CONF_BYTES_MAX) return;
    memcpy(conf.text, data, size);
    if (!server_conf_parse(&conf, "host.conf", size, NULL)) return;
    FUZZ_CHECK(conf.game_count > 0 && conf.game_count <= SERVER_ROOM_GAMES_MAX);
    for (uint32_t i = 0; i < conf.game_count; i++) {
        const server_room_game* game = &conf.games[i];
        FUZZ_CHECK(game->name[0] && game->module[0]);
        FUZZ_CHECK(game->seats > 0 && game->seats <= SERVER_ROOM_SEATS_MAX);
        FUZZ_CHECK(game->seats_min <= game->seats && game->spare <= game->most);
    }
}

static void read_join(server_rooms* rooms, const uint8_t* data, size_t size) {
    server_join join = {0};
    server_room* room = NULL;
    server_seat* seat = NULL;
    json_t* body = json_loadb((const char*)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (body && !server_join_read(body, &join)) {
        const server_join_end end = server_rooms_join(rooms, &join, 1, &room, &seat);
        FUZZ_CHECK(end != SERVER_JOIN_SEATED || seat->player != 0);
        if (end == SERVER_JOIN_SEATED) check_room(room);
        FUZZ_CHECK(end != SERVER_JOIN_SEATED || room->seat_count <= pong.seats);
    }
    json_decref(body);
}

// A queue without a thread that works: what is asked stays in its orders.
static void run_nothing(void* context, server_store_order* order) {
    (void)context;
    FUZZ_CHECK(order->record.size <= SERVER_RECORD_BYTES_MAX && order->record.writer[0]);
    FUZZ_CHECK(order->record.version < INT64_MAX && order->record.player == 7);
}

static uint64_t rest_long(void* context, uint64_t now_us) {
    (void)context;
    return now_us + 1000000;
}

static void close_nothing(void* context) {
    (void)context;
}

// The file of a match has its address as one word.
static void check_address(const server_room* room) {
    FUZZ_CHECK(strchr(room->address, ':') && !strpbrk(room->address, " \t\r\n\v\f"));
    FUZZ_CHECK(room->key.id == 0 ||
               server_room_put_seat(server_host_text(room->host), room, 1, "#"));
}

static void read_told(server_rooms* rooms, const uint8_t* data, size_t size) {
    static const server_store_work work = {run_nothing, rest_long, close_nothing};
    static server_host host;
    const uint64_t player = 7;
    server_room* room = server_rooms_add(rooms, &pong, "0123456789abcdef");
    server_room* other = server_rooms_add(rooms, &pong, "fedcba9876543210");
    host.rooms = rooms;
    host.conf.folder = "/nonexistent";
    host.reports.descriptor = -1;
    if (!host.store) host.store = host.results = server_store_begin(&work, NULL);
    while (server_store_pop(host.store)) {
    }
    room->host = other->host = &host;
    room->state = other->state = SERVER_ROOM_RUNNING;
    room->had_players = true; // its folder is not written
    other->key.id = 1;
    (void)base_text_copy(other->address, sizeof other->address, "127.0.0.1:7");
    server_rooms_reported(rooms, room, &player, 1, 1, 1);
    server_host_told(&host, (const char*)data, size, 1);
    FUZZ_CHECK(room->seat_count <= SERVER_ROOM_SEATS_MAX);
    check_room(room);
    room->state = SERVER_ROOM_STARTING;
    server_host_told(&host, (const char*)data, size, 1);
    if (room->state == SERVER_ROOM_RUNNING) check_address(room);
    for (uint32_t i = 0; i < rooms->count; i++)
        for (uint32_t k = 0; rooms->rooms[i] != room && k < rooms->rooms[i]->seat_count; k++) {
            const server_seat* seat = &rooms->rooms[i]->seats[k];
            FUZZ_CHECK(seat->player == player && seat->size <= SERVER_ROOM_TRANSFER_BYTES);
        }
}

static void read_seats(server_rooms* rooms, const uint8_t* data, size_t size) {
    server_room* room = server_rooms_add(rooms, &pong, "0123456789abcdef");
    json_t* json = json_loadb((const char*)data, size, JSON_REJECT_DUPLICATES, NULL);
    server_room_read_seats(rooms, room, json, 1);
    FUZZ_CHECK(room->seat_count <= SERVER_ROOM_SEATS_MAX);
    FUZZ_CHECK(json_is_array(json) || room->seat_count == pong.seats);
    for (uint32_t i = 0; i < room->seat_count; i++) {
        FUZZ_CHECK(room->seats[i].until_us > 0 && room->seats[i].until_us <= 15000001);
        FUZZ_CHECK(memchr(room->seats[i].request, 0, SERVER_ROOM_WORD_BYTES));
        FUZZ_CHECK(memchr(room->seats[i].party, 0, SERVER_ROOM_WORD_BYTES));
    }
    json_decref(json);
}

// ---- what the host answers

static void send_nowhere(void* context, const void* text, size_t size) {
    FUZZ_CHECK(!context && size > 0 && ((const char*)text)[size - 1] == '}');
}

static void move_nowhere(void* context, uint32_t client, const char* address, const char* token,
                         const char* page) {
    FUZZ_CHECK(!context && client == 1 && address && token && page);
}

static void read_answers(const uint8_t* data, size_t size) {
    static server_channel_config config = {
        .match = "m", .send = send_nowhere, .move = move_nowhere};
    static net_match_effect effects[2] = {{.client = 1, .player_id = 7, .tick = 2},
                                          {.client = 1, .player_id = 7, .tick = 2}};
    static net_match_told told = {.effects = effects, .effect_count = 2, .result_tick = 2};
    net_game_player player = {.client = 1, .player_id = 7}, again = player;
    server_channel* channel = server_channel_create(&config);
    effects[1].is_transfer = true;
    (void)server_channel_admit(channel, 1, &player); // request 1; 3 keeps, 5 moves, 2 is the result
    server_channel_look(channel, &told, 1, 1);
    server_channel_look(channel, &told, 2, 1);
    for (uint64_t now_us = 2; size > 0; now_us += 100000) {
        const uint8_t* end = memchr(data, '\n', size);
        const size_t line = end ? (size_t)(end - data) : size;
        const bool was_known = server_channel_admit(channel, now_us, &player);
        server_channel_receive(channel, data, line, now_us);
        if (server_channel_admit(channel, now_us, &again)) {
            FUZZ_CHECK(again.record_bytes <= NET_RECORD_BYTES_MAX &&
                       again.transfer_bytes <= NET_TRANSFER_BYTES_MAX);
            FUZZ_CHECK(again.has_record || again.record_version == 0);
            if (was_known && player.has_record)
                FUZZ_CHECK(again.record_version == player.record_version &&
                           again.record_bytes == player.record_bytes);
        }
        server_channel_pass(channel, true, now_us);
        data += line + (end != NULL);
        size -= line + (end != NULL);
    }
    server_channel_destroy(channel);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    if (data[0] != 'S' && data[0] % 4 == 3) {
        read_answers(data + 1, size - 1);
        return 0;
    }
    server_rooms* rooms = server_rooms_create(net_entropy_system());
    server_rooms_set_games(rooms, &pong, 1);
    if (data[0] == 'S')
        read_seats(rooms, data + 1, size - 1);
    else if (data[0] % 4 == 0)
        read_conf(data + 1, size - 1);
    else if (data[0] % 4 == 1)
        read_join(rooms, data + 1, size - 1);
    else
        read_told(rooms, data + 1, size - 1);
    server_rooms_destroy(rooms);
    return 0;
}
