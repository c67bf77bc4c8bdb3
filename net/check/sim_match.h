// SPDX-License-Identifier: MIT
/// A whole match in one process: a server and its clients on the simulated network, in virtual
/// time. For logs of long matches within a minute, and to send again what a log's clients got.
///
/// A client connects and leaves between two ticks, over a line without delay, so the tick of its
/// join follows from the calls alone. From then on it has the line of the config. Everything is a
/// function of the config and of the calls: equal runs send equal datagrams.
///
/// Threads: one.
#pragma once

#include "net/log.h"
#include "net/match.h"
#include "net/server.h"
#include "net/transport.h"

typedef struct net_sim_match_config {
    const base_allocator* allocator; ///< NULL: the heap
    const net_module* module;        ///< of the clients' worlds; must outlive the match
    net_match* match;                ///< role SERVER, before its first tick; owned by the caller
    net_observer observer;           ///< what records the match: closed before this
    uint32_t clients_max;            ///< at a time, 1..NET_CLIENTS_MAX
    ecs_tick ticks_max;              ///< the server ends the match then; 0: never
    /// Line of every client; up.seed is the seed of the network, a client's own follows from it.
    net_link_pair link;
    const base_reporter* reporter; ///< of faults in the module; NULL: silent
    net_server_step_fn step;       ///< as in net_server_config
    void* step_context;
} net_sim_match_config;

typedef struct net_sim_match net_sim_match;

/// @return NET_OK; NET_ERR_SCHEMA (reported: the module's
///         interest rules name no such component, or a replicated component cannot be sent).
BASE_MUST_USE net_result net_sim_match_create(const net_sim_match_config* config,
                                              net_sim_match** match);
/// NULL does nothing.
void net_sim_match_destroy(net_sim_match* match);
/// Connect a client with this player, which joins in the next tick. Its number must be above all
/// before it (asserted). Its inputs are those of the module's bot; the bot's chance follows from
/// the seed of the match and the number.
/// @return NET_OK; NET_ERR_FULL (clients_max play); NET_ERR_REFUSED (the server took no such
///         client, or names it differently); NET_ERR_SCHEMA (reported).
BASE_MUST_USE net_result net_sim_match_join(net_sim_match* match, const net_game_player* player);
/// The client says goodbye and leaves the match in the next tick. Without such a client nothing
/// happens.
void net_sim_match_leave(net_sim_match* match, uint32_t client);
/// Run one tick: time passes, the server ticks, then its clients.
void net_sim_match_step(net_sim_match* match);
/// Borrowed.
const net_server* net_sim_match_server(const net_sim_match* match);
/// The tick of the server's match, and the entities in its world.
ecs_tick net_sim_match_tick(const net_sim_match* match);
uint32_t net_sim_match_entities(const net_sim_match* match);
/// The world of a client as it mirrors the server's; NULL when it is not connected. Borrowed until
/// it leaves.
net_match* net_sim_match_mirror(net_sim_match* match, uint32_t client);
/// Newest tick that a client has; 0 before the first.
ecs_tick net_sim_match_mirror_tick(const net_sim_match* match, uint32_t client);

typedef struct net_sim_match_sent {
    uint64_t datagrams, bytes; ///< of server and clients, control messages too
    uint64_t lost;             ///< datagrams
    uint64_t hash;             ///< net_sim_datagram_hash
} net_sim_match_sent;
/// So far, of all that ever connected.
net_sim_match_sent net_sim_match_get_sent(const net_sim_match* match);

/// How a log is sent again.
typedef struct net_log_resend_config {
    net_link_pair link; ///< as in net_sim_match_config
    uint32_t client;    ///< connect only this one; 0: all
    ecs_tick until;     ///< stop after this tick; 0: run to the log's end, and say goodbye
} net_log_resend_config;

typedef struct net_log_resend_result {
    ecs_tick ticks; ///< of the log that were run
    net_sim_match_sent sent;
    /// The first tick in which the clients here sent something else than the log has; 0: none. Then
    /// this was not the match on this network and the datagrams are not those of the log's match.
    ecs_tick differs_tick;
    ecs_tick diverged_tick; ///< the first whose state_hash is not the log's; 0: none
    uint32_t clients;       ///< that were connected
} net_log_resend_result;

/// Called after each tick. @return false to stop.
typedef bool (*net_log_resend_fn)(void* context, net_sim_match* match);

/// Run the match of a log again and send it to clients over the simulated network. Joins, leaves,
/// events and inputs reach the match from the log. Each client is the module's bot: of a log that
/// net_sim_match made, with the same link, it sends what it had sent, so that all datagrams come
/// out again. Opens the log's file a second time. `each` may be NULL.
/// @return NET_OK; NET_ERR_DIVERGED; NET_ERR_UNKNOWN (the log has no such client; or reported:
///         it does not begin with tick 1); as
///         net_log_replay_create and net_sim_match_join.
BASE_MUST_USE net_result net_log_resend(net_log_reader* reader, const net_module* module,
                                        const net_log_resend_config* config, net_log_resend_fn each,
                                        void* context, const base_reporter* reporter,
                                        net_log_resend_result* result);
