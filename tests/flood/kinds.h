// SPDX-License-Identifier: MIT
/// The datagrams of each kind of flood.
#pragma once

#include "base/rng.h"
#include "net/token.h"
#include "secure/secure_client.h"

#include <stddef.h>
#include <stdint.h>

#define FLOOD_BYTES_MAX 8192u
#define FLOOD_SOCKETS 64u

typedef struct flood_kind flood_kind;

/// What a socket of the flood knows: a cookie counts for one address and port.
typedef struct flood_socket {
    net_secure_client client;
    uint64_t asked_us;                       ///< when it began its attempt; 0: never
    uint8_t response[NET_OUTER_HELLO_BYTES]; ///< its answer to the last challenge
    uint8_t close[NET_OUTER_CLOSE_BYTES];
    size_t close_size; ///< not 0: the session that the response began is still to be closed
    uint32_t made;
} flood_socket;

/// Write one datagram. @return its size.
typedef size_t (*flood_make_fn)(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]);

struct flood_kind {
    flood_make_fn make;
    base_rng rng;
    net_address target;
    net_token token;
    uint8_t request[NET_OUTER_HELLO_BYTES];
    net_secure_client client; ///< of kinds that know a session
    uint8_t recorded[256];    ///< a datagram of that session
    size_t recorded_size;
    flood_socket sockets[FLOOD_SOCKETS];
    flood_socket* at; ///< the one whose datagrams are made or taken now
};

/// Prepare a kind. Kinds that need a session connect to the server first.
/// @return false when no kind has this name, or no session could be had.
bool flood_kind_init(flood_kind* kind, const char* name, const net_address* target);
/// The names, separated by blanks.
const char* flood_kind_names(void);

/// Take an answer to the socket `at`.
void flood_take(flood_kind* kind, uint8_t* bytes, size_t size);

static inline size_t flood_make(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]) {
    return kind->make(kind, bytes);
}
