// SPDX-License-Identifier: MIT
/// The datagrams of each kind of flood.
#pragma once

#include "base/rng.h"
#include "net/address.h"
#include "secure/secure_client.h"

#include <stddef.h>
#include <stdint.h>

#define FLOOD_BYTES_MAX 8192u

typedef struct flood_kind flood_kind;

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
};

/// Prepare a kind. Kinds that need a session connect to the server first.
/// @return false when no kind has this name, or no session could be had.
bool flood_kind_init(flood_kind* kind, const char* name, const net_address* target);
/// The names, separated by blanks.
const char* flood_kind_names(void);

static inline size_t flood_make(flood_kind* kind, uint8_t bytes[FLOOD_BYTES_MAX]) {
    return kind->make(kind, bytes);
}
