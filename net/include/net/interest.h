// SPDX-License-Identifier: MIT
/// Who sees what: a module's rules, by the names of components.
///
/// A replicated entity is in a client's scope when any of these holds:
///   - everybody sees it: it has the tag `always`, or nothing decides about it (no position that a radius is
///     asked of, no groups);
///   - it is the client's own: its `owner` is the client's number, or it is the client's player;
///   - its `groups` and the client's have a common bit (an entity with groups and without a position is
///     seen by nobody else);
///   - its position is within the radius of where the client looks from;
///   - it travels together with one that is in the scope.
/// Then the module's `relevance` has the last word. Within the scope a component is visible by its class
/// (`_visible:t="team"` in the datablock): public to everybody, owner to the owner, team to clients whose
/// player has the same team, other classes to whom `classes` says. A component that is not visible has its
/// template's default on the client, who is told nothing of classes.
///
/// Where a client looks from is its player's position, or services->set_viewpoint. When the player is gone it
/// looks on from where that was, with the team that it had. A client who never had either sees nothing by
/// distance: a spectator needs a viewpoint.
///
/// A client's scope is found anew every NET_INTEREST_EVERY_TICKS ticks, and when the module asks for it. What
/// is created within sight is seen at once. What is in scope by distance leaves beyond NET_INTEREST_LEAVE
/// times the radius and not before NET_INTEREST_STAY_MS - but at once when it changed owner, team, groups or
/// company, when the client's groups changed, or when `relevance` says so. What is named must be tracked
/// (`_track`) in all replicated templates that have it; it need not be replicated.
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
    NET_RELEVANT_NEVER, ///< not even what is the client's own; brings nothing along that travels with it
} net_relevance;

/// What a module's callback is asked, on the thread that owns the world, between two ticks. Only for reading,
/// and without memory of its own: who is asked about, and how often, is nobody's promise. Asked is about what
/// the rules show, what lies within NET_INTEREST_LEAVE times the radius, and what travels with either; with
/// callbacks every client's every turn is taken.
typedef struct net_interest_question {
    uint32_t size_bytes;
    ecs_world* world;
    void* context; ///< what register_systems returned
    uint32_t client;
    ecs_entity player; ///< of the client; NONE for a spectator
    ecs_entity entity;
} net_interest_question;

/// Components are named; NULL: there is no such thing in this game. Rules that name nothing are the same as
/// none: everybody sees everything, and owner is who has an entity as its player. Checked when a match begins:
/// a name that no component has, a type that cannot be meant, a component that is not tracked, are refused.
typedef struct net_interest_rules {
    uint32_t size_bytes;
    const char* position; ///< p2 or p3, or a struct that begins with as many floats
    float radius;         ///< of sight, in its units; 0: no entity is out of sight
    const char* always;   ///< a tag: everybody sees it
    const char* owner;  ///< i or u32: the client whose it is, wherever it is; four times as urgent
    const char* team;   ///< i, u8, u16 or u32; 0: none. A client's team is its player's
    const char* groups; ///< u64: seen by clients whose mask (services->set_groups) has a common bit
    const char*
        together; ///< i or u32, not 0: entities with equal numbers are seen together, at one tick
    net_relevance (*relevance)(const net_interest_question* question);
    /// More classes (bits, by the number of net_interest_class) that this client may see of this entity.
    uint32_t (*classes)(const net_interest_question* question);
} net_interest_rules;
