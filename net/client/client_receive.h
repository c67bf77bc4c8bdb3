// SPDX-License-Identifier: MIT
/// What comes to a client.
#pragma once

#include "net/client.h"

/// An event of the transport.
void net_client_receive(net_client* client, const net_transport_event* event);
/// Deliver the game events whose targets exist by now.
void net_client_deliver_events(net_client* client);
