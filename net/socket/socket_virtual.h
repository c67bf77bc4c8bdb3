// SPDX-License-Identifier: MIT
/// For tests: a virtual clock and a virtual wire between the sockets of this process, instead of
/// the kernel's.
#pragma once

#include "net/socket.h"

/// Switch to a virtual clock (microseconds, from 0) and a virtual wire, or back to the kernel's.
/// Closes all virtual sockets.
void net_socket_virtual_set(bool is_virtual, uint64_t seed);
/// Set the virtual clock; it never goes back (asserted).
void net_socket_virtual_advance(uint64_t now_us);
/// A hash over all datagrams that sockets sent since net_socket_virtual_set: time, ports, bytes.
uint64_t net_socket_virtual_hash(void);
/// Put a datagram of any size, 0 included, on the virtual wire as if it came from `from_host`
/// (network order) and `from_port`. @return false when no socket is bound to `to_port`.
bool net_socket_virtual_inject(uint32_t from_host, uint16_t from_port, uint16_t to_port,
                               const void* bytes, size_t size);
/// The same from an address of either family.
bool net_socket_virtual_inject_from(const net_address* from, uint16_t to_port, const void* bytes,
                                    size_t size);
