// SPDX-License-Identifier: MIT
// A connection crosses the threads as one record in a pipe, which is read whole. One epoll
// descriptor is readable when any of them is, and the pipe too: the loop waits for that one.
#define _GNU_SOURCE // pipe2

#include "sockets.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct handed {
    int descriptor;
    uint32_t first_size;
    net_address from;
    uint8_t first[SERVER_UPGRADE_FIRST_BYTES_MAX];
} handed;

BASE_STATIC_ASSERT(sizeof(handed) <= PIPE_BUF, "a record is written whole or not at all");

typedef struct socket_stream {
    net_web_stream stream;
    int descriptor;
} socket_stream;

struct server_sockets {
    int epoll, pipe[2];
    server_upgrade upgrade;
};

static int descriptor_of(const net_web_stream* stream) {
    return ((const socket_stream*)stream)->descriptor;
}

// ---- on the thread of HTTP ----

static void hand_over(void* context, int descriptor, const net_address* from, const uint8_t* first,
                      size_t first_size) {
    const server_sockets* self = context;
    handed record = {.descriptor = descriptor, .from = *from, .first_size = (uint32_t)first_size};
    bool is_over = first_size <= sizeof record.first;
    if (is_over && first_size > 0) memcpy(record.first, first, first_size);
    is_over = is_over && write(self->pipe[1], &record, sizeof record) == (ssize_t)sizeof record;
    if (!is_over) close(descriptor); // no place: the browser sees a line that was cut
}

// ---- streams ----

static uint32_t list_ready(void* context, net_web_stream** streams, uint32_t capacity) {
    const server_sockets* self = context;
    struct epoll_event events[64];
    uint32_t count = 0;
    if (capacity > BASE_COUNT(events)) capacity = BASE_COUNT(events);
    const int found = epoll_wait(self->epoll, events, (int)capacity, 0);
    for (int i = 0; i < found; i++)
        if (events[i].data.ptr) streams[count++] = events[i].data.ptr;
    return count;
}

static bool is_later(void) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static long read_stream(void* context, net_web_stream* stream, uint8_t* bytes, size_t size) {
    (void)context;
    const ssize_t got = recv(descriptor_of(stream), bytes, size, 0);
    return got > 0 ? got : got < 0 && is_later() ? 0 : -1;
}

static long write_stream(void* context, net_web_stream* stream, const uint8_t* bytes, size_t size) {
    (void)context;
    const ssize_t taken = send(descriptor_of(stream), bytes, size, MSG_NOSIGNAL);
    return taken >= 0 ? taken : is_later() ? 0 : -1;
}

// Not what waits for its acknowledgement: that is as much as the line holds.
static uint32_t count_unsent(void* context, net_web_stream* stream) {
    (void)context;
    int unsent = 0;
    return ioctl(descriptor_of(stream), SIOCOUTQNSD, &unsent) == 0 ? (uint32_t)unsent : 0;
}

// The thread of HTTP may have its own descriptor of the socket still, and as long as there is one
// epoll goes on to name the stream.
static void forget(const server_sockets* self, int descriptor) {
    (void)epoll_ctl(self->epoll, EPOLL_CTL_DEL, descriptor, NULL);
    close(descriptor);
}

static void close_stream(void* context, net_web_stream* stream) {
    forget(context, descriptor_of(stream));
    base_release(NULL, stream, sizeof(socket_stream));
}

net_web_io server_sockets_io(server_sockets* self) {
    return (net_web_io){.context = self,
                        .ready = list_ready,
                        .read = read_stream,
                        .write = write_stream,
                        .unsent = count_unsent,
                        .close = close_stream,
                        .descriptor = self->epoll};
}

// ---- connections ----

static void take_one(const server_sockets* self, const handed* record, net_transport* web) {
    const int one = 1;
    socket_stream* made = base_allocate_zero(NULL, sizeof *made);
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = made};
    (void)setsockopt(record->descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    const int flags = fcntl(record->descriptor, F_GETFL);
    bool is_in = flags >= 0 && fcntl(record->descriptor, F_SETFL, flags | O_NONBLOCK) == 0 &&
                 epoll_ctl(self->epoll, EPOLL_CTL_ADD, record->descriptor, &event) == 0;
    if (is_in) {
        made->descriptor = record->descriptor;
        is_in = net_web_add(web, &made->stream, &record->from, record->first, record->first_size);
    }
    if (is_in) return;
    forget(self, record->descriptor);
    base_release(NULL, made, sizeof *made);
}

void server_sockets_take(server_sockets* self, net_transport* web) {
    handed record;
    while (read(self->pipe[0], &record, sizeof record) == (ssize_t)sizeof record)
        take_one(self, &record, web);
}

const server_upgrade* server_sockets_upgrade(server_sockets* self) {
    return &self->upgrade;
}

server_sockets* server_sockets_create(void) {
    server_sockets* self = base_allocate_zero(NULL, sizeof *self);
    self->pipe[0] = self->pipe[1] = -1;
    self->upgrade = (server_upgrade){.context = self, .take = hand_over};
    self->epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN}; // no pointer: the pipe
    if (self->epoll >= 0 && pipe2(self->pipe, O_CLOEXEC | O_NONBLOCK) == 0 &&
        epoll_ctl(self->epoll, EPOLL_CTL_ADD, self->pipe[0], &event) == 0)
        return self;
    server_sockets_destroy(self);
    return NULL;
}

void server_sockets_destroy(server_sockets* self) {
    handed record;
    if (!self) return;
    while (self->pipe[0] >= 0 && read(self->pipe[0], &record, sizeof record) > 0)
        close(record.descriptor);
    for (uint32_t i = 0; i < 2; i++)
        if (self->pipe[i] >= 0) close(self->pipe[i]);
    if (self->epoll >= 0) close(self->epoll);
    base_release(NULL, self, sizeof *self);
}
