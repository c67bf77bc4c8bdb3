// SPDX-License-Identifier: MIT
/// A game made to hurt replication: entities come, go, change their template, refer to each other, flip
/// back, stand idle and wake up, all by the world's own chance; players steer, shout and are pinged.
/// After the tick in setting "quiet" nothing changes any more.
#pragma once

#include "net/game.h"
#include "net/interest.h"

const net_game_module* swarm_module_get(void);
/// The templates text (swarm.blk as a string).
const char* swarm_templates(void);

#define SWARM_CLIENTS_MAX 16u

/// Which rules of interest a wild swarm has.
enum {
    SWARM_RADIUS = 1,
    SWARM_GROUPS = 2,
    SWARM_OWNER = 4,
    SWARM_TEAM = 8,
    SWARM_TOGETHER = 16,
    SWARM_GRANTS = 32, ///< the callback that lets clients see the vault
    SWARM_RULES_END = 64,
};

/// The module with more components: owners, teams, groups, kin that is seen together, values that only some may
/// see, texts; all of it changes at run time.
typedef struct swarm_wild {
    net_interest_rules rules;
    net_game_module module;
} swarm_wild;
/// Rules of these bits; 0: none, everybody sees everything.
const net_game_module* swarm_wild_make(swarm_wild* wild, uint32_t rules);
const char* swarm_wild_templates(void);

/// What the module keeps per world beside ids; the tests look at the counters.
typedef struct swarm_context {
    ecs_component_id pos, hp, target, heat, steered, shouts, player_id, clock_component;
    ecs_template_id mote, rock, avatar, burning, clock;
    ecs_event_type steer, ping, spark, shout;
    ecs_query* movers;
    ecs_query* targets;
    ecs_query* clocks;
    uint32_t ping_last;     ///< client: number of the last ping
    uint64_t pings, sparks; ///< client: received
    uint64_t ping_faults;   ///< client: a ping that did not follow the one before
    uint64_t shout_faults;  ///< server: a shout that did not follow the player's one before
    ecs_tick tick_zero;     ///< quiet is counted from here; tests that begin late set it

    // Of the wild kind (swarm_wild.c); without its components the rest stays unused.
    bool is_wild;
    uint32_t
        grants; ///< 0: nobody sees the vault; 1: anybody may; 2: the first client alone, and nobody steers
    uint32_t salt, load;
    const net_game_services* services;
    ecs_component_id owner, team, groups, together, pact, purse, plan, vault, grant, note, diary;
    uint32_t kin_count; ///< made so far: their numbers are 1..this
    uint32_t clients[SWARM_CLIENTS_MAX];
    uint32_t client_count;
} swarm_context;
