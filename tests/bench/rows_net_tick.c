// SPDX-License-Identifier: MIT
// The cost of a server's transport per tick: one datagram of 32 bytes from each of N peers is
// received, one packet of nearly an mtu is sent to each. The twin is bare ENet in a process of its
// own (bench_enet.c), because in this one ENet's socket functions are ours.
//
// Rows with lanes divide the peers among as many ENet hosts, each with a thread. Their time is the
// longest way through a tick: of each step the CPU time of the slowest lane, and what one thread
// does alone. `cpu` is the sum of all. So a busy machine changes neither.
//
// A tick has two steps. First the swarm reads and sends, which is not measured. Then the server
// finds all datagrams there and works without waiting. Ticks of both servers alternate.
#define _GNU_SOURCE
#include "bench.h"
#include "bench_enet.h"

#include "core/worker.h"

#include "net/limits.h"
#include "net/socket.h"
#include "net/transport.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- the other processes

typedef struct child_process {
    pid_t process;
    int line;
} child_process;

extern char** environ;

// The directory of this program.
static void find_program(const char* name, char* path, size_t capacity) {
    ssize_t size = readlink("/proc/self/exe", path, capacity - 1);
    bench_require(size > 0, "/proc/self/exe");
    path[size] = 0;
    char* base = strrchr(path, '/') + 1;
    size_t room = capacity - (size_t)(base - path);
    bench_require(snprintf(base, room, "%s", name) < (int)room, "path of the program is too long");
}

static void child_start(child_process* child, const char* const* arguments) {
    char path[1024];
    find_program(arguments[0], path, sizeof path);
    signal(SIGPIPE, SIG_IGN);
    int ends[2];
    bench_require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    int result = posix_spawn(&child->process, path, &actions, NULL,
                             (char* const*)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    bench_require(result == 0, path);
    close(ends[1]);
    child->line = ends[0];
}

static void child_stop(child_process* child) {
    close(child->line);
    waitpid(child->process, NULL, 0);
}

static void child_send(const child_process* child, char command) {
    bench_require(write(child->line, &command, 1) == 1, "a process of the benchmark ended early");
}

static void child_hear(const child_process* child, void* answer, size_t size) {
    for (size_t had = 0; had < size;) {
        ssize_t got = read(child->line, (char*)answer + had, size - had);
        bench_require(got > 0, "a process of the benchmark ended early");
        had += (size_t)got;
    }
}

static bool child_has_answer(const child_process* child) {
    struct pollfd line = {.fd = child->line, .events = POLLIN};
    return poll(&line, 1, 0) == 1;
}

// ---- the rows

#define PEERS_MAX NET_CLIENTS_MAX

typedef struct fixture fixture;

typedef struct lane {
    fixture* owner;
    net_worker* worker;
    uint32_t number;
    bool is_sending;
    double spent_ns;
} lane;

struct fixture {
    net_transport* transport;
    net_peer peers[PEERS_MAX];
    uint32_t peer_count;
    child_process server;               // bare ENet
    child_process swarm, swarm_of_bare; // clients of ours and of the bare server
    uint64_t received, received_bare;   // in all ticks
    uint64_t ticks;
    lane lanes[NET_LANES_MAX];
    uint32_t lane_count;
    double spent_ns; // by all threads
    double shoal[BENCH_ROUNDS_MAX], best[BENCH_ROUNDS_MAX], ratio[BENCH_ROUNDS_MAX];
};

static void open_bare(fixture* self, uint32_t peers) {
    char text[16], connected;
    snprintf(text, sizeof text, "%u", peers);
    child_start(&self->server, (const char*[]){"shoal-bench-enet", "server", text, NULL});
    uint16_t port;
    child_hear(&self->server, &port, sizeof port);
    snprintf(text, sizeof text, "%u", port);
    child_send(&self->server, BENCH_ENET_CONNECT);
    char count[16];
    snprintf(count, sizeof count, "%u", peers);
    child_start(&self->swarm_of_bare,
                (const char*[]){"shoal-bench-enet", "swarm", text, count, NULL});
    child_hear(&self->swarm_of_bare, &connected, 1);
}

static void send_of_lane(const fixture* self, uint32_t number) {
    static const uint8_t bytes[BENCH_ENET_OUT_BYTES];
    net_transport* transport = self->transport;
    for (uint32_t i = 0; i < self->peer_count; i++)
        if (net_transport_lane(transport, self->peers[i]) == number)
            (void)transport->ops->send(transport, self->peers[i], NET_CHANNEL_REALTIME, bytes,
                                       sizeof bytes);
    if (transport->ops->flush_lane)
        transport->ops->flush_lane(transport, number);
    else
        transport->ops->flush(transport);
}

static void run_lane(void* context) {
    lane* self = context;
    net_transport* transport = self->owner->transport;
    double begin_ns = bench_now_ns();
    if (self->is_sending)
        send_of_lane(self->owner, self->number);
    else if (transport->ops->work)
        transport->ops->work(transport, self->number);
    self->spent_ns = bench_now_ns() - begin_ns;
}

// @return the time of the slowest.
static double run_lanes(fixture* self, bool is_sending) {
    double longest_ns = 0;
    for (uint32_t i = 0; i < self->lane_count; i++) {
        self->lanes[i].is_sending = is_sending;
        if (self->lanes[i].worker) net_worker_start(self->lanes[i].worker);
    }
    for (uint32_t i = 0; i < self->lane_count; i++) {
        lane* one = &self->lanes[i];
        if (one->worker)
            net_worker_wait(one->worker);
        else
            run_lane(one);
        self->spent_ns += one->spent_ns;
        if (one->spent_ns > longest_ns) longest_ns = one->spent_ns;
    }
    return longest_ns;
}

static void open_lanes(fixture* self) {
    self->lane_count = net_transport_lanes(self->transport);
    for (uint32_t i = 0; i < self->lane_count; i++) {
        lane* made = &self->lanes[i];
        *made = (lane){.owner = self, .number = i};
        if (self->lane_count == 1) return; // this thread
        made->worker = net_worker_create(NULL, run_lane, made);
        bench_require(made->worker != NULL, "a thread");
    }
}

static void open_ours(fixture* self, uint32_t peers, uint32_t lanes) {
    // One service for all: the budget of wall-clock time would cut it.
    const net_enet_config config = {
        .listen = "127.0.0.1:0", .peers_max = peers, .lanes = lanes, .service_us_max = 1000000};
    bench_ok(net_transport_enet_create(&config, &self->transport), "transport");
    const net_transport_ops* ops = self->transport->ops;
    char address[32];
    bench_require(net_transport_enet_address(self->transport, address, sizeof address), "address");
    char count[16];
    snprintf(count, sizeof count, "%u", peers);
    child_start(&self->swarm,
                (const char*[]){"shoal-bench-swarm", strchr(address, ':') + 1, count, NULL});
    while (self->peer_count < peers || !child_has_answer(&self->swarm)) {
        net_transport_event event;
        ops->service(self->transport, net_loop_now_us());
        while (ops->next(self->transport, &event)) {
            bench_require(event.kind == NET_TRANSPORT_CONNECTED, "a client left");
            self->peers[self->peer_count++] = event.peer;
        }
        ops->flush(self->transport);
    }
    char connected;
    child_hear(&self->swarm, &connected, 1);
}

static double tick_ours(fixture* self) {
    bench_enet_answer answer;
    child_send(&self->swarm, BENCH_ENET_TICK);
    child_hear(&self->swarm, &answer, sizeof answer);
    const net_transport_ops* ops = self->transport->ops;
    net_transport_event event;
    double begin_ns = bench_now_ns();
    ops->service(self->transport, net_loop_now_us());
    const double service_ns = bench_now_ns() - begin_ns;
    const double work_ns = run_lanes(self, false);
    begin_ns = bench_now_ns();
    while (ops->next(self->transport, &event))
        if (event.kind == NET_TRANSPORT_RECEIVED) self->received++;
    const double next_ns = bench_now_ns() - begin_ns;
    self->spent_ns += service_ns + next_ns;
    return service_ns + work_ns + next_ns + run_lanes(self, true);
}

static double tick_bare(fixture* self) {
    bench_enet_answer answer;
    child_send(&self->swarm_of_bare, BENCH_ENET_TICK);
    child_hear(&self->swarm_of_bare, &answer, sizeof answer);
    child_send(&self->server, BENCH_ENET_TICK);
    child_hear(&self->server, &answer, sizeof answer);
    self->received_bare += answer.received;
    return answer.spent_ns;
}

static void measure(fixture* self, const bench_row* row, uint32_t rounds) {
    double scale = 1.0 / row->runs / row->unit_ns;
    for (uint32_t round = 0; round < BENCH_ROUNDS_WARM + rounds; round++) {
        double shoal_ns = 0, best_ns = 0;
        for (uint32_t i = 0; i < row->runs; i++) {
            shoal_ns += tick_ours(self);
            best_ns += tick_bare(self);
        }
        self->ticks += row->runs;
        uint32_t at = round < BENCH_ROUNDS_WARM ? 0 : round - BENCH_ROUNDS_WARM;
        self->shoal[at] = shoal_ns * scale;
        self->best[at] = best_ns * scale;
        self->ratio[at] = shoal_ns / best_ns;
    }
}

static void print(const bench_row* row, uint32_t rounds) {
    fixture* self = bench_allocate(sizeof *self);
    const char* digits = strstr(row->name, "lanes");
    uint32_t peers = (uint32_t)row->work;
    uint32_t lanes = digits ? (uint32_t)strtoul(digits + strlen("lanes"), NULL, 10) : 1;
    bench_require(peers <= PEERS_MAX && rounds <= BENCH_ROUNDS_MAX, "net_tick");
    open_bare(self, peers);
    open_ours(self, peers, lanes);
    open_lanes(self);
    measure(self, row, rounds);
    double all = (double)self->ticks * peers;
    printf("bench=%s unit=%s shoal=%.4g best=%.4g ratio=%.2f rounds=%u cpu=%.4g received=%.4f"
           " received_best=%.4f",
           row->name, row->unit, bench_median(self->shoal, rounds),
           bench_median(self->best, rounds), bench_median(self->ratio, rounds), rounds,
           self->spent_ns / (double)self->ticks / row->unit_ns, (double)self->received / all,
           (double)self->received_bare / all);
    bench_print_least(self->shoal);
    for (uint32_t i = 0; i < self->lane_count; i++)
        net_worker_destroy(self->lanes[i].worker);
    self->transport->ops->destroy(self->transport);
    child_stop(&self->swarm);
    child_stop(&self->server);
    child_stop(&self->swarm_of_bare);
}

bench_rows bench_rows_net_tick(void) {
    static const bench_job job = {.print = print};
    static const char unit[] = "us_per_tick";
    static const bench_row rows[] = {
        {"net_tick_64", unit, 64, 1000, 32, false, NULL, &job},
        {"net_tick_256", unit, 256, 1000, 8, false, NULL, &job},
        {"net_tick_1000", unit, 1000, 1000, 4, false, NULL, &job},
        {"net_tick_1000_lanes2", unit, 1000, 1000, 4, false, NULL, &job},
        {"net_tick_2000", unit, 2000, 1000, 4, false, NULL, &job},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
