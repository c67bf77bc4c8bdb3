// SPDX-License-Identifier: MIT
/// Little-endian fields of datagrams with fixed places: the writer's half of base/bytes.h, without
/// memory of its own.
#pragma once

#include "net/address.h"

#include <string.h>

enum { NET_SECURE_ADDRESS_BYTES = 18 };

/// Where the next field goes. The caller knows that there is room.
typedef struct net_secure_cursor {
    uint8_t* at;
} net_secure_cursor;

static inline void net_secure_put(net_secure_cursor* to, const void* bytes, size_t size) {
    memcpy(to->at, bytes, size);
    to->at += size;
}

static inline void net_secure_put_number(net_secure_cursor* to, uint64_t value, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++)
        *to->at++ = (uint8_t)(value >> 8 * i);
}

static inline uint64_t net_secure_get_number(const uint8_t* at, uint32_t bytes) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

/// ip 16, port u16. A scope means nothing to others, so it does not travel.
static inline void net_secure_put_address(net_secure_cursor* to, const net_address* address) {
    net_secure_put(to, address->ip, sizeof address->ip);
    net_secure_put_number(to, address->port, 2);
}

static inline net_address net_secure_get_address(const uint8_t* at) {
    net_address address = {.port = (uint16_t)net_secure_get_number(at + 16, 2)};
    memcpy(address.ip, at, sizeof address.ip);
    return address;
}
