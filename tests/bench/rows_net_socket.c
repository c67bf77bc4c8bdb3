// SPDX-License-Identifier: MIT
// The cost of a datagram in the socket layer, on the server's side only, through ENet's functions
// as ENet calls them. Each peer has a socket of its own. The twin is a call of the kernel for each
// datagram. "in": 32 bytes from each of 1,000 peers. "out": 1,172 bytes to each of them. "burst":
// 16 of these to each of 64, as when players join.
#include "bench.h"
#include "bench_enet.h"

#include "net/socket.h"

#include <arpa/inet.h>
#include <enet/enet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define PEERS_MAX 1000u
#define BATCH 64u

typedef struct fixture {
    ENetSocket shoal;
    int best;
    struct sockaddr_in at_shoal, at_best; // the server sockets
    uint32_t peer_count, in_each, out_each;
    int peers[PEERS_MAX];
    struct sockaddr_in names[PEERS_MAX];
    uint32_t received_shoal, received_best; // of the last run
} fixture;

static int open_peer(struct sockaddr_in* name) {
    int made = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof *name;
    *name = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bench_require(made >= 0 && bind(made, (struct sockaddr*)name, size) == 0 &&
                      getsockname(made, (struct sockaddr*)name, &size) == 0,
                  "socket");
    return made;
}

static void* create(uint32_t peer_count, uint32_t in_each, uint32_t out_each) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    fixture* self = bench_allocate(sizeof *self);
    self->peer_count = peer_count;
    self->in_each = in_each;
    self->out_each = out_each;
    const int bytes = BENCH_ENET_SOCKET_BYTES;
    self->best = open_peer(&self->at_best);
    (void)setsockopt(self->best, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    (void)setsockopt(self->best, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    net_socket_plan plan = {
        .listen = {net_address_ipv4(htonl(INADDR_LOOPBACK), 0)}, .listen_count = 1, .batch = BATCH};
    ENetAddress address = {.host = htonl(INADDR_LOOPBACK)};
    net_socket_plan_next(&plan);
    self->shoal = enet_socket_create(ENET_SOCKET_TYPE_DATAGRAM);
    bench_require(self->shoal >= 0 && enet_socket_bind(self->shoal, &address) == 0 &&
                      enet_socket_get_address(self->shoal, &address) == 0,
                  "socket layer");
    (void)enet_socket_set_option(self->shoal, ENET_SOCKOPT_RCVBUF, bytes);
    (void)enet_socket_set_option(self->shoal, ENET_SOCKOPT_SNDBUF, bytes);
    self->at_shoal = self->at_best;
    self->at_shoal.sin_port = htons(address.port);
    for (uint32_t i = 0; i < self->peer_count; i++)
        self->peers[i] = open_peer(&self->names[i]);
    return self;
}

BENCH_CREATE(create_in, create(PEERS_MAX, 1, 0))
BENCH_CREATE(create_out, create(PEERS_MAX, 0, 1))
BENCH_CREATE(create_burst, create(64, 0, 16))

static void destroy(void* memory) {
    fixture* self = memory;
    for (uint32_t i = 0; i < self->peer_count; i++)
        (void)close(self->peers[i]);
    (void)close(self->best);
    enet_socket_destroy(self->shoal);
}

static void peers_answer(const fixture* self, const struct sockaddr_in* to) {
    uint8_t bytes[BENCH_ENET_OUT_BYTES] = {0};
    for (uint32_t i = 0; i < self->peer_count; i++) {
        while (recv(self->peers[i], bytes, sizeof bytes, MSG_DONTWAIT) > 0)
            continue;
        for (uint32_t k = 0; k < self->in_each; k++)
            (void)sendto(self->peers[i], bytes, BENCH_ENET_IN_BYTES, MSG_DONTWAIT,
                         (const struct sockaddr*)to, sizeof *to);
    }
}

static void prepare_shoal(void* memory) {
    const fixture* self = memory;
    peers_answer(self, &self->at_shoal);
}

static void prepare_best(void* memory) {
    const fixture* self = memory;
    peers_answer(self, &self->at_best);
}

static void run_shoal(void* memory) {
    fixture* self = memory;
    uint8_t bytes[BENCH_ENET_OUT_BYTES] = {0};
    ENetBuffer buffer = {.data = bytes, .dataLength = sizeof bytes};
    ENetAddress address;
    self->received_shoal = 0;
    while (enet_socket_receive(self->shoal, &address, &buffer, 1) > 0)
        self->received_shoal++;
    for (uint32_t i = 0; i < self->peer_count; i++) {
        address.host = self->names[i].sin_addr.s_addr;
        address.port = ntohs(self->names[i].sin_port);
        for (uint32_t k = 0; k < self->out_each; k++)
            (void)enet_socket_send(self->shoal, &address, &buffer, 1);
    }
    net_socket_flush(self->shoal);
}

static void run_best(void* memory) {
    fixture* self = memory;
    uint8_t bytes[BENCH_ENET_OUT_BYTES] = {0};
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    self->received_best = 0;
    while (recvfrom(self->best, bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr*)&from, &size) >
           0)
        self->received_best++;
    for (uint32_t i = 0; i < self->peer_count; i++)
        for (uint32_t k = 0; k < self->out_each; k++)
            (void)sendto(self->best, bytes, sizeof bytes, MSG_DONTWAIT,
                         (const struct sockaddr*)&self->names[i], sizeof self->names[i]);
}

static bool is_equal(void* memory) {
    const fixture* self = memory;
    net_socket_stats stats;
    net_socket_get_stats(self->shoal, &stats);
    return self->received_shoal == self->received_best && stats.socket_errors == 0;
}

bench_rows bench_rows_net_socket(void) {
    static const bench_job job = {.destroy = destroy,
                                  .prepare = {prepare_shoal, prepare_best},
                                  .run = {run_shoal, run_best},
                                  .is_equal = is_equal};
    static const char unit[] = "ns_per_datagram";
    static const bench_row rows[] = {
        {"net_socket_in_1000", unit, PEERS_MAX, 1, 8, false, create_in, &job, NULL},
        {"net_socket_out_1000", unit, PEERS_MAX, 1, 8, false, create_out, &job, NULL},
        {"net_socket_burst_64", unit, 64 * 16, 1, 8, false, create_burst, &job, NULL},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
