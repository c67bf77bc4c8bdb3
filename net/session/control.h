// SPDX-License-Identifier: MIT
/// The control channel: ServerControl and ClientControl messages, reliable and in order.
#pragma once

#include "net/transport.h"
#include "wire.pb-c.h"

/// A player's name as others see it: what may be shown of it (base/shown.h). Spaces of every
/// kind become one plain space between words. Cut to NET_PLAYER_NAME_BYTES_MAX - 1 bytes, "player"
/// when nothing is left. `requested` may be any bytes, NUL-terminated. A clean name stays as it is.
void net_control_clean_name(char name[NET_PLAYER_NAME_BYTES_MAX], const char* requested);

/// Encode a ServerControl or ClientControl. @return its size; 0 when it is longer than
/// NET_CONTROL_BYTES_MAX.
size_t net_control_encode(const ProtobufCMessage* message, uint8_t bytes[NET_CONTROL_BYTES_MAX]);
/// Encode a ServerControl or ClientControl and send it; *bytes is its encoded size.
/// @return what net_transport send returns; NET_ERR_FULL also when it is longer than
///         NET_CONTROL_BYTES_MAX (*bytes is 0 then).
net_result net_control_send(net_transport* transport, net_peer peer,
                            const ProtobufCMessage* message, size_t* bytes);
/// What a ServerControl or ClientControl contains: "hello", "welcome"... Static text.
const char* net_control_name(const ProtobufCMessage* message);
