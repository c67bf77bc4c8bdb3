// SPDX-License-Identifier: MIT
// What the port of a host lets in: joins of other hosts, and requests that it passes to a match.
#include "rooms/host.h"
#include "rooms/peers.h"
#include "rooms/rooms.h"

#include "test.h"

#include "base/file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct door_side {
    server_rooms* rooms;
} door_side;

static void door_side_open(door_side* self) {
    const server_room_game game = {
        .name = "pong", .module = "pong", .seats = 3, .most = 2, .resumes = true};
    self->rooms = server_rooms_create(net_entropy_system());
    server_rooms_set_games(self->rooms, &game, 1);
}

#define DOOR_CASE(name)                                                                            \
    CASE_WITH(door_side, self, door_side_open(self), server_rooms_destroy(self->rooms), name)

// ---- other hosts

static server_host* host_open(const door_side* self) {
    server_host* host = base_owner_create(NULL, sizeof *host);
    base_bytes_init(&host->text, &host->owner.allocator);
    host->rooms = self->rooms;
    host->acceptor.listener = -1;
    host->epoll = epoll_create1(EPOLL_CLOEXEC);
    return host;
}

static void host_close(server_host* host) {
    server_door_close(host);
    server_errands_close(host);
    close(host->epoll);
    base_owner_destroy(host);
}

static uint32_t no_fleet_refusals;

static server_peers* no_fleet_create(const char* url, const base_reporter* reporter) {
    (void)reporter;
    return (server_peers*)(uintptr_t)url; // it has no members
}

static void no_fleet_destroy(server_peers* peers) {
    assert_non_null(peers);
}

static int no_fleet_descriptor(const server_peers* peers) {
    return peers ? -1 : 0;
}

static void no_fleet_listen(server_peers* peers, const char* subject, bool is_group,
                            bool is_wanted) {
    assert_true(peers && subject && !is_group && is_wanted);
}

static void no_fleet_answer(server_peers* peers, const char* reply, const void* bytes,
                            size_t size) {
    assert_non_null(peers);
    assert_string_equal(reply, "_INBOX.a");
    assert_true(size > 4 && memcmp(bytes, "429 ", 4) == 0);
    no_fleet_refusals++;
}

// The match of all of them starts.
DOOR_CASE(joins_of_other_hosts_have_the_limit_of_those_by_http) {
    static const server_broker no_fleet = {.create = no_fleet_create,
                                           .destroy = no_fleet_destroy,
                                           .descriptor = no_fleet_descriptor,
                                           .listen = no_fleet_listen,
                                           .answer = no_fleet_answer};
    const server_join join = {.game = "pong", .request = "r1"};
    server_host* host = host_open(self);
    host->broker = &no_fleet;
    host->conf.fleet = "nats://broker";
    host->conf.fleet_page = "http://one.example";
    assert_ok(server_errands_open(host));
    no_fleet_refusals = 0;
    for (uint32_t i = 0; i < 1100; i++)
        server_door_asked(host, "_INBOX.a", &join);
    assert_int_equal(host->waiting_count, 1024);
    assert_int_equal(host->visit_count, 1024);
    assert_int_equal(host->refused, 76);
    assert_int_equal(no_fleet_refusals, 76);
    host_close(host);
}

// ---- standbys

// The newest question.
static struct {
    char subject[SERVER_PEER_SUBJECT_BYTES], text[1 << 18];
    size_t size;
    uint64_t number;
} asked;

static void fleet_send(server_peers* peers, const char* subject, uint64_t number, const void* bytes,
                       size_t size) {
    assert_true(peers && size < sizeof asked.text);
    (void)snprintf(asked.subject, sizeof asked.subject, "%s", subject);
    memcpy(asked.text, bytes, size);
    asked.text[size] = '\0';
    asked.size = size;
    asked.number = number;
}

static server_host* fleet_open(const door_side* self, const char* folder) {
    static const server_broker fleet = {.create = no_fleet_create,
                                        .destroy = no_fleet_destroy,
                                        .descriptor = no_fleet_descriptor,
                                        .listen = no_fleet_listen,
                                        .send = fleet_send};
    server_host* host = host_open(self);
    host->broker = &fleet;
    host->reports.descriptor = -1;
    host->conf.fleet = "nats://broker";
    host->conf.fleet_page = "http://one.example";
    host->conf.listen = "0.0.0.0:7000-7999";
    host->conf.public_name = "localhost";
    host->conf.standbys = 1;
    host->conf.folder = folder;
    assert_ok(server_errands_open(host));
    host->is_in_fleet = true;
    return host;
}

static void fleet_answer(server_host* host, const char* text) {
    const server_peer_message answer = {
        .subject = "", .number = asked.number, .text = text, .size = strlen(text)};
    assert_true(server_standbys_answered(host, &answer));
}

// With the folder of the match below.
static void folder_open(char* folder) {
    char command[128];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(command, sizeof command, "mkdir -p %s/matches/0123456789abcdef", folder);
    assert_ok(system(command));
}

static void folder_close(const char* folder) {
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    assert_ok(system(command));
}

// A room that has players, and a process that has its id.
static server_room* room_open(server_host* host, uint32_t seats) {
    server_room_game* game = &host->rooms->games[0];
    game->seats = seats;
    server_room* room = server_rooms_add(host->rooms, game, "0123456789abcdef");
    room->host = host;
    room->state = SERVER_ROOM_RUNNING;
    room->had_players = true;
    (void)snprintf(room->stream, sizeof room->stream, "fedcba9876543210");
    (void)snprintf(room->address, sizeof room->address, "0.0.0.0:7001");
    (void)snprintf(room->http, sizeof room->http, "127.0.0.1:8001");
    net_key_make(1, net_entropy_system(), &room->key);
    return room;
}

DOOR_CASE(the_address_of_a_standby_is_looked_up_when_its_host_starts) {
    server_host* host = fleet_open(self, "/nonexistent");
    server_room* room = room_open(host, 3);
    host->conf.public_name = "elsewhere.invalid"; // it may not be looked up again
    room->is_elsewhere = true;
    static const char question[] = "{\"game\":\"pong\",\"match\":\"0123456789abcdef\",\"stream\":"
                                   "\"fedcba9876543210\",\"key\":\"%s\",\"seats\":[]}";
    char key[sizeof room->key.bytes * 2 + 1], text[512];
    memset(key, '7', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    const int size = snprintf(text, sizeof text, question, key);
    assert_true(server_standbys_asked(host, text, (size_t)size));
    assert_string_equal(room->standby, "127.0.0.1:7001");
    host_close(host);
}

static void tell_player(const char* path, const char* id) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char text[256];
    const int size = snprintf(text, sizeof text,
                              "{\"match\":\"%s\",\"at_us\":\"1\",\"address\":\"0.0.0.0:7001\","
                              "\"http\":\"127.0.0.1:8001\",\"players\":[\"7\"]}",
                              id);
    const int teller = socket(AF_UNIX, SOCK_DGRAM, 0);
    (void)snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    assert_int_equal(sendto(teller, text, (size_t)size, 0, (const struct sockaddr*)&at, sizeof at),
                     size);
    close(teller);
}

// Else a third one would get one, too.
DOOR_CASE(the_next_host_asks_the_host_that_has_the_standby) {
    char folder[] = "/tmp/rooms-XXXXXX", path[128], subject[SERVER_PEER_SUBJECT_BYTES];
    folder_open(folder);
    server_host* host = fleet_open(self, folder);
    server_room* room = room_open(host, 3);
    room->pid = (uint64_t)fork();
    if (room->pid == 0) {
        (void)execl("/bin/sh", "sh", "-c", "kill -STOP $$; exit", room->id, NULL);
        _exit(1);
    }
    const int process = (int)room->pid;
    server_standbys_pass(host, 1);
    assert_string_equal(asked.subject, "shoal.standby.pong");
    fleet_answer(host, "{\"host\":\"00000000000000ab\",\"address\":\"\"}");
    server_room_save(room);
    host_close(host);
    // The host before was killed: the match has its process.
    server_rooms* rooms = server_rooms_create(net_entropy_system());
    server_rooms_set_games(rooms, self->rooms->games, 1);
    (void)snprintf(path, sizeof path, "%s/matches/0123456789abcdef/keys", folder);
    FILE* keys = fopen(path, "w");
    char text[NET_KEY_TEXT_BYTES];
    assert_true(keys && net_key_print(&room->key, text, sizeof text));
    assert_true(fprintf(keys, "%s\n", text) > 0 && fchmod(fileno(keys), 0600) == 0);
    assert_ok(fclose(keys));
    host = fleet_open(&(door_side){rooms}, folder);
    assert_int_equal(waitpid(process, NULL, WUNTRACED), process); // it has its words
    assert_true(server_host_find_matches(host));
    assert_int_equal(rooms->count, 1);
    assert_int_equal(rooms->rooms[0]->state, SERVER_ROOM_RUNNING);
    (void)snprintf(rooms->rooms[0]->stream, SERVER_ROOM_ID_BYTES, "fedcba9876543210");
    server_standbys_pass(host, 1);
    (void)snprintf(subject, sizeof subject, "shoal.standby.host.%016x", 0xab);
    assert_string_equal(asked.subject, subject);
    // It is killed right after it told of its first player.
    room = rooms->rooms[0];
    room->had_players = false;
    (void)snprintf(path, sizeof path, "%s/reports", folder);
    tell_player(path, room->id);
    assert_ok(kill(process, SIGKILL));
    assert_int_equal(waitpid(process, NULL, 0), process);
    room->end.ready(room->end.owner, EPOLLIN);
    assert_true(room->had_players && room->state == SERVER_ROOM_PLANNED);
    host_close(host);
    server_rooms_destroy(rooms);
    folder_close(folder);
}

// The next question goes to it. A match that both have is at another host all the same.
DOOR_CASE(of_two_hosts_that_answer_one_question_the_first_one_counts) {
    server_host* host = fleet_open(self, "/nonexistent");
    server_room* room = room_open(host, 3);
    server_peer_message late = {.subject = "",
                                .text = "{\"host\":\"00000000000000cd\",\"address\":\"\"}"};
    server_standbys_pass(host, 1);
    late.number = asked.number;
    late.size = strlen(late.text);
    fleet_answer(host, "{\"host\":\"00000000000000ab\",\"address\":\"\"}");
    assert_false(server_standbys_answered(host, &late));
    assert_int_equal(room->standby_host, 0xab);
    // It died, and both have it.
    room->state = SERVER_ROOM_PLANNED;
    server_standbys_hold(room, 1);
    server_standbys_pass(host, 1000000);
    assert_string_equal(asked.subject, "shoal.find");
    late.number = asked.number;
    fleet_answer(host, "ab\n");
    assert_false(server_standbys_answered(host, &late));
    assert_true(room->state == SERVER_ROOM_OVER && room->is_elsewhere);
    host_close(host);
}

// A question is below what a broker takes. Which seats are held is not said then, so all are.
DOOR_CASE(a_standby_of_a_match_with_very_many_seats_holds_all_of_them) {
    server_host* host = fleet_open(self, "/nonexistent");
    server_room* room = room_open(host, 400);
    for (uint32_t i = 0; i < 300; i++) {
        server_seat* seat = server_room_add_seat(host->rooms, room);
        seat->player = i + 1;
        seat->until_us = 1;
        seat->size = SERVER_ROOM_TRANSFER_BYTES;
    }
    server_standbys_pass(host, 1);
    assert_true(asked.size < 1000);
    // The host of the standby.
    server_rooms* rooms = server_rooms_create(net_entropy_system());
    server_rooms_set_games(rooms, self->rooms->games, 1);
    server_host* other = fleet_open(&(door_side){rooms}, "/nonexistent");
    assert_true(server_standbys_asked(other, asked.text, asked.size));
    assert_int_equal(rooms->count, 1);
    assert_true(rooms->rooms[0]->is_elsewhere);
    assert_int_equal(rooms->rooms[0]->seat_count, 400);
    host_close(other);
    host_close(host);
    server_rooms_destroy(rooms);
}

// A host that died asks no more, and the one that asks next may have chosen another standby.
DOOR_CASE(a_standby_that_no_host_asks_for_ends) {
    server_host* host = fleet_open(self, "/nonexistent");
    server_room* room = room_open(host, 3);
    room->is_elsewhere = true;
    room->ask_us = 1; // in this turn of the loop, after its begin
    for (uint64_t now_us = 0; now_us < 900000000; now_us += 1000000) {
        assert_int_equal(room->state, SERVER_ROOM_RUNNING);
        // Away from the fleet no host could ask.
        server_standbys_pass(host, now_us < 300000000 ? now_us : now_us + 3600000000);
    }
    server_standbys_pass(host, 4500000000);
    assert_int_equal(room->state, SERVER_ROOM_LEAVING);
    host_close(host);
}

// ---- a match's folder and command

DOOR_CASE(a_write_that_is_cut_says_why) {
    char folder[] = "/tmp/rooms-XXXXXX";
    base_report_first said = {0};
    struct rlimit before, limit;
    folder_open(folder);
    server_host* host = fleet_open(self, folder);
    host->reporter = base_reporter_first(&said);
    server_room* room = room_open(host, 3);
    server_room_add_seat(self->rooms, room);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_ok(getrlimit(RLIMIT_FSIZE, &before));
    limit = (struct rlimit){20, before.rlim_max};
    assert_ok(setrlimit(RLIMIT_FSIZE, &limit));
    errno = 0;
    server_room_save(room);
    assert_ok(setrlimit(RLIMIT_FSIZE, &before));
    assert_int_equal(said.count, 1);
    assert_non_null(strstr(said.text, base_error_text(EFBIG)));
    host_close(host);
    folder_close(folder);
}

DOOR_CASE(a_match_with_too_many_words_of_options_says_what_to_shorten) {
    server_host* host = fleet_open(self, "/nonexistent");
    base_report_first said = {0};
    host->reporter = base_reporter_first(&said);
    server_room_game* game = &self->rooms->games[0];
    for (uint32_t i = 0; i < 90; i++)
        memcpy(game->options + 2 * i, "x ", 3);
    server_room* room = server_rooms_add(self->rooms, game, NULL);
    (void)server_host_tend(host, 1);
    assert_int_equal(room->state, SERVER_ROOM_OVER);
    assert_non_null(strstr(said.text, "shorten options of game pong in host.conf"));
    host_close(host);
}

// ---- to a match

// The head that a match gets of a request with this line and the operator's token of the host.
static void pass(door_side* self, const char* request, const char* token, char* head, size_t size) {
    static const base_option_list none = {.count = 0};
    char text[512], tokens[] = "reader rrrrrrrrrrrrrrrr\noperator oooooooooooooooo\n";
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t at_bytes = sizeof at;
    struct epoll_event event;
    int pair[2];
    net_address from;
    server_host* host = host_open(self);
    server_room* room = server_rooms_find(self->rooms, "0123456789abcdef", 16);
    if (!room) room = server_rooms_add(self->rooms, &self->rooms->games[0], "0123456789abcdef");
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_ok(bind(listener, (const struct sockaddr*)&at, sizeof at));
    assert_ok(listen(listener, 1));
    assert_ok(getsockname(listener, (struct sockaddr*)&at, &at_bytes));
    assert_ok(net_address_parse("127.0.0.1:1", &from));
    assert_true(server_gate_init(&host->gate, &from, NULL, &none, &none, NULL));
    assert_true(server_gate_read(&host->gate, "tokens", tokens, NULL));
    (void)snprintf(room->http, sizeof room->http, "127.0.0.1:%u", ntohs(at.sin_port));
    (void)snprintf(room->tokens[SERVER_OPERATOR], SERVER_ROOM_TOKEN_BYTES, "of-the-match");
    room->state = SERVER_ROOM_RUNNING;
    assert_ok(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair));
    server_door_enter(host, pair[0], &from);
    const int length =
        snprintf(text, sizeof text, "%s\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n",
                 request, token);
    assert_int_equal(write(pair[1], text, (size_t)length), length);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(epoll_wait(host->epoll, &event, 1, 5000), 1);
        ((server_watch*)event.data.ptr)
            ->ready(((server_watch*)event.data.ptr)->owner, event.events);
    }
    const int match = accept(listener, NULL, NULL);
    const ssize_t read = recv(match, head, size - 1, 0);
    head[read > 0 ? read : 0] = '\0';
    close(match);
    close(listener);
    close(pair[1]);
    host_close(host);
}

DOOR_CASE(no_match_sees_a_token_of_its_host) {
    static const struct {
        const char *request, *token, *seen; // seen NULL: none
    } rows[] = {
        {"GET /m/0123456789abcdef/x HTTP/1.1", "oooooooooooooooo", "of-the-match"},
        {"POST /m/0123456789abcdef/x HTTP/1.1", "rrrrrrrrrrrrrrrr", NULL},
        {"GET /m/0123456789abcdef/x HTTP/1.1\r\nOrigin: http://b.example", "oooooooooooooooo",
         NULL},
        {"GET /m/0123456789abcdef/x HTTP/1.1", "of-the-match-itself", "of-the-match-itself"},
    };
    char head[1024], line[64];
    for (size_t i = 0; i < BASE_COUNT(rows); i++) {
        pass(self, rows[i].request, rows[i].token, head, sizeof head);
        (void)snprintf(line, sizeof line, "Authorization: Bearer %s\r\n",
                       rows[i].seen ? rows[i].seen : "");
        if (strncmp(strchr(head, ' '), " /x HTTP/1.1\r\n", 14) != 0 ||
            !strstr(head, rows[i].seen ? line : "\r\n") ||
            (!rows[i].seen && strstr(head, "Authorization")))
            fail_msg("%zu: %s", i, head);
    }
}
