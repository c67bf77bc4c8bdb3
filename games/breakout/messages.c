// SPDX-License-Identifier: MIT
// The messages of the game, and the functions that convert between them and the payloads in
// breakout.h (ES_MESSAGE).

#include "breakout.h"

#include "breakout.pb-c.h"

#include "messages.es.h"

ES_MESSAGES

const net_message breakout_messages[BREAKOUT_MESSAGE_COUNT] = {
    [BREAKOUT_MESSAGE_PAD_INPUT] = {"PadInput", &breakout__pad_input__descriptor, "pad_input",
                                    NET_MESSAGE_INPUT, false, pad_input_to_wire,
                                    pad_input_from_wire, false},
    [BREAKOUT_MESSAGE_CHEER] = {"Cheer", &breakout__cheer__descriptor, "cheer",
                                NET_MESSAGE_TO_SERVER, true, cheer_to_wire, cheer_from_wire, false},
    [BREAKOUT_MESSAGE_BRICK_HIT] = {"BrickHit", &breakout__brick_hit__descriptor, "brick_hit",
                                    NET_MESSAGE_TO_CLIENTS, false, brick_hit_to_wire,
                                    brick_hit_from_wire, false},
    [BREAKOUT_MESSAGE_LEVEL_CLEARED] = {"LevelCleared", &breakout__level_cleared__descriptor,
                                        "level_cleared", NET_MESSAGE_TO_CLIENTS, true,
                                        level_cleared_to_wire, level_cleared_from_wire, false},
    [BREAKOUT_MESSAGE_LIFE_LOST] = {"LifeLost", &breakout__life_lost__descriptor, "life_lost",
                                    NET_MESSAGE_TO_CLIENTS, true, life_lost_to_wire,
                                    life_lost_from_wire, false},
    [BREAKOUT_MESSAGE_CHEERED] = {"Cheered", &breakout__cheered__descriptor, "cheered",
                                  NET_MESSAGE_TO_CLIENTS, true, cheered_to_wire, cheered_from_wire,
                                  false},
};
