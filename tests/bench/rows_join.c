// SPDX-License-Identifier: MIT
// A client joins a match of 10,000 entities that are all in its scope, over 2 Mbit/s and 60 ms
// round trip: the virtual time until its world has all of them. Every byte of a datagram counts,
// with IP and UDP.
#include "bench_repl.h"

#include "mirror/mirror.h"

#include <stdio.h>

#define ENTITIES 10000u
#define RATE_BYTES_PER_S 250000.0
#define ONE_WAY_S 0.030
#define TICK_S (1.0 / BENCH_REPL_TICK_RATE_HZ)
#define TICKS_MAX 1000u
// IP and UDP 28, ENet 12, protobuf and the packet's header 13.
#define OVERHEAD_BYTES 53u
#define PACKET_BYTES_MIN 100u
#define FLYING_MAX 64u

typedef struct packet {
    double due_s; // arrival at the client; later, of its acknowledgement at the server
    ecs_tick tick;
    uint32_t size;
    uint16_t seq;
    uint8_t body[BENCH_REPL_HARD_BYTES];
} packet;

typedef struct queue {
    packet items[FLYING_MAX];
    uint32_t first, count;
} queue;

typedef struct fixture {
    bench_repl server; // no clients of its own
    net_repl_state* view;
    ecs_world* world;
    net_schema* schema;
    net_mirror* mirror;
    queue down, up;
    double tokens, free_s; // of the line
    uint64_t bytes, packets;
    uint16_t seq;
    double done_s;
} fixture;

static packet* push(queue* of) {
    bench_require(of->count < FLYING_MAX, "join_10k: too many packets under way");
    return &of->items[(of->first + of->count++) % FLYING_MAX];
}

// @return NULL: no packet is due.
static const packet* pop(queue* of, double now_s) {
    const packet* next = &of->items[of->first % FLYING_MAX];
    if (of->count == 0 || next->due_s > now_s) return NULL;
    of->first++;
    of->count--;
    return next;
}

static void receive(fixture* self, double now_s) {
    for (const packet* got; (got = pop(&self->down, now_s));) {
        proto_bit_reader reader = proto_bit_reader_make(got->body, got->size);
        bench_ok(net_mirror_read(self->mirror, got->seq, got->tick, &reader),
                 "join_10k: a packet cannot be decoded");
        if (ecs_world_entity_count(self->world) == ENTITIES && self->done_s == 0)
            self->done_s = got->due_s;
        packet* ack = push(&self->up);
        ack->seq = got->seq;
        ack->due_s = got->due_s + ONE_WAY_S;
    }
}

static void send(fixture* self, double now_s) {
    self->tokens += RATE_BYTES_PER_S * TICK_S;
    while (net_repl_state_has_pending(self->view) &&
           self->tokens >= PACKET_BYTES_MIN + OVERHEAD_BYTES) {
        double room = self->tokens - OVERHEAD_BYTES;
        uint32_t soft = room < BENCH_REPL_HARD_BYTES ? (uint32_t)room : BENCH_REPL_HARD_BYTES;
        packet* made = push(&self->down);
        memset(made->body, 0, sizeof made->body);
        proto_bit_writer writer = proto_bit_writer_make(made->body, sizeof made->body);
        const net_repl_state_room limits = {.hard = soft * 8, .soft = soft * 8};
        const uint32_t records = net_repl_state_write(self->view, self->seq, limits, &writer);
        made->seq = self->seq++;
        made->tick = self->server.tick;
        made->size = (uint32_t)proto_bit_writer_bytes(&writer);
        double bytes = made->size + OVERHEAD_BYTES;
        self->tokens -= bytes;
        self->bytes += made->size + OVERHEAD_BYTES;
        self->packets++;
        if (self->free_s < now_s) self->free_s = now_s;
        self->free_s += bytes / RATE_BYTES_PER_S;
        made->due_s = self->free_s + ONE_WAY_S;
        if (records == 0) break;
    }
}

static void join(fixture* self) {
    for (uint32_t tick = 0; tick < TICKS_MAX && self->done_s == 0; tick++) {
        double now_s = tick * TICK_S;
        receive(self, now_s);
        for (const packet* ack; (ack = pop(&self->up, now_s));)
            (void)net_repl_state_acked(self->view, ack->seq);
        bench_repl_tick(&self->server);
        send(self, now_s);
    }
    bench_require(self->done_s > 0, "join_10k: the client never had everything");
}

static void print(const bench_row* row, uint32_t rounds) {
    (void)rounds;
    fixture* self = bench_allocate(sizeof *self);
    const bench_repl_config config = {.entities = ENTITIES};
    bench_repl_init(&self->server, &config);
    bench_repl_tick(&self->server);
    uint32_t index_max = bench_repl_index_max(&config);
    bench_repl_world(&config, true, &self->world, &self->schema);
    const net_mirror_config mirror = {
        .world = self->world, .rows = net_schema_rows(self->schema), .index_max = index_max};
    self->mirror = net_mirror_create(&mirror);
    net_interest_add_client(self->server.interest, 1);
    self->view = net_repl_state_create(self->server.replicator, 1);
    join(self);
    printf("bench=%s unit=%s shoal=%.4g rounds=1 bytes_per_entity=%.1f packets=%llu\n", row->name,
           row->unit, self->done_s * 1000, (double)self->bytes / ENTITIES,
           (unsigned long long)self->packets);
    net_repl_state_destroy(self->view);
    net_mirror_destroy(self->mirror);
    base_owner_destroy(self->schema);
    ecs_world_destroy(self->world);
    bench_repl_deinit(&self->server);
}

bench_rows bench_rows_join(void) {
    static const bench_job job = {.print = print};
    static const bench_row rows[] = {
        {"join_10k", "ms", 1, 1, 1, false, NULL, &job},
    };
    return (bench_rows){rows, BASE_COUNT(rows)};
}
