// SPDX-License-Identifier: MIT
/// Private: what the files of a scenario share.
#pragma once

#include "harness.h"

#include "base/hash.h"
#include "net/client.h"
#include "net/match.h"
#include "net/server.h"
#include "replicate/repl_state.h"
#include "server/server_state.h"
#include "swarm.h"

#define TICK_US 16667u
#define TICKS_PER_SECOND 60u
#define SETTLE_TICKS_MAX 1500u
#define INDEX_MAX 4096u
#define NUMBERS_MAX 16u ///< places of client numbers are 1..this - 1
#define MEMBERS_MAX (SCENARIO_CLIENTS_MAX + SCENARIO_SPECTATORS_MAX)
#define RATE_TICKS 60u
#define KINS 512u

/// The place of a client number in arrays: players from below, spectators from above.
static inline uint32_t place_of(uint32_t client) {
    return client < NET_SPECTATOR_FIRST ? client : NUMBERS_MAX - 1 - (client - NET_SPECTATOR_FIRST);
}

/// An entity of the server at one tick.
typedef struct row_record {
    ecs_entity entity;
    const net_row_template* entry;
    uint64_t hash;                 ///< of the whole row
    uint64_t* words;               ///< NULL: the whole row is public
    uint32_t kin;                  ///< 0: it travels alone
    uint16_t classes[NUMBERS_MAX]; ///< by place_of its number; 0: not in its scope
} row_record;

typedef struct tick_rows {
    row_record* rows; ///< by rising index
    uint64_t* words;
    uint32_t count;
} tick_rows;

/// What was last sent of a slot, and when.
typedef struct sent_note {
    ecs_entity handle;
    ecs_tick tick;
    uint16_t seq, classes;
    bool is_valid;
    bool is_settled; // its packet was acknowledged while the server had its sets
} sent_note;

/// What the checks remember of a client on the server's side.
typedef struct watched {
    uint32_t client;
    const net_repl_state* view;
    sent_note notes[INDEX_MAX];
    uint16_t mismatches[INDEX_MAX];  ///< ticks in a row with a wrong scope, by index
    uint64_t differences[INDEX_MAX]; ///< the difference of those ticks
    uint64_t packet_count;
    uint64_t resyncs;
    uint64_t solo;         ///< packets in solo code
    uint64_t bytes;        ///< sent in this tick, as budgets count
    uint32_t packet_bytes; ///< of the newest state packet
    uint64_t ring[RATE_TICKS];
    double rates[RATE_TICKS];
    uint32_t away_ticks;   ///< since its line returned; waits began before that
    uint32_t pending_peak; ///< peak of the waiting data, falling slowly
} watched;

typedef struct member {
    net_match* match;
    net_transport* transport;
    net_client* client;
    uint32_t join_step;
    uint32_t leave_step; ///< 0: stays
    uint32_t stall_end;  ///< it stands still before this step
    bool is_started, is_done;
    bool has_cut;
    bool is_corrupted;
    uint32_t cut_client;      ///< its number when its line was cut; 0: it did not play yet
    net_client_report report; ///< at its end
    uint32_t shouts;
    base_rng rng;
    ecs_tick entity_ticks[INDEX_MAX];
    ecs_entity entity_handles[INDEX_MAX];
    uint64_t kins[KINS]; ///< what it held of each when it was checked: a sum over the members
} member;

typedef struct scenario {
    scenario_config config;
    scenario_result result;
    swarm_wild wild;
    net_module* module;
    base_workers* workers;
    net_match* match;
    net_sim* sim;
    net_transport* transport;        ///< the simulated network
    net_transport_ops tap;           ///< its ops, which count first
    const net_transport_ops* tapped; ///< its own
    net_server* server;
    member members[MEMBERS_MAX]; ///< the players, then the spectators
    watched* watched[NUMBERS_MAX];
    tick_rows* history; ///< by tick - tick_zero
    uint32_t history_count;
    uint64_t now_us;
    uint64_t sent_bits; ///< bits that the server gave to its transport
    ecs_entity asked;   ///< about which the server was asked last
    uint64_t ledger_begin, ledger_bits, ledger_seconds; ///< what is known of the server's ledger
} scenario;

typedef struct trace_target {
    scenario* self;
    member* one;
} trace_target;

void scenario_fail(scenario* self, const char* format, ...) BASE_PRINTF(2, 3);

// members.c
void draw_members(scenario* self);
void step_member(scenario* self, uint32_t index, uint32_t step, trace_target* target);
void close_member(member* one);

/// Add the world to worlds_hash.
void hash_world(scenario* self, net_match* match);

// check_rows.c: clients apply rows that the server had
void record_history(scenario* self);
const tick_rows* find_tick(const scenario* self, ecs_tick tick);
const row_record* find_row(const tick_rows* rows, ecs_entity entity);
/// net_client_trace_fn; the context is a trace_target.
void check_update(void* context, uint32_t client, ecs_entity entity, ecs_tick tick,
                  uint64_t row_hash);
void check_groups(scenario* self, member* one);
void free_history(scenario* self);

// check_views.c: the server sends what it should
void open_tap(scenario* self);
void check_views(scenario* self);
void free_watched(scenario* self);

// check_asked.c: what the server answers about itself
void check_asked(scenario* self);

// check_ends.c: the state at the end
void check_member(scenario* self, member* one);
void check_pairs(scenario* self);
void check_server(scenario* self);
