// SPDX-License-Identifier: MIT
// Pads: an arriving input becomes a component, and the component moves the pad once per tick.
//
// There are two steps, because inputs are events: a tick has none, one or several. A pad must move
// exactly once per tick, so a client that sends twice as often is not twice as fast. A pad without
// a new input keeps the last one. The prediction world moves the pads with the same functions;
// there the inputs of other players stay 0. All pads share the bottom line and can pass each other.
// The more pads there are, the narrower they are.

#include "breakout.h"
#include "pad.es.h"

#include "base/math.h"

#define PAD_WIDTH_MIN 40.0f
#define PAD_WIDTH_MAX 160.0f

float breakout_pad_width(uint32_t players) {
    // Whole units: then half a width lies on the grid of positions.
    return base_clamp(base_floor(640.0f / (float)(players + 3)), PAD_WIDTH_MIN, PAD_WIDTH_MAX);
}

ES_TAG(server | predict)
ES_ON_EVENT(pad_input)
static void take_input_es_event_handler(const breakout_input* event, breakout_input* input) {
    *input = *event;
}

ES_TAG(server)
ES_ON_EVENT(cheer)
static void cheer_es_event_handler(const ecs_stage* stage, ES_CONTEXT const breakout_game* game,
                                   const breakout_cheer* event, breakout_player* player) {
    player->cheers++;
    const breakout_cheered cheered = {.client = player->client, .emote = event->emote};
    ecs_event_broadcast(stage->world, game->cheered, &cheered);
}

ES_TAG(server | predict)
ES_REQUIRE(player : BreakoutPlayer)
static void move_pads_es(const ecs_stage* stage, ES_CONTEXT const breakout_game* game,
                         ecs_vec2* pos, ES_NAME(rectSize) ecs_vec2* size,
                         const breakout_input* input) {
    float width = breakout_pad_width(ecs_query_count(stage->world, game->pads));
    float speed = (float)game->settings[BREAKOUT_SETTING_PAD_SPEED];
    float x = pos->x + (size->x - width) * 0.5f; // keep the middle of the pad in place
    x += (float)input->move / 127.0f * speed * stage->dt;
    size->x = width;
    pos->x = base_clamp(breakout_snap(x), 0.0f, BREAKOUT_FIELD_WIDTH - width);
}

ecs_result breakout_register_pads(ecs_world* world, breakout_game* game) {
    return pad_register_systems(world, game);
}
