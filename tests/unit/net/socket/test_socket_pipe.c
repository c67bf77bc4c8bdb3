// SPDX-License-Identifier: MIT
// Batches of one descriptor, against system calls that the test plays.
#define _GNU_SOURCE
#include "test.h"

#include "transport/socket_pipe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SENT_MAX = 1024, SCRIPT_MAX = 128, UDP_SEGMENT_TYPE = 103 };

// What the kernel got, cut into datagrams as the card would.
typedef struct sent_datagram {
    uint16_t port;
    uint32_t size;
    uint8_t first_byte;
} sent_datagram;

typedef struct fake_kernel {
    sent_datagram sent[SENT_MAX];
    uint32_t sent_count, send_calls, receive_calls, segmented;
    int answers[SCRIPT_MAX]; // of each send: > 0 at most so many messages, < 0 minus errno, 0 all
    uint32_t receive_left;   // datagrams that wait
    uint32_t receive_number;
    int receive_errors[SCRIPT_MAX]; // of each receive: errno, 0 none
    bool refuses_segments;
    net_socket_stats stats; // of the pipe
} fake_kernel;

// The calls have no context argument, as the kernel's have none.
static fake_kernel* kernel(void) {
    static fake_kernel fake;
    return &fake;
}

static void record(const struct msghdr* message) {
    fake_kernel* fake = kernel();
    struct sockaddr_in name;
    memcpy(&name, message->msg_name, sizeof name);
    for (size_t i = 0; i < message->msg_iovlen; i++) {
        const uint8_t* bytes = message->msg_iov[i].iov_base;
        assert_in_range(fake->sent_count, 0, SENT_MAX - 1);
        fake->sent[fake->sent_count++] =
            (sent_datagram){ntohs(name.sin_port), (uint32_t)message->msg_iov[i].iov_len, bytes[0]};
    }
}

static void check_segments(struct msghdr* message) {
    struct cmsghdr* control = CMSG_FIRSTHDR(message);
    uint16_t segment = 0;
    assert_non_null(control);
    assert_int_equal(control->cmsg_type, UDP_SEGMENT_TYPE);
    memcpy(&segment, CMSG_DATA(control), sizeof segment);
    for (size_t i = 0; i + 1 < message->msg_iovlen; i++)
        assert_int_equal(message->msg_iov[i].iov_len, segment);
    assert_in_range(message->msg_iov[message->msg_iovlen - 1].iov_len, 1, segment);
    kernel()->segmented++;
}

static int fake_send(int descriptor, struct mmsghdr* messages, unsigned count, int flags) {
    fake_kernel* fake = kernel();
    assert_in_range(fake->send_calls, 0, SCRIPT_MAX - 1);
    int answer = fake->answers[fake->send_calls++];
    if (answer < 0) {
        errno = -answer;
        return -1;
    }
    if (answer > 0 && (unsigned)answer < count) count = (unsigned)answer;
    for (unsigned i = 0; i < count; i++) {
        if (messages[i].msg_hdr.msg_iovlen > 1 && fake->refuses_segments) {
            errno = EIO;
            return i > 0 ? (int)i : -1;
        }
        if (messages[i].msg_hdr.msg_iovlen > 1) check_segments(&messages[i].msg_hdr);
        record(&messages[i].msg_hdr);
    }
    return (int)count;
}

static int fake_receive(int descriptor, struct mmsghdr* messages, unsigned count, int flags,
                        struct timespec* timeout) {
    fake_kernel* fake = kernel();
    assert_true(flags & MSG_DONTWAIT);
    assert_in_range(fake->receive_calls, 0, SCRIPT_MAX - 1);
    int error = fake->receive_errors[fake->receive_calls++];
    if (error == 0 && fake->receive_left == 0) error = EAGAIN;
    if (error != 0) {
        errno = error;
        return -1;
    }
    if (count > fake->receive_left) count = fake->receive_left;
    fake->receive_left -= count;
    for (unsigned i = 0; i < count; i++) {
        struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(99)};
        name.sin_addr.s_addr = htonl(0x0A000001);
        memcpy(messages[i].msg_hdr.msg_name, &name, sizeof name);
        memcpy(messages[i].msg_hdr.msg_iov->iov_base, &fake->receive_number, 4);
        messages[i].msg_len = fake->receive_number++ % 3 == 2 ? 5000 : 4; // some are cut
    }
    return (int)count;
}

static net_socket_pipe* pipe_open(bool has_segments, uint32_t batch) {
    static const net_socket_calls calls = {
        .receive = fake_receive, .send = fake_send, .close_socket = close};
    memset(kernel(), 0, sizeof *kernel());
    int descriptor = open("/dev/null", O_RDWR | O_CLOEXEC); // closed by the pipe
    assert_true(descriptor >= 0);
    net_socket_pipe* made = net_socket_pipe_create(&calls, descriptor, false, has_segments, batch);
    assert_non_null(made);
    return made;
}

static void pipe_close(net_socket_pipe* at) {
    net_socket_pipe_destroy(at, &kernel()->stats);
}

static void flush(net_socket_pipe* at) {
    net_socket_pipe_flush(at, &kernel()->stats);
}

#define PIPE_CASE(name, has_segments, batch)                                                       \
    CASE_MADE(net_socket_pipe, at, pipe_open(has_segments, batch), pipe_close(at), name)

static void expect_sent_in_order(uint32_t count) {
    assert_int_equal(kernel()->sent_count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(kernel()->sent[i].first_byte, i);
}

static void send_one(net_socket_pipe* at, uint16_t port, uint32_t size, uint8_t byte) {
    uint8_t bytes[NET_SOCKET_OUTER_BYTES_MAX];
    memset(bytes, byte, sizeof bytes);
    net_address to = net_address_ipv4(htonl(0x7F000001), port);
    net_socket_pipe_send(at, &to, bytes, size, &kernel()->stats);
}

PIPE_CASE(a_full_batch_is_one_call, false, 64) {
    for (uint32_t i = 0; i < 63; i++)
        send_one(at, (uint16_t)(i + 1), 10 + i, (uint8_t)i);
    assert_int_equal(kernel()->send_calls, 0);
    send_one(at, 64, 100, 63);
    assert_int_equal(kernel()->send_calls, 1);
    assert_int_equal(kernel()->sent_count, 64);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(kernel()->sent[i].port, i + 1);
        assert_int_equal(kernel()->sent[i].first_byte, i);
    }
    flush(at);
    assert_int_equal(kernel()->send_calls, 1); // nothing waits
    assert_int_equal(kernel()->stats.send_calls, 1);
    assert_int_equal(kernel()->stats.socket_errors, 0);
}

CASE(a_batch_of_one_sends_at_once_and_closing_sends_the_rest) {
    net_socket_pipe* at = pipe_open(true, 1);
    send_one(at, 1, 10, 1);
    send_one(at, 1, 10, 2);
    assert_int_equal(kernel()->send_calls, 2);
    pipe_close(at);
    at = pipe_open(true, 8);
    send_one(at, 1, NET_SOCKET_OUTER_BYTES_MAX, 1);
    pipe_close(at);
    assert_int_equal(kernel()->sent_count, 1);
    assert_int_equal(kernel()->sent[0].size, NET_SOCKET_OUTER_BYTES_MAX);
}

PIPE_CASE(a_run_to_one_address_is_one_message_whose_last_may_be_shorter, true, 64) {
    static const uint32_t sizes[] = {100, 100, 60, 60, 80};
    for (uint32_t i = 0; i < BASE_COUNT(sizes); i++)
        send_one(at, 1, sizes[i], (uint8_t)i); // 100 100 60 | 60 | 80
    send_one(at, 2, 80, 5);
    send_one(at, 1, 80, 6); // not beside the others of its address
    flush(at);
    assert_int_equal(kernel()->send_calls, 1);
    assert_int_equal(kernel()->segmented, 1);
    expect_sent_in_order(7);
}

PIPE_CASE(a_run_is_not_longer_than_a_message_can_be, true, 64) {
    for (uint32_t i = 0; i < 64; i++)
        send_one(at, 1, NET_SOCKET_OUTER_BYTES_MAX, (uint8_t)i);
    assert_int_equal(kernel()->sent_count, 64);
    assert_int_equal(kernel()->segmented, 2); // 52 of 1,232 bytes fit into 65,000
}

PIPE_CASE(refused_segments_go_out_one_by_one_and_are_not_tried_again, true, 64) {
    kernel()->refuses_segments = true;
    send_one(at, 2, 50, 0);
    for (uint32_t i = 1; i < 5; i++)
        send_one(at, 1, 50, (uint8_t)i);
    flush(at);
    expect_sent_in_order(5);
    uint32_t calls = kernel()->send_calls;
    for (uint32_t i = 0; i < 4; i++)
        send_one(at, 1, 50, (uint8_t)i);
    flush(at);
    assert_int_equal(kernel()->send_calls, calls + 1);
    assert_int_equal(kernel()->sent_count, 9);
    assert_int_equal(kernel()->stats.socket_errors, 0);
}

CASE(an_answer_of_the_kernel_decides_what_comes_after_it) {
    static const struct {
        const char* what;
        int answers[2];
        uint32_t count, sent, calls, errors, lost; // `lost`: the first one
    } rows[] = {
        {"a part is sent", {3, 2}, 10, 10, 3, 0, 10},
        {"the buffer is full", {4, -EAGAIN}, 10, 4, 2, 6, 4},
        {"no memory", {4, -ENOBUFS}, 10, 4, 2, 6, 4},
        {"an address cannot be reached", {2, -EHOSTUNREACH}, 5, 4, 3, 1, 2},
        {"it is interrupted", {-EINTR, -EINTR}, 1, 1, 3, 0, 1},
    };
    for (size_t r = 0; r < BASE_COUNT(rows); r++) {
        net_socket_pipe* at = pipe_open(true, 64);
        const fake_kernel* fake = kernel();
        memcpy(kernel()->answers, rows[r].answers, sizeof rows[r].answers);
        for (uint32_t i = 0; i < rows[r].count; i++)
            send_one(at, (uint16_t)(i + 1), 50, (uint8_t)i);
        flush(at);
        if (fake->sent_count != rows[r].sent || fake->send_calls != rows[r].calls ||
            fake->stats.socket_errors != rows[r].errors)
            fail_msg("%s: %u sent, %u calls", rows[r].what, fake->sent_count, fake->send_calls);
        for (uint32_t i = 0; i < fake->sent_count; i++)
            assert_int_equal(fake->sent[i].first_byte, i + (i >= rows[r].lost));
        send_one(at, 1, 50, 0); // the next batch is a new try
        flush(at);
        assert_int_equal(fake->sent_count, rows[r].sent + 1);
        pipe_close(at);
    }
}

CASE(a_send_that_always_fails_ends) {
    static const int ERRORS[] = {EINTR, EPERM, EIO};
    for (size_t e = 0; e < BASE_COUNT(ERRORS); e++) {
        net_socket_pipe* at = pipe_open(true, 64);
        for (uint32_t i = 0; i < SCRIPT_MAX; i++)
            kernel()->answers[i] = -ERRORS[e];
        for (uint32_t i = 0; i < 64; i++)
            send_one(at, (uint16_t)(1 + i / 2), 50, 0);
        assert_int_equal(kernel()->sent_count, 0);
        assert_int_equal(kernel()->stats.socket_errors, 64);
        pipe_close(at);
    }
}

PIPE_CASE(ipv6_through_an_ipv4_descriptor_is_loss, true, 8) {
    net_address to = {.ip = {[15] = 1}, .port = 7};
    net_socket_pipe_send(at, &to, "x", 1, &kernel()->stats);
    flush(at);
    assert_int_equal(kernel()->sent_count, 0);
    assert_int_equal(kernel()->stats.socket_errors, 1);
}

// ---- in

static uint32_t receive_all(net_socket_pipe* at) {
    net_address from;
    uint8_t* bytes;
    size_t size;
    uint32_t count = 0, number = 0;
    while (net_socket_pipe_receive(at, &from, &bytes, &size, &kernel()->stats)) {
        memcpy(&number, bytes, sizeof number);
        assert_int_equal(size, number % 3 == 2 ? 5000 : 4);
        assert_int_equal(net_address_ipv4_host(&from), htonl(0x0A000001));
        assert_int_equal(from.port, 99);
        count++;
    }
    return count;
}

CASE(a_receive_takes_a_batch_and_asks_again_only_after_a_full_one) {
    static const struct {
        uint32_t waiting, calls;
    } CASES[] = {{0, 1}, {1, 1}, {63, 1}, {64, 2}, {65, 2}, {130, 3}};
    for (size_t i = 0; i < BASE_COUNT(CASES); i++) {
        net_socket_pipe* at = pipe_open(false, 64);
        kernel()->receive_left = CASES[i].waiting;
        assert_int_equal(receive_all(at), CASES[i].waiting);
        assert_int_equal(kernel()->receive_calls, CASES[i].calls);
        assert_int_equal(kernel()->stats.recv_calls, CASES[i].calls);
        kernel()->receive_left = 5; // later ones are found
        assert_int_equal(receive_all(at), 5);
        pipe_close(at);
    }
}

PIPE_CASE(what_a_call_brought_is_kept_until_it_is_taken, false, 8) {
    net_address from;
    uint8_t* bytes;
    size_t size;
    kernel()->receive_left = 3;
    assert_false(net_socket_pipe_has_rest(at));
    assert_true(net_socket_pipe_receive(at, &from, &bytes, &size, &kernel()->stats));
    assert_true(net_socket_pipe_has_rest(at));
    assert_int_equal(receive_all(at), 2);
    assert_false(net_socket_pipe_has_rest(at));
}

CASE(errors_of_a_receive_are_stepped_over_but_not_for_ever) {
    net_socket_pipe* at = pipe_open(false, 8);
    kernel()->receive_left = 2;
    kernel()->receive_errors[0] = EINTR;
    kernel()->receive_errors[1] = ECONNREFUSED;
    assert_int_equal(receive_all(at), 2);
    assert_int_equal(kernel()->stats.socket_errors, 1);
    pipe_close(at);
    at = pipe_open(false, 8);
    for (uint32_t i = 0; i < SCRIPT_MAX; i++)
        kernel()->receive_errors[i] = ENETDOWN;
    assert_int_equal(receive_all(at), 0);
    assert_in_range(kernel()->receive_calls, 1, 100);
    pipe_close(at);
    at = pipe_open(false, 8);
    kernel()->receive_errors[0] = EBADF;
    assert_int_equal(receive_all(at), 0);
    assert_int_equal(kernel()->receive_calls, 1);
    pipe_close(at);
}
