// SPDX-License-Identifier: MIT
/// The page's WebSocket connection as a net_transport of a client (proto/WIRE.md, "WebSocket").
#pragma once

#include "net/transport.h"

/// A packet is not given to a browser that still holds so many bytes: it counts as lost.
#define WEB_WAITING_BYTES_MAX NET_STATE_BYTES_MAX

/// `token` has NET_TOKEN_TEXT_BYTES: the text of a token, or nothing. It is shown with each
/// connection, and replaced by the one that the server gives. `later` has as many: the one that it
/// gives for later matches. Both are borrowed.
net_transport* web_socket_create(char* token, char* later);
/// The connection is open, a message came, or it is closed with this reason; events of another one
/// must not come.
void web_socket_opened(net_transport* transport);
void web_socket_received(net_transport* transport, const uint8_t* bytes, size_t size);
void web_socket_closed(net_transport* transport, uint32_t reason);
