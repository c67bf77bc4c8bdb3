// SPDX-License-Identifier: MIT
/// Values as JSON has them, and where entities are.
#pragma once

#include "net/log.h"
#include "net/match.h"

#define NET_LOG_NUMBER_BYTES 40u
/// Write a number as JSON has it: the shortest decimals that give the same bits; null for what JSON
/// has no number for; entities and numbers of more than 53 bits as text with quotes.
void net_log_number_text(const ecs_number* value, char text[NET_LOG_NUMBER_BYTES]);

// ---- where an entity is ----

// By the names that games give. The map of the inspector and an export look here, so both show the
// same places.

/// Describe a component of a world: `fields` has room for those of its type. Names are borrowed
/// from the world.
net_log_component net_log_component_make(const ecs_world* world, ecs_component_id id,
                                         net_log_field* fields);

/// Numbers in a row: elements [first, first + count) of a component.
typedef struct net_log_numbers {
    uint32_t field; ///< that the first one is of
    uint32_t first, count;
} net_log_numbers;

/// Where entities are: the best of the components that were added. Zeroed at the start.
typedef struct net_log_where {
    uint32_t component; ///< its id
    net_log_numbers part;
    uint32_t rank; ///< 0: none so far
} net_log_where;
#define NET_LOG_WHERE_NAMED 2u ///< a rank that only the component of the rule surpasses

/// Take a component when it is a better place than those before: that of the game's rules (`rule`;
/// NULL: "pos"), else one with the name of a place, else one of 2 or 3 real numbers that
/// `is_replicated` and has no angle. @return is it a place, taken or not?
bool net_log_where_add(net_log_where* place, const net_log_component* component, const char* rule,
                       bool is_replicated);
