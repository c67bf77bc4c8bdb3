// SPDX-License-Identifier: MIT
/// A module's rules bound to a world (components instead of names), and the values that they name
/// of one entity.
#pragma once

#include "net/game.h"
#include "net/result.h"

typedef struct net_bound_rules {
    ecs_component_id position, always, owner, team, groups, together; ///< NONE: not named
    uint32_t dimensions;                                              ///< of position
    uint32_t team_bytes;
    float radius;
    net_relevance (*relevance)(const net_interest_question* question);
    uint32_t (*classes)(const net_interest_question* question);
} net_bound_rules;

/// Bind the names. `rules` NULL: nothing is named.
/// @return NET_OK; NET_ERR_SCHEMA (each fault is reported: a name without a component, a type that
/// does not fit, a component that a replicated template does not track, a radius without a
/// position).
BASE_MUST_USE net_result net_bound_rules_bind(const ecs_world* world,
                                              const net_interest_rules* rules,
                                              const base_reporter* reporter,
                                              net_bound_rules* bound);

/// What the rules name of one entity, except its position.
typedef struct net_interest_facts {
    uint64_t groups;
    uint32_t owner, team, together; ///< 0: none
    bool has_position;              ///< and the rules have a radius: distance decides
    bool has_groups;                ///< the component, whatever its value
    bool is_always;
} net_interest_facts;

/// Read the values of a living entity. `at` is set when it has a position.
void net_interest_facts_read(const net_bound_rules* rules, const ecs_world* world,
                             ecs_entity entity, net_interest_facts* facts, float at[3]);
/// The position alone; false when the entity does not live or has none.
bool net_interest_position_read(const net_bound_rules* rules, const ecs_world* world,
                                ecs_entity entity, float at[3]);
uint32_t net_interest_team_read(const net_bound_rules* rules, const ecs_world* world,
                                ecs_entity entity);

/// Is it in sight of every client, at any place?
static inline bool net_interest_is_loose(const net_interest_facts* facts) {
    return facts->is_always || (!facts->has_position && !facts->has_groups);
}
