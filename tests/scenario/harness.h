// SPDX-License-Identifier: MIT
/// One match of the test game on the simulated network, in virtual time, checked at every step.
///
/// Everything follows from the seed: world, network, who joins and leaves when. The checks are the
/// promises of replication: each applied row is the server's row of that entity at that tick; ticks per
/// entity never fall; after the last change everyone's walk equals the server's; no ghost, no leaked
/// handle; reliable events once and in order.
#pragma once

#include "net/link.h"
#include "base/macros.h"

#define SCENARIO_CLIENTS_MAX 6u

typedef struct scenario_config {
    uint64_t seed;
    uint32_t clients;     ///< 1..SCENARIO_CLIENTS_MAX over the whole match
    uint32_t ticks;       ///< of the match; nothing changes in the last third
    net_link_config link; ///< of every client, both directions
    bool has_churn;       ///< joins and leaves in the middle
    uint32_t stop_tick;   ///< the operator ends the match here; 0: it runs to its end
    uint32_t dark_tick;  ///< from here on nothing reaches some clients or comes from them; 0: never
    uint32_t dark_ticks; ///< for so long: longer than a connection lasts
} scenario_config;

typedef struct scenario_result {
    bool is_passed;
    char failure[256]; ///< the first check that did not hold
    uint64_t datagram_hash;
    uint64_t state_hash;
    uint64_t updates; ///< applied by all clients
    uint64_t rows_checked;
    uint64_t datagrams_lost;
    uint32_t sessions;    ///< that played
    uint32_t resumes;     ///< connections that were regained
    uint32_t unreachable; ///< gave up greeting: allowed on a bad line, counted
} scenario_result;

/// A config drawn from a seed: up to 30 % loss, 300 ms delay, 100 ms jitter, 5 % duplicates and reorder.
scenario_config scenario_config_draw(uint64_t seed);
scenario_result scenario_run(const scenario_config* config);
