// SPDX-License-Identifier: MIT
/// Systems: plain functions over columns, run in stages in a fixed order, or on events.
///
/// A system's turn: first what left and entered its rows since its last turn (on_leave, on_enter),
/// once in the world's life first_update, then run; then a flush point. Structure is deferred
/// throughout.
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

/// Entities that came to match the terms of a system or no longer do. Each is there once; one that
/// came and went between two turns is not there at all. In order of coming or going.
typedef void (*ecs_membership_fn)(const ecs_stage* stage, const ecs_entity* entities,
                                  uint32_t count);

typedef struct ecs_system_desc {
    const char* name;
    const char* stage;         ///< "act", "render"...; NULL for a pure event handler
    ecs_system_fn run;         ///< with stage
    const char* const* events; ///< names of events it handles, core events too (ecs/event.h)
    uint32_t event_count;
    ecs_event_fn on_event; ///< with events or track
    const ecs_term* terms;
    uint32_t term_count;
    const char* const* before; ///< names of systems that must run after this one
    uint32_t before_count;
    const char* const* after;
    uint32_t after_count;
    const char* const* tags; ///< exists only in a world that has all; "a|b" is either of the two
    uint32_t tag_count;
    void* context;
    const char* const* track; ///< components: on_event is called for ComponentChanged of these
    uint32_t track_count;
    uint32_t every_ticks; ///< 0, 1: each tick; else its turn comes when tick % every_ticks == 0
    uint32_t quantum;     ///< rows per job at least, 0: never cut; one thread runs all of it
    ecs_membership_fn on_enter; ///< alive and matching now, which at the last turn they were not
    ecs_membership_fn on_leave; ///< no longer matching; may be dead
    ecs_membership_fn
        first_update; ///< at the first turn ever, with what on_enter gets (may be none)
} ecs_system_desc;

/// Register; everything in desc is copied but context. A system whose tags the world lacks is
/// accepted and left out. Systems without constraints run in order of registration.
/// Asserted: a stage goes with run or one of the three member functions, which need terms; on_event
/// goes with events or track.
/// @return ECS_OK; ECS_ERR_DUPLICATE; ECS_ERR_FULL; ECS_ERR_SEALED; ECS_ERR_MEMORY.
BASE_MUST_USE ecs_result ecs_system_register(ecs_world* world, const ecs_system_desc* desc);

/// A name in the order of a stage that runs nothing: systems say that they run before or after it.
/// @return as ecs_system_register; systems and sync points share one space of names.
BASE_MUST_USE ecs_result ecs_sync_point_register(ecs_world* world, const char* stage,
                                                 const char* name);
/// The explicit order of a stage: those named run in this order, as if each were after the one
/// before; the others where their own before and after and registration put them. A name that tags
/// left out is skipped, one that nobody registered is an error of seal, as is an order that
/// contradicts another (ECS_ERR_CYCLE, reported by name). Handlers of events follow it too. A later
/// call replaces the list.
/// @return ECS_OK; ECS_ERR_DUPLICATE (a name twice: reported); ECS_ERR_FULL; ECS_ERR_SEALED;
///         ECS_ERR_MEMORY. On failure the old list stays.
BASE_MUST_USE ecs_result ecs_order_set(ecs_world* world, const char* stage,
                                       const char* const* names, uint32_t count,
                                       const base_reporter* reporter);

/// Stages by name; "act" is 0 and always there. UINT32_MAX when no system named it.
uint32_t ecs_stage_find(ecs_world* world, const char* name);
/// Names in the order in which they run, sync points too, for dumps and tests. NULL past the end.
const char* ecs_stage_system_name(const ecs_world* world, uint32_t stage, uint32_t position);

/// What a system asked for.
typedef struct ecs_system_info {
    const char* name;     ///< borrowed
    uint32_t every_ticks; ///< 1 at least
    uint32_t quantum;
    bool is_sync_point;
} ecs_system_info;
/// @return false past the end.
bool ecs_stage_system_info(const ecs_world* world, uint32_t stage, uint32_t position,
                           ecs_system_info* info);
