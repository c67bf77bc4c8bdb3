// SPDX-License-Identifier: MIT
// Bytes of browsers, or of what looks like them, into the WebSocket transport of a server. Lines
// are in memory.
//
// An input is a list of records {u8 operation, u8 size, bytes[size]}. Bit 7 of the operation says
// which of two clients, the rest of it % 8:
//   0  bytes as they are
//   1  a frame around the bytes, masked: the first one has its bits and its opcode
//   2  a hello with the bytes as token; without bytes it is the one that counts
//   3  a message: the first byte is its kind
//   4  time passes, 1/100 s for each unit of the first byte, and the server serves
//   5  the server sends: the first byte is the channel, the second one the size in units of 97
//   6  the system takes so many bytes, the first byte in units of 256, and has so many not sent
//   7  the first byte % 4: the line is cut, the server disconnects, at once, a client comes again
//
// Invariants for any input: events of a connection are in order and within their limits; what the
// server writes is whole frames; its memory is bounded and given back; each stream is closed once.
#include "fuzz.h"

#include "base/quota.h"
#include "net/websocket.h"

enum { CLIENTS = 2, STREAMS_MAX = 16, BYTES_MAX = 1 << 16, PEERS = 2 };

// Of both connections: the queues, what comes in, and libwslay's own is not counted.
#define MEMORY_MAX ((size_t)2 << 20)

typedef struct line {
    net_web_stream stream;
    uint8_t up[BYTES_MAX];
    size_t up_size, up_read, room;
    uint8_t down[BYTES_MAX]; // its first bytes
    size_t down_size;
    uint32_t unsent;
    bool is_added, is_closed, is_cut;
} line;

typedef struct stage {
    net_transport* web;
    base_quota memory;
    line* lines[STREAMS_MAX];
    uint32_t line_count;
    line* of[CLIENTS]; // the newest one
    net_peer open[PEERS];
    uint64_t now_us;
} stage;

static line* line_of(net_web_stream* stream) {
    return (line*)stream;
}

static uint32_t list_ready(void* context, net_web_stream** streams, uint32_t capacity) {
    stage* at = context;
    uint32_t count = 0;
    for (uint32_t i = 0; i < at->line_count && count < capacity; i++) {
        line* it = at->lines[i];
        if (it->is_added && !it->is_closed && (it->is_cut || it->up_read < it->up_size))
            streams[count++] = &it->stream;
    }
    return count;
}

static long read_line(void* context, net_web_stream* stream, uint8_t* bytes, size_t size) {
    (void)context;
    line* it = line_of(stream);
    FUZZ_CHECK(!it->is_closed);
    const size_t rest = it->up_size - it->up_read;
    if (rest == 0) return it->is_cut ? -1 : 0;
    if (size > rest) size = rest;
    memcpy(bytes, it->up + it->up_read, size);
    it->up_read += size;
    return (long)size;
}

static long write_line(void* context, net_web_stream* stream, const uint8_t* bytes, size_t size) {
    (void)context;
    line* it = line_of(stream);
    FUZZ_CHECK(!it->is_closed);
    if (it->is_cut) return -1;
    if (size > it->room) size = it->room;
    it->room -= size;
    const size_t fits =
        size < sizeof it->down - it->down_size ? size : sizeof it->down - it->down_size;
    memcpy(it->down + it->down_size, bytes, fits);
    it->down_size += fits;
    return (long)size;
}

static uint32_t unsent_of(void* context, net_web_stream* stream) {
    (void)context;
    return line_of(stream)->unsent;
}

static void close_line(void* context, net_web_stream* stream) {
    (void)context;
    FUZZ_CHECK(!line_of(stream)->is_closed);
    line_of(stream)->is_closed = true;
}

// A token of the built-in key counts, as on a server without keys.
static net_secure_end admit(void* context, const net_address* from, const net_token* token,
                            net_peer_identity* identity, net_token* resume, net_token* later) {
    (void)context, (void)later;
    *identity = (net_peer_identity){.address = *from, .key = token->key_id};
    *resume = *token;
    return token->key_id == NET_KEY_ID_DEV ? NET_SECURE_END_NONE : NET_SECURE_END_TOKEN;
}

static void fill_nothing(void* context, void* bytes, size_t size) {
    (void)context;
    memset(bytes, 7, size);
}

// ---- a client's side ----

static void come(stage* at, uint32_t client, const uint8_t* first, size_t first_size) {
    const net_address from = net_address_ipv4(0x0100007F, 9);
    if (at->line_count == STREAMS_MAX) return;
    line* made = calloc(1, sizeof *made);
    FUZZ_CHECK(made);
    at->lines[at->line_count++] = at->of[client] = made;
    made->room = BYTES_MAX;
    made->is_added = true;
    if (!net_web_add(at->web, &made->stream, &from, first, first_size)) made->is_added = false;
}

static void say(stage* at, uint32_t client, const uint8_t* bytes, size_t size) {
    line* it = at->of[client];
    if (size > sizeof it->up - it->up_size) return;
    memcpy(it->up + it->up_size, bytes, size);
    it->up_size += size;
}

// A mask of zeros is one, too.
static void say_frame(stage* at, uint32_t client, uint8_t head, const uint8_t* bytes, size_t size) {
    uint8_t frame[8 + 256] = {head};
    size_t used = 2;
    frame[1] = 0x80 | (uint8_t)(size < 126 ? size : 126);
    if (size >= 126) {
        frame[used++] = (uint8_t)(size >> 8);
        frame[used++] = (uint8_t)size;
    }
    used += 4;
    memcpy(frame + used, bytes, size);
    say(at, client, frame, used + size);
}

static void say_kind(stage* at, uint32_t client, uint8_t kind, const uint8_t* bytes, size_t size) {
    uint8_t message[256] = {kind};
    if (size > sizeof message - 1) size = sizeof message - 1;
    memcpy(message + 1, bytes, size);
    say_frame(at, client, 0x82, message, size + 1);
}

// ---- the server's side ----

static void take_event(stage* at, const net_transport_event* event) {
    const uint32_t slot = event->peer & (NET_PEER_SLOTS - 1);
    FUZZ_CHECK(slot >= 1 && slot <= PEERS && event->peer != 0);
    net_peer* open = &at->open[slot - 1];
    if (event->kind == NET_TRANSPORT_CONNECTED) {
        FUZZ_CHECK(*open == 0);
        *open = event->peer;
        return;
    }
    FUZZ_CHECK(*open == event->peer);
    if (event->kind == NET_TRANSPORT_DISCONNECTED) {
        *open = 0;
        return;
    }
    FUZZ_CHECK(event->kind == NET_TRANSPORT_RECEIVED && event->size > 0 && event->bytes);
    FUZZ_CHECK(event->size <= (event->channel == NET_CHANNEL_REALTIME ? NET_STATE_BYTES_MAX
                                                                      : NET_CONTROL_BYTES_MAX));
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < event->size; i++)
        sum = (uint8_t)(sum + event->bytes[i]);
}

static void serve(stage* at, uint64_t us) {
    net_transport_event event;
    at->now_us += us;
    at->web->ops->service(at->web, at->now_us);
    while (at->web->ops->next(at->web, &event))
        take_event(at, &event);
    at->web->ops->flush(at->web);
    FUZZ_CHECK(at->memory.used_bytes <= MEMORY_MAX);
}

static void send_to(stage* at, uint32_t client, const fuzz_record* record) {
    static const uint8_t bytes[255 * 97];
    const net_peer peer = at->open[client];
    if (peer == 0 || record->size < 2) return;
    const net_channel channel = record->bytes[0] % 2 ? NET_CHANNEL_REALTIME : NET_CHANNEL_CONTROL;
    const size_t size = record->bytes[1] * (size_t)97;
    const net_result result = at->web->ops->send(at->web, peer, channel, bytes, size);
    const size_t most =
        channel == NET_CHANNEL_REALTIME ? NET_STATE_BYTES_MAX : NET_CONTROL_BYTES_MAX;
    if (result == NET_OK) FUZZ_CHECK(size > 0 && size <= most);
}

static void end_one(stage* at, uint32_t client, const fuzz_record* record) {
    const uint8_t how = record->size > 0 ? record->bytes[0] % 4 : 0;
    net_peer* open = &at->open[client];
    if (how == 0) at->of[client]->is_cut = true;
    if ((how == 1 || how == 2) && *open) at->web->ops->disconnect(at->web, *open, 5, how == 2);
    if (how == 2) *open = 0;
    if (how == 3) come(at, client, record->bytes + 1, record->size > 1 ? record->size - 1 : 0);
}

static void run(stage* at, const fuzz_record* record) {
    const uint32_t client = record->operation >> 7;
    const uint8_t* bytes = record->bytes;
    const size_t size = record->size;
    switch (record->operation % 8) {
    case 0:
        say(at, client, bytes, size);
        break;
    case 1:
        if (size > 0) say_frame(at, client, bytes[0], bytes + 1, size - 1);
        break;
    case 2:
        say_kind(at, client, NET_WEB_HELLO, bytes, size);
        break;
    case 3:
        if (size > 0) say_kind(at, client, bytes[0], bytes + 1, size - 1);
        break;
    case 4:
        serve(at, size > 0 ? bytes[0] * UINT64_C(10000) : 0);
        break;
    case 5:
        send_to(at, client, record);
        break;
    case 6:
        at->of[client]->room = size > 0 ? bytes[0] * (size_t)256 : 0;
        at->of[client]->unsent = size > 1 ? bytes[1] * 16u : 0;
        break;
    default:
        end_one(at, client, record);
    }
}

// Frames of a server: without a mask, each message whole, its kind in the first byte.
static void check_down(const line* it) {
    size_t next = 0;
    for (size_t at = 0; it->down_size - at >= 4; at = next) {
        const uint8_t* head = it->down + at;
        const uint8_t opcode = head[0] & 15;
        FUZZ_CHECK((head[0] & 0xF0) == 0x80 && head[1] <= 126);
        const size_t size = head[1] < 126 ? head[1] : (size_t)(head[2] << 8 | head[3]);
        next = at + (head[1] < 126 ? 2 : 4) + size;
        if (next > it->down_size) return;
        FUZZ_CHECK(opcode == 2 || opcode == 8 || opcode == 10);
        if (opcode == 2) FUZZ_CHECK(size > 1 && it->down[next - size] <= NET_WEB_HELLO);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const net_entropy entropy = {fill_nothing, NULL};
    stage at = {.now_us = 1000};
    base_quota_init(&at.memory, NULL, SIZE_MAX);
    const net_web_config config = {.allocator = &at.memory.allocator,
                                   .peers_max = PEERS,
                                   .slot_first = 1,
                                   .io = {.context = &at,
                                          .ready = list_ready,
                                          .read = read_line,
                                          .write = write_line,
                                          .unsent = unsent_of,
                                          .close = close_line,
                                          .descriptor = -1},
                                   .admit = admit,
                                   .entropy = &entropy};
    FUZZ_CHECK(net_transport_web_create(&config, &at.web) == NET_OK);
    serve(&at, 0);
    for (uint32_t i = 0; i < CLIENTS; i++)
        come(&at, i, NULL, 0);
    fuzz_record record;
    while (fuzz_next(&data, &size, &record))
        run(&at, &record);
    serve(&at, 1000);
    at.web->ops->destroy(at.web);
    FUZZ_CHECK(at.memory.used_bytes == 0);
    for (uint32_t i = 0; i < at.line_count; i++) {
        FUZZ_CHECK(at.lines[i]->is_closed == at.lines[i]->is_added);
        check_down(at.lines[i]);
        free(at.lines[i]);
    }
    return 0;
}
