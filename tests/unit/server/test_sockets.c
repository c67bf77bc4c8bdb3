// SPDX-License-Identifier: MIT
// Sockets of players in browsers, on their way from the thread of HTTP to the loop.
#include "test.h"

#include "play/sockets.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

// A masked frame with the hello without a token, and one that is no message of ours.
static const uint8_t hello[] = {0x82, 0x81, 0, 0, 0, 0, NET_WEB_HELLO};
static const uint8_t wrong[] = {0x82, 0x81, 0, 0, 0, 0, 9};

typedef struct fixture {
    server_sockets* sockets;
    net_transport* web;
    int browser,
        other; ///< the other end; another descriptor of ours, as libmicrohttpd has for a while
    uint64_t now_us;
} fixture;

static net_secure_end admit(void* context, const net_address* from, const net_token* token,
                            net_peer_identity* identity, net_token* resume, net_token* later) {
    *identity = (net_peer_identity){.address = *from};
    *resume = *token;
    return NET_SECURE_END_NONE;
}

static void open_fixture(fixture* self) {
    *self = (fixture){.sockets = server_sockets_create(), .browser = -1, .other = -1, .now_us = 1};
    assert_non_null(self->sockets);
    const net_web_config config = {
        .peers_max = 2, .slot_first = 4, .io = server_sockets_io(self->sockets), .admit = admit};
    assert_ok(net_transport_web_create(&config, &self->web));
    self->web->ops->service(self->web, self->now_us);
}

static void close_fixture(fixture* self) {
    self->web->ops->destroy(self->web);
    server_sockets_destroy(self->sockets);
    close(self->browser);
    if (self->other >= 0) close(self->other);
}

#define SOCKETS_CASE(name) CASE_WITH(fixture, self, open_fixture(self), close_fixture(self), name)

// A connection from the thread of HTTP. @return the browser's end.
static int hand_over(fixture* self, const uint8_t* first, size_t first_size) {
    int pair[2];
    const net_address from = net_address_ipv4(0x0100007F, 9);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    if (self->other >= 0) close(self->other);
    self->other = fcntl(pair[1], F_DUPFD_CLOEXEC, 0);
    const server_upgrade* upgrade = server_sockets_upgrade(self->sockets);
    upgrade->take(upgrade->context, pair[1], &from, first, first_size);
    return pair[0];
}

static void serve(fixture* self) {
    server_sockets_take(self->sockets, self->web);
    self->web->ops->service(self->web, ++self->now_us);
}

static bool is_woken(const fixture* self) {
    struct pollfd polled = {.fd = server_sockets_io(self->sockets).descriptor, .events = POLLIN};
    return poll(&polled, 1, 0) == 1;
}

// The other end is closed.
static bool is_over(fixture* self, int browser) {
    uint8_t bytes[256];
    close(self->other);
    self->other = -1;
    while (recv(browser, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
    }
    return recv(browser, bytes, 1, MSG_DONTWAIT) == 0;
}

SOCKETS_CASE(a_connection_is_handed_over_and_wakes_the_loop) {
    net_transport_event event;
    assert_false(is_woken(self));
    self->browser = hand_over(self, NULL, 0);
    assert_true(is_woken(self));
    serve(self);
    assert_false(is_woken(self));
    assert_int_equal(send(self->browser, hello, sizeof hello, MSG_NOSIGNAL), sizeof hello);
    assert_true(is_woken(self));
    serve(self);
    assert_true(self->web->ops->next(self->web, &event));
    assert_int_equal(event.kind, NET_TRANSPORT_CONNECTED);
    self->web->ops->disconnect(self->web, event.peer, 5, true);
    assert_true(is_over(self, self->browser));
}

// Else epoll names a stream that was freed.
SOCKETS_CASE(a_closed_stream_is_named_no_more_while_others_have_its_socket) {
    self->browser = hand_over(self, hello, sizeof hello);
    serve(self);
    net_transport_event event;
    assert_true(self->web->ops->next(self->web, &event));
    self->web->ops->disconnect(self->web, event.peer, 5, true);
    assert_int_equal(send(self->browser, wrong, sizeof wrong, MSG_NOSIGNAL), sizeof wrong);
    assert_false(is_woken(self));
    serve(self);
    assert_true(is_over(self, self->browser));
}

SOCKETS_CASE(one_without_a_place_is_closed) {
    int browsers[2];
    for (uint32_t i = 0; i < 2; i++)
        browsers[i] = hand_over(self, hello, sizeof hello);
    self->browser = hand_over(self, hello, sizeof hello);
    serve(self);
    assert_int_equal(send(self->browser, wrong, sizeof wrong, MSG_NOSIGNAL), sizeof wrong);
    assert_false(is_woken(self));
    assert_true(is_over(self, self->browser));
    close(browsers[0]);
    close(browsers[1]);
}

SOCKETS_CASE(what_cannot_be_handed_over_is_closed) {
    enum { MANY = 200 };
    static const uint8_t first[SERVER_UPGRADE_FIRST_BYTES_MAX + 1];
    int browsers[MANY];
    uint32_t over = 0;
    self->browser = hand_over(self, first, sizeof first);
    assert_true(is_over(self, self->browser));
    for (uint32_t i = 0; i < MANY; i++)
        browsers[i] = hand_over(self, NULL, 0); // the loop takes none of them
    for (uint32_t i = 0; i < MANY; i++)
        over += is_over(self, browsers[i]);
    assert_in_range(over, 1, MANY - 10);
    serve(self); // there is place for two
    for (uint32_t i = over = 0; i < MANY; i++) {
        over += is_over(self, browsers[i]);
        close(browsers[i]);
    }
    assert_int_equal(over, MANY - 2);
}

SOCKETS_CASE(those_that_were_not_taken_are_closed_at_the_end) {
    const int browser = hand_over(self, NULL, 0);
    close_fixture(self);
    assert_int_equal(fcntl(browser, F_GETFD), FD_CLOEXEC);
    self->other = -1;
    uint8_t byte;
    assert_int_equal(recv(browser, &byte, 1, MSG_DONTWAIT), 0);
    close(browser);
    open_fixture(self);
}
