// SPDX-License-Identifier: MIT
// A connection goes through three states: hello, open, closing. Its user knows the
// open ones alone.
//
// libwslay writes the frames of a message piece by piece. They are gathered in `out` and go to the
// system with the next flush, as one piece.
#include "net/websocket.h"

#include "core/ration.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/text.h"

#include <wslay/wslay.h>

#include <inttypes.h>
#include <sodium.h>

#define READY_MAX 64u // streams that are looked at together
#define READ_BYTES_MAX                                                                             \
    (2u * NET_CONTROL_BYTES_MAX) // of one stream in a service; the rest waits there
#define GENERATION_MAX ((1u << (32 - NET_PEER_SLOT_BITS)) - 1)

typedef enum web_state { WEB_FREE, WEB_HELLO, WEB_OPEN, WEB_CLOSING } web_state;

typedef struct web_transport web_transport;

typedef struct web_peer {
    web_transport* owner;
    web_state state;
    uint32_t slot, generation;
    net_web_stream* stream;
    wslay_event_context_ptr frames;
    wslay_frame_context_ptr data; // frames of messages: those of `frames` would be allocated
    base_bytes in;                // the message whose frames come
    bool is_control;              // the frame that comes
    base_bytes first;             // what came with the request and was not read yet
    base_bytes out;               // frames that the system did not take yet
    size_t first_read;            // of `first`
    size_t read_bytes;            // in this service
    bool is_broken;               // nothing can be read or written any more
    bool was_refused;             // its end is no news
    uint64_t since_us;            // of the state
    uint64_t heard_us;
    uint64_t stuck_us;   // since when the system takes nothing; 0: it does
    uint32_t reason;     // that we gave, while it closes
    net_budget budget;   // of frames
    uint64_t sent_bytes; // in all, since it was added
    uint64_t sent_messages, send_refused, stale;
    net_peer_identity identity;
} web_peer;

typedef struct web_event {
    net_transport_event_kind kind;
    net_peer peer;
    net_channel channel;
    uint32_t reason;
    size_t at, size; // of its bytes in `bytes`
} web_event;

struct web_transport {
    net_transport base;
    net_web_config config;
    base_owner* owner; // of itself and all but the buffers of peers
    web_peer* peers;
    uint64_t now_us; // of the newest service
    web_event* events;
    uint32_t event_count, event_capacity, event_next;
    base_bytes bytes;          // of events
    net_transport_stats ended; // of connections that ended
    net_web_stats stats;
};

static web_transport* web_of(net_transport* transport) {
    return (web_transport*)transport;
}

static net_peer number_of(const web_peer* peer) {
    return peer->generation << NET_PEER_SLOT_BITS | (peer->owner->config.slot_first + peer->slot);
}

static web_peer* find_any(const web_transport* self, net_peer number) {
    const uint32_t slot = (number & (NET_PEER_SLOTS - 1)) - self->config.slot_first;
    if (number == 0 || slot >= self->config.peers_max) return NULL;
    web_peer* peer = &self->peers[slot];
    return peer->state != WEB_FREE && number_of(peer) == number ? peer : NULL;
}

static web_peer* find_peer(const web_transport* self, net_peer number) {
    web_peer* peer = find_any(self, number);
    return peer && peer->state == WEB_OPEN ? peer : NULL;
}

// ---- events ----

static web_event* push_event(web_transport* self, const web_peer* peer,
                             net_transport_event_kind kind) {
    BASE_ARRAY_RESERVE(&self->owner->allocator, self->events, self->event_capacity,
                       self->event_count + 1);
    web_event* event = &self->events[self->event_count++];
    *event = (web_event){.kind = kind, .peer = number_of(peer)};
    return event;
}

// ---- the end of a connection ----

static void release_peer(web_peer* peer) {
    web_transport* self = peer->owner;
    wslay_event_context_free(peer->frames);
    wslay_frame_context_free(peer->data);
    self->config.io.close(self->config.io.context, peer->stream);
    self->ended.sent_bytes += peer->sent_bytes;
    self->ended.sent_datagrams += peer->sent_messages;
    self->ended.send_refused += peer->send_refused;
    self->stats.stale += peer->stale;
    base_bytes_deinit(&peer->in);
    base_bytes_deinit(&peer->first);
    base_bytes_deinit(&peer->out);
    const uint32_t slot = peer->slot, generation = peer->generation;
    *peer = (web_peer){.owner = self, .slot = slot, .generation = generation};
}

// Its user gets an event, where the connection was open and was not ended at once.
static void end_peer(web_peer* peer, uint32_t reason) {
    if (peer->state == WEB_HELLO) peer->owner->stats.refused++;
    if (peer->state != WEB_HELLO && !peer->was_refused)
        push_event(peer->owner, peer, NET_TRANSPORT_DISCONNECTED)->reason = reason;
    release_peer(peer);
}

static void write_out(web_peer* peer) {
    const net_web_io* io = &peer->owner->config.io;
    if (peer->is_broken || peer->out.size == 0) return;
    const long taken = io->write(io->context, peer->stream, peer->out.data, peer->out.size);
    if (taken < 0) {
        peer->is_broken = true;
        return;
    }
    const size_t rest = peer->out.size - (size_t)taken;
    if (taken > 0) memmove(peer->out.data, peer->out.data + taken, rest);
    peer->out.size = rest;
    if (rest == 0)
        peer->stuck_us = 0;
    else if (taken > 0 || peer->stuck_us == 0)
        peer->stuck_us = peer->owner->now_us;
}

static void write_frames(web_peer* peer) {
    if (wslay_event_send(peer->frames) != 0) peer->is_broken = true;
}

// Say why, then wait for the answer.
static void close_peer(web_peer* peer, uint16_t code, const char* text) {
    (void)wslay_event_queue_close(peer->frames, code, (const uint8_t*)text, strlen(text));
    write_frames(peer);
    write_out(peer);
    if (peer->state == WEB_HELLO) {
        peer->owner->stats.refused++;
        peer->was_refused = true;
    }
    peer->state = WEB_CLOSING;
    peer->since_us = peer->owner->now_us;
}

static void close_with_reason(web_peer* peer, uint32_t reason) {
    char text[16];
    (void)base_text_format(text, sizeof text, "%" PRIu32, reason);
    peer->reason = reason;
    close_peer(peer, NET_WEB_CLOSE_REASON, text);
}

// The reason in a close frame of a client, 0: it gave none of ours.
static uint32_t reason_of(const uint8_t* bytes, size_t size) {
    char text[16];
    uint64_t reason = 0;
    if (size < 3 || size - 2 >= sizeof text || (bytes[0] << 8 | bytes[1]) != NET_WEB_CLOSE_REASON)
        return 0;
    memcpy(text, bytes + 2, size - 2);
    text[size - 2] = 0;
    return base_text_parse_u64(text, &reason) && reason <= UINT32_MAX ? (uint32_t)reason : 0;
}

// ---- messages out ----

static bool queue_message(web_peer* peer, uint8_t kind, const void* bytes, size_t size) {
    uint8_t message[1 + NET_CONTROL_BYTES_MAX];
    message[0] = kind;
    memcpy(message + 1, bytes, size);
    struct wslay_frame_iocb frame = {.fin = 1,
                                     .opcode = WSLAY_BINARY_FRAME,
                                     .payload_length = size + 1,
                                     .data = message,
                                     .data_length = size + 1};
    if (wslay_frame_send(peer->data, &frame) != (ssize_t)size + 1) peer->is_broken = true;
    peer->sent_messages++;
    return !peer->is_broken;
}

// ---- messages in ----

static void refuse_message(web_peer* peer, uint16_t code, const char* text) {
    peer->owner->stats.malformed++;
    close_peer(peer, code, text);
}

// A client without a token has one of the built-in key: where that counts, it may play.
static bool read_token(web_transport* self, const uint8_t* bytes, size_t size, net_token* token) {
    char text[NET_TOKEN_TEXT_BYTES];
    if (size == 0) {
        uint64_t player = 0;
        const net_entropy* entropy = self->config.entropy;
        entropy->fill(entropy->context, &player, sizeof player);
        const net_token_claims claims = {.player_id = player, .expiry_unix_s = UINT64_MAX};
        return net_token_make_dev(&claims, entropy, token) == NET_OK;
    }
    if (size >= sizeof text) return false;
    memcpy(text, bytes, size);
    text[size] = 0;
    const bool is_token = strlen(text) == size && net_token_parse_any(text, token) == NET_OK;
    sodium_memzero(text, sizeof text);
    return is_token;
}

static void take_hello(web_peer* peer, const uint8_t* bytes, size_t size) {
    web_transport* self = peer->owner;
    net_token token = {0}, resume = {0}, later = {0};
    const net_address from = peer->identity.address;
    net_secure_end end = NET_SECURE_END_TOKEN;
    if (read_token(self, bytes, size, &token))
        end = self->config.admit(self->config.admit_context, &from, &token, &peer->identity,
                                 &resume, &later);
    net_token_wipe(&token);
    peer->identity.address = from;
    char text[NET_TOKEN_TEXT_BYTES];
    if (end != NET_SECURE_END_NONE) {
        close_with_reason(peer, NET_TRANSPORT_SECURE + (uint32_t)end);
    } else if (!net_token_print(&resume, text, sizeof text) ||
               !queue_message(peer, NET_WEB_HELLO, text, strlen(text)) ||
               !push_event(self, peer, NET_TRANSPORT_CONNECTED)) {
        peer->is_broken = true;
    } else {
        peer->state = WEB_OPEN;
        peer->since_us = self->now_us;
    }
    if (later.key_id == NET_KEY_ID_RESUME && peer->state == WEB_OPEN &&
        net_token_print(&later, text, sizeof text))
        (void)queue_message(peer, NET_WEB_HELLO, text, strlen(text));
    net_token_wipe(&resume);
    net_token_wipe(&later);
    sodium_memzero(text, sizeof text);
}

static void take_packet(web_peer* peer, net_channel channel, const uint8_t* bytes, size_t size) {
    web_transport* self = peer->owner;
    const size_t at = self->bytes.size;
    base_bytes_write(&self->bytes, bytes, size);
    web_event* event = push_event(self, peer, NET_TRANSPORT_RECEIVED);
    event->channel = channel;
    event->at = at;
    event->size = size;
    if (channel == NET_CHANNEL_CONTROL) self->ended.recv_reliable_bytes += size;
}

static void take_message(web_peer* peer, const uint8_t* bytes, size_t size) {
    web_transport* self = peer->owner;
    peer->heard_us = self->now_us;
    self->ended.recv_datagrams++;
    if (peer->state == WEB_HELLO) {
        if (size == 0 || bytes[0] != NET_WEB_HELLO)
            refuse_message(peer, WSLAY_CODE_POLICY_VIOLATION, "say hello first");
        else
            take_hello(peer, bytes + 1, size - 1);
    } else if (size < 2 || bytes[0] > NET_WEB_REALTIME ||
               (bytes[0] == NET_WEB_REALTIME && size - 1 > NET_STATE_BYTES_MAX)) {
        refuse_message(peer, WSLAY_CODE_POLICY_VIOLATION, "no message of this protocol");
    } else {
        take_packet(peer, (net_channel)bytes[0], bytes + 1, size - 1);
    }
}

// ---- libwslay's callbacks ----

static ssize_t read_frames(wslay_event_context_ptr frames, uint8_t* bytes, size_t size, int flags,
                           void* context) {
    (void)flags;
    web_peer* peer = context;
    const net_web_io* io = &peer->owner->config.io;
    const size_t waiting = peer->first.size - peer->first_read,
                 may = READ_BYTES_MAX - peer->read_bytes;
    if (size > may) size = may;
    long got = (long)(waiting < size ? waiting : size);
    if (peer->is_broken) {
        got = -1;
    } else if (got > 0) {
        memcpy(bytes, peer->first.data + peer->first_read, (size_t)got);
        peer->first_read += (size_t)got;
    } else if (size > 0) {
        got = io->read(io->context, peer->stream, bytes, size);
        if (got < 0) peer->is_broken = true;
    }
    if (got <= 0) {
        wslay_event_set_error(frames, got < 0 ? WSLAY_ERR_CALLBACK_FAILURE : WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    peer->read_bytes += (size_t)got;
    peer->owner->ended.recv_bytes += (uint64_t)got;
    return got;
}

static ssize_t gather_data(const uint8_t* bytes, size_t size, int flags, void* context) {
    (void)flags;
    web_peer* peer = context;
    base_bytes_write(&peer->out, bytes, size);
    peer->sent_bytes += size;
    return (ssize_t)size;
}

static ssize_t gather_frames(wslay_event_context_ptr frames, const uint8_t* bytes, size_t size,
                             int flags, void* context) {
    (void)frames;
    return gather_data(bytes, size, flags, context);
}

// Frames are counted, not messages: a ping is answered, and a message may have any number of them.
static void hear_frame(wslay_event_context_ptr frames,
                       const struct wslay_event_on_frame_recv_start_arg* frame, void* context) {
    static const net_budget_rate rate = {1000000 / NET_WEB_FRAMES_PER_SECOND,
                                         2 * NET_WEB_FRAMES_PER_SECOND};
    (void)frames;
    web_peer* peer = context;
    web_transport* self = peer->owner;
    peer->is_control = wslay_is_ctrl_frame(frame->opcode);
    if (!peer->is_control && frame->opcode != WSLAY_CONTINUATION_FRAME) base_bytes_clear(&peer->in);
    if (net_budget_take(&peer->budget, rate, self->now_us)) return;
    if (peer->state == WEB_CLOSING) {
        peer->is_broken = true;
    } else {
        self->stats.too_fast++;
        close_peer(peer, WSLAY_CODE_POLICY_VIOLATION, "too many messages");
    }
}

static void hear_piece(wslay_event_context_ptr frames,
                       const struct wslay_event_on_frame_recv_chunk_arg* piece, void* context) {
    (void)frames;
    web_peer* peer = context;
    if (peer->is_control || peer->state == WEB_CLOSING || peer->is_broken) return;
    if (piece->data_length > 1 + NET_CONTROL_BYTES_MAX - peer->in.size)
        refuse_message(peer, WSLAY_CODE_MESSAGE_TOO_BIG, "the message is too long");
    else
        base_bytes_write(&peer->in, piece->data, piece->data_length);
}

static void hear_message(wslay_event_context_ptr frames,
                         const struct wslay_event_on_msg_recv_arg* message, void* context) {
    (void)frames;
    web_peer* peer = context;
    if (message->opcode == WSLAY_CONNECTION_CLOSE) {
        if (peer->state != WEB_CLOSING) peer->reason = reason_of(message->msg, message->msg_length);
        return;
    }
    if (peer->state == WEB_CLOSING || peer->is_broken) return;
    if (message->opcode == WSLAY_BINARY_FRAME)
        take_message(peer, peer->in.data, peer->in.size);
    else if (!wslay_is_ctrl_frame(message->opcode))
        refuse_message(peer, WSLAY_CODE_UNSUPPORTED_DATA, "binary messages only");
    else
        peer->heard_us = peer->owner->now_us;
}

// ---- the interface ----

static void read_peer(web_peer* peer) {
    if (peer->state == WEB_FREE) return;
    peer->read_bytes = 0;
    if (!peer->is_broken && wslay_event_recv(peer->frames) != 0) peer->is_broken = true;
    if (!peer->is_broken && wslay_event_want_write(peer->frames)) write_frames(peer); // pong, close
    write_out(peer);
    // Who pings and does not read the answers.
    if (peer->out.size > 2u * NET_WEB_QUEUE_BYTES_MAX) peer->is_broken = true;
    const bool is_over = !wslay_event_get_read_enabled(peer->frames);
    if (is_over && !wslay_event_get_close_received(peer->frames)) peer->owner->stats.malformed++;
    if (peer->is_broken || is_over) end_peer(peer, peer->reason);
}

static void check_peer(web_peer* peer, uint64_t now_us) {
    static const uint32_t limits_ms[] = {
        [WEB_HELLO] = NET_WEB_HELLO_MS_MAX, [WEB_CLOSING] = NET_WEB_CLOSE_MS_MAX};
    if (peer->state == WEB_FREE) return;
    const bool is_open = peer->state == WEB_OPEN;
    const uint64_t limit_us = is_open ? 0 : (uint64_t)limits_ms[peer->state] * 1000;
    const bool is_stuck =
        peer->stuck_us > 0 && now_us - peer->stuck_us > (uint64_t)NET_DEAF_MS_MAX * 1000;
    if (peer->is_broken || (!is_open && now_us - peer->since_us > limit_us))
        end_peer(peer, peer->reason);
    else if (is_open && is_stuck)
        end_peer(peer, NET_TRANSPORT_DEAF);
    else if (is_open && now_us - peer->heard_us > (uint64_t)NET_WEB_SILENT_MS_MAX * 1000)
        end_peer(peer, 0);
}

static void web_service(net_transport* transport, uint64_t now_us) {
    web_transport* self = web_of(transport);
    const net_web_io* io = &self->config.io;
    net_web_stream* ready[READY_MAX];
    self->now_us = now_us;
    if (self->event_next == self->event_count) {
        self->event_next = self->event_count = 0;
        base_bytes_clear(&self->bytes);
    }
    const uint32_t count = io->ready(io->context, ready, READY_MAX);
    for (uint32_t i = 0; i < count; i++)
        read_peer(&self->peers[ready[i]->slot]);
    for (uint32_t i = 0; i < self->config.peers_max; i++)
        check_peer(&self->peers[i], now_us);
}

static bool web_next(net_transport* transport, net_transport_event* event) {
    web_transport* self = web_of(transport);
    while (self->event_next < self->event_count && self->events[self->event_next].peer == 0)
        self->event_next++;
    if (self->event_next == self->event_count) return false;
    const web_event* next = &self->events[self->event_next++];
    *event = (net_transport_event){.kind = next->kind,
                                   .peer = next->peer,
                                   .channel = next->channel,
                                   .reason = next->reason,
                                   .size = next->size};
    if (next->size > 0) event->bytes = self->bytes.data + next->at;
    return true;
}

static net_result refuse_send(web_peer* peer) {
    peer->send_refused++;
    return NET_ERR_FULL;
}

static net_result web_send(net_transport* transport, net_peer number, net_channel channel,
                           const void* bytes, size_t size) {
    web_transport* self = web_of(transport);
    const net_web_io* io = &self->config.io;
    web_peer* peer = find_peer(self, number);
    if (!peer) return NET_ERR_CLOSED;
    const bool is_packet = channel == NET_CHANNEL_REALTIME;
    if (size == 0 || size > (is_packet ? NET_STATE_BYTES_MAX : NET_CONTROL_BYTES_MAX) ||
        peer->out.size + size > NET_WEB_QUEUE_BYTES_MAX)
        return refuse_send(peer);
    if (is_packet &&
        (peer->stuck_us > 0 || io->unsent(io->context, peer->stream) > NET_WEB_UNSENT_BYTES_MAX)) {
        peer->stale++;
        return NET_OK; // as a datagram that is lost
    }
    return queue_message(peer, (uint8_t)channel, bytes, size) ? NET_OK : refuse_send(peer);
}

static net_result web_connect(net_transport* transport, const char* address, net_peer* peer) {
    (void)transport, (void)address, (void)peer;
    return NET_ERR_FULL; // it is a server's
}

static void web_disconnect(net_transport* transport, net_peer number, uint32_t reason, bool now) {
    web_transport* self = web_of(transport);
    web_peer* peer = find_any(self, number);
    if (!peer || (peer->state != WEB_OPEN && !now)) return;
    close_with_reason(peer, reason);
    if (!now) return;
    release_peer(peer);
    for (uint32_t i = self->event_next; i < self->event_count; i++)
        if (self->events[i].peer == number) self->events[i].peer = 0; // no event follows
}

static void web_flush_lane(net_transport* transport, uint32_t lane) {
    web_transport* self = web_of(transport);
    const uint32_t lanes = net_transport_lanes(transport);
    for (uint32_t i = 0; i < self->config.peers_max; i++)
        if (self->peers[i].state != WEB_FREE && (self->config.slot_first + i) % lanes == lane)
            write_out(&self->peers[i]);
}

static void web_flush(net_transport* transport) {
    for (uint32_t i = 0; i < net_transport_lanes(transport); i++)
        web_flush_lane(transport, i);
}

static void web_stats(const net_transport* transport, net_transport_stats* stats) {
    const web_transport* self = (const web_transport*)transport;
    *stats = self->ended;
    for (uint32_t i = 0; i < self->config.peers_max; i++) {
        stats->sent_bytes += self->peers[i].sent_bytes;
        stats->sent_datagrams += self->peers[i].sent_messages;
        stats->send_refused += self->peers[i].send_refused;
    }
}

static uint32_t web_sockets(const net_transport* transport, int* descriptors, uint32_t capacity) {
    const web_transport* self = (const web_transport*)transport;
    if (capacity == 0 || self->config.io.descriptor < 0) return 0;
    descriptors[0] = self->config.io.descriptor;
    return 1;
}

static bool web_identity(const net_transport* transport, net_peer number,
                         net_peer_identity* identity) {
    const web_peer* peer = find_peer((const web_transport*)transport, number);
    if (peer) *identity = peer->identity;
    return peer != NULL;
}

static uint64_t web_peer_sent_bytes(const net_transport* transport, net_peer number) {
    const web_peer* peer = find_peer((const web_transport*)transport, number);
    return peer ? peer->sent_bytes : 0;
}

static void web_destroy(net_transport* transport) {
    web_transport* self = web_of(transport);
    for (uint32_t i = 0; i < self->config.peers_max; i++) {
        web_peer* peer = &self->peers[i];
        if (peer->state == WEB_FREE) continue;
        close_with_reason(peer, 0);
        release_peer(peer);
    }
    base_owner_destroy(self->owner);
}

static const net_transport_ops web_ops = {
    .service = web_service,
    .next = web_next,
    .send = web_send,
    .connect = web_connect,
    .disconnect = web_disconnect,
    .flush = web_flush,
    .flush_lane = web_flush_lane,
    .stats = web_stats,
    .sockets = web_sockets,
    .destroy = web_destroy,
    .identity = web_identity,
    .peer_sent_bytes = web_peer_sent_bytes,
};

net_result net_transport_web_create(const net_web_config* config, net_transport** transport) {
    BASE_ASSERT(config->io.ready && config->io.read && config->io.write && config->admit);
    BASE_ASSERT(config->slot_first + config->peers_max <= NET_PEER_SLOTS);
    *transport = NULL;
    if (config->peers_max == 0 || config->peers_max > NET_CLIENTS_MAX) return NET_ERR_FULL;
    base_owner* owner = base_owner_create(config->allocator, sizeof *owner);
    web_transport* self = base_allocate_zero(&owner->allocator, sizeof *self);
    self->owner = owner;
    self->base = (net_transport){.ops = &web_ops, .lanes = config->lanes};
    self->config = *config;
    if (!config->entropy) self->config.entropy = net_entropy_system();
    base_bytes_init(&self->bytes, &owner->allocator);
    self->peers =
        base_allocate_zero(&owner->allocator, (size_t)config->peers_max * sizeof *self->peers);
    for (uint32_t i = 0; i < config->peers_max; i++)
        self->peers[i] = (web_peer){.owner = self, .slot = i};
    *transport = &self->base;
    return NET_OK;
}

// ---- a connection begins ----

static bool is_address_full(const web_transport* self, const net_address* from) {
    uint32_t count = 0;
    if (self->config.peers_per_address_max == 0 || net_address_is_loopback(from)) return false;
    for (uint32_t i = 0; i < self->config.peers_max; i++)
        count += self->peers[i].state != WEB_FREE &&
                 net_address_is_same_home(&self->peers[i].identity.address, from);
    return count >= self->config.peers_per_address_max;
}

// When all are taken, that of the oldest that could have said hello by now and did not: idle
// connections keep no newcomer out.
static web_peer* find_place(web_transport* self) {
    web_peer* oldest = NULL;
    for (uint32_t i = 0; i < self->config.peers_max; i++) {
        web_peer* peer = &self->peers[i];
        if (peer->state == WEB_FREE) return peer;
        const bool is_idle = peer->state == WEB_HELLO &&
                             self->now_us - peer->since_us >= (uint64_t)NET_WEB_HELLO_MS_MIN * 1000;
        if (is_idle && (!oldest || peer->since_us < oldest->since_us)) oldest = peer;
    }
    if (oldest) end_peer(oldest, 0);
    return oldest;
}

bool net_web_add(net_transport* transport, net_web_stream* stream, const net_address* from,
                 const uint8_t* first, size_t first_size) {
    static const struct wslay_event_callbacks callbacks = {
        .recv_callback = read_frames,
        .send_callback = gather_frames,
        .on_frame_recv_start_callback = hear_frame,
        .on_frame_recv_chunk_callback = hear_piece,
        .on_msg_recv_callback = hear_message};
    static const struct wslay_frame_callbacks data = {.send_callback = gather_data};
    web_transport* self = web_of(transport);
    BASE_ASSERT(transport->ops == &web_ops);
    web_peer* peer = is_address_full(self, from) ? NULL : find_place(self);
    const bool has_data = peer && wslay_frame_context_init(&peer->data, &data, peer) == 0;
    if (!has_data || wslay_event_context_server_init(&peer->frames, &callbacks, peer) != 0) {
        if (has_data) wslay_frame_context_free(peer->data);
        self->stats.refused++;
        return false;
    }
    wslay_event_config_set_no_buffering(peer->frames, 1);
    wslay_event_config_set_max_recv_msg_length(peer->frames, 1 + NET_CONTROL_BYTES_MAX);
    peer->generation = peer->generation % GENERATION_MAX + 1;
    peer->state = WEB_HELLO;
    peer->stream = stream;
    peer->since_us = peer->heard_us = self->now_us;
    peer->identity.address = *from;
    base_bytes_init(&peer->in, self->config.allocator);
    base_bytes_init(&peer->first, self->config.allocator);
    base_bytes_init(&peer->out, self->config.allocator);
    base_bytes_write(&peer->first, first, first_size);
    stream->slot = peer->slot;
    self->stats.connections++;
    if (first_size > 0) read_peer(peer);
    return true;
}

void net_web_get_stats(const net_transport* transport, net_web_stats* stats) {
    const web_transport* self = (const web_transport*)transport;
    BASE_ASSERT(transport->ops == &web_ops);
    *stats = self->stats;
    for (uint32_t i = 0; i < self->config.peers_max; i++)
        stats->stale += self->peers[i].stale;
}
