// SPDX-License-Identifier: MIT
/// Interest at work: which entities each client should have, which classes of their components, how urgent.
///
/// Two halves. net_interest_step, on the thread that owns the world, copies what the rules name of entities
/// that came or changed, and asks the module's callbacks for the clients whose turn it is (each client every
/// NET_INTEREST_EVERY_TICKS). net_interest_query and net_interest_get_observers, on whatever thread sends, read only
/// these copies.
/// Memory: about 165 bytes per index that was used, 160 per client, and with a radius two grids of 256 KB (512
/// in three dimensions); 8 bytes per answer that a callback gave in one step. Nothing in a steady tick.
/// Cost: a step looks at what changed and at every fourth client, a query at the cells within sight and at the
/// members. Nobody is due around whom nothing stirred.
/// Source: grid with hysteresis as in shared/replication.md 8; relevancy as in Unreal's Iris and naia.
#pragma once

#include "state/history.h"
#include "net/interest.h"

#define NET_WEIGHT_MAX 1024u ///< importance 16 x distance band 8 x owner 4, x 2 just changed

typedef struct net_interest_config {
    const base_allocator* allocator;
    const net_interest_rules* rules; ///< NULL: everybody sees everything public
    void* context;                   ///< the module's
    ecs_world* world;                ///< to look components up; borrowed
    net_rows* rows;
    uint32_t index_max;
    uint32_t tick_rate_hz;
} net_interest_config;

typedef struct net_interest net_interest;

/// An entity in a client's scope: what the view remembers, what the query answers.
typedef struct net_interest_entity {
    uint32_t index;
    uint32_t group;   ///< of entities that travel together; 0: alone
    uint16_t classes; ///< visible ones; bit 0 always
    uint16_t weight;  ///< 1..NET_WEIGHT_MAX
    ecs_tick entered; ///< in scope since; given by the view
} net_interest_entity;

typedef struct net_interest_answer {
    const net_interest_entity* enter; ///< sorted by index
    uint32_t enter_count;
    const uint32_t* leave; ///< positions among the members, rising
    uint32_t leave_count;
    const uint32_t* changed; ///< positions whose classes, weight or group are others; rising
    const net_interest_entity* changed_to;
    uint32_t changed_count;
} net_interest_answer;

/// @return NET_OK; NET_ERR_SCHEMA (reported: a component that the rules name has no such type);
///         NET_ERR_MEMORY.
BASE_MUST_USE net_result net_interest_create(const net_interest_config* config,
                                             const base_reporter* reporter,
                                             net_interest** interest);
void net_interest_destroy(net_interest* interest);
/// After net_history_step, on the world's thread.
BASE_MUST_USE net_result net_interest_step(net_interest* interest, const net_history* history,
                                           ecs_tick tick);
/// Clients by their numbers; the world's thread, between steps (and no query runs).
BASE_MUST_USE bool net_interest_add_client(net_interest* interest, uint32_t client);
void net_interest_remove_client(net_interest* interest, uint32_t client);
void net_interest_set_player(net_interest* interest, uint32_t client, ecs_entity player);
void net_interest_set_groups(net_interest* interest, uint32_t client, uint64_t mask);
/// Where a client looks from, instead of its player's position. `radius` 0: the rules'.
void net_interest_set_viewpoint(net_interest* interest, uint32_t client, const float position[3],
                                float radius);
void net_interest_clear_viewpoint(net_interest* interest, uint32_t client);
/// Ask for this client in the next step, whoever's turn it is.
void net_interest_refresh(net_interest* interest, uint32_t client);

/// Has this client to be asked for: it is its turn, or it was called out of turn, and something stirred. Holds
/// until the first step after its query.
bool net_interest_is_due(const net_interest* interest, uint32_t client);
/// What should change for this client. Members in any order, at their present state. The answer is
/// borrowed until the next query. Whoever is not due may be asked for too; where a module has callbacks that
/// answers nothing. @return false when memory ran out.
bool net_interest_query(net_interest* interest, uint32_t client, const net_interest_entity* members,
                        uint32_t member_count, net_interest_answer* answer);
/// Who sees an entity that came in the last step (its clients, rising by number, and how). Nobody when it
/// travels together with others: those who may see it are due instead. Borrowed until the next call.
/// @return UINT32_MAX when memory ran out.
uint32_t net_interest_get_observers(net_interest* interest, uint32_t index,
                                    const uint32_t** clients, const net_interest_entity** entities);
/// By definition, from the living world and nothing remembered but the hysteresis: for proofs. Classes of an
/// entity for a client, 0: not at all (outside of the radius; inside of the margin membership decides).
uint32_t net_interest_judge(net_interest* interest, const ecs_world* world, uint32_t client,
                            ecs_entity entity, bool is_member);
/// Number of a class by its name; UINT32_MAX when no template has it.
uint32_t net_interest_find_class(const net_interest* interest, const char* name);
