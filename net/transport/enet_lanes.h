// SPDX-License-Identifier: MIT
/// A server of several ENet hosts behind one socket.
#pragma once

#include "transport/enet_peers.h"
