// SPDX-License-Identifier: MIT
// Pads: an input becomes a component when it arrives, and a movement once per tick.
//
// Two steps, because inputs come as events, zero or several per tick, while a pad must move exactly once:
// a client that sends twice as often is not twice as fast. A pad without a new input keeps the last one.
// The prediction world moves the pads by the same functions; there the inputs of others stay at rest.
// All pads share the bottom line and pass each other; they get narrower the more there are.

#include "breakout.h"

#include "base/math.h"

#define PAD_WIDTH_MIN 40.0f
#define PAD_WIDTH_MAX 160.0f

float breakout_pad_width(uint32_t players) {
    // Whole units: half a width lies on the grid of positions.
    return base_clamp(base_floor(640.0f / (float)(players + 3)), PAD_WIDTH_MIN, PAD_WIDTH_MAX);
}

static void take_input(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    (void)stage;
    breakout_input* inputs = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++)
        inputs[i] = *(const breakout_input*)event->payload;
}

static void cheer(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    const breakout_game* game = stage->context;
    breakout_player* players = rows->columns[0];
    for (uint32_t i = 0; i < rows->count; i++) {
        players[i].cheers++;
        const breakout_cheered cheered = {
            .client = players[i].client,
            .emote = ((const breakout_cheer*)event->payload)->emote,
        };
        ecs_event_broadcast(stage->world, game->cheered, &cheered);
    }
}

static void move_pads(const ecs_stage* stage, const ecs_rows* rows) {
    const breakout_game* game = stage->context;
    ecs_vec2* positions = rows->columns[0];
    ecs_vec2* sizes = rows->columns[1];
    const breakout_input* inputs = rows->columns[2];
    float width = breakout_pad_width(ecs_query_count(stage->world, game->pads));
    float speed = (float)game->settings[BREAKOUT_SETTING_PAD_SPEED];
    for (uint32_t i = 0; i < rows->count; i++) {
        float x = positions[i].x + (sizes[i].x - width) * 0.5f; // resize about the middle
        x += (float)inputs[i].move / 127.0f * speed * stage->dt;
        sizes[i].x = width;
        positions[i].x = base_clamp(breakout_snap(x), 0.0f, BREAKOUT_FIELD_WIDTH - width);
    }
}

ecs_result breakout_register_pads(ecs_world* world, breakout_game* game) {
    static const char* const tags[] = {"server"};
    static const char* const predict_tags[] = {"predict"};
    static const char* const input_events[] = {"pad_input"};
    static const char* const cheer_events[] = {"cheer"};
    static const ecs_term input_terms[] = {{"input", "BreakoutInput", ECS_WRITE}};
    static const ecs_term cheer_terms[] = {{"player", "BreakoutPlayer", ECS_WRITE}};
    static const ecs_term move_terms[] = {{"pos", "p2", ECS_WRITE},
                                          {"rectSize", "p2", ECS_WRITE},
                                          {"input", "BreakoutInput", ECS_READ},
                                          {"player", "BreakoutPlayer", ECS_REQUIRE}};
    const ecs_system_desc systems[] = {
        {.name = "breakout_take_input",
         .events = input_events,
         .event_count = 1,
         .on_event = take_input,
         .terms = input_terms,
         .term_count = BASE_COUNT(input_terms),
         .tags = tags,
         .tag_count = 1,
         .context = game},
        {.name = "breakout_cheer",
         .events = cheer_events,
         .event_count = 1,
         .on_event = cheer,
         .terms = cheer_terms,
         .term_count = BASE_COUNT(cheer_terms),
         .tags = tags,
         .tag_count = 1,
         .context = game},
        {.name = "breakout_move_pads",
         .stage = "act",
         .run = move_pads,
         .terms = move_terms,
         .term_count = BASE_COUNT(move_terms),
         .tags = tags,
         .tag_count = 1,
         .context = game},
        {.name = "breakout_predict_input",
         .events = input_events,
         .event_count = 1,
         .on_event = take_input,
         .terms = input_terms,
         .term_count = BASE_COUNT(input_terms),
         .tags = predict_tags,
         .tag_count = 1,
         .context = game},
        {.name = "breakout_predict_pads",
         .stage = "act",
         .run = move_pads,
         .terms = move_terms,
         .term_count = BASE_COUNT(move_terms),
         .tags = predict_tags,
         .tag_count = 1,
         .context = game},
    };
    for (uint32_t i = 0; i < BASE_COUNT(systems); i++) {
        ecs_result result = ecs_system_register(world, &systems[i]);
        if (result) return result;
    }
    return ECS_OK;
}
