// SPDX-License-Identifier: MIT
/// A server of several ENet hosts behind one socket.
#pragma once

#include "transport/enet_peers.h"

/// Make one of config->lanes hosts, at least 2. @return as net_transport_enet_create.
BASE_MUST_USE net_result net_enet_lanes_create(const net_enet_config* config,
                                               net_transport** transport);
/// The outer layer of such a server; NULL: it is another transport.
const net_enet_secure* net_enet_lanes_trunk(const net_transport* transport);
/// Its first host; NULL: it is another transport.
net_enet_transport* net_enet_lanes_first(net_transport* transport);
/// See net_transport_enet_due.
void net_enet_lanes_due(net_transport* transport, uint64_t due_us);
