// SPDX-License-Identifier: MIT
// What the port of a host lets in: joins of other hosts, and requests that it passes to a match.
#include "rooms/host.h"
#include "rooms/peers.h"
#include "rooms/rooms.h"

#include "test.h"

#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/socket.h>
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
