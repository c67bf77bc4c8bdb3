// SPDX-License-Identifier: MIT
/// A game that stresses replication. Entities are created and destroyed, change their template,
/// refer to each other, change values back and forth, rest and move again, all at random. Players
/// steer, send events ("shouts") and get events ("pings"). After the tick in the setting "quiet"
/// nothing changes any more.
#pragma once

#include "net/game.h"

const net_game_module* swarm_module_get(void);
/// The templates text (swarm.blk as a string).
const char* swarm_templates(void);

#define SWARM_CLIENTS_MAX 16u

/// Rules of interest of a wild swarm.
enum {
    SWARM_RADIUS = 1,
    SWARM_GROUPS = 2,
    SWARM_OWNER = 4,
    SWARM_TEAM = 8,
    SWARM_TOGETHER = 16,
    SWARM_GRANTS = 32, ///< the callback that lets clients see the vault
    SWARM_RULES_END = 64,
};

/// The module with more components: owners, teams, groups that are seen together, values that only
/// some clients may see, and texts. All of it changes at run time.
typedef struct swarm_wild {
    net_interest_rules rules;
    net_game_module module;
} swarm_wild;
/// Get the rules of these bits; 0: no rules, all clients see everything.
const net_game_module* swarm_wild_make(swarm_wild* wild, uint32_t rules);
const char* swarm_wild_templates(void);

/// State of the module per world. Tests read the counters.
typedef struct swarm_context {
    ecs_component_id pos, hp, target, heat, steered, shouts, player_id, clock_component;
    ecs_template_id mote, rock, avatar, burning, clock;
    ecs_event_type steer, ping, spark, shout, brush;
    bool has_trails; ///< trail_es runs; tests set it
    ecs_entity last_brushed;
    ecs_query* movers;
    ecs_query* targets;
    ecs_query* clocks;
    uint32_t ping_last;     ///< client: number of the last ping
    uint32_t pings_raised;  ///< server: so many pings, numbered from 1
    uint64_t pings, sparks; ///< client: received
    uint64_t ping_faults;   ///< client: pings that did not follow the previous one
    uint64_t shout_faults;  ///< server: shouts that did not follow the player's previous one
    ecs_tick tick_zero;     ///< quiet counts from this tick; tests that begin late set it

    // Only for the wild kind (swarm_wild.c).
    bool is_wild;
    /// 0: no client sees the vault; 1: all do; 2: only the first client, and no client steers.
    uint32_t grants;
    uint32_t salt, load;
    const net_game_services* services;
    ecs_component_id owner, team, groups, together, pact, purse, plan, vault, grant, note, diary;
    uint32_t kin_count; ///< groups created so far; their numbers are 1..this
    uint32_t clients[SWARM_CLIENTS_MAX];
    uint32_t client_count;
} swarm_context;
