// SPDX-License-Identifier: MIT
/// A server's replication with all its clients in one process, tick by tick: a real world whose
/// changes go through net_replicator and one net_repl_state per client; packets that arrive some
/// ticks later or, 2 % of them, never; clients that acknowledge what they got with every tick. The
/// parts of a tick are timed apart.
#pragma once

#include "bench.h"

#include "net/match.h"
#include "state/schema.h"
#include "replicate/repl_state.h"

#include "base/rng.h"

/// The limit of a packet's body: 1,100 bytes; a single record may be longer.
#define BENCH_REPL_SOFT_BYTES 1100u
#define BENCH_REPL_HARD_BYTES 1160u
#define BENCH_REPL_TICK_RATE_HZ 30u

typedef struct bench_repl_config {
    uint32_t entities;
    uint32_t clients;
    uint32_t dirty_percent; ///< of the entities move in a tick
    uint32_t visible;       ///< entities in the radius, on average; 0: all clients see everything
    uint32_t verified;      ///< number of clients that decode into worlds of their own
    uint32_t soft_bytes;    ///< limit of a packet's body; 0: BENCH_REPL_SOFT_BYTES
    uint32_t births_per_s;  ///< for each client so many entities die and are born in a second
    uint32_t change_every_ticks; ///< every entity stands still and changes a number so often
    bool has_teams;              ///< two teams; health and state are seen by the own one
    bool is_solo;                ///< clients get solo code
} bench_repl_config;

/// Times of the ticks since bench_repl_clear.
typedef struct bench_repl_figures {
    uint32_t ticks;
    double step_ns; ///< net_replicator_step: history and interest, on the world's thread
    double acks_ns; ///< acknowledgements of all clients
    double publish_ns;
    double write_ns; ///< select and write for all clients
    uint64_t records, bits, repeated, absolute, made, shared;
} bench_repl_figures;

typedef struct bench_repl_client bench_repl_client;

typedef struct bench_repl {
    bench_repl_config config;
    ecs_world* world;
    net_schema* schema;
    net_interest* interest;
    net_replicator* replicator;
    ecs_template_id mover;
    ecs_component_id pos, heading, health, team;
    ecs_entity* entities;
    struct bench_repl_mover* movers;
    bench_repl_client* clients;
    uint32_t* order; ///< of clients, by their places, as a server writes to them
    float side;      ///< side of the square in which they move
    base_rng births;
    ecs_tick tick;
    uint32_t dirty_percent; ///< may be changed between ticks
    bool is_stalled;        ///< nothing that is sent now arrives
    bench_repl_figures figures;
    net_repl_state_counters counted; ///< at bench_repl_clear, of all clients
} bench_repl;

/// Create everything. On failure the program ends with a message.
void bench_repl_init(bench_repl* self, const bench_repl_config* config);
void bench_repl_deinit(bench_repl* self);
/// Run one tick of world, server and clients.
void bench_repl_tick(bench_repl* self);
/// The part of bench_repl_tick that sends, in a server's net half: acknowledgements, publish,
/// select and write for all clients. instructions.sh looks for it by name.
__attribute__((noinline)) void bench_repl_serve(bench_repl* self);
void bench_repl_clear(bench_repl* self);
/// Fill in the counters.
void bench_repl_count(bench_repl* self);
/// Stop all changes until every client has everything, then compare the worlds of the verified
/// clients.
/// @return a message about the difference; NULL: none.
const char* bench_repl_verify(bench_repl* self);
/// Get the mean number of entities that the first few clients see.
double bench_repl_visible(const bench_repl* self);
uint32_t bench_repl_index_max(const bench_repl_config* config);
/// Make a world with the bench's templates, for a server or a client.
void bench_repl_world(const bench_repl_config* config, bool is_mirror, ecs_world** world,
                      net_schema** schema);
