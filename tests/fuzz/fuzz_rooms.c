// SPDX-License-Identifier: MIT
// Foreign bytes of shoal-host. The first byte chooses: S the seats of a match, 0 host.conf, 1 the
// body of a join, 2 what a match tells: reports, and questions about player 7, who is in it, and
// others, and its first report, also of a standby; 3 what the host answers a match, each line a
// datagram; B what another host asks about a standby, and its answer; D a request to the host's
// port, a NUL, and what its fleet's broker brings, each with a NUL: a subject, or = for an answer
// to the newest question, ~ that no host listens, # an answer about streams; a line feed and the
// text.
// Invariants: a game that was read has seats, and no more spare matches than it may have; a join
// that was read seats a player, within the seats of a match; values have a key and end; of a player
// who is not in the match no other match has a seat, and no record is asked for; bytes are within
// their limits; what a match knows of a player does not change once its join had it; subjects for
// the broker are of letters that have no meaning to it, deleted streams have names of ours; an
// answer of JSON is JSON.
#include "rooms/channel.h"
#include "rooms/host.h"
#include "rooms/peers.h"

#include "base/text.h"
#include "fuzz.h"
#include "net/socket.h"

#include <jansson.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

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
}

static void run_record(void* context, server_store_order* order) {
    run_nothing(context, order);
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
    static const server_store_work results = {run_nothing, rest_long, close_nothing};
    static const server_store_work records = {run_record, rest_long, close_nothing};
    static server_host host;
    const uint64_t player = 7;
    server_room* room = server_rooms_add(rooms, &pong, "0123456789abcdef");
    server_room* other = server_rooms_add(rooms, &pong, "fedcba9876543210");
    host.rooms = rooms;
    host.conf.folder = "/nonexistent";
    host.reports.descriptor = -1;
    if (!host.store) host.store = server_store_begin(&records, NULL);
    if (!host.results) host.results = server_store_begin(&results, NULL);
    while (server_store_pop(host.store) || server_store_pop(host.results)) {
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
    room->is_elsewhere = true;
    server_host_told(&host, (const char*)data, size, 1);
    FUZZ_CHECK(!room->stream[0] || server_room_is_id(room->stream));
    for (uint32_t i = 0; i < rooms->count; i++)
        for (uint32_t k = 0; rooms->rooms[i] != room && k < rooms->rooms[i]->seat_count; k++) {
            const server_seat* seat = &rooms->rooms[i]->seats[k];
            FUZZ_CHECK(seat->player == player && seat->size <= SERVER_ROOM_TRANSFER_BYTES);
        }
}

static void read_standby(server_rooms* rooms, const uint8_t* data, size_t size) {
    static server_host host;
    const server_peer_message answer = {
        .subject = "", .number = 1, .text = (const char*)data, .size = size};
    host.rooms = rooms;
    host.conf.folder = "/nonexistent";
    if (server_standbys_asked(&host, (const char*)data, size)) {
        const server_room* room = rooms->rooms[0];
        FUZZ_CHECK(rooms->count == 1 && room->is_elsewhere && room->state == SERVER_ROOM_PLANNED);
        FUZZ_CHECK(server_room_is_id(room->id) && server_room_is_id(room->stream));
        FUZZ_CHECK(room->seat_count <= SERVER_ROOM_SEATS_MAX && host.text.size > 0);
        check_room(room);
    }
    server_room* room = server_rooms_add(rooms, &pong, "fedcba987654321f");
    room->host = &host;
    room->state = SERVER_ROOM_RUNNING;
    room->question = 1;
    FUZZ_CHECK(server_standbys_answered(&host, &answer) && room->question == 0);
    FUZZ_CHECK(!room->standby[0]); // no match listens
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

// ---- the port, and a broker

#define LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_-."

typedef struct line {
    const char* text; // what the broker brings
    size_t size;
    uint64_t asked, listed; // the newest question to hosts, and to the broker
} line;
static line broker;

static server_peers* line_create(const char* url, const base_reporter* reporter) {
    (void)url, (void)reporter;
    return (server_peers*)&broker;
}

static void line_destroy(server_peers* peers) {
    (void)peers;
}

static int line_descriptor(const server_peers* peers) {
    (void)peers;
    return -1;
}

static bool line_pass(server_peers* peers) {
    return peers != NULL;
}

static void line_listen(server_peers* peers, const char* subject, bool is_group, bool is_wanted) {
    (void)peers, (void)is_group, (void)is_wanted;
    FUZZ_CHECK(strspn(subject, LETTERS) == strlen(subject));
}

static void line_send(server_peers* peers, const char* subject, uint64_t number, const void* bytes,
                      size_t size) {
    static const char end[] = "$JS.API.STREAM.DELETE.SHOAL_", list[] = "$JS.API.STREAM.LIST";
    (void)peers, (void)bytes, (void)size;
    if (strcmp(subject, list) == 0) {
        broker.listed = number;
    } else if (subject[0] == '$') {
        FUZZ_CHECK(strncmp(subject, end, sizeof end - 1) == 0);
        FUZZ_CHECK(strspn(subject + sizeof end - 1, LETTERS) == 16 && strlen(subject) == 44);
    } else {
        FUZZ_CHECK(strncmp(subject, "shoal.", 6) == 0);
        FUZZ_CHECK(strspn(subject, LETTERS) == strlen(subject));
        if (number > 0) broker.asked = number;
    }
}

static void line_answer(server_peers* peers, const char* reply, const void* bytes, size_t size) {
    (void)peers, (void)bytes;
    FUZZ_CHECK(strcmp(reply, "_INBOX.a") == 0 && size > 0);
}

static bool line_next(server_peers* peers, server_peer_message* message) {
    static char subject[SERVER_PEER_SUBJECT_BYTES];
    (void)peers;
    if (broker.size == 0) return false;
    const char* end = memchr(broker.text, 0, broker.size);
    const size_t size = end ? (size_t)(end - broker.text) : broker.size;
    const char* text = memchr(broker.text, '\n', size);
    const size_t word = text ? (size_t)(text - broker.text) : size;
    (void)base_text_format(subject, sizeof subject, "%.*s", (int)word, broker.text);
    const bool is_answer = !strchr(subject, '.');
    *message = (server_peer_message){.subject = is_answer ? "" : subject,
                                     .reply = is_answer ? "" : "_INBOX.a",
                                     .is_nobody = subject[0] == '~',
                                     .text = text ? text + 1 : NULL,
                                     .size = text ? size - word - 1 : 0};
    if (is_answer) message->number = subject[0] == '#' ? broker.listed : broker.asked;
    broker.text += size + (end != NULL);
    broker.size -= size + (end != NULL);
    return true;
}

static void pass_host(server_host* host, uint64_t now_us) {
    struct epoll_event event;
    for (uint32_t i = 0; i < 20 && epoll_wait(host->epoll, &event, 1, 0) == 1; i++) {
        server_watch* watch = event.data.ptr;
        watch->ready(watch->owner, event.events);
    }
    server_errands_pass(host, now_us);
    (void)server_door_pass(host, now_us);
}

static void check_answer(int client) {
    static char text[1 << 20];
    const ssize_t size = recv(client, text, sizeof text - 1, MSG_DONTWAIT);
    text[size > 0 ? size : 0] = '\0';
    const char* body = strstr(text, "\r\n\r\n");
    if (size <= 0) return;
    FUZZ_CHECK(body && strncmp(text, "HTTP/1.1 ", 9) == 0);
    if (!strstr(text, "Content-Type: application/json\r\n") || !body[4]) return;
    json_t* json = json_loads(body + 4, 0, NULL);
    FUZZ_CHECK(json);
    json_decref(json);
}

static void read_door(server_rooms* rooms, const uint8_t* data, size_t size) {
    static const server_broker lines = {line_create, line_destroy, line_descriptor, line_pass,
                                        line_listen, line_send,    line_answer,     line_next};
    static const base_option_list none = {.count = 0};
    net_address from;
    const uint8_t* end = memchr(data, 0, size);
    const size_t request = end ? (size_t)(end - data) : size;
    server_host* host = base_owner_create(NULL, sizeof *host);
    server_room* room = server_rooms_add(rooms, &pong, "0123456789abcdef");
    int pair[2];
    base_bytes_init(&host->text, &host->owner.allocator);
    host->rooms = rooms;
    host->broker = &lines;
    host->acceptor.listener = -1;
    host->conf.folder = "/nonexistent";
    host->conf.fleet = "nats://broker";
    host->conf.fleet_page = "http://one.example";
    host->epoll = epoll_create1(EPOLL_CLOEXEC);
    room->host = host;
    room->key.id = 1;
    room->state = SERVER_ROOM_RUNNING;
    (void)base_text_copy(room->address, sizeof room->address, "127.0.0.1:7");
    (void)base_text_copy(room->http, sizeof room->http, "127.0.0.1:1");
    FUZZ_CHECK(net_address_parse("127.0.0.1:1", &from) == NET_OK);
    FUZZ_CHECK(server_gate_init(&host->gate, &from, NULL, &none, &none, NULL));
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    FUZZ_CHECK(server_errands_open(host) == 0);
    broker = (line){0};
    server_errands_pass(host, net_loop_now_us()); // the broker is there
    broker = (line){.text = (const char*)data + request + (end != NULL),
                    .size = size - request - (end != NULL),
                    .listed = broker.listed};
    server_door_enter(host, pair[0], &from);
    (void)!write(pair[1], data, request);
    for (uint64_t i = 0; i < 8; i++)
        pass_host(host, net_loop_now_us() + i * 6000000);
    check_answer(pair[1]);
    FUZZ_CHECK(room->seat_count <= pong.seats);
    server_door_close(host);
    server_errands_close(host);
    close(pair[1]);
    close(host->epoll);
    base_owner_destroy(host);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    if (data[0] != 'S' && data[0] != 'B' && data[0] % 4 == 3) {
        read_answers(data + 1, size - 1);
        return 0;
    }
    server_rooms* rooms = server_rooms_create(net_entropy_system());
    server_rooms_set_games(rooms, &pong, 1);
    if (data[0] == 'S')
        read_seats(rooms, data + 1, size - 1);
    else if (data[0] == 'D')
        read_door(rooms, data + 1, size - 1);
    else if (data[0] == 'B')
        read_standby(rooms, data + 1, size - 1);
    else if (data[0] % 4 == 0)
        read_conf(data + 1, size - 1);
    else if (data[0] % 4 == 1)
        read_join(rooms, data + 1, size - 1);
    else
        read_told(rooms, data + 1, size - 1);
    server_rooms_destroy(rooms);
    return 0;
}
