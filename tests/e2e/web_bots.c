// SPDX-License-Identifier: MIT
// shoal-web-bots: shoal-client over the connections of a page. The page's half in C
// (client/web/web_socket.c) is in it; what a browser does for that half, a socket and libwslay do
// here. So many players of browsers need no cores for as many browsers. ld puts this transport in
// the place of ENet's (--wrap).
#include "web.h"
#include "web_socket.h"

#include "base/assert.h"
#include "base/text.h"
#include "net/socket.h"
#include "net/websocket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wslay/wslay.h>

// As a page does.
enum { TRIES_MAX = 4, TRY_AGAIN_US = 1000000 };

typedef struct bot_line {
    net_transport base;
    net_transport* page; // web_socket.c
    char addresses[512]; // of pages, with commas between them: one of them has the session
    char address[128];   // that of this try
    char origin[128];    // the first one of all: where the page came from
    uint32_t turn;       // which of them that is
    uint32_t left;       // of them, not asked yet by this try
    bool has_spoken;     // the server there did: else the next try is for another one
    int ready;           // what the loop waits on, whatever the connection
    int descriptor;      // -1: none
    enum { LINE_CLOSED, LINE_RESTS, LINE_CONNECTING, LINE_UPGRADING, LINE_OPEN } step;
    uint32_t tries;    // that failed
    uint64_t again_us; // the next one
    char answer[512];  // to the request
    size_t answer_size;
    wslay_event_context_ptr frames;
    uint32_t reason; // of a close frame
    char token[NET_TOKEN_TEXT_BYTES], later[NET_TOKEN_TEXT_BYTES];
} bot_line;

// The page's half calls its imports without a context: it has one connection, that of its page.
static bot_line* current;

static bot_line* use_line(const net_transport* transport) {
    current = (bot_line*)(uintptr_t)transport;
    return current;
}

// ---- libwslay's callbacks ----

static ssize_t end_of(wslay_event_context_ptr frames, ssize_t done) {
    const bool waits = done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (done <= 0)
        wslay_event_set_error(frames, waits ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
    return done > 0 ? done : -1;
}

static ssize_t read_bytes(wslay_event_context_ptr frames, uint8_t* bytes, size_t size, int flags,
                          void* context) {
    (void)flags;
    return end_of(frames, recv(((bot_line*)context)->descriptor, bytes, size, MSG_DONTWAIT));
}

static ssize_t write_bytes(wslay_event_context_ptr frames, const uint8_t* bytes, size_t size,
                           int flags, void* context) {
    const int more = flags & WSLAY_MSG_MORE ? MSG_MORE : 0;
    return end_of(frames, send(((bot_line*)context)->descriptor, bytes, size,
                               MSG_DONTWAIT | MSG_NOSIGNAL | more));
}

static int fill_mask(wslay_event_context_ptr frames, uint8_t* mask, size_t size, void* context) {
    (void)frames, (void)context;
    memset(mask, 0xA5, size);
    return 0;
}

static void hear_message(wslay_event_context_ptr frames,
                         const struct wslay_event_on_msg_recv_arg* message, void* context) {
    (void)frames;
    bot_line* self = context;
    char text[16] = "";
    uint64_t reason = 0;
    if (message->opcode == WSLAY_BINARY_FRAME) {
        self->has_spoken = true;
        web_socket_received(self->page, message->msg, message->msg_length);
    } else if (message->opcode == WSLAY_CONNECTION_CLOSE &&
               message->status_code == NET_WEB_CLOSE_REASON &&
               message->msg_length - 2 < sizeof text) {
        memcpy(text, message->msg + 2, message->msg_length - 2);
        if (base_text_parse_u64(text, &reason)) self->reason = (uint32_t)reason;
    }
}

// ---- what a browser does for the page's half ----

static void close_line(bot_line* self) {
    if (self->descriptor >= 0) close(self->descriptor);
    wslay_event_context_free(self->frames);
    self->frames = NULL;
    self->descriptor = -1;
    self->step = LINE_CLOSED;
}

static void choose_address(bot_line* self) {
    uint32_t count = 1;
    for (const char* at = self->addresses; (at = strchr(at, ',')); at++)
        count++;
    const char* from = self->addresses;
    if (self->left == 0) self->left = count;
    self->left--;
    if (!self->has_spoken) self->turn++;
    self->has_spoken = false;
    for (uint32_t skip = self->turn % count; skip > 0; skip--)
        from = strchr(from, ',') + 1;
    (void)base_text_format(self->address, sizeof self->address, "%.*s", (int)strcspn(from, ","),
                           from);
    if (!self->origin[0]) memcpy(self->origin, self->address, sizeof self->origin);
}

// 127.0.0.1 and others in numbers.
static bool begin_line(bot_line* self) {
    struct sockaddr_in to = {.sin_family = AF_INET};
    const int yes = 1;
    char host[128];
    uint64_t port = 0;
    struct epoll_event event = {.events = EPOLLIN};
    close_line(self);
    choose_address(self);
    (void)base_text_copy(host, sizeof host, self->address);
    char* colon = strrchr(host, ':');
    if (!colon || !base_text_parse_u64(colon + 1, &port)) return false;
    *colon = 0;
    to.sin_port = htons((uint16_t)port);
    self->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    self->step = LINE_CONNECTING;
    self->answer_size = 0;
    return self->descriptor >= 0 && inet_pton(AF_INET, host, &to.sin_addr) == 1 &&
           epoll_ctl(self->ready, EPOLL_CTL_ADD, self->descriptor, &event) == 0 &&
           setsockopt(self->descriptor, SOL_TCP, TCP_NODELAY, &yes, sizeof yes) == 0 &&
           (connect(self->descriptor, (const struct sockaddr*)&to, sizeof to) == 0 ||
            errno == EINPROGRESS);
}

static bool would_wait(void) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOTCONN;
}

// @return false: it cannot be sent.
static bool send_request(bot_line* self) {
    char text[512];
    (void)base_text_format(
        text, sizeof text,
        "GET /play/socket HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://%s\r\n\r\n",
        self->address, self->origin);
    const ssize_t sent = send(self->descriptor, text, strlen(text), MSG_NOSIGNAL);
    if (sent == (ssize_t)strlen(text)) self->step = LINE_UPGRADING;
    return sent == (ssize_t)strlen(text) || (sent < 0 && would_wait());
}

// Up to the end of the answer: what follows are frames. @return false: it is no upgrade.
static bool read_answer(bot_line* self) {
    static const struct wslay_event_callbacks callbacks = {.recv_callback = read_bytes,
                                                           .send_callback = write_bytes,
                                                           .genmask_callback = fill_mask,
                                                           .on_msg_recv_callback = hear_message};
    char* text = self->answer;
    while (self->answer_size < sizeof self->answer - 1) {
        const ssize_t got = recv(self->descriptor, text + self->answer_size, 1, 0);
        if (got != 1) return got < 0 && would_wait();
        text[++self->answer_size] = 0;
        if (self->answer_size < 4 || strcmp(text + self->answer_size - 4, "\r\n\r\n") != 0)
            continue;
        if (strncmp(text, "HTTP/1.1 101 ", 13) != 0) return false;
        BASE_ASSERT(wslay_event_context_client_init(&self->frames, &callbacks, self) == 0);
        self->step = LINE_OPEN;
        web_socket_opened(self->page);
        return true;
    }
    return false;
}

// @return false: the connection is over, or never was.
static bool step_line(bot_line* self) {
    if (self->step == LINE_RESTS) return false;
    if (self->step == LINE_CONNECTING && !send_request(self)) return false;
    if (self->step == LINE_UPGRADING && !read_answer(self)) return false;
    return self->step != LINE_OPEN ||
           (wslay_event_recv(self->frames) == 0 && wslay_event_send(self->frames) == 0 &&
            wslay_event_get_read_enabled(self->frames));
}

void web_socket_open(void) {
    current->reason = 0;
    current->tries = current->left = 0;
    while (!begin_line(current) && current->left > 0)
        ;
    if (current->descriptor < 0) close_line(current);
}

void web_socket_send(const void* bytes, uint32_t size) {
    const struct wslay_event_msg message = {
        .opcode = WSLAY_BINARY_FRAME, .msg = bytes, .msg_length = size};
    if (current->frames && wslay_event_queue_msg(current->frames, &message) == 0)
        (void)wslay_event_send(current->frames);
}

void web_socket_close(uint32_t reason) {
    char text[16];
    (void)base_text_format(text, sizeof text, "%" PRIu32, reason);
    if (!current->frames) return;
    (void)wslay_event_queue_close(current->frames, NET_WEB_CLOSE_REASON, (const uint8_t*)text,
                                  strlen(text));
    (void)wslay_event_send(current->frames);
}

double web_socket_waiting(void) {
    return current->frames ? (double)wslay_event_get_queued_msg_length(current->frames) : 0;
}

// ---- the interface: the page's half, and words of its browser ----

static void line_service(net_transport* transport, uint64_t now_us) {
    bot_line* self = use_line(transport);
    self->page->ops->service(self->page, now_us);
    if (self->step == LINE_RESTS && now_us < self->again_us) return;
    if (self->step == LINE_RESTS && begin_line(self)) return;
    if (self->step != LINE_CLOSED && step_line(self)) return;
    const bool was_tried = self->step != LINE_CLOSED && self->step != LINE_OPEN;
    if (was_tried && self->left > 0 && begin_line(self)) return;
    const bool tries_again = was_tried && ++self->tries < TRIES_MAX;
    close_line(self);
    if (tries_again) {
        self->step = LINE_RESTS;
        self->again_us = now_us + TRY_AGAIN_US;
        return;
    }
    web_socket_closed(self->page, self->reason); // nothing, where none was begun
}

static bool line_next(net_transport* transport, net_transport_event* event) {
    const bot_line* self = use_line(transport);
    return self->page->ops->next(self->page, event);
}

static net_result line_send(net_transport* transport, net_peer peer, net_channel channel,
                            const void* bytes, size_t size) {
    const bot_line* self = use_line(transport);
    return self->page->ops->send(self->page, peer, channel, bytes, size);
}

static net_result line_connect(net_transport* transport, const char* address, net_peer* peer) {
    bot_line* self = use_line(transport);
    if (strcmp(self->addresses, address) != 0) {
        self->turn = 0;
        self->has_spoken = true;
    }
    BASE_ASSERT(base_text_copy(self->addresses, sizeof self->addresses, address));
    return self->page->ops->connect(self->page, address, peer);
}

static void line_disconnect(net_transport* transport, net_peer peer, uint32_t reason, bool now) {
    const bot_line* self = use_line(transport);
    self->page->ops->disconnect(self->page, peer, reason, now);
}

static void line_flush(net_transport* transport) {
    const bot_line* self = use_line(transport);
    if (self->frames) (void)wslay_event_send(self->frames);
}

static void line_stats(const net_transport* transport, net_transport_stats* stats) {
    const bot_line* self = use_line(transport);
    self->page->ops->stats(self->page, stats);
}

static uint32_t line_sockets(const net_transport* transport, int* descriptors, uint32_t capacity) {
    const bot_line* self = use_line(transport);
    if (capacity == 0) return 0;
    descriptors[0] = self->ready;
    return 1;
}

static void line_destroy(net_transport* transport) {
    bot_line* self = use_line(transport);
    self->page->ops->destroy(self->page);
    close_line(self);
    close(self->ready);
    base_release(NULL, self, sizeof *self);
}

// In the place of net_transport_enet_create, in this program.
net_result __wrap_net_transport_enet_create(const net_enet_config* config,
                                            net_transport** transport);

net_result __wrap_net_transport_enet_create(const net_enet_config* config,
                                            net_transport** transport) {
    static const net_transport_ops ops = {
        .service = line_service,
        .next = line_next,
        .send = line_send,
        .connect = line_connect,
        .disconnect = line_disconnect,
        .flush = line_flush,
        .stats = line_stats,
        .sockets = line_sockets,
        .destroy = line_destroy,
    };
    bot_line* self = base_allocate_zero(NULL, sizeof *self);
    BASE_ASSERT(self);
    *self =
        (bot_line){.base = {.ops = &ops}, .ready = epoll_create1(EPOLL_CLOEXEC), .descriptor = -1};
    BASE_ASSERT(self->ready >= 0);
    const net_token* token = config->security.token;
    BASE_ASSERT(!token || net_token_print(token, self->token, sizeof self->token));
    self->page = web_socket_create(self->token, self->later);
    BASE_ASSERT(self->page);
    *transport = &self->base;
    return NET_OK;
}
