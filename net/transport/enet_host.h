// SPDX-License-Identifier: MIT
// For tests and measurements: what lies behind a transport.
#pragma once

#include "net/transport.h"

// The ENetHost; read it, do not change it.
void* net_transport_enet_host(net_transport* transport);
