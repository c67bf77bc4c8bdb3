// SPDX-License-Identifier: MIT
// "HOST:PORT" to IPv4 and back.
#pragma once

#include "net/result.h"

typedef struct net_address {
    uint32_t host; // network order
    uint16_t port; // host order
} net_address;

// Resolves names (may wait for DNS). NET_ERR_ADDRESS when it is not HOST:PORT or has no IPv4
// address.
BASE_MUST_USE net_result net_address_parse(const char* text, net_address* address);
bool net_address_is_loopback(net_address address);
// "127.0.0.1:40001". false when it was cut.
bool net_address_print(net_address address, char* text, size_t text_bytes);
