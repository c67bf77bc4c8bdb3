// SPDX-License-Identifier: MIT
// The WebSocket transport beside clients that libwslay frames too. Lines are buffers in memory, the
// clock is an argument.
#include "net/websocket.h"

#include "address_of.h"

#include <wslay/wslay.h>

enum { PEERS = 3, LINE_BYTES = 1 << 18, SLOT_FIRST = 8, GOT_MAX = 64 };

typedef struct line {
    net_web_stream stream;
    uint8_t up[LINE_BYTES], down[LINE_BYTES]; // to the server, to the client
    size_t up_size, down_size, down_read, room;
    uint32_t unsent;
    bool is_cut, is_closed; // by the client's side; by the transport
    wslay_event_context_ptr frames;
    char hello[NET_TOKEN_TEXT_BYTES];
    uint8_t kind; // of the newest message
    uint8_t bytes[NET_CONTROL_BYTES_MAX + 1];
    size_t size;
    uint32_t messages;
    uint16_t close_code;
    char close_text[128];
} line;

typedef struct got {
    net_transport_event event;
    uint8_t bytes[64];
} got;

typedef struct world {
    net_transport* web;
    line* lines;
    uint32_t count;
    got got[GOT_MAX];
    uint32_t got_count;
    uint64_t now_us;
    net_secure_end answer; // of admit
    net_token shown;       // to admit
    bool has_later;        // it gives a token for later matches, too
} world;

// ---- lines ----

static line* line_of(net_web_stream* stream) {
    return (line*)stream;
}

static uint32_t ready_lines(void* context, net_web_stream** streams, uint32_t capacity) {
    world* at = context;
    uint32_t count = 0;
    for (uint32_t i = 0; i < at->count && count < capacity; i++)
        if (!at->lines[i].is_closed && (at->lines[i].up_size > 0 || at->lines[i].is_cut))
            streams[count++] = &at->lines[i].stream;
    return count;
}

static long read_line(void* context, net_web_stream* stream, uint8_t* bytes, size_t size) {
    line* from = line_of(stream);
    if (from->up_size == 0) return from->is_cut ? -1 : 0;
    if (size > from->up_size) size = from->up_size;
    memcpy(bytes, from->up, size);
    memmove(from->up, from->up + size, from->up_size - size);
    from->up_size -= size;
    return (long)size;
}

static long write_line(void* context, net_web_stream* stream, const uint8_t* bytes, size_t size) {
    line* to = line_of(stream);
    if (to->is_cut) return -1;
    if (size > to->room) size = to->room;
    to->room -= size;
    assert_in_range(to->down_size + size, 0, LINE_BYTES);
    memcpy(to->down + to->down_size, bytes, size);
    to->down_size += size;
    return (long)size;
}

static uint32_t unsent_of(void* context, net_web_stream* stream) {
    return line_of(stream)->unsent;
}

static void close_line(void* context, net_web_stream* stream) {
    assert_false(line_of(stream)->is_closed);
    line_of(stream)->is_closed = true;
}

// ---- the client's half ----

static ssize_t client_recv(wslay_event_context_ptr frames, uint8_t* bytes, size_t size, int flags,
                           void* context) {
    line* at = context;
    const size_t rest = at->down_size - at->down_read;
    if (size > rest) size = rest;
    if (size == 0) wslay_event_set_error(frames, WSLAY_ERR_WOULDBLOCK);
    memcpy(bytes, at->down + at->down_read, size);
    at->down_read += size;
    return size == 0 ? -1 : (ssize_t)size;
}

static ssize_t client_send(wslay_event_context_ptr frames, const uint8_t* bytes, size_t size,
                           int flags, void* context) {
    line* at = context;
    assert_in_range(at->up_size + size, 0, LINE_BYTES);
    memcpy(at->up + at->up_size, bytes, size);
    at->up_size += size;
    return (ssize_t)size;
}

static int client_mask(wslay_event_context_ptr frames, uint8_t* bytes, size_t size, void* context) {
    memset(bytes, 0x5A, size);
    return 0;
}

static void client_hear(wslay_event_context_ptr frames,
                        const struct wslay_event_on_msg_recv_arg* message, void* context) {
    line* at = context;
    if (message->opcode == WSLAY_CONNECTION_CLOSE) {
        at->close_code = message->status_code;
        const size_t size = message->msg_length > 2 ? message->msg_length - 2 : 0;
        assert_in_range(size, 0, sizeof at->close_text - 1);
        memcpy(at->close_text, message->msg + 2, size);
        return;
    }
    if (wslay_is_ctrl_frame(message->opcode)) return; // a pong
    at->messages++;
    at->size = message->msg_length - 1;
    at->kind = message->msg[0];
    memcpy(at->bytes, message->msg + 1, at->size);
    if (at->kind == NET_WEB_HELLO) memcpy(at->hello, at->bytes, at->size);
}

static void client_say(world* at, uint32_t client, uint8_t opcode, const void* bytes, size_t size) {
    const struct wslay_event_msg message = {opcode, bytes, size};
    assert_int_equal(wslay_event_queue_msg(at->lines[client].frames, &message), 0);
    assert_int_equal(wslay_event_send(at->lines[client].frames), 0);
}

static void say(world* at, uint32_t client, uint8_t kind, const void* bytes, size_t size) {
    uint8_t message[NET_CONTROL_BYTES_MAX + 8];
    message[0] = kind;
    memcpy(message + 1, bytes, size);
    client_say(at, client, WSLAY_BINARY_FRAME, message, size + 1);
}

// ---- the world ----

static net_secure_end admit(void* context, const net_address* from, const net_token* token,
                            net_peer_identity* identity, net_token* resume, net_token* later) {
    world* at = context;
    at->shown = *token;
    *resume = *token;
    resume->key_id = NET_KEY_ID_RESUME;
    if (at->has_later) *later = *resume;
    *identity = (net_peer_identity){.address = *from, .player = 77, .key = token->key_id};
    return at->answer;
}

static net_web_config config_of(world* at) {
    return (net_web_config){.peers_max = PEERS,
                            .slot_first = SLOT_FIRST,
                            .peers_per_address_max = 2,
                            .io = {.context = at,
                                   .ready = ready_lines,
                                   .read = read_line,
                                   .write = write_line,
                                   .unsent = unsent_of,
                                   .close = close_line,
                                   .descriptor = -1},
                            .admit = admit,
                            .admit_context = at};
}

static void world_open(world* at) {
    memset(at, 0, sizeof *at);
    at->lines = calloc(PEERS + 2, sizeof *at->lines);
    assert_non_null(at->lines);
    const net_web_config config = config_of(at);
    assert_ok(net_transport_web_create(&config, &at->web));
    at->now_us = 1000;
    at->web->ops->service(at->web, at->now_us);
}

static void world_close(world* at) {
    at->web->ops->destroy(at->web);
    for (uint32_t i = 0; i < at->count; i++) {
        assert_true(at->lines[i].is_closed);
        wslay_event_context_free(at->lines[i].frames);
    }
    free(at->lines);
}

static void run_ms(world* at, uint32_t ms) {
    at->now_us += ms * UINT64_C(1000);
    at->web->ops->service(at->web, at->now_us);
    net_transport_event event;
    while (at->web->ops->next(at->web, &event)) {
        assert_in_range(at->got_count, 0, GOT_MAX - 1);
        got* into = &at->got[at->got_count++];
        into->event = event;
        if (event.size > 0 && event.size <= sizeof into->bytes)
            memcpy(into->bytes, event.bytes, event.size);
    }
    at->web->ops->flush(at->web);
    for (uint32_t i = 0; i < at->count; i++) {
        if (wslay_event_get_read_enabled(at->lines[i].frames))
            assert_int_equal(wslay_event_recv(at->lines[i].frames), 0);
        assert_int_equal(wslay_event_send(at->lines[i].frames), 0); // the answer to a close
    }
}

static bool add_from(world* at, const char* address) {
    static const struct wslay_event_callbacks callbacks = {.recv_callback = client_recv,
                                                           .send_callback = client_send,
                                                           .genmask_callback = client_mask,
                                                           .on_msg_recv_callback = client_hear};
    line* made = &at->lines[at->count];
    const net_address from = address_of(address);
    made->room = LINE_BYTES;
    if (!net_web_add(at->web, &made->stream, &from, NULL, 0)) return false;
    assert_int_equal(wslay_event_context_client_init(&made->frames, &callbacks, made), 0);
    at->count++;
    return true;
}

// @return the number of the connection.
static net_peer join(world* at) {
    assert_true(add_from(at, "127.0.0.1:9"));
    say(at, at->count - 1, NET_WEB_HELLO, "", 0);
    run_ms(at, 1);
    const net_transport_event* event = &at->got[at->got_count - 1].event;
    assert_int_equal(event->kind, NET_TRANSPORT_CONNECTED);
    return event->peer;
}

#define WEB_CASE(name)                                                                             \
    static void name##_in(world* at);                                                              \
    CASE(name) {                                                                                   \
        world at;                                                                                  \
        world_open(&at);                                                                           \
        name##_in(&at);                                                                            \
        world_close(&at);                                                                          \
    }                                                                                              \
    static void name##_in(world* at)

static const net_transport_event* last_event(const world* at) {
    assert_true(at->got_count > 0);
    return &at->got[at->got_count - 1].event;
}

static net_result send_to(world* at, net_peer peer, net_channel channel, size_t size) {
    static const uint8_t bytes[NET_CONTROL_BYTES_MAX + 1] = {7, 8, 9};
    return at->web->ops->send(at->web, peer, channel, bytes, size);
}

// ---- cases ----

WEB_CASE(both_channels_carry_messages_both_ways) {
    const net_peer peer = join(at);
    assert_int_equal(peer & (NET_PEER_SLOTS - 1), SLOT_FIRST);
    for (uint8_t channel = 0; channel < 2; channel++) {
        say(at, 0, channel, "abc", 3);
        run_ms(at, 1);
        const net_transport_event* event = last_event(at);
        assert_int_equal(event->kind, NET_TRANSPORT_RECEIVED);
        assert_int_equal(event->channel, channel);
        assert_int_equal(event->size, 3);
        assert_memory_equal(at->got[at->got_count - 1].bytes, "abc", 3);
        assert_ok(send_to(at, peer, (net_channel)channel, 3));
        run_ms(at, 1);
        assert_int_equal(at->lines[0].kind, channel);
        assert_int_equal(at->lines[0].size, 3);
        assert_int_equal(at->lines[0].bytes[0], 7);
    }
    net_peer_identity identity;
    assert_true(net_transport_identity(at->web, peer, &identity));
    assert_int_equal(identity.player, 77);
    assert_true(at->web->ops->peer_sent_bytes(at->web, peer) > 6);
    assert_false(net_transport_identity(at->web, peer + NET_PEER_SLOTS, &identity));
}

WEB_CASE(a_token_is_shown_and_one_to_come_again_is_given) {
    net_token token;
    net_key key;
    char text[NET_TOKEN_TEXT_BYTES];
    const net_token_claims claims = {.player_id = 5, .expiry_unix_s = 100};
    net_key_make(3, net_entropy_system(), &key);
    assert_ok(net_token_make(&key, &claims, net_entropy_system(), &token));
    assert_true(net_token_print(&token, text, sizeof text));
    assert_true(add_from(at, "127.0.0.1:9"));
    say(at, 0, NET_WEB_HELLO, text, strlen(text));
    run_ms(at, 1);
    assert_int_equal(last_event(at)->kind, NET_TRANSPORT_CONNECTED);
    assert_memory_equal(at->shown.sealed, token.sealed, sizeof token.sealed);
    // What it was given counts, too.
    assert_true(strcmp(at->lines[0].hello, text) != 0);
    assert_true(add_from(at, "127.0.0.1:9"));
    say(at, 1, NET_WEB_HELLO, at->lines[0].hello, strlen(at->lines[0].hello));
    run_ms(at, 1);
    assert_int_equal(last_event(at)->kind, NET_TRANSPORT_CONNECTED);
    assert_int_equal(at->shown.key_id, NET_KEY_ID_RESUME);
    assert_memory_equal(at->shown.sealed, token.sealed, sizeof token.sealed);
}

WEB_CASE(a_token_for_later_matches_comes_as_another_hello) {
    for (uint32_t i = 0; i < 2; i++) {
        at->has_later = i == 1;
        assert_true(add_from(at, "127.0.0.1:9"));
        say(at, i, NET_WEB_HELLO, "", 0);
        run_ms(at, 1);
        assert_int_equal(at->lines[i].messages, 1 + i);
        assert_int_equal(at->lines[i].kind, NET_WEB_HELLO);
        assert_int_equal(last_event(at)->kind, NET_TRANSPORT_CONNECTED);
    }
}

WEB_CASE(a_token_that_does_not_count_is_refused_with_its_reason) {
    char reason[16];
    at->answer = NET_SECURE_END_EXPIRED;
    assert_true(add_from(at, "127.0.0.1:9"));
    say(at, 0, NET_WEB_HELLO, "", 0);
    run_ms(at, 1);
    base_text_format(reason, sizeof reason, "%u", NET_TRANSPORT_SECURE + NET_SECURE_END_EXPIRED);
    assert_int_equal(at->lines[0].close_code, NET_WEB_CLOSE_REASON);
    assert_string_equal(at->lines[0].close_text, reason);
    run_ms(at, 1);
    assert_true(at->lines[0].is_closed); // the answer to the close came
    assert_int_equal(at->got_count, 0);
    net_web_stats stats;
    net_web_get_stats(at->web, &stats);
    assert_int_equal(stats.refused, 1);
}

// The message, and the code with which the connection ends.
static void refuse(world* at, uint8_t opcode, const void* bytes, size_t size, uint16_t code) {
    client_say(at, at->count - 1, opcode, bytes, size);
    run_ms(at, 1);
    assert_int_equal(at->lines[at->count - 1].close_code, code);
    run_ms(at, NET_WEB_CLOSE_MS_MAX + 1);
    assert_true(at->lines[at->count - 1].is_closed);
}

WEB_CASE(what_is_no_message_of_ours_ends_the_connection) {
    static uint8_t bytes[NET_CONTROL_BYTES_MAX + 2];
    assert_true(add_from(at, "127.0.0.1:9"));
    refuse(at, WSLAY_BINARY_FRAME, "\0x", 2, WSLAY_CODE_POLICY_VIOLATION); // no hello
    assert_true(add_from(at, "127.0.0.1:9"));
    refuse(at, WSLAY_BINARY_FRAME, "", 0, WSLAY_CODE_POLICY_VIOLATION);
    assert_true(add_from(at, "127.0.0.1:9"));
    refuse(at, WSLAY_BINARY_FRAME, "\2no token", 9, NET_WEB_CLOSE_REASON);
    assert_int_equal(at->got_count, 0);
    world_close(at);
    world_open(at);
    (void)join(at);
    refuse(at, WSLAY_TEXT_FRAME, "a", 1, WSLAY_CODE_UNSUPPORTED_DATA);
    (void)join(at);
    refuse(at, WSLAY_BINARY_FRAME, "\3a", 2, WSLAY_CODE_POLICY_VIOLATION);
    (void)join(at);
    refuse(at, WSLAY_BINARY_FRAME, "\0", 1, WSLAY_CODE_POLICY_VIOLATION);
    assert_int_equal(last_event(at)->kind, NET_TRANSPORT_DISCONNECTED);
    world_close(at);
    world_open(at);
    (void)join(at);
    refuse(at, WSLAY_BINARY_FRAME, bytes, sizeof bytes, WSLAY_CODE_MESSAGE_TOO_BIG);
}

WEB_CASE(messages_have_limits_of_size) {
    static const uint8_t bytes[NET_CONTROL_BYTES_MAX + 1];
    const net_peer peer = join(at);
    assert_ok(send_to(at, peer, NET_CHANNEL_REALTIME, NET_STATE_BYTES_MAX - 1));
    assert_ok(send_to(at, peer, NET_CHANNEL_REALTIME, NET_STATE_BYTES_MAX));
    assert_int_equal(send_to(at, peer, NET_CHANNEL_REALTIME, NET_STATE_BYTES_MAX + 1),
                     NET_ERR_FULL);
    assert_ok(send_to(at, peer, NET_CHANNEL_CONTROL, NET_CONTROL_BYTES_MAX - 1));
    assert_ok(send_to(at, peer, NET_CHANNEL_CONTROL, NET_CONTROL_BYTES_MAX));
    assert_int_equal(send_to(at, peer, NET_CHANNEL_CONTROL, NET_CONTROL_BYTES_MAX + 1),
                     NET_ERR_FULL);
    assert_int_equal(send_to(at, peer, NET_CHANNEL_CONTROL, 0), NET_ERR_FULL);
    for (size_t size = NET_STATE_BYTES_MAX - 1; size <= NET_STATE_BYTES_MAX; size++) {
        say(at, 0, NET_WEB_REALTIME, bytes, size);
        run_ms(at, 1);
        assert_int_equal(last_event(at)->size, size);
    }
    for (size_t size = NET_CONTROL_BYTES_MAX - 1; size <= NET_CONTROL_BYTES_MAX; size++) {
        say(at, 0, NET_WEB_CONTROL, bytes, size);
        run_ms(at, 1);
        assert_int_equal(last_event(at)->size, size);
    }
    net_transport_stats stats;
    at->web->ops->stats(at->web, &stats);
    assert_int_equal(stats.send_refused, 3);
    assert_int_equal(stats.recv_reliable_bytes, 2 * NET_CONTROL_BYTES_MAX - 1);
    say(at, 0, NET_WEB_REALTIME, bytes, NET_STATE_BYTES_MAX + 1);
    run_ms(at, 1);
    assert_int_equal(at->lines[0].close_code, WSLAY_CODE_POLICY_VIOLATION);
}

WEB_CASE(a_packet_is_not_sent_while_older_ones_have_not_left) {
    const net_peer peer = join(at);
    const uint32_t before = at->lines[0].messages;
    at->lines[0].unsent = NET_WEB_UNSENT_BYTES_MAX + 1;
    assert_ok(send_to(at, peer, NET_CHANNEL_REALTIME, 3));
    run_ms(at, 1);
    assert_int_equal(at->lines[0].messages, before);
    assert_ok(send_to(at, peer, NET_CHANNEL_CONTROL, 3)); // a message waits in the queue
    run_ms(at, 1);
    assert_int_equal(at->lines[0].messages, before + 1);
    at->lines[0].unsent = NET_WEB_UNSENT_BYTES_MAX;
    assert_ok(send_to(at, peer, NET_CHANNEL_REALTIME, 3));
    run_ms(at, 1);
    assert_int_equal(at->lines[0].messages, before + 2);
    // The same when the system takes nothing.
    at->lines[0].room = 2;
    assert_ok(send_to(at, peer, NET_CHANNEL_CONTROL, 3));
    run_ms(at, 1);
    assert_ok(send_to(at, peer, NET_CHANNEL_REALTIME, 3));
    at->lines[0].room = LINE_BYTES;
    run_ms(at, 1);
    assert_int_equal(at->lines[0].messages, before + 3);
    net_web_stats stats;
    net_web_get_stats(at->web, &stats);
    assert_int_equal(stats.stale, 2);
}

WEB_CASE(a_queue_has_a_limit_and_a_reader_that_sleeps_is_dropped) {
    const net_peer peer = join(at);
    at->lines[0].room = 0;
    uint32_t count = 0;
    while (send_to(at, peer, NET_CHANNEL_CONTROL, 1024) == NET_OK)
        count++;
    assert_in_range(count, 60, 64);
    run_ms(at, 1);
    for (uint32_t ms = 0; ms < NET_DEAF_MS_MAX; ms += 500) {
        say(at, 0, NET_WEB_REALTIME, "abc", 3); // it is heard
        run_ms(at, 500);
        at->got_count = 0;
    }
    run_ms(at, 500);
    assert_int_equal(last_event(at)->kind, NET_TRANSPORT_DISCONNECTED);
    assert_int_equal(last_event(at)->reason, NET_TRANSPORT_DEAF);
    assert_int_equal(send_to(at, peer, NET_CHANNEL_CONTROL, 1), NET_ERR_CLOSED);
}

WEB_CASE(who_sends_too_fast_is_dropped) {
    (void)join(at);
    for (uint32_t i = 1; i < 2 * NET_WEB_FRAMES_PER_SECOND; i++) {
        say(at, 0, NET_WEB_REALTIME, "a", 1);
        if (i % 32 == 0) run_ms(at, 0);
        at->got_count = 0;
    }
    run_ms(at, 0);
    assert_int_equal(at->lines[0].close_code, 0);
    say(at, 0, NET_WEB_REALTIME, "a", 1);
    run_ms(at, 0);
    assert_int_equal(at->lines[0].close_code, WSLAY_CODE_POLICY_VIOLATION);
    net_web_stats stats;
    net_web_get_stats(at->web, &stats);
    assert_int_equal(stats.too_fast, 1);
}

static void write_up(world* at, uint32_t client, const uint8_t* bytes, size_t size) {
    line* to = &at->lines[client];
    assert_in_range(to->up_size + size, 0, LINE_BYTES);
    memcpy(to->up + to->up_size, bytes, size);
    to->up_size += size;
}

// A masked frame, whose mask is zeros.
static void write_part(world* at, uint8_t head, const uint8_t* bytes, size_t size) {
    const bool is_short = size < 126;
    uint8_t frame[8 + NET_CONTROL_BYTES_MAX] = {head, is_short ? 0x80 | (uint8_t)size : 0x80 | 126};
    if (!is_short) frame[2] = (uint8_t)(size >> 8), frame[3] = (uint8_t)size;
    memcpy(frame + (is_short ? 6 : 8), bytes, size);
    write_up(at, 0, frame, (is_short ? 6 : 8) + size);
}

WEB_CASE(a_message_in_parts_is_one_and_has_the_same_limit) {
    enum { FIRST = 200, BEGIN = 0x02, GO_ON = 0x00, END = 0x80 };
    static const uint8_t ping[] = {0x89, 0x82, 0, 0, 0, 0, 1, 2};
    static uint8_t bytes[NET_CONTROL_BYTES_MAX];
    bytes[0] = NET_WEB_CONTROL;
    (void)join(at);
    write_part(at, BEGIN, (const uint8_t*)"\1abc", 4);
    write_up(at, 0, ping, sizeof ping);
    write_part(at, END, (const uint8_t*)"de", 2);
    run_ms(at, 1);
    assert_int_equal(last_event(at)->size, 5);
    assert_memory_equal(at->got[1].bytes, "abcde", 5);
    // One byte is the kind.
    for (size_t size = NET_CONTROL_BYTES_MAX; size <= NET_CONTROL_BYTES_MAX + 2; size++) {
        write_part(at, BEGIN, bytes, FIRST);
        write_up(at, 0, ping, sizeof ping);
        write_part(at, GO_ON, bytes + FIRST, FIRST);
        run_ms(at, 1);
        assert_int_equal(at->got_count, size - NET_CONTROL_BYTES_MAX + 2);
        write_part(at, END, bytes, size - 2 * FIRST);
        run_ms(at, 1);
        if (size > NET_CONTROL_BYTES_MAX + 1) break;
        assert_int_equal(last_event(at)->size, size - 1);
    }
    assert_int_equal(at->lines[0].close_code, WSLAY_CODE_MESSAGE_TOO_BIG);
}

// A masked frame without bytes.
static const uint8_t empty_ping[] = {0x89, 0x80, 1, 2, 3, 4};
static const uint8_t empty_part[] = {0x00, 0x80, 1, 2, 3, 4};

WEB_CASE(pings_and_parts_of_messages_count_as_messages_do) {
    static const uint8_t begin[] = {0x02, 0x81, 0, 0, 0, 0, NET_WEB_REALTIME};
    for (uint32_t client = 0; client < 2; client++) {
        (void)join(at); // its hello is one
        if (client == 1) write_up(at, client, begin, sizeof begin);
        for (uint32_t i = 1 + client; i < 2 * NET_WEB_FRAMES_PER_SECOND; i++)
            write_up(at, client, client == 0 ? empty_ping : empty_part, 6);
        run_ms(at, 0);
        assert_int_equal(at->lines[client].close_code, 0);
        write_up(at, client, client == 0 ? empty_ping : empty_part, 6);
        run_ms(at, 0);
        assert_int_equal(at->lines[client].close_code, WSLAY_CODE_POLICY_VIOLATION);
        assert_false(at->lines[client].is_closed);
        // Who goes on is not waited for.
        for (uint32_t i = 0; i < 3 * NET_WEB_FRAMES_PER_SECOND; i++)
            write_up(at, client, empty_ping, sizeof empty_ping);
        run_ms(at, 0);
        assert_true(at->lines[client].is_closed);
    }
}

WEB_CASE(a_service_reads_so_many_bytes_of_a_connection_and_no_more) {
    (void)join(at);
    static uint8_t frame[8 + 60000] = {0x82, 0xFE, 60000 >> 8, 60000 & 255};
    write_up(at, 0, frame, sizeof frame); // beyond the limit, too: its rest is not waited for
    at->lines[0].room = 0;
    const size_t before = at->lines[0].up_size;
    at->web->ops->service(at->web, at->now_us);
    assert_in_range(before - at->lines[0].up_size, 1, 2 * NET_CONTROL_BYTES_MAX);
}

WEB_CASE(answers_to_pings_that_nobody_reads_have_a_limit) {
    uint8_t ping[6 + 125] = {0x89, 0x80 + 125};
    (void)join(at);
    at->lines[0].room = 0;
    uint32_t pings = 0;
    for (; pings < 100000 && !at->lines[0].is_closed; pings += 4) {
        for (uint32_t i = 0; i < 4; i++)
            write_up(at, 0, ping, sizeof ping);
        run_ms(at, 9);
    }
    assert_in_range(pings, 1, 2 * NET_WEB_QUEUE_BYTES_MAX / 127 + 8);
    assert_int_equal(last_event(at)->kind, NET_TRANSPORT_DISCONNECTED);
}

WEB_CASE(bytes_that_are_no_frames_end_the_connection) {
    static const uint8_t unmasked[] = {0x82, 0x02, NET_WEB_REALTIME, 'x'};
    (void)join(at);
    write_up(at, 0, unmasked, sizeof unmasked);
    run_ms(at, 1);
    assert_true(at->lines[0].is_closed);
    assert_int_equal(at->lines[0].close_code, WSLAY_CODE_PROTOCOL_ERROR);
    assert_int_equal(last_event(at)->kind, NET_TRANSPORT_DISCONNECTED);
    net_web_stats stats;
    net_web_get_stats(at->web, &stats);
    assert_int_equal(stats.malformed, 1);
}

WEB_CASE(a_connection_plays_for_months) {
    (void)join(at);
    for (uint32_t day = 0; day < 60; day++) {
        at->now_us += UINT64_C(86400000000) - 1000;
        at->lines[0].up_size = 0;
        say(at, 0, NET_WEB_REALTIME, "a", 1);
        at->got_count = 0;
        run_ms(at, 1);
        assert_int_equal(last_event(at)->kind, NET_TRANSPORT_RECEIVED);
    }
}

WEB_CASE(a_newcomer_takes_the_place_of_the_oldest_that_says_nothing) {
    for (uint32_t i = 0; i < PEERS; i++) {
        assert_true(add_from(at, "127.0.0.1:9"));
        run_ms(at, 1);
    }
    run_ms(at, NET_WEB_HELLO_MS_MIN - PEERS - 1);
    assert_false(add_from(at, "127.0.0.1:9")); // all of them may say it yet
    run_ms(at, 1);
    (void)join(at);
    assert_true(at->lines[0].is_closed);
    assert_false(at->lines[1].is_closed);
}

WEB_CASE(a_connection_without_a_hello_or_in_silence_ends) {
    (void)join(at);
    assert_true(add_from(at, "127.0.0.1:9"));
    run_ms(at, NET_WEB_HELLO_MS_MAX);
    assert_false(at->lines[1].is_closed);
    run_ms(at, 1);
    assert_true(at->lines[1].is_closed);
    run_ms(at, NET_WEB_SILENT_MS_MAX - NET_WEB_HELLO_MS_MAX - 1);
    assert_false(at->lines[0].is_closed);
    run_ms(at, 1);
    assert_true(at->lines[0].is_closed);
    assert_int_equal(last_event(at)->kind, NET_TRANSPORT_DISCONNECTED);
    assert_int_equal(last_event(at)->reason, 0);
}

WEB_CASE(a_disconnect_comes_after_what_was_sent) {
    const net_peer peer = join(at);
    assert_ok(send_to(at, peer, NET_CHANNEL_CONTROL, 3));
    at->web->ops->disconnect(at->web, peer, 42, false);
    assert_int_equal(send_to(at, peer, NET_CHANNEL_CONTROL, 3), NET_ERR_CLOSED);
    run_ms(at, 1);
    assert_int_equal(at->lines[0].kind, NET_WEB_CONTROL);
    assert_string_equal(at->lines[0].close_text, "42");
    run_ms(at, 1);
    assert_int_equal(last_event(at)->kind, NET_TRANSPORT_DISCONNECTED);
    assert_int_equal(last_event(at)->peer, peer);
    // At once: no event, and the line is closed when the call returns.
    const net_peer second = join(at);
    const uint32_t count = at->got_count;
    at->web->ops->disconnect(at->web, second, 42, true);
    assert_true(at->lines[1].is_closed);
    run_ms(at, 1);
    assert_int_equal(at->got_count, count);
}

WEB_CASE(no_event_follows_a_disconnect_at_once) {
    const net_peer peer = join(at), other = join(at);
    for (uint32_t i = 0; i < 3; i++)
        say(at, 0, NET_WEB_CONTROL, "abc", 3);
    say(at, 1, NET_WEB_CONTROL, "abc", 3);
    at->web->ops->service(at->web, at->now_us);
    net_transport_event event;
    assert_true(at->web->ops->next(at->web, &event));
    assert_int_equal(event.peer, peer);
    at->web->ops->disconnect(at->web, peer, 1, true);
    assert_true(at->web->ops->next(at->web, &event));
    assert_int_equal(event.peer, other);
    assert_false(at->web->ops->next(at->web, &event));
}

WEB_CASE(a_client_ends_with_a_reason_or_is_cut) {
    (void)join(at);
    assert_int_equal(
        wslay_event_queue_close(at->lines[0].frames, NET_WEB_CLOSE_REASON, (const uint8_t*)"9", 1),
        0);
    assert_int_equal(wslay_event_send(at->lines[0].frames), 0);
    run_ms(at, 1);
    assert_int_equal(last_event(at)->kind, NET_TRANSPORT_DISCONNECTED);
    assert_int_equal(last_event(at)->reason, 9);
    const net_peer second = join(at);
    at->lines[1].is_cut = true;
    run_ms(at, 1);
    assert_int_equal(last_event(at)->kind, NET_TRANSPORT_DISCONNECTED);
    assert_int_equal(last_event(at)->peer, second);
    assert_int_equal(last_event(at)->reason, 0);
}

WEB_CASE(places_have_limits_of_all_and_of_an_address) {
    assert_true(add_from(at, "203.0.113.1:1"));
    assert_true(add_from(at, "203.0.113.1:2"));
    assert_false(add_from(at, "203.0.113.1:3"));
    assert_true(add_from(at, "203.0.113.2:1"));
    assert_false(add_from(at, "127.0.0.1:1")); // there is no place
    net_web_stats stats;
    net_web_get_stats(at->web, &stats);
    assert_int_equal(stats.refused, 2);
    assert_int_equal(stats.connections, 3);
}

CASE(without_places_it_says_so) {
    world at = {0};
    net_transport* web;
    net_web_config config = config_of(&at);
    config.peers_max = 0;
    assert_int_equal(net_transport_web_create(&config, &web), NET_ERR_FULL);
}
