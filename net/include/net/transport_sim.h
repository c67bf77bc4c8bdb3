// SPDX-License-Identifier: MIT
/// A simulated network: many endpoints in one process, as net_transports. Time is what service is
/// given; the same seed and the same calls give the same datagrams.
#pragma once

#include "net/link.h"
#include "net/transport.h"

BASE_C_BEGIN

typedef struct net_sim net_sim;

/// Make a network without endpoints. `allocator` NULL: the heap. @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_sim_create(const base_allocator* allocator, uint64_t seed,
                                        net_sim** sim);
/// Destroy the network, after all its transports (asserted). NULL is allowed.
void net_sim_destroy(net_sim* sim);
/// Make the server's endpoint for at most `peers_max` connections; free it with ops->destroy.
/// @return NET_OK; NET_ERR_FULL (there is a server already, or peers_max is not
///         1..NET_CLIENTS_MAX); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_sim_server(net_sim* sim, uint32_t peers_max,
                                        net_transport** transport);
/// Divide the connections of a server's endpoint among `lanes` lanes, 1..NET_LANES_MAX (asserted).
/// It changes nothing that is sent. The network's allocator is used by all of them.
void net_sim_lanes_set(net_transport* server, uint32_t lanes);
/// Make a client's endpoint; free it with ops->destroy. Both directions use `link`, copied; connect
/// ignores its address. @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_sim_client(net_sim* sim, const net_link_config* link,
                                        net_transport** transport);
/// Change the link of a client's endpoint, for both directions from now on. Control messages know
/// loss, delay, jitter and outages; their losses do not come in bursts.
void net_sim_link_set(net_transport* client, const net_link_config* link);
/// The same for each direction: `up` is from the client to the server.
void net_sim_link_set_pair(net_transport* client, const net_link_pair* pair);
/// Set what the server learns of a client's endpoint, from now on. Without it each endpoint has an
/// address of its own in 198.18.0.0/15, and no player.
void net_sim_identity_set(net_transport* client, const net_peer_identity* identity);
/// A hash over all datagrams of the realtime channel, of each client in sending order: equal runs
/// have equal hashes.
uint64_t net_sim_datagram_hash(const net_sim* sim);

BASE_C_END
