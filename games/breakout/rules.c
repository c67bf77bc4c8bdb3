// SPDX-License-Identifier: MIT
// The rules of a match: players join and leave, levels are won, lives are lost.
//
//     PLAYING --no brick left--> CLEARED --pause--> next level, PLAYING
//        |----no ball left, lives left--> LOST --pause--> new balls, PLAYING
//        '----no ball left, no lives----> OVER --pause--> level 1, score 0, PLAYING
//
// The rules count the bricks and balls that exist and keep no second count beside them. So a brick
// that disappears for any reason is counted as gone. Without players a match stands still, because
// the balls wait for a pad that serves.

#include "breakout.h"
#include "rules.es.h"

#define PAUSE_S 1.5f
#define PAUSE_OVER_S 4.0f
#define PLAYERS_PER_EXTRA_BALL 4

uint32_t breakout_ticks(const breakout_game* game, float seconds) {
    return (uint32_t)((float)game->tick_rate_hz * seconds) + 1;
}

ecs_entity breakout_next_pad(ecs_world* world, const breakout_game* game, uint32_t turn) {
    uint32_t count = ecs_query_count(world, game->pads);
    return count ? ecs_query_nth(world, game->pads, turn % count) : ECS_ENTITY_NONE;
}

// Create the missing balls of this serve, for all players. A player that joins can add a ball to a
// running game. A lost ball does not return before the next serve.
static void serve(ecs_world* world, const breakout_game* game, ecs_entity match_entity) {
    int32_t players = (int32_t)ecs_query_count(world, game->pads);
    int32_t wanted = 1 + players / PLAYERS_PER_EXTRA_BALL;
    int32_t* served = ecs_get_mut(world, match_entity, game->served);
    uint32_t turn = *(const uint32_t*)ecs_get(world, match_entity, game->serves);
    const breakout_owner owner = {.pad = ECS_ENTITY_NONE, .is_held = true};
    for (; *served < wanted; *served += 1) {
        // Create the ball where a pad will hold it: no client may show it fly there, however late
        // the next row comes.
        ecs_vec2 pos = {BREAKOUT_FIELD_WIDTH * 0.5f, BREAKOUT_PAD_TOP};
        ecs_entity pad = breakout_next_pad(world, game, turn + (uint32_t)*served);
        if (pad != ECS_ENTITY_NONE) {
            const ecs_vec2* low = ecs_get(world, pad, game->pos);
            const ecs_vec2* size = ecs_get(world, pad, game->rect_size);
            pos = (ecs_vec2){low->x + size->x * 0.5f, low->y};
        }
        // The aim is drawn now and replicated, so that a client predicts the launch exactly.
        const breakout_launch launch = {.aim = base_rng_range(ecs_world_rng(world), -127, 127)};
        if (!ecs_command_create(
                world, game->ball_template,
                ECS_INITS({game->owner, &owner}, {game->launch, &launch}, {game->pos, &pos})))
            return;
    }
}

static void begin_game(const breakout_game* game, breakout_match* match) {
    match->level = game->settings.level;
    match->lives = game->settings.lives;
    match->score = 0;
}

static void reset_scores_ecs_query(breakout_player* player) {
    player->score = 0;
}

static void pause(breakout_match* match, int32_t* pause_ticks, breakout_phase phase,
                  uint32_t ticks) {
    match->phase = (int32_t)phase;
    *pause_ticks = (int32_t)ticks;
}

// Request a level: create an entity that is CREATED when the picture of the level has been read.
static void ask_level(ecs_world* world, const breakout_game* game, int32_t number) {
    const breakout_level level = {number};
    (void)ecs_command_create(world, game->level_template, ECS_INITS({game->level, &level}));
}

// Check in the phase PLAYING whether the level is won, or no ball is left.
static void check_end(ecs_world* world, const breakout_game* game, breakout_match* match,
                      int32_t* pause_ticks) {
    if (match->bricks == 0) {
        pause(match, pause_ticks, BREAKOUT_CLEARED, breakout_ticks(game, PAUSE_S));
        const breakout_level_cleared event = {(uint32_t)match->level, (uint32_t)match->score};
        ecs_event_broadcast(world, game->level_cleared, &event);
        ecs_command_destroy_all(world, game->balls);
        ask_level(world, game, match->level + 1);
    } else if (match->balls == 0) {
        match->lives -= 1;
        bool is_over = match->lives <= 0;
        pause(match, pause_ticks, is_over ? BREAKOUT_OVER : BREAKOUT_LOST,
              breakout_ticks(game, is_over ? PAUSE_OVER_S : PAUSE_S));
        if (is_over) ask_level(world, game, game->settings.level);
        const breakout_life_lost event = {(uint32_t)match->lives, (uint32_t)match->score};
        ecs_event_broadcast(world, game->life_lost, &event);
    }
}

// Place the bricks of the requested level. @return false while its picture has not been read.
static bool begin_level(ecs_world* world, breakout_game* game, breakout_match* match) {
    ecs_entity next = ecs_query_first(world, game->levels);
    if (next == ECS_ENTITY_NONE) return false;
    if (match->phase == BREAKOUT_OVER) {
        ecs_command_destroy_all(world, game->bricks);
        begin_game(game, match);
        reset_scores_run(world, game->reset_scores);
    }
    ecs_command_destroy_all(world, game->rubble);
    match->level = ((const breakout_level*)ecs_get(world, next, game->level))->number;
    match->bricks = breakout_level_place(world, game, match->level);
    ecs_command_destroy_all(world, game->levels);
    return true;
}

static void go_on(ecs_world* world, breakout_game* game, ecs_entity entity, breakout_match* match) {
    if (match->phase != BREAKOUT_LOST && !begin_level(world, game, match)) return;
    match->phase = BREAKOUT_PLAYING;
    int32_t* serves = ecs_get_mut(world, entity, game->serves);
    int32_t* served = ecs_get_mut(world, entity, game->served);
    *serves = (*serves + 1) & 0xffff; // another pad serves first
    *served = 0;
    serve(world, game, entity);
}

ES_TAG(server)
static void rules_es(const ecs_stage* stage, ES_CONTEXT breakout_game* game, ecs_entity entity,
                     breakout_match* match, int32_t* pause_ticks) {
    match->bricks = (int32_t)ecs_query_count(stage->world, game->bricks);
    match->balls = (int32_t)ecs_query_count(stage->world, game->balls);
    if (match->phase == BREAKOUT_PLAYING) {
        check_end(stage->world, game, match, pause_ticks);
        if (match->phase == BREAKOUT_PLAYING) serve(stage->world, game, entity);
    } else if (--*pause_ticks <= 0) {
        *pause_ticks = 0;
        go_on(stage->world, game, entity, match);
    }
}

void breakout_start(ecs_world* world, breakout_game* game, const net_game_start* start) {
    (void)start;
    breakout_match match = {.phase = BREAKOUT_PLAYING};
    begin_game(game, &match);
    ecs_command_create(world, game->match_template, ECS_INITS({game->match, &match}));
    ecs_command_flush(world);
    breakout_level_place(world, game, match.level);
    serve(world, game, ecs_query_first(world, game->matches));
    ecs_command_flush(world);
}

static void taken_slots_ecs_query(ES_CONTEXT bool* is_taken, ES_CONTEXT int32_t slot,
                                  const breakout_player* player) {
    *is_taken |= player->slot == slot;
}

// The lowest slot number that no pad has.
static int32_t free_slot(ecs_world* world, const breakout_game* game) {
    for (int32_t slot = 0;; slot++) {
        bool is_taken = false;
        taken_slots_run(world, game->taken_slots, &is_taken, slot);
        if (!is_taken) return slot;
    }
}

ecs_entity breakout_player_join(ecs_world* world, breakout_game* game,
                                const net_game_player* player) {
    const breakout_player value = {.client = player->client, .slot = free_slot(world, game)};
    ecs_color color = breakout_player_color(value.slot);
    float width = breakout_pad_width(ecs_query_count(world, game->pads) + 1);
    const ecs_vec2 size = {width, 16.0f};
    // New players spread over the line: the golden ratio puts each one into a large gap.
    float place = 0.5f + (float)value.slot * 0.618034f;
    place -= base_floor(place);
    const ecs_vec2 pos = {ecs_snap(place * (BREAKOUT_FIELD_WIDTH - width), game->grid),
                          BREAKOUT_PAD_TOP};
    // When the world is full, the new player only watches. When a player leaves, its balls find
    // that the handle of the pad is stale.
    return ecs_try_create(world, game->pad_template,
                          ECS_INITS({game->player, &value}, {game->color, &color},
                                    {game->rect_size, &size}, {game->pos, &pos}));
}
