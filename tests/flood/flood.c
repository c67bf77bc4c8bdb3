// SPDX-License-Identifier: MIT
// A flood of one kind of datagram against a real server, as fast as one core sends. It prints what
// it sent and what came back, so that a script can compute the amplification.
//
//     flood KIND ADDR:PORT SECONDS [RATE]     RATE: datagrams a second; 0: as many as possible
//
// The datagrams come from SOCKETS different ports of 127.0.0.1 to 127.0.0.8, so a limit per address
// is part of what is measured. kinds.c makes the datagrams.
#define _GNU_SOURCE
#include "kinds.h"

#include "net/token.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SOCKETS = FLOOD_SOCKETS, BATCH = 64, ADDRESSES = 8 };

typedef struct flood_totals {
    uint64_t sent, sent_bytes, answers, answer_bytes;
} flood_totals;

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool open_sockets(int sockets[SOCKETS], const struct sockaddr_in* to) {
    for (uint32_t i = 0; i < SOCKETS; i++) {
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
        parts[i] = (struct iovec){.iov_base = bytes[i], .iov_len = flood_make(kind, bytes[i])};
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

static flood_totals run(flood_kind* kind, const int sockets[SOCKETS], double seconds, double rate) {
    flood_totals totals = {0};
    const double begin = seconds_now();
    for (uint32_t turn = 0;; turn++) {
        double elapsed = seconds_now() - begin;
        if (elapsed >= seconds) return totals;
        if (rate > 0) pause_for((double)totals.sent / rate - elapsed);
        kind->at = &kind->sockets[turn % SOCKETS];
        read_answers(kind, sockets[turn % SOCKETS], &totals);
        send_batch(kind, sockets[turn % SOCKETS], &totals);
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
    int sockets[SOCKETS];
    if (!open_sockets(sockets, &to)) {
        fprintf(stderr, "flood: sockets: %s\n", strerror(errno));
        return 1;
    }
    double seconds = strtod(argv[3], NULL);
    flood_totals totals = run(&kind, sockets, seconds, argc > 4 ? strtod(argv[4], NULL) : 0);
    for (uint32_t i = 0; i < SOCKETS; i++) {
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
