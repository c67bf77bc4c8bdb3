// SPDX-License-Identifier: MIT
/// Names of players that differ: "Ada" and "ada" are one name for a reader.
#pragma once

#include "net/limits.h"

#include <stdbool.h>
#include <stdint.h>

#define NET_NAMES_MAX (NET_CLIENTS_MAX + 64u) ///< other players that are compared

/// What a clean name is compared by. Equal names, the case of ASCII letters apart, have equal keys.
typedef struct net_name_key {
    uint64_t stem;   ///< hash of the name without its number
    uint32_t number; ///< 1: it has none; 0: the key of no name
} net_name_key;

/// Change a clean name that another player has: "Ada" becomes "Ada (2)", or the first free
/// number. A long name is cut to make room for the number. `others` are `count` keys, at most
/// NET_NAMES_MAX (asserted); each is compared once or twice.
/// @return The key of the name as it is then.
net_name_key net_name_distinguish(char name[NET_PLAYER_NAME_BYTES_MAX], const net_name_key* others,
                                  uint32_t count);
