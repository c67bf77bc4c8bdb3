// SPDX-License-Identifier: MIT
// shoal-bench-swarm PORT PEERS: the clients of our side of the net_tick rows, each with a socket
// and an encrypted connection of its own. It writes 0 when all are connected. At each 't' it
// receives all packets, then every client sends one.
#include "bench_enet.h"

#include "net/socket.h"
#include "net/transport.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { LINE = 0, KEEP_EVERY = 64 };

typedef struct member {
    net_transport* transport;
    net_peer peer;
    bool is_connected;
} member;

static void require(bool condition, const char* what) {
    if (condition) return;
    fprintf(stderr, "shoal-bench-swarm: error: %s\n", what);
    exit(1);
}

static void send_answer(const void* answer, size_t size) {
    require(write(LINE, answer, size) == (ssize_t)size, "the other process ended");
}

// @return packets that came.
static unsigned serve(member* one) {
    const net_transport_ops* ops = one->transport->ops;
    net_transport_event event;
    unsigned received = 0;
    ops->service(one->transport, net_loop_now_us());
    while (ops->next(one->transport, &event)) {
        require(event.kind != NET_TRANSPORT_DISCONNECTED, "the server closed the connection");
        one->is_connected = true;
        received += event.kind == NET_TRANSPORT_RECEIVED;
    }
    return received;
}

static void connect_all(member* members, size_t count, const char* address) {
    for (size_t i = 0; i < count; i++) {
        const net_enet_config config = {.peers_max = 1};
        require(net_transport_enet_create(&config, &members[i].transport) == NET_OK, "a socket");
        const net_transport_ops* ops = members[i].transport->ops;
        require(ops->connect(members[i].transport, address, &members[i].peer) == NET_OK, "connect");
        // One at a time: what is measured is the traffic afterwards.
        while (!members[i].is_connected) {
            (void)serve(&members[i]);
            ops->flush(members[i].transport);
        }
        // The server drops a connection that is silent while the others are made.
        for (size_t k = 0; k < i && i % KEEP_EVERY == 0; k++) {
            (void)serve(&members[k]);
            members[k].transport->ops->flush(members[k].transport);
        }
    }
}

static void answer_all(member* members, size_t count, bench_enet_answer* answer) {
    static const uint8_t bytes[BENCH_ENET_IN_BYTES];
    for (size_t i = 0; i < count; i++) {
        const net_transport_ops* ops = members[i].transport->ops;
        answer->received += serve(&members[i]);
        (void)ops->send(members[i].transport, members[i].peer, NET_CHANNEL_REALTIME, bytes,
                        sizeof bytes);
        ops->flush(members[i].transport);
    }
}

int main(int argc, char** argv) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    require(argc == 3, "is run by shoal-bench");
    static net_loop loop;
    require(net_loop_init(&loop), "signals"); // and as many descriptors as the system gives
    size_t count = strtoul(argv[2], NULL, 10);
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%s", argv[1]);
    member* members = calloc(count, sizeof *members);
    require(members != NULL, "out of memory");
    connect_all(members, count, address);
    send_answer("", 1);
    char command;
    while (read(LINE, &command, 1) == 1 && command == BENCH_ENET_TICK) {
        bench_enet_answer answer = {0};
        answer_all(members, count, &answer);
        send_answer(&answer, sizeof answer);
    }
    return 0;
}
