// SPDX-License-Identifier: MIT
// A flood of one kind of datagram against a real server, as fast as one core sends. It prints what
// it sent and what came back, so that a script can compute the amplification.
//
//     flood KIND ADDR:PORT SECONDS [RATE]     RATE: datagrams a second; 0: as many as possible
//
// The datagrams come from FLOOD_SOCKETS different ports of 127.0.0.1 to 127.0.0.8, so a limit per
// address is part of what is measured.
#define _GNU_SOURCE
#include "base/rng.h"
#include "net/token.h"
#include "secure/secure_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// ---- the kinds, from blind to well informed: bytes of chance, ENet's own datagrams, handshakes
// without and with a valid token, datagrams that a reader of the traffic of a session can make, and
// what a client with a token of its own can do with its cookie.

#define FLOOD_BYTES_MAX 8192u
#define FLOOD_SOCKETS 64u

typedef struct flood_kind flood_kind;

// What a socket of the flood knows: a cookie counts for one address and port.
typedef struct flood_socket {
    net_secure_client client;
    uint64_t asked_us;                       // when it began its attempt; 0: never
    uint8_t response[NET_OUTER_HELLO_BYTES]; // its answer to the last challenge
    uint8_t close[NET_OUTER_CLOSE_BYTES];
    size_t close_size; // not 0: the session that the response began is still to be closed
    uint32_t made;
} flood_socket;

// Write one datagram. @return its size.
typedef size_t (*flood_make_fn)(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]);

struct flood_kind {
    flood_make_fn make;
    base_rng rng;
    net_address target;
    net_token token;
    uint8_t request[NET_OUTER_HELLO_BYTES];
    net_secure_client client; // of kinds that know a session
    uint8_t recorded[256];    // a datagram of that session
    size_t recorded_size;
    flood_socket sockets[FLOOD_SOCKETS];
    flood_socket* at; // the one whose datagrams are made or taken now
};

enum { OVERSIZED_BYTES = 5000, STATE_BYTES = 600, CONNECT_MS_MAX = 5000, RESPONSES = 64 };

#define RESPONSE_AGE_US UINT64_C(9000000) // below that of cookies

static void fill(flood_kind* kind, uint8_t* bytes, size_t size) {
    for (size_t i = 0; i < size; i += 4) {
        uint32_t word = base_rng_u32(&kind->rng);
        memcpy(bytes + i, &word, size - i < 4 ? size - i : 4);
    }
}

static size_t make_random(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]) {
    size_t size = 1 + base_rng_u32(&kind->rng) % 1232;
    fill(kind, bytes, size);
    return size;
}

static size_t make_empty(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]) {
    (void)kind;
    (void)bytes;
    return 0;
}

static size_t make_oversized(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]) {
    (void)kind;
    memset(bytes, 3, OVERSIZED_BYTES);
    return OVERSIZED_BYTES;
}

// ENet's CONNECT, as a client without encryption sends it.
static size_t make_enet_connect(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]) {
    fill(kind, bytes, 52);
    const uint8_t head[] = {0x8F, 0xFF, 0, 0, 0x82, 0xFF, 0, 1};
    memcpy(bytes, head, sizeof head);
    return 52;
}

// ENet's DISCONNECT to every peer in turn, which kicks players where nothing is encrypted.
static size_t make_enet_disconnect(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]) {
    const uint32_t peer = base_rng_u32(&kind->rng) % 64;
    const uint8_t datagram[] = {0x80, (uint8_t)peer, 0, 0, 0x44, 0xFF, 0, 1, 0, 0, 0, 0};
    memcpy(bytes, datagram, sizeof datagram);
    return sizeof datagram;
}

static size_t make_request_garbage(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]) {
    fill(kind, bytes, NET_OUTER_HELLO_BYTES);
    memcpy(bytes, kind->request, 35); // all in the open part is right
    memset(bytes + 571, 0, NET_OUTER_HELLO_BYTES - 571);
    return NET_OUTER_HELLO_BYTES;
}

static size_t make_request_version(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]) {
    memcpy(bytes, kind->request, NET_OUTER_HELLO_BYTES);
    bytes[1] = 0;
    return NET_OUTER_HELLO_BYTES;
}

static size_t make_request_valid(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]) {
    memcpy(bytes, kind->request, NET_OUTER_HELLO_BYTES);
    fill(kind, bytes + 2, NET_OUTER_RANDOM_BYTES);
    return NET_OUTER_HELLO_BYTES;
}

static size_t make_response_forged(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]) {
    (void)make_request_valid(kind, bytes);
    bytes[0] = NET_OUTER_RESPONSE;
    fill(kind, bytes + 572, 48);
    fill(kind, bytes + NET_OUTER_HELLO_BYTES - 16, 16);
    return NET_OUTER_HELLO_BYTES;
}

static size_t make_data_random(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]) {
    fill(kind, bytes, STATE_BYTES);
    bytes[0] = NET_OUTER_DATA;
    return STATE_BYTES;
}

// The id of a session that is open, numbers ahead of the window, and a tag of chance.
static size_t make_data_forged(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]) {
    fill(kind, bytes, STATE_BYTES);
    memcpy(bytes, kind->recorded, NET_OUTER_HEAD_BYTES);
    bytes[5] = (uint8_t)(2 + base_rng_u32(&kind->rng) % 250);
    return STATE_BYTES;
}

static size_t make_data_replayed(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]) {
    memcpy(bytes, kind->recorded, kind->recorded_size);
    return kind->recorded_size;
}

// ---- a session, for the kinds that know one

static net_secure_clock clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (net_secure_clock){
        .now_us = (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u,
        .unix_s = (uint64_t)time(NULL),
    };
}

static void receive_one(flood_kind* kind, int socket) {
    uint8_t bytes[2048];
    ssize_t got = recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got <= 0) return;
    net_secure_clock now = clock_now();
    net_secure_answer answer;
    net_secure_client_receive(&kind->client, &now, &kind->target, bytes, (size_t)got, &answer);
    if (answer.reply_size > 0) (void)!send(socket, answer.reply, answer.reply_size, 0);
}

// @return false when the server does not accept.
static bool open_session(flood_kind* kind, int socket) {
    const net_security security = {.entropy = net_entropy_system()};
    net_secure_client_init(&kind->client, &security);
    net_secure_clock now = clock_now();
    const uint64_t until_us = now.now_us + CONNECT_MS_MAX * UINT64_C(1000);
    net_secure_client_begin(&kind->client, &now, &kind->target, 1);
    while (kind->client.state != NET_SECURE_CLIENT_OPEN && now.now_us < until_us) {
        uint8_t out[NET_OUTER_HELLO_BYTES];
        net_address to;
        size_t size = net_secure_client_service(&kind->client, &now, out, &to);
        if (size > 0) (void)!send(socket, out, size, 0);
        struct pollfd readable = {.fd = socket, .events = POLLIN};
        if (poll(&readable, 1, 20) > 0) receive_one(kind, socket);
        now = clock_now();
    }
    return kind->client.state == NET_SECURE_CLIENT_OPEN;
}

// The first datagram of a session is sent once as it should be; everything else is a copy of it.
static bool record_session(flood_kind* kind) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(kind->target.port)};
    memcpy(&to.sin_addr.s_addr, kind->target.ip + 12, 4);
    int own = socket(AF_INET, SOCK_DGRAM, 0);
    bool is_open = own >= 0 && connect(own, (const struct sockaddr*)&to, sizeof to) == 0 &&
                   open_session(kind, own);
    if (is_open) {
        const uint8_t inner[64] = {0};
        net_address where;
        kind->recorded_size =
            net_secure_client_send(&kind->client, clock_now().now_us, NET_OUTER_DATA, inner,
                                   sizeof inner, kind->recorded, &where);
        is_open = send(own, kind->recorded, kind->recorded_size, 0) > 0;
    }
    if (own >= 0) close(own);
    return is_open;
}

// ---- the response of a client with a token of its own

// Begin an attempt. @return the size of its request.
static size_t ask(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]) {
    const net_security security = {.entropy = net_entropy_system()};
    const net_secure_clock now = clock_now();
    flood_socket* at = kind->at;
    net_address to;
    if (at->asked_us == 0) net_secure_client_init(&at->client, &security);
    at->asked_us = now.now_us;
    net_secure_client_begin(&at->client, &now, &kind->target, 1);
    return net_secure_client_service(&at->client, &now, bytes, &to);
}

// Take an answer to the socket `at`.
static void flood_take(flood_kind* kind, uint8_t* bytes, size_t size) {
    flood_socket* at = kind->at;
    if (at->asked_us == 0) return;
    const net_secure_clock now = clock_now();
    net_secure_answer answer;
    net_address to;
    net_secure_client_receive(&at->client, &now, &kind->target, bytes, size, &answer);
    if (answer.reply_size == sizeof at->response)
        memcpy(at->response, answer.reply, sizeof at->response);
    if (at->client.state != NET_SECURE_CLIENT_OPEN) return;
    const uint8_t why = NET_SECURE_END_CLOSED;
    at->close_size = net_secure_client_send(&at->client, now.now_us, NET_OUTER_CLOSE, &why,
                                            sizeof why, at->close, &to);
    at->client.state = NET_SECURE_CLIENT_ENDED;
}

static bool has_response(const flood_socket* at) {
    return at->response[0] == NET_OUTER_RESPONSE;
}

// Each challenge gets so many responses with signatures of chance.
static size_t make_response_bad_signature(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]) {
    flood_socket* at = kind->at;
    if (at->made++ % RESPONSES == 0) return ask(kind, bytes);
    if (!has_response(at)) return 0;
    memcpy(bytes, at->response, sizeof at->response);
    fill(kind, bytes + sizeof at->response - 16, 16);
    return sizeof at->response;
}

// A response that was right: it begins a session, which is closed, and then it comes again.
static size_t make_response_old(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]) {
    flood_socket* at = kind->at;
    const bool is_closing = at->close_size > 0;
    if (at->asked_us == 0 || clock_now().now_us - at->asked_us > RESPONSE_AGE_US)
        return ask(kind, bytes);
    if (!has_response(at)) return 0;
    const size_t size = is_closing ? at->close_size : sizeof at->response;
    memcpy(bytes, is_closing ? at->close : at->response, size);
    at->close_size = 0;
    return size;
}

// ---- the kinds

static const struct {
    const char* name;
    flood_make_fn make;
    bool needs_session;
} kinds[] = {
    {"random", make_random, false},
    {"empty", make_empty, false},
    {"oversized", make_oversized, false},
    {"enet_connect", make_enet_connect, false},
    {"enet_disconnect", make_enet_disconnect, false},
    {"request_garbage", make_request_garbage, false},
    {"request_version", make_request_version, false},
    {"request_valid", make_request_valid, false},
    {"response_forged", make_response_forged, false},
    {"response_bad_signature", make_response_bad_signature, false},
    {"response_old", make_response_old, false},
    {"data_random", make_data_random, false},
    {"data_forged", make_data_forged, true},
    {"data_replayed", make_data_replayed, true},
};

static const char* flood_kind_names(void) {
    static char names[512];
    size_t size = 0;
    for (size_t i = 0; i < BASE_COUNT(kinds); i++)
        size += (size_t)snprintf(names + size, sizeof names - size, "%s ", kinds[i].name);
    return names;
}

static bool make_request(flood_kind* kind) {
    const net_token_claims claims = {.expiry_unix_s = (uint64_t)time(NULL) + 3600};
    if (net_token_make_dev(&claims, net_entropy_system(), &kind->token) != NET_OK) return false;
    static const uint8_t client_random[NET_OUTER_RANDOM_BYTES];
    net_outer_request_write(client_random, &kind->token, kind->request);
    return true;
}

// Kinds that need a session connect to the server first.
// @return false when no kind has this name, or no session could be had.
static bool flood_kind_init(flood_kind* kind, const char* name, const net_address* target) {
    memset(kind, 0, sizeof *kind);
    kind->rng = base_rng_make(1, 0);
    kind->target = *target;
    for (size_t i = 0; i < BASE_COUNT(kinds); i++) {
        if (strcmp(kinds[i].name, name) != 0) continue;
        kind->make = kinds[i].make;
        return make_request(kind) && (!kinds[i].needs_session || record_session(kind));
    }
    return false;
}

// ---- the flood

enum { BATCH = 64, ADDRESSES = 8 };

typedef struct flood_totals {
    uint64_t sent, sent_bytes, answers, answer_bytes;
} flood_totals;

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool open_sockets(int sockets[FLOOD_SOCKETS], const struct sockaddr_in* to) {
    for (uint32_t i = 0; i < FLOOD_SOCKETS; i++) {
        const struct sockaddr_in from = {
            .sin_family = AF_INET,
            .sin_addr.s_addr = htonl(INADDR_LOOPBACK + i % ADDRESSES),
        };
        sockets[i] = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
        if (sockets[i] < 0) return false;
        if (bind(sockets[i], (const struct sockaddr*)&from, sizeof from) != 0) return false;
        if (connect(sockets[i], (const struct sockaddr*)to, sizeof *to) != 0) return false;
    }
    return true;
}

static void read_answers(flood_kind* kind, int from, flood_totals* totals) {
    uint8_t bytes[2048];
    ssize_t got;
    while ((got = recv(from, bytes, sizeof bytes, MSG_DONTWAIT)) >= 0) {
        flood_take(kind, bytes, (size_t)got);
        totals->answers++;
        totals->answer_bytes += (uint64_t)got;
    }
}

static void send_batch(flood_kind* kind, int to, flood_totals* totals) {
    static uint8_t bytes[BATCH][FLOOD_BYTES_MAX];
    struct mmsghdr headers[BATCH];
    struct iovec parts[BATCH];
    memset(headers, 0, sizeof headers);
    for (uint32_t i = 0; i < BATCH; i++) {
        parts[i] = (struct iovec){.iov_base = bytes[i], .iov_len = kind->make(kind, bytes[i])};
        headers[i].msg_hdr.msg_iov = &parts[i];
        headers[i].msg_hdr.msg_iovlen = 1;
    }
    int sent = sendmmsg(to, headers, BATCH, MSG_DONTWAIT);
    for (int i = 0; i < sent; i++) {
        totals->sent++;
        totals->sent_bytes += parts[i].iov_len;
    }
}

static void pause_for(double seconds) {
    const struct timespec wait = {.tv_nsec = (long)(seconds * 1e9)};
    if (seconds > 0 && seconds < 1) nanosleep(&wait, NULL);
}

static flood_totals run(flood_kind* kind, const int sockets[FLOOD_SOCKETS], double seconds,
                        double rate) {
    flood_totals totals = {0};
    const double begin = seconds_now();
    for (uint32_t turn = 0;; turn++) {
        double elapsed = seconds_now() - begin;
        if (elapsed >= seconds) return totals;
        if (rate > 0) pause_for((double)totals.sent / rate - elapsed);
        kind->at = &kind->sockets[turn % FLOOD_SOCKETS];
        read_answers(kind, sockets[turn % FLOOD_SOCKETS], &totals);
        send_batch(kind, sockets[turn % FLOOD_SOCKETS], &totals);
    }
}

int main(int argc, char** argv) {
    net_address target;
    static flood_kind kind;
    if (argc < 4 || net_address_parse(argv[2], &target) != NET_OK ||
        !flood_kind_init(&kind, argv[1], &target)) {
        fprintf(stderr, "usage: flood KIND ADDR:PORT SECONDS [RATE]; kinds: %s\n",
                flood_kind_names());
        return 2;
    }
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(target.port)};
    memcpy(&to.sin_addr.s_addr, target.ip + 12, 4); // IPv4 inside of IPv6
    int sockets[FLOOD_SOCKETS];
    if (!open_sockets(sockets, &to)) {
        fprintf(stderr, "flood: sockets: %s\n", strerror(errno));
        return 1;
    }
    double seconds = strtod(argv[3], NULL);
    flood_totals totals = run(&kind, sockets, seconds, argc > 4 ? strtod(argv[4], NULL) : 0);
    for (uint32_t i = 0; i < FLOOD_SOCKETS; i++) {
        kind.at = &kind.sockets[i];
        read_answers(&kind, sockets[i], &totals);
        close(sockets[i]);
    }
    printf("flood kind=%s sent=%" PRIu64 " per_second=%.0f bytes=%" PRIu64 " answers=%" PRIu64
           " answer_bytes=%" PRIu64 " amplification=%.4f\n",
           argv[1], totals.sent, (double)totals.sent / seconds, totals.sent_bytes, totals.answers,
           totals.answer_bytes,
           totals.sent_bytes ? (double)totals.answer_bytes / (double)totals.sent_bytes : 0.0);
    return 0;
}
