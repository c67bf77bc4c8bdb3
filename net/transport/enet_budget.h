// SPDX-License-Identifier: MIT
/// The wall-clock time of one service of an ENet transport.
#pragma once

#include "transport/enet_peers.h"

/// After the host is made.
void net_enet_budget_init(net_enet_transport* owner, const net_enet_config* config);
/// When a service that begins now has to end, in microseconds of wall_us.
uint64_t net_enet_budget_until(const net_enet_transport* owner);
/// A service begins.
void net_enet_budget_begin(net_enet_transport* owner, uint64_t until_us);
/// Asked before each call of ENet. @return true: nothing more is read or handed out in this
/// service.
bool net_enet_budget_is_over(net_enet_transport* owner);
