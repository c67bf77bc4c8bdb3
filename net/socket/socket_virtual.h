// SPDX-License-Identifier: MIT
/// For tests: a virtual clock and a virtual wire between the sockets of this process, instead of the kernel's.
#pragma once

#include "net/socket.h"

/// The clock that ENet sees: CLOCK_MONOTONIC, of which a stall counts at most 250 ms per pump, so that a
/// process that was stopped does not drop everybody when it goes on.
///
/// Tests: a virtual clock (microseconds) and a virtual wire between sockets of this process instead of
/// the kernel. NULL config of the link: perfect. Returns to the real one with `is_virtual` false.
void net_socket_virtual_set(bool is_virtual, uint64_t seed);
void net_socket_virtual_advance(uint64_t now_us);
/// Put a datagram of any size, 0 included, on the virtual wire as if it came from `from_host` (network
/// order) and `from_port`: strangers and forgers. @return false when nobody is bound to `to_port`.
bool net_socket_virtual_inject(uint32_t from_host, uint16_t from_port, uint16_t to_port,
                               const void* bytes, size_t size);
