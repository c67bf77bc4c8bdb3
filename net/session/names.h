// SPDX-License-Identifier: MIT
/// Names of players that differ: "Ada" and "ada" are one name for a reader.
#pragma once

#include "net/limits.h"

#include <stdbool.h>
#include <stdint.h>

#define NET_NAMES_MAX (NET_CLIENTS_MAX + 64u) ///< other players that are compared

/// @return The clean name of another player, by place; NULL: there is none at this place.
typedef const char* (*net_name_fn)(void* context, uint32_t place);

/// Are the names equal, the case of ASCII letters apart?
bool net_name_is_equal(const char* a, const char* b);
/// Change a clean name that another player has: "Ada" becomes "Ada (2)", or the first free
/// number. A long name is cut to make room for the number. `count` places are asked, at most
/// NET_NAMES_MAX (asserted). Costs one comparison or two per place.
void net_name_distinguish(char name[NET_PLAYER_NAME_BYTES_MAX], uint32_t count, net_name_fn other,
                          void* context);
