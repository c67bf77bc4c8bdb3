// SPDX-License-Identifier: MIT
// shoal-bench-enet: ENet alone, with its own sockets. shoal-bench does not have them: there our
// socket layer replaces them. The first argument chooses the mode:
//
//   server PEERS      the twin of the net_tick rows. It writes its port. At 'c' it lets PEERS
//   connect. At each 't' it
//                     receives all packets, sends one to each peer, and writes the time that it
//                     took
//   swarm PORT PEERS  the clients of the twin, each with a socket of its own. It writes 0 when
//   all are connected.
//                     At each 't' it receives all packets, then every client sends one
//
// Same options as transport_enet.c: mtu, throttle that never drops, time-outs, buffers of 4 MB.
#include "bench_enet.h"

#include <enet/enet.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    CHANNELS = 2,
    REALTIME = 1,
    THROTTLE_INTERVAL_MS = 5000,
    TIMEOUT_LIMIT = 20000,
    TIMEOUT_MS_MIN = 15000,
    TIMEOUT_MS_MAX = 60000,
    LINE = 0,
};

static void require(bool condition, const char* what) {
    if (condition) return;
    fprintf(stderr, "shoal-bench-enet: error: %s\n", what);
    exit(1);
}

// @return 0 at the end of the line.
static char read_command(void) {
    char command = 0;
    return read(LINE, &command, 1) == 1 ? command : 0;
}

static void send_answer(const void* answer, size_t size) {
    require(write(LINE, answer, size) == (ssize_t)size, "the other process ended");
}

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static ENetHost* host_create(const ENetAddress* address, size_t peers) {
    ENetHost* host = enet_host_create(address, peers, CHANNELS, 0, 0);
    require(host != NULL, "enet_host_create");
    host->mtu = BENCH_ENET_MTU_BYTES;
    for (size_t i = 0; i < peers; i++)
        host->peers[i].mtu = BENCH_ENET_MTU_BYTES;
    return host;
}

static void configure(ENetPeer* peer) {
    enet_peer_timeout(peer, TIMEOUT_LIMIT, TIMEOUT_MS_MIN, TIMEOUT_MS_MAX);
    enet_peer_throttle_configure(peer, THROTTLE_INTERVAL_MS, ENET_PEER_PACKET_THROTTLE_SCALE, 0);
}

static void send_to(ENetPeer* peer, const void* bytes, size_t size) {
    ENetPacket* packet = enet_packet_create(bytes, size, ENET_PACKET_FLAG_UNSEQUENCED);
    require(packet != NULL, "out of memory");
    if (enet_peer_send(peer, REALTIME, packet) != 0) enet_packet_destroy(packet);
}

// ---- the server

static void let_connect(ENetHost* host, size_t count) {
    ENetEvent event;
    while (count > 0) {
        if (enet_host_service(host, &event, 1) <= 0) continue;
        require(event.type == ENET_EVENT_TYPE_CONNECT, "a client left");
        configure(event.peer);
        count--;
    }
    enet_host_flush(host);
}

static bench_enet_answer tick(ENetHost* host) {
    static const uint8_t bytes[BENCH_ENET_OUT_BYTES];
    bench_enet_answer answer = {0};
    ENetEvent event;
    double begin_ns = now_ns();
    while (enet_host_service(host, &event, 0) > 0) {
        if (event.type != ENET_EVENT_TYPE_RECEIVE) continue;
        answer.received++;
        enet_packet_destroy(event.packet);
    }
    for (size_t i = 0; i < host->peerCount; i++)
        send_to(&host->peers[i], bytes, sizeof bytes);
    enet_host_flush(host);
    answer.spent_ns = now_ns() - begin_ns;
    return answer;
}

static void run_server(size_t peers) {
    ENetAddress address = {.host = ENET_HOST_ANY, .port = 0};
    enet_address_set_host_ip(&address, "127.0.0.1");
    ENetHost* host = host_create(&address, peers);
    enet_socket_set_option(host->socket, ENET_SOCKOPT_RCVBUF, BENCH_ENET_SOCKET_BYTES);
    enet_socket_set_option(host->socket, ENET_SOCKOPT_SNDBUF, BENCH_ENET_SOCKET_BYTES);
    send_answer(&host->address.port, sizeof host->address.port);
    require(read_command() == BENCH_ENET_CONNECT, "a tick before any client connected");
    let_connect(host, peers);
    while (read_command() == BENCH_ENET_TICK) {
        bench_enet_answer answer = tick(host);
        send_answer(&answer, sizeof answer);
    }
    enet_host_destroy(host);
}

// ---- the clients

static void connect_all(ENetHost** hosts, size_t count, const ENetAddress* address) {
    for (size_t i = 0; i < count; i++) {
        hosts[i] = host_create(NULL, 1);
        require(enet_host_connect(hosts[i], address, CHANNELS, 0) != NULL, "enet_host_connect");
    }
    ENetEvent event;
    for (size_t missing = count; missing > 0;) {
        for (size_t i = 0; i < count; i++) {
            if (enet_host_service(hosts[i], &event, 0) <= 0) continue;
            require(event.type == ENET_EVENT_TYPE_CONNECT, "the server closed the connection");
            configure(event.peer);
            enet_host_flush(hosts[i]); // the server waits for an acknowledgement
            missing--;
        }
    }
}

static void answer_all(ENetHost** hosts, size_t count, bench_enet_answer* answer) {
    static const uint8_t bytes[BENCH_ENET_IN_BYTES];
    ENetEvent event;
    for (size_t i = 0; i < count; i++) {
        while (enet_host_service(hosts[i], &event, 0) > 0) {
            require(event.type == ENET_EVENT_TYPE_RECEIVE, "the server closed the connection");
            answer->received++;
            enet_packet_destroy(event.packet);
        }
        send_to(&hosts[i]->peers[0], bytes, sizeof bytes);
        enet_host_flush(hosts[i]);
    }
}

static void run_swarm(uint16_t port, size_t count) {
    ENetAddress address = {.host = ENET_HOST_ANY, .port = port};
    enet_address_set_host_ip(&address, "127.0.0.1");
    ENetHost** hosts = calloc(count, sizeof(ENetHost*));
    require(hosts != NULL, "out of memory");
    connect_all(hosts, count, &address);
    send_answer("", 1);
    while (read_command() == BENCH_ENET_TICK) {
        bench_enet_answer answer = {0};
        answer_all(hosts, count, &answer);
        send_answer(&answer, sizeof answer);
    }
    for (size_t i = 0; i < count; i++)
        enet_host_destroy(hosts[i]);
    free(hosts);
}

int main(int argc, char** argv) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    require(enet_initialize() == 0, "enet_initialize");
    if (argc == 3 && strcmp(argv[1], "server") == 0) {
        run_server(strtoul(argv[2], NULL, 10));
    } else if (argc == 4 && strcmp(argv[1], "swarm") == 0) {
        run_swarm((uint16_t)strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
    } else {
        require(false, "is run by shoal-bench");
    }
    return 0;
}
