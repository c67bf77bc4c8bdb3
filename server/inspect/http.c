// SPDX-License-Identifier: MIT
// The HTTP thread: libmicrohttpd, the orders that come back, and the streams, in one loop without
// locks.
//
//     wait for a socket, an answer, a due stream -> take answers -> order again -> let MHD work
//
// MHD runs inside of it (MHD_run), so connections are suspended and resumed by the thread that
// serves them. The match's thread only takes orders from a queue and writes to an eventfd.
#include "http.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"
#include "host/output.h"
#include "host/setup.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define WAIT_MS_MAX 1000
#define STOP_ROUNDS 20 // of at most 10 ms: last answers leave

// ---- connections ----

static net_address address_of(struct MHD_Connection* connection) {
    const union MHD_ConnectionInfo* info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info && info->client_addr ? net_address_read(info->client_addr) : (net_address){0};
}

static void begin_visit(server_inspect* self, struct MHD_Connection* connection, void** place) {
    http_visit* visit = self->visits;
    while (visit < self->visits + HTTP_VISITS_MAX && (visit->connection || visit->is_with_loop))
        visit++;
    const union MHD_ConnectionInfo* info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *place = NULL;
    if (visit == self->visits + HTTP_VISITS_MAX || !info) return; // the handler refuses it
    const int size = HTTP_SEND_BUFFER_BYTES;
    const net_address from = address_of(connection);
    http_make_place(self, &from);
    visit->inspect = self;
    visit->connection = connection;
    visit->descriptor = info->connect_fd;
    visit->from = from;
    visit->state = HTTP_IDLE;
    visit->is_malformed = false;
    visit->idle_us = self->config.idle_us;
    http_limit(visit, 1);
    visit->rests_us = net_loop_now_us();
    if (visit->until_us > visit->rests_us + HTTP_FIRST_US)
        visit->until_us = visit->rests_us + HTTP_FIRST_US;
    // Else the kernel takes megabytes for a reader that sleeps.
    (void)setsockopt(visit->descriptor, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    *place = visit;
    self->visit_count++;
}

// An MHD_NotifyConnectionCallback.
static void note_connection(void* inspect, struct MHD_Connection* connection, void** place,
                            enum MHD_ConnectionNotificationCode code) {
    server_inspect* self = inspect;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        begin_visit(self, connection, place);
    } else if (*place) {
        http_visit* visit = *place;
        http_publication_leave(visit);
        visit->connection = NULL;
        self->visit_count--;
    }
}

// An MHD_RequestCompletedCallback.
static void note_completed(void* inspect, struct MHD_Connection* connection, void** request,
                           enum MHD_RequestTerminationCode code) {
    (void)inspect, (void)connection, (void)code;
    http_visit* visit = *request;
    if (!visit) return;
    http_publication_leave(visit);
    visit->state = HTTP_IDLE;
    visit->rests_us = net_loop_now_us();
    visit->is_waiting = false;
    visit->is_malformed = false;
    http_limit(visit, 1);
}

// Its order came back, or will not.
static void resume(http_visit* visit) {
    BASE_ASSERT(visit->connection);
    visit->state = HTTP_ANSWERED;
    MHD_resume_connection(visit->connection);
}

static void take_answers(server_inspect* self) {
    for (;;) {
        const uint32_t index = server_orders_pop(self->orders);
        if (index == UINT32_MAX) return;
        if (index >= HTTP_VISITS_MAX) {
            http_publication_answered(self, index);
            continue;
        }
        http_visit* visit = &self->visits[index];
        visit->is_with_loop = false;
        if (visit->state == HTTP_ASKED) resume(visit);
    }
}

// What finds no place waits in the kernel.
static void accept_connection(server_inspect* self) {
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    const int descriptor = server_acceptor_accept(&self->acceptor, (struct sockaddr*)&from, &size,
                                                  self->config.reporter);
    self->lacks = self->acceptor.lacks;
    if (descriptor < 0 && self->acceptor.spare_count == 0) http_make_place(self, NULL);
    if (descriptor >= 0)
        (void)MHD_add_connection(self->daemon, descriptor, (const struct sockaddr*)&from, size);
}

// ---- the thread ----

static int wait_ms(server_inspect* self, uint64_t due_us, uint64_t now_us) {
    MHD_UNSIGNED_LONG_LONG mhd_ms = WAIT_MS_MAX;
    int wait = WAIT_MS_MAX;
    if (self->visit_count == 0 && due_us == UINT64_MAX && self->acceptor.spare_count > 0) return -1;
    if (MHD_get_timeout(self->daemon, &mhd_ms) == MHD_YES && mhd_ms < WAIT_MS_MAX)
        wait = (int)mhd_ms;
    if (self->config.idle_us / 4000 < (uint64_t)wait) wait = (int)(self->config.idle_us / 4000);
    const uint64_t due_ms = due_us <= now_us ? 0 : (due_us - now_us + 999) / 1000;
    return due_ms < (uint64_t)wait ? (int)due_ms : wait;
}

// A connection must not be suspended when MHD ends.
static void end_connections(server_inspect* self) {
    take_answers(self); // of the order to end, too
    for (uint32_t i = 0; i < HTTP_PUBLICATIONS_MAX; i++)
        self->publications[i].has_ended = true;
    for (uint32_t i = 0; i < HTTP_VISITS_MAX; i++) {
        http_visit* visit = &self->visits[i];
        if (!visit->connection) continue;
        if (visit->state == HTTP_ASKED || visit->is_waiting ||
            (visit->state == HTTP_FOLLOWS && visit->look_us > 0))
            MHD_resume_connection(visit->connection);
        visit->is_waiting = false;
    }
    for (uint32_t i = 0; i < STOP_ROUNDS && self->visit_count > 0; i++)
        (void)MHD_run_wait(self->daemon, 10);
    MHD_stop_daemon(self->daemon);
    self->daemon = NULL;
}

static void* serve(void* inspect) {
    server_inspect* self = inspect;
    const union MHD_DaemonInfo* info = MHD_get_daemon_info(self->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct pollfd polled[] = {
        {.fd = info->epoll_fd, .events = POLLIN},
        {.fd = server_orders_descriptor(self->orders), .events = POLLIN},
        {.fd = self->stop, .events = POLLIN},
        {.events = POLLIN},
    };
    self->due_us = UINT64_MAX;
    while (!self->is_stopping) {
        const bool has_place = self->visit_count < HTTP_VISITS_MAX;
        const bool is_lacking = has_place && self->acceptor.spare_count == 0;
        polled[3].fd = has_place && !is_lacking ? self->acceptor.listener : -1;
        (void)poll(polled, BASE_COUNT(polled), wait_ms(self, self->due_us, net_loop_now_us()));
        take_answers(self);
        // Questions get an answer of this thread; what changes the match may still be done.
        const bool is_stalled = http_stalled_us(self) > 0;
        for (uint32_t i = 0; is_stalled && i < HTTP_VISITS_MAX; i++)
            if (self->visits[i].state == HTTP_ASKED && strcmp(self->visits[i].method, "POST") != 0)
                resume(&self->visits[i]);
        if (is_lacking || (polled[3].fd >= 0 && polled[3].revents != 0)) accept_connection(self);
        const uint64_t now_us = net_loop_now_us();
        self->due_us = http_publications_run(self, now_us);
        http_due(self, http_files_run(self, now_us));
        // MHD's own limit begins again with each byte. This one is for a whole request, or a frame.
        for (uint32_t i = 0; i < HTTP_VISITS_MAX; i++) {
            http_visit* visit = &self->visits[i];
            if (!visit->connection || visit->until_us == 0 || now_us < visit->until_us) continue;
            (void)shutdown(visit->descriptor, SHUT_RDWR);
            visit->until_us = 0;
        }
        (void)MHD_run(self->daemon);
    }
    end_connections(self);
    return NULL;
}

// ---- opening ----

bool server_acceptor_listen(server_acceptor* self, const char* range, net_address* bound) {
    struct sockaddr_in6 name;
    struct sockaddr* any = (struct sockaddr*)&name;
    char at[NET_HOST_LISTEN_BYTES];
    const int one = 1;
    int error = EINVAL;
    for (uint32_t n = 0;
         net_host_listen_at(range, n, at) && net_address_resolve_one(NULL, at, bound) == NET_OK;
         n++) {
        socklen_t size = net_address_write(bound, !net_address_is_ipv4(bound), &name);
        const int fd = socket(any->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        self->listener = fd;
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (fd >= 0 && bind(fd, any, size) == 0 && listen(fd, SOMAXCONN) == 0 &&
            getsockname(fd, any, &size) == 0) {
            bound->port = net_address_read(any).port;
            server_acceptor_fill(self);
            return true;
        }
        error = errno;
        server_acceptor_close(self);
        self->listener = -1;
        if (error != EADDRINUSE) break;
    }
    errno = error;
    return false;
}

static bool start_daemon(server_inspect* self) {
    self->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE | MHD_USE_NO_LISTEN_SOCKET, 0,
        NULL, NULL, http_handle, self, MHD_OPTION_CONNECTION_LIMIT, HTTP_VISITS_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_HEADER_BYTES_MAX,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK, http_unescape, self,
        MHD_OPTION_NOTIFY_CONNECTION, note_connection, self, MHD_OPTION_NOTIFY_COMPLETED,
        note_completed, self, MHD_OPTION_END);
    if (!self->daemon) return false;
    errno = pthread_create(&self->thread, NULL, serve, self);
    return self->has_thread = errno == 0;
}

static int open_listener(server_inspect* self, const server_inspect_config* config) {
    const base_reporter* reporter = config->reporter;
    char first[NET_HOST_LISTEN_BYTES];
    if (!net_host_listen_at(config->listen, 0, first) ||
        net_address_resolve_one(NULL, first, &self->bound) != NET_OK)
        return net_exit_report(NET_EXIT_USAGE, reporter, NULL, "--http %s: is not ADDR:PORT",
                               config->listen);
    if (!server_gate_init(&self->gate, &self->bound, config->token_file, &self->config.hosts,
                          &self->config.pages, reporter))
        return NET_EXIT_USAGE;
    if (server_acceptor_listen(&self->acceptor, config->listen, &self->bound))
        return NET_EXIT_CLEAN;
    return net_exit_report(net_exit_of_bind(errno), reporter, NULL, "%s--http: cannot bind %s: %s",
                           config->is_optional ? "warning: " : "", config->listen,
                           base_error_text(errno));
}

int server_inspect_open(const server_inspect_config* config, server_inspect** inspect) {
    *inspect = NULL;
    server_inspect* self = base_allocate_zero(NULL, sizeof *self);
    self->config = *config;
    if (!self->config.run) self->config.run = server_verb_run;
    if (self->config.idle_us == 0) self->config.idle_us = HTTP_IDLE_US;
    self->stop = self->acceptor.listener = -1;
    self->pass_us = net_loop_now_us();
    int code = open_listener(self, config);
    if (code == NET_EXIT_CLEAN) {
        self->stop = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        self->orders =
            server_orders_create(HTTP_VISITS_MAX + HTTP_PUBLICATIONS_MAX, config->tick_rate_hz);
        if (self->stop < 0 || !self->orders || !start_daemon(self))
            code = net_exit_report(NET_EXIT_RUNTIME, config->reporter, NULL, "--http: %s",
                                   base_error_text(errno));
    }
    if (code == NET_EXIT_CLEAN)
        *inspect = self;
    else
        server_inspect_close(self);
    return code == NET_EXIT_BIND && config->is_optional ? NET_EXIT_CLEAN : code;
}

void server_inspect_pass(server_inspect* self, bool is_ready) {
    if (!self) return;
    self->pass_us = net_loop_now_us();
    self->is_ready = is_ready;
    self->is_standby = self->config.subject->standby != NULL;
    const net_match* match = self->config.subject->match;
    if (match) self->tick = net_match_tick(match);
    net_log_writer* log = self->config.subject->log;
    if (log && atomic_exchange(&self->is_followed, false)) net_log_hurry(log);
    server_orders_run(self->orders, self->config.run, self->config.subject);
}

int server_inspect_descriptor(const server_inspect* self) {
    return server_orders_asks(self->orders);
}

void server_inspect_address(const server_inspect* self, char* text, size_t text_bytes) {
    char address[NET_ADDRESS_TEXT_BYTES];
    (void)net_address_print(&self->bound, address, sizeof address);
    (void)base_text_format(text, text_bytes, "http://%s", address);
}

void server_inspect_close(server_inspect* self) {
    if (!self) return;
    const uint64_t one = 1;
    self->is_stopping = true;
    if (self->has_thread) {
        (void)!write(self->stop, &one, sizeof one);
        (void)pthread_join(self->thread, NULL);
    } else if (self->daemon) {
        MHD_stop_daemon(self->daemon);
    }
    for (uint32_t i = 0; i < HTTP_VISITS_MAX; i++)
        base_bytes_deinit(&self->visits[i].body);
    for (uint32_t i = 0; i < HTTP_FRAMES_MAX; i++)
        base_bytes_deinit(&self->frames[i].bytes);
    net_log_watch_destroy(self->watch);
    for (uint32_t i = 0; i < HTTP_PIECES_MAX; i++)
        base_bytes_deinit(&self->pieces[i].bytes);
    base_bytes_deinit(&self->scratch);
    server_orders_destroy(self->orders);
    if (self->stop >= 0) close(self->stop);
    server_acceptor_close(&self->acceptor);
    server_gate_deinit(&self->gate);
    base_release(NULL, self, sizeof *self);
}
