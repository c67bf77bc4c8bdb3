// SPDX-License-Identifier: MIT
// The messages of the game, and the functions that convert between them and the payloads in arena.h
// (ES_MESSAGE).

#include "arena.h"

#include "arena.pb-c.h"

#include "messages.es.h"

ES_MESSAGES

const net_message arena_messages[ARENA_MESSAGE_COUNT] = {
    [ARENA_MESSAGE_INPUT] = {"ArenaInput", &arena__arena_input__descriptor, "arena_input",
                             NET_MESSAGE_INPUT, false, arena_input_to_wire, arena_input_from_wire,
                             false},
    [ARENA_MESSAGE_RALLY] = {"Rally", &arena__rally__descriptor, "rally", NET_MESSAGE_TO_SERVER,
                             true, rally_to_wire, rally_from_wire, false},
    [ARENA_MESSAGE_USE] = {"Use", &arena__use__descriptor, "use", NET_MESSAGE_TO_SERVER, true,
                           use_to_wire, use_from_wire, false},
    [ARENA_MESSAGE_SAY] = {"Say", &arena__say__descriptor, "say", NET_MESSAGE_TO_SERVER, true,
                           say_to_wire, say_from_wire, false},
    [ARENA_MESSAGE_SAID] = {"Said", &arena__said__descriptor, "said", NET_MESSAGE_TO_CLIENTS, false,
                            said_to_wire, said_from_wire, false},
    [ARENA_MESSAGE_HIT] = {"Hit", &arena__hit__descriptor, "hit", NET_MESSAGE_TO_CLIENTS, false,
                           hit_to_wire, hit_from_wire, false},
    [ARENA_MESSAGE_RAY] = {"Ray", &arena__ray__descriptor, "ray", NET_MESSAGE_TO_CLIENTS, false,
                           ray_to_wire, ray_from_wire, true},
    [ARENA_MESSAGE_KILLED] = {"Killed", &arena__killed__descriptor, "killed",
                              NET_MESSAGE_TO_CLIENTS, true, killed_to_wire, killed_from_wire, true},
    [ARENA_MESSAGE_FLAG_MOVED] = {"FlagMoved", &arena__flag_moved__descriptor, "flag_moved",
                                  NET_MESSAGE_TO_CLIENTS, true, flag_moved_to_wire,
                                  flag_moved_from_wire, true},
    [ARENA_MESSAGE_ROUND_OVER] = {"RoundOver", &arena__round_over__descriptor, "round_over",
                                  NET_MESSAGE_TO_CLIENTS, true, round_over_to_wire,
                                  round_over_from_wire, false},
};
