// SPDX-License-Identifier: MIT
/// The private header of crates: components, settings, the context.
#pragma once

#include "ecs/es.h"
#include "net/controls.h"
#include "net/draw.h"

#define CRATES_WIDTH 160.0f
#define CRATES_HEIGHT 90.0f
#define CRATES_SLOTS 4096u ///< by index of the entity; a body with a higher one does not move

/// Component "box" of a body: what its template says about it.
ES_STRUCT(CratesBox)
typedef struct crates_box {
    ecs_vec2 size;
    float mass;
    float grip; ///< speed that the floor takes, in units per second each second
} crates_box;

/// Component "input" of a car and payload of the event "drive_input".
ES_STRUCT(CratesInput)
ES_EVENT(drive_input)
ES_MESSAGE(Crates__DriveInput, input, kept)
typedef struct crates_input {
    int32_t throttle, steer ES_CLAMP(-127, 127);
} crates_input;

ES_SETTINGS
typedef struct crates_settings {
    uint32_t crates ES_SETTING(300.0, 0.0, 3000.0, "how many crates, in stacks of 25");
    uint32_t quake ES_SETTING(0.0, 0.0, 60.0, "seconds from one quake to the next; 0: none");
} crates_settings;

ES_ACTIONS
typedef enum crates_action {
    CRATES_ACTION_LEFT ES_ACTION("left", "Left,A", "steer to the left", "DPLeft,LeftX-"),
    CRATES_ACTION_RIGHT ES_ACTION("right", "Right,D", "steer to the right", "DPRight,LeftX+"),
    CRATES_ACTION_UP ES_ACTION("forwards", "Up,W", "drive", "A,RightTrigger"),
    CRATES_ACTION_DOWN ES_ACTION("backwards", "Down,S", "brake, drive backwards", "B,LeftTrigger"),
} crates_action;

/// The context block of one world.
ES_GAME_CONTEXT(crates)
typedef struct crates_game {
    ecs_component_id pos, vel, angle, spin, owner;
    ecs_template_id crate, heavy_crate, car;
    ecs_quant pos_steps ES_STEP(crate, pos), vel_steps ES_STEP(crate, vel);
    ecs_quant angle_steps ES_STEP(crate, angle), spin_steps ES_STEP(crate, spin);
    crates_settings settings;
    uint32_t tick_rate_hz;
    ecs_query* near;
    struct crates_space* space; ///< space.c
} crates_game;

#include "crates.h.es.h"

/// In space.c.
ecs_result crates_prepare(ecs_world* world, crates_game* game, const base_reporter* reporter);
