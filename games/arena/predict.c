// SPDX-License-Identifier: MIT
// A client predicts only the player's own fighter.
//
// The movement needs the player's input, the rocks and whether the fighter is boosted; the client
// knows all three. A ghost does not move.

#include "arena.h"

uint32_t arena_predict(ecs_world* world, void* context, ecs_entity player, net_predicted* entities,
                       uint32_t capacity) {
    const arena_game* game = context;
    if (capacity == 0 || !ecs_find(world, player, game->health)) return 0;
    entities[0] = (net_predicted){player, 1.0f};
    return 1;
}
