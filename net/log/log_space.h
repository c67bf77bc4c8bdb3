// SPDX-License-Identifier: MIT
/// Where an entity is, how large and how it is turned: by the names that games give. The map of the
/// inspector and the scene of an export look here, so both show the same places.
#pragma once

#include "net/log.h"

/// Describe a component of a world: `fields` has room for those of its type. Names are borrowed
/// from the world.
net_log_component net_log_component_make(const ecs_world* world, ecs_component_id id,
                                         net_log_field* fields);

/// What numbers of a component say about its entity.
typedef enum net_log_role {
    NET_LOG_ROLE_PLACE,    ///< "pos", "position": 2 or 3 numbers
    NET_LOG_ROLE_EXTENT,   ///< "size", "scale", "radius": 1 to 3; "rectSize", "box_size": 2 or 3
    NET_LOG_ROLE_ROTATION, ///< "rotation", "orientation", "heading": an angle about z; angles about
                           ///< x, y, z, applied in this order; a quaternion of x, y, z, w. Radians
    NET_LOG_ROLES,
} net_log_role;

/// Numbers in a row: elements [first, first + count) of a component.
typedef struct net_log_numbers {
    uint32_t field; ///< that the first one is of
    uint32_t first, count;
    bool is_half; ///< "radius"
} net_log_numbers;

/// Find the numbers of a role by the name of a field, else by that of a component that has no
/// other numbers. They are real numbers. @return false: there are none.
bool net_log_numbers_find(const net_log_component* component, net_log_role role,
                          net_log_numbers* part);

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
