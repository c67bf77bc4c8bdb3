// SPDX-License-Identifier: MIT
// Breakout's structs as the core sees them: fields, how many bits they take on the wire, and events.
//
// Numbers that only rise a little (level, lives) get few bits; what is out of range is clamped on the
// wire, never in the simulation.

#include "breakout.h"

#define OFFSET(type, field) ((uint32_t)offsetof(type, field))

static const ecs_field match_fields[] = {
    {"phase", OFFSET(breakout_match, phase), ECS_FIELD_I32, 1, {0, 1, 2}},
    {"level", OFFSET(breakout_match, level), ECS_FIELD_I32, 1, {0, 1, 10}},
    {"lives", OFFSET(breakout_match, lives), ECS_FIELD_I32, 1, {0, 1, 7}},
    {"score", OFFSET(breakout_match, score), ECS_FIELD_I32, 1, {0, 1, 26}},
    {"best", OFFSET(breakout_match, best), ECS_FIELD_I32, 1, {0, 1, 26}},
    {"bricks", OFFSET(breakout_match, bricks), ECS_FIELD_I32, 1, {0, 1, 8}},
    {"balls", OFFSET(breakout_match, balls), ECS_FIELD_I32, 1, {0, 1, 8}},
};

static const ecs_field player_fields[] = {
    {"client", OFFSET(breakout_player, client), ECS_FIELD_U32, 1, {0, 0, 0}},
    {"slot", OFFSET(breakout_player, slot), ECS_FIELD_I32, 1, {0, 1, 12}},
    {"score", OFFSET(breakout_player, score), ECS_FIELD_I32, 1, {0, 1, 26}},
    {"cheers", OFFSET(breakout_player, cheers), ECS_FIELD_I32, 1, {0, 1, 16}},
};

static const ecs_field input_fields[] = {
    {"move", OFFSET(breakout_input, move), ECS_FIELD_I32, 1, {-127, 1, 8}},
    {"is_launching", OFFSET(breakout_input, is_launching), ECS_FIELD_BOOL, 1, {0, 0, 0}},
};

static const ecs_field owner_fields[] = {
    {"pad", OFFSET(breakout_owner, pad), ECS_FIELD_ENTITY, 1, {0, 0, 0}},
    {"is_held", OFFSET(breakout_owner, is_held), ECS_FIELD_BOOL, 1, {0, 0, 0}},
};

static const ecs_field launch_fields[] = {
    {"tick", OFFSET(breakout_launch, tick), ECS_FIELD_U32, 1, {0, 0, 0}},
    {"aim", OFFSET(breakout_launch, aim), ECS_FIELD_I32, 1, {-127, 1, 8}},
};

static const ecs_field brick_hit_fields[] = {
    {"brick", OFFSET(breakout_brick_hit, brick), ECS_FIELD_ENTITY, 1, {0, 0, 0}},
    {"client", OFFSET(breakout_brick_hit, client), ECS_FIELD_U32, 1, {0, 0, 0}},
    {"score", OFFSET(breakout_brick_hit, score), ECS_FIELD_I32, 1, {0, 0, 0}},
    {"hits_left", OFFSET(breakout_brick_hit, hits_left), ECS_FIELD_I32, 1, {0, 0, 0}},
    {"x", OFFSET(breakout_brick_hit, x), ECS_FIELD_I32, 1, {0, 0, 0}},
    {"y", OFFSET(breakout_brick_hit, y), ECS_FIELD_I32, 1, {0, 0, 0}},
};

static const ecs_field level_cleared_fields[] = {
    {"level", OFFSET(breakout_level_cleared, level), ECS_FIELD_I32, 1, {0, 0, 0}},
    {"score", OFFSET(breakout_level_cleared, score), ECS_FIELD_I32, 1, {0, 0, 0}},
};

static const ecs_field life_lost_fields[] = {
    {"lives", OFFSET(breakout_life_lost, lives), ECS_FIELD_I32, 1, {0, 0, 0}},
    {"score", OFFSET(breakout_life_lost, score), ECS_FIELD_I32, 1, {0, 0, 0}},
};

static const ecs_field cheer_fields[] = {
    {"emote", OFFSET(breakout_cheer, emote), ECS_FIELD_U32, 1, {0, 0, 0}},
};

static const ecs_field cheered_fields[] = {
    {"client", OFFSET(breakout_cheered, client), ECS_FIELD_U32, 1, {0, 0, 0}},
    {"emote", OFFSET(breakout_cheered, emote), ECS_FIELD_U32, 1, {0, 0, 0}},
};

static const ecs_type_desc types[] = {
    {"BreakoutMatch", sizeof(breakout_match), _Alignof(breakout_match), match_fields,
     BASE_COUNT(match_fields), NULL},
    {"BreakoutPlayer", sizeof(breakout_player), _Alignof(breakout_player), player_fields,
     BASE_COUNT(player_fields), NULL},
    {"BreakoutInput", sizeof(breakout_input), _Alignof(breakout_input), input_fields,
     BASE_COUNT(input_fields), NULL},
    {"BreakoutOwner", sizeof(breakout_owner), _Alignof(breakout_owner), owner_fields,
     BASE_COUNT(owner_fields), NULL},
    {"BreakoutLaunch", sizeof(breakout_launch), _Alignof(breakout_launch), launch_fields,
     BASE_COUNT(launch_fields), NULL},
};

// Only what clients shall hear of is exported; an input that is applied is in the input component.
static const ecs_event_desc events[] = {
    {"pad_input", sizeof(breakout_input), input_fields, BASE_COUNT(input_fields), false},
    {"cheer", sizeof(breakout_cheer), cheer_fields, BASE_COUNT(cheer_fields), false},
    {"brick_hit", sizeof(breakout_brick_hit), brick_hit_fields, BASE_COUNT(brick_hit_fields), true},
    {"level_cleared", sizeof(breakout_level_cleared), level_cleared_fields,
     BASE_COUNT(level_cleared_fields), true},
    {"life_lost", sizeof(breakout_life_lost), life_lost_fields, BASE_COUNT(life_lost_fields), true},
    {"cheered", sizeof(breakout_cheered), cheered_fields, BASE_COUNT(cheered_fields), true},
};

ecs_result breakout_register_types(ecs_world* world, const base_reporter* reporter) {
    for (uint32_t i = 0; i < BASE_COUNT(types); i++) {
        ecs_type_id id;
        ecs_result result = ecs_type_register(world, &types[i], &id);
        if (result) {
            base_report(reporter, NULL, 0, "type %s: %s", types[i].name, ecs_result_text(result));
            return result;
        }
    }
    for (uint32_t i = 0; i < BASE_COUNT(events); i++) {
        ecs_event_type id;
        ecs_result result = ecs_event_register(world, &events[i], &id);
        if (result) {
            base_report(reporter, NULL, 0, "event %s: %s", events[i].name, ecs_result_text(result));
            return result;
        }
    }
    return ECS_OK;
}
