// SPDX-License-Identifier: MIT
/// One match of the test game on the simulated network, in virtual time, checked at every step.
///
/// Everything follows from the seed: world, rules of interest, network, budget, who joins and leaves when, where
/// numbers begin. The checks are the promises of replication; README.md lists them.
#pragma once

#include "base/macros.h"
#include "net/link.h"

#define SCENARIO_CLIENTS_MAX 6u

typedef struct scenario_config {
    uint64_t seed;
    uint32_t clients;     ///< 1..SCENARIO_CLIENTS_MAX over the whole match
    uint32_t ticks;       ///< of the match
    uint32_t quiet_ticks; ///< from here on nothing changes
    net_link_config link; ///< of every client, both directions
    bool has_churn;       ///< joins and leaves in the middle
    uint32_t stop_tick;   ///< the operator ends the match here; 0: it runs to its end
    uint32_t dark_tick;  ///< from here on nothing reaches some clients or comes from them; 0: never
    uint32_t dark_ticks; ///< for so long: longer than a connection lasts

    bool is_wild;   ///< owners, teams, groups, kin, hidden values, texts
    uint32_t rules; ///< of interest: SWARM_RADIUS...; 0: everybody sees everything
    uint32_t
        grants; ///< who sees the vault: 0 nobody, 1 anybody, 2 client 1 alone, whom nothing else hears
    uint32_t load;     ///< 0: some move; 1: all; 2: and change
    uint32_t rate_max; ///< bytes per client and second; 0: the server's default
    uint32_t send_divisor;
    bool has_bandwidth;
    uint16_t seq_first;   ///< of state packets
    uint64_t tick_zero;   ///< ticks begin after this
    uint32_t vandal_tick; ///< somebody writes into the first client's world; 0: nobody does

    // The same match otherwise; what is sent may not depend on it.
    bool is_threaded;
    bool is_solo;
    bool is_salted; ///< values that nobody may see are others
} scenario_config;

typedef struct scenario_result {
    bool is_passed;
    char failure[256]; ///< the first check that did not hold
    uint64_t datagram_hash;
    uint64_t others_hash; ///< of the datagrams to clients but the first, while the match runs
    uint64_t state_hash;
    uint64_t updates; ///< applied by all clients
    uint64_t rows_checked;
    uint64_t rows_hidden; ///< of those, with something in them that the client may not see
    uint64_t datagrams_lost;
    uint64_t varsize_checked; ///< texts compared
    uint64_t kin_checked;     ///< groups seen as a whole
    uint64_t interest_checked, records_checked, resyncs, bandwidth_bits, starved_ticks_max;
    uint32_t secrets;     ///< worlds that really differed in what is hidden
    uint32_t sessions;    ///< that played
    uint32_t resumes;     ///< connections that were regained
    uint32_t unheard;     ///< who did not hear the goodbye: the same
    uint32_t unreachable; ///< gave up greeting: allowed on a bad line, counted
} scenario_result;

/// A config drawn from a seed: up to 30 % loss, 300 ms delay, 100 ms jitter, 5 % duplicates and reorder.
scenario_config scenario_config_draw(uint64_t seed);
scenario_result scenario_run(const scenario_config* config);
/// Nothing that anybody may see differs, or nothing that anybody but client 1 may: run it again with is_salted.
void scenario_config_hide(scenario_config* config, bool is_from_others);
