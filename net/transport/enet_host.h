// SPDX-License-Identifier: MIT
/// For tests and measurements: the host of an ENet transport.
#pragma once

#include "net/transport.h"

/// The ENetHost, of a server with lanes that of the first one. To be read only.
void* net_transport_enet_host(net_transport* transport);
