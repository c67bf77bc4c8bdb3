// SPDX-License-Identifier: MIT
/// Systems: plain functions over columns, run in stages in a fixed order, or on events.
#pragma once

#include "ecs/event.h"
#include "ecs/query.h"

/// What a system is called with. Borrowed for the call.
typedef struct ecs_stage {
    ecs_world* world;
    ecs_tick tick;
    float dt;
    void* context; ///< ecs_system_desc.context
    void* user;    ///< ecs_step.user (the draw interface in stage "render")
} ecs_stage;

/// Called once per chunk that matches; columns as in ecs_rows, in the order of the terms. A system
/// without terms is called once with count 0.
typedef void (*ecs_system_fn)(const ecs_stage* stage, const ecs_rows* rows);
/// Unicast: called with the target's row when it matches (count 1). Broadcast: as ecs_system_fn. A
/// handler without terms is called once per event with count 0.
typedef void (*ecs_event_fn)(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows);

typedef struct ecs_system_desc {
    const char* name;
    const char* stage;             ///< "act", "render"...; NULL for a pure event handler
    ecs_system_fn run;             ///< with stage
    const char* const* events;     ///< names of events it handles
    uint32_t event_count;
    ecs_event_fn on_event;         ///< with events
    const ecs_term* terms;
    uint32_t term_count;
    const char* const* before;     ///< names of systems that must run after this one
    uint32_t before_count;
    const char* const* after;
    uint32_t after_count;
    const char* const* tags;       ///< exists only in a world that has all of them
    uint32_t tag_count;
    void* context;
} ecs_system_desc;

/// Register; everything in desc is copied but context. A system whose tags the world lacks is accepted
/// and left out. Systems without constraints run in order of registration.
/// @return ECS_OK; ECS_ERR_DUPLICATE; ECS_ERR_FULL; ECS_ERR_SEALED; ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_system_register(ecs_world* world, const ecs_system_desc* desc);

/// Stages by name; "act" is 0 and always there. UINT32_MAX when no system named it.
uint32_t ecs_stage_find(ecs_world* world, const char* name);
/// Names in the order in which they run, for dumps and tests. NULL past the end.
const char* ecs_stage_system_name(const ecs_world* world, uint32_t stage, uint32_t position);
