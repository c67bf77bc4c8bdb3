// SPDX-License-Identifier: MIT
// The HTTP thread over real loopback: its limits, streams, and what becomes of peers that send half
// a request or do not read. The case is the loop of the match and the browser at once: `pump` does
// a pass and moves bytes.
#include "heard.h"

#include "inspect/inspect.h"
#include "net/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_US UINT64_C(20000000) // no case takes a tenth of it
#define IDLE_US UINT64_C(300000)
#define FRAME_BYTES (300u << 10)
#define CONNECTIONS_MAX 64u // of http.h

#define ADDRESS_MAX 32u
#define TAKEN_MAX 256u

typedef struct fixture {
    server_subject subject; ///< the first member: answers find the fixture by it
    server_inspect* inspect;
    struct sockaddr_in to;
    uint32_t answers;
    heard said;
    bool is_stuck;     ///< the loop makes no pass
    uint64_t takes_us; ///< an answer
    server_upgrade upgrade;
    int taken[TAKEN_MAX];              ///< by it
    BASE_ATOMIC(uint32_t) taken_count; ///< written by the thread of HTTP
    uint8_t first[2048];               ///< of the newest one
    BASE_ATOMIC(uint32_t) first_size;
} fixture;

// What WebSocket connections are given to: it says something at once.
static void take_connection(void* context, int descriptor, const net_address* from,
                            const uint8_t* first, size_t first_size) {
    fixture* self = context;
    const uint32_t count = self->taken_count;
    assert_true(count < TAKEN_MAX && net_address_is_loopback(from));
    assert_in_range(first_size, 0, sizeof self->first);
    if (first_size > 0) memcpy(self->first, first, first_size);
    self->first_size = (uint32_t)first_size;
    self->taken[count] = descriptor;
    self->taken_count = count + 1;
    assert_int_equal(send(descriptor, "taken", 5, MSG_NOSIGNAL), 5);
}

// Answers: "stream" goes on with frames that begin with their number; "big" too, with large ones;
// all others are answered once.
static void answer(server_subject* subject, const server_request* request) {
    fixture* self = (fixture*)subject;
    server_answer* it = request->answer;
    server_answer_begin(it, 200);
    it->type = "text/plain";
    self->answers++;
    for (const uint64_t end_us = net_loop_now_us() + self->takes_us; net_loop_now_us() < end_us;) {
    }
    base_json_put(it->json, "<%u %s %u>", self->answers, request->verb, request->argument_count);
    if (strcmp(request->verb, "stream") == 0) it->stream_hz = 50;
    if (strcmp(request->verb, "big") != 0) return;
    it->stream_hz = 50;
    uint8_t* rest = base_bytes_extend(it->json, FRAME_BYTES - it->json->size);
    assert_non_null(rest);
    memset(rest, '.', (size_t)(it->json->data + it->json->size - rest));
}

// At an address of this machine; off loopback with tokens.
static void open_with(fixture* self, struct in_addr ip, const char* token_file, uint64_t idle_us,
                      bool has_upgrade) {
    *self = (fixture){0};
    char address[64], listen[64];
    uint64_t port;
    self->upgrade = (server_upgrade){.context = self, .take = take_connection};
    (void)snprintf(listen, sizeof listen, "%s:0", inet_ntoa(ip));
    (void)heard_begin(&self->said);
    const server_inspect_config config = {.listen = listen,
                                          .token_file = token_file,
                                          .pages = {{"https://other.example/play"}, has_upgrade},
                                          .game = "none",
                                          .subject = &self->subject,
                                          .run = answer,
                                          .upgrade = has_upgrade ? &self->upgrade : NULL,
                                          .idle_us = idle_us,
                                          .reporter = &self->said.reporter};
    assert_ok(server_inspect_open(&config, &self->inspect));
    server_inspect_address(self->inspect, address, sizeof address);
    assert_memory_equal(address, "http://", 7);
    assert_true(base_text_parse_u64(strrchr(address, ':') + 1, &port));
    self->to = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = ip};
}

static void open_at(fixture* self, struct in_addr ip, const char* token_file, uint64_t idle_us) {
    open_with(self, ip, token_file, idle_us, false);
}

static void open_fixture(fixture* self, uint64_t idle_us) {
    open_at(self, (struct in_addr){htonl(INADDR_LOOPBACK)}, NULL, idle_us);
}

static void close_fixture(fixture* self) {
    server_inspect_close(self->inspect);
    for (uint32_t i = 0; i < self->taken_count; i++)
        close(self->taken[i]);
}

#define INSPECT_CASE(name)                                                                         \
    CASE_WITH(fixture, self, open_fixture(self, IDLE_US), close_fixture(self), name)
#define PATIENT_CASE(name)                                                                         \
    CASE_WITH(fixture, self, open_fixture(self, WAIT_US), close_fixture(self), name)

static int open_socket(void) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int size = 16 << 10; // so that a reader that sleeps is full soon
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size), 0);
    return fd;
}

static void dial_with(const fixture* self, int fd) {
    assert_int_equal(connect(fd, (const struct sockaddr*)&self->to, sizeof self->to), 0);
}

static int dial(const fixture* self) {
    const int fd = open_socket();
    dial_with(self, fd);
    return fd;
}

static void say(int fd, const char* text) {
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static int get(const fixture* self, const char* path) {
    char text[256];
    const int fd = dial(self);
    assert_true(
        base_text_format(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path));
    say(fd, text);
    return fd;
}

// A pass of the loop, and what came to `fd` within some ms. @return its bytes; 0: it was closed;
// -1: nothing came.
static ssize_t pump(fixture* self, int fd, char* target, size_t capacity) {
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    if (!self->is_stuck) server_inspect_pass(self->inspect, true);
    if (poll(&polled, 1, 2) == 0) return -1;
    const ssize_t size = recv(fd, target, capacity, 0);
    return size < 0 ? 0 : size;
}

// Read until `text` came, or to the end with NULL. @return false: the connection was closed before.
static bool reads(fixture* self, int fd, const char* text) {
    static char got[64 << 10];
    size_t size = 0;
    const uint64_t end_us = net_loop_now_us() + WAIT_US;
    while (net_loop_now_us() < end_us) {
        if (size > sizeof got / 2) { // what is searched for may be cut here
            memmove(got, got + size - 256, 256);
            size = 256;
        }
        const ssize_t more = pump(self, fd, got + size, sizeof got - 1 - size);
        if (more == 0) return text == NULL;
        if (more < 0) continue;
        size += (size_t)more;
        got[size] = 0;
        if (text && strstr(got, text)) return true;
    }
    fail_msg("waited for %s", text ? text : "the end");
    return false;
}

// The text comes at last; then the connection is closed here.
static void ends_with(fixture* self, int fd, const char* text) {
    assert_true(reads(self, fd, text));
    close(fd);
}

static void all_end_with(fixture* self, const int* fds, uint32_t count, const char* text) {
    for (uint32_t i = 0; i < count; i++)
        ends_with(self, fds[i], text);
}

static void close_all(const int* fds, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        close(fds[i]);
}

INSPECT_CASE(a_question_waits_for_a_pass_of_the_loop) {
    const int fd = get(self, "/api/v1/query?q=a&limit=3");
    self->is_stuck = true;
    char byte;
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(pump(self, fd, &byte, 1), -1);
    assert_int_equal(self->answers, 0);
    self->is_stuck = false;
    assert_true(reads(self, fd, "<1 query 2>"));
    say(fd, "GET /api/v1/again HTTP/1.1\r\nHost: localhost\r\n\r\n"); // the connection goes on
    ends_with(self, fd, "<2 again 0>");
}

// However many passes the loop makes, a tick loses 200 us and the rest of one answer.
PATIENT_CASE(answers_have_their_share_of_a_tick_and_no_more) {
    enum { ASKS = 20, PERIOD_US = 16667 };
    int fds[ASKS];
    self->takes_us = 160; // two of them are more than the share
    self->is_stuck = true;
    for (uint32_t i = 0; i < ASKS; i++)
        fds[i] = get(self, "/api/v1/query");
    char byte;
    assert_int_equal(pump(self, fds[ASKS - 1], &byte, 1), -1);
    const uint64_t begin_us = net_loop_now_us();
    while (self->answers < ASKS) {
        struct pollfd polled = {.fd = server_inspect_descriptor(self->inspect), .events = POLLIN};
        assert_int_equal(poll(&polled, 1, (int)(WAIT_US / 1000)), 1); // it is woken for the rest
        server_inspect_pass(self->inspect, true);
    }
    assert_true(net_loop_now_us() - begin_us >= (ASKS / 2 - 2) * PERIOD_US);
    self->is_stuck = false;
    all_end_with(self, fds, ASKS, "query 0>");
}

INSPECT_CASE(readers_of_one_stream_share_its_answers) {
    int fds[8];
    for (uint32_t i = 0; i < BASE_COUNT(fds); i++)
        fds[i] = get(self, "/api/v1/stream?of=status");
    for (uint32_t i = 0; i < BASE_COUNT(fds); i++)
        assert_true(reads(self, fds[i], "stream 1>"));
    const uint32_t before = self->answers;
    const uint64_t begin_us = net_loop_now_us();
    for (uint32_t k = 0; k < 5; k++)
        for (uint32_t i = 0; i < BASE_COUNT(fds); i++)
            assert_true(reads(self, fds[i], "stream 1>"));
    const uint64_t periods = (net_loop_now_us() - begin_us) / 20000;
    assert_true(self->answers - before >= 4);
    assert_true(self->answers - before <= periods + 2); // not eight times as many
    close_all(fds, BASE_COUNT(fds));
}

// The number of the first whole frame behind what was read before.
static uint32_t next_frame(fixture* self, int fd) {
    static char got[2 * FRAME_BYTES];
    size_t size = 0;
    const uint64_t end_us = net_loop_now_us() + WAIT_US;
    while (net_loop_now_us() < end_us && size < sizeof got - 1) {
        const ssize_t more = pump(self, fd, got + size, sizeof got - 1 - size);
        assert_true(more != 0);
        if (more < 0) continue;
        size += (size_t)more;
        got[size] = 0;
        for (const char* at = got; (at = strchr(at, '<')); at++) {
            uint32_t number;
            if (strchr(at, '>') && sscanf(at, "<%u big", &number) == 1) return number;
        }
    }
    fail_msg("no frame came");
    return 0;
}

PATIENT_CASE(a_slow_reader_loses_frames_and_gets_the_newest) {
    const int fd = get(self, "/api/v1/big");
    (void)next_frame(self, fd);
    const uint64_t end_us = net_loop_now_us() + WAIT_US / 2;
    const uint32_t newest = self->answers + 8;
    while (self->answers < newest) { // it does not read
        assert_true(net_loop_now_us() < end_us);
        server_inspect_pass(self->inspect, true);
        (void)poll(NULL, 0, 1);
    }
    // What its buffers held comes first, at most one frame begins in there; then the newest.
    uint32_t number = 0, frames = 0;
    while (number < newest) {
        number = next_frame(self, fd);
        frames++;
    }
    assert_true(frames <= 3);
    close(fd);
}

INSPECT_CASE(a_reader_that_sleeps_is_closed) {
    const int fd = get(self, "/api/v1/big");
    (void)next_frame(self, fd);
    const uint64_t end_us = net_loop_now_us() + 2 * IDLE_US;
    while (net_loop_now_us() < end_us) {
        server_inspect_pass(self->inspect, true);
        (void)poll(NULL, 0, 1);
    }
    ends_with(self, fd, NULL);
}

INSPECT_CASE(half_a_request_is_closed_however_it_drips) {
    const int half = dial(self), silent = dial(self), body = dial(self);
    say(half, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Drip: ");
    say(body, "POST /api/v1/end HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
              "Content-Length: 10\r\n\r\n{");
    const uint64_t begin_us = net_loop_now_us();
    char bytes[512];
    while (net_loop_now_us() < begin_us + WAIT_US && pump(self, half, bytes, sizeof bytes) == -1)
        (void)!send(half, "x", 1, MSG_NOSIGNAL); // a byte each 2 ms
    assert_true(net_loop_now_us() - begin_us >= IDLE_US / 2);
    assert_true(net_loop_now_us() - begin_us < WAIT_US);
    assert_true(reads(self, silent, NULL));
    assert_true(reads(self, body, NULL));
    assert_int_equal(self->answers, 0);
    close(half);
    close(silent);
    close(body);
}

INSPECT_CASE(a_request_that_is_too_long_is_refused) {
    static char line[40 << 10];
    memset(line, 'a', sizeof line - 1);
    int fd = dial(self);
    say(fd, "GET /api/v1/query?q=");
    (void)!send(fd, line, sizeof line - 1, MSG_NOSIGNAL);
    (void)!send(fd, " HTTP/1.1\r\n\r\n", 13, MSG_NOSIGNAL);
    ends_with(self, fd, "HTTP/1.1 4");
    fd = dial(self);
    say(fd, "POST /api/v1/end HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n");
    ends_with(self, fd, "HTTP/1.1 400");
    fd = dial(self);
    say(fd, "POST /api/v1/end HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            "Content-Length: 65537\r\n\r\n");
    ends_with(self, fd, "HTTP/1.1 413");
    assert_int_equal(self->answers, 0);
}

static void is_refused(fixture* self, const char* request) {
    const int fd = dial(self);
    say(fd, request);
    assert_true(reads(self, fd, "HTTP/1.1 400"));
    assert_true(reads(self, fd, NULL)); // nothing after it is read as a request
    close(fd);
}

// RFC 9112, 5.1 and 6.3: what a proxy may read as another request.
INSPECT_CASE(a_request_that_can_be_read_in_two_ways_is_refused) {
#define POST "POST /api/v1/end HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    static const char requests[][224] = {
        POST "Content-Length: 0\r\nContent-Length: 37\r\n\r\nGET /api/v1/end HTTP/1.1\r\nHost: "
             "a\r\n\r\n",
        POST "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        POST "Content-Length : 2\r\n\r\n{}",
        POST "Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: a\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A : b\r\n\r\n",
        "GET /healthz%00.js HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /api/v1/query?q=a%00b HTTP/1.1\r\nHost: localhost\r\n\r\n",
    };
#undef POST
    for (uint32_t i = 0; i < BASE_COUNT(requests); i++)
        is_refused(self, requests[i]);
    assert_int_equal(self->answers, 0);
    ends_with(self, get(self, "/healthz"), "HTTP/1.1 200"); // which needs no Host that is ours
}

PATIENT_CASE(the_sixty_fifth_connection_reads_that_there_are_too_many) {
    int fds[CONNECTIONS_MAX];
    char byte;
    self->is_stuck = true; // none of them gets its answer
    for (uint32_t i = 0; i < CONNECTIONS_MAX; i++)
        fds[i] = get(self, "/api/v1/query");
    assert_int_equal(pump(self, fds[CONNECTIONS_MAX - 1], &byte, 1), -1);
    for (uint32_t i = 0; i < 20; i++) { // more than there are spare places
        const int fd = get(self, "/api/v1/query");
        assert_true(reads(self, fd, "too many connections"));
        ends_with(self, get(self, "/healthz"), "HTTP/1.1 200");
        ends_with(self, get(self, "/readyz"), "HTTP/1.1 ");
        close(fd);
    }
    self->is_stuck = false;
    for (uint32_t i = 0; i < CONNECTIONS_MAX; i++)
        assert_true(reads(self, fds[i], "query 0>"));
    int later[8]; // those rest now, and the oldest ones make room
    for (uint32_t i = 0; i < BASE_COUNT(later); i++) {
        later[i] = get(self, "/api/v1/query");
        assert_true(reads(self, later[i], "query 0>"));
    }
    assert_true(reads(self, fds[0], NULL));
    close_all(later, BASE_COUNT(later));
    close_all(fds, CONNECTIONS_MAX);
}

PATIENT_CASE(silence_holds_no_place) {
    enum { SILENT = 3 * CONNECTIONS_MAX };
    int fds[SILENT];
    for (uint32_t i = 0; i < SILENT; i++) {
        fds[i] = dial(self);
        if (i % 2) say(fds[i], "GET / HTTP/1.1\r\nX-Drip: ");
        if (i % 16 != 15) continue;
        ends_with(self, get(self, "/healthz"), "HTTP/1.1 200");
        ends_with(self, get(self, "/api/v1/query"), "query 0>");
    }
    close_all(fds, SILENT);
}

// An address of this machine that is not loopback.
static bool find_address(struct in_addr* ip) {
    struct ifaddrs* list;
    bool is_found = false;
    assert_int_equal(getifaddrs(&list), 0);
    for (const struct ifaddrs* at = list; at && !is_found; at = at->ifa_next) {
        if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET) continue;
        struct sockaddr_in v4;
        memcpy(&v4, at->ifa_addr, sizeof v4);
        is_found = ntohl(v4.sin_addr.s_addr) >> 24 != 127;
        *ip = v4.sin_addr;
    }
    freeifaddrs(list);
    return is_found;
}

static void open_with_tokens(fixture* self, struct in_addr ip) {
    char file[] = "/tmp/tokens-XXXXXX";
    static const char tokens[] = "operator operator-0123456789\nreader reader-0123456789\n";
    const int target = mkstemp(file);
    assert_true(target >= 0 && write(target, tokens, sizeof tokens - 1) > 0);
    close(target);
    open_at(self, ip, file, WAIT_US);
    (void)unlink(file);
}

CASE(an_address_has_half_of_the_places) {
    fixture it, *self = &it;
    struct in_addr ip;
    int fds[ADDRESS_MAX];
    if (!find_address(&ip)) skip();
    open_with_tokens(self, ip);
    static const char ask[] = "GET /api/v1/query HTTP/1.1\r\nHost: localhost\r\n"
                              "Authorization: Bearer operator-0123456789\r\n\r\n";
    char byte;
    self->is_stuck = true;
    for (uint32_t i = 0; i < ADDRESS_MAX; i++) {
        fds[i] = dial(self);
        say(fds[i], ask);
    }
    assert_int_equal(pump(self, fds[ADDRESS_MAX - 1], &byte, 1), -1);
    int fd = dial(self);
    say(fd, ask);
    ends_with(self, fd, "too many connections");
    ends_with(self, get(self, "/healthz"), "HTTP/1.1 200");
    self->is_stuck = false;
    all_end_with(self, fds, ADDRESS_MAX, "query 0>");
    close_fixture(self);
}

INSPECT_CASE(streams_leave_room_for_questions) {
    enum { STREAMS_MAX = 56 };
    int fds[STREAMS_MAX + 1];
    for (uint32_t i = 0; i <= STREAMS_MAX; i++) {
        fds[i] = get(self, "/api/v1/stream");
        assert_true(reads(self, fds[i], i < STREAMS_MAX ? "stream 0>" : "too many streams"));
    }
    ends_with(self, get(self, "/api/v1/query"), "query 0>");
    close_all(fds, STREAMS_MAX + 1);
}

static int get_as(const fixture* self, const char* token, const char* path) {
    char text[256];
    const int fd = dial(self);
    assert_true(base_text_format(text, sizeof text,
                                 "GET %s HTTP/1.1\r\nHost: localhost\r\n"
                                 "Authorization: Bearer %s\r\n\r\n",
                                 path, token));
    say(fd, text);
    return fd;
}

CASE(readers_share_streams_and_leave_some_to_operators) {
    static const char reader[] = "reader-0123456789", operator[] = "operator-0123456789";
    fixture it, *self = &it;
    int fds[13 + 17 + 4];
    uint32_t count = 0;
    char path[64];
    open_with_tokens(self, (struct in_addr){htonl(INADDR_LOOPBACK)});
    for (uint32_t i = 0; i < 17; i++) { // one stream at all rates, for a reader
        assert_true(base_text_format(path, sizeof path, "/api/v1/stream?hz=%u", i + 1));
        fds[count] = get_as(self, reader, path);
        assert_true(reads(self, fds[count++], "stream 0>"));
    }
    for (uint32_t i = 0; i < 12; i++) {
        assert_true(base_text_format(path, sizeof path, "/api/v1/stream?of=%u", i));
        fds[count] = get_as(self, reader, path);
        assert_true(reads(self, fds[count++], i < 11 ? "stream 1>" : "too many streams"));
    }
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(base_text_format(path, sizeof path, "/api/v1/stream?hz=%u", i + 1));
        fds[count] = get_as(self, operator, path);
        assert_true(reads(self, fds[count++], i < 4 ? "stream 1>" : "too many streams"));
    }
    close_all(fds, count);
    close_fixture(self);
}

PATIENT_CASE(a_loop_that_stalls_is_neither_healthy_nor_ready_and_has_metrics_all_the_same) {
    static const char post[] = "POST /api/v1/end HTTP/1.1\r\nHost: localhost\r\n"
                               "Content-Type: application/json\r\nContent-Length: 0\r\n\r\n";
    ends_with(self, get(self, "/healthz"), "HTTP/1.1 200");
    ends_with(self, get(self, "/readyz"), "HTTP/1.1 200");
    ends_with(self, get(self, "/metrics"), "<1 metrics 0>");
    self->is_stuck = true;
    const int scrape = get(self, "/metrics"), query = get(self, "/api/v1/query"),
              order = dial(self);
    say(order, post);
    char byte;
    assert_int_equal(pump(self, order, &byte, 1), -1);
    assert_true(reads(self, scrape, "\nshoal_loop_stalled_seconds ")); // what waits has an end
    ends_with(self, query, "{\"error\":\"main loop is stalled\"}");
    ends_with(self, get(self, "/metrics"), "\nshoal_http_connections "); // as what comes later has
    ends_with(self, get(self, "/readyz"), "{\"error\":\"main loop is stalled\"}");
    ends_with(self, get(self, "/healthz"), "HTTP/1.1 503");
    int late = dial(self);
    say(late, post); // it would wait for ever
    ends_with(self, late, "{\"error\":\"main loop is stalled\"}");
    self->is_stuck = false; // its connection is as good as any
    ends_with(self, order, "end 0>");
    say(scrape, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ends_with(self, scrape, "<5 metrics 0>");
    ends_with(self, get(self, "/readyz"), "HTTP/1.1 200");
}

INSPECT_CASE(who_comes_while_no_descriptor_is_left_is_answered_or_refused_and_said_once) {
    static int fillers[1024];
    uint32_t count = 0;
    int fds[8];
    for (uint32_t i = 0; i < BASE_COUNT(fds); i++)
        fds[i] = open_socket();
    struct rlimit before;
    assert_ok(getrlimit(RLIMIT_NOFILE, &before));
    assert_ok(setrlimit(RLIMIT_NOFILE, &(struct rlimit){BASE_COUNT(fillers), before.rlim_max}));
    while (count < BASE_COUNT(fillers) && (fillers[count] = dup(fds[0])) >= 0)
        count++;
    for (uint32_t i = 0; i < 4; i++) { // one that rests makes room
        dial_with(self, fds[i]);
        say(fds[i], "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_true(reads(self, fds[i], "HTTP/1.1 200"));
    }
    for (uint32_t i = 4; i < 6; i++) { // one that follows does not
        dial_with(self, fds[i]);
        say(fds[i], "GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_true(reads(self, fds[i], "stream 0>"));
    }
    dial_with(self, fds[6]);
    assert_true(reads(self, fds[6], NULL));
    close_all(fillers, count);
    assert_ok(setrlimit(RLIMIT_NOFILE, &before));
    dial_with(self, fds[7]);
    say(fds[7], "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_true(reads(self, fds[7], "HTTP/1.1 200"));
    ends_with(self, get(self, "/healthz"), "HTTP/1.1 200");
    assert_int_equal(server_inspect_get_counts(self->inspect).lacks, 3);
    assert_int_equal(
        heard_count(&self->said, "no file descriptor is left: raise the limit of open files"), 1);
    close_all(fds, BASE_COUNT(fds));
}

INSPECT_CASE(the_end_closes_questions_and_streams) {
    const int asked = get(self, "/api/v1/query"), stream = get(self, "/api/v1/stream");
    assert_true(reads(self, stream, "stream 0>"));
    self->is_stuck = true;
    const int late = get(self, "/api/v1/query");
    char byte;
    assert_int_equal(pump(self, late, &byte, 1), -1);
    server_inspect_close(self->inspect);
    self->inspect = NULL;
    assert_true(reads(self, asked, "query 0>"));
    assert_true(reads(self, late, "HTTP/1.1 503"));
    assert_true(reads(self, stream, NULL));
    close(asked);
    close(stream);
    close(late);
}

INSPECT_CASE(the_end_sends_what_the_loop_answered_last) {
    const int asked = get(self, "/api/v1/query");
    struct pollfd polled = {.fd = server_inspect_descriptor(self->inspect), .events = POLLIN};
    assert_int_equal(poll(&polled, 1, (int)(WAIT_US / 1000)), 1);
    server_inspect_pass(self->inspect, true);
    server_inspect_close(self->inspect);
    self->inspect = NULL;
    ends_with(self, asked, "<1 query 0>");
}

INSPECT_CASE(a_port_that_is_taken_is_said) {
    char address[64];
    server_inspect* second = NULL;
    server_inspect_address(self->inspect, address, sizeof address);
    server_inspect_config config = {
        .listen = address + 7, .game = "none", .subject = &self->subject, .reporter = NULL};
    assert_int_equal(server_inspect_open(&config, &second), 3);
    assert_null(second);
    config.is_optional = true;
    assert_int_equal(server_inspect_open(&config, &second), 0);
    assert_null(second);
    server_inspect_pass(second, true);
    server_inspect_close(second);
}

// ---- connections of WebSocket ----

// RFC 6455, 1.3.
#define SAMPLE_KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define SAMPLE_ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
#define UPGRADE                                                                                    \
    "Host: localhost\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"                 \
    "Sec-WebSocket-Version: 13\r\n"

static void open_playing(fixture* self) {
    open_with(self, (struct in_addr){htonl(INADDR_LOOPBACK)}, NULL, WAIT_US, true);
}

#define PLAY_CASE(name) CASE_WITH(fixture, self, open_playing(self), close_fixture(self), name)

static int ask_upgrade(const fixture* self, const char* more) {
    char text[1024];
    const int fd = dial(self);
    assert_true(base_text_format(
        text, sizeof text,
        "GET /play/socket HTTP/1.1\r\n" UPGRADE "Sec-WebSocket-Key: " SAMPLE_KEY "\r\n%s", more));
    say(fd, text);
    return fd;
}

PLAY_CASE(an_upgrade_is_answered_and_the_connection_handed_over) {
    const int fd = ask_upgrade(self, "Origin: http://localhost\r\n\r\n");
    assert_true(reads(self, fd, "taken")); // after the answer, by its own descriptor
    assert_int_equal(self->taken_count, 1);
    assert_int_equal(self->first_size, 0);
    say(fd, "a message");
    char got[16];
    struct pollfd polled = {.fd = self->taken[0], .events = POLLIN};
    assert_int_equal(poll(&polled, 1, (int)(WAIT_US / 1000)), 1);
    assert_int_equal(recv(self->taken[0], got, sizeof got, 0), 9);
    assert_memory_equal(got, "a message", 9);
    close(fd);
    // The key of the example in RFC 6455, and what came behind the request.
    const int second = ask_upgrade(self, "\r\nfirst bytes");
    assert_true(reads(self, second, "Sec-WebSocket-Accept: " SAMPLE_ACCEPT));
    for (uint32_t i = 0; i < 5000 && self->taken_count < 2; i++)
        (void)poll(NULL, 0, 1);
    assert_int_equal(self->taken_count, 2);
    assert_int_equal(self->first_size, 11);
    assert_memory_equal(self->first, "first bytes", 11);
    close(second);
}

CASE(keys_of_websocket_have_sixteen_bytes) {
    static const char* const wrong[] = {"",
                                        "dGhlIHNhbXBsZSBub25jZQ",
                                        "dGhlIHNhbXBsZSBub25jZQ=",
                                        "dGhlIHNhbXBsZSBub25jZQ==A",
                                        "dGhlIHNhbXBsZSBub25jZSEh",
                                        "dGhl IHNhbXBsZSBub25jZQ=",
                                        "-_hlIHNhbXBsZSBub25jZQ=="};
    char accept[29];
    assert_true(server_upgrade_accept(SAMPLE_KEY, accept));
    assert_string_equal(accept, SAMPLE_ACCEPT);
    for (uint32_t i = 0; i < BASE_COUNT(wrong); i++)
        assert_false(server_upgrade_accept(wrong[i], accept));
}

PLAY_CASE(what_asks_for_no_websocket_is_refused) {
#define KEY "Sec-WebSocket-Key: " SAMPLE_KEY "\r\n"
#define GET "GET /play/socket HTTP/1.1\r\n"
    static const char* const requests[] = {
        GET "Host: localhost\r\n\r\n",
        GET UPGRADE "\r\n",
        GET UPGRADE "Sec-WebSocket-Key: short\r\n\r\n",
        GET "Host: localhost\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n" KEY
            "Sec-WebSocket-Version: 13\r\n\r\n",
        GET "Host: localhost\r\nUpgrade: websocket\r\nConnection: close\r\n" KEY
            "Sec-WebSocket-Version: 13\r\n\r\n",
        GET "Host: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" KEY
            "Sec-WebSocket-Version: 8\r\n\r\n",
        GET "Host: localhost\r\nUpgrade: websocketx\r\nConnection: Upgrade\r\n" KEY
            "Sec-WebSocket-Version: 13\r\n\r\n",
        "HEAD /play/socket HTTP/1.1\r\n" UPGRADE KEY "\r\n",
    };
#undef GET
    for (uint32_t i = 0; i < BASE_COUNT(requests); i++) {
        const int fd = dial(self);
        say(fd, requests[i]);
        ends_with(self, fd, "HTTP/1.1 400");
    }
    int fd = dial(self);
    say(fd, "GET /play/socket HTTP/1.1\r\nOrigin: http://evil.example\r\n" UPGRADE KEY "\r\n");
    ends_with(self, fd, "HTTP/1.1 403");
    fd = dial(self);
    say(fd, "GET /play/socket HTTP/1.1\r\nHost: evil.example\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" KEY "\r\n");
    ends_with(self, fd, "HTTP/1.1 403");
    fd = dial(self);
    say(fd, "POST /play/socket HTTP/1.1\r\nContent-Type: application/json\r\n"
            "Content-Length: 0\r\n" UPGRADE KEY "\r\n");
    ends_with(self, fd, "HTTP/1.1 405");
    assert_int_equal(self->taken_count, 0);
#undef KEY
}

// And its page knows where they are.
PLAY_CASE(pages_of_the_matchs_other_servers_may_open_sockets) {
    const int fd = ask_upgrade(self, "Origin: https://other.example\r\n\r\n");
    assert_true(reads(self, fd, "taken"));
    close(fd);
    ends_with(self, get(self, "/play/info"), "\"pages\":[\"https://other.example/play\"]}");
    ends_with(self, get(self, "/play"), "connect-src 'self' wss://other.example\r\n");
    ends_with(self, get(self, "/"), "connect-src 'self'\r\n");
}

PLAY_CASE(a_server_that_stands_by_takes_no_socket) {
    const net_standby_report report = {0};
    self->subject.standby = &report;
    ends_with(self, get(self, "/healthz"), "HTTP/1.1 200"); // a pass went by
    ends_with(self, ask_upgrade(self, "\r\n"), "HTTP/1.1 503");
    self->subject.standby = NULL;
    ends_with(self, get(self, "/healthz"), "HTTP/1.1 200");
    const int fd = ask_upgrade(self, "\r\n");
    assert_true(reads(self, fd, "taken"));
    close(fd);
}

INSPECT_CASE(without_a_place_for_players_there_is_no_upgrade) {
    const int fd = ask_upgrade(self, "\r\n");
    ends_with(self, fd, "HTTP/1.1 404");
    ends_with(self, get(self, "/play/info"), "\"plays\":false");
}

PLAY_CASE(players_use_up_no_places_of_http) {
    enum { PLAYERS = 3 * CONNECTIONS_MAX };
    static int fds[PLAYERS];
    for (uint32_t i = 0; i < PLAYERS; i++) {
        fds[i] = ask_upgrade(self, "\r\n");
        assert_true(reads(self, fds[i], "taken"));
    }
    int asking[CONNECTIONS_MAX];
    char byte;
    self->is_stuck = true;
    for (uint32_t i = 0; i < CONNECTIONS_MAX; i++)
        asking[i] = get(self, "/api/v1/query");
    assert_int_equal(pump(self, asking[CONNECTIONS_MAX - 1], &byte, 1), -1);
    self->is_stuck = false;
    all_end_with(self, asking, CONNECTIONS_MAX, "query 0>");
    for (uint32_t i = 0; i < PLAYERS; i++) { // none of them was closed by that
        assert_int_equal(send(self->taken[i], "x", 1, MSG_NOSIGNAL), 1);
        assert_int_equal(recv(fds[i], &byte, 1, 0), 1);
    }
    close_all(fds, PLAYERS);
}
