// SPDX-License-Identifier: MIT
/// A virtual clock, and a wire between the sockets of this process, in the place of the kernel. The
/// clock is still until a test advances it, so a run is a function of its seed.
#pragma once

#include "transport/socket_state.h"

/// Switch to a virtual clock (microseconds, from 0) and a virtual wire, or back to the kernel's.
/// Closes all virtual sockets.
void wire_set(bool is_virtual, uint64_t seed);
/// Set the virtual clock; it never goes back (asserted).
void wire_advance(uint64_t now_us);
/// A hash over all datagrams that sockets sent since wire_set: time, ports, bytes.
uint64_t wire_hash_get(void);
/// The port of a virtual socket; 0: it has sent nothing and is not bound.
uint16_t wire_port(int descriptor);
/// A virtual socket gets another port. @return true.
bool wire_rebind(int descriptor);
/// Put a datagram of any size, 0 included, on the wire as if it came from there. @return false when
/// no socket is bound to `to_port`.
bool wire_inject_from(const net_address* from, uint16_t to_port, const void* bytes, size_t size);
/// The same from an address of IPv4; `from_host` in network order.
bool wire_inject(uint32_t from_host, uint16_t from_port, uint16_t to_port, const void* bytes,
                 size_t size);
/// Put a network of its own under one socket, virtual or not, until it is closed or the link of all
/// changes. When it has one, only the configs change: datagrams on their way still arrive.
void wire_link_set_one(int descriptor, const net_link_pair* pair);
/// Has an open socket a guard?
bool wire_is_guarded(int descriptor);
