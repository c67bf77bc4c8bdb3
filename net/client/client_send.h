// SPDX-License-Identifier: MIT
/// What a client sends on the realtime channel.
#pragma once

#include "net/client.h"

/// Make the input of this client tick. The player must be known.
void net_client_make_input(net_client* client);
/// Send one packet: the newest inputs, acknowledgements, events, resync requests.
void net_client_send_inputs(net_client* client);
