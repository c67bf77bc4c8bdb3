// SPDX-License-Identifier: MIT
/// Who sees what: a module's rules, by the names of components.
///
/// An entity is in a client's scope when it is always relevant, the client's own, in one of its groups, within
/// sight of its viewpoint, or together with one that is; the module's `relevance` has the last word. Within
/// the scope a component is visible by its class (`_visible:t="team"` in the datablock): public to
/// everybody, owner to the owner, team to clients of the same team, other classes to whom `classes` says.
/// A component that is not visible has its template's default on the client.
/// What is near enough comes into scope at once when it is created and within NET_INTEREST_EVERY_TICKS
/// otherwise; it leaves beyond NET_INTEREST_LEAVE times the radius, not before NET_INTEREST_STAY_MS.
#pragma once

#include "ecs/ecs.h"

#define NET_INTEREST_EVERY_TICKS 4u ///< a client's scope is found anew so often
#define NET_INTEREST_LEAVE 1.15f
#define NET_INTEREST_STAY_MS 1000u
#define NET_CLASSES_MAX 16u ///< public, owner, team and 13 others, by name

enum { NET_CLASS_PUBLIC, NET_CLASS_OWNER, NET_CLASS_TEAM };

typedef enum net_relevance {
    NET_RELEVANT_BY_RULES,
    NET_RELEVANT_ALWAYS,
    NET_RELEVANT_NEVER, ///< also what is the client's own
} net_relevance;

/// What a module's callback is asked. Only for reading.
typedef struct net_interest_question {
    uint32_t size_bytes;
    ecs_world* world;
    void* context;      ///< what register_systems returned
    uint32_t client;
    ecs_entity player;  ///< of the client; NONE for a spectator
    ecs_entity entity;
} net_interest_question;

/// Components are named; NULL: there is no such thing in this game. They need not be replicated.
typedef struct net_interest_rules {
    uint32_t size_bytes;
    const char* position; ///< p2 or p3, or a struct that begins with 2 or 3 floats
    float radius;         ///< of sight, in its units; 0: no entity is out of sight
    const char* always;   ///< a tag: everybody sees it
    const char* owner;    ///< i or u32: the client whose it is, wherever it is; four times as urgent
    const char* team;     ///< i, u8, u16 or u32; 0: none. A client's team is its player's
    const char* groups;   ///< u64: seen by clients whose mask (services->set_groups) has a common bit
    const char* together; ///< i or u32, not 0: entities with equal numbers are seen together, at one tick
    net_relevance (*relevance)(const net_interest_question* question);
    /// More classes (bits, by the number of net_interest_class) that this client may see of this entity.
    uint32_t (*classes)(const net_interest_question* question);
} net_interest_rules;
