// SPDX-License-Identifier: MIT
/// The client's end of the control channel.
#pragma once

#include "net/client.h"

/// The connection is made: send the hello, as a new client or as one that resumes.
void net_client_greet(net_client* client);
/// A control message came.
void net_client_receive_control(net_client* client, const uint8_t* bytes, size_t size);
