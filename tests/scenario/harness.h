// SPDX-License-Identifier: MIT
/// One match of the test game on the simulated network, in virtual time, checked at every step.
///
/// Everything follows from the seed: world, rules of interest, network, budget, when clients join
/// and leave, where numbers begin. The checks are the promises of replication; README.md lists
/// them.
#pragma once

#include "base/macros.h"
#include "net/transport.h"

#define SCENARIO_CLIENTS_MAX 6u
#define SCENARIO_SPECTATORS_MAX 2u

typedef enum scenario_way { SCENARIO_BOTH_WAYS, SCENARIO_UP, SCENARIO_DOWN } scenario_way;

typedef struct scenario_config {
    uint64_t seed;
    uint32_t clients;     ///< 1..SCENARIO_CLIENTS_MAX over the whole match
    uint32_t ticks;       ///< length of the match
    uint32_t quiet_ticks; ///< from this tick on nothing changes
    net_link_config link; ///< line of every client
    scenario_way way;     ///< the directions in which it loses
    bool has_churn;       ///< joins and leaves in the middle
    uint32_t stop_tick;   ///< the operator ends the match here; 0: it runs to its end
    uint32_t cut_tick;    ///< from this tick on the line of some clients is cut; 0: never
    uint32_t cut_ticks;   ///< length of the cut: longer than a connection lasts

    bool is_wild;   ///< with owners, teams, groups, kin, hidden values, texts
    uint32_t rules; ///< rules of interest, SWARM_RADIUS...; 0: all clients see everything
    /// Which clients see the vault: 0 none, 1 all, 2 only client 1, which gets nothing else.
    uint32_t grants;
    uint32_t load;     ///< 0: some entities move; 1: all move; 2: all move and change
    uint32_t rate_max; ///< bytes per client and second; 0: the server's default
    uint32_t send_divisor;
    bool has_accounts;
    uint16_t seq_first;    ///< first seq of state packets
    uint64_t tick_zero;    ///< ticks begin after this
    uint32_t corrupt_tick; ///< in this tick the first client's world is corrupted; 0: never

    bool has_worlds; ///< worlds_hash is wanted

    uint32_t spectators;       ///< clients that would watch, besides
    uint32_t spectator_places; ///< that the server has for them; 0: all are refused

    // Variations of the same match that must not change what is sent.
    bool is_threaded;
    uint32_t lanes;   ///< 0: one
    uint32_t threads; ///< of all worlds, eager (base/workers.h); 0: the calling thread alone
    bool is_solo;
    bool has_solo;        ///< every second client gets solo code: other datagrams
    uint32_t stall_ticks; ///< clients stand still now and then, for at most so long; 0: never
    bool is_asked;        ///< the server is asked about itself (net/explain.h)
    bool is_salted;       ///< values that no client may see are different
} scenario_config;

/// What a run saw, so that a check that saw nothing is known.
typedef struct scenario_counts {
    uint64_t sessions; ///< that played
    uint64_t updates;  ///< applied by all clients
    uint64_t rows_checked;
    uint64_t rows_hidden; ///< of these, rows with a value that the client may not see
    uint64_t datagrams_lost;
    uint64_t unreachable; ///< clients that could not connect: allowed on a bad line
    uint64_t unheard;     ///< clients that missed the goodbye: allowed on a bad line
    uint64_t resumes;     ///< sessions that were resumed
    uint64_t records_checked, scopes_checked;
    uint64_t kin_checked;   ///< groups that were seen as a whole
    uint64_t texts_checked; ///< variable-size values
    uint64_t resyncs, bandwidth_bits;
    uint64_t secrets;    ///< worlds whose hidden values really differed
    uint64_t solo;       ///< packets that clients read in solo code
    uint64_t spectators; ///< of the sessions
    uint64_t explained;  ///< answers of net_server_explain
    uint64_t ledgers;    ///< answers of net_server_ledger with lines
    uint64_t values;     ///< of components in packets that were taken apart
} scenario_counts;

typedef struct scenario_result {
    bool is_passed;
    char failure[256]; ///< the first check that did not hold
    uint64_t datagram_hash;
    uint64_t others_hash;  ///< of the datagrams to all clients except the first
    uint64_t players_hash; ///< of the datagrams to all but spectators, until the end
    uint64_t state_hash;
    uint64_t worlds_hash; ///< with has_worlds: of all values of all worlds, tick after tick
    uint64_t starved_ticks_max;
    scenario_counts counts;
} scenario_result;

/// A config drawn from a seed: up to 30 % loss, 300 ms delay, 100 ms jitter, 5 % duplicates and
/// reorder.
scenario_config scenario_config_draw(uint64_t seed);
scenario_result scenario_run(const scenario_config* config);
/// With is_salted, values that no client may see differ, or values that only client 1 may see.
/// Compare two runs.
void scenario_config_hide(scenario_config* config, bool is_from_others);
