// SPDX-License-Identifier: MIT
/// Private: what scopes.c (what is known), scopes_turn.c (whose turn it is, what the module is asked) and
/// scopes_query.c (what follows from it) share.
#pragma once

#include "base/bitset.h"
#include "interest/interest_grid.h"
#include "interest/interest_lists.h"
#include "interest/interest_rules.h"
#include "interest/interest_manager.h"

/// In which of the plain lists a place is.
typedef enum net_scope_list {
    NET_SCOPE_LIST_NONE,
    NET_SCOPE_LIST_LOOSE,   ///< everybody sees it
    NET_SCOPE_LIST_GROUPED, ///< groups see it
} net_scope_list;

/// What is known of an index: one line of the cache. Where it is lies in the grid.
typedef struct net_scope_place {
    const net_row_template* entry; ///< NULL: no replicated entity is here
    net_scope_facts facts;
    ecs_entity handle;
    uint32_t listed;  ///< net_scope_list | position there << 2
    ecs_tick revoked; ///< who came into scope until then has no right to stay for a while
} net_scope_place;
_Static_assert(sizeof(net_scope_place) <= 64, "a query looks at one line per member");

/// What an entry of it needs, apart from the place, since it is read for every member of every query.
typedef struct net_scope_traits {
    uint32_t owner, team, together;
    uint16_t classes; ///< that the template uses
    uint8_t importance;
    bool has_position;
} net_scope_traits;

/// A client, in a slot that does not move.
typedef struct net_scope_client {
    uint32_t number; ///< 0: the slot is free
    uint32_t order;  ///< position among the clients by number
    ecs_entity player;
    uint32_t team;
    uint64_t groups;
    float at[3];  ///< where it looks from, as of its last turn
    float radius; ///< of sight
    bool has_at;
    bool is_at_set;  ///< by set_viewpoint: the player's position does not count
    bool is_changed; ///< what it looks from or belongs to, since its last query
    bool has_young;  ///< something stays only because it has not been long in scope
    uint32_t queried_step;
    ecs_tick revoked; ///< as of places
    uint32_t answer_first, answer_count;
} net_scope_client;

/// What is looked at for every client in every step.
typedef struct net_scope_turn {
    uint8_t turn; ///< step count modulo NET_INTEREST_EVERY_TICKS
    bool is_forced, is_due, is_queried;
} net_scope_turn;

typedef struct net_scope_order {
    uint32_t number, slot;
} net_scope_order;

/// A module's answer about one entity.
typedef struct net_scope_said {
    uint32_t index;
    uint16_t classes;
    uint8_t relevance; ///< net_relevance
} net_scope_said;

/// Scratch of a query: what is known of an index so far.
enum {
    NET_SCOPE_IN = 1,
    NET_SCOPE_NEVER = 2,
    NET_SCOPE_SAID = 4,
    NET_SCOPE_MEMBER = 8,
    NET_SCOPE_GROUP = 16, ///< of a list's first: the whole list was taken
};
typedef struct net_scope_mark {
    uint32_t stamp;   ///< another than the query's: nothing is
    uint16_t classes; ///< that the module adds
    uint8_t state;
    uint8_t band; ///< of distance; 0: not known yet
} net_scope_mark;

/// Who sees an entity that came in this step, where the module was asked.
typedef struct net_scope_came {
    uint32_t index, first, count;
} net_scope_came;

struct net_scopes {
    net_scopes_config config;
    net_scope_rules rules;
    uint32_t stay_ticks;
    ecs_tick tick;
    uint32_t step;        ///< counts from 1
    uint32_t global_step; ///< of the last change that may concern everybody
    uint32_t moved_step;  ///< of the last movement anywhere
    // entities
    net_scope_place* places;  ///< [index]
    net_scope_traits* traits; ///< [index]
    uint32_t place_capacity, trait_capacity, index_end;
    bool has_grids; ///< the rules have a radius
    net_scope_grid entities, viewpoints;
    net_scope_lists owned, together;
    uint32_t *loose, *grouped; ///< a place is in one of them at most
    uint32_t loose_count, loose_capacity, grouped_count, grouped_capacity;
    // clients
    net_scope_client* clients; ///< [slot]
    net_scope_turn* turns;     ///< [slot]
    ecs_entity* players;       ///< [slot]
    uint32_t client_capacity, turn_capacity, player_capacity, slot_count;
    net_scope_order* order; ///< rising by number
    uint32_t order_count, order_capacity;
    uint32_t* wide; ///< slots of those who look farther than the rules say
    uint32_t wide_count, wide_capacity;
    // answers of the module, of the last step
    net_scope_said* said;
    uint32_t said_count, said_capacity;
    net_scope_came* came;
    uint32_t came_count, came_capacity;
    uint32_t* came_clients;
    net_scope_entry* came_entries;
    uint32_t came_client_count, came_client_capacity, came_entry_capacity;
    bool is_out_of_memory; ///< in the last step
    // scratch
    net_scope_mark* marks; ///< [index]
    uint32_t* inside;      ///< what is in scope, in order of finding
    uint32_t mark_capacity, inside_capacity, inside_count, stamp;
    base_bitset entering; ///< [index]
    base_bitset seers;    ///< [order]
    net_scope_entry *enter, *changed_to;
    uint32_t *leave, *changed;
    uint32_t enter_capacity, leave_capacity, changed_capacity, changed_to_capacity;
};

static inline float net_scope_leave_radius(float radius) {
    return radius * NET_INTEREST_LEAVE;
}
static inline bool net_scope_is_asking(const net_scopes* scopes) {
    return scopes->rules.relevance || scopes->rules.classes;
}
/// Does what is known of `facts` make it visible to the client, whatever the distance?
static inline bool net_scope_is_far_in(const net_scope_client* client, ecs_entity handle,
                                       const net_scope_facts* facts) {
    return net_scope_is_loose(facts) || (facts->owner != 0 && facts->owner == client->number) ||
           (handle != ECS_ENTITY_NONE && handle == client->player) ||
           (facts->groups & client->groups) != 0;
}
/// Is it within a distance of where the client looks from? `at` is looked at when it has a position.
static inline bool net_scope_is_near(const net_scope_client* client, const net_scope_facts* facts,
                                     const float at[3], float radius) {
    return facts->has_position && client->has_at &&
           net_scope_distance2(client->at, at) <= radius * radius;
}
/// How much nearer things count: 8 within a quarter of the radius, 4, 2, 1.
static inline uint8_t net_scope_band(float distance2, float radius) {
    float quarter2 = radius * radius * 0.0625f;
    if (distance2 <= quarter2) return 8;
    if (distance2 <= quarter2 * 4.0f) return 4;
    return distance2 <= quarter2 * 9.0f ? 2 : 1;
}
static inline uint8_t net_scope_band_of(const net_scope_client* client,
                                        const net_scope_facts* facts, const float at[3]) {
    if (!facts->has_position) return 8;
    return client->has_at ? net_scope_band(net_scope_distance2(client->at, at), client->radius) : 1;
}

// scopes.c
/// NULL when there is none.
net_scope_client* net_scopes_find(const net_scopes* scopes, uint32_t client);
net_scope_traits net_scopes_traits(const net_row_template* entry, const net_scope_facts* facts);
/// What the client should know of an entity that it sees; `more` are classes that the module adds.
static inline net_scope_entry net_scopes_entry(const net_scope_client* client, uint32_t index,
                                               bool is_player, const net_scope_traits* traits,
                                               uint32_t band, uint32_t more) {
    bool is_own = is_player || traits->owner == client->number;
    uint32_t classes = 1u << NET_CLASS_PUBLIC | more;
    if (is_own) classes |= 1u << NET_CLASS_OWNER;
    if (traits->team != 0 && traits->team == client->team) classes |= 1u << NET_CLASS_TEAM;
    uint32_t weight = traits->importance * band * (is_own ? 4u : 1u);
    return (net_scope_entry){.index = index,
                             .group = traits->together,
                             .classes = (uint16_t)(classes & traits->classes),
                             .weight = (uint16_t)weight};
}
/// Of a place, which must be in use. NULL where there are no positions.
static inline const float* net_scopes_at(const net_scopes* scopes, uint32_t index) {
    return scopes->has_grids ? scopes->entities.spots[index].at : NULL;
}

// scopes_turn.c
/// Take the clients' turns, ask the module. @return false when memory ran out.
bool net_scopes_turn(net_scopes* scopes, const net_history* history);
net_scope_said net_scopes_ask(const net_scopes* scopes, const ecs_world* world,
                              const net_scope_client* client, uint32_t index, ecs_entity entity);

// scopes_query.c
/// Begin to mark: nothing is in.
void net_scopes_mark_begin(net_scopes* scopes);
static inline net_scope_mark* net_scopes_mark(net_scopes* scopes, uint32_t index) {
    net_scope_mark* mark = &scopes->marks[index];
    if (mark->stamp != scopes->stamp) *mark = (net_scope_mark){.stamp = scopes->stamp};
    return mark;
}
/// Take what the client sees by itself, sight being `factor` times as far; without groups of `together`.
void net_scopes_gather(net_scopes* scopes, const net_scope_client* client, float factor);
/// Take all that travels with what is in.
void net_scopes_gather_together(net_scopes* scopes);
/// Put into `seers` who sees a place by itself, sight being `factor` times as far.
void net_scopes_find_seers(net_scopes* scopes, uint32_t index, float factor);
