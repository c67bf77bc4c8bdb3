// SPDX-License-Identifier: MIT
/// The interest manager: which entities each client should have, which visibility classes of their
/// components, and how urgent each is.
///
/// Two halves. net_interest_step runs on the thread that owns the world. It copies the values that
/// the rules name, of entities that spawned or changed, and asks the module's callbacks for the
/// clients whose turn it is (each client every NET_INTEREST_EVERY_TICKS). net_interest_query and
/// net_interest_get_observers run on the sending thread and read only these copies.
/// Memory: about 180 bytes per used index and 15 for each lane, 160 per client, and with a radius
/// two grids of 128 KB (256 in three dimensions); 8 bytes per callback answer of one step. A steady
/// tick allocates nothing.
/// Cost:   a step looks at what changed and at every fourth client. A query looks at the members
/// that changed or moved (at all when the client moved), and at the edge of sight for what crossed
/// it. A client is not due when nothing near it changed.
/// Source: a grid with hysteresis; relevancy as in Unreal's Iris and naia.
#pragma once

#include "interest/interest_lists.h"
#include "state/history.h"
#include "net/game.h"

#define NET_WEIGHT_MAX 1024u ///< importance 16 x distance band 8 x owner 4, x 2 just changed

typedef struct net_interest_config {
    const base_allocator* allocator;
    const net_interest_rules* rules; ///< NULL: every client sees everything public
    void* context;                   ///< of the module, for its callbacks
    ecs_world* world;                ///< to look components up; borrowed
    net_rows* rows;
    uint32_t index_max;
    uint32_t tick_rate_hz;
    uint32_t lanes; ///< that may query at the same time; 0: one
} net_interest_config;

typedef struct net_interest net_interest;

/// An entity in a client's scope: the replication state stores it, a query answers with it.
typedef struct net_interest_entity {
    uint32_t index;
    uint32_t group;   ///< of entities that travel together; 0: alone
    uint16_t classes; ///< visible ones; bit 0 always
    uint16_t weight;  ///< 1..NET_WEIGHT_MAX
    uint32_t
        entered; ///< tick since which it is in scope, low 32 bits; set by the replication state
} net_interest_entity;

/// The whole tick of `entered`. `now` is at most 2^32 ticks later.
static inline ecs_tick net_interest_entered(const net_interest_entity* member, ecs_tick now) {
    return now - (uint32_t)((uint32_t)now - member->entered);
}

typedef struct net_interest_answer {
    const net_interest_entity* enter; ///< sorted by index
    uint32_t enter_count;
    const uint32_t* leave; ///< positions among the members, rising
    uint32_t leave_count;
    const uint32_t* changed; ///< positions of members with other classes, weight or group; rising
    const net_interest_entity* changed_to;
    uint32_t changed_count;
    uint32_t place; ///< of the viewpoint; neighbours have close numbers
} net_interest_answer;

/// base_owner_destroy ends it.
/// @return NET_OK; NET_ERR_SCHEMA (reported: a component that the rules name has no such type).
BASE_MUST_USE net_result net_interest_create(const net_interest_config* config,
                                             const base_reporter* reporter,
                                             net_interest** interest);
/// Call it after net_history_step, on the world's thread.
void net_interest_step(net_interest* interest, const net_history* history, ecs_tick tick);
/// Clients by their numbers; on the world's thread, between steps, while no query runs.
void net_interest_add_client(net_interest* interest, uint32_t client);
void net_interest_remove_client(net_interest* interest, uint32_t client);
/// A held client gets no turns: what is set is kept for it, nothing is gathered. It is due in the
/// first step after that.
void net_interest_hold(net_interest* interest, uint32_t client, bool is_held);
void net_interest_set_player(net_interest* interest, uint32_t client, ecs_entity player);
void net_interest_set_groups(net_interest* interest, uint32_t client, uint64_t mask);
/// Set where a client looks from, instead of its player's position. `radius` 0: the rules'.
void net_interest_set_viewpoint(net_interest* interest, uint32_t client, const float position[3],
                                float radius);
void net_interest_clear_viewpoint(net_interest* interest, uint32_t client);
/// Take over what the module requested for a client.
void net_interest_request_for(net_interest* interest, uint32_t client,
                              const net_interest_request* request);
/// Let a client see what `who` sees, with its groups and viewpoint as they are now; as `client`
/// itself, it follows none, and a module that answers shows it nothing. The player is set apart.
void net_interest_follow(net_interest* interest, uint32_t client, uint32_t who);
/// Make this client due in the next step.
void net_interest_refresh(net_interest* interest, uint32_t client);

/// Is a query due for this client? It is when its turn came or a refresh was requested, and
/// something changed. True until the first step after its query.
bool net_interest_is_due(const net_interest* interest, uint32_t client);
/// Is it for any client?
bool net_interest_has_due(const net_interest* interest);
/// Find what should change in this client's scope. `members` are its present scope, in any order:
/// what the answers and net_interest_get_observers gave it, or nothing at all. An index of 0 is no
/// member.
/// A client that is not due may be queried too; with
/// callbacks in the module that answer is empty.
/// With the scratch of a lane. Different lanes may query at the same time, each for clients of its
/// own; no other function may run then. The answer is borrowed until the lane's next query.
void net_interest_query(net_interest* interest, uint32_t lane, uint32_t client,
                        const net_interest_entity* members, uint32_t member_count,
                        net_interest_answer* answer);
/// The clients that see an entity which spawned in the last step, rising by number, and what they
/// see. None when it travels together with others: then the clients that may see it are due
/// instead. Borrowed until the next call.
uint32_t net_interest_get_observers(net_interest* interest, uint32_t index,
                                    const uint32_t** clients, const net_interest_entity** entities);
/// Check the whole structure (asserts). net_interest_step does so in BASE_VALIDATE builds.
void net_interest_validate(const net_interest* interest);
