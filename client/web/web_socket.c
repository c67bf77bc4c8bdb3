// SPDX-License-Identifier: MIT
// One connection at a time. Messages wait as they came until the client takes them.
#include "web_socket.h"

#include "web.h"

#include <string.h>

enum { KIND_HELLO = 2 }; // after the two channels

typedef struct web_socket {
    net_transport base;
    char *token, *later;
    net_peer peer;    // the newest connection; 0 before the first
    bool is_begun;    // it is, or will be, open
    bool is_open;     // the server said hello
    bool has_opened;  // CONNECTED is due
    bool has_closed;  // DISCONNECTED is due
    uint32_t reason;  // of it
    base_bytes inbox; // of each message its size (u32), then its bytes
    size_t taken;
    net_transport_stats stats;
} web_socket;

static web_socket* socket_of(net_transport* transport) {
    return (web_socket*)transport;
}

// ---- from the page ----

static void send_message(web_socket* self, uint8_t kind, const void* bytes, size_t size) {
    uint8_t message[1 + NET_CONTROL_BYTES_MAX];
    message[0] = kind;
    memcpy(message + 1, bytes, size);
    web_socket_send(message, (uint32_t)size + 1);
    self->stats.sent_bytes += size + 1;
    self->stats.sent_datagrams++;
}

void web_socket_opened(net_transport* transport) {
    web_socket* self = socket_of(transport);
    if (self->is_begun) send_message(self, KIND_HELLO, self->token, strlen(self->token));
}

// The first one opens the connection; one more has a token for later matches.
static void take_hello(web_socket* self, const uint8_t* bytes, size_t size) {
    if (size >= NET_TOKEN_TEXT_BYTES) return;
    char* token = self->is_open ? self->later : self->token;
    memcpy(token, bytes, size);
    token[size] = 0;
    if (!self->is_open) self->is_open = self->has_opened = true;
}

void web_socket_received(net_transport* transport, const uint8_t* bytes, size_t size) {
    web_socket* self = socket_of(transport);
    self->stats.recv_bytes += size;
    self->stats.recv_datagrams++;
    if (!self->is_begun || size == 0) return;
    if (bytes[0] == KIND_HELLO) {
        take_hello(self, bytes + 1, size - 1);
    } else if (bytes[0] < KIND_HELLO && self->is_open && size > 1) {
        if (bytes[0] == NET_CHANNEL_CONTROL) self->stats.recv_reliable_bytes += size - 1;
        base_bytes_write_u32(&self->inbox, (uint32_t)size);
        base_bytes_write(&self->inbox, bytes, size);
    }
}

void web_socket_closed(net_transport* transport, uint32_t reason) {
    web_socket* self = socket_of(transport);
    if (!self->is_begun) return;
    // Who showed no token needs one, not another one.
    if (reason == NET_TRANSPORT_SECURE + NET_SECURE_END_TOKEN && self->token[0] == 0)
        reason = NET_TRANSPORT_SECURE + NET_SECURE_END_NO_TOKEN;
    self->is_begun = self->is_open = false;
    self->has_closed = true;
    self->reason = reason;
}

// ---- the interface ----

static void socket_service(net_transport* transport, uint64_t now_us) {
    web_socket* self = socket_of(transport);
    (void)now_us;
    if (self->taken < self->inbox.size) return;
    base_bytes_clear(&self->inbox);
    self->taken = 0;
}

static bool socket_next(net_transport* transport, net_transport_event* event) {
    web_socket* self = socket_of(transport);
    *event = (net_transport_event){.peer = self->peer};
    if (self->has_opened) {
        self->has_opened = false;
        event->kind = NET_TRANSPORT_CONNECTED;
        return true;
    }
    if (self->taken < self->inbox.size) {
        uint32_t size;
        memcpy(&size, self->inbox.data + self->taken, sizeof size);
        const uint8_t* message = self->inbox.data + self->taken + sizeof size;
        self->taken += sizeof size + size;
        event->kind = NET_TRANSPORT_RECEIVED;
        event->channel = (net_channel)message[0];
        event->bytes = message + 1;
        event->size = size - 1;
        return true;
    }
    if (!self->has_closed) return false;
    self->has_closed = false;
    event->kind = NET_TRANSPORT_DISCONNECTED;
    event->reason = self->reason;
    return true;
}

static net_result socket_send(net_transport* transport, net_peer peer, net_channel channel,
                              const void* bytes, size_t size) {
    web_socket* self = socket_of(transport);
    if (peer != self->peer || !self->is_open) return NET_ERR_CLOSED;
    const bool is_packet = channel == NET_CHANNEL_REALTIME;
    if (size == 0 || size > (is_packet ? NET_STATE_BYTES_MAX : NET_CONTROL_BYTES_MAX))
        return NET_ERR_FULL;
    if (!is_packet || web_socket_waiting() <= WEB_WAITING_BYTES_MAX)
        send_message(self, (uint8_t)channel, bytes, size);
    return NET_OK;
}

// What came of the connection before is forgotten.
static net_result socket_connect(net_transport* transport, const char* address, net_peer* peer) {
    web_socket* self = socket_of(transport);
    (void)address; // the page knows it
    if (self->is_begun) return NET_ERR_FULL;
    self->peer += NET_PEER_SLOTS;
    if (self->peer == 0) self->peer = NET_PEER_SLOTS;
    self->is_begun = true;
    self->is_open = self->has_opened = self->has_closed = false;
    base_bytes_clear(&self->inbox);
    self->taken = 0;
    *peer = self->peer;
    web_socket_open();
    return NET_OK;
}

static void socket_disconnect(net_transport* transport, net_peer peer, uint32_t reason, bool now) {
    web_socket* self = socket_of(transport);
    if (peer != self->peer || !self->is_begun) return;
    web_socket_close(reason);
    if (!now) return; // the page reports when it is closed
    self->is_begun = self->is_open = false;
}

static void socket_flush(net_transport* transport) {
    (void)transport;
}

static void socket_stats(const net_transport* transport, net_transport_stats* stats) {
    *stats = ((const web_socket*)transport)->stats;
}

static uint32_t socket_sockets(const net_transport* transport, int* descriptors,
                               uint32_t capacity) {
    (void)transport, (void)descriptors, (void)capacity;
    return 0;
}

static void socket_destroy(net_transport* transport) {
    web_socket* self = socket_of(transport);
    if (self->is_begun) web_socket_close(0);
    base_bytes_deinit(&self->inbox);
    base_release(NULL, self, sizeof *self);
}

net_transport* web_socket_create(char* token, char* later) {
    static const net_transport_ops ops = {
        .service = socket_service,
        .next = socket_next,
        .send = socket_send,
        .connect = socket_connect,
        .disconnect = socket_disconnect,
        .flush = socket_flush,
        .stats = socket_stats,
        .sockets = socket_sockets,
        .destroy = socket_destroy,
    };
    web_socket* self = base_allocate_zero(NULL, sizeof *self);
    self->base.ops = &ops;
    self->token = token;
    self->later = later;
    base_bytes_init(&self->inbox, NULL);
    return &self->base;
}
