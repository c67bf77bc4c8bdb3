// SPDX-License-Identifier: MIT
/// A simulated network, as net_transports: many endpoints in one process, one seed, one virtual clock.
#pragma once

#include "net/link.h"
#include "net/transport.h"

typedef struct net_sim net_sim;

BASE_MUST_USE net_result net_sim_create(const base_allocator* allocator, uint64_t seed,
                                        net_sim** sim);
void net_sim_destroy(net_sim* sim); ///< after its transports
/// The server's endpoint; one per sim.
BASE_MUST_USE net_result net_sim_server(net_sim* sim, uint32_t peers_max,
                                        net_transport** transport);
/// A client's endpoint with its own link (both directions use `link`; address is ignored in connect).
BASE_MUST_USE net_result net_sim_client(net_sim* sim, const net_link_config* link,
                                        net_transport** transport);
/// Change a client's link while it runs (blackouts, quiet at the end).
void net_sim_link_set(net_transport* client, const net_link_config* link);
/// XXH3 over every datagram of the realtime channel in sending order: same seed, same number.
uint64_t net_sim_datagram_hash(const net_sim* sim);
