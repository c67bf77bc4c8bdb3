// SPDX-License-Identifier: MIT
/// Variable-size components of a client.
#pragma once

#include "net/client.h"
#include "wire.pb-c.h"

/// Begin, after the mirror was made. @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_client_open_varsize(net_client* client, uint32_t index_max);
/// A value came.
void net_client_receive_varsize(net_client* client, const Shoal__Wire__VarsizeValue* value);
/// Acknowledge the values that came since the last call.
void net_client_ack_varsize(net_client* client);
