// SPDX-License-Identifier: MIT
/// Private to interest: the copies of the rules' values and the clients (interest_manager.c), which
/// all files of the room share.
#pragma once

#include "base/bitset.h"
#include "interest/interest_grid.h"
#include "interest/interest_lists.h"
#include "interest/interest_rules.h"
#include "interest/interest_manager.h"

/// Entities of one step whose change concerns only the clients that see them; with more, all look.
#define NET_INTEREST_CONCERNED_MAX 64u
/// Jumps that are listed: a client whose last query is older searches all within its sight.
#define NET_INTEREST_JUMPS_MAX 64u
/// What goes farther in a step than this part of the radius jumps.
#define NET_INTEREST_STRIDE 0.0625f

/// The plain list that a place is in.
typedef enum net_interest_list {
    NET_INTEREST_LIST_NONE,
    NET_INTEREST_LIST_LOOSE,   ///< every client sees the entity
    NET_INTEREST_LIST_GROUPED, ///< clients of its groups see the entity
    NET_INTEREST_LISTS
} net_interest_list;

/// The state of an index, in one cache line.
typedef struct net_interest_place {
    const net_row_template* row_template; ///< NULL: no replicated entity is here
    net_interest_facts facts;
    ecs_entity handle;
    uint32_t listed;  ///< net_interest_list | position there << 2
    ecs_tick revoked; ///< a client that got it in scope until this tick may lose it at once
} net_interest_place;
_Static_assert(sizeof(net_interest_place) <= 64, "a query looks at one line per member");

/// What each query reads of each member, apart from the place: two are in a cache line.
typedef struct net_interest_traits {
    uint32_t stamp; ///< step of the last change or movement
    float at[3];    ///< with a position
    uint32_t owner, team, together;
    uint16_t classes; ///< that the template uses
    uint8_t importance;
    bool has_position;
} net_interest_traits;
_Static_assert(sizeof(net_interest_traits) == 32, "none is in two lines");

/// A client, in a slot that does not move.
typedef struct net_interest_client {
    uint32_t number; ///< 0: the slot is free
    uint32_t who;    ///< it looks as this client: itself, or the one that it follows
    uint32_t order;  ///< position among the clients, sorted by number
    ecs_entity player;
    uint32_t team;
    uint64_t groups;
    float at[3];  ///< viewpoint, as of the client's last turn
    float radius; ///< of sight, in units of the position
    bool has_at;
    bool is_at_set; ///< by set_viewpoint: the player's position is not used
    bool has_young; ///< an entity stays only because it entered recently
    /// How far the viewpoint went since the last query. INFINITY: groups, team, player or sight
    /// changed, and the query looks at everything.
    float went;
    double travelled; ///< that of the interest at the last query
    uint32_t queried_step;
    ecs_tick revoked; ///< the same as revoked of a place
    uint32_t answer_first, answer_count;
} net_interest_client;

/// What a step reads of every client.
typedef struct net_interest_turn {
    uint8_t turn; ///< step count modulo NET_INTEREST_EVERY_TICKS
    bool is_forced, is_due, is_queried;
    bool is_held; ///< it gets no turns
} net_interest_turn;

typedef struct net_interest_order {
    uint32_t number, slot;
} net_interest_order;

/// The module's answer about one entity.
typedef struct net_interest_verdict {
    uint32_t index;
    uint16_t classes;
    uint8_t relevance; ///< net_relevance
} net_interest_verdict;

/// Scratch of a gathering: the state of one index.
enum {
    NET_INTEREST_NEVER = 1,
    NET_INTEREST_ANSWERED = 2,
    NET_INTEREST_GROUP = 4, ///< of a list's first entity: the whole list was added
};
typedef struct net_interest_mark {
    uint32_t stamp;   ///< of the gathering; another one: nothing is known
    uint16_t classes; ///< that the module adds
    uint8_t state;
} net_interest_mark;

/// What a gathering looks at: entities that changed after `since`, and those of them whose distance
/// is at most `radius` and not below `hole` (0 and 0: all).
typedef struct net_interest_look {
    uint32_t since;
    float radius, hole;
} net_interest_look;

/// An entity that went far in one step, or got a position.
typedef struct net_interest_jump {
    uint32_t index, step;
} net_interest_jump;

/// The clients that see an entity which spawned in this step, when the module was asked.
typedef struct net_interest_spawn {
    uint32_t index, first, count;
} net_interest_spawn;

/// What gatherings and queries of one thread need.
typedef struct net_interest_scratch {
    net_interest_mark* marks; ///< [index]
    uint32_t* inside;         ///< indices that the gathering found, in order of finding
    uint32_t mark_capacity, inside_capacity, inside_count, stamp;
    base_bitset found; ///< [index]: is in `inside`; at last: and no member
    net_interest_entity *enter, *changed_to;
    uint32_t *leave, *changed;
    uint32_t enter_capacity, leave_capacity, changed_capacity, changed_to_capacity;
} net_interest_scratch;

struct net_interest {
    base_owner owner; ///< of all memory
    net_interest_config config;
    net_bound_rules rules;
    uint32_t stay_ticks;
    ecs_tick tick;
    uint32_t step;            ///< counts from 1
    uint32_t global_step;     ///< of the last change that may concern every client
    uint32_t moved_step;      ///< of the last movement anywhere
    uint32_t concerned_count; ///< entities in this step whose clients look again
    // entities
    net_interest_place* places;  ///< [index]
    net_interest_traits* traits; ///< [index]
    uint32_t place_capacity, trait_capacity, index_end;
    /// Sum over all steps of the longest way that an entity went in the step, jumps apart.
    double travelled;
    float stride2;                                   ///< square of the longest way in this step
    net_interest_jump jumps[NET_INTEREST_JUMPS_MAX]; ///< the latest
    uint32_t jump_count;
    bool has_grids; ///< the rules have a radius
    net_interest_grid entities, viewpoints;
    net_interest_lists owned, together;
    uint32_t* listed[NET_INTEREST_LISTS]; ///< a place is in at most one of them
    uint32_t listed_count[NET_INTEREST_LISTS], listed_capacity[NET_INTEREST_LISTS];
    // clients
    net_interest_client* clients; ///< [slot]
    net_interest_turn* turns;     ///< [slot]
    base_table players;           ///< slots by the player's handle
    uint32_t client_capacity, turn_capacity, slot_count;
    net_interest_order* order; ///< rising by number
    uint32_t order_count, order_capacity;
    uint32_t* wide; ///< slots of clients with a larger radius than the rules'
    uint32_t wide_count, wide_capacity;
    uint32_t follower_count; ///< clients that follow another one
    // answers of the module in the last step
    net_interest_verdict* verdicts;
    uint32_t verdict_count, verdict_capacity;
    net_interest_spawn* spawns;
    uint32_t spawn_count, spawn_capacity;
    uint32_t* spawn_clients;
    net_interest_entity* spawn_entities;
    uint32_t spawn_client_count, spawn_client_capacity, spawn_entity_capacity;
    bool has_due;                  ///< a query is due for some client
    base_bitset observers;         ///< [order]; scratch
    net_interest_scratch* scratch; ///< [lane]; the first one is also the step's
};

static inline float net_interest_leave_radius(float radius) {
    return radius * NET_INTEREST_LEAVE;
}
static inline bool net_interest_is_asking(const net_interest* interest) {
    return interest->rules.relevance || interest->rules.classes;
}
/// Do these facts make the entity visible to the client at any distance?
static inline bool net_interest_is_far_in(const net_interest_client* client, ecs_entity handle,
                                          const net_interest_facts* facts) {
    return net_interest_is_loose(facts) || (facts->owner != 0 && facts->owner == client->who) ||
           (handle != ECS_ENTITY_NONE && handle == client->player) ||
           (facts->groups & client->groups) != 0;
}
/// Is the entity within `radius` of the client's viewpoint? `at` is read when it has a position.
static inline bool net_interest_is_near(const net_interest_client* client,
                                        const net_interest_facts* facts, const float at[3],
                                        float radius) {
    return facts->has_position && client->has_at &&
           net_interest_distance2(client->at, at) <= radius * radius;
}
/// Weight of a distance: 8 within a quarter of the radius, then 4, 2, 1.
static inline uint8_t net_interest_band(float distance2, float radius) {
    float quarter2 = radius * radius * 0.0625f;
    // Written so that NaN is the farthest band.
    return (uint8_t)(8 >> (!(distance2 <= quarter2) + !(distance2 <= quarter2 * 4.0f) +
                           !(distance2 <= quarter2 * 9.0f)));
}
static inline uint8_t net_interest_band_of(const net_interest_client* client,
                                           const net_interest_facts* facts, const float at[3]) {
    if (!facts->has_position) return 8;
    return client->has_at
               ? net_interest_band(net_interest_distance2(client->at, at), client->radius)
               : 1;
}

/// Describe an entity for a client that sees it; `more` are classes that the module adds.
static inline net_interest_entity net_interest_describe(const net_interest_client* client,
                                                        uint32_t index, bool is_player,
                                                        const net_interest_traits* traits,
                                                        uint32_t band, uint32_t more) {
    bool is_own = is_player || traits->owner == client->who;
    uint32_t classes = 1u << NET_CLASS_PUBLIC | more;
    if (is_own) classes |= 1u << NET_CLASS_OWNER;
    if (traits->team != 0 && traits->team == client->team) classes |= 1u << NET_CLASS_TEAM;
    uint32_t weight = traits->importance * band * (is_own ? 4u : 1u);
    return (net_interest_entity){.index = index,
                                 .group = traits->together,
                                 .classes = (uint16_t)(classes & traits->classes),
                                 .weight = (uint16_t)weight};
}
/// The client has all that it should have, as of this step.
static inline void net_interest_note_query(const net_interest* interest,
                                           net_interest_client* client) {
    client->queried_step = interest->step;
    client->travelled = interest->travelled;
}
/// Position of a place that has one.
static inline const float* net_interest_at(const net_interest* interest, uint32_t index) {
    return interest->traits[index].at;
}

// interest_query.c

/// Position among the clients by number where this client is, or where it would go.
uint32_t net_interest_find_order(const net_interest* interest, uint32_t client);
/// NULL when there is no such client.
net_interest_client* net_interest_find(const net_interest* interest, uint32_t client);
/// Begin a gathering: no entity is in it.
void net_interest_mark_begin(net_interest_scratch* scratch);
static inline net_interest_mark* net_interest_get_mark(net_interest_scratch* scratch,
                                                       uint32_t index) {
    net_interest_mark* mark = &scratch->marks[index];
    if (mark->stamp != scratch->stamp) *mark = (net_interest_mark){.stamp = scratch->stamp};
    return mark;
}
/// Was an entity added to the gathering?
static inline bool net_interest_is_found(const net_interest_scratch* scratch, uint32_t index) {
    return scratch->found.words[index >> 6] >> (index & 63) & 1;
}
/// Add an entity to the gathering, unless it is there already or must not be.
static inline void net_interest_include(net_interest_scratch* scratch, uint32_t index) {
    const net_interest_mark* mark = &scratch->marks[index];
    const bool is_never = mark->stamp == scratch->stamp && mark->state & NET_INTEREST_NEVER;
    if (is_never || net_interest_is_found(scratch, index)) return;
    scratch->found.words[index >> 6] |= UINT64_C(1) << (index & 63);
    scratch->inside[scratch->inside_count++] = index;
}
/// Index of the client's player; 0 when the client has none that is replicated.
static inline uint32_t net_interest_player_index(const net_interest* interest,
                                                 const net_interest_client* client) {
    uint32_t index = ecs_entity_index(client->player);
    bool is_there = client->player != ECS_ENTITY_NONE && index < interest->index_end &&
                    interest->places[index].handle == client->player;
    return is_there ? index : 0;
}
/// Add what the client sees by itself, of all that it looks at; not what is seen only because it
/// travels together with others.
void net_interest_gather(const net_interest* interest, net_interest_scratch* scratch,
                         const net_interest_client* client, net_interest_look look);
/// Add all that travels together with an entity of the gathering.
void net_interest_gather_together(const net_interest* interest, net_interest_scratch* scratch);
/// Put into `observers` each client that sees an entity by itself, with `factor` times its radius.
void net_interest_find_observers(net_interest* interest, uint32_t index, float factor);
/// A question to the module's callbacks about a client and an entity.
net_interest_question net_interest_question_of(const net_interest* interest,
                                               const net_interest_client* client,
                                               ecs_entity entity);
net_interest_verdict net_interest_ask(const net_interest* interest,
                                      const net_interest_question* question);

// interest_manager.c
