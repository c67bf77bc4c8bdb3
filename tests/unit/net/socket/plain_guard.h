// SPDX-License-Identifier: MIT
// A guard without secrets: it gives every address of the wire a number, which ENet sees as the host
// 10.0.0.NUMBER, and turns over the bytes, so that a datagram past the guard would be noticed.
#pragma once

#include "net/socket.h"
#include "net/transport.h"

#include "test.h"

#include <arpa/inet.h>
#include <string.h>

enum { PLAIN_ADDRESSES_MAX = 16, PLAIN_MARK = 0x5A, PLAIN_PORT = 7 };

typedef struct plain_guard {
    net_address known[PLAIN_ADDRESSES_MAX];
    uint32_t count;
    uint32_t refused;    // datagrams without the mark
    uint16_t generation; // of the sessions that begin now: ENet sees it in the port
} plain_guard;

static inline uint32_t plain_number(plain_guard* guard, const net_address* address) {
    for (uint32_t i = 0; i < guard->count; i++)
        if (net_address_equal(&guard->known[i], address)) return i;
    assert_in_range(guard->count, 0, PLAIN_ADDRESSES_MAX - 1);
    guard->known[guard->count] = *address;
    return guard->count++;
}

static inline size_t plain_receive(void* context, uint64_t now_us, const net_address* from,
                                   uint8_t* bytes, size_t size, const uint8_t** inner,
                                   uint32_t* host, uint16_t* port) {
    (void)now_us;
    plain_guard* guard = context;
    if (size < 2 || bytes[0] != PLAIN_MARK) {
        guard->refused++;
        return 0;
    }
    for (size_t i = 1; i < size; i++)
        bytes[i] ^= 0xFF;
    *inner = bytes + 1;
    *host = htonl(0x0A000000 + plain_number(guard, from));
    *port = (uint16_t)(PLAIN_PORT + guard->generation);
    return size - 1;
}

static inline size_t plain_send(void* context, uint64_t now_us, uint32_t host, uint16_t port,
                                const uint8_t* bytes, size_t size, uint8_t* out, net_address* to) {
    (void)now_us;
    const plain_guard* guard = context;
    uint32_t number = ntohl(host) - 0x0A000000;
    if (number >= guard->count || port < PLAIN_PORT || size + 1 > NET_SOCKET_OUTER_BYTES_MAX)
        return 0;
    *to = guard->known[number];
    out[0] = PLAIN_MARK;
    for (size_t i = 0; i < size; i++)
        out[i + 1] = bytes[i] ^ 0xFF;
    return size + 1;
}

static inline void plain_guard_set(plain_guard* guard, int descriptor) {
    memset(guard, 0, sizeof *guard);
    net_socket_guard made = {.context = guard, .receive = plain_receive, .send = plain_send};
    net_socket_guard_set(descriptor, &made);
}
