// SPDX-License-Identifier: MIT
// The file system guards this socket: its mode is set before it has a name. What comes is checked
// as foreign bytes are.
#include "control.h"

#include "acceptor.h"
#include "orders.h"

#include "net/socket.h"

#include "host/output.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

typedef struct connection {
    int descriptor;  // -1: free
    uint32_t events; // that wake the loop
    bool is_ended;   // no more comes in
    bool skips_line; // the rest of one that is too long
    char line[SERVER_CONTROL_LINE_BYTES];
    size_t size;     // bytes in `line`
    base_bytes json; // the answer that is on its way
    size_t sent;
    uint64_t since_us; // the answer waits to be read
} connection;

struct server_control {
    server_acceptor acceptor;
    int epoll; // of the listener and all connections
    struct sockaddr_un address;
    dev_t device; // of the socket's file
    ino_t inode;
    uint32_t turn; // who is served first
    connection connections[SERVER_CONTROL_CONNECTIONS_MAX];
};

// ---- opening ----

static int refuse_socket(const base_reporter* reporter, const char* path, const char* what,
                         int code) {
    return net_exit_report(code, reporter, NULL, "--control %s: %s", path, what);
}

int server_control_connect(const char* path, int flags) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    errno = ENAMETOOLONG;
    if (!base_text_copy(at.sun_path, sizeof at.sun_path, path)) return -1;
    const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    if (descriptor >= 0 && connect(descriptor, (const struct sockaddr*)&at, sizeof at) == 0)
        return descriptor;
    const int error = errno;
    if (descriptor >= 0) close(descriptor);
    errno = error;
    return -1;
}

// A socket that refuses connections is what a killed server left behind. @return false: it is in
// use, or no socket.
static bool make_room(const struct sockaddr_un* address, const char** fault) {
    struct stat found;
    if (lstat(address->sun_path, &found) != 0) return true;
    *fault = "there is a file that is not a socket";
    if (!S_ISSOCK(found.st_mode)) return false;
    *fault = "another server listens there";
    const int probe = server_control_connect(address->sun_path, SOCK_NONBLOCK);
    if (probe >= 0) close(probe);
    return probe < 0 && errno == ECONNREFUSED && unlink(address->sun_path) == 0;
}

static bool watch(const server_control* self, int operation, int descriptor, uint32_t events,
                  uint32_t number) {
    struct epoll_event event = {.events = events, .data.u32 = number};
    return epoll_ctl(self->epoll, operation, descriptor, &event) == 0;
}

static bool listen_at(server_control* self) {
    struct stat found;
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    self->acceptor.listener = listener;
    server_acceptor_fill(&self->acceptor);
    if (self->epoll < 0 || listener < 0 || fchmod(listener, S_IRUSR | S_IWUSR) != 0 ||
        bind(listener, (const struct sockaddr*)&self->address, sizeof self->address) != 0)
        return false;
    if (lstat(self->address.sun_path, &found) == 0) {
        self->device = found.st_dev;
        self->inode = found.st_ino;
    }
    // Where sockets take no mode before their name, they get it now.
    return chmod(self->address.sun_path, S_IRUSR | S_IWUSR) == 0 &&
           listen(listener, (int)SERVER_CONTROL_CONNECTIONS_MAX) == 0 &&
           watch(self, EPOLL_CTL_ADD, listener, EPOLLIN, SERVER_CONTROL_CONNECTIONS_MAX);
}

int server_control_open(const char* path, const base_reporter* reporter, server_control** control) {
    *control = NULL;
    server_control* self = base_allocate_zero(NULL, sizeof *self);
    const char* fault = NULL;
    self->acceptor.listener = -1;
    self->epoll = epoll_create1(EPOLL_CLOEXEC);
    self->address.sun_family = AF_UNIX;
    for (uint32_t i = 0; i < SERVER_CONTROL_CONNECTIONS_MAX; i++)
        self->connections[i].descriptor = -1;
    int code = NET_EXIT_CLEAN;
    if (path[0] == '\0' ||
        !base_text_copy(self->address.sun_path, sizeof self->address.sun_path, path))
        code = refuse_socket(reporter, path, "a socket's path has 1 to 107 bytes", NET_EXIT_USAGE);
    else if (!make_room(&self->address, &fault))
        code = refuse_socket(reporter, path, fault, NET_EXIT_BIND);
    else if (!listen_at(self))
        code = refuse_socket(reporter, path, base_error_text(errno), net_exit_of_bind(errno));
    if (code == NET_EXIT_CLEAN)
        *control = self;
    else
        server_control_close(self);
    return code;
}

static void hang_up(connection* it) {
    close(it->descriptor);
    base_bytes_deinit(&it->json);
    *it = (connection){.descriptor = -1};
}

void server_control_close(server_control* self) {
    struct stat found;
    if (!self) return;
    for (uint32_t i = 0; i < SERVER_CONTROL_CONNECTIONS_MAX; i++)
        if (self->connections[i].descriptor >= 0) hang_up(&self->connections[i]);
    // Another server may have its own there by now.
    if (self->inode != 0 && lstat(self->address.sun_path, &found) == 0 &&
        found.st_dev == self->device && found.st_ino == self->inode)
        unlink(self->address.sun_path);
    server_acceptor_close(&self->acceptor);
    if (self->epoll >= 0) close(self->epoll);
    base_release(NULL, self, sizeof *self);
}

// ---- a line ----

void server_line_run(server_subject* subject, char* line, server_answer* answer) {
    server_request request = {.right = SERVER_OPERATOR,
                              .until_us = net_loop_now_us() + SERVER_ORDERS_PERIOD_US,
                              .answer = answer};
    server_answer_begin(answer, 200);
    if (server_request_read(&request, line)) server_verb_run(subject, &request);
    if (answer->type)
        server_refuse(&request, 400, "what %s answers is not JSON: ask it over --http", line);
}

// ---- connections ----

static void begin_answer(connection* it, uint64_t now_us) {
    // In JSON a line's end is a blank; here it ends the answer.
    for (size_t i = 0; i < it->json.size; i++)
        if (it->json.data[i] == '\n') it->json.data[i] = ' ';
    base_bytes_write(&it->json, "\n", 1);
    it->sent = 0;
    it->since_us = now_us;
}

static void refuse_line(connection* it, const char* text, uint64_t now_us) {
    const server_request request = {.answer = &(server_answer){.json = &it->json}};
    server_refuse(&request, 400, "%s", text);
    begin_answer(it, now_us);
}

static void run_line(connection* it, size_t size, server_subject* subject, uint64_t now_us) {
    server_answer answer = {.json = &it->json};
    if (size > 0 && it->line[size - 1] == '\r') size--;
    it->line[size] = '\0';
    if (!base_text_is_utf8(it->line, size)) {
        refuse_line(it, "the line is not valid UTF-8", now_us);
    } else if (it->line[strspn(it->line, " \t")] != '\0') {
        server_line_run(subject, it->line, &answer);
        begin_answer(it, now_us);
    }
}

static bool is_answering(const connection* it) {
    return it->sent < it->json.size;
}

// @return false: nothing can be written now, or the other side is gone.
static bool write_answer(connection* it) {
    const ssize_t size = send(it->descriptor, it->json.data + it->sent, it->json.size - it->sent,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size <= 0) {
        if (errno != EAGAIN && errno != EINTR) hang_up(it);
        return false;
    }
    it->sent += (size_t)size;
    if (is_answering(it)) return false;
    base_bytes_clear(&it->json);
    it->sent = 0;
    return true;
}

// Run the first whole line. @return false: there is none.
static bool take_line(connection* it, server_subject* subject, uint64_t now_us) {
    char* end = memchr(it->line, '\n', it->size);
    if (!end && it->is_ended && it->size > 0 && !it->skips_line) end = it->line + it->size;
    if (!end && it->size < sizeof it->line - 1) return false;
    const size_t length = end ? (size_t)(end - it->line) : it->size;
    const size_t used = end && end < it->line + it->size ? length + 1 : length;
    const size_t rest = it->size - used;
    const bool skips = it->skips_line;
    char first = rest > 0 ? it->line[used] : '\0'; // run_line ends the line with a NUL
    it->skips_line = !end;
    if (!end && !skips) refuse_line(it, "the line is longer than 8191 bytes", now_us);
    if (end && !skips) run_line(it, length, subject, now_us);
    if (it->descriptor < 0) return false;
    if (rest > 0) {
        it->line[used] = first;
        memmove(it->line, it->line + used, rest);
    }
    it->size = rest;
    return true;
}

// The loop wakes when this connection can go on: at once, while a line waits for its turn.
static uint32_t wanted_events(const connection* it) {
    return is_answering(it) || memchr(it->line, '\n', it->size) ? EPOLLOUT : EPOLLIN;
}

static void serve(connection* it, server_subject* subject, uint64_t now_us, uint64_t until_us) {
    while (it->descriptor >= 0) {
        if (is_answering(it) && !write_answer(it)) break;
        if (net_loop_now_us() >= until_us) break;
        if (take_line(it, subject, now_us)) continue;
        if (it->descriptor < 0 || it->is_ended) break;
        const size_t before = it->size;
        const ssize_t size =
            recv(it->descriptor, it->line + it->size, sizeof it->line - 1 - it->size, MSG_DONTWAIT);
        if (size > 0) it->size += (size_t)size;
        if (size == 0) it->is_ended = true;
        if (size < 0 && errno != EAGAIN && errno != EINTR) hang_up(it);
        if (it->descriptor >= 0 && it->size == before && !it->is_ended) break;
    }
    if (it->descriptor < 0) return;
    const bool is_idle = !is_answering(it);
    const bool is_stuck =
        !is_idle && now_us > it->since_us + SERVER_CONTROL_UNREAD_S_MAX * UINT64_C(1000000);
    if (is_stuck || (is_idle && it->is_ended && (it->size == 0 || it->skips_line))) hang_up(it);
}

static void accept_all(server_control* self, const base_reporter* reporter) {
    for (;;) {
        const int descriptor = server_acceptor_accept(&self->acceptor, NULL, NULL, reporter);
        if (descriptor < 0) return;
        connection* it = self->connections;
        while (it < self->connections + SERVER_CONTROL_CONNECTIONS_MAX && it->descriptor >= 0)
            it++;
        if (it == self->connections + SERVER_CONTROL_CONNECTIONS_MAX) {
            close(descriptor);
            continue;
        }
        it->descriptor = descriptor;
        it->events = EPOLLIN;
        base_bytes_init(&it->json, NULL);
        const uint32_t number = (uint32_t)(it - self->connections);
        if (!watch(self, EPOLL_CTL_ADD, descriptor, it->events, number)) hang_up(it);
    }
}

int server_control_descriptor(const server_control* self) {
    BASE_ASSERT(self);
    return self->epoll;
}

void server_control_pass(server_control* self, server_subject* subject, uint64_t now_us) {
    if (!self) return;
    struct epoll_event ready[SERVER_CONTROL_CONNECTIONS_MAX + 1];
    const int count = epoll_wait(self->epoll, ready, SERVER_CONTROL_CONNECTIONS_MAX + 1, 0);
    bool is_called = false;
    for (int i = 0; i < count; i++) {
        const uint32_t number = ready[i].data.u32;
        is_called = is_called || number == SERVER_CONTROL_CONNECTIONS_MAX;
        if (number == SERVER_CONTROL_CONNECTIONS_MAX) continue;
        connection* it = &self->connections[number];
        // The other side is gone, and reads nothing more.
        if (is_answering(it) && (ready[i].events & (EPOLLHUP | EPOLLERR))) hang_up(it);
    }
    const uint64_t until_us = net_loop_now_us() + SERVER_ORDERS_PERIOD_US;
    // Another one is the first in each pass: a flood of lines takes its own turns only.
    self->turn = (self->turn + 1) % SERVER_CONTROL_CONNECTIONS_MAX;
    for (uint32_t k = 0; k < SERVER_CONTROL_CONNECTIONS_MAX; k++) {
        const uint32_t i = (self->turn + k) % SERVER_CONTROL_CONNECTIONS_MAX;
        connection* it = &self->connections[i];
        if (it->descriptor >= 0) serve(it, subject, now_us, until_us);
        if (it->descriptor < 0 || wanted_events(it) == it->events) continue;
        it->events = wanted_events(it);
        if (!watch(self, EPOLL_CTL_MOD, it->descriptor, it->events, i)) hang_up(it);
    }
    if (!is_called && self->acceptor.spare_count > 0) return;
    accept_all(self, subject->reporter);
    (void)watch(self, EPOLL_CTL_MOD, self->acceptor.listener,
                self->acceptor.spare_count > 0 ? EPOLLIN : 0, SERVER_CONTROL_CONNECTIONS_MAX);
}
