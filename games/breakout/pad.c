// SPDX-License-Identifier: MIT
// Pads: an arriving input becomes a component, and the component moves the pad once per tick.
//
// There are two steps, because inputs are events: a tick has none, one or several. A pad must move
// exactly once per tick, so a client that sends twice as often is not twice as fast. A pad without
// a new input keeps the last one (`kept`). The prediction world moves the pads with the same
// functions; there the inputs of other players stay 0. All pads share the bottom line and can pass
// each other. The more pads there are, the narrower they are.
//
// A person's input comes from keys and the pointer. With prediction, the world there is the
// predicted one: "towards the pointer" starts at the pad that the player sees. The pointer controls
// the pad from the moment it moves until the player presses a key. `memory` keeps which of the two
// is in control.

#include "breakout.h"
#include "pad.es.h"

#define PAD_WIDTH_MIN 40.0f
#define PAD_WIDTH_MAX 160.0f

float breakout_pad_width(uint32_t players) {
    // Whole units: then half a width lies on the grid of positions.
    return base_clamp(base_floor(640.0f / (float)(players + 3)), PAD_WIDTH_MIN, PAD_WIDTH_MAX);
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
    float x = pos->x + (size->x - width) * 0.5f; // keep the middle of the pad in place
    x += (float)input->move / 127.0f * game->settings.pad_speed * stage->dt;
    size->x = width;
    pos->x = base_clamp(ecs_snap(x, game->grid), 0.0f, BREAKOUT_FIELD_WIDTH - width);
}

int32_t breakout_move_towards(const net_player_context* view, float from, float to) {
    const breakout_game* game = view->context;
    float part = base_clamp((to - from) / (game->settings.pad_speed * view->dt), -1.0f, 1.0f);
    return (int32_t)base_round_i64((double)(part * 127.0f));
}

void breakout_human_input(const net_player_context* view, const net_controls* controls,
                          breakout_input* input) {
    const breakout_game* game = view->context;
    bool forgotten = false;
    bool* is_pointing = view->memory ? view->memory : &forgotten;
    for (uint32_t emote = 0; emote < BREAKOUT_EMOTES; emote++) {
        const breakout_cheer cheer = {.emote = emote}; // when the queue is full, it is lost
        if (net_is_pressed(controls, BREAKOUT_ACTION_CHEER + emote))
            (void)breakout_send_cheer(view, &cheer);
    }
    input->is_launching =
        net_is_on(controls, BREAKOUT_ACTION_LAUNCH) || net_is_pointer_down(controls);
    if (net_is_pointer_used(controls)) *is_pointing = true;
    if (net_is_pad(controls) && controls->move_x != 0.0f) {
        *is_pointing = false;
        input->move = (int32_t)base_round_i64((double)(controls->move_x * 127.0f));
        return;
    }
    if (net_is_on(controls, BREAKOUT_ACTION_LEFT) || net_is_on(controls, BREAKOUT_ACTION_RIGHT)) {
        *is_pointing = false;
        input->move = 127 * net_axis(controls, BREAKOUT_ACTION_LEFT, BREAKOUT_ACTION_RIGHT);
        return;
    }
    if (!*is_pointing || !controls->has_pointer) return;
    const ecs_vec2* pos = ecs_find(view->world, view->player, game->pos);
    const ecs_vec2* size = ecs_find(view->world, view->player, game->rect_size);
    if (!pos || !size) return;
    input->move = breakout_move_towards(view, pos->x + size->x * 0.5f, controls->pointer_x);
}
