// SPDX-License-Identifier: MIT
/// WIRE.md, "Outer layer": the handshake with the built-in key, and the datagrams of a session.
#pragma once

#include <enet/enet.h>

#include <stdbool.h>
#include <stdint.h>

/// Get a session from a server on this machine, with the socket that ENet uses later.
/// @return false when nothing answers for five seconds.
bool outer_connect(ENetSocket socket, const ENetAddress* server);
/// Who gets the packets of the realtime channel.
typedef void (*outer_packet_fn)(void* context, const uint8_t* bytes, size_t size);
void outer_set_packet(outer_packet_fn packet, void* context);
void outer_send_packet(ENetSocket socket, const uint8_t* bytes, size_t size);
/// Has the server closed the session? ENet does not learn it.
bool outer_is_closed(void);
/// The lines of VECTORS.md, in their order, from `sealed` to `first_data`. @return false: this
/// client has or makes other bytes.
bool outer_check(const char* name, uint8_t* bytes, size_t size);
