// SPDX-License-Identifier: MIT
/// Interest: which entities a client gets, by a module's rules. The rules name components.
///
/// The entities that a client should have are its scope. A replicated entity is in the scope when
/// any of these is true:
///   - every client sees it: it has the tag `always`, or no rule applies to it (no position where
///     the rules have a radius, no groups);
///   - it is the client's own: its `owner` is the client's number, or it is the client's player;
///   - its `groups` and the client's groups have a common bit. Other clients do not see an entity
///     that has groups and no position;
///   - its position is within the radius around the client's viewpoint;
///   - it travels together with an entity in the scope (`together`).
/// Then the module's `relevance` decides last.
///
/// Within the scope a component is visible by its class (`_visible:t="team"` in the datablock):
/// public to all clients, owner to the owner, team to clients whose player has the same team,
/// another class to the clients for which `classes` returns it. A hidden component has its
/// template's default on the client. The client gets no data about classes.
///
/// The viewpoint is the position of the client's player, or what services->set_viewpoint gave.
/// After the player was destroyed the client keeps the last position and team. A client that never
/// had a player or a viewpoint sees nothing by distance: a spectator needs a viewpoint.
///
/// The server finds a client's scope every NET_INTEREST_EVERY_TICKS ticks, and when the module
/// requests it (services->refresh_scope). A new entity within sight is seen at once. An entity seen
/// by distance leaves the scope beyond NET_INTEREST_LEAVE times the radius and not before
/// NET_INTEREST_STAY_MS. It leaves at once when its owner, team, groups or `together` changed, when
/// the client's groups changed, or when `relevance` returns NET_RELEVANT_NEVER. Components that the
/// rules name must be tracked (`_track`) in all replicated templates that have them; they need not
/// be replicated.
#pragma once

#include "ecs/ecs.h"

BASE_C_BEGIN

#define NET_INTEREST_EVERY_TICKS 4u ///< ticks between two searches for a client's scope
#define NET_INTEREST_LEAVE 1.15f
#define NET_INTEREST_STAY_MS 1000u
#define NET_CLASSES_MAX 16u ///< public, owner, team and 13 others, by name

enum { NET_CLASS_PUBLIC, NET_CLASS_OWNER, NET_CLASS_TEAM };

typedef enum net_relevance {
    NET_RELEVANT_BY_RULES,
    NET_RELEVANT_ALWAYS,
    NET_RELEVANT_NEVER, ///< nor what travels together with it, nor the client's own
} net_relevance;

/// What a module's callback gets: one client and one entity. The callback runs on the thread that
/// owns the world, between two ticks. It only reads the world and keeps no memory of its own. Which
/// pairs it gets, and how often, may change with any version. Today these are entities that the
/// rules show, entities within NET_INTEREST_LEAVE times the radius, and what travels together with
/// either. With callbacks the server searches for each client on its turn, also when nothing near
/// it changed.
typedef struct net_interest_question {
    uint32_t size_bytes;
    ecs_world* world;
    void* context; ///< what register_systems returned
    uint32_t client;
    ecs_entity player; ///< of the client; NONE for a spectator
    ecs_entity entity;
} net_interest_question;

/// A module's rules. Components are given by name; NULL: this game has no such component. Without
/// names the rules do nothing: every client sees every entity, and the owner of an entity is the
/// client whose player it is. The rules are checked when a match begins: an unknown name, a wrong
/// type or a component that is not tracked is refused (NET_ERR_MODULE).
typedef struct net_interest_rules {
    uint32_t size_bytes;
    const char* position; ///< p2 or p3, or a struct that begins with as many floats
    float radius;         ///< of sight, in units of the position; 0: no limit
    const char* always;   ///< a tag: every client sees it
    const char* owner;    ///< i or u32: the owner's client number; to it four times as urgent
    const char* team;     ///< i, u8, u16 or u32; 0: none. A client's team is its player's
    const char* groups; ///< u64: seen by clients whose mask (services->set_groups) has a common bit
    const char*
        together; ///< i or u32: entities with equal numbers enter a scope at one tick; 0: alone
    net_relevance (*relevance)(const net_interest_question* question);
    /// Further classes that this client may see of this entity: bits, each of a net_interest_class
    /// number.
    uint32_t (*classes)(const net_interest_question* question);
} net_interest_rules;

BASE_C_END
