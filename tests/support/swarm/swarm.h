// SPDX-License-Identifier: MIT
/// A game made to hurt replication: entities come, go, change their template, refer to each other, flip
/// back, stand idle and wake up, all by the world's own chance; players steer, shout and are pinged.
/// After the tick in setting "quiet" nothing changes any more.
#pragma once

#include "net/game.h"

const net_game_module* swarm_module_get(void);
/// The templates text (swarm.blk as a string).
const char* swarm_templates(void);

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
} swarm_context;
